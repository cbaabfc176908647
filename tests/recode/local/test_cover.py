"""The covering: the cheapest classes are taken first, and what is left over is left alone."""

from collections.abc import Callable

from sfumato.recode.local.cover import cover
from sfumato.recode.local.problem import Problem

Poses = Callable[..., Problem]

PLENTY = 10**9


def test_a_covering_takes_the_cheapest_groups_first(pose: Poses) -> None:
    """Equal codes become classes as they are, the others meet one level up, and the last at the top."""
    problem = pose({"code": ["11", "11", "12", "13", "14", "20", "31"]})
    found = cover(problem, problem.start, PLENTY)
    codes = problem.encoded.quasi[0].column.texts
    groups = [sorted(codes[of] for of in found.tuples[found.group == group]) for group in range(found.groups)]
    assert groups == [["11"], ["12", "13", "14"], ["20", "31"]]
    assert found.sizes.tolist() == [2, 3, 2]


def test_a_covering_without_budget_leaves_every_line_alone(pose: Poses) -> None:
    """Rows that no class was sought for are groups of their own, which somebody else takes in."""
    problem = pose({"code": ["11", "12", "20"]})
    assert cover(problem, problem.start, 0).sizes.tolist() == [1, 1, 1]
