"""The public parser of labels: every kind that is published, read back."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.hierarchy.dates import Dates
from sfumato.hierarchy.intervals import Intervals
from sfumato.hierarchy.open_ended import write_set


@pytest.mark.parametrize(
    ("text", "kind", "low", "high", "closed"),
    [
        ("35-39", "numbers", 35, 39, "both"),
        ("37", "numbers", 37, 37, "both"),
        ("-5", "numbers", -5, -5, "both"),
        ("20.0", "numbers", 20, 20, "both"),
        ("<20", "numbers", None, 20, "neither"),
        ("90+", "numbers", 90, None, "left"),
        ("[1.5, 2)", "numbers", 1.5, 2, "left"),
        ("[1.5, 1.9]", "numbers", 1.5, 1.9, "both"),
        ("[-5, inf)", "numbers", -5, None, "left"),
        ("1970-03", "dates", date(1970, 3, 1), date(1970, 3, 31), "both"),
        ("1970-03-15", "dates", date(1970, 3, 15), date(1970, 3, 15), "both"),
        ("1970-Q2", "dates", date(1970, 4, 1), date(1970, 6, 30), "both"),
        ("1970-W11", "dates", date(1970, 3, 9), date(1970, 3, 15), "both"),
        ("1970s", "dates", date(1970, 1, 1), date(1979, 12, 31), "both"),
    ],
)
def test_ranges_of_numbers_and_dates(text: str, kind: str, low: Any, high: Any, closed: str) -> None:
    """Ends, and which of them are part of it."""
    found = sf.parse_label(text)
    assert (found.kind, found.low, found.high, found.closed) == (kind, low, high, closed)


def test_what_reads_in_two_ways_is_as_it_is_asked() -> None:
    """1970 and 1900-1999 are numbers, unless somebody says that they are dates."""
    assert sf.parse_label("1970").kind == sf.parse_label("1900-1999").kind == "numbers"
    assert sf.parse_label("1970", kind="dates").high == date(1970, 12, 31)
    assert sf.parse_label("1900-1999", kind="dates").low == date(1900, 1, 1)
    assert sf.parse_label("4350", kind="value").members == ("4350",)


def test_sets_masks_stars_and_missing_values() -> None:
    """Members of sets, what a mask tells, and what tells nothing."""
    assert sf.parse_label("{Bern, Thun, NULL}").members == ("Bern", "Thun", None)
    assert sf.parse_label("435*").members == sf.parse_label("*435").members == ("435",)
    assert (sf.parse_label("435*").kind, sf.parse_label("*").kind) == ("mask", "all")
    assert sf.parse_label(None).kind == sf.parse_label(float("nan")).kind == "missing"  # type: ignore[arg-type]
    assert sf.parse_label("service").kind == sf.parse_label("{open").kind == "value"


def test_a_label_knows_what_it_covers() -> None:
    """`in` asks whether a value may be meant."""
    assert 37 in sf.parse_label("35-39")
    assert 40 not in sf.parse_label("35-39")
    assert 20 not in sf.parse_label("<20")
    assert 2 not in sf.parse_label("[1.5, 2)")
    assert date(1970, 2, 3) in sf.parse_label("1970-Q1")
    assert "4351" in sf.parse_label("435*")
    assert "43" not in sf.parse_label("435*")
    assert "9435" in sf.parse_label("*435")
    assert "Bern" in sf.parse_label("{Bern, Thun}")
    assert None in sf.parse_label("{Bern, NULL}")
    assert None not in sf.parse_label("35-39")
    assert None in sf.parse_label(None)
    assert "anything" in sf.parse_label("*")
    assert "text" not in sf.parse_label("35-39")


def test_middles() -> None:
    """The middle of two ends, of numbers and of days; none where one is open."""
    assert sf.parse_label("35-39").midpoint == 37.0
    assert sf.parse_label("1970").midpoint == 1970.0
    assert sf.parse_label("1970-03").midpoint == date(1970, 3, 16)
    assert sf.parse_label("90+").midpoint is None


def test_a_wrong_kind_is_said() -> None:
    """A kind that there is not, and a label that is not of the kind."""
    with pytest.raises(sf.InputError, match="not read as 'ranges'; choose one of numbers"):
        sf.parse_label("35-39", kind="ranges")
    with pytest.raises(sf.InputError, match="'Bern' is no label of the kind numbers"):
        sf.parse_label("Bern", kind="numbers")


@given(st.integers(-2000, 2000), st.sampled_from([[5, 10], [7], [20, 100]]), st.none() | st.integers(0, 300))
def test_every_bin_covers_its_number(number: int, widths: list[int], top: int | None) -> None:
    """Whatever bins are declared, a number is in each of its labels."""
    tree = Intervals(widths, top=top).bind([str(number)], column="age")
    assert all(number in sf.parse_label(level[0]) for level in tree.labels)


@given(st.dates(date(1, 1, 1), date(9998, 12, 31)))
def test_every_unit_covers_its_day(day: date) -> None:
    """A day is in each unit of the calendar that it is published as."""
    for units in (["day", "month", "quarter", "year", "decade", "century"], ["week"]):
        tree = Dates(units).bind([day.isoformat()], column="born")
        assert all(day in sf.parse_label(level[0], kind="dates") for level in tree.labels[1:-1])


@given(st.lists(st.none() | st.text(max_size=5), min_size=2, max_size=4, unique=True))
def test_every_set_covers_its_members(values: list[str | None]) -> None:
    """Members with commas, braces and backslashes come back."""
    found = sf.parse_label(write_set(values))
    assert found.kind == "set"
    assert set(found.members) == set(values)
