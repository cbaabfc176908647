"""The definitions of the models, word for word, on plain rows.

Slow, and without one line in common with `sfumato.models`: what fast code is held against. A row is a dict of
texts (``None`` for NULL); a rule is a [[privacy]] table of a policy.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.checks.work import Costs, Path, Shares, cheapest, in_order, in_tree

Row = Mapping[str, str | None]
Rule = Mapping[str, Any]


@dataclass(frozen=True)
class World:
    """What a definition may look at besides the class: the whole table and what is known of its columns."""

    rows: Sequence[Row]
    person: str | None = None
    orders: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    trees: Mapping[str, Mapping[str | None, Path]] = field(default_factory=dict)
    costs: Costs = field(default_factory=dict)


def passes(rules: Sequence[Rule], members: Sequence[Row], world: World) -> bool:
    """Whether a class meets every rule.

    >>> rows = [{"illness": "flu"}, {"illness": "HIV"}]
    >>> passes([{"model": "k-anonymity", "k": 2}], rows, World(rows))
    True
    """
    return all(_DEFINITIONS[rule["model"]](rule, members, world) for rule in rules)


def links(rules: Sequence[Rule], published: Iterable[Sequence[Row]], world: World) -> bool:
    """Whether as many persons as a rule asks for stand in exactly the classes of each person.

    >>> rows = [{"person": "ann"}, {"person": "bob"}]
    >>> links([{"model": "identity-k-anonymity", "k": 1, "linked_k": 2}], [rows, rows[:1]], World(rows, "person"))
    False
    """
    where: dict[str | None, set[int]] = {}
    for label, members in enumerate(published):
        for row in members if world.person else ():
            where.setdefault(row[str(world.person)], set()).add(label)
    sharing = Counter(frozenset(labels) for labels in where.values())
    return all(number >= rule.get("linked_k", 1) for number in sharing.values() for rule in rules)


def _number(written: float) -> Fraction:
    """The number that the digits say: 0.1 is a tenth, and 0.3333333333333333 a third."""
    return Fraction(str(written)).limit_denominator(10**9)


def _people(members: Sequence[Row], world: World) -> int:
    return len({row[world.person] for row in members}) if world.person else len(members)


def _counts(members: Sequence[Row], column: str) -> Counter[str | None]:
    return Counter(row[column] for row in members)


def _shares(members: Sequence[Row], column: str) -> Shares:
    return {value: rows / len(members) for value, rows in _counts(members, column).items()}


def _k(rule: Rule, members: Sequence[Row], world: World) -> bool:
    return bool(_people(members, world) >= rule["k"])


def _alpha(rule: Rule, members: Sequence[Row], _: World) -> bool:
    allowed = _number(rule["alpha"]) * len(members)
    if rule.get("refined"):
        allowed = Fraction(math.ceil(allowed))
    found = [item for column in rule.get("columns") or [rule["column"]] for item in _counts(members, column).items()]
    return all(rows <= allowed for value, rows in found if "values" not in rule or value in rule["values"])


def _alpha_k(rule: Rule, members: Sequence[Row], world: World) -> bool:
    return _alpha(rule, members, world) and _k(rule, members, world)


def _identity_k(rule: Rule, members: Sequence[Row], world: World) -> bool:
    """The individuals of a class: as many as it has to have, and as have to share anybody's classes."""
    return bool(_people(members, world) >= max(rule.get("k", 1), rule.get("linked_k", 1)))


def _identity_kl(rule: Rule, members: Sequence[Row], world: World) -> bool:
    return _identity_k(rule, members, world) and len(_counts(members, rule["column"])) >= rule["l"]


def _identity_alpha_beta(rule: Rule, members: Sequence[Row], world: World) -> bool:
    shares = ((world.person, rule["alpha"]), (rule["column"], rule["beta"]))
    limited = [(_counts(members, column), share) for column, share in shares if column is not None]
    few = all(max(counts.values()) <= _number(share) * len(members) for counts, share in limited)
    return few and _identity_k(rule, members, world)


def _distinct(rule: Rule, members: Sequence[Row], world: World) -> bool:
    return bool(min(len(_counts(members, rule["column"])), _people(members, world)) >= rule["l"])


def _entropy(rule: Rule, members: Sequence[Row], world: World) -> bool:
    entropy = -sum(share * math.log(share) for share in _shares(members, rule["column"]).values())
    return bool(min(entropy, math.log(_people(members, world))) >= math.log(rule["l"]) - 1e-9)


def _recursive(rule: Rule, members: Sequence[Row], world: World) -> bool:
    counts = sorted(_counts(members, rule["column"]).values(), reverse=True)
    enough = _people(members, world) >= rule["l"]
    return bool(enough and counts[0] < _number(rule["c"]) * sum(counts[rule["l"] - 1 :]))


def _close(rule: Rule, members: Sequence[Row], world: World) -> bool:
    column = rule["column"]
    part, whole = _shares(members, column), _shares(world.rows, column)
    far: dict[str, Callable[[], float]] = {
        "variational": lambda: sum(abs(part.get(value, 0) - whole[value]) for value in whole) / 2,
        "emd-equal": lambda: sum(abs(part.get(value, 0) - whole[value]) for value in whole) / 2,
        "kl": lambda: sum(share * math.log(share / whole[value]) for value, share in part.items()),
        "emd-ordered": lambda: in_order(part, whole, world.orders[column]),
        "emd-hierarchical": lambda: in_tree(part, whole, world.trees[column]),
        "emd": lambda: cheapest(part, whole, world.costs),
    }
    return bool(far[rule["distance"]]() <= rule["t"] + 1e-9)


_DEFINITIONS: dict[str, Callable[[Rule, Sequence[Row], World], bool]] = {
    "k-anonymity": _k,
    "alpha-deassociation": _alpha,
    "alpha-k-anonymity": _alpha_k,
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-l-diversity": _recursive,
    "t-closeness": _close,
    "identity-k-anonymity": _identity_k,
    "identity-kl-diversity": _identity_kl,
    "identity-alpha-beta": _identity_alpha_beta,
}
