"""The Pareto front of two figures that should both be small, and its knee.

A point is on the front if no other is at least as good in both and better in one. The knee is where the front bends
most towards the corner where both are smallest: with both axes scaled so that the front reaches from 0 to 1 in each,
the point farthest from the straight line between its two ends, on the side of that corner. Before it a little more of
one buys much of the other, beyond it no longer.
"""

from collections.abc import Sequence

Point = tuple[float, float]

_LEAST_BEND = 1e-9
"""Points nearer to the line than this are on it."""


def front(points: Sequence[Point]) -> list[int]:
    """Find the places of the points on the front, by their first figure; of equal points the first.

    >>> front([(0.5, 0.1), (0.2, 0.3), (0.6, 0.6), (0.2, 0.3)])
    [1, 0]
    """
    places: list[int] = []
    least = float("inf")
    for place in sorted(range(len(points)), key=lambda place: (*points[place], place)):
        if points[place][1] < least:
            places.append(place)
            least = points[place][1]
    return places


def knee(points: Sequence[Point]) -> int | None:
    """Find the place of the knee among points of a front, by their first figure; ``None`` where it does not bend.

    Fewer than three points have no bend, nor has a front that is straight or bends outwards. Of equals the first.

    >>> knee([(0.0, 1.0), (0.1, 0.2), (1.0, 0.0)]), knee([(0.0, 1.0), (0.9, 0.8), (1.0, 0.0)])
    (1, None)
    """
    if len(points) < 3:
        return None
    (left, high), (right, low) = points[0], points[-1]
    # The distance from the line between the ends, up to a factor that is the same for all points.
    bends = [1 - (x - left) / (right - left) - (y - low) / (high - low) for x, y in points]
    best = max(range(len(bends)), key=lambda place: (round(bends[place], 12), -place))
    return best if bends[best] > _LEAST_BEND else None
