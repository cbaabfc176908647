"""What to promise: requirements that the table can keep, as strict as seems useful.

All of them hold of the table as one class, which is a release that every search can fall back on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sfumato.errors import Infeasible
from sfumato.page.wording import percent
from sfumato.policy import Role
from sfumato.profile.caution import Caution
from sfumato.profile.column_facts import ColumnFacts
from sfumato.profile.presets import Preset
from sfumato.profile.proposed_hierarchies import MOST_LINES
from sfumato.profile.roles import RoleGuess
from sfumato.profile.table_profile import TableProfile

_STEPS = (0.5, 0.6, 0.7, 0.8, 0.9)
_ROOM = 1.15
"""How far above the most frequent value's share a bound has to be, for there to be anything to choose from."""

_MANY_VALUES = 20
_MANY_COLUMNS = 6
"""With more sensitive columns, each is asked less of: classes have to pass all requirements at once."""

_LOOSE_ALPHA, _LOOSE_T = 0.9, 0.4
_LINKED = 3
_SIZES = ((100, 5), (20, 3), (2, 2))
"""A usual k from so many persons on."""


@dataclass(frozen=True)
class ProposedRequirement:
    """One [[privacy]] table, why it is there, and how closely somebody should look at it."""

    content: dict[str, Any]
    reason: str
    caution: Caution = Caution.NONE


def choose_k(preset: Preset, people: int) -> int:
    """Choose k: that of the preset, or one that suits the number of people.

    Raises Infeasible where the preset asks for more people than there are: its number is its point.

    >>> from sfumato.profile.presets import NO_PRESET
    >>> [choose_k(NO_PRESET, people) for people in (1, 3, 50, 1000)]
    [1, 2, 3, 5]
    """
    if preset.k is not None and preset.k > people:
        raise Infeasible(
            f"{preset.name} asks for {preset.k} in every class, and the table is of {people}; no release of it can "
            "meet that: take a larger table, or leave --preset out",
            nearest={"k": people},
        )
    return preset.k or next((k for rows, k in _SIZES if people >= rows), 1)


def count_people(profile: TableProfile, roles: dict[str, RoleGuess]) -> tuple[ColumnFacts | None, int]:
    """Find the individual column, if any, and count the people; rows that name nobody are one person's."""
    individual = next((facts for facts in profile.columns if roles[facts.name].role is Role.INDIVIDUAL), None)
    if individual is None:
        return None, profile.rows
    return individual, individual.values.distinct + bool(individual.values.missing)


def propose_requirements(
    profile: TableProfile, roles: dict[str, RoleGuess], preset: Preset
) -> list[ProposedRequirement]:
    """Propose the [[privacy]] tables: a class size, and a bound for each sensitive column."""
    individual, people = count_people(profile, roles)
    k = choose_k(preset, people)
    requirements = [_propose_class_size(k, individual, preset)]
    share = 0.0 if individual is None else individual.values.largest_share
    sensitive = [facts for facts in profile.columns if roles[facts.name].role is Role.SENSITIVE]
    if len(sensitive) > _MANY_COLUMNS:
        alpha, t = max(preset.alpha, _LOOSE_ALPHA), max(preset.t, _LOOSE_T)
        preset = replace(preset, alpha=alpha, t=t, l=min(preset.l, 2))
    for facts in sensitive:
        requirements += _propose_bounds(facts, preset, None if individual is None else k, share)
    if len(sensitive) > _MANY_COLUMNS:
        requirements[1] = replace(
            requirements[1],
            reason=f"{requirements[1].reason}. {len(sensitive)} sensitive columns: each is asked little of, since all "
            "have to be met at once; tighten what matters, and leave out what nobody needs",
            caution=Caution.CHECK,
        )
    return requirements


def _propose_class_size(k: int, individual: ColumnFacts | None, preset: Preset) -> ProposedRequirement:
    reason = preset.k_reason or "nobody can be told from fewer others; a larger k protects more and costs more"
    caution = Caution.NONE if preset.k else Caution.CHECK
    if k == 1:
        reason, caution = "one row cannot hide among others: this promises nothing", Caution.DANGER
    if individual is None:
        return ProposedRequirement({"model": "k-anonymity", "k": k}, reason, caution)
    linked_k = k if preset.linked_k_is_k else min(_LINKED, k)
    reason += ". Persons are counted, not rows; linked_k: so many share all classes of a person, tied by a pseudonym"
    content = {"model": "identity-k-anonymity", "k": k, "linked_k": linked_k}
    return ProposedRequirement(content, reason, caution)


def _propose_bounds(
    facts: ColumnFacts, preset: Preset, k: int | None, largest_person: float
) -> Iterator[ProposedRequirement]:
    """Bound what may be learnt of a sensitive column.

    With persons, `k` of them are in every class and `largest_person` is the share of rows of the one with most; `k` is
    ``None`` without.
    """
    values = facts.values
    largest = percent(values.largest_share)
    if _is_ordered(facts):
        yield _propose_closeness(facts, preset.t, "emd-ordered", "numbers that lie close together tell nearly the same")
        return
    alpha = bound_share(values.largest_share, preset.alpha)
    if alpha is None:
        reason = f"one value has {largest} of the rows, so a bound on shares would protect nobody"
        yield _propose_closeness(facts, preset.t, "emd-equal", reason)
        return
    if k is None:
        reason = f"no value may hold more than {percent(alpha)} of a class; the most frequent has {largest}"
        content = {"model": "alpha-deassociation", "column": facts.name, "alpha": alpha}
    elif preset.dominance is not None and largest_person <= preset.dominance:
        dominance = percent(preset.dominance)
        reason = f"of a class no person may hold more than {dominance}, no value more than {percent(alpha)}"
        content = {"model": "identity-alpha-beta", "column": facts.name, "alpha": preset.dominance, "beta": alpha}
    else:
        several = min(preset.l, values.distinct + bool(values.missing))
        reason = f"rows of {k} persons and {several} different values in every class"
        content = {"model": "identity-kl-diversity", "column": facts.name, "k": k, "l": several}
    yield ProposedRequirement(content, reason, Caution.NOTE)


def _is_ordered(facts: ColumnFacts) -> bool:
    """Tell whether a column holds many numbers, of which an order can be declared."""
    numbers = facts.type.numbers
    if numbers is None or facts.values.distinct <= _MANY_VALUES:
        return False
    return numbers.style == "point" or facts.values.distinct <= MOST_LINES


def _propose_closeness(facts: ColumnFacts, t: float, distance: str, reason: str) -> ProposedRequirement:
    content = {"model": "t-closeness", "column": facts.name, "t": t, "distance": distance}
    reason = f"in every class nearly the distribution of the whole table: {reason}"
    return ProposedRequirement(content, reason, Caution.NOTE)


def bound_share(largest: float, strictest: float) -> float | None:
    """Choose the strictest bound on shares that leaves room above the largest; ``None`` where it protects nobody.

    >>> bound_share(0.24, 0.5), bound_share(0.752, 0.5), bound_share(0.92, 0.5), bound_share(0.88, 0.9)
    (0.5, 0.9, None, 0.9)
    """
    if strictest >= _STEPS[-1]:
        return strictest if largest <= strictest else None
    return next((step for step in (strictest, *_STEPS) if step >= max(strictest, _ROOM * largest)), None)
