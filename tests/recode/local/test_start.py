"""Where a search begins: with all rows, or without those that nothing can hide, as few as it takes."""

import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.start import choose_start, drop_frequent_values, full_domain_classes

Poses = Callable[..., Problem]

ALPHA: dict[str, Any] = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.55}
HIV: dict[str, Any] = {"model": "alpha-deassociation", "column": "illness", "values": ["HIV"], "alpha": 0.5}


def gone(problem: Problem | None) -> int:
    """Rows that are dropped before the search."""
    assert problem is not None
    return int(problem.start.rows[problem.start.group < 0].sum())


def test_no_more_rows_go_than_have_to(pose: Poses) -> None:
    """Of forty rows of sixty, sixteen go so that 24 of 44 are left: a share of 0.545."""
    columns = {"code": ["1"] * 60, "illness": ["x"] * 40 + ["y"] * 20}
    assert gone(choose_start(pose(columns, ALPHA, suppression=0.5))) == 16
    assert gone(choose_start(pose(columns, ALPHA, suppression=0.27))) == 16
    assert choose_start(pose(columns, ALPHA, suppression=0.26)) is None


@pytest.mark.parametrize("algorithm", ["progressive", "top-down", "mondrian", "auto"])
def test_what_can_be_met_by_dropping_rows_is_met(algorithm: str) -> None:
    """Where all rows have the same quasi-identifier, dropping rows of one value is the only way."""
    policy = {
        "columns": {"q": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}, ALPHA],
        "algorithm": {"name": algorithm, "suppression": 0.5},
    }
    release = sf.anonymize(pa.table({"q": ["1"] * 60, "illness": ["x"] * 40 + ["y"] * 20}), policy)
    assert (release.rows, release.suppressed) == (44, 16)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_it_is_as_good_as_trying_all(seed: int, pose: Poses) -> None:
    """Whether some choice of rows passes as one class, and how few must go, is what trying all numbers gives."""
    random = Random(seed)
    counts = [random.randint(1, 9) for _ in range(random.randint(2, 4))]
    rule = random.choice(
        [ALPHA | {"alpha": random.choice([0.3, 0.4, 0.5])}, ENTROPY | {"l": random.choice([1.5, 2.5])}]
    )
    illness = [str(value) for value, count in enumerate(counts) for _ in range(count)]
    share = random.choice([0.2, 0.4, 0.8])
    problem = pose({"code": ["1"] * len(illness), "illness": illness}, rule, k=1, suppression=share)
    found, limit = drop_frequent_values(problem), problem.requirement.limit
    every = [sum(left) for left in _choices(counts) if sum(left) >= len(illness) - limit and _passes(pose, left, rule)]
    fewest = len(illness) - max(every) if every else None
    assert (None if found is None else int(found.rows[found.group < 0].sum())) == fewest


ENTROPY: dict[str, Any] = {"model": "entropy-l-diversity", "column": "illness"}


def _choices(counts: list[int]) -> list[tuple[int, ...]]:
    """How many rows of each value may be left, one at least in all."""
    return [left for left in itertools.product(*[range(count + 1) for count in counts]) if any(left)]


def _passes(pose: Poses, counts: tuple[int, ...], rule: dict[str, Any]) -> bool:
    illness = [str(value) for value, count in enumerate(counts) for _ in range(count)]
    problem = pose({"code": ["1"] * len(illness), "illness": illness}, rule, k=1)
    return bool(problem.holds(problem.start).all())


def test_a_search_begins_with_all_rows_where_they_pass_as_one(pose: Poses) -> None:
    """Nothing is suppressed before an algorithm starts, however much might be."""
    problem = choose_start(pose({"code": ["11", "12"]}, suppression=0.5))
    assert problem is not None
    assert (problem.start.group == 0).all()


def test_a_search_begins_without_rows_that_nothing_can_hide(pose: Poses) -> None:
    """Where the whole table fails, rows go as far as they may; where they may not, there is no release."""
    columns = {"code": ["11"] * 4 + ["22"] * 2, "illness": ["HIV", "flu", "HIV", "flu", "HIV", "HIV"]}
    assert choose_start(pose(columns, HIV)) is None
    problem = choose_start(pose(columns, HIV, suppression=0.4))
    assert problem is not None
    assert int(problem.start.rows[problem.start.group < 0].sum()) == 2
    assert problem.holds(problem.start).all()


def test_the_full_domain_optimum_is_a_candidate_under_its_tightest_labels(pose: Poses) -> None:
    """Its classes are those of one level for all, and rows of failing ones are suppressed where they may be."""
    problem = pose({"code": ["11", "11", "22", "22", "39"]}, suppression=0.2)
    found = full_domain_classes(problem)
    assert found is not None
    assert (found.sizes.tolist(), int(found.rows[found.group < 0].sum())) == ([2, 2], 1)
