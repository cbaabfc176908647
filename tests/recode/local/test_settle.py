"""Groups become classes that pass."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.recode.local import settle as settle_module
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.settle import merge_equal_labels, settle

Poses = Callable[..., Problem]

HIV: dict[str, Any] = {"model": "alpha-deassociation", "column": "illness", "values": ["HIV"], "alpha": 0.5}


def test_groups_of_equal_labels_are_one_class(pose: Poses) -> None:
    """Two groups that a reader cannot tell apart are counted together."""
    problem = pose({"code": ["11", "11", "11", "11", "20", "20"]})
    parts = Partition(np.array([0, 0, 1]), np.array([2, 2, 2]), np.array([0, 1, 2]), 3)
    assert merge_equal_labels(problem, parts).sizes.tolist() == [4, 2]


def test_a_union_that_fails_finds_company(pose: Poses) -> None:
    """Under the refined bound two good groups of equal labels may fail as one class, which then joins another."""
    refined = HIV | {"alpha": 0.1, "refined": True}
    problem = pose({"code": ["11"] * 6 + ["12"] * 14, "illness": ["HIV", "HIV", *["flu"] * 18]}, refined, k=3)
    of = {name: i for i, name in enumerate(_described(problem))}
    parts = Partition(
        np.array([of["11 HIV"], of["11 flu"], of["11 HIV"], of["11 flu"], of["12 flu"]]),
        np.array([1, 2, 1, 2, 14]),
        np.array([0, 0, 1, 1, 2]),
        3,
    )
    assert problem.holds(parts).all()
    assert problem.holds(merge_equal_labels(problem, parts)).tolist() == [False, True]
    found = settle(problem, parts)
    assert problem.holds(found).all()
    assert found.sizes.tolist() == [20]


def test_failing_groups_are_united_until_they_pass(pose: Poses) -> None:
    """Single rows come together with their nearest, and no row is lost."""
    problem = pose({"code": ["11", "12", "21", "22", "39"]})
    alone = Partition(np.arange(5), problem.counts, np.arange(5), 5)
    found = settle(problem, alone)
    assert problem.holds(found).all()
    assert found.sizes.sum() == 5
    assert found.groups == 2


def test_without_patience_several_neighbours_join_at_once(pose: Poses, monkeypatch: Any) -> None:
    """However long it would take, it comes to an end in which all classes pass."""
    monkeypatch.setattr(settle_module, "_PATIENCE", 0)
    codes = [f"{i:02}" for i in range(60)]
    problem = pose({"code": codes}, k=40)
    alone = Partition(np.arange(60), problem.counts, np.arange(60), 60)
    found = settle(problem, alone)
    assert problem.holds(found).all()


def _described(problem: Problem) -> list[str]:
    """Each tuple as a text."""
    tuples, code, illness = (
        problem.encoded.tuples,
        problem.encoded.quasi[0].column,
        problem.encoded.sensitive["illness"],
    )
    pairs = zip(tuples.quasi[0], tuples.others["illness"], strict=True)
    return [f"{code.texts[quasi]} {illness.texts[other]}" for quasi, other in pairs]
