"""What to promise: requirements that the table can keep, as strict as seems useful.

All of them hold of the table as one class, which is a release that every search can fall back on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sfumato.errors import Infeasible
from sfumato.page.words import percent
from sfumato.policy import Role
from sfumato.profile.facts import Facts, Profile
from sfumato.profile.presets import Preset
from sfumato.profile.roles import Guess
from sfumato.profile.trees.tree import MOST_LINES

_STEPS = (0.5, 0.6, 0.7, 0.8, 0.9)
_ROOM = 1.15
"""How far above the most frequent value's share a bound has to be, for there to be anything to choose from."""

_MANY_VALUES = 20
_LINKED = 3
_SIZES = ((100, 5), (20, 3), (2, 2))
"""A usual k from so many persons on."""


@dataclass(frozen=True)
class Entry:
    """One [[privacy]] table, and why it is there."""

    content: dict[str, Any]
    why: str
    check: bool = False


def class_size(preset: Preset, people: int) -> int:
    """k: that of the preset, or one that suits the number of people.

    Raises Infeasible where the preset asks for more people than there are: its number is its point.

    >>> from sfumato.profile.presets import NONE
    >>> [class_size(NONE, people) for people in (1, 3, 50, 1000)]
    [1, 2, 3, 5]
    """
    if preset.k is not None and preset.k > people:
        raise Infeasible(
            f"{preset.name} asks for {preset.k} in every class, and the table is of {people}; no release of it can "
            "meet that: take a larger table, or leave --preset out",
            nearest={"k": people},
        )
    return preset.k or next((k for rows, k in _SIZES if people >= rows), 1)


def persons(profile: Profile, roles: dict[str, Guess]) -> tuple[Facts | None, int]:
    """The individual column, if any, and how many people there are; rows that name nobody are one person's."""
    found = next((facts for facts in profile.columns if roles[facts.name].role is Role.INDIVIDUAL), None)
    if found is None:
        return None, profile.rows
    return found, found.values.distinct + bool(found.values.missing)


def requirement(profile: Profile, roles: dict[str, Guess], preset: Preset) -> list[Entry]:
    """The [[privacy]] tables: a class size, and a bound for each sensitive column."""
    individual, people = persons(profile, roles)
    k = class_size(preset, people)
    sensitive = [facts for facts in profile.columns if roles[facts.name].role is Role.SENSITIVE]
    entries = [_crowd(k, individual, preset)]
    share = 0.0 if individual is None else individual.values.largest
    for facts in sensitive:
        entries += _bounds(facts, preset, None if individual is None else k, share)
    return entries


def _crowd(k: int, individual: Facts | None, preset: Preset) -> Entry:
    why = preset.k_why or "nobody can be told from fewer others; a larger k protects more and costs more"
    if k == 1:
        why = "one row cannot hide among others: this promises nothing"
    if individual is None:
        return Entry({"model": "k-anonymity", "k": k}, why, check=not preset.k)
    linked = k if preset.linked else min(_LINKED, k)
    why += ". Persons are counted, not rows; linked_k: so many share all classes of a person, tied by a pseudonym"
    return Entry({"model": "identity-k-anonymity", "k": k, "linked_k": linked}, why, check=not preset.k)


def _bounds(facts: Facts, preset: Preset, k: int | None, share: float) -> Iterator[Entry]:
    """What may be learnt of a sensitive column; with persons, of which one has the given share of rows, theirs too."""
    values = facts.values
    if ordered(facts):
        yield _close(facts, preset.t, "emd-ordered", "numbers that lie close together tell nearly the same")
        return
    alpha = bound_of(values.largest, preset.alpha)
    if alpha is None:
        much = f"one value has {percent(values.largest)} of the rows, so a bound on shares would protect nobody"
        yield _close(facts, preset.t, "emd-equal", much)
    elif k is None:
        why = (
            f"no value may hold more than {percent(alpha)} of a class; the most frequent has {percent(values.largest)}"
        )
        yield Entry({"model": "alpha-deassociation", "column": facts.name, "alpha": alpha}, why, check=True)
    elif preset.dominance is not None and share <= preset.dominance:
        why = (
            f"of a class no person may hold more than {percent(preset.dominance)}, no value more than {percent(alpha)}"
        )
        keys = {"column": facts.name, "alpha": preset.dominance, "beta": alpha}
        yield Entry({"model": "identity-alpha-beta", **keys}, why, check=True)
    else:
        several = min(preset.l, values.distinct + bool(values.missing))
        why = f"rows of {k} persons and {several} different values in every class"
        keys = {"column": facts.name, "k": k, "l": several}
        yield Entry({"model": "identity-kl-diversity", **keys}, why, check=True)


def ordered(facts: Facts) -> bool:
    """Whether a column holds many numbers, of which an order can be told."""
    numbers = facts.shape.numbers
    if numbers is None or facts.values.distinct <= _MANY_VALUES:
        return False
    return numbers.style == "point" or facts.values.distinct <= MOST_LINES


def _close(facts: Facts, t: float, distance: str, why: str) -> Entry:
    keys = {"column": facts.name, "t": t, "distance": distance}
    why = f"in every class nearly the distribution of the whole table: {why}"
    return Entry({"model": "t-closeness", **keys}, why, check=True)


def bound_of(largest: float, strictest: float) -> float | None:
    """The strictest bound on shares that leaves room above the most frequent value; none where that protects nobody.

    >>> bound_of(0.24, 0.5), bound_of(0.752, 0.5), bound_of(0.92, 0.5), bound_of(0.88, 0.9)
    (0.5, 0.9, None, 0.9)
    """
    if strictest >= _STEPS[-1]:
        return strictest if largest <= strictest else None
    return next((step for step in (strictest, *_STEPS) if step >= max(strictest, _ROOM * largest)), None)
