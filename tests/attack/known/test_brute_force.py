"""Rows found by known values: figures are those of a loop over targets, rows and sets of columns."""

import csv
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sfumato import anonymize
from sfumato.attack.known import KnownValuesResult, SearchEffort, known
from sfumato.testing.label_definitions import in_range, in_set

Row = Mapping[str, Any]
Fits = Callable[[Row, str, Any], bool]

POOLS: dict[str, Sequence[str]] = {
    "age": ["20", "23", "31", "38", "45", ""],
    "town": ["Bern", "Thun", "Chur", ""],
    "zip": ["4350", "4351", "4400", "9000"],
    "illness": ["flu", "HIV", "cold", ""],
    "drug": ["a", "b"],
    "visits": ["1", "2", "3"],
}
ROLES: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
    "town": {"role": "quasi", "hierarchy": "suppress"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "illness": {"role": "sensitive"},
    "drug": {"role": "sensitive"},
    "visits": {"role": "plain"},
}
FAMILIES = {
    "quasi-identifiers": ("age", "town", "zip"),
    "sensitive columns": ("illness", "drug"),
    "all columns": tuple(POOLS),
}


def _rows(seed: int, many: int) -> list[dict[str, str]]:
    draw = Random(seed)
    return [{name: draw.choice(pool) for name, pool in POOLS.items()} for _ in range(many)]


def _written(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _check(found: KnownValuesResult, targets: Sequence[Row], rows: Sequence[Row], fits: Fits) -> None:
    """Every set of columns, every target, every row."""
    assert {one.label: set(one.columns) for one in found.series} == {k: set(v) for k, v in FAMILIES.items()}
    fitting = {
        name: [{place for place, row in enumerate(rows) if fits(row, name, target[name])} for target in targets]
        for name in POOLS
    }
    for one in found.series:
        assert one.exact
        for point in one.points:
            sets = list(combinations(FAMILIES[one.label], point.known))
            counts = [
                len(set.intersection(*(fitting[name][place] for name in names)))
                for names in sets
                for place in range(len(targets))
            ]
            assert point.sets == len(sets)
            assert point.only == pytest.approx(counts.count(1) / len(counts))
            assert point.none == pytest.approx(counts.count(0) / len(counts))
            chances = [Fraction(1, count) for count in counts if count]
            assert point.chance == pytest.approx(float(sum(chances) / len(counts)))


@pytest.mark.parametrize("seed", range(3))
def test_a_raw_table(seed: int, tmp_path: Path) -> None:
    """Each row is a target that is known by its own values; NULL is a value."""
    rows = _rows(seed, 25)
    policy = _policy("optimal")
    found = known(_written(tmp_path / "raw.csv", rows), policy=policy)
    assert (found.rows, found.targets, found.released) == (25, 25, False)
    assert found.baseline == 1 / 25
    _check(found, rows, rows, lambda row, name, value: row[name] == value)


def _policy(algorithm: str, *, form: str = "generalized", **columns: Any) -> Any:
    from sfumato.policy import load

    privacy = [{"model": "k-anonymity", "k": 3}]
    search = {"name": algorithm, "suppression": 0.1}
    if form == "anatomy":
        privacy, search = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}], {"name": "anatomy"}
    tables = {"columns": ROLES | columns, "privacy": privacy, "algorithm": search, "publish": {"form": form}}
    return load(tables)


def _covers(row: Row, name: str, value: str) -> bool:
    """Whether a published cell may stand for a value, by plain reading."""
    label = row[name]
    if name == "zip":
        return label == "*" or all(sign in {"*", other} for sign, other in zip(label, value, strict=True))
    if name == "age" and value:
        return label == "*" or in_range(label, value)
    return label in {value, "*"} or (name == "town" and in_set(label, value or None))


@pytest.mark.parametrize(
    ("algorithm", "columns"),
    [
        ("optimal", {}),
        ("top-down", {}),
        ("mondrian", {"age": {"role": "quasi", "hierarchy": {"ranges": True, "domain": [0, 99]}}}),
        ("mondrian", {"town": {"role": "quasi", "hierarchy": "sets"}}),
    ],
)
def test_a_release(algorithm: str, columns: dict[str, Any], tmp_path: Path) -> None:
    """Targets are original rows with true values, and a published row fits where its labels cover what is known."""
    rows = _rows(7, 40)
    original, policy = _written(tmp_path / "raw.csv", rows), _policy(algorithm, **columns)
    folder = anonymize(original, policy).save(tmp_path / "release")
    with (folder / "public" / "table.csv").open(newline="") as file:
        published = list(csv.DictReader(file))
    found = known(folder, original)
    assert (found.rows, found.targets, found.released) == (len(published), 40, True)
    _check(found, rows, published, _covers)
    _check(known(folder / "public" / "table.csv", original), rows, published, _covers)


def test_a_file_of_others_with_a_policy(tmp_path: Path) -> None:
    """A table that somebody published is read by the hierarchies of a policy."""
    rows = _rows(8, 40)
    original, policy = _written(tmp_path / "raw.csv", rows), _policy("top-down")
    folder = anonymize(original, policy).save(tmp_path / "release")
    others = (folder / "public" / "table.csv").rename(tmp_path / "others.csv")
    with others.open(newline="") as file:
        _check(known(others, original, policy=policy), rows, list(csv.DictReader(file)), _covers)


def test_two_tables(tmp_path: Path) -> None:
    """A row is a line of the first table, and a sensitive value fits all lines of a class that has it."""
    rows = _rows(9, 40)
    original, policy = _written(tmp_path / "raw.csv", rows), _policy("anatomy", form="anatomy")
    folder = anonymize(original, policy).save(tmp_path / "release")
    with (folder / "public" / "nss.csv").open(newline="") as first, (folder / "public" / "ss.csv").open() as second:
        lines, bags = list(csv.DictReader(first)), list(csv.DictReader(second))

    def fits(row: Row, name: str, value: str) -> bool:
        if name in row:
            return bool(row[name] == value)
        return any(bag[name] == value for bag in bags if bag["class_id"] == row["class_id"])

    found = known(folder, original)
    assert any("two tables" in note for note in found.notes)
    _check(found, rows, lines, fits)


def test_sampled_orders_come_close_to_all_sets(tmp_path: Path) -> None:
    """Where sets of columns are drawn, figures are close to those of all sets, and the same with the same seed."""
    rows = _rows(10, 200)
    raw, policy = _written(tmp_path / "raw.csv", rows), _policy("optimal")
    every, some = known(raw, policy=policy), known(raw, policy=policy, effort=SearchEffort(sets=0, orders=200))
    assert [one.exact for one in some.series] == [False, False, False]
    for left, right in zip(every.series, some.series, strict=True):
        for one, other in zip(left.points, right.points, strict=True):
            assert other.chance == pytest.approx(one.chance, abs=0.05)
            assert other.only == pytest.approx(one.only, abs=0.05)
    assert known(raw, policy=policy, effort=SearchEffort(sets=0, orders=5)) == known(
        raw, policy=policy, effort=SearchEffort(sets=0, orders=5)
    )


def test_some_targets(tmp_path: Path) -> None:
    """So many rows are looked for as asked for, drawn by the seed."""
    raw, policy = _written(tmp_path / "raw.csv", _rows(11, 100)), _policy("optimal")
    found = [known(raw, policy=policy, effort=SearchEffort(targets=10, seed=seed)) for seed in (1, 1, 2)]
    assert found[0].targets == 10
    assert found[0] == found[1]
    assert found[0].series != found[2].series


def test_a_limit_to_what_is_known(tmp_path: Path) -> None:
    """With --known 2 nothing is said of three values, and the rest is as it was."""
    raw, policy = _written(tmp_path / "raw.csv", _rows(12, 50)), _policy("optimal")
    every, two = known(raw, policy=policy), known(raw, policy=policy, most=2)
    assert [one.points[:2] for one in every.series] == [one.points for one in two.series]
