"""Steps of a round width on the line of numbers, the ends open."""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray

_TAIL = 0.005
"""So small a share of the rows may stand in the open ends, below and above."""

_WIDTHS = (1, 2, 5, 10)


@dataclass(frozen=True, eq=False)
class Steps:
    """Bins of numbers: all below the first edge, those between edges, the lower one included, and all from the last."""

    edges: FloatArray
    names: tuple[str, ...]
    first: int

    def places(self, numbers: FloatArray) -> IntArray:
        """The bin of each number; one outside belongs to the bin at that end.

        >>> steps_of(np.array([0.0, 9.0]), np.array([1, 1]), 5).places(np.array([-1.0, 3.0, 99.0])).tolist()
        [0, 1, 4]
        """
        found: IntArray = np.searchsorted(self.edges, numbers, side="right") - self.first
        return np.clip(found, 0, len(self.names) - 1)


def steps_of(numbers: FloatArray, counts: IntArray, most: int, *, beyond: FloatArray | None = None) -> Steps:
    """Steps for numbers that stand in so many rows each: so many at most, and an open one where some are beyond.

    `beyond` are all numbers that need a place, where there are more.

    >>> steps_of(np.array([0.0, 9.0]), np.array([1, 1]), 5).names
    ('0–1', '2–3', '4–5', '6–7', '8–9')
    >>> steps_of(np.array([0.0, 0.7]), np.array([1, 1]), 5).names[:2]
    ('0 to 0.2', '0.2 to 0.4')
    >>> steps_of(np.array([0.0, 50.0, 51.0]), np.array([1000, 1, 1]), 5).names
    ('0', 'above 0')
    """
    (low, high), every = _middle(numbers, counts), numbers if beyond is None else beyond
    if low == high:
        return _around(low, every)
    whole = bool((every == np.round(every)).all())
    step = _step(low, high, most, least=1.0 if whole else 0.0)
    edges = np.array([float(f"{place * step:.12g}") for place in range(floor(low / step), floor(high / step) + 2)])
    return _named(edges, every, step=step, whole=whole)


def _middle(numbers: FloatArray, counts: IntArray) -> tuple[float, float]:
    """The lowest and the highest number, small tails put aside."""
    order = np.argsort(numbers, kind="stable")
    sums = np.cumsum(counts[order])
    tail = _TAIL * float(sums[-1])
    low = order[np.searchsorted(sums, tail, side="right")]
    high = order[np.searchsorted(sums, sums[-1] - tail, side="left")]
    return float(numbers[low]), float(numbers[high])


def _step(low: float, high: float, most: int, *, least: float) -> float:
    """The smallest round width, not below the least, with which so many steps are enough."""
    power = max(10.0 ** floor(log10((high - low) / most)), least)
    widths = [power * times * scale for scale in (1, 10) for times in _WIDTHS]
    return next(width for width in widths if floor(high / width) - floor(low / width) + 1 <= most)


def _around(number: float, numbers: FloatArray) -> Steps:
    """Nearly all are one number: that number, what is below and what is above."""
    below, above = bool((numbers < number).any()), bool((numbers > number).any())
    text = _text(number, 0.0)
    names = [*([f"below {text}"] if below else []), text, *([f"above {text}"] if above else [])]
    return Steps(np.array([number, np.nextafter(number, np.inf)]), tuple(names), 0 if below else 1)


def _named(edges: FloatArray, numbers: FloatArray, *, step: float, whole: bool) -> Steps:
    ends = [_text(float(edge), step) for edge in edges]
    lasts = [_text(float(edge) - 1, step) for edge in edges]
    between = f"{{}}{'–' if min(edges) >= 0 else ' to '}{{}}" if whole else "{} to {}"
    names = [
        low if whole and low == last else between.format(low, last if whole else end)
        for low, end, last in zip(ends[:-1], ends[1:], lasts[1:], strict=True)
    ]
    below, above = bool((numbers < edges[0]).any()), bool((numbers >= edges[-1]).any())
    names = [*([f"below {ends[0]}"] if below else []), *names, *([f"{ends[-1]} and more"] if above else [])]
    return Steps(edges, tuple(names), 0 if below else 1)


def _text(number: float, step: float) -> str:
    """A number with the digits that its step has."""
    if number == round(number) and abs(number) < 1e15:
        return f"{number:.0f}" if abs(number) < 10_000 else f"{number:,.0f}"
    digits = max(0, ceil(-log10(step) - 1e-9)) if step else 0
    return f"{number:,.{digits}f}" if 0 < digits <= 6 else f"{number:.4g}"
