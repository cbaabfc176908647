"""The front and its knee against brute force."""

import math
import random

import pytest

from sfumato.compare import front, knee

Point = tuple[float, float]


def _dominated(one: Point, other: Point) -> bool:
    return other != one and other[0] <= one[0] and other[1] <= one[1]


def _distance(point: Point, start: Point, end: Point) -> float:
    """From a point to the line through two others, by the cross product; positive below the line."""
    (x, y), (a, b), (c, d) = point, start, end
    return -((c - a) * (y - b) - (d - b) * (x - a)) / math.hypot(c - a, d - b)


def _scaled(points: list[Point]) -> list[Point]:
    low = [min(point[axis] for point in points) for axis in (0, 1)]
    high = [max(point[axis] for point in points) for axis in (0, 1)]
    return [((x - low[0]) / (high[0] - low[0]), (y - low[1]) / (high[1] - low[1])) for x, y in points]


@pytest.mark.parametrize("seed", range(60))
def test_front_is_what_no_other_point_beats(seed: int) -> None:
    """The front has exactly the points that no other is at least as good as in both, each once."""
    draw = random.Random(seed)
    points = [(draw.randint(0, 6) / 6, draw.randint(0, 6) / 6) for _ in range(draw.randint(1, 25))]
    places = front(points)
    best = {point for point in points if not any(_dominated(point, other) for other in points)}
    assert [points[place] for place in places] == sorted(best)
    assert all(points.index(points[place]) == place for place in places)


@pytest.mark.parametrize("seed", range(60))
def test_knee_is_farthest_from_the_line_between_the_ends(seed: int) -> None:
    """The knee has the largest distance from the line, of all points on the side of the better corner."""
    draw = random.Random(seed)
    points = [(draw.random(), draw.random()) for _ in range(draw.randint(3, 40))]
    bend = [points[place] for place in front(points)]
    if len(bend) < 3:
        assert knee(bend) is None
        return
    scaled = _scaled(bend)
    distances = [_distance(point, scaled[0], scaled[-1]) for point in scaled]
    found = knee(bend)
    assert found == (distances.index(max(distances)) if max(distances) > 1e-9 else None)


def test_knee_does_not_depend_on_the_units() -> None:
    """Axes that are stretched and moved have the same knee."""
    points = [(0.0, 9.0), (1.0, 4.0), (2.0, 3.5), (8.0, 3.0)]
    assert knee(points) == knee([(1000 * x + 5, y / 7 - 1) for x, y in points]) == 1


@pytest.mark.parametrize(
    "points",
    [[], [(0.1, 0.2)], [(0.1, 0.2), (0.3, 0.1)], [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)], [(0, 1), (0.8, 0.9), (1, 0)]],
)
def test_no_knee_without_a_bend(points: list[Point]) -> None:
    """Fewer than three points, a straight front and one that bends outwards have no knee."""
    assert knee(points) is None


def test_equal_bends_go_to_the_first() -> None:
    """Of two points that are equally far from the line, the one of less loss is the knee."""
    assert knee([(0.0, 1.0), (0.2, 0.4), (0.4, 0.2), (1.0, 0.0)]) == 1
