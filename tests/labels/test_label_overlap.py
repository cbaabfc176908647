"""Which labels fit each other: those under which some value lies in both, and all that nobody explains."""

from typing import Any

import numpy as np
import pytest

from sfumato.labels.label_overlap import DescribedLabels, find_overlap, find_unexplained

WHOLE, REAL = {"integers": True}, {"integers": False}
RIGHT, LEFT = {"mask": {"side": "right"}}, {"mask": {"side": "left"}}
PADDED = {"mask": {"side": "right", "length": 5}}
WEEKS, YEARS = {"dates": ["week"]}, {"dates": ["month", "year", "decade"]}
GERMAN = {"dates": ["month", "year"], "date_format": "%d.%m.%Y"}
YEARLY = {"dates": ["decade"], "date_format": "%Y"}
SETS, JOBS = {"form": "sets"}, {"covers": {"service": ["cook", "porter", None]}}


def _fit(one: str | None, entry: dict[str, Any], other: str | None, shown: dict[str, Any]) -> bool:
    there = find_overlap(DescribedLabels(["other", one], entry), DescribedLabels([other], shown))
    assert there is not None
    back = find_overlap(DescribedLabels([other], shown), DescribedLabels(["other", one], entry))
    assert back is not None
    found = there.overlaps(np.array([1]))
    assert found.shape == (1, 1)
    assert back.overlaps(np.array([0])).tolist()[0][1] == found[0, 0]
    return bool(found[0, 0])


@pytest.mark.parametrize(
    ("one", "entry", "other", "shown", "fit"),
    [
        ("37", {}, "35-39", WHOLE, True),
        ("40", {}, "[35, 40)", WHOLE, False),
        ("40", {}, "[35, 40]", WHOLE, True),
        ("037.0", {}, "35-39", WHOLE, True),
        ("-2", {}, "<0", WHOLE, True),
        ("64", {}, "65+", WHOLE, False),
        ("37.5", {}, "[37, 38)", REAL, True),
        ("[2.2, 2.8]", REAL, "2-3", WHOLE, False),
        ("[2.2, 3.1)", REAL, "2-3", WHOLE, True),
        ("[1, 2)", REAL, "[2, 3)", REAL, False),
        ("[1, 2]", REAL, "[2, 3)", REAL, True),
        ("old", {}, "35-39", WHOLE, False),
        (None, {}, "35-39", WHOLE, False),
        (None, {}, "*", WHOLE, True),
        (None, {}, None, WHOLE, True),
        ("37", {}, None, WHOLE, False),
        ("{35, 50}", SETS, "40-49", WHOLE, False),
        ("{35, 45, NULL}", SETS, "40-49", WHOLE, True),
        ("{35, NULL}", SETS, None, WHOLE, True),
        ("4350", {}, "435*", RIGHT, True),
        ("4350", {}, "43**", RIGHT, True),
        ("43501", {}, "435*", RIGHT, False),
        ("435", {}, "435*", RIGHT, False),
        ("43**", RIGHT, "435*", RIGHT, True),
        ("44**", RIGHT, "435*", RIGHT, False),
        ("4350", {}, "**50", LEFT, True),
        ("4350", {}, "**51", LEFT, False),
        ("*350", LEFT, "**50", LEFT, True),
        ("I21", {}, "I21**", PADDED, True),
        ("I21.0", {}, "I21**", PADDED, True),
        ("I2", {}, "I21**", PADDED, False),
        ("I21.0", {}, "I21*", PADDED, False),
        ("I21", {}, "I21*", PADDED, True),
        (None, {}, "I21**", PADDED, False),
        ("2020-01-31", {}, "2020-01", YEARS, True),
        ("2020-02-01", {}, "2020-01", YEARS, False),
        ("2020-02-29T23:59:00", {}, "2020-02", YEARS, True),
        ("2020-W05", WEEKS, "2020-02", YEARS, True),
        ("2020-W05", WEEKS, "2020-03", YEARS, False),
        ("2020-12", YEARS, "2020", GERMAN, True),
        ("31.12.2020", {}, "2020", GERMAN, True),
        ("01.01.2021", {}, "2020", GERMAN, False),
        ("2020-12-31", YEARS, "31.12.2020", GERMAN, True),
        ("2020", YEARLY, "2020-06", YEARS, True),
        ("2020-06-15", YEARS, "2020", YEARLY, True),
        ("2020-12-31", YEARS, "2020", YEARLY, True),
        ("2021", YEARLY, "2020-12", YEARS, False),
        ("9999-12-31", {}, "9990s", YEARS, True),
        ("9999-12-31", {}, "9999", YEARS, True),
        ("cook", {}, "service", JOBS, True),
        (None, {}, "service", JOBS, True),
        ("nurse", {}, "service", JOBS, False),
        ("{cook, nurse}", SETS, "service", JOBS, True),
        ("service", {}, "service", JOBS, False),
        ("*", {}, "35-39", WHOLE, True),
        ("x", {}, "north", {"different_leaves": 20_000}, True),
        ("x", {}, "strange", WHOLE, True),
        ("2020-01-01", {}, "once", YEARS, True),
    ],
)
def test_labels_fit(
    one: str | None, entry: dict[str, Any], other: str | None, shown: dict[str, Any], fit: bool
) -> None:
    """Two labels fit where some value lies under both, whichever stands first; one that is not explained fits all."""
    assert _fit(one, entry, other, shown) is fit


@pytest.mark.parametrize(
    ("one", "other"),
    [({"form": "means", **WHOLE}, WHOLE), (WHOLE, YEARS), (RIGHT, LEFT), (RIGHT, WHOLE), ({}, {"form": "means"})],
)
def test_labels_that_cannot_be_compared(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Means say nothing of what they stand for, and numbers, dates and masked texts nothing of each other."""
    assert find_overlap(DescribedLabels(["1"], one), DescribedLabels(["1"], other)) is None
    assert find_overlap(DescribedLabels(["1"], other), DescribedLabels(["1"], one)) is None


@pytest.mark.parametrize(
    ("labels", "entry", "expected"),
    [
        (["*", None, "30-39", "37", "old"], WHOLE, "old"),
        (["*", None, "30-39"], WHOLE, None),
        (["*", "3"], {"form": "means", **WHOLE}, "3"),
        (["2020", "2020-13"], YEARS, "2020-13"),
        (["*", "north"], {"different_leaves": 20_000}, "north"),
        (["435*", "4350"], RIGHT, None),
        (["service", "nurse"], JOBS, None),
    ],
)
def test_labels_that_are_not_explained(labels: list[str | None], entry: dict[str, Any], expected: str | None) -> None:
    """The first label that says nothing is found, so that it can be told; a star says that it stands for all."""
    assert find_unexplained(DescribedLabels(labels, entry)) == expected


def test_many_numbers_fit_as_they_do_one_by_one() -> None:
    """Some thousand numbers against some hundred ranges, all at once, agree with arithmetic."""
    draw = np.random.default_rng(1)
    numbers, low = draw.integers(0, 10_000, 3000), draw.integers(0, 9_000, 300)
    high = low + draw.integers(1, 1000, 300)
    shown = DescribedLabels([f"[{a / 100}, {b / 100})" for a, b in zip(low.tolist(), high.tolist(), strict=True)], REAL)
    found = find_overlap(DescribedLabels([f"{one / 100}" for one in numbers.tolist()], {}), shown)
    assert found is not None
    expected = (numbers[:, np.newaxis] >= low) & (numbers[:, np.newaxis] < high)
    assert (found.overlaps(np.arange(3000)) == expected).all()
    assert (found.overlaps(np.array([7, 7, 3])) == expected[[7, 7, 3]]).all()
