"""The values that published labels cover.

Somebody who has the public files alone goes by the data dictionary: `find_covered_values` lists the values of each
label, as the column's entry declares them. A label that does not name its values, such as ``*`` or ``435*``, covers
those values that the rest of the column shows, as far as they fit.

The publisher has the original as well. `find_covered_codes` finds which of its values each label covers, by the
hierarchy that is bound to them, and `find_declared_codes` does so by the data dictionary.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.arrow import arrow_texts
from sfumato.core.numbers import read_decimal
from sfumato.encode import CodedColumn, QuasiIdentifier
from sfumato.errors import DataError, listing, quote
from sfumato.hierarchy import Ranges, Sets
from sfumato.hierarchy.dates import UNITS, unit_end, unit_start
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.hierarchy.intervals import NumberRange, read_number_or_range, read_range
from sfumato.hierarchy.mask import mask_text
from sfumato.hierarchy.open_ended import read_set
from sfumato.labels.data_dictionary import DATES, MASKS, NUMBERS, Entry, label_kind

WHOLE_NUMBER = r"-?(0|[1-9][0-9]{0,17})"
"""A whole number in its plain form, which a machine word holds: 4350 is one, 04350 and +5 are codes."""

PLAIN_NUMBER = r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?"
"""A number in its plain form."""

_MOST_WHOLE, _MOST_POINTS, _FEWEST_POINTS = 1024, 256, 16
"""Values of a range at most: of whole numbers, of others; and how many there are even of very many ranges."""
_MOST_IN_ALL = 1 << 21
_WORD = 1 << 62

Run = tuple[int, int]


# From the data dictionary: values


@dataclass(frozen=True, eq=False)
class CoveredValues:
    """The values that the labels of a column cover, those of one label after those of the one before.

    `values` is an Arrow array of whole numbers, of floating numbers or of texts, and `label_of` has the place of the
    label of each value. `sampled` says that there are points of ranges that hold more numbers than that. `unclear` is
    a label of which nothing says what it covers.
    """

    label_of: IntArray
    values: Any
    number: bool
    sampled: bool = False
    unclear: str | None = None

    @property
    def sizes(self) -> IntArray:
        """For each value, how many its label covers."""
        return np.bincount(self.label_of)[self.label_of]

    @property
    def exact(self) -> bool:
        """Whether every label covers one value."""
        return self.unclear is None and bool((self.sizes == 1).all())


def find_covered_values(entry: Entry, labels: Sequence[Label]) -> CoveredValues:
    """List the values that each label covers, by the column's entry in the data dictionary.

    A mean covers the number that it is, since nothing says which numbers it was made of.

    >>> entry = {"covers": {"service": ["cook", "porter"]}}
    >>> find_covered_values(entry, ["nurse", "service"]).values.to_pylist()
    ['nurse', 'cook', 'porter']
    >>> find_covered_values({}, ["f", "m", "*"]).values.to_pylist()
    ['f', 'm', 'f', 'm']
    >>> find_covered_values({}, ["*"]).unclear
    '*'
    """
    kind = label_kind(entry)
    if kind == NUMBERS:
        return _covered_numbers(labels, entry.get("domain"), whole=bool(entry["integers"]))
    named: list[Sequence[Label]]
    if kind == DATES:
        calendar = CalendarDates(tuple(entry["dates"]), entry.get("date_format"))
        named = [calendar.covered(label) for label in labels]
    elif kind == MASKS:
        named = [[] if label is not None and ROOT in label else [label] for label in labels]
    else:
        named = [listed_values(entry, label) for label in labels]
    pool = list(dict.fromkeys(value for values in named for value in values))
    mask = entry["mask"] if kind == MASKS else None
    covered = [
        values or [value for value in pool if label is not None and _may_cover(label, value, mask)]
        for label, values in zip(labels, named, strict=True)
    ]
    unclear = next((label for label, values in zip(labels, covered, strict=True) if not values), None)
    return replace(_from_texts(covered), unclear=unclear)


def listed_values(entry: Entry, label: Label) -> Sequence[Label]:
    """List the values that a label names by itself as a set, or that the entry has for it; nothing where neither does.

    >>> listed_values({"form": "sets"}, "{Bern, Thun}"), listed_values({}, "Bern"), listed_values({}, "*")
    (('Bern', 'Thun'), ['Bern'], [])
    >>> listed_values({"covers": {"service": ["cook"]}}, "service"), listed_values({"different_leaves": 20_000}, "x")
    (['cook'], [])
    """
    if entry.get("form") == "sets":
        return read_set(label)
    covers: Sequence[Label] | None = entry.get("covers", {}).get(label)
    return covers or ([] if label == ROOT or "different_leaves" in entry else [label])


def _may_cover(label: str, value: Label, mask: Mapping[str, Any] | None) -> bool:
    """Whether a label that names no values may cover one: a star any, a masked text those that are masked to it.

    Of all labels that a mask writes, and values that it takes, `read_masked` says the same.

    >>> _may_cover("435*", "4350", {"side": "right"}), _may_cover("435*", "43501", {"side": "right"})
    (True, False)
    """
    if label == ROOT or value is None or mask is None:
        return label == ROOT
    return mask_text(value, label.count(ROOT), side=mask.get("side", "right"), length=mask.get("length")) == label


def _from_texts(covered: Sequence[Sequence[Label]]) -> CoveredValues:
    """Take the texts that each label covers: as numbers, where all are in their plain form.

    >>> _from_texts([["37"], ["38", "39", None]]).values.to_pylist(), _from_texts([["04350"]]).number
    ([37, 38, 39, None], False)
    """
    label_of = _number_labels([len(values) for values in covered])
    texts = [value for values in covered for value in values]
    present = {text for text in texts if text is not None}
    for form, kind in ((WHOLE_NUMBER, np.int64), (PLAIN_NUMBER, np.float64)):
        if present and all(re.fullmatch(form, text) for text in present):
            numbers: NDArray[Any] = np.array(["0" if text is None else text for text in texts], np.str_).astype(kind)
            missing = np.array([text is None for text in texts], dtype=bool)
            return CoveredValues(label_of, _arrow_nullable(numbers, missing), number=True)
    return CoveredValues(label_of, arrow_texts(texts), number=False)


def _number_labels(counts: Sequence[int]) -> IntArray:
    return np.repeat(np.arange(len(counts), dtype=np.int64), np.array(counts, dtype=np.int64))


def _arrow_nullable(values: NDArray[Any], missing: BoolArray) -> Any:
    """Numbers as an Arrow array, NULL where they are missing."""
    packed, valid = np.ascontiguousarray(values), np.packbits(~missing, bitorder="little")
    buffers = [pa.py_buffer(valid) if missing.any() else None, pa.py_buffer(packed)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(packed.dtype), len(packed), buffers)


def _covered_numbers(labels: Sequence[Label], domain: Sequence[float] | None, *, whole: bool) -> CoveredValues:
    """List the numbers of each range: whole ones one by one, others by points at equal distances.

    Ranges end with the declared domain, or else with the lowest and the highest end that other labels show.

    >>> _covered_numbers(["37", "35-36", None], None, whole=True).values.to_pylist()
    [37, 35, 36, None]
    >>> _covered_numbers(["80+", "[-2, 0)"], [-9, 82], whole=True).values.to_pylist()
    [80, 81, 82, -2, -1]
    >>> _covered_numbers(["37", "80+"], None, whole=True).unclear
    '80+'
    """
    ranges = [None if label is None else read_number_or_range(label) for label in labels]
    limits = None
    if domain is not None:
        limits = NumberRange(Fraction(str(domain[0])), Fraction(str(domain[1])), closed=True)
    else:
        lows = [numbers.low for numbers in ranges if numbers is not None and not math.isinf(numbers.low)]
        highs = [numbers.high for numbers in ranges if numbers is not None and not math.isinf(numbers.high)]
        if lows and highs:
            limits = NumberRange(min(lows), max(highs), closed=True)
    points = max(min(_MOST_WHOLE if whole else _MOST_POINTS, _MOST_IN_ALL // max(len(labels), 1)), _FEWEST_POINTS)
    covered: list[NDArray[Any]] = []
    sampled = False
    for label, numbers in zip(labels, ranges, strict=True):
        if label is None:
            covered.append(np.zeros(1, dtype=np.int64))  # which NULL takes the place of
            continue
        clipped = None if numbers is None else _clip(numbers, limits)
        listed = None if clipped is None else _list_numbers(clipped, whole=whole, points=points)
        if listed is None:
            return CoveredValues(np.zeros(0, np.int64), None, number=True, unclear=label)
        covered.append(listed[0])
        sampled |= listed[1]
    label_of = _number_labels([len(values) for values in covered])
    missing = np.array([label is None for label in labels], dtype=bool)[label_of]
    return CoveredValues(label_of, _arrow_nullable(np.concatenate(covered), missing), number=True, sampled=sampled)


def _clip(numbers: NumberRange, limits: NumberRange | None) -> NumberRange | None:
    """Cut a range off at limits; where it lies outside of them, or there are none, it counts if it has two ends."""
    if limits is not None:
        low, high = max(numbers.low, limits.low), min(numbers.high, limits.high)
        if low < high or (low == high and (numbers.closed or high < numbers.high)):
            return NumberRange(low, high, closed=numbers.closed or limits.high < numbers.high)
    return None if math.isinf(numbers.low) or math.isinf(numbers.high) else numbers


def _list_numbers(numbers: NumberRange, *, whole: bool, points: int) -> tuple[NDArray[Any], bool] | None:
    """List the numbers of a range with two ends, or so many points of it, and say whether; ``None`` if it has none."""
    if numbers.low == numbers.high:
        value = Fraction(numbers.low)
        exact = value.denominator == 1 and abs(value) < _WORD
        return (np.array([int(value)], dtype=np.int64) if exact else np.array([float(value)])), False
    if not whole:
        width = (float(numbers.high) - float(numbers.low)) / points
        return float(numbers.low) + width * (np.arange(points) + 0.5), True
    first = math.ceil(numbers.low)
    count = max((math.floor(numbers.high) + 1 if numbers.closed else math.ceil(numbers.high)) - first, 0)
    if count > points:
        places = (2 * np.arange(points, dtype=object) + 1) * count // (2 * points)
        return (first + places).astype(np.int64 if abs(first) + count < _WORD else np.float64), True
    return (np.arange(first, first + count), False) if count else None


@dataclass(frozen=True)
class CalendarDates:
    """Labels of dates in the units that an entry declares: 1970-03 covers its days, 1970s those of ten years.

    Covered dates are in ISO form, and as fine as dates of the column are: by `form`, in which they are written, they
    may be months or years. A date that was not generalized covers itself.

    >>> CalendarDates(("month", "year")).covered("1970-02")[-1], len(CalendarDates(("year",)).covered("1972"))
    ('1970-02-28', 366)
    >>> CalendarDates(("decade",), "%Y").covered("1970s")[:2]
    ['1970', '1971']
    >>> CalendarDates(("year",), "%d.%m.%Y").covered("15.03.1970")
    ['1970-03-15']
    """

    units: tuple[str, ...]
    form: str | None = None

    def covered(self, label: Label) -> list[Label]:
        """List the days, months or years that a label covers; ``*`` names none."""
        if label is None or label == ROOT:
            return [] if label else [None]
        days = self._days(label)
        if days is None:
            return [self._iso_text(label)]
        first, end = days
        texts = ((first + timedelta(days=place)).isoformat() for place in range((end - first).days))
        return list(dict.fromkeys(text[: self._length] for text in texts))

    def first_and_last(self, label: str) -> tuple[str, str] | None:
        """Find the first and the last date that a label covers, if it covers any.

        >>> CalendarDates(("month",)).first_and_last("1970-02")
        ('1970-02-01', '1970-02-28')
        """
        days = self._days(label)
        if days is None:
            text = self._iso_text(label)
            return text, text
        first, last = days[0], days[1] - timedelta(days=1)
        return (first.isoformat()[: self._length], last.isoformat()[: self._length]) if first <= last else None

    def _days(self, label: str) -> tuple[date, date] | None:
        """The first day of a unit, and the day after its last one; ``None`` for any other text, and past the calendar.

        Year 0 is not in the calendar, so that ``0000s`` is taken for a date here, unlike in `Dates.paths`.
        """
        if label.startswith("0000"):
            return None
        for name in self.units:
            unit = name if name in UNITS else "day"
            start = unit_start(label, unit)
            if start is not None:
                try:
                    return start.date(), unit_end(start.date(), unit)
                except ValueError:
                    return None
        return None

    @property
    def _length(self) -> int:
        """The characters of an ISO date that a date of this form tells."""
        if self.form is None or re.search(r"%[dDjxcFuUVWw]", self.form):
            return 10
        return 7 if re.search(r"%[mbB]", self.form) else 4

    def _iso_text(self, text: str) -> str:
        """Write a date in ISO form, with its time where it has one; what is no date stays as it is."""
        if self.form is None:
            return text
        try:
            moment = datetime.strptime(text, self.form)  # noqa: DTZ007 - what is written is what counts
        except ValueError:
            return text
        return moment.date().isoformat()[: self._length] if moment.time() == datetime.min.time() else str(moment)


def looks_generalized(label: str) -> bool:
    """Whether a label reads as a range, a masked text or a set, for columns of which nothing says what labels are.

    >>> labels = ["[20, 30]", "435*", "{Bern, Thun}", "20-29", "37", "*", "1999-05-01", "nurse"]
    >>> [looks_generalized(label) for label in labels]
    [True, True, True, True, False, False, False, False]
    """
    if label == ROOT or read_decimal(label) is not None:
        return False
    return (
        read_number_or_range(label) is not None
        or label.endswith(ROOT)
        or (label.startswith("{") and label.endswith("}"))
    )


# From the original: codes of its values


@dataclass(frozen=True, eq=False)
class CoveredCodes:
    """The values of the original that each label covers: the codes in `order` from `start` up to `end`.

    Labels overlap and may be many, and what they cover together may be much more than there are values. So `order`
    lists values only as often as needed: once for each level of a tree, once for all ranges, and once for each set.

    order:       int[n], codes of values; one more than the largest code stands for a value that the original has not
    start, end:  int[labels], places in `order`

    >>> CoveredCodes(np.array([2, 0, 1]), np.array([0, 0]), np.array([1, 3])).shares(np.array([True, False, True]))
    array([1.        , 0.66666667])
    """

    order: IntArray
    start: IntArray
    end: IntArray

    def shares(self, wanted: BoolArray) -> FloatArray:
        """Compute the share of wanted values (bool[codes]) among the values of each label (float[labels])."""
        sums = np.concatenate([[0], np.cumsum(np.append(wanted, False).take(self.order))])
        shares: FloatArray = (sums.take(self.end) - sums.take(self.start)) / (self.end - self.start)
        return shares


def find_covered_codes(attribute: QuasiIdentifier, labels: Sequence[Label], level: int | None) -> CoveredCodes:
    """Find which values of the original each label covers, by the hierarchy that is bound to them.

    `level` is that of all labels; without one each may be of any level. Raises DataError where a label covers nothing.
    """
    runs: list[Run]
    if level is None and isinstance(attribute.spec, Ranges):
        line = NumberLine(attribute, attribute.spec)
        order, runs = line.order, [line.find_run(label) for label in labels]
    elif level is None and isinstance(attribute.spec, Sets):
        codes, runs = list[int](), []
        for members in find_members(attribute, labels):
            runs.append((len(codes), len(codes) + len(members)))
            codes += members
        order = np.array(codes, dtype=np.int64)
    else:
        order, run_of = _tree_runs(attribute, level)
        runs = [run_of.get(label, (0, 0)) for label in labels]
    strange = [label for label, (start, end) in zip(labels, runs, strict=True) if start >= end]
    if strange:
        raise unknown_labels(attribute.name, strange)
    start, end = np.array(runs, dtype=np.int64).reshape(-1, 2).T
    return CoveredCodes(order, start, end)


def unknown_labels(name: str, labels: Iterable[Label]) -> DataError:
    """Make the error about labels that do not come from the table at hand."""
    return DataError(
        f"column {quote(name)} of the release holds labels that the original does not lead to: {listing(labels)}; "
        "name the table that this release was made from"
    )


def find_tree_labels(attribute: QuasiIdentifier, level: int | None) -> dict[Label, tuple[int, int]]:
    """Find the level of each label of a tree, and its code there.

    Where labels may be of any level, the lowest one that has a text says what it covers; a star says nothing below
    the root.
    """
    tree = attribute.hierarchy
    places: dict[Label, tuple[int, int]] = {}
    for height in range(attribute.least, tree.height + 1) if level is None else [level]:
        for code, label in enumerate(tree.labels[height]):
            places.setdefault(label, (height, code))
    return places if level is not None else places | {ROOT: (tree.height, 0)}


def _tree_runs(attribute: QuasiIdentifier, level: int | None) -> tuple[IntArray, dict[Label, Run]]:
    """List the values by their labels, level after level, and find the run of each label in that list."""
    matrix, places = attribute.hierarchy.matrix, find_tree_labels(attribute, level)
    heights = sorted({height for height, _ in places.values()})
    ends = {}
    for i, height in enumerate(heights):
        leaves = np.bincount(matrix[:, height], minlength=len(attribute.hierarchy.labels[height]))
        ends[height] = [i * len(matrix), *(i * len(matrix) + np.cumsum(leaves)).tolist()]
    order = np.concatenate([np.argsort(matrix[:, height], kind="stable") for height in heights])
    return order, {label: (ends[height][code], ends[height][code + 1]) for label, (height, code) in places.items()}


def find_members(attribute: QuasiIdentifier, labels: Iterable[Label]) -> Iterator[list[int]]:
    """Find the codes of those members of each set that are there.

    Further rows under the labels of a release need not hold all values of a set.
    """
    texts = attribute.column.texts
    code_of = {text: code for code, text in enumerate(texts)}
    for label in labels:
        try:
            yield [code_of[member] for member in read_set(label) or texts if member in code_of]
        except ValueError:
            yield []


class NumberLine:
    """The values of a column of ranges in the order of their numbers, NULL last: a range covers a run of them.

    `order` has the code of each value, `numbers` their numbers in steps of ``1 / scale``. Labels are read as an
    algorithm writes them; a single number in another form, such as 1e2, is no label here, unlike for somebody who goes
    by the data dictionary.
    """

    def __init__(self, attribute: QuasiIdentifier, spec: Ranges) -> None:
        numbers, self.scale = spec.numbers(attribute.column.texts, column=attribute.name)
        self.numbers = sorted(number for number in numbers if number is not None)
        order = sorted(range(len(numbers)), key=lambda code: (numbers[code] is None, numbers[code]))
        self.order = np.array(order, dtype=np.int64)

    def find_run(self, label: Label) -> Run:
        """Find the run of values under a label; it is empty where the label covers nothing."""
        if label is None or label == ROOT:
            return len(self.numbers) if label is None else 0, len(self.order)
        try:
            return self.find_range(read_range(label))
        except ValueError:
            return 0, 0

    def find_range(self, limits: NumberRange) -> Run:
        """Find the run of values within a range."""
        end = (bisect_right if limits.closed else bisect_left)(self.numbers, limits.high * self.scale)
        return bisect_left(self.numbers, limits.low * self.scale), end


def find_declared_codes(column: CodedColumn, labels: Sequence[Label], entry: Entry) -> CoveredCodes | None:
    """Find what labels cover by the column's entry in the data dictionary, in codes of the original's column.

    ``None`` where the entry does not tell it of every label, or not in the way that the original writes its values: of
    ranges that hold more numbers than can be listed, of a star where no domain is declared, of dates in a format of
    their own.

    >>> column = CodedColumn("age", np.array([0, 1]), ("35", "38"), None)
    >>> find_declared_codes(column, ["35-39"], {"integers": True}).shares(np.array([True, False]))
    array([0.2])
    """
    covered = find_covered_values(entry, labels)
    if covered.unclear is not None or covered.sampled or "date_format" in entry:
        return None
    code_of = {_as_number(text) if covered.number else text: code for code, text in enumerate(column.texts)}
    codes = np.array([code_of.get(value, column.width) for value in covered.values.to_pylist()], dtype=np.int64)
    if not np.bincount(covered.label_of[codes < column.width], minlength=len(labels)).all():
        return None
    counts = np.bincount(covered.label_of, minlength=len(labels))
    ends = np.cumsum(counts)
    return CoveredCodes(codes, ends - counts, ends)


def _as_number(text: Label) -> float | None:
    """A text as a number; as NaN where it is none, so that it equals no value."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return float("nan")
