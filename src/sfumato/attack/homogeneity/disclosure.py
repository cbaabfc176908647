"""What classes tell of a sensitive column, whether a requirement asked about it or not.

Homogeneity (one value in a class), skewness (a class unlike the whole table) and what an adversary gains who
finds a person's class. All classes at once, over the sparse histograms.
"""

from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import Histogram

_BLOCK = 1 << 14
_WORSE = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
"""Few values and little entropy are bad; a large share, distance or gain is."""


@dataclass(frozen=True)
class Gain:
    """The value of which a class tells most, and how sure of it one is before and after finding the class."""

    value: str | None
    before: float
    after: float


@dataclass(frozen=True)
class Figure:
    """A measure: of the whole table as one class, for the average row, and in the worst class."""

    whole: float
    average: float
    worst: float


@dataclass(frozen=True)
class Disclosure:
    """The measures of one sensitive column; `certain` are rows in classes where all share one value."""

    distinct: Figure
    entropy: Figure
    share: Figure
    distance: Figure
    gain: Figure
    top: str | None
    most: Gain
    certain: int


def disclosed(lines: Histogram, sizes: IntArray) -> Disclosure:
    """The measures of a column, from its histogram over classes of these sizes."""
    prior, values = lines.domain.shares, lines.domain.values
    parts = [_part(lines, sizes, start) for start in range(0, len(sizes), _BLOCK)]
    average = np.sum([part.sums for part in parts], axis=0) / sizes.sum()
    worst = _WORSE * np.max([part.worst for part in parts], axis=0)
    whole = (len(prior), np.exp(-(prior * np.log(prior)).sum()), prior.max(), 0.0, 0.0)
    figures = np.stack([whole, average, worst], axis=1)
    figures[1, 1:] = np.exp(figures[1, 1:])
    _, top = max((part.top for part in parts), key=itemgetter(0))
    _, value, share = max((part.peak for part in parts), key=itemgetter(0))
    distinct, entropy, largest, distance, gain = (Figure(*figure) for figure in figures.tolist())
    return Disclosure(
        distinct,
        entropy,
        largest,
        distance,
        gain,
        top=values[top],
        most=Gain(values[value], float(prior[value]), share),
        certain=sum(part.certain for part in parts),
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """Distinct values, entropy, largest share, distance and gain of some classes: sums over rows, and the worst.

    `top` is the largest share and its value; `peak` the largest gain, its value and that value's share.
    """

    sums: FloatArray
    worst: FloatArray
    top: tuple[float, int]
    peak: tuple[float, int, float]
    certain: int


def _part(lines: Histogram, every: IntArray, start: int) -> _Part:
    """One block of classes, few enough for its arrays to stay in the processor's cache."""
    sizes = every[start : start + _BLOCK]
    chosen = slice(*np.searchsorted(lines.class_of, [start, start + len(sizes)]))
    owner, value, counts = lines.class_of[chosen], lines.value[chosen], lines.count[chosen]
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    distinct = np.diff(first, append=len(owner))
    share = counts / np.repeat(sizes, distinct)
    gain = share - lines.domain.shares[value]
    top, peak = int(share.argmax()), int(gain.argmax())
    entropy = np.log(sizes) - np.add.reduceat(counts * np.log(counts), first) / sizes
    measures = (
        distinct,
        np.maximum(entropy, 0.0),  # rounding must not take it below
        np.maximum.reduceat(share, first),
        np.add.reduceat(np.maximum(gain, 0.0), first),
        np.maximum.reduceat(gain, first),
    )
    return _Part(
        sums=np.array([(measure * sizes).sum() for measure in measures], dtype=np.float64),
        worst=np.array([(sign * measure).max() for sign, measure in zip(_WORSE, measures, strict=True)]),
        top=(float(share[top]), int(value[top])),
        peak=(float(gain[peak]), int(value[peak]), float(share[peak])),
        certain=int(sizes[distinct == 1].sum()),
    )
