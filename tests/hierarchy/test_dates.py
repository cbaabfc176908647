"""Dates: units of the calendar, formats and what is refused."""

from collections.abc import Sequence

import pytest

from sfumato.errors import HierarchyError, PolicyError
from sfumato.hierarchy import Dates


@pytest.mark.parametrize(
    ("unit", "label"),
    [
        ("day", "1970-03-15"),
        ("week", "1970-W11"),
        ("month", "1970-03"),
        ("quarter", "1970-Q1"),
        ("year", "1970"),
        ("decade", "1970s"),
        ("century", "1900-1999"),
    ],
)
def test_labels(unit: str, label: str) -> None:
    """Each unit has its label, for a date and for a timestamp of the day."""
    tree = Dates([unit]).bind(["1970-03-15", "1970-03-15 23:59:59.999999"], column="born")
    assert tree.labels[1] == (label,)


@pytest.mark.parametrize(
    "text",
    [
        "2020-12-31 23:30:00",
        "2020-12-31T23:30:00",
        "2020-12-31 23:30:00.123456789",
        "2020-12-31 23:30:00.000000Z",
        "2020-12-31 23:30:00+0100",
    ],
)
def test_timestamps(text: str) -> None:
    """The date of a timestamp is the one that is written, whatever its zone and precision."""
    assert Dates(["day"]).bind([text], column="born").labels[1] == ("2020-12-31",)


def test_weeks_of_two_years() -> None:
    """A week has the year that most of its days have, as ISO 8601 counts."""
    assert Dates(["week"]).bind(["2021-01-01", "2020-12-28"], column="born").labels[1] == ("2020-W53",)


def test_order_is_that_of_the_calendar() -> None:
    """Dates in another format are ranked as dates, with NULL last."""
    tree = Dates(["year"], format="%d.%m.%Y").bind(["01.02.1980", None, "31.01.1980", "15.06.1979"], column="born")
    assert tree.ranks is not None
    assert (tree.ranks.tolist(), tree.places) == ([2, 3, 1, 0], 4)
    assert tree.labels[1] == ("1980", None, "1979")


def test_formats_that_tell_less() -> None:
    """A format need tell only the finest unit asked for."""
    assert Dates(["decade"], format="%Y").bind(["1987"], column="born").labels[1] == ("1980s",)


def test_what_is_no_date() -> None:
    """All texts that are no dates are listed in one error, with the format that was looked for."""
    with pytest.raises(HierarchyError, match=r"column 'born': not ISO dates: '1970-02-30', '', 'x'; mend them"):
        Dates(["year"]).bind(["1970-02-30", "1970-02-28", "", "x"], column="born")
    with pytest.raises(HierarchyError, match=r"not dates written as %Y: '1970-01-01'"):
        Dates(["year"], format="%Y").bind(["1970-01-01"], column="born")


@pytest.mark.parametrize(
    ("units", "form", "key", "message"),
    [
        (["week", "month"], None, "dates", "a week does not nest in a month"),
        (["week", "year"], None, "dates", "a week does not nest in a year"),
        (["year", "month"], None, "dates", "month cannot follow year; the order is day, week,"),
        (["year", "year"], None, "dates", "year cannot follow year"),
        (["yaer"], None, "dates", "unknown unit 'yaer'; did you mean year?"),
        ([7], None, "dates", "unknown unit 7; the units are day, week,"),
        ([], None, "dates", "must be a list of units"),
        ("year", None, "dates", "must be a list of units"),
        (["year"], "%H:%M", "format", "must be a strptime format that tells the year, not '%H:%M'"),
        (["year"], "%Y\0", "format", "must be a strptime format"),
        (["year"], "%Q", "format", "must be a strptime format"),
        (["month"], "%Y", "format", "tells the month"),
        (["year"], 7, "format", "must be a strptime format"),
    ],
)
def test_refusals(units: Sequence[str], form: str | None, key: str, message: str) -> None:
    """Units that do not nest and formats that do not tell them are refused by their key."""
    with pytest.raises(PolicyError) as caught:
        Dates(units, format=form)
    assert caught.value.key == key
    assert message in caught.value.message
