"""Bins: few enough to be drawn, the same for what came in and for what is published.

Numbers and dates go to steps of a round width; of other values the most frequent ones have a bin each, with all others
together. Class sizes go to bins on a scale of factors.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, count_codes
from sfumato.core.arrow import numpy_numbers
from sfumato.core.classes import EquivalenceClasses
from sfumato.page.wording import label, plural

MOST_BINS = 12
"""A column has so many bins at most, those of missing values and of the others aside."""
MISSING, UNNAMED = "missing", "in suppressed rows only"

_LISTED, _TIED = 10, 1000
_FEW = 1 << 10
"""Numbers that are more than this go to steps without being written out first."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The name of each bin, and the bin of each value; `steps` where they are steps on the line of numbers."""

    names: tuple[str, ...]
    place: IntArray
    steps: "Steps | None" = None

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class BinnedColumn:
    """The code of each row's value, how many rows have each code, and the bin of each code."""

    codes: Codes
    counts: IntArray
    bins: Bins


def bin_column(
    column: Any, published: IntArray | slice | None = None, rows: IntArray | None = None
) -> BinnedColumn | None:
    """Bin an Arrow array; nothing where it holds what cannot be told in a word, such as lists.

    Where `published` rows are given, a value that no such row has is not named. An entry may stand for several `rows`.

    >>> binned = bin_column(pa.array([3, 1, None, 1]))
    >>> binned.bins.names, binned.bins.place.take(binned.codes).tolist()
    (('1', '3', 'missing'), [1, 0, 2, 0])
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    try:
        encoded = array.dictionary_encode(null_encoding="encode")
        codes, values = numpy_numbers(encoded.indices), encoded.dictionary
        counts = count_codes(codes, len(values), rows)
        named = None if published is None else np.bincount(codes[published], minlength=len(values)) > 0
        return BinnedColumn(codes, counts, bin_arrow_values(values, counts, named))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None


def bin_arrow_values(values: Any, counts: IntArray, named: BoolArray | None = None) -> Bins:
    """Bin different Arrow values that are in so many rows each; the order that they come in is no matter."""
    numeric = pa.types.is_floating(values.type) or pa.types.is_integer(values.type)
    if numeric and len(values) > _FEW:
        numbers = pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False)
        return bin_numbers(np.asarray(numbers), counts, named)
    return bin_values(list(pc.cast(values, pa.string()).to_pylist()), counts, named=named)


def bin_values(
    texts: Sequence[str | None], counts: IntArray, *, named: BoolArray | None = None, stepped: bool = False
) -> Bins:
    """Bin values that are in so many rows each.

    Numbers and dates go to steps of a round width, other values have bins of their own: the most frequent ones, with
    all others together. Where there are few values each has its own bin, unless steps are asked for (`stepped`). No bin
    tells a value that is not to be `named`.

    >>> bins = bin_values(["a", "b", None], np.array([1, 5, 2]))
    >>> bins.names, bins.place.tolist()
    (('b', 'a', 'missing'), [1, 0, 2])
    >>> bin_values(["a", "b"], np.array([1, 5]), named=np.array([False, True])).names
    ('b', 'in suppressed rows only')
    >>> bin_values([str(age) for age in range(20, 60)], np.ones(40, dtype=np.int64)).names
    ('20–24', '25–29', '30–34', '35–39', '40–44', '45–49', '50–54', '55–59')
    """
    named = np.ones(len(texts), dtype=np.bool_) if named is None else named
    numbers = read_numbers(texts)
    known = numbers if numbers is not None else read_years(texts)
    if known is not None and (stepped or len(texts) > MOST_BINS) and np.isfinite(known[named]).any():
        if numbers is None and np.nanmin(known) == np.nanmax(known):  # dates of one year
            return _bin_months([text and text[:7] for text in texts], named)
        return bin_numbers(known, counts, named)
    return _bin_frequent_values(texts, counts, numbers, named)


def bin_numbers(numbers: FloatArray, counts: IntArray, named: BoolArray | None = None) -> Bins:
    """Bin numbers that are in so many rows each; what is no number is missing.

    Steps are those of the numbers to be named; others fall into them, or into the open ends.
    """
    there = np.isfinite(numbers)
    known = there if named is None or not (there & named).any() else there & named
    if not there.any():
        return Bins((MISSING,), np.zeros(len(numbers), dtype=np.int64))
    steps = make_steps(numbers[known], counts[known], MOST_BINS, beyond=numbers[there])
    place = np.full(len(numbers), len(steps.names), dtype=np.int64)
    place[there] = steps.places(numbers[there])
    names = steps.names if there.all() else (*steps.names, MISSING)
    return Bins(names, place, steps)


def _bin_months(months: Sequence[str | None], named: BoolArray) -> Bins:
    """A bin for each month of one year, in their order."""
    pairs = zip(months, named.tolist(), strict=True)
    listed = sorted({month for month, is_named in pairs if is_named and month is not None})
    others = [UNNAMED] if any(month is not None and month not in listed for month in months) else []
    names = (*listed, *others, *([MISSING] if None in months else []))
    code: dict[str | None, int] = {name: place for place, name in enumerate(names)}
    return Bins(names, np.array([code.get(month or MISSING, len(listed)) for month in months], dtype=np.int64))


def _bin_frequent_values(
    texts: Sequence[str | None], counts: IntArray, numbers: FloatArray | None, named: BoolArray
) -> Bins:
    """A bin for each of the most frequent values: numbers in their order, others with the most frequent first."""
    listed = _most_frequent(texts, counts, named)
    if numbers is not None:
        listed = sorted(listed, key=lambda code: float(numbers[code]))
    missing = np.array([text is None for text in texts], dtype=np.bool_)
    others, hidden = named & ~missing, ~named & ~missing
    others[listed] = False
    names, place = [label(texts[code]) for code in listed], np.zeros(len(texts), dtype=np.int64)
    place[listed] = np.arange(len(listed))
    rest = ((plural(int(others.sum()), "other"), others), (UNNAMED, hidden), (MISSING, missing))
    for name, chosen in rest:
        if chosen.any():
            place[chosen] = len(names)
            names.append(name)
    return Bins(tuple(names), place)


def _most_frequent(texts: Sequence[str | None], counts: IntArray, named: BoolArray) -> list[int]:
    """The codes of the most frequent values, equal ones by their text; of very many equal ones none."""
    known = np.array([code for code in np.flatnonzero(named).tolist() if texts[code] is not None], dtype=np.int64)
    most = len(known)
    if len(known) > MOST_BINS:
        most = _LISTED
        least = np.partition(counts[known], len(known) - _LISTED)[len(known) - _LISTED]
        chosen = known[counts[known] >= least]
        known = chosen if len(chosen) <= _TIED else known[counts[known] > least]
    return sorted(known.tolist(), key=lambda code: (-int(counts[code]), texts[code]))[:most]


# ---------------------------------------------------------------------------------------------------------------------
# Texts that are numbers or dates

_NUMBER = re.compile(r"[+-]?(?!0\d)(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
"""A number; not one that begins with a nought and goes on, which is a code."""
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-\d{2}([ T].*)?", re.DOTALL)
_LOOKED_AT = 200
"""So many texts are looked at letter by letter, before all are read as numbers."""


def read_numbers(texts: Sequence[str | None]) -> FloatArray | None:
    """The number of each text, NaN where it is missing; nothing where one is no number.

    >>> read_numbers(["7", "-1.5", None])
    array([ 7. , -1.5,  nan])
    >>> read_numbers(["3011", "0815"])
    """
    known = [text for text in texts if text is not None]
    if not known or not all(map(_NUMBER.fullmatch, known[:_LOOKED_AT])):
        return None
    numbers = _read_floats([text or "nan" for text in texts])
    return numbers if numbers is not None and np.isfinite(numbers).sum() == len(known) else None


def read_years(texts: Sequence[str | None]) -> FloatArray | None:
    """The year of each date, NaN where it is missing; nothing where one is not written as 2024-03-31.

    >>> read_years(["2024-03-31", None])
    array([2024.,   nan])
    """
    known = [text for text in texts if text is not None]
    if not known or not all(map(_DATE.fullmatch, known[:_LOOKED_AT])):
        return None
    return _read_floats([text[:4] if text else "nan" for text in texts])


def _read_floats(texts: list[str]) -> FloatArray | None:
    try:
        return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        return None


# ---------------------------------------------------------------------------------------------------------------------
# Steps of a round width on the line of numbers, the ends open

_TAIL = 0.005
"""So small a share of the rows may be in the open ends, below and above."""
_WIDTHS = (1, 2, 5, 10)


@dataclass(frozen=True, eq=False)
class Steps:
    """Bins of numbers: all below the first edge, those between edges, the lower one included, and all from the last."""

    edges: FloatArray
    names: tuple[str, ...]
    first: int

    def places(self, numbers: FloatArray) -> IntArray:
        """The bin of each number; one outside belongs to the bin at that end.

        >>> make_steps(np.array([0.0, 9.0]), np.array([1, 1]), 5).places(np.array([-1.0, 3.0, 99.0])).tolist()
        [0, 1, 4]
        """
        place: IntArray = np.searchsorted(self.edges, numbers, side="right") - self.first
        return np.clip(place, 0, len(self.names) - 1)


def make_steps(numbers: FloatArray, counts: IntArray, most: int, *, beyond: FloatArray | None = None) -> Steps:
    """Make steps for numbers that are in so many rows each: `most` at most, and an open one where some are beyond.

    `beyond` are all numbers that need a place, where there are more.

    >>> make_steps(np.array([0.0, 9.0]), np.array([1, 1]), 5).names
    ('0–1', '2–3', '4–5', '6–7', '8–9')
    >>> make_steps(np.array([0.0, 0.7]), np.array([1, 1]), 5).names[:2]
    ('0 to 0.2', '0.2 to 0.4')
    >>> make_steps(np.array([0.0, 50.0, 51.0]), np.array([1000, 1, 1]), 5).names
    ('0', 'above 0')
    """
    # the lowest and the highest number, small tails put aside
    order = np.argsort(numbers, kind="stable")
    sums = np.cumsum(counts[order])
    tail = _TAIL * float(sums[-1])
    low = float(numbers[order[np.searchsorted(sums, tail, side="right")]])
    high = float(numbers[order[np.searchsorted(sums, sums[-1] - tail, side="left")]])
    every = numbers if beyond is None else beyond
    if low == high:
        return _steps_around(low, every)
    whole = bool((every == np.round(every)).all())
    # the smallest round width with which so many steps are enough; whole numbers have no steps below 1
    power = max(10.0 ** floor(log10((high - low) / most)), 1.0 if whole else 0.0)
    widths = [power * times * scale for scale in (1, 10) for times in _WIDTHS]
    step = next(width for width in widths if floor(high / width) - floor(low / width) + 1 <= most)
    edges = np.array([float(f"{place * step:.12g}") for place in range(floor(low / step), floor(high / step) + 2)])
    return _name_steps(edges, every, step=step, whole=whole)


def _steps_around(number: float, numbers: FloatArray) -> Steps:
    """Nearly all are one number: that number, what is below and what is above."""
    below, above = bool((numbers < number).any()), bool((numbers > number).any())
    text = _number_text(number, 0.0)
    names = [*([f"below {text}"] if below else []), text, *([f"above {text}"] if above else [])]
    return Steps(np.array([number, np.nextafter(number, np.inf)]), tuple(names), 0 if below else 1)


def _name_steps(edges: FloatArray, numbers: FloatArray, *, step: float, whole: bool) -> Steps:
    ends = [_number_text(float(edge), step) for edge in edges]
    lasts = [_number_text(float(edge) - 1, step) for edge in edges]
    between = f"{{}}{'–' if min(edges) >= 0 else ' to '}{{}}" if whole else "{} to {}"
    names = [
        low if whole and low == last else between.format(low, last if whole else end)
        for low, end, last in zip(ends[:-1], ends[1:], lasts[1:], strict=True)
    ]
    below, above = bool((numbers < edges[0]).any()), bool((numbers >= edges[-1]).any())
    names = [*([f"below {ends[0]}"] if below else []), *names, *([f"{ends[-1]} and more"] if above else [])]
    return Steps(edges, tuple(names), 0 if below else 1)


def _number_text(number: float, step: float) -> str:
    """A number with the digits that its step has."""
    if number == round(number) and abs(number) < 1e15:
        return f"{number:.0f}" if abs(number) < 10_000 else f"{number:,.0f}"
    digits = max(0, ceil(-log10(step) - 1e-9)) if step else 0
    return f"{number:,.{digits}f}" if 0 < digits <= 6 else f"{number:.4g}"


# ---------------------------------------------------------------------------------------------------------------------
# Class sizes

SIZE_EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where the bins of class sizes begin: even steps on a scale of factors."""


@dataclass(frozen=True, eq=False)
class SizeShares:
    """The share of rows in classes of each bin of sizes."""

    shares: FloatArray

    @property
    def used(self) -> int:
        """How many bins there are up to the last that holds a row."""
        return int(np.flatnonzero(self.shares).max(initial=0)) + 1


def bin_class_sizes(classes: EquivalenceClasses) -> SizeShares:
    """Rows by the size of their class: in people where rows name them.

    >>> bin_class_sizes(EquivalenceClasses(sizes=[1, 3, 4])).shares[:2].tolist()
    [0.125, 0.875]
    """
    last, rows = SIZE_EDGES[-1], classes.rows
    capped = np.minimum(classes.persons, last)
    if classes.individuals is not None:
        per_size = np.bincount(capped, weights=classes.sizes, minlength=last + 1)
    else:
        per_size = np.bincount(capped, minlength=last + 1) * np.arange(last + 1.0)
        per_size[last] = rows - per_size[:last].sum()
    return SizeShares(np.add.reduceat(per_size, SIZE_EDGES) / rows)


def name_size_bins(edges: Sequence[int] = SIZE_EDGES) -> list[str]:
    """What the bins of class sizes are called.

    >>> name_size_bins((1, 2, 5, 10))
    ['1', '2–4', '5–9', '10+']
    """
    inner = [str(low) if high == low + 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(edges)]
    return [*inner, f"{edges[-1]:,}+"]
