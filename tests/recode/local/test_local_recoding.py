"""Local recoding as a whole: what auto tries, and the improvement, never worse and better than the field on Adult."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import anonymize
from sfumato.datasets import adult_arx_folder, adult_arx_policy
from sfumato.models import MODELS
from sfumato.recode.local import local_recoding
from sfumato.recode.local.candidates import ALGORITHMS, Effort, improve
from sfumato.recode.local.local_recoding import auto_candidates
from sfumato.recode.local.partition import SUPPRESSED, Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.settle import settle
from sfumato.recode.local.start import choose_start, pose_problem
from sfumato.testing.random_tables import TableCase, random_case

Opens = Callable[[TableCase], Any]
Poses = Callable[..., Problem]

CASES = 12
EFFORT = Effort(lines=120_000_000, pairs=300_000_000)
HIV: dict[str, Any] = {"model": "alpha-deassociation", "column": "illness", "values": ["HIV"], "alpha": 0.5}


def rows_of_tuples(problem: Problem, parts: Partition) -> list[float]:
    """Rows of each tuple, over all groups."""
    rows: list[float] = np.bincount(parts.tuples, weights=parts.rows, minlength=len(problem.counts)).tolist()
    return rows


def suppressed(parts: Partition) -> int:
    """Rows that are not published."""
    return int(parts.rows[parts.group == SUPPRESSED].sum())


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model", MODELS)
def test_it_is_never_worse_and_always_passes(model: str, algorithm: str, opened: Opens) -> None:
    """Whatever the algorithm, model and metric, the cost does not rise, classes pass and no row is lost."""
    random, tried = Random(f"improve {model} {algorithm}"), 0
    for _ in range(CASES):
        problem = choose_start(pose_problem(*opened(random_case(random, model, algorithm))))
        if problem is None or problem.start.groups > 1:
            continue
        before = settle(problem, ALGORITHMS[algorithm](problem, None))
        after = improve(problem, before, EFFORT)
        assert problem.cost(after) <= problem.cost(before) + 1e-9
        assert problem.holds(after).all()
        assert rows_of_tuples(problem, after) == rows_of_tuples(problem, before)
        assert suppressed(after) <= max(suppressed(before), problem.requirement.limit)
        tried += 1
    assert tried >= 2


def test_it_gives_the_same_again(opened: Opens) -> None:
    """Nothing is drawn at random."""
    case = random_case(Random(11), "k-anonymity", "mondrian")
    first, second = (
        improve(problem, problem.start, EFFORT) for problem in [pose_problem(*opened(case)) for _ in range(2)]
    )
    assert first.group.tolist() == second.group.tolist()


def test_a_row_is_suppressed_where_that_costs_less(pose: Poses) -> None:
    """A row that makes two others say nothing is worth less than they are; without leave it stays."""
    codes = {"code": ["11", "11", "22", "22", "33"]}
    for share, gone in [(0.2, 1), (0.19, 0)]:
        problem = pose(codes, suppression=share)
        found = improve(problem, settle(problem, problem.start), EFFORT)
        assert suppressed(found) == gone
        assert problem.cost(found) == (1 if gone else 3)


def test_auto_tries_what_can_be_tried(pose: Poses) -> None:
    """With levels all are candidates but relaxed cuts; the full-domain optimum only where its search is quick."""
    every = ("progressive", "top-down", "mondrian", "optimal")
    assert auto_candidates(pose({"code": ["11", "12"]})) == every
    columns = {"code": ["11", "12"], "illness": ["flu", "HIV"]}
    assert auto_candidates(pose(columns, HIV | {"refined": True})) == every[:3]


def test_auto_with_one_candidate_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a table that is too large to try every algorithm the first is taken, and is the one that is named."""
    monkeypatch.setattr(local_recoding, "_TRIED", 1)
    policy = {
        "columns": {"code": {"role": "quasi", "hierarchy": {"mask": "right"}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    release = anonymize(pa.table({"code": ["11", "12", "21", "22"]}), policy)
    assert release.recoding.algorithm == "progressive"


def test_auto_keeps_what_it_can_where_no_range_can_be_cut() -> None:
    """All die before the first survivor is last seen, and most of one arm do: the arm is still told of most people."""
    rows = pa.table(
        {
            "time": [str(day) for day in (*range(20, 44), *range(120, 144))],
            "arm": ["b" if row % 3 == 0 and row < 26 else "a" for row in range(48)],
            "death": ["1"] * 24 + ["0"] * 24,
        }
    )
    policy = {
        "columns": {
            "time": {"role": "quasi", "hierarchy": {"ranges": True, "domain": [0, 200]}},
            "arm": {"role": "quasi", "hierarchy": "suppress"},
            "death": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "k-anonymity", "k": 3},
            {"model": "alpha-deassociation", "column": "death", "alpha": 0.7},
        ],
    }
    cut = anonymize(rows, policy | {"algorithm": {"name": "mondrian", "improve": False}})
    named, chosen = (anonymize(rows, policy | {"algorithm": {"name": name}}) for name in ("top-down", "auto"))
    assert cut.utility.ncp == 1
    assert chosen.utility.ncp <= named.utility.ncp < 0.9
    assert all(entry["satisfied"] for entry in chosen.privacy)


@pytest.mark.slow
def test_arx_is_beaten_on_its_own_rows() -> None:
    """On ARX's 30,162 rows at k = 5 less than 0.050 is lost, where ARX loses 0.059, or 0.052 with patience."""
    folder = adult_arx_folder()
    if folder is None:
        pytest.skip("the rows that ARX ships are not here")
    release = anonymize(folder / "adult.csv", adult_arx_policy(folder) | {"algorithm": {}})
    assert release.utility.ncp < 0.050
    assert release.rows == 30_162
