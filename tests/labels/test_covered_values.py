"""What labels stand for, by what the manifest declares of their column."""

from typing import Any

import numpy as np
import pytest

from sfumato.labels.covered_values import find_covered_values


def leaves(entry: dict[str, Any], *labels: str | None) -> list[list[Any]]:
    """The leaves of each label."""
    found = find_covered_values(entry, labels)
    assert found.unclear is None
    values = found.values.to_pylist()
    return [[values[i] for i in np.flatnonzero(found.label_of == place)] for place in range(len(labels))]


def unclear(entry: dict[str, Any], *labels: str | None) -> str | None:
    """The label of which nothing says what it stands for."""
    return find_covered_values(entry, labels).unclear


@pytest.mark.parametrize(
    ("label", "whole"),
    [
        ("35-38", [35, 36, 37, 38]),
        ("7", [7]),
        ("007", [7]),
        ("<3", [0, 1, 2]),
        ("97+", [97, 98, 99]),
        ("[-3, 2)", [0, 1]),
        ("[4, 6]", [4, 5, 6]),
        ("[98, inf)", [98, 99]),
        ("95-104", [95, 96, 97, 98, 99]),
        ("*", list(range(100))),
        (None, [None]),
    ],
)
def test_whole_numbers(label: str | None, whole: list[int | None]) -> None:
    """A range of whole numbers stands for those of them that lie in the declared domain."""
    assert leaves({"integers": True, "domain": [0, 99]}, label) == [whole]


def test_negative_whole_numbers() -> None:
    """A range that begins below zero is written as one of real numbers, and is one of whole numbers if it is told."""
    assert leaves({"integers": True}, "[-5, -2)") == [[-5, -4, -3]]


def test_ranges_without_a_domain() -> None:
    """Open ends reach as far as other labels of the column show, and no further."""
    assert leaves({"integers": True}, "20-22", "24", "*", "24+", "<21")[2:] == [[20, 21, 22, 23, 24], [24], [20]]
    assert unclear({"integers": True}, "20-22", "60+") == "60+"
    assert unclear({"integers": True}, "*", None) == "*"
    assert unclear({"integers": True}, "<20", "20+") == "<20"


def test_real_numbers() -> None:
    """A real range stands for points at equal distances: as good as all of it, for its mean and for shares of it."""
    (found,) = leaves({"integers": False}, "[10, 20)")
    assert len(found) == 256
    assert np.mean(found) == pytest.approx(15)
    assert np.std(found) == pytest.approx(10 / np.sqrt(12), rel=1e-4)
    assert np.mean(np.array(found) < 12.5) == 0.25
    assert leaves({"integers": False}, "1.5", "[1.5, 1.5]") == [[1.5], [1.5]]
    assert find_covered_values({"integers": False}, ["[10, 20)"]).sampled


def test_wide_ranges_are_sampled() -> None:
    """A million whole numbers are stood for by some of them, spread evenly; so many cannot be grouped by."""
    found = find_covered_values({"integers": True, "domain": [0, 999_999]}, ["*", "5", None])
    values = found.values.to_pylist()
    assert len(values) == 1024 + 2
    assert np.mean(values[:-2]) == pytest.approx(499_999.5, rel=1e-3)
    assert found.sampled
    assert not find_covered_values({"integers": True, "domain": [0, 99]}, ["*"]).sampled


@pytest.mark.slow
def test_very_many_ranges_have_fewer_points_each() -> None:
    """However many labels there are, what they stand for fits into memory."""
    labels = [f"[{place}, {place}.5)" for place in range(30_000)]
    found = find_covered_values({"integers": False}, labels)
    assert len(found.label_of) <= 1 << 21
    assert (found.sizes >= 16).all()


@pytest.mark.parametrize("entry", [{"integers": True}, {"integers": False, "domain": [0, 9]}])
def test_texts_that_are_no_range(entry: dict[str, Any]) -> None:
    """A label that is no range where ranges are declared was changed, and is not understood."""
    assert unclear(entry, "5", "middle-aged") == "middle-aged"


@pytest.mark.parametrize(
    ("label", "first", "last", "many"),
    [
        ("1970-02", "1970-02-01", "1970-02-28", 28),
        ("1972", "1972-01-01", "1972-12-31", 366),
        ("1970-W01", "1969-12-29", "1970-01-04", 7),
        ("1970-Q4", "1970-10-01", "1970-12-31", 92),
        ("1970s", "1970-01-01", "1979-12-31", 3652),
        ("1900-1999", "1900-01-01", "1999-12-31", 36524),
        ("1970-03-15", "1970-03-15", "1970-03-15", 1),
        ("1970-03-15T10:00:00", "1970-03-15T10:00:00", "1970-03-15T10:00:00", 1),
        ("1970-13", "1970-13", "1970-13", 1),
    ],
)
def test_dates(label: str, first: str, last: str, many: int) -> None:
    """A unit of the calendar stands for its days, in ISO form; a date stands for itself."""
    units = ["day", "week", "month", "quarter", "year", "decade", "century"]
    (found,) = leaves({"dates": units}, label)
    assert (found[0], found[-1], len(found)) == (first, last, many)


def test_dates_of_another_form() -> None:
    """Dates that the source writes otherwise are compared in ISO form, as finely as they were written."""
    assert leaves({"dates": ["month"], "date_format": "%d.%m.%Y"}, "15.03.1970") == [["1970-03-15"]]
    assert leaves({"dates": ["year"], "date_format": "%m/%Y"}, "1970", "03/1971")[1] == ["1971-03"]
    assert leaves({"dates": ["year"], "date_format": "%m/%Y"}, "1970")[0][:2] == ["1970-01", "1970-02"]
    assert leaves({"dates": ["decade"], "date_format": "%Y"}, "1970s", "1985") == [[*range(1970, 1980)], [1985]]
    moment = leaves({"dates": ["year"], "date_format": "%d.%m.%Y %H:%M"}, "15.03.1970 10:30", "tomorrow")
    assert moment == [["1970-03-15 10:30:00"], ["tomorrow"]]


def test_a_star_among_dates() -> None:
    """A star stands for all days that other labels of the column stand for."""
    assert len(leaves({"dates": ["month", "year"]}, "1970-02", "1970", "*")[2]) == 365
    assert unclear({"dates": ["month"]}, "*") == "*"


def test_masks() -> None:
    """A masked text stands for the values of the column that it fits, and for no others."""
    mask = {"mask": {"side": "right"}}
    assert leaves(mask, "4a50", "4a51", "4b50", "4a5*", "4a**", "*", None) == [
        ["4a50"],
        ["4a51"],
        ["4b50"],
        ["4a50", "4a51"],
        ["4a50", "4a51"],
        ["4a50", "4a51", "4b50", None],
        [None],
    ]
    assert unclear(mask, "4a50", "5***") == "5***"
    assert leaves({"mask": {"side": "left"}}, "ab", "cb", "cd", "*b")[3] == ["ab", "cb"]
    assert leaves({"mask": {"side": "right", "length": 5}}, "I21", "I21.0", "I2", "I21**")[3] == ["I21", "I21.0"]
    assert leaves({"mask": {"side": "left", "length": 3}}, "b", "ab", "cab", "**b")[3] == ["b", "ab", "cab"]


def test_sets() -> None:
    """A set stands for its members; a star for all that sets of the column name."""
    entry = {"form": "sets"}
    assert leaves(entry, "{Bern, NULL}", "Thun", r"{a\, b, c}", "*") == [
        ["Bern", None],
        ["Thun"],
        ["a, b", "c"],
        ["Bern", None, "Thun", "a, b", "c"],
    ]
    assert unclear(entry, "*") == "*"


def test_hierarchy_files() -> None:
    """A label stands for the leaves that the manifest lists, and any other for itself."""
    entry = {"covers": {"white-collar": ["clerk", "manager"], "*": ["clerk", "manager", None]}}
    assert leaves(entry, "clerk", "white-collar", "*") == [["clerk"], ["clerk", "manager"], ["clerk", "manager", None]]
    assert unclear({"different_leaves": 30_000}, "clerk", "white-collar") == "clerk"


def test_plain_columns() -> None:
    """Without any word in the manifest a label is a value, and a star is any value that the column shows."""
    assert leaves({}, "f", "m", "*") == [["f"], ["m"], ["f", "m"]]
    assert leaves({}, "20-29", "30-39") == [["20-29"], ["30-39"]]
    assert leaves({"form": "means"}, "1.5", "2", "*") == [[1.5], [2.0], [1.5, 2.0]]
    assert unclear({}, "*", "*") == "*"


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (["1", "-2", "0"], True),
        (["1.50", "2"], True),
        (["04350", "1"], False),
        (["+1"], False),
        (["1e5"], False),
        (["1", "x"], False),
        (["9" * 18], True),
        (["9" * 19], False),
        (["１"], False),
        ([None], False),
        ([""], False),
    ],
)
def test_numbers_are_plain_ones(texts: list[str | None], number: bool) -> None:
    """A column is one of numbers where all its values are, in their plain form: codes with zeros in front are texts."""
    assert find_covered_values({}, texts).number == number
