"""How the hierarchies of a policy generalize values, and what a published label covers: by the documentation alone.

A `Levels` has, for each value of a column, the path of its labels up to ``*``. Ranges and sets have no levels, so that
there is only the question whether a label covers a value.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from fuzz.case import FuzzCase, Text

Path = tuple[Text, ...]

ROOT = "*"


@dataclass(frozen=True)
class Levels:
    """The path of every value, all equally long, and the loss of every label by level (NCP)."""

    paths: dict[Text, Path]
    losses: list[dict[Text, Fraction]]
    leaves: list[Text]
    """The leaves in their order, for distances; those that no row has included."""
    ordered: bool

    @property
    def height(self) -> int:
        """Steps from a value to the root."""
        return len(self.losses) - 1

    def covers(self, label: Text, value: Text, least: int = 0) -> bool:
        """Tell whether a label is the value's own on some level that may be published."""
        return label in self.paths[value][least:]


def levels_of(case: FuzzCase, name: str) -> Levels | None:
    """Generalize the values of a column by its hierarchy; nothing where it has none, or one without levels."""
    hierarchy = case.document["columns"][name].get("hierarchy")
    values = list(dict.fromkeys(case.columns[name]))
    if hierarchy is None or hierarchy == "sets" or (isinstance(hierarchy, dict) and "ranges" in hierarchy):
        return None
    if hierarchy == "suppress":
        return _by_values({value: (value, ROOT) for value in values}, 1)
    if isinstance(hierarchy, str):
        return _file_levels(case.files[hierarchy], values, case.nulls)
    if "intervals" in hierarchy:
        return _interval_levels(hierarchy, values)
    if "mask" in hierarchy:
        longest = max([1, *(len(value) for value in values if value is not None)])
        height = hierarchy.get("length") or longest
        return _by_values({value: _mask_path(value, hierarchy, height) for value in values}, height)
    units = hierarchy["dates"]
    order = sorted(values, key=lambda value: (value is None, _moment(value, hierarchy) if value else value, value))
    paths = {value: _date_path(value, hierarchy) for value in values}
    return _by_values(paths, len(units) + 1, order)


def _by_values(paths: dict[Text, Path], height: int, order: list[Text] | None = None) -> Levels:
    """Measure losses on the values that occur."""
    losses = []
    for level in range(height + 1):
        under = Counter(path[level] for path in paths.values())
        losses.append({label: _ncp(count, len(paths)) for label, count in under.items()})
    return Levels(paths, losses, order or list(paths), ordered=order is not None)


def _ncp(leaves: int, domain: int) -> Fraction:
    return Fraction(leaves - 1, domain - 1) if domain > 1 and leaves > 0 else Fraction(0)


def _file_levels(text: str, values: list[Text], nulls: list[str]) -> Levels:
    lines = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    depth = max(map(len, lines))
    branches: dict[Text, Path] = {}
    for line in lines:
        cells: list[Text] = [*line[:-1], *[line[-2]] * (depth - len(line)), ROOT]
        if cells[0] in nulls:  # what becomes of NULL: null texts stay NULL up to the first that is none
            first = next(i for i, cell in enumerate(cells) if cell not in nulls)
            cells[:first] = [None] * first
        branches[cells[0]] = tuple(cells)
    if None in values:
        branches.setdefault(None, (*[None] * (depth - 1), ROOT))
    whole = _by_values(branches, depth - 1, list(branches))
    return Levels({value: branches[value] for value in values}, whole.losses, list(branches), ordered=True)


def _mask_path(value: Text, hierarchy: dict[str, Any], height: int) -> Path:
    if not value:  # NULL stays NULL, and an empty text has nothing to be masked
        return (*[value] * height, ROOT)
    length, right = hierarchy.get("length"), hierarchy["mask"] == "right"
    path: list[Text] = [value]
    for stars in range(1, height):
        if length is None and stars >= len(value):
            path.append(ROOT)
            continue
        kept = len(value) - stars if length is None else min(length - stars, len(value))
        path.append(value[:kept] + "*" * stars if right else "*" * stars + value[len(value) - kept :])
    return (*path, ROOT)


# Dates

_UNITS: dict[str, Callable[[datetime], str]] = {
    "day": lambda day: day.strftime("%Y-%m-%d"),
    "week": lambda day: "{:04}-W{:02}".format(*day.isocalendar()[:2]),
    "month": lambda day: day.strftime("%Y-%m"),
    "quarter": lambda day: f"{day.year}-Q{(day.month - 1) // 3 + 1}",
    "year": lambda day: str(day.year),
    "decade": lambda day: f"{day.year - day.year % 10}s",
    "century": lambda day: f"{day.year - day.year % 100}-{day.year - day.year % 100 + 99}",
}


def _moment(value: str, hierarchy: dict[str, Any]) -> datetime:
    if "format" in hierarchy:
        return datetime.strptime(value, hierarchy["format"])  # noqa: DTZ007 - a day as it is written
    return datetime.combine(date.fromisoformat(value), datetime.min.time())


def _date_path(value: Text, hierarchy: dict[str, Any]) -> Path:
    units = hierarchy["dates"]
    if value is None:
        return (*[None] * (len(units) + 1), ROOT)
    return (value, *(_UNITS[unit](_moment(value, hierarchy)) for unit in units), ROOT)


# Numbers


def _interval_levels(hierarchy: dict[str, Any], values: list[Text]) -> Levels:
    """Bins from the origin on, cut off at bottom and top; losses on the domain, where one is declared."""
    numbers = {value: None if value is None else Fraction(value) for value in values}
    declared = [hierarchy.get(key) for key in ("origin", "bottom", "top")]
    bounds = [*hierarchy["intervals"], *hierarchy.get("domain", []), *(n for n in declared if n is not None)]
    whole = hierarchy.get("integers", all(Fraction(str(bound)).denominator == 1 for bound in bounds))
    bottom, top = (Fraction(str(hierarchy[key])) if key in hierarchy else None for key in ("bottom", "top"))
    origin, steps = Fraction(str(hierarchy.get("origin", 0))), [Fraction(str(w)) for w in hierarchy["intervals"]]
    paths: dict[Text, Path] = {}
    extents: list[dict[Text, tuple[Fraction | None, Fraction | None]]] = [{} for _ in steps]
    for value, number in numbers.items():
        if number is None:
            paths[value] = (*[None] * (len(steps) + 1), ROOT)
            continue
        labels: list[Text] = [value]
        for level, step in enumerate(steps):
            if bottom is not None and number < bottom:
                ends: tuple[Fraction | None, Fraction | None] = (None, bottom)
            elif top is not None and number >= top:
                ends = (top, None)
            else:
                start = origin + (number - origin) // step * step
                low = start if bottom is None else max(start, bottom)
                ends = (low, start + step if top is None else min(start + step, top))
            label = _write_bin(*ends, whole=whole)
            labels.append(label)
            extents[level][label] = ends
        paths[value] = (*labels, ROOT)
    order = sorted(values, key=lambda value: (value is None, numbers[value], value))
    plain = _by_values(paths, len(steps) + 1, order)
    if "domain" not in hierarchy:
        return plain
    low, high = (Fraction(str(end)) for end in hierarchy["domain"])
    total = math.floor(high) - math.ceil(low) + 1 + (None in paths)
    losses = [dict.fromkeys(plain.losses[0], Fraction(0))]
    for bins in extents:
        loss: dict[Text, Fraction] = {None: Fraction(0)}
        for text, (begin, end) in bins.items():
            first = low if begin is None else max(low, begin)
            if whole:
                last = high if end is None else min(high, Fraction(math.ceil(end) - 1))
                loss[text] = _ncp(max(math.floor(last) - math.ceil(first) + 1, 0), total)
            else:
                width = (high if end is None else min(high, end)) - first
                loss[text] = max(width, Fraction(0)) / (high - low)
        losses.append(loss)
    losses.append({ROOT: _ncp(total, total) if whole else Fraction(1)})
    return Levels(paths, losses, order, ordered=True)


def _write_bin(low: Fraction | None, end: Fraction | None, *, whole: bool) -> str:
    """Write a bin as the guide to hierarchies does.

    >>> _write_bin(Fraction(35), Fraction(40), whole=True), _write_bin(Fraction(-5), Fraction(0), whole=True)
    ('35-39', '[-5, 0)')
    >>> _write_bin(Fraction(3, 2), Fraction(2), whole=False), _write_bin(None, Fraction(18), whole=True)
    ('[1.5, 2)', '<18')
    """
    if low is None:
        return f"<{_digits(end)}"
    if end is None:
        return f"{_digits(low)}+" if low >= 0 else f"[{_digits(low)}, inf)"
    if whole and low >= 0 and low.denominator == end.denominator == 1:
        return _digits(low) if end == low + 1 else f"{_digits(low)}-{_digits(end - 1)}"
    return f"[{_digits(low)}, {_digits(end)})"


def _digits(number: Fraction | None) -> str:
    """Write a decimal number in full.

    >>> _digits(Fraction(5, 2)), _digits(Fraction(40)), _digits(Fraction(-1, 20))
    ('2.5', '40', '-0.05')
    """
    assert number is not None  # noqa: S101 - who writes a bound has one; this tells the type checker
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
    digits = str(abs(int(number * 10**places))).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{text}" if number < 0 else text


# Ranges and sets

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGES: list[tuple[str, Callable[..., bool]]] = [
    (rf"{_NUMBER}", lambda number, only: number == only),
    (rf"(\d+(?:\.\d+)?)-{_NUMBER}", lambda number, first, last: first <= number <= last),
    (rf"\[{_NUMBER}, {_NUMBER}\]", lambda number, first, last: first <= number <= last),
    (rf"\[{_NUMBER}, {_NUMBER}\)", lambda number, first, end: first <= number < end),
    (rf"<{_NUMBER}", lambda number, end: number < end),
    (rf"{_NUMBER}\+", lambda number, first: first <= number),
    (rf"\[{_NUMBER}, inf\)", lambda number, first: first <= number),
]


def range_covers(label: Text, value: Text) -> bool:
    """Tell whether a range holds a number; NULL is told as NULL, or not at all.

    >>> range_covers("35-39", "37"), range_covers("[35, 40)", "40"), range_covers("<20", "-5"), range_covers(None, "1")
    (True, False, True, False)
    """
    if label in {value, ROOT}:
        return True
    if label is None or value is None:
        return False
    for form, holds in _RANGES:
        match = re.fullmatch(form, label)
        if match:
            return holds(Fraction(value), *map(Fraction, match.groups()))
    return False


def set_covers(label: Text, value: Text) -> bool:
    r"""Tell whether a set lists a value.

    >>> set_covers("{Bern, Thun}", "Thun"), set_covers("{a\\, b, NULL}", "a, b"), set_covers("{Bern, NULL}", None)
    (True, True, True)
    >>> set_covers("Bern", "Bern"), set_covers("{*}", "*"), set_covers("{\\NULL}", "NULL")
    (True, True, True)
    """
    if label == ROOT:
        return True
    if label is None or value is None or not label.startswith("{"):
        return label == value or (value is None and label is not None and "NULL" in read_members(label))
    return value in [member for member in map(_unescape, read_members(label)) if member is not None]


def read_members(label: str) -> list[str]:
    r"""Take a set apart into its members as they are written.

    >>> read_members("{a\\, b, NULL}")
    ['a\\, b', 'NULL']
    """
    if not (label.startswith("{") and label.endswith("}")):
        return []
    members, inner, at, start = [], label[1:-1], 0, 0
    while at < len(inner):
        if inner[at] == "\\":
            at += 2
        elif inner.startswith(", ", at):
            members.append(inner[start:at])
            at = start = at + 2
        else:
            at += 1
    return [*members, inner[start:]]


def _unescape(member: str) -> Text:
    return None if member == "NULL" else re.sub(r"\\(.)", r"\1", member, flags=re.DOTALL)


def is_mean(label: Text, values: Sequence[Text]) -> bool:
    """Tell whether a label is the mean of numbers, rounded to one digit more than they have; NULLs among them: ``*``.

    >>> is_mean("2.5", ["1", "4"]), is_mean("*", ["1", None]), is_mean("3", ["1", "4"]), is_mean(None, [None])
    (True, True, False, True)
    """
    numbers = [Fraction(value) for value in values if value is not None]
    if len(numbers) < len(values) or label in {None, ROOT}:
        return label == ROOT or (label is None and not numbers)
    places = max(len(_digits(number).partition(".")[2]) for number in numbers) + 1
    mean = sum(numbers, start=Fraction(0)) / len(numbers)
    return abs(Fraction(label or "0") - mean) <= Fraction(1, 2 * 10**places)
