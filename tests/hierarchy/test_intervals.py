"""Intervals: labels, edges, codings, domains and what is refused; and that labels of ranges read back."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, PolicyError, quote
from sfumato.hierarchy import Intervals
from sfumato.hierarchy.intervals import read_range, write_range


def paths(spec: Intervals, *values: str | None) -> list[list[str | None]]:
    """The labels of each value below the root."""
    tree = spec.bind(values, column="age")
    return [[tree.labels[level][code] for level, code in enumerate(row)][1:-1] for row in tree.matrix.tolist()]


def test_the_example_of_the_policy() -> None:
    """37 → 35-39 → 30-39 → 20-39 → *, as the policy's documentation has it."""
    spec = Intervals([5, 10, 20])
    assert paths(spec, "37") == [["35-39", "30-39", "20-39"]]
    assert spec.bind(["37"], column="age").height == 4


@pytest.mark.parametrize(
    ("value", "width", "label"),
    [
        ("35", 1, "35"),
        ("007", 5, "5-9"),
        ("0", 5, "0-4"),
        ("-1", 5, "[-5, 0)"),
        ("35.0", 5, "35-39"),
        ("1e2", 5, "100-104"),
        (" 4", 5, "0-4"),
        ("0.3", 0.1, "[0.3, 0.4)"),
        ("0.7", 0.1, "[0.7, 0.8)"),
        ("-0.05", 0.1, "[-0.1, 0)"),
        ("37", 2.5, "[35, 37.5)"),
        ("99999999999999999999", 5, "99999999999999999995-99999999999999999999"),
        ("1e-300", 1e-300, "[0." + "0" * 299 + "1, 0." + "0" * 299 + "2)"),
        ("1e-999", 0.1, "[0, 0.1)"),
    ],
)
def test_labels(value: str, width: float, label: str) -> None:
    """A value belongs to the bin that starts at or below it, by exact arithmetic on its text."""
    assert paths(Intervals([width]), value) == [[label]]


def test_no_label_starts_with_a_minus() -> None:
    """Negative bounds are written in brackets, bottom and top coding included."""
    found = paths(Intervals([5], bottom=-20, top=-3), "-30", "-18", "-3", "4")
    assert found == [["<-20"], ["[-20, -15)"], ["[-3, inf)"], ["[-3, inf)"]]


def test_bottom_and_top_coding() -> None:
    """Bins that cross a bound are clipped, so that every label is true and levels nest."""
    found = paths(Intervals([5, 20], bottom=18, top=81), "17", "18", "21", "79", "80", "81", "200")
    assert found[0] == ["<18", "<18"]
    assert found[1:3] == [["18-19", "18-19"], ["20-24", "20-39"]]
    assert found[3:5] == [["75-79", "60-79"], ["80", "80"]]
    assert found[5:] == [["81+", "81+"]] * 2


def test_origin() -> None:
    """Bins start at the origin, on both sides of it."""
    assert paths(Intervals([10], origin=18), "18", "27", "17") == [["18-27"], ["18-27"], ["8-17"]]


def test_integers_can_be_declared() -> None:
    """What the values are is said, or follows from what is declared: never from the values, which would leak."""
    assert paths(Intervals([5], integers=False), "37") == [["[35, 40)"]]
    assert paths(Intervals([5], integers=False), "37.5") == [["[35, 40)"]]
    assert paths(Intervals([2.5]), "37") == [["[35, 37.5)"]]
    with pytest.raises(HierarchyError, match=r"column 'age': not integers: '3.5'; say integers = false"):
        Intervals([5]).bind(["3.5", "3"], column="age")
    with pytest.raises(HierarchyError, match=r"column 'age': not integers: '3.5', '4.25'; "):
        Intervals([5], integers=True).bind(["3.5", "3", "4.25"], column="age")


@given(st.lists(st.integers(-99, 99).map(str), unique=True), st.integers(-(10**30), 10**30).map(str))
def test_an_extreme_changes_no_label(values: list[str], extreme: str) -> None:
    """Whatever integer is added, the labels of the others stay as they are."""
    spec = Intervals([5, 10], top=80)
    others = [value for value in values if value != extreme]
    assert paths(spec, *others, extreme)[:-1] == paths(spec, *others)


def test_loss_by_bound_values() -> None:
    """Without a domain the bound values are its leaves, NULL among them."""
    tree = Intervals([5, 10]).bind(["1", "2", "7", None], column="age")
    assert [level.tolist() for level in tree.loss[1:]] == [[1 / 3, 0, 0], [2 / 3, 0], [1]]


def test_loss_by_integers_of_the_domain() -> None:
    """With an integer domain every integer in it is a leaf, and NULL one more."""
    spec = Intervals([5, 10], domain=[17, 57], top=50)
    tree = spec.bind(["18", "37", "55"], column="age")
    assert tree.labels[1] == ("15-19", "35-39", "50+")
    assert [level.tolist() for level in tree.loss[1:]] == [
        [2 / 40, 4 / 40, 7 / 40],
        [2 / 40, 9 / 40, 7 / 40],
        [1],
    ]
    assert spec.bind(["37", None], column="age").loss[1].tolist() == [4 / 41, 0]
    assert spec.bind(["37", None], column="age").loss[-1].tolist() == [1]


def test_loss_by_width_of_the_domain() -> None:
    """With other numbers it is the bin's share of the domain, clipped to it."""
    tree = Intervals([1, 4], domain=[0.5, 5.5]).bind(["0.5", "2.25", "5.5"], column="ph")
    assert tree.loss[1].tolist() == [0.1, 0.2, 0.1]
    assert [level.tolist() for level in tree.loss[2:]] == [[0.7, 0.3], [1]]


def test_outside_of_the_domain() -> None:
    """All values outside are listed in one error, unless bottom or top coding takes them in."""
    message = r"^column 'age': outside of its domain: '16', '91'; widen the domain, or take them in with bottom"
    with pytest.raises(HierarchyError, match=message):
        Intervals([5], domain=[17, 90]).bind(["16", "17", "90", "91"], column="age")
    coded = Intervals([5], domain=[17, 90], bottom=20, top=80)
    assert paths(coded, "3", "17", "91") == [["<20"], ["<20"], ["80+"]]


def test_what_is_no_finite_number() -> None:
    """All such texts are listed in one error, and none is read in a way of Python's own."""
    strange = ["abc", "NaN", "inf", "1e999", "", "1_000", "１", "0x1F", "1e-999999999", "9" * 500]
    with pytest.raises(HierarchyError, match="not finite numbers: 'abc', 'NaN', 'inf', '1e999', '', '1_000'") as caught:
        Intervals([5]).bind([*strange, "3"], column="age")
    assert all(quote(value) in str(caught.value) for value in strange)


def test_order_is_numeric() -> None:
    """Values are ranked as numbers, equal ones by their text, with NULL last."""
    tree = Intervals([5]).bind(["10", "9", None, "7", "007", "-3"], column="age")
    assert tree.ranks is not None
    assert (tree.ranks.tolist(), tree.places) == ([4, 3, 5, 2, 1, 0], 6)


def test_null_and_nothing() -> None:
    """NULL stays NULL below the root; a column of NULLs or of nothing is no error."""
    assert paths(Intervals([5]), None, "3") == [[None], ["0-4"]]
    assert Intervals([5], domain=[0, 9]).bind([None], column="age").labels == ((None,), (None,), ("*",))
    assert Intervals([5, 10]).bind([], column="age").matrix.shape == (0, 4)


@pytest.mark.parametrize(
    ("keys", "key", "message"),
    [
        ({"intervals": [5, 12]}, "intervals", "12 is no multiple of 5: the bins do not nest"),
        ({"intervals": [0.2, 0.5]}, "intervals", "0.5 is no multiple of 0.2"),
        ({"intervals": []}, "intervals", "must be a list of widths"),
        ({"intervals": 5}, "intervals", "must be a list of widths"),
        ({"intervals": [0]}, "intervals", "must be widths above 0"),
        ({"intervals": [True]}, "intervals", "must be a number, not True"),
        ({"intervals": [float("inf")]}, "intervals", "must be a finite number"),
        ({"intervals": [5], "origin": "0"}, "origin", "must be a number, not '0'"),
        ({"intervals": [5], "top": float("nan")}, "top", "must be a finite number"),
        ({"intervals": [5], "bottom": 9, "top": 5}, "top", "must not be below bottom"),
        ({"intervals": [5], "domain": [9, 5]}, "domain", "must have its lowest number first"),
        ({"intervals": [5], "domain": [9]}, "domain", "must be [lowest, highest]"),
        ({"intervals": [5], "integers": 1}, "integers", "must be true or false, not 1"),
    ],
)
def test_refusals(keys: dict[str, Any], key: str, message: str) -> None:
    """A declaration that means nothing is refused before any data is seen, by its key."""
    with pytest.raises(PolicyError) as caught:
        Intervals(**keys)
    assert caught.value.key == key
    assert message in caught.value.message


def test_widths_nest_as_decimals() -> None:
    """0.3 is three times 0.1, though not in binary floats."""
    assert paths(Intervals([0.1, 0.3]), "0.65") == [["[0.6, 0.7)", "[0.6, 0.9)"]]


bounds = st.integers(-(10**6), 10**6)


@given(bounds, bounds, st.sampled_from([1, 10, 1000]), st.booleans(), st.data())
def test_ranges_read_back(one: int, other: int, scale: int, closed: bool, data: st.DataObject) -> None:
    """A range reads back with exactly its bounds, however it is written, and no range begins with a minus."""
    low, high = min(one, other), max(one, other) + (not closed)
    whole = scale == 1 and not closed and data.draw(st.booleans())
    label = write_range(low, high, scale=scale, whole=whole, closed=closed)
    found = read_range(label)
    assert found.low == Fraction(low, scale)
    if whole and found.closed:
        assert found.high == high - 1
    else:
        assert (found.high, found.closed) == (Fraction(high, scale), closed)
    assert not label.startswith("-") or found.low == found.high
    assert found.covers(Fraction(low, scale))
    assert not found.covers(Fraction(low, scale) - Fraction(1, 7))


@given(bounds, st.sampled_from([1, 100]))
def test_open_ranges_read_back(end: int, scale: int) -> None:
    """A range that is open at one end reads back as one."""
    below, above = write_range(-math.inf, end, scale=scale), write_range(end, math.inf, scale=scale)
    assert read_range(below) == (-math.inf, Fraction(end, scale), False)
    assert read_range(above) == (Fraction(end, scale), math.inf, False)
    assert not below.startswith("-")
    assert not above.startswith("-")


@pytest.mark.parametrize("label", ["", "a", "1-", "[1, 2", "<", "+", "{1, 2}", "1e5", "[1 ,2)"])
def test_what_is_no_range(label: str) -> None:
    """Any other text is refused."""
    with pytest.raises(ValueError, match="not a range"):
        read_range(label)
