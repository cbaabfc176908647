"""The improvement pass: never worse, always passing, the same again, and better than the field on Adult."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import anonymize
from sfumato.checks.tables import Case, random_case
from sfumato.datasets import adult_arx_folder, adult_arx_policy
from sfumato.models import MODELS
from sfumato.recode.local import run
from sfumato.recode.local.improve import improved
from sfumato.recode.local.improve.cover import Cover
from sfumato.recode.local.improve.exchange import Exchange
from sfumato.recode.local.parts import SUPPRESSED, Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.run import ALGORITHMS, posed
from sfumato.recode.local.settle import settled
from sfumato.recode.local.start import begun

Opens = Callable[[Case], Any]
Poses = Callable[..., Problem]

CASES = 12
PLENTY = 10**9


def rows_of_tuples(problem: Problem, parts: Parts) -> list[float]:
    """Rows of each tuple, over all groups."""
    rows: list[float] = np.bincount(parts.of, weights=parts.rows, minlength=len(problem.counts)).tolist()
    return rows


def suppressed(parts: Parts) -> int:
    """Rows that are not published."""
    return int(parts.rows[parts.group == SUPPRESSED].sum())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model", MODELS)
def test_it_is_never_worse_and_always_passes(model: str, algorithm: str, opened: Opens) -> None:
    """Whatever the algorithm, model and metric, the cost does not rise, classes pass and no row is lost."""
    random, tried = Random(f"improve {model} {algorithm}"), 0
    for _ in range(CASES):
        problem = begun(posed(*opened(random_case(random, model, algorithm))))
        if problem is None or problem.start.groups > 1:
            continue
        before = settled(problem, ALGORITHMS[algorithm](problem, None))
        after = improved(problem, before)
        assert problem.cost(after) <= problem.cost(before) + 1e-9
        assert problem.holds(after).all()
        assert rows_of_tuples(problem, after) == rows_of_tuples(problem, before)
        assert suppressed(after) <= max(suppressed(before), problem.requirement.limit)
        tried += 1
    assert tried >= 2


def test_it_gives_the_same_again(opened: Opens) -> None:
    """Nothing is drawn at random."""
    case = random_case(Random(11), "k-anonymity", "mondrian")
    first, second = (improved(problem, problem.start) for problem in [posed(*opened(case)) for _ in range(2)])
    assert first.group.tolist() == second.group.tolist()


def test_a_covering_takes_the_cheapest_groups_first(pose: Poses) -> None:
    """Equal codes become classes as they are, the others meet one level up, and the last at the top."""
    problem = pose({"code": ["11", "11", "12", "13", "14", "20", "31"]})
    found = Cover(problem).take(problem.start, PLENTY)
    codes = problem.encoded.quasi[0].column.texts
    groups = [sorted(codes[of] for of in found.of[found.group == group]) for group in range(found.groups)]
    assert groups == [["11"], ["12", "13", "14"], ["20", "31"]]
    assert found.sizes.tolist() == [2, 3, 2]


def test_a_covering_without_budget_leaves_every_line_alone(pose: Poses) -> None:
    """Rows that no class was sought for are groups of their own, which somebody else takes in."""
    problem = pose({"code": ["11", "12", "20"]})
    assert Cover(problem).take(problem.start, 0).sizes.tolist() == [1, 1, 1]


def test_a_row_moves_where_it_costs_less(pose: Poses) -> None:
    """In the wrong class a row makes three others dear; among its like it costs nothing."""
    problem = pose({"code": ["11", "11", "11", "22", "22", "22"]})
    wrong = Parts(np.array([0, 1, 1]), np.array([3, 1, 2]), np.array([0, 0, 1]), 2)
    exchange = Exchange(problem, wrong, PLENTY)
    assert exchange.round() > 0
    assert problem.cost(exchange.result) == 0


def test_a_dear_class_is_given_up(pose: Poses) -> None:
    """Two rows that have nothing in common each join a class that has room for them at no cost."""
    problem = pose({"code": ["11", "11", "11", "22", "22", "22"]})
    dear = Parts(np.array([0, 0, 1, 1]), np.array([2, 1, 2, 1]), np.array([0, 1, 2, 1]), 3)
    found = Exchange(problem, dear, PLENTY).run(0.0).result
    assert (problem.cost(found), found.groups) == (0, 2)


def test_a_row_is_suppressed_where_that_costs_less(pose: Poses) -> None:
    """A row that makes two others say nothing is worth less than they are; without leave it stays."""
    codes = {"code": ["11", "11", "22", "22", "33"]}
    for share, gone in [(0.2, 1), (0.19, 0)]:
        problem = pose(codes, suppression=share)
        found = improved(problem, settled(problem, problem.start))
        assert suppressed(found) == gone
        assert problem.cost(found) == (1 if gone else 3)


def test_rows_without_a_place_are_taken_in_by_classes_that_can_bear_them(pose: Poses) -> None:
    """A row with the protected value joins the class that keeps its share low, though another would be cheaper."""
    alpha = {"model": "alpha-deassociation", "column": "illness", "values": ["HIV"], "alpha": 0.4}
    problem = pose({"code": ["11"] * 3 + ["12"] * 4 + ["11"], "illness": ["HIV", *["flu"] * 6, "HIV"]}, alpha)
    tuples = list(zip(*[codes.tolist() for codes in problem.encoded.tuples.quasi], strict=True))
    exposed = problem.encoded.tuples.others["illness"].tolist()
    names = problem.encoded.sensitive["illness"].texts
    group = [0 if codes == tuples[0] else 1 for codes in tuples]
    rows = problem.counts.tolist()
    hiv = next(i for i, value in enumerate(exposed) if names[value] == "HIV")
    lines = [(i, count, group[i]) for i, count in enumerate(rows)]
    lines[hiv] = (hiv, 1, group[hiv])
    of, counts, groups = (np.array(part) for part in zip(*lines, (hiv, 1, 2), strict=True))
    exchange = Exchange(problem, Parts(of, counts, groups, 3), PLENTY)
    assert exchange.lost == 1
    found = exchange.fill()
    assert found.lost == 0
    assert problem.holds(found.result).all()


def test_auto_with_one_candidate_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a table that is too large to try every algorithm the first is taken, and is the one that is named."""
    monkeypatch.setattr(run, "_TRIED", 1)
    policy = {
        "columns": {"code": {"role": "quasi", "hierarchy": {"mask": "right"}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    release = anonymize(pa.table({"code": ["11", "12", "21", "22"]}), policy)
    assert release.recoding.algorithm == "progressive"


def test_arx_is_beaten_on_its_own_rows() -> None:
    """On ARX's 30,162 rows at k = 5 less than 0.050 is lost, where ARX loses 0.059, or 0.052 with patience."""
    folder = adult_arx_folder()
    if folder is None:
        pytest.skip("the rows that ARX ships are not here")
    release = anonymize(folder / "adult.csv", adult_arx_policy(folder) | {"algorithm": {}})
    assert release.utility.ncp < 0.050
    assert release.rows == 30_162
