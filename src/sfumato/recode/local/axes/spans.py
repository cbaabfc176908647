"""Spans: the smallest ranges that a numeric column is ever published in, chosen once for the whole column.

Every range that is published is a run of them. For bounding boxes they are the numbers themselves. For a partition
they are elementary intervals, whose cut points do not depend on the extremes in the data: the lowest and the highest
record are left out when cuts are chosen, and the outermost intervals reach to the declared domain or are open. So
moving an extreme record further out changes no label.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sfumato.hierarchy.intervals import Bound

_MULTIPLES = (5, 2, 1)


@dataclass(frozen=True)
class Span:
    """From `low` to `high`, which is part of it where it is `closed`; `value` where it is published as one number."""

    low: Bound
    high: Bound
    closed: bool = False
    value: int | None = None


@dataclass(frozen=True)
class Column:
    """The different numbers of a column in order, and how many rows have each; `domain` as declared, if it is.

    Numbers are whole multiples of a small step. `whole` says that they are integers, and the step is 1.
    """

    numbers: Sequence[int]
    rows: Sequence[int]
    domain: tuple[int, int] | None = None
    whole: bool = False

    def boxes(self) -> tuple[list[Span], list[int]]:
        """Each number as a span, and the span of each number.

        >>> Column([17, 19], [1, 5]).boxes()[0][0]
        Span(low=17, high=17, closed=True, value=17)
        """
        spans = [Span(n, n + self.whole, closed=not self.whole, value=n) for n in self.numbers]
        return spans, list(range(len(spans)))

    def partition(self, least: int) -> tuple[list[Span], list[int]]:
        """Elementary intervals of at least so many rows each, as far as there are as many; and that of each number.

        >>> spans, owner = Column([1, 20, 21, 22, 23, 90], [1, 2, 2, 1, 1, 1]).partition(2)
        >>> [(span.low, span.high, span.value) for span in spans], owner
        ([(-inf, 21, None), (21, 22, 21), (22, inf, None)], [0, 0, 1, 2, 2, 2])
        """
        numbers, rows = self._inner()
        starts = elementary(rows, least)
        cuts = [roundest(numbers[start - 1], numbers[start]) for start in starts[1:]]
        lowest, highest = self.domain or (-math.inf, math.inf)
        lows, highs = [lowest, *cuts], [*cuts, highest + self.whole]
        spans = [Span(low, high) for low, high in zip(lows, highs, strict=True)]
        for i, (start, end) in enumerate(pairwise(starts[1:]), 1):
            if end == start + 1:  # never the outermost ones: they hold the extremes as well
                spans[i] = Span(lows[i], highs[i], value=numbers[start])
        if self.domain and not self.whole:
            spans[-1] = Span(lows[-1], highest, closed=True)
        return spans, _owners(self.numbers, cuts)

    def extent(self, *, inner: bool) -> tuple[int, int]:
        """The lowest and the highest number, or those `inner` of the lowest and the highest record.

        >>> Column([1, 20, 22, 90], [1, 1, 1, 1]).extent(inner=True)
        (20, 22)
        """
        numbers = (self._inner()[0] if inner and self.numbers else self.numbers) or [0]
        return numbers[0], numbers[-1]

    def _inner(self) -> tuple[list[int], list[int]]:
        """The numbers and rows without the lowest and the highest record."""
        rows = list(self.rows)
        rows[0] -= 1
        rows[-1] -= 1
        kept = [i for i, count in enumerate(rows) if count > 0]
        return [self.numbers[i] for i in kept], [rows[i] for i in kept]


def elementary(rows: Sequence[int], least: int) -> list[int]:
    """Where intervals start: each has at least so many rows, and a number that has as many itself stands alone.

    The lowest and the highest record are not among these rows; each counts where it stands, in the outermost interval.
    What is left over between two frequent numbers, or at the end, goes to the interval before, if there is one.

    >>> elementary([1, 1, 1, 9, 1, 9, 1], least=3)
    [0, 3, 5]
    """
    starts, held = [0], 1
    for place, count in enumerate(rows):
        if held >= least or (count >= least and len(starts) > 1):
            if held < least:
                starts.pop()
            starts.append(place)
            held = 0
        held += count
    if held + 1 < least and len(starts) > 1:
        starts.pop()
    return starts


def roundest(above: int, upto: int) -> int:
    """The roundest number that is above the one and at most the other: so a cut rarely is somebody's number.

    >>> roundest(17, 23), roundest(1721, 1729), roundest(-3, 4), roundest(36, 37)
    (20, 1725, 0, 37)
    """
    step: int = 10 ** len(str(max(abs(above), abs(upto))))
    while True:
        for multiple in _MULTIPLES:
            found = upto - upto % (step * multiple)
            if found > above:
                return found
        step //= 10


def _owners(numbers: Iterable[int], cuts: Sequence[int]) -> list[int]:
    """The interval of each number, both in order."""
    found, place = [], 0
    for number in numbers:
        while place < len(cuts) and number >= cuts[place]:
            place += 1
        found.append(place)
    return found
