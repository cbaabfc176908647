"""The exchange: rows move where they cost less, dear classes are given up, and rows without a place find one."""

from collections.abc import Callable

import numpy as np

from sfumato.recode.local.exchange import Exchange
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem

Poses = Callable[..., Problem]

PLENTY = 10**9


def test_a_row_moves_where_it_costs_less(pose: Poses) -> None:
    """In the wrong class a row makes three others dear; among its like it costs nothing."""
    problem = pose({"code": ["11", "11", "11", "22", "22", "22"]})
    wrong = Partition(np.array([0, 1, 1]), np.array([3, 1, 2]), np.array([0, 0, 1]), 2)
    exchange = Exchange(problem, wrong, PLENTY)
    assert exchange.move() > 0
    assert problem.cost(exchange.result) == 0


def test_a_dear_class_is_given_up(pose: Poses) -> None:
    """Two rows that have nothing in common each join a class that has room for them at no cost."""
    problem = pose({"code": ["11", "11", "11", "22", "22", "22"]})
    dear = Partition(np.array([0, 0, 1, 1]), np.array([2, 1, 2, 1]), np.array([0, 1, 2, 1]), 3)
    found = Exchange(problem, dear, PLENTY).improve(0.0).result
    assert (problem.cost(found), found.groups) == (0, 2)


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
    exchange = Exchange(problem, Partition(of, counts, groups, 3), PLENTY)
    assert exchange.rows_without_place == 1
    found = exchange.fill()
    assert found.rows_without_place == 0
    assert problem.holds(found.result).all()
