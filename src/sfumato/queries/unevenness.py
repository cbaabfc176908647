"""How far the values of a published column are from being equally frequent, as its labels show it.

Labels of a few values each show how many rows are where. Between them a column is as uneven as they are; within them
nothing shows it, and it is taken to be as uneven there: what one sees of ages by ten years goes for single years too.
`model_error` says what follows for the answers of queries.
"""

import numpy as np
import pyarrow.compute as pc

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.labels.covered_values import CoveredValues

LEAST, MOST = 0.35, 2.0
"""The least and the most unevenness that is believed of a column.

With the least, two deviations of a label of two values reach the case that nobody has one of them, as at the end of a
domain that is declared wider than the values are.
"""
USUAL_NUMBERS, USUAL_TEXTS = 0.8, 2.0
"""The unevenness where a release does not show any, of numbers and of texts."""
_BINS, _FEWEST = 256, 50
"""Numbers are counted in so many bins; fewer rows than this with a telling label show nothing."""


def measure_unevenness(covered: CoveredValues, rows: IntArray) -> float:
    """Measure how uneven the values of a column are, going by rows that its labels tell something of.

    `rows` has the number of rows of each label, int[labels]. Each row is spread over the values of its label; labels of
    more than half the values tell nothing. With Z values in all and labels of z of them on average, shares q of values
    show a relative variance of Z Σq² - 1, which is (Z / z)^η - 1 at this scale. Where there are few labels, of many
    values each, that is believed in part, and the rest is what is usual.

    >>> from sfumato.labels.covered_values import find_covered_values
    >>> halves = find_covered_values({"integers": True}, [f"{10 * i}-{10 * i + 9}" for i in range(4)])
    >>> [round(measure_unevenness(halves, np.array([rows, 100, 100, 100])), 2) for rows in (100, 700)]
    [0.36, 0.65]
    """
    place, places = _number_values(covered)
    label_of, width = covered.label_of, len(rows)
    # a label has a cell for each different place; several points of a range may be in one
    cells = np.unique(label_of * places + place)
    owner, place = np.divmod(cells, places)
    size = np.bincount(owner, minlength=width)
    telling = (2 * size <= places) & (rows > 0)
    total, usual = float(rows[telling].sum()), USUAL_NUMBERS if covered.number else USUAL_TEXTS
    if total < _FEWEST:
        return usual
    chosen = telling[owner]
    share = np.bincount(place[chosen], rows[owner[chosen]] / size[owner[chosen]] / total, minlength=places)
    average = float((rows * size)[telling].sum()) / total
    scale = max(places / average, 2.0)
    uneven = np.log(max(places * float((share**2).sum()), 1.0)) / np.log(scale)
    # few labels of many values each say little of what is within them
    trust = 1 - 2 / scale * (1 - 1 / average)
    return float(np.clip(trust * uneven + (1 - trust) * usual, LEAST, MOST))


def _number_values(covered: CoveredValues) -> tuple[IntArray, int]:
    """Number the values of all labels: texts one by one, numbers in bins of equal width where there are many.

    Returns int[values] and how many numbers there are.
    """
    encoded = covered.values.dictionary_encode()
    different = len(encoded.dictionary)
    if not covered.number or different <= _BINS:
        codes = pc.fill_null(encoded.indices, different).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, different + int(covered.values.null_count > 0)
    numbers: FloatArray = pc.fill_null(covered.values, 0).to_numpy(zero_copy_only=False).astype(np.float64)
    low, high = numbers.min(), numbers.max()
    return np.minimum(((numbers - low) / (high - low) * _BINS).astype(np.int64), _BINS - 1), _BINS
