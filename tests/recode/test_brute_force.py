"""The three searches find what exhaustive search finds, on random small tables."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from sfumato.encode import EncodedTable
from sfumato.errors import Infeasible
from sfumato.models import MODELS
from sfumato.models.distances import DISTANCES
from sfumato.policy import Policy
from sfumato.recode import ALGORITHMS, recode
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.incognito import incognito
from sfumato.recode.samarati import samarati
from sfumato.testing import exhaustive_search
from sfumato.testing.exhaustive_search import Node, NodeOutcome, evaluate_every_node
from sfumato.testing.random_tables import METRICS, TableCase, random_case

pytestmark = pytest.mark.slow

Opener = Callable[[TableCase], tuple[EncodedTable, Policy]]
Evaluating = Callable[[TableCase], Evaluator]
SEEDS = 40
ANYTHING = st.builds(
    random_case, st.randoms(use_true_random=False), st.sampled_from([*MODELS, None]), st.sampled_from(list(ALGORITHMS))
)


def lowest(passing: list[NodeOutcome]) -> list[NodeOutcome]:
    """Those of the least height."""
    least = min((sum(one.node) for one in passing), default=0)
    return [one for one in passing if sum(one.node) == least]


CANDIDATES: dict[str, Callable[[list[NodeOutcome]], list[NodeOutcome]]] = {
    "optimal": lambda passing: passing,
    "samarati": lowest,
    "incognito": exhaustive_search.minimal_outcomes,
}


def chosen(case: TableCase, opened: Opener) -> tuple[Node, int] | None:
    """The node that the case's algorithm chooses and the rows it suppresses, or nothing where none passes."""
    encoded, policy = opened(case)
    try:
        recoding = recode(encoded, policy)
    except Infeasible:
        return None
    assert recoding.levels is not None
    assert recoding.classes.rows == encoded.rows - recoding.suppressed
    return tuple(recoding.levels[name] for name in case.quasi), recoding.suppressed


def compare(case: TableCase, opened: Opener) -> NodeOutcome | None:
    """Hold what an algorithm chooses against the best of the nodes it may choose from, and give that."""
    candidates = CANDIDATES[case.document["algorithm"]["name"]]
    passing = [one for one in evaluate_every_node(case).values() if one.passes]
    expected = exhaustive_search.best_outcome(candidates(passing)) if passing else None
    assert chosen(case, opened) == (expected and (expected.node, expected.suppressed))
    return expected


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model", MODELS)
def test_every_algorithm_is_exhaustive_search(model: str, algorithm: str, opened: Opener) -> None:
    """For every model the node chosen is the best there is, and nothing is chosen only where none passes."""
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        case = random_case(Random(f"{model} {algorithm} {seed}"), model, algorithm)
        found = compare(case, opened)
        seen["infeasible" if found is None else "suppressing" if found.suppressed else "whole"] += 1
        seen["in between"] += found is not None and found.node != (0,) * len(found.node)
    assert min(seen[kind] for kind in ("infeasible", "suppressing", "whole", "in between")) >= 2, seen


def test_the_cases_cover_what_there_is() -> None:
    """The random cases have every metric, distance, limit and kind of rule, and several rules and persons."""
    seen: Counter[object] = Counter()
    for seed in range(600):
        case = random_case(Random(seed))
        rules, algorithm = case.document["privacy"], case.document["algorithm"]
        seen.update([algorithm["metric"], algorithm["suppression"], len(rules), "person" in case.columns])
        for rule in rules:
            seen.update([rule["model"], rule.get("distance"), (rule["model"], bool(rule.get("refined")))])
        seen.update(case.weight(name) for name in case.quasi)
        seen["NULL"] += any(None in case.columns[name] for name in case.quasi)
    refined = [(model, True) for model in ("alpha-deassociation", "alpha-k-anonymity")]
    for kind in (*METRICS, *MODELS, *DISTANCES, *refined, 0, 0.1, 0.3, 1, 2, 3, True, "NULL"):
        assert seen[kind] >= 15, kind


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=ANYTHING)
def test_whatever_hypothesis_thinks_of(case: TableCase, opened: Opener) -> None:
    """The same where the cases are chosen, and made small, by somebody who wants it to fail."""
    found = compare(case, opened)
    event("infeasible" if found is None else f"suppresses: {found.suppressed > 0}")


@pytest.mark.parametrize("part", range(4))
def test_all_minimal_nodes(part: int, evaluator: Evaluating) -> None:
    """Samarati gives every passing node of the least height, Incognito every minimal passing node, no others."""
    for seed in range(part, 120, 4):
        case = random_case(Random(f"minimal {seed}"))
        passing = [one for one in evaluate_every_node(case).values() if one.passes]
        found = [one.node for one in samarati(evaluator(case))]
        assert found == sorted(one.node for one in lowest(passing))
        every = [one.node for one in incognito(evaluator(case))]
        assert sorted(every) == sorted(one.node for one in exhaustive_search.minimal_outcomes(passing))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_ties_are_broken_by_nothing_but_the_table(algorithm: str, opened: Opener) -> None:
    """Rows in another order, and a second run, give the same node."""
    for seed in range(25):
        random = Random(f"ties {seed}")
        case = random_case(random, algorithm=algorithm)
        order = random.sample(range(len(case.rows)), len(case.rows))
        shuffled = replace(case, columns={name: [cells[i] for i in order] for name, cells in case.columns.items()})
        first = chosen(case, opened)
        assert first == chosen(case, opened)
        assert first == chosen(shuffled, opened)


def test_a_node_that_publishes_nothing_does_not_pass(opened: Opener) -> None:
    """With every row allowed to go, each search still publishes some."""
    for algorithm in ALGORITHMS:
        found = 0
        for seed in range(200):
            case = random_case(Random(f"nothing {seed}"), "k-anonymity", algorithm)
            if case.document["algorithm"]["suppression"] == 1:
                node = chosen(case, opened)
                assert node is None or node[1] < len(case.rows)
                found += node is not None
        assert found > 10
