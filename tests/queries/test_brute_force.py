"""Expected values and standard errors are those of all possible worlds, gone through one by one.

A release is compatible with many tables. Here all of them are made: every way to pair the lines of a class, every value
that a label may stand for. Whatever is asked is asked of each, by a small interpreter that shares nothing with the
library, and mean and covariance are taken.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.queries import OpenRelease, open_release

pytestmark = pytest.mark.slow

Row = Mapping[str, Any]
Rows = Sequence[Row]
Writes = Callable[..., Path]
Truth = bool | None
Test = Callable[[Row], Truth]
Condition = tuple[str, Test]
World = Sequence[Row]

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# conditions ---------------------------------------------------------------------------------------------------------


def _both(one: Truth, other: Truth) -> Truth:
    return False if False in {one, other} else None if None in {one, other} else True


def _not(one: Truth) -> Truth:
    return None if one is None else not one


def _known(test: Callable[[Any], bool], name: str) -> Test:
    return lambda row: None if row[name] is None else test(row[name])


def _present(name: str) -> Test:
    return lambda row: row[name] is not None


def _null(name: str) -> Test:
    return lambda row: row[name] is None


NUMBERS = ("age", "pay", "days")
ATOMS: dict[str, list[Condition]] = {
    name: [
        (f"{name} < 3", _known(lambda value: value < 3, name)),
        (f"{name} between 2 and 3", _known(lambda value: 2 <= value <= 3, name)),
        (f"{name} in (1, 4)", _known(lambda value: value in {1, 4}, name)),
        (f"{name} * 2 - 1 >= 5", _known(lambda value: value * 2 - 1 >= 5, name)),
        (f"{name} is null", _null(name)),
    ]
    for name in NUMBERS
} | {
    name: [
        (f"{name} = 'a'", _known(lambda value: value == "a", name)),
        (f"{name} <> 'b'", _known(lambda value: value != "b", name)),
        (f"{name} like 'a%'", _known(lambda value: value.startswith("a"), name)),
        (f"{name} is not null", _present(name)),
    ]
    for name in ("sex", "ill", "drug")
}


def _tying(one: str, other: str) -> Condition:
    def test(row: Row) -> Truth:
        return None if None in {row[one], row[other]} else row[one] < row[other]

    return f"{one} < {other}", test


def conditions(names: Sequence[str]) -> st.SearchStrategy[Condition]:
    """Conditions over these columns: comparisons, of one column or two, and their combinations."""
    numbers = [name for name in names if name in NUMBERS]
    atoms = [atom for name in names for atom in ATOMS[name]]
    atoms += [_tying(*pair) for pair in itertools.permutations(numbers, 2)]

    def combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        def ands(pair: tuple[Condition, Condition]) -> Condition:
            (a, f), (b, g) = pair
            return f"({a} and {b})", lambda row: _both(f(row), g(row))

        def ors(pair: tuple[Condition, Condition]) -> Condition:
            (a, f), (b, g) = pair
            return f"({a} or {b})", lambda row: _not(_both(_not(f(row)), _not(g(row))))

        def nots(one: Condition) -> Condition:
            return f"not ({one[0]})", lambda row: _not(one[1](row))

        pairs = st.tuples(inner, inner)
        return st.one_of(pairs.map(ands), pairs.map(ands), pairs.map(ors), inner.map(nots))

    return st.recursive(st.sampled_from(atoms), combined, max_leaves=5)


# the interpreter ----------------------------------------------------------------------------------------------------

Figure = tuple[str, Callable[[Row], float]]


def _one(name: str) -> Callable[[Row], float]:
    return lambda row: float(row[name] is not None)


def _times(*names: str) -> Callable[[Row], float]:
    return lambda row: math.prod(float(row[name] or 0) for name in names)


def figures(names: Sequence[str]) -> list[tuple[str, list[Figure]]]:
    """What can be asked for, as SQL, with the numbers of a row that are summed for it."""
    found: list[tuple[str, list[Figure]]] = [("count(*)", [("n", lambda _: 1.0)])]
    for name in names:
        known: Figure = (f"n {name}", _one(name))
        found.append((f"count({name})", [known]))
        if name in NUMBERS:
            value: Figure = (name, _times(name))
            found += [(f"sum({name})", [value]), (f"avg({name})", [value, known])]
    numbers = [name for name in names if name in NUMBERS]
    for one, other in itertools.combinations(numbers, 2):
        found.append((f"sum({one} * {other})", [(f"{one} {other}", _times(one, other))]))
    return found


def moments(worlds: Sequence[Sequence[World]], amounts: Sequence[Callable[[Row], float]]) -> tuple[Any, Any]:
    """Mean and covariance of sums over independent pieces, each of which is one of some worlds, equally likely."""
    mean, spread = np.zeros(len(amounts)), np.zeros((len(amounts), len(amounts)))
    for each in worlds:
        sums = np.array([[sum(amount(row) for row in world) for amount in amounts] for world in each], dtype=float)
        mean += sums.mean(axis=0)
        centered = sums - sums.mean(axis=0)
        spread += centered.T @ centered / len(sums)
    return mean, spread


def check(
    release: OpenRelease, worlds: Sequence[Sequence[World]], condition: Condition | None, asked: Any, by: list[str]
) -> None:
    """Ask the release and go through all worlds; they must agree in every group and figure."""
    text = f"select {', '.join([*by, *(sql for sql, _ in asked)])}"
    text += f" where {condition[0]}" if condition else ""
    text += f" group by {', '.join(by)}" if by else ""
    test: Test = condition[1] if condition else (lambda _: True)
    met = [[[row for row in world if test(row) is True] for world in each] for each in worlds]
    groups = {tuple(row[name] for name in by) for each in met for world in each for row in world}
    found = {tuple(answer.group.values()): answer.values for answer in release.query(text)}
    assert set(found) == (groups if by else {()}), text
    for group in found:
        mine = [[[r for r in world if tuple(r[name] for name in by) == group] for world in each] for each in met]
        for sql, parts in asked:
            mean, spread = moments(mine, [amount for _, amount in parts])
            agree(found[group][_named(sql)], mean, spread, text)


def _named(sql: str) -> str:
    return f"sum(({sql[4:]})" if " * " in sql else sql


def agree(value: Any, mean: Any, spread: Any, text: str) -> None:
    """A figure is the one of all worlds: a sum, or a ratio with the delta method's error."""
    if len(mean) == 1:
        expected, variance = mean[0], spread[0][0]
    elif mean[1] == 0:
        assert value.estimate is None, text
        return
    else:
        expected = mean[0] / mean[1]
        gradient = np.array([1 / mean[1], -expected / mean[1]])
        variance = gradient @ spread @ gradient
    assert value.estimate == pytest.approx(expected, abs=1e-9), text
    assert value.spread**2 == pytest.approx(variance, abs=1e-9), text
    assert math.isfinite(value.standard_error)
    assert value.standard_error >= value.spread - 1e-9


# several tables -----------------------------------------------------------------------------------------------------

number = st.sampled_from([1, 2, 3, 4, None])
letter = st.sampled_from(["a", "b", "ab", None])
SIDES = {
    "nss.csv": {"age": number, "sex": letter},
    "ss.csv": {"ill": letter, "pay": number},
    "ss-2.csv": {"days": number, "drug": letter},
}


@st.composite
def tables(draw: st.DrawFn, sides: int, largest: int) -> dict[str, list[dict[str, Any]]]:
    """Some classes of a few lines, in so many tables."""
    sizes = draw(st.lists(st.integers(1, largest), min_size=1, max_size=3))
    found: dict[str, list[dict[str, Any]]] = {}
    for file, columns in list(SIDES.items())[:sides]:
        lines = [
            {"class_id": number, **{name: draw(kind) for name, kind in columns.items()}}
            for number, size in enumerate(sizes, 1)
            for _ in range(size)
        ]
        found[file] = draw(st.permutations(lines))
    return found


def pairings(release: Mapping[str, Rows]) -> Sequence[Sequence[World]]:
    """For each class, all tables that its lines may have come from."""
    first, *others = release.values()
    found = []
    for number in sorted({line["class_id"] for line in first}):
        own, *rest = [[line for line in lines if line["class_id"] == number] for lines in (first, *others)]
        found.append(
            [
                [{k: v for line in lines for k, v in line.items()} for lines in zip(own, *orders, strict=True)]
                for orders in itertools.product(*(itertools.permutations(lines) for lines in rest))
            ]
        )
    return found


def asked_at_random(data: st.DataObject, opened: Any, worlds: Sequence[Sequence[World]], names: list[str]) -> None:
    """Three queries of any figures, conditions and groups over these columns, each held against all worlds."""
    for _ in range(3):
        condition = data.draw(st.none() | conditions(names))
        asked = data.draw(st.lists(st.sampled_from(figures(names)), min_size=1, max_size=3, unique_by=lambda x: x[0]))
        by = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
        check(opened, worlds, condition, asked, by)


@QUICK
@given(data=st.data())
def test_two_tables(data: st.DataObject, writes: Writes) -> None:
    """Counts, sums and averages over all pairings, for any condition on either table or on both, in any groups."""
    release = data.draw(tables(2, 4))
    with open_release(writes(release)) as opened:
        asked_at_random(data, opened, pairings(release), ["age", "sex", "ill", "pay"])


@settings(QUICK, max_examples=25)
@given(data=st.data())
def test_sensitive_columns_apart(data: st.DataObject, writes: Writes) -> None:
    """The same with three tables, which are paired independently of each other."""
    release = data.draw(tables(3, 3))
    with open_release(writes(release)) as opened:
        asked_at_random(data, opened, pairings(release), ["age", "sex", "ill", "pay", "days", "drug"])


# one table of labels ------------------------------------------------------------------------------------------------

LABELS: dict[str, dict[str | None, list[Any]]] = {
    "age": {"1": [1], "2": [2], "1-2": [1, 2], "2-4": [2, 3, 4], "*": [1, 2, 3, 4], None: [None]},
    "days": {"<3": [1, 2], "3+": [3, 4], "[2, 4)": [2, 3], "4": [4], None: [None]},
    "sex": {"a": ["a"], "as": ["a", "ab"], "*": ["a", "ab", "b", None], None: [None]},
    "drug": {"{a, b}": ["a", "b"], "{b, NULL}": ["b", None], "ab": ["ab"], "*": ["a", "b", None, "ab"]},
    "ill": {"a": ["a"], "b": ["b"], None: [None]},
    "pay": {"1": [1], "3": [3], "4": [4], None: [None]},
}
ENTRIES = {
    "age": {"integers": True, "domain": [1, 4]},
    "days": {"integers": True, "domain": [1, 4]},
    "sex": {"covers": {"as": ["a", "ab"], "*": ["a", "ab", "b", None]}},
    "drug": {"form": "sets"},
    "ill": {"role": "sensitive"},
    "pay": {"role": "plain"},
}


@settings(QUICK, max_examples=25)
@given(data=st.data())
def test_generalized(data: st.DataObject, writes: Writes) -> None:
    """Counts, sums and averages over all values that cells may have held, for any condition, in any groups."""
    names = list(LABELS)
    rows = data.draw(
        st.lists(
            st.fixed_dictionaries({name: st.sampled_from(list(LABELS[name])) for name in names}), min_size=1, max_size=4
        )
    )
    # a star of a set stands for what other sets of the column name, so that they have to be there
    rows += [dict.fromkeys(names, None) | {"drug": label} for label in ("{a, b}", "{b, NULL}", "ab")]
    # a star of numbers goes no farther than other labels, where more rows have these
    ages = [row["age"] for row in rows if row["age"] not in {None, "*"}]
    shown = [value for label in ages for value in LABELS["age"][label]]
    few = sum(row["age"] == "*" for row in rows) < len(ages)
    narrow = [age for age in LABELS["age"]["*"] if not few or min(shown) <= age <= max(shown)]
    covers = LABELS | {"age": LABELS["age"] | {"*": narrow}}
    worlds = [
        [[dict(zip(names, values, strict=True))] for values in itertools.product(*(covers[n][row[n]] for n in names))]
        for row in rows
    ]
    with open_release(writes({"table.csv": rows}, form="generalized", entries=ENTRIES)) as opened:
        for _ in range(3):
            condition = data.draw(st.none() | conditions(names))
            asked = data.draw(
                st.lists(st.sampled_from(figures(names)), min_size=1, max_size=3, unique_by=lambda x: x[0])
            )
            by = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
            check(opened, worlds, condition, asked, by)
