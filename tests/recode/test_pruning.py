"""What goes wrong where a search prunes as if every requirement were monotone."""

import itertools
from collections.abc import Callable
from typing import Any

from sfumato.encode import EncodedTable
from sfumato.models import AlphaDeassociation, EntropyLDiversity
from sfumato.policy import Policy
from sfumato.recode import recode
from sfumato.testing.exhaustive_search import Node, NodeOutcome, best_outcome, evaluate_every_node
from sfumato.testing.random_tables import TableCase

Opener = Callable[[TableCase], tuple[EncodedTable, Policy]]

TREE: dict[str | None, tuple[str | None, ...]] = {
    "one": ("one", "few", "*"),
    "two": ("two", "few", "*"),
    "rest": ("rest", "many", "*"),
}


def case_of(rows: dict[str, str], rule: dict[str, Any], suppression: float = 0) -> TableCase:
    """Rows by town, an illness per letter, and one requirement."""
    pairs = [(town, illness) for town, illnesses in rows.items() for illness in illnesses]
    return TableCase(
        {
            "town": [town for town, _ in pairs],
            "illness": [illness for _, illness in pairs],
            "income": [None] * len(pairs),
        },
        {"town": TREE},
        {
            "columns": {
                "town": {"role": "quasi", "hierarchy": "town.csv"},
                "illness": {"role": "sensitive"},
                "income": {"role": "plain"},
            },
            "privacy": [rule],
            "algorithm": {"name": "optimal", "suppression": suppression, "metric": "ncp"},
        },
    )


REFINED = case_of(
    {"one": "ab", "two": "ab", "rest": "b" * 16},
    {"model": "alpha-deassociation", "column": "illness", "alpha": 0.1, "values": ["a"], "refined": True},
)
SUPPRESSING = case_of(
    {"one": "aabb", "two": "a", "rest": "b"},
    {"model": "entropy-l-diversity", "column": "illness", "l": 2},
    suppression=0.34,
)


def pruned(case: TableCase) -> list[NodeOutcome]:
    """The passing nodes that are left if everything below a node that fails is thought to fail."""
    outcomes = evaluate_every_node(case)
    failing = [node for node, one in outcomes.items() if not one.passes]
    return [one for node, one in outcomes.items() if one.passes and not any(_below(node, out) for out in failing)]


def _below(node: Node, other: Node) -> bool:
    return all(low <= high for low, high in zip(node, other, strict=True))


def levels(case: TableCase, opened: Opener, algorithm: str) -> Node:
    """The node that an algorithm chooses."""
    recoding = recode(*opened(case.with_algorithm(name=algorithm)))
    assert recoding.levels is not None
    return tuple(recoding.levels.values())


def test_refined_alpha_is_not_pruned(opened: Opener) -> None:
    """One sensitive row in two passes, two in four do not, two in twenty do: only careful searches see the first."""
    passes = [one.passes for one in evaluate_every_node(REFINED).values()]
    assert passes == [True, False, True]
    assert best_outcome(pruned(REFINED)).loss == 1
    assert best_outcome(list(evaluate_every_node(REFINED).values())).loss == 0
    for algorithm in ("optimal", "samarati", "incognito"):
        assert levels(REFINED, opened, algorithm) == (0,)


def test_entropy_with_suppression_is_not_pruned(opened: Opener) -> None:
    """Uniting a passing class with one that is suppressed fails both, so what lies below a failing node may pass."""
    outcomes = list(evaluate_every_node(SUPPRESSING).values())
    assert [(one.passes, one.suppressed) for one in outcomes] == [(True, 2), (False, 6), (True, 0)]
    assert best_outcome(pruned(SUPPRESSING)).loss == 1
    for algorithm in ("optimal", "samarati", "incognito"):
        assert levels(SUPPRESSING, opened, algorithm) == (0,)


def test_without_suppression_entropy_is_monotone() -> None:
    """With no row to spare the same requirement loses nothing by pruning: the models say so themselves."""
    whole = case_of({"one": "aabb", "two": "a", "rest": "b"}, SUPPRESSING.document["privacy"][0])
    passing = [one for one in evaluate_every_node(whole).values() if one.passes]
    assert [one.node for one in pruned(whole)] == [one.node for one in passing] == [(2,)]
    assert EntropyLDiversity("illness", l=2).monotone
    assert not EntropyLDiversity("illness", l=2).hereditary
    assert [AlphaDeassociation(0.1, "illness", refined=flag).monotone for flag in (False, True)] == [True, False]


def test_bisecting_heights_would_miss_it_too() -> None:
    """Passing nodes of both tables are not closed upwards, so no binary search on the height is right there."""
    for case in (REFINED, SUPPRESSING):
        passing = {node for node, one in evaluate_every_node(case).items() if one.passes}
        above = [(a, b) for a, b in itertools.product(passing, evaluate_every_node(case)) if _below(a, b)]
        assert any(b not in passing for _, b in above)
