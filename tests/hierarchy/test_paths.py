"""From a published label up to the root, kind by kind: the edges, and what no value could be published as."""

from collections.abc import Callable
from datetime import date, timedelta
from itertools import product

import pytest

from sfumato.errors import HierarchyError
from sfumato.hierarchy import Dates, File, Intervals, Mask, Ranges, Sets, Spec, Suppress

Filed = Callable[[str], File]
Line = tuple[str | None, ...]


def path(spec: Spec, label: str | None) -> Line | None:
    """The path of one label."""
    return spec.paths([label], column="x")[0]


def known(spec: Spec, values: list[str]) -> dict[str | None, Line]:
    """The path of every label of every value, at the lowest level where it stands, by what is bound."""
    tree = spec.bind(values, column="x")
    lines = [tuple(tree.labels[i][code] for i, code in enumerate(row)) for row in tree.matrix.tolist()]
    paths: dict[str | None, Line] = {}
    for level in range(tree.height):
        for line in lines:
            paths.setdefault(line[level], line[level:])
    return paths | {"*": ("*",)}


@pytest.mark.parametrize(
    ("spec", "label", "found"),
    [
        (Intervals([5, 10]), "37", ("37", "35-39", "30-39", "*")),
        (Intervals([5, 10]), "35-39", ("35-39", "30-39", "*")),
        (Intervals([5, 10]), "30-39", ("30-39", "*")),
        (Intervals([5, 10]), "36-40", None),
        (Intervals([5, 10]), "[35, 40)", None),
        (Intervals([5, 10]), "35-039", None),
        (Intervals([5, 10]), "35.5", None),
        (Intervals([5, 10]), "", None),
        (Intervals([5, 10]), "age", None),
        (Intervals([5, 10]), "３5-39", None),
        (Intervals([5, 10]), "-3", ("-3", "[-5, 0)", "[-10, 0)", "*")),
        (Intervals([5, 10]), "[-5, 0)", ("[-5, 0)", "[-10, 0)", "*")),
        (Intervals([5, 10]), "[-6, -1)", None),
        (Intervals([5, 10], top=80), "80+", ("80+", "80+", "*")),
        (Intervals([5, 10], top=80), "85", ("85", "80+", "80+", "*")),
        (Intervals([5, 10], top=80), "80-84", None),
        (Intervals([5, 10], top=80), "75+", None),
        (Intervals([5, 10], top=-3), "[-3, inf)", ("[-3, inf)", "[-3, inf)", "*")),
        (Intervals([5, 10], bottom=18), "<18", ("<18", "<18", "*")),
        (Intervals([5, 10], bottom=18), "<20", None),
        (Intervals([5, 10], bottom=18), "18-19", ("18-19", "18-19", "*")),
        (Intervals([5, 10], bottom=18), "15-19", None),
        (Intervals([5], bottom=80.5, top=80.5, integers=True), "80.5+", ("80.5+", "*")),
        (Intervals([5], bottom=80.5, top=80.5, integers=True), "<80.5", ("<80.5", "*")),
        (Intervals([5, 10], domain=[17, 42]), "15-19", ("15-19", "10-19", "*")),
        (Intervals([5, 10], domain=[17, 42]), "10-14", None),
        (Intervals([5, 10], domain=[17, 42]), "45-49", None),
        (Intervals([5, 10], domain=[17, 42]), "43", None),
        (Intervals([5], domain=[17, 42], top=30), "95", ("95", "30+", "*")),
        (Intervals([0.1, 0.5]), "[0.3, 0.4)", ("[0.3, 0.4)", "[0, 0.5)", "*")),
        (Intervals([0.1, 0.5]), "[0.30, 0.40)", None),
        (Intervals([0.1, 0.5]), "[0.35, 0.45)", None),
        (Intervals([0.1]), "-0.05", ("-0.05", "[-0.1, 0)", "*")),
        (Intervals([0.1]), "1e-999", ("1e-999", "[0, 0.1)", "*")),
        (Intervals([0.5, 1], integers=True), "[35.5, 36)", None),
        (Intervals([1, 5]), "35", ("35", "35", "35-39", "*")),
        (Intervals([1, 5]), "035", ("035", "35", "35-39", "*")),
        (Mask("right"), "4350", ("4350", "435*", "43**", "4***", "*")),
        (Mask("right"), "435*", ("435*", "43**", "4***", "*")),
        (Mask("left"), "**50", ("**50", "***0", "*")),
        (Mask("right"), "*350", None),
        (Mask("right"), "4*5*", None),
        (Mask("right"), "**", None),
        (Mask("right"), "a", ("a", "*")),
        (Mask("right"), "", ("", "*")),
        (Mask("right", length=5), "I21", ("I21", "I21*", "I21**", "I2***", "I****", "*")),
        (Mask("right", length=5), "I21*", ("I21*", "I21**", "I2***", "I****", "*")),
        (Mask("right", length=5), "I21.0", ("I21.0", "I21.*", "I21**", "I2***", "I****", "*")),
        (Mask("left", length=3), "*21", ("*21", "**1", "*")),
        (Mask("right", length=3), "4350", None),
        (Mask("right", length=3), "435*", None),
        (Mask("right", length=3), "***", None),
        (Mask("right", length=3), "", ("", "", "", "*")),
        (Dates(["day", "week"]), "1970-W11", ("1970-W11", "*")),
        (Dates(["week"]), "1970-W11", ("1970-W11", "1970-W11", "*")),
        (Dates(["week"]), "1970-W54", None),
        (Dates(["week"]), "2021-W53", None),
        (Dates(["month", "year"]), "1980-05", ("1980-05", "1980", "*")),
        (Dates(["month", "year"]), "1980-13", None),
        (Dates(["month", "year"]), "1980-Q2", None),
        (Dates(["month"]), "1980-W20", ("1980-W20", "1980-05", "*")),
        (Dates(["day", "quarter"]), "1980-05-17", ("1980-05-17", "1980-05-17", "1980-Q2", "*")),
        (Dates(["day", "quarter"]), "1980-05-17 10:30", ("1980-05-17 10:30", "1980-05-17", "1980-Q2", "*")),
        (Dates(["day", "quarter"]), "1980-02-30", None),
        (Dates(["quarter", "decade"]), "1980-Q2", ("1980-Q2", "1980s", "*")),
        (Dates(["quarter"]), "1980-Q5", None),
        (Dates(["year", "century"]), "1980", ("1980", "1900-1999", "*")),
        (Dates(["year", "century"]), "0000", None),
        (Dates(["decade", "century"]), "0000s", ("0000s", "0000-0099", "*")),
        (Dates(["decade", "century"]), "1985s", None),
        (Dates(["decade", "century"]), "1900-1999", ("1900-1999", "*")),
        (Dates(["decade", "century"]), "1980-1989", None),
        (Dates(["year"], format="%d.%m.%Y"), "17.05.1980", ("17.05.1980", "1980", "*")),
        (Dates(["year"], format="%d.%m.%Y"), "1980", ("1980", "*")),
        (Dates(["year"], format="%d.%m.%Y"), "1980-05-17", None),
        (Dates(["year"], format="%y%m%d"), "1987", ("1987", "*")),
        (Dates(["year"], format="%Y"), "1987", ("1987", "1987", "*")),
        (Suppress(), "", ("", "*")),
        (Ranges(), "5", None),
        (Sets(), "{a, b}", None),
    ],
)
def test_labels(spec: Spec, label: str, found: Line | None) -> None:
    """A label of any level has its path; one that no value could have is not known, and no error."""
    assert path(spec, label) == found


@pytest.mark.parametrize(
    ("spec", "steps"),
    [
        (Intervals([5, 10]), 3),
        (Mask("right"), 1),
        (Mask("left", length=4), 4),
        (Dates(["month", "year"]), 3),
        (Suppress(), 1),
        (Ranges(), 1),
        (Sets(), 1),
    ],
)
def test_null_and_the_root(spec: Spec, steps: int) -> None:
    """NULL stays NULL up to the root, the root is its own path, and nothing has no paths."""
    assert spec.paths([None, "*"], column="x") == [(*[None] * steps, "*"), ("*",)]
    assert spec.paths([], column="x") == []


def test_files(filed: Filed) -> None:
    """Leaves and inner labels are known, also of short lines, whose repeated labels stay."""
    spec = filed("a,A,AA,*\nb,B,*\nc,*")
    assert path(spec, "a") == ("a", "A", "AA", "*")
    assert path(spec, "AA") == ("AA", "*")
    assert path(spec, "B") == ("B", "B", "*")
    assert path(spec, "c") == ("c", "c", "c", "*")
    assert spec.paths(["C", "", "*", None], column="x") == [None, None, ("*",), (None, None, None, "*")]


def test_null_in_files(filed: Filed) -> None:
    """NULL has the path of its line; the inner labels of that line are known, its null texts are not."""
    spec = filed("a,A,*\n?,unknown,*")
    found = spec.paths([None, "unknown", "?"], column="x", nulls=["", "?"])
    assert found == [(None, "unknown", "*"), ("unknown", "*"), None]
    assert path(spec, "?") == ("?", "unknown", "*")
    assert path(filed("a,A,AA,*\n,,unknown,*"), None) == (None, None, "unknown", "*")


def test_one_branch_of_a_file(filed: Filed) -> None:
    """A text on several levels of one branch counts at the lowest."""
    spec = filed("Bremen,Bremen,North,*\nBremerhaven,Bremen,North,*\nYork,Metro,York,*\nAlbany,Upstate,York,*")
    assert path(spec, "Bremen") == ("Bremen", "Bremen", "North", "*")
    assert path(spec, "York") == ("York", "Metro", "York", "*")


def test_two_branches_of_a_file(filed: Filed) -> None:
    """A text that stands in two branches is refused where it is asked for, and nowhere else."""
    spec = filed("a,A,AA,*\nA,A,AA,*\nb,a,BB,*\nx,G,H,*\ny,Y,G,*")
    assert spec.paths(["A", "b", "H", "z"], column="job") == [
        ("A", "A", "AA", "*"),
        ("b", "a", "BB", "*"),
        ("H", "*"),
        None,
    ]
    with pytest.raises(HierarchyError) as caught:
        spec.paths(["b", "G", "a", "G"], column="job")
    assert str(caught.value).startswith("column 'job': stands in two branches of job.csv: 'G', 'a'; give each place")


def test_two_dates() -> None:
    """A text that is a date of the format and, in another branch, the label of a unit is refused."""
    spec = Dates(["day", "month"], format="%Y-%d-%m")
    assert path(spec, "1970-03-15") == ("1970-03-15", "1970-03", "*")
    assert path(spec, "1970-15-03") == ("1970-15-03", "1970-03-15", "1970-03", "*")
    assert path(spec, "1970-03-03") == ("1970-03-03", "1970-03-03", "1970-03", "*")
    with pytest.raises(
        HierarchyError, match=r"column 'x': both a date written as %Y-%d-%m and a unit .*: '1970-03-05'"
    ):
        path(spec, "1970-03-05")


CODED = [
    {},
    {"bottom": -7},
    {"top": 9},
    {"bottom": -3, "top": 13},
    {"domain": [-8, 14]},
    {"domain": [-8, 14], "top": 11},
]


@pytest.mark.slow
@pytest.mark.parametrize("coded", CODED)
@pytest.mark.parametrize("bins", [[1, 4], [5, 10], [2.5, 5]])
def test_bins_by_brute_force(coded: dict[str, int], bins: list[float]) -> None:
    """Of all that looks like a bin just those are known that some whole number lies in."""
    spec = Intervals(bins, integers=True, **coded)  # type: ignore[arg-type] # mypy cannot tell the keys
    low, high = coded.get("domain", [-40, 40])  # type: ignore[misc] # a list under this key
    values = range(-40 if "bottom" in coded else low, (40 if "top" in coded else high) + 1)
    ends = [*range(-16, 20), *(end / 2 for end in range(-31, 39, 2))]
    texts = [str(end) for end in ends] + [f"{end}+" for end in ends] + [f"<{end}" for end in ends]
    texts += [form.format(*pair) for pair in product(ends, ends) for form in ("{}-{}", "[{}, {})", "[{}, {}]")]
    texts += [f"[{end}, inf)" for end in ends]
    right = known(spec, [str(value) for value in values])
    assert spec.paths(texts, column="x") == [right.get(text) for text in texts]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("length", [None, 3, 4])
def test_masks_by_brute_force(side: str, length: int | None) -> None:
    """Of all short texts with stars just those are known that some code is masked to."""
    spec = Mask(side, length=length)
    codes = ["".join(code) for size in range(1, (length or 5) + 1) for code in product("01", repeat=size)]
    texts = ["".join(text) for size in range(1, 6) for text in product("01*", repeat=size)]
    right = known(spec, codes)
    paths = [right.get(text) for text in texts]
    # Without a length, shorter codes are the root long before the longest is.
    shown = [line and tuple(dict.fromkeys(line)) for line in paths]
    assert spec.paths(texts, column="x") == (paths if length else shown)


@pytest.mark.parametrize(
    "units",
    [["day", "month", "quarter", "year", "decade", "century"], ["month", "decade"], ["quarter", "year"], ["century"]],
)
def test_units_by_brute_force(units: list[str]) -> None:
    """Of all that looks like a unit just those are known that some day lies in."""
    spec = Dates(units)
    days = [str(date(1896, 1, 1) + timedelta(days=day)) for day in range(12 * 366)]
    years = range(1897, 1907)
    texts = [form.format(year) for year in years for form in ("{}", "{}s", "{}-Q1", "{}-Q4", "{}-Q0", "{}-W01")]
    texts += [f"{year}-{month:02}" for year in years for month in range(14)]
    texts += [f"{year}-{month:02}-{day:02}" for year in years for month in range(14) for day in range(33)]
    texts += [f"{first}-{last}" for first, last in product(years, [1899, 1909, 1999])]
    right = known(spec, days) | {f"{year}-W01": line for year in years if (line := _monday(spec, year))}
    assert spec.paths(texts, column="x") == [right.get(text) for text in texts]


def _monday(spec: Dates, year: int) -> Line:
    """Where a week is no unit, its label is the ISO date of its Monday."""
    monday = str(date.fromisocalendar(year, 1, 1))
    return (f"{year}-W01", *known(spec, [monday])[monday][1:])


def test_weeks_by_brute_force() -> None:
    """The weeks of a year are those that the calendar has, 52 or 53 of them."""
    spec = Dates(["day", "week"])
    days = [str(date(2018, 1, 1) + timedelta(days=day)) for day in range(5 * 365)]
    texts = [f"{year}-W{week:02}" for year in range(2019, 2022) for week in range(56)]
    right = known(spec, days)
    assert spec.paths(texts, column="x") == [right.get(text) for text in texts]
    assert sum(text in right for text in texts) == 52 + 53 + 52
