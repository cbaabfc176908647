"""The definitions of the models, word for word, on plain rows.

Slow, and without one line in common with `sfumato.models`: what fast code is held against. A row is a dict of
texts (``None`` for NULL); a rule is a [[privacy]] table of a policy. Earth mover's distances are as their papers write
them, for one class at a time.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

Row = Mapping[str, str | None]
Rule = Mapping[str, Any]
Shares = Mapping[str | None, float]
Path = tuple[str | None, ...]
Costs = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class TableContext:
    """What a definition may look at besides the class: the whole table and what is known of its columns."""

    rows: Sequence[Row]
    person: str | None = None
    orders: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    trees: Mapping[str, Mapping[str | None, Path]] = field(default_factory=dict)
    costs: Costs = field(default_factory=dict)


def class_passes(rules: Sequence[Rule], members: Sequence[Row], context: TableContext) -> bool:
    """Tell whether a class meets every rule.

    >>> rows = [{"illness": "flu"}, {"illness": "HIV"}]
    >>> class_passes([{"model": "k-anonymity", "k": 2}], rows, TableContext(rows))
    True
    """
    return all(_DEFINITIONS[rule["model"]](rule, members, context) for rule in rules)


def links_pass(rules: Sequence[Rule], published: Iterable[Sequence[Row]], context: TableContext) -> bool:
    """Tell whether as many persons as the rules ask for (`linked_k`) are in exactly the classes of each person.

    >>> rows = [{"person": "ann"}, {"person": "bob"}]
    >>> rule = {"model": "identity-k-anonymity", "k": 1, "linked_k": 2}
    >>> links_pass([rule], [rows, rows[:1]], TableContext(rows, "person"))
    False
    """
    classes_of: dict[str | None, set[int]] = {}
    for label, members in enumerate(published):
        for row in members if context.person else ():
            classes_of.setdefault(row[str(context.person)], set()).add(label)
    sharing = Counter(frozenset(labels) for labels in classes_of.values())
    return all(number >= rule.get("linked_k", 1) for number in sharing.values() for rule in rules)


def _exact(number: float) -> Fraction:
    """The number that the digits say: 0.1 is a tenth, and 0.3333333333333333 a third."""
    return Fraction(str(number)).limit_denominator(10**9)


def _people(members: Sequence[Row], context: TableContext) -> int:
    return len({row[context.person] for row in members}) if context.person else len(members)


def _counts(members: Sequence[Row], column: str) -> Counter[str | None]:
    return Counter(row[column] for row in members)


def _shares(members: Sequence[Row], column: str) -> Shares:
    return {value: rows / len(members) for value, rows in _counts(members, column).items()}


# One definition per model


def _k_anonymity(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    return bool(_people(members, context) >= rule["k"])


def _alpha_deassociation(rule: Rule, members: Sequence[Row], _: TableContext) -> bool:
    allowed = _exact(rule["alpha"]) * len(members)
    if rule.get("refined"):
        allowed = Fraction(math.ceil(allowed))
    counts = [item for column in rule.get("columns") or [rule["column"]] for item in _counts(members, column).items()]
    return all(rows <= allowed for value, rows in counts if "values" not in rule or value in rule["values"])


def _alpha_k_anonymity(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    return _alpha_deassociation(rule, members, context) and _k_anonymity(rule, members, context)


def _identity_k(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    """The individuals of a class: as many as it has to have, and as have to share anybody's classes."""
    return bool(_people(members, context) >= max(rule.get("k", 1), rule.get("linked_k", 1)))


def _identity_kl(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    return _identity_k(rule, members, context) and len(_counts(members, rule["column"])) >= rule["l"]


def _identity_alpha_beta(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    shares = ((context.person, rule["alpha"]), (rule["column"], rule["beta"]))
    limited = [(_counts(members, column), share) for column, share in shares if column is not None]
    few = all(max(counts.values()) <= _exact(share) * len(members) for counts, share in limited)
    return few and _identity_k(rule, members, context)


def _distinct_l(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    return bool(min(len(_counts(members, rule["column"])), _people(members, context)) >= rule["l"])


def _entropy_l(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    entropy = -sum(share * math.log(share) for share in _shares(members, rule["column"]).values())
    return bool(min(entropy, math.log(_people(members, context))) >= math.log(rule["l"]) - 1e-9)


def _recursive_l(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    counts = sorted(_counts(members, rule["column"]).values(), reverse=True)
    enough = _people(members, context) >= rule["l"]
    return bool(enough and counts[0] < _exact(rule["c"]) * sum(counts[rule["l"] - 1 :]))


def _t_closeness(rule: Rule, members: Sequence[Row], context: TableContext) -> bool:
    column = rule["column"]
    part, whole = _shares(members, column), _shares(context.rows, column)
    distances: dict[str, Callable[[], float]] = {
        "variational": lambda: sum(abs(part.get(value, 0) - whole[value]) for value in whole) / 2,
        "emd-equal": lambda: sum(abs(part.get(value, 0) - whole[value]) for value in whole) / 2,
        "kl": lambda: sum(share * math.log(share / whole[value]) for value, share in part.items()),
        "emd-ordered": lambda: ordered_distance(part, whole, context.orders[column]),
        "emd-hierarchical": lambda: hierarchical_distance(part, whole, context.trees[column]),
        "emd": lambda: transport_distance(part, whole, context.costs),
    }
    return bool(distances[rule["distance"]]() <= rule["t"] + 1e-9)


_DEFINITIONS: dict[str, Callable[[Rule, Sequence[Row], TableContext], bool]] = {
    "k-anonymity": _k_anonymity,
    "alpha-deassociation": _alpha_deassociation,
    "alpha-k-anonymity": _alpha_k_anonymity,
    "distinct-l-diversity": _distinct_l,
    "entropy-l-diversity": _entropy_l,
    "recursive-l-diversity": _recursive_l,
    "t-closeness": _t_closeness,
    "identity-k-anonymity": _identity_k,
    "identity-kl-diversity": _identity_kl,
    "identity-alpha-beta": _identity_alpha_beta,
}


# Earth mover's distances


def ordered_distance(part: Shares, whole: Shares, order: Sequence[str | None]) -> float:
    """Li et al., Section 5.1: the sum of absolute cumulative differences, over the number of gaps.

    >>> ordered_distance({"1": 1.0}, {"1": 0.5, "3": 0.5}, ["1", "2", "3"])
    0.5
    """
    differences = accumulate(part.get(value, 0.0) - whole.get(value, 0.0) for value in order)
    return sum(map(abs, differences)) / max(len(order) - 1, 1)


def hierarchical_distance(part: Shares, whole: Shares, paths: Mapping[str | None, Path]) -> float:
    """Li et al., Section 5.2: what is exchanged between the children of each node, times the node's height.

    >>> hierarchical_distance({"a": 1.0}, {"a": 0.5, "b": 0.5}, {"a": ("a", "x", "*"), "b": ("b", "x", "*")})
    0.25
    """
    height, total = len(next(iter(paths.values()))) - 1, 0.0
    for level in range(1, height + 1):
        extra: dict[tuple[str | None, str | None], float] = {}
        for value, path in paths.items():
            edge = path[level], path[level - 1]
            extra[edge] = extra.get(edge, 0.0) + part.get(value, 0.0) - whole.get(value, 0.0)
        for node in {parent for parent, _ in extra}:
            children = [surplus for (parent, _), surplus in extra.items() if parent == node]
            gives, takes = sum(max(flow, 0.0) for flow in children), sum(max(-flow, 0.0) for flow in children)
            total += level / height * min(gives, takes)
    return total


def transport_distance(part: Shares, whole: Shares, costs: Costs) -> float:
    """The chapter's linear program: flows between all values, third ones included, of least cost.

    >>> round(transport_distance({"a": 1.0}, {"a": 0.5, "b": 0.5}, {("a", "b"): 3.0}), 9)
    1.5
    """

    def cost(source: str, target: str) -> float:
        return 0.0 if source == target else costs.get((source, target), costs.get((target, source), float("nan")))

    surplus = tuple(part.get(value, 0.0) - whole[value] for value in whole)
    prices = tuple(cost(source or "", target or "") for source in whole for target in whole)
    return _cheapest_flow(surplus, prices)


@lru_cache(maxsize=4096)
def _cheapest_flow(surplus: tuple[float, ...], prices: tuple[float, ...]) -> float:
    """Solve the linear program; prices are those from each value to each, row by row."""
    from scipy import optimize  # noqa: PLC0415 - takes a while to import, and few come here

    size = len(surplus)
    leaves = np.kron(np.eye(size), np.ones(size)) - np.kron(np.ones(size), np.eye(size))
    plan = optimize.linprog(prices, A_eq=leaves, b_eq=surplus)
    if plan.fun is None:
        raise ValueError(f"no plan: {plan.message}")
    return float(plan.fun)
