"""Dates: units of the calendar, in the format in which the column has them."""

from typing import Any

from sfumato.hierarchy.units import UNITS
from sfumato.profile.facts import Facts
from sfumato.profile.moments import Moments, read, readings
from sfumato.profile.trees.tree import Tree, may_be_listed, suppressed

_BORN = ("month", "year", "decade")
_HAPPENED = ("month", "quarter", "year", "decade")


def calendar_tree(facts: Facts, nulls: tuple[str, ...]) -> Tree:
    """Months, years and decades; by a file where the column has several formats."""
    moments = facts.shape.moments
    assert moments is not None  # noqa: S101 - only columns of dates come here
    if not moments.single:
        return _in_file(facts, moments, nulls)
    units = list(_BORN if facts.concept == "birth" else _HAPPENED)
    keys: dict[str, Any] = {"dates": ["day", *units] if moments.timed else units[1:] if moments.months else units}
    if moments.formats[0] is not None:
        keys["format"] = moments.formats[0]
    doubt = _doubt(moments)
    return Tree(keys, f"units of the calendar{doubt}", check=bool(doubt))


def _doubt(moments: Moments) -> str:
    if moments.month_first:
        return ", read with the day first; every value could have the month first as well"
    if moments.short:
        return "; years have two digits, and 69 is read as 1969, 68 as 2068"
    return ""


def _in_file(facts: Facts, moments: Moments, nulls: tuple[str, ...]) -> Tree:
    """Dates in several formats: month, year and decade of each, without the month where it can be mistaken."""
    if not may_be_listed(facts, nulls):
        return suppressed("dates in several formats cannot be put into months; write them in one")
    texts = sorted(facts.values.listed())
    doubtful = any(len(readings(text, moments.formats)) > 1 for text in texts)
    units = ("year", "decade") if doubtful else ("month", "year", "decade")
    why = f"dates in {len(moments.formats)} formats, by a file; write them in one and the calendar will do"
    if doubtful:
        why += ". Days and months can be mistaken in some, so that there is no level of months"
    return Tree("", why, check=True, lines=tuple(_line(text, moments, units) for text in texts), least=1)


def _line(text: str, moments: Moments, units: tuple[str, ...]) -> tuple[str, ...]:
    moment = next(found for form in moments.formats if (found := read(text, form)))
    return (text, *(UNITS[unit](moment) for unit in units), "*")
