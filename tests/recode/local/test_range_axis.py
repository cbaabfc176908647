"""Ranges as they are published: cut points that no single record decides, boxes, means, NULLs, and what they cost."""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import anonymize
from sfumato.encode import encode
from sfumato.hierarchy.intervals import read_range
from sfumato.policy import load
from sfumato.recode.local.local_recoding import apply_partition
from sfumato.recode.local.mondrian import mondrian, mondrian_relaxed
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.range_axis import NumericColumn, RangeAxis, interval_starts, roundest
from sfumato.recode.local.settle import settle
from sfumato.recode.local.start import pose_problem
from sfumato.table import from_frame

Values = list[str | None]

BOTH = [mondrian, mondrian_relaxed]


def problem_of(columns: dict[str, Values], *, k: int = 2, ranges: str = "partition", **keys: Any) -> Problem:
    """The problem of a table of columns of ranges, all declared alike."""
    role = {"role": "quasi", "hierarchy": {"ranges": True, **keys}}
    document = {
        "columns": dict.fromkeys(columns, role),
        "privacy": [{"model": "k-anonymity", "k": k}],
        "algorithm": {"name": "mondrian"},
        "publish": {"ranges": ranges},
    }
    policy = load(document)
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    return pose_problem(encode(from_frame(table, policy), policy), policy)


def axis_of(values: Values, **keys: Any) -> RangeAxis:
    """The axis of one column."""
    ranges, k = keys.pop("ranges", "partition"), keys.pop("k", 2)
    role = {"role": "quasi", "hierarchy": {"ranges": True, **keys}}
    policy = load({"columns": {"x": role}, "privacy": [{"model": "k-anonymity", "k": k}]})
    table = pa.table({"x": pa.array(values, pa.string())})
    return RangeAxis(encode(from_frame(table, policy), policy).quasi[0], 1.0, form=ranges, least=k)


def hull(axis: RangeAxis, *values: str | None) -> Any:
    """The hull of some values of the column."""
    leaves = [axis.attribute.hierarchy.labels[0].index(value) for value in values]
    return np.maximum.reduce(axis.single[leaves], axis=0)[None]


def label(axis: RangeAxis, *values: str | None) -> str | None:
    """The label of some values of the column."""
    return axis.label_hulls(hull(axis, *values)).texts[0]


def labels(problem: Problem, algorithm: Any = mondrian) -> dict[str, Values]:
    """What is published of each row, in the table's order."""
    recoding = apply_partition(problem, settle(problem, algorithm(problem)), "mondrian")
    return {name: [shown.texts[code] for code in shown.codes] for name, shown in recoding.labels.items()}


AGES: Values = [str(age) for age in (17, *range(20, 30), *range(20, 30), *range(40, 60, 5), 88)]


def test_labels_of_a_partition() -> None:
    """Inner ends are cut points, the outermost are open or the declared domain; numbers of many rows stand alone."""
    axis = axis_of(AGES, integers=True)
    assert label(axis, "20") == "<21"
    assert label(axis, "21") == "21"
    assert label(axis, "21", "24") == "21-24"
    assert label(axis, "50", "88") == "50+"
    assert label(axis, "17", "88") == "*"
    assert label(axis_of(AGES), "21", "24") == "[21, 25)"
    declared = axis_of(AGES, domain=[0, 120])
    assert (label(declared, "17"), label(declared, "88")) == ("0-20", "50-120")
    assert label(axis_of(AGES, domain=[0, 120.5]), "88") == "[50, 120.5]"


def test_labels_of_boxes() -> None:
    """A box runs from the smallest to the largest number of the class, both included, and says no more."""
    assert label(axis_of(AGES, ranges="boxes", integers=True), "17", "24") == "17-24"
    assert label(axis_of(AGES, ranges="boxes"), "17", "88") == "[17, 88]"
    assert label(axis_of(["-1.50", "2"], ranges="boxes"), "-1.50") == "-1.5"
    assert label(axis_of(["-1", "2"], ranges="boxes", integers=True), "-1", "2") == "[-1, 3)"


def test_labels_of_nulls() -> None:
    """NULLs alone are NULL, and NULLs with numbers are anything; a column of NULLs works."""
    for ranges in ("partition", "boxes"):
        axis = axis_of([*AGES, None], ranges=ranges)
        assert label(axis, None) is None
        assert label(axis, None, "21") == "*"
        assert axis.losses(hull(axis, None)).tolist() == [0.0]
        assert axis.losses(hull(axis, None, "21")).tolist() == [1.0]
        assert label(axis_of([None, None], ranges=ranges), None) is None


def test_losses() -> None:
    """A range costs its share of the domain: nothing for one number, all for anything."""
    axis = axis_of(AGES, domain=[0, 100])
    assert axis.losses(hull(axis, "21")).tolist() == [0.0]
    assert axis.losses(hull(axis, "21", "26")).tolist() == [pytest.approx(0.05)]
    assert axis.losses(hull(axis, "17")).tolist() == [pytest.approx(0.2)]
    assert axis.losses(hull(axis, "17", "88")).tolist() == [1.0]
    boxes = axis_of(AGES, ranges="boxes")
    assert boxes.losses(hull(boxes, "17", "88")).tolist() == [1.0]
    assert boxes.losses(hull(boxes, "17", "20")).tolist() == [pytest.approx(3 / 71)]


numbers = st.integers(-30, 60)


@settings(deadline=None, max_examples=60)  # a machine may be busy
@given(st.lists(st.none() | numbers, min_size=1, max_size=40), st.integers(1, 5), st.data())
def test_labels_cover_and_nest(values: list[int | None], k: int, data: st.DataObject) -> None:
    """A label covers all members, costs more the wider it is, and tells different hulls apart."""
    texts = [None if value is None else str(value) for value in values]
    keys: Any = data.draw(st.sampled_from([{}, {"integers": True}, {"domain": [-30, 60]}, {"domain": [-40, 60.5]}]))
    ranges = data.draw(st.sampled_from(["partition", "boxes"]))
    axis = axis_of(texts, k=k, ranges=ranges, **keys)
    members = data.draw(st.lists(st.sampled_from(texts), min_size=1))
    shown = label(axis, *members)
    if shown is None:
        assert set(members) == {None}
    elif shown != "*":
        assert all(member is not None and read_range(shown).covers(Fraction(member)) for member in members)
    more = [*members, data.draw(st.sampled_from(texts))]
    assert axis.losses(hull(axis, *members))[0] <= axis.losses(hull(axis, *more))[0] + 1e-12
    assert (label(axis, *more) == shown) == (
        (hull(axis, *more) == hull(axis, *members)).all() or shown == label(axis, *more) == "*"
    )
    assert 0 <= axis.losses(hull(axis, *more))[0] <= 1


@pytest.mark.parametrize("algorithm", BOTH)
@settings(deadline=None, max_examples=60)  # a machine may be busy
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40), st.integers(1, 4), st.booleans(), st.data())
def test_one_extreme_record(
    algorithm: Any, rows: list[tuple[int, int]], k: int, declared: bool, data: st.DataObject
) -> None:
    """Moving the lowest or the highest record further out changes no label; which of equal rows has it may change."""
    k = min(k, len(rows))
    keys: Any = {"domain": [-1000, 1000], "integers": data.draw(st.booleans())} if declared else {}
    side = data.draw(st.sampled_from([min, max]))
    place = [one for one, _ in rows].index(side(one for one, _ in rows))
    far = data.draw(st.integers(0, 900)) * (1 if side is max else -1)
    moved = [(one + far if i == place else one, other) for i, (one, other) in enumerate(rows)]
    before, after = (
        labels(problem_of({"x": [str(x) for x, _ in table], "y": [str(y) for _, y in table]}, k=k, **keys), algorithm)
        for table in (rows, moved)
    )
    assert algorithm is mondrian_relaxed or before == after
    assert Counter(zip(*before.values(), strict=True)) == Counter(zip(*after.values(), strict=True))


@settings(deadline=None, max_examples=60)  # a machine may be busy
@given(st.lists(numbers, min_size=1, max_size=60), st.integers(2, 6))
def test_elementary_intervals_are_of_some_size(values: list[int], least: int) -> None:
    """Every elementary interval has enough rows, unless it is the only one; frequent inner numbers stand alone."""
    counts = Counter(values)
    column = NumericColumn(sorted(counts), [counts[n] for n in sorted(counts)])
    spans, owner = column.partition(least)
    rows = np.bincount(owner, weights=column.rows, minlength=len(spans))
    assert len(spans) == 1 or rows.min() >= least
    for number, place in zip(column.numbers, owner, strict=True):
        assert spans[place].low <= number < spans[place].high
        assert spans[place].value in {None, number}
    assert all(one.high == other.low for one, other in pairwise(spans))
    assert (spans[0].low, spans[-1].high) == (-math.inf, math.inf)


@settings(deadline=None, max_examples=60)  # a machine may be busy
@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_round_cut_points(above: int, gap: int) -> None:
    """A cut point lies in its gap, and no number that ends in more zeros does."""
    found = roundest(above, above + gap)
    assert above < found <= above + gap
    zeros = len(str(found)) - len(str(found).rstrip("0"))
    coarser = (above + gap) // 10 ** (zeros + 1) * 10 ** (zeros + 1)
    assert found == 0 or coarser <= above


@pytest.mark.parametrize(
    ("rows", "starts"),
    [
        ([1, 1, 1, 1, 1], [0, 2]),
        ([5, 5, 5], [0, 1, 2]),
        ([1, 5, 1, 5], [0, 3]),
        ([2, 2, 2], [0, 1]),
        ([1], [0]),
        ([], [0]),
    ],
)
def test_elementary(rows: list[int], starts: list[int]) -> None:
    """What is left over goes to the interval before, or to the next where there is none."""
    assert interval_starts(rows, 3) == starts


@pytest.mark.parametrize("algorithm", BOTH)
@settings(deadline=None, max_examples=60)  # a machine may be busy
@given(st.lists(st.tuples(st.none() | numbers, numbers), min_size=1, max_size=30), st.integers(1, 4))
def test_means(algorithm: Any, rows: list[tuple[int | None, int]], k: int) -> None:
    """A mean is that of its class, to a digit more than the numbers; NULLs alone are NULL, among numbers anything."""
    k = min(k, len(rows))
    columns: dict[str, Values] = {
        "x": [None if x is None else str(x) for x, _ in rows],
        "y": [str(y) for _, y in rows],
    }
    found = labels(problem_of(columns, k=k, ranges="means"), algorithm)
    classes: dict[Any, list[int]] = {}
    for row, shown in enumerate(zip(found["x"], found["y"], strict=True)):
        classes.setdefault(shown, []).append(row)
    for (x, _), members in classes.items():
        values = [rows[row][0] for row in members]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            assert x == ("*" if known else None)
        else:
            assert x is not None
            assert abs(Fraction(x) - Fraction(sum(known), len(known))) <= Fraction(1, 20)


def test_means_of_huge_numbers() -> None:
    """Numbers beyond machine words are averaged exactly."""
    problem = problem_of({"x": [str(10**40), str(10**40 + 1)]}, k=2, ranges="means")
    assert labels(problem)["x"] == [f"{10**40}.5"] * 2


def test_equal_numbers_of_different_texts() -> None:
    """The same number written in two ways is one number."""
    for ranges in ("partition", "boxes", "means"):
        found = labels(problem_of({"x": ["1", "1.0", "2", "2", "3", "3.00"]}, k=2, ranges=ranges))["x"]
        assert found[0] == found[1]
        assert found[4] == found[5]
        assert len(set(found)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_no_class_depends_on_an_extreme_record_after_improvement(seed: int) -> None:
    """Whatever the metric, moving the lowest or the highest record further out publishes the same rows."""
    random = Random(f"extreme {seed}")
    rows = random.randint(8, 50)
    cells = [random.choice([None, *range(8)]) if seed % 3 == 0 else random.randrange(8) for _ in range(rows)]
    numbers = [cell for cell in cells if cell is not None]
    lowest = random.random() < 0.5
    place = cells.index(min(numbers) if lowest else max(numbers))
    further = [*cells]
    further[place] = -1000 if lowest else 10**6
    groups = [random.choice("ab") for _ in range(rows)]
    document = {
        "columns": {
            "x": {"role": "quasi", "hierarchy": {"ranges": True}},
            "g": {"role": "quasi", "hierarchy": random.choice(["sets", "suppress"])},
        },
        "privacy": [{"model": "k-anonymity", "k": random.randint(2, 6)}],
        "algorithm": {
            "name": random.choice(["auto", "mondrian", "mondrian-relaxed"]),
            "metric": random.choice(["ncp", "entropy", "discernibility", "average-class-size"]),
        },
    }

    def published(column: list[int | None]) -> Counter[str]:
        texts = [None if cell is None else str(cell) for cell in column]
        table = pa.table({"x": pa.array(texts, pa.string()), "g": groups})
        return Counter(map(repr, anonymize(table, document).table.to_pylist()))

    assert published(cells) == published(further)
