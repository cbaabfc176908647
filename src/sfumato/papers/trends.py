"""Verdicts on lines of figures: whether they fall, rise or stay."""

from collections.abc import Sequence
from itertools import pairwise

from sfumato.papers.claims import FAILS, HOLDS, Verdict, judged

STEPS = "from end to end, not at every step"


def falls(values: Sequence[float], shown: str = "{:.3f}") -> Verdict:
    """Whether values are lower at every step, until there is nothing left to fall.

    >>> falls([0.2, 0.1, 0.0, 0.0]), falls([0.2, 0.1, 0.15])[1], falls([0.1, 0.2])[1]
    (('0.200 → 0.000', 'holds'), 'from end to end, not at every step', 'does not hold')
    """
    steps = all(more > less or more == less == 0 for more, less in pairwise(values))
    return _ends(values, shown), HOLDS if steps else STEPS if values[-1] < values[0] else FAILS


def rises(values: Sequence[float], shown: str = "{:.3f}") -> Verdict:
    """Whether values are higher at every step.

    >>> rises([0.1, 0.2, 0.3]), rises([0.1, 0.1, 0.2])[1], rises([0.2, 0.1])[1]
    (('0.100 → 0.300', 'holds'), 'from end to end, not at every step', 'does not hold')
    """
    steps = all(less < more for less, more in pairwise(values))
    return _ends(values, shown), HOLDS if steps else STEPS if values[-1] > values[0] else FAILS


def stays(values: Sequence[float], most: float) -> Verdict:
    """Whether the largest value is at most so many times the smallest.

    >>> stays([0.3, 0.2, 0.25], 1.6), stays([0.3, 0.1], 1.5)
    (('× 1.50', 'holds'), ('× 3.00', 'does not hold'))
    """
    ratio = max(values) / min(values) if min(values) else float("inf")
    return f"× {ratio:.2f}", judged(ratio <= most)


def _ends(values: Sequence[float], shown: str) -> str:
    return " → ".join(shown.format(value) for value in (values[0], values[-1]))
