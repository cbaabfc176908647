"""Groups become classes that pass, and where a search begins."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.recode.local import settle
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.run import candidates
from sfumato.recode.local.settle import settled, united
from sfumato.recode.local.start import begun, full_domain

Poses = Callable[..., Problem]

HIV: dict[str, Any] = {"model": "alpha-deassociation", "column": "illness", "values": ["HIV"], "alpha": 0.5}


def test_groups_of_equal_labels_are_one_class(pose: Poses) -> None:
    """Two groups that a reader cannot tell apart are counted together."""
    problem = pose({"code": ["11", "11", "11", "11", "20", "20"]})
    parts = Parts(np.array([0, 0, 1]), np.array([2, 2, 2]), np.array([0, 1, 2]), 3)
    assert united(problem, parts).sizes.tolist() == [4, 2]


def test_a_union_that_fails_finds_company(pose: Poses) -> None:
    """Under the refined bound two good groups of equal labels may fail as one class, which then joins another."""
    refined = HIV | {"alpha": 0.1, "refined": True}
    problem = pose({"code": ["11"] * 6 + ["12"] * 14, "illness": ["HIV", "HIV", *["flu"] * 18]}, refined, k=3)
    of = {name: i for i, name in enumerate(_described(problem))}
    parts = Parts(
        np.array([of["11 HIV"], of["11 flu"], of["11 HIV"], of["11 flu"], of["12 flu"]]),
        np.array([1, 2, 1, 2, 14]),
        np.array([0, 0, 1, 1, 2]),
        3,
    )
    assert problem.holds(parts).all()
    assert problem.holds(united(problem, parts)).tolist() == [False, True]
    found = settled(problem, parts)
    assert problem.holds(found).all()
    assert found.sizes.tolist() == [20]


def test_failing_groups_are_united_until_they_pass(pose: Poses) -> None:
    """Single rows come together with their nearest, and no row is lost."""
    problem = pose({"code": ["11", "12", "21", "22", "39"]})
    alone = Parts(np.arange(5), problem.counts, np.arange(5), 5)
    found = settled(problem, alone)
    assert problem.holds(found).all()
    assert found.sizes.sum() == 5
    assert found.groups == 2


def test_without_patience_several_neighbours_join_at_once(pose: Poses, monkeypatch: Any) -> None:
    """However long it would take, it comes to an end in which all classes pass."""
    monkeypatch.setattr(settle, "_PATIENCE", 0)
    codes = [f"{i:02}" for i in range(60)]
    problem = pose({"code": codes}, k=40)
    alone = Parts(np.arange(60), problem.counts, np.arange(60), 60)
    found = settled(problem, alone)
    assert problem.holds(found).all()


def test_a_search_begins_with_all_rows_where_they_pass_as_one(pose: Poses) -> None:
    """Nothing is suppressed before an algorithm starts, however much might be."""
    problem = begun(pose({"code": ["11", "12"]}, suppression=0.5))
    assert problem is not None
    assert (problem.start.group == 0).all()


def test_a_search_begins_without_rows_that_nothing_can_hide(pose: Poses) -> None:
    """Where the whole table fails, rows go as far as they may; where they may not, there is no release."""
    columns = {"code": ["11"] * 4 + ["22"] * 2, "illness": ["HIV", "flu", "HIV", "flu", "HIV", "HIV"]}
    assert begun(pose(columns, HIV)) is None
    problem = begun(pose(columns, HIV, suppression=0.4))
    assert problem is not None
    assert int(problem.start.rows[problem.start.group < 0].sum()) == 2
    assert problem.holds(problem.start).all()


def test_auto_tries_what_can_be_tried(pose: Poses) -> None:
    """With levels all are candidates but relaxed cuts; the full-domain optimum only where its search is quick."""
    every = ("progressive", "top-down", "mondrian", "optimal")
    assert candidates(pose({"code": ["11", "12"]})) == every
    columns = {"code": ["11", "12"], "illness": ["flu", "HIV"]}
    assert candidates(pose(columns, HIV | {"refined": True})) == every[:3]


def test_the_full_domain_optimum_is_a_candidate_under_its_tightest_labels(pose: Poses) -> None:
    """Its classes are those of one level for all, and rows of failing ones are suppressed where they may be."""
    problem = pose({"code": ["11", "11", "22", "22", "39"]}, suppression=0.2)
    found = full_domain(problem)
    assert found is not None
    assert (found.sizes.tolist(), int(found.rows[found.group < 0].sum())) == ([2, 2], 1)


def _described(problem: Problem) -> list[str]:
    """Each tuple as a text."""
    tuples, code, illness = (
        problem.encoded.tuples,
        problem.encoded.quasi[0].column,
        problem.encoded.sensitive["illness"],
    )
    pairs = zip(tuples.quasi[0], tuples.others["illness"], strict=True)
    return [f"{code.texts[quasi]} {illness.texts[other]}" for quasi, other in pairs]
