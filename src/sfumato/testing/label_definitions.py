"""What a published cell may say of the value it came from, by plain reading: slow, and sure.

An ancestor in the column's tree, a range that holds the number, a set that lists the value; or the value itself. Of
microaggregation, the mean, the median or the mode of the values of a class.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from sfumato.testing.random_tables import TableCase

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_FORMS: dict[str, Callable[..., bool]] = {
    _NUMBER: lambda number, only: number == only,
    f"{_NUMBER}-{_NUMBER}": lambda number, first, last: first <= number <= last,
    rf"\[{_NUMBER}, {_NUMBER}\]": lambda number, first, last: first <= number <= last,
    rf"\[{_NUMBER}, {_NUMBER}\)": lambda number, first, end: first <= number < end,
    f"<{_NUMBER}": lambda number, end: number < end,
    rf"{_NUMBER}\+": lambda number, first: first <= number,
    rf"\[{_NUMBER}, inf\)": lambda number, first: first <= number,
}
"""How ranges are written, and what is in them."""

_ROUNDING = Fraction(1, 20)
"""Means have one digit more than the numbers, which are whole or have digits themselves."""


def covers(case: TableCase, column: str, label: str | None, value: str | None) -> bool:
    """Tell whether a label of a quasi-identifier covers a value of it."""
    if column in case.trees:
        return label in case.trees[column][value]
    if label in {value, "*"}:
        return True
    if label is None:
        return False
    kind: Any = case.document["columns"][column]["hierarchy"]
    return in_set(label, value) if kind == "sets" else in_range(label, value)


def in_set(label: str, value: str | None) -> bool:
    """Tell whether a set lists a value; values have no commas here, and NULL is listed as NULL.

    >>> in_set("{Bern, Thun}", "Thun"), in_set("Bern", "Thun")
    (True, False)
    """
    braces = label.startswith("{") and label.endswith("}")
    return braces and ("NULL" if value is None else value) in label[1:-1].split(", ")


def in_range(label: str, value: str | None) -> bool:
    """Tell whether a range has a number in it; a missing number is in none.

    >>> in_range("35-39", "37"), in_range("[35, 40)", "40"), in_range("<20", "-5"), in_range("65+", "64")
    (True, False, True, False)
    """
    if value is None:
        return False
    forms = ((re.fullmatch(form, label), test) for form, test in _FORMS.items())
    return any(test(Fraction(value), *map(Fraction, match.groups())) for match, test in forms if match)


def is_mean(label: str | float | None, values: Sequence[str | None]) -> bool:
    """Tell whether a label is the mean of a class's numbers, or ``*``; NULL is for classes of NULLs alone.

    >>> is_mean("2.5", ["1", "4"]), is_mean("*", ["1", None]), is_mean("3", ["1", "4"])
    (True, True, False)
    """
    numbers = [Fraction(value) for value in values if value is not None]
    if label in {None, "*"} or len(numbers) < len(values):
        return label == "*" or (label is None and not numbers)
    mean = sum(numbers, start=Fraction(0)) / len(numbers)
    return abs(Fraction(str(label)) - mean) <= _ROUNDING


def is_aggregate_of(
    aggregate: str, label: str | None, values: Sequence[str | None], column: Sequence[str | None]
) -> bool:
    """Tell whether a label is the mean, median or mode of the values of a class, given all values of the column.

    Means and medians of numbers are rounded to as many decimals as the column has, of dates to days since 1970, halves
    to even.
    Among modes the most frequent one in the column is taken, then the first by its text, NULL last.

    >>> is_aggregate_of("mean", "2", ["1", "4"], ["1", "4"]), is_aggregate_of("median", "2", ["1", "2", "9"], ["1.5"])
    (True, True)
    >>> is_aggregate_of("mode", "b", ["a", "b"], ["a", "b", "b"])
    True
    """
    if aggregate == "mode":
        here, everywhere = Counter(values), Counter(column)
        return label == min(here, key=lambda value: (-here[value], -everywhere[value], value is None, value))
    if None in values:
        return label == ("*" if any(values) else None)
    if label is None:
        return False
    digits = max(len((value or "").partition(".")[2]) for value in column) if not _is_date(label) else 0
    known = sorted(_as_number(value) for value in values if value is not None)
    middle = known[(len(known) - 1) // 2] + known[len(known) // 2]
    exact = sum(known, start=Fraction(0)) / len(known) if aggregate == "mean" else middle / 2
    return _as_number(label) == Fraction(round(exact * 10**digits), 10**digits)


def _is_date(text: str) -> bool:
    return text.count("-") == 2


def _as_number(text: str) -> Fraction:
    return Fraction((date.fromisoformat(text) - date(1970, 1, 1)).days) if _is_date(text) else Fraction(text)
