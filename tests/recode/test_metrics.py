"""Losses are their definitions, and the bounds that searches prune on are bounds."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.policy.options import METRICS as DECLARED
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.frequency_sets import FrequencySet
from sfumato.recode.metrics import METRICS
from sfumato.testing.exhaustive_search import Labels, compute_loss, evaluate_every_node
from sfumato.testing.random_tables import METRICS as NAMES
from sfumato.testing.random_tables import TableCase, random_case

Evaluating = Callable[[TableCase], Evaluator]


@pytest.mark.slow
@pytest.mark.parametrize("metric", NAMES)
def test_losses_are_their_definitions(metric: str, evaluator: Evaluating) -> None:
    """Each node that publishes something costs what its cells cost, between 0 and 1."""
    compared = 0
    for seed in range(12):
        case = random_case(Random(f"losses {seed}")).with_algorithm(metric=metric)
        search = evaluator(case)
        for node, one in evaluate_every_node(case).items():
            found = search.evaluate(node)
            if found.viable and one.published:
                compared += 1
                assert found.loss == pytest.approx(one.loss, abs=1e-12)
                assert -1e-12 <= found.loss <= 1 + 1e-12
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("metric", NAMES)
def test_bounds_are_bounds(metric: str, evaluator: Evaluating) -> None:
    """A floor is below every loss, `above` below that of generalizations, `below` adds what specializations lose."""
    told = 0
    for seed in range(12):
        case = random_case(Random(f"bounds {seed}")).with_algorithm(metric=metric)
        search = evaluator(case)
        floor = search.metric.floor()
        outcomes = {node: one for node, one in evaluate_every_node(case).items() if one.published}
        for node, one in outcomes.items():
            assert floor[node] <= one.loss + 1e-12
        for node in evaluate_every_node(case):
            found = search.evaluate(node)
            told += found.added_below > 0 or found.floor_above > 0
            for other, one in outcomes.items():
                if all(low <= high for low, high in zip(node, other, strict=True)):
                    assert found.floor_above <= one.loss + 1e-12
                if all(low <= high for low, high in zip(other, node, strict=True)):
                    assert floor[other] + found.added_below <= one.loss + 1e-12
    assert told > 0


@pytest.mark.parametrize("metric", NAMES)
def test_nothing_generalized_costs_nothing_and_everything_costs_all(metric: str, evaluator: Evaluating) -> None:
    """The scale is the paper's: 0 at the bottom and 1 at the top, where classes are not what is counted."""
    rows: dict[str, list[str | None]] = {"q0": ["q00", "q01", "q00", "q01"], "illness": ["a", "b", "c", "d"]}
    rows["income"] = ["9", "9", "10", "10"]
    tree: dict[str | None, tuple[str | None, ...]] = {"q00": ("q00", "*"), "q01": ("q01", "*")}
    roles = {"q0": {"role": "quasi", "hierarchy": "q0.csv"}, "illness": {"role": "sensitive"}}
    document = {
        "columns": roles | {"income": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "algorithm": {"name": "optimal", "suppression": 0, "metric": metric},
    }
    search = evaluator(TableCase(rows, {"q0": tree}, document))
    assert search.evaluate((1,)).loss == pytest.approx(1)
    assert search.evaluate((0,)).loss == pytest.approx(0.5 if "class" in metric or metric == "discernibility" else 0)


def test_a_column_without_information_and_one_without_weight(evaluator: Evaluating) -> None:
    """Where the only weighted attribute is constant, entropy counts suppressed rows and nothing else."""
    columns: dict[str, list[str | None]] = {"q0": ["q00"] * 4, "q1": ["q10", "q10", "q10", "q11"]}
    columns |= {"illness": ["a"] * 4, "income": ["9"] * 4}
    trees: dict[str, dict[str | None, tuple[str | None, ...]]] = {
        "q0": {"q00": ("q00", "*")},
        "q1": {"q10": ("q10", "*"), "q11": ("q11", "*")},
    }
    quasi: dict[str, dict[str, Any]] = {name: {"role": "quasi", "hierarchy": f"{name}.csv"} for name in trees}
    quasi["q1"]["weight"] = 0
    document = {
        "columns": quasi | {"illness": {"role": "sensitive"}, "income": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": {"name": "optimal", "suppression": 0.5, "metric": "entropy"},
    }
    search = evaluator(TableCase(columns, trees, document))
    assert search.evaluate((0, 1)).loss == pytest.approx(0)
    assert search.evaluate((0, 0)).loss == pytest.approx(0.25)


def test_every_metric_is_declared_and_made() -> None:
    """Policies, algorithms and these tests know the same metrics."""
    assert set(NAMES) == set(METRICS) == set(DECLARED)


def test_one_loss_by_hand() -> None:
    """Two attributes of height 1 and 2 at levels 1 and 1 have climbed two of three levels: distortion 2/3."""
    case = random_case(Random(0))
    columns: dict[str, list[str | None]] = {"q0": ["q00", "q01"], "q1": ["q10", "q11"]}
    trees: dict[str, dict[str | None, tuple[str | None, ...]]] = {
        "q0": {"q00": ("q00", "*"), "q01": ("q01", "*")},
        "q1": {"q10": ("q10", "x", "*"), "q11": ("q11", "x", "*")},
    }
    quasi = {name: {"role": "quasi", "hierarchy": f"{name}.csv"} for name in trees}
    made = TableCase(columns, trees, case.document | {"columns": quasi})
    published: dict[Labels, list[dict[str, str | None]]] = {("*", "x"): made.rows}
    assert compute_loss(made, (1, 1), published, "distortion") == pytest.approx(2 / 3)
    assert compute_loss(made, (1, 1), published, "precision") == pytest.approx(3 / 4)
    assert compute_loss(made, (1, 1), published, "ncp") == pytest.approx(1)
    assert np.isclose(compute_loss(made, (0, 1), {("q00", "x"): [made.rows[0]]}, "height"), (1 + 3) / 6)


@pytest.mark.parametrize("metric", NAMES)
def test_prices_of_parts_unite(metric: str, evaluator: Evaluating) -> None:
    """Whole classes dealt out to parts, and priced there, cost together what they cost at once."""
    rng, compared = np.random.default_rng(1), 0
    for seed in range(6):
        search = evaluator(random_case(Random(f"parts {seed}")).with_algorithm(metric=metric))
        for node in search.lattice.nodes(np.ones(search.lattice.shape, dtype=np.bool_)):
            frequencies = search.frequencies(node)
            grouped, passing, doomed = search.judge(node)
            class_of = np.arange(len(frequencies))
            if grouped.first is not None:
                class_of = np.searchsorted(grouped.first, class_of, side="right") - 1
            part_of, prices, floors = rng.integers(0, 3, len(passing)), [], []
            for part in np.unique(part_of):
                chosen = part_of == part
                tuples = chosen[class_of]
                packed = replace(frequencies.packed, keys=frequencies.packed.keys[tuples])
                some = FrequencySet(node, packed, frequencies.counts[tuples], frequencies.widths)
                classes = search.counter.group(some)
                prices.append(search.metric.price(node, classes, passing[chosen], doomed[chosen]))
                floors.append(search.metric.floor_above(classes.classes))
            whole, united = (
                search.metric.price(node, grouped, passing, doomed),
                search.metric.unite_prices(node, prices),
            )
            assert united.loss == pytest.approx(whole.loss, abs=1e-12)
            assert united.added_below == pytest.approx(whole.added_below, abs=1e-12)
            above = search.metric.floor_above(grouped.classes)
            assert search.metric.unite_floors(floors) == pytest.approx(above, abs=1e-12)
            compared += len(prices) > 1
    assert compared > 20
