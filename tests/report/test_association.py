"""Association of columns against counts row by row and pair by pair."""

from collections import Counter, defaultdict
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.release import Release, prepare
from sfumato.report import association as room
from sfumato.report.association import cramers_v, measure_association
from sfumato.report.before_after import ColumnComparison, compare_columns

from .conftest import report

Pages = Callable[[str], Any]
Pairs = dict[tuple[int, int], float]

AGES = {"intervals": [10, 20], "domain": [0, 99]}


def _release(algorithm: dict[str, Any], rows: int = 90, **publish: Any) -> Release:
    draw = np.random.default_rng(7)
    age = draw.integers(20, 60, rows)
    table = {
        "age": [str(one) for one in age],
        "town": [["Bern", "Thun", "Genf"][int(one) % 3] for one in age + draw.integers(0, 2, rows)],
        "illness": [["flu", "HIV", "gout", "cold"][int(one) // 10 % 4] for one in age],
        "job": draw.choice(["cook", "poet", "spy"], rows).tolist(),
    }
    columns = {
        "age": {"role": "quasi", "hierarchy": AGES},
        "town": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
        "job": {"role": "sensitive" if publish else "plain"},
    }
    privacy = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}, {"model": "k-anonymity", "k": 3}]
    return prepare(
        pa.table(table), {"columns": columns, "privacy": privacy, "algorithm": algorithm, "publish": publish}
    )


def _v(pairs: Pairs) -> float | None:
    """Cramér's V with Bergsma's correction, from the formula."""
    rows: dict[int, float] = defaultdict(float)
    columns: dict[int, float] = defaultdict(float)
    for (a, b), weight in pairs.items():
        rows[a] += weight
        columns[b] += weight
    total, r, c = sum(rows.values()), len(rows), len(columns)
    if min(r, c) < 2:
        return None
    chi = sum(
        (pairs.get((a, b), 0.0) - rows[a] * columns[b] / total) ** 2 / (rows[a] * columns[b] / total)
        for a in rows
        for b in columns
    )
    phi = max(0.0, chi / total - (r - 1) * (c - 1) / (total - 1))
    tall, wide = r - (r - 1) ** 2 / (total - 1), c - (c - 1) ** 2 / (total - 1)
    return min(1.0, sqrt(phi / min(tall - 1, wide - 1)))


def _told(one: ColumnComparison, row: int) -> dict[int, float]:
    """The bins that a published row may be in, each with its chance."""
    shares = one.spread[int(one.after[row])]
    return {place: float(share) for place, share in enumerate(shares) if share}


def _expected(release: Release, a: ColumnComparison, b: ColumnComparison, *, apart: bool) -> Pairs:
    """Row by row; or, between two tables, every line of a class with every line of it, each pair counting equally."""
    found: Pairs = defaultdict(float)
    owner = release.recoding.class_of.tolist()
    classes = defaultdict(list)
    for row, number in enumerate(owner):
        if number >= 0:
            classes[number].append(row)
    for members in classes.values():
        pairs = [(x, y) for x in members for y in members] if apart else [(x, x) for x in members]
        for x, y in pairs:
            for i, p in _told(a, x).items():
                for j, q in _told(b, y).items():
                    found[i, j] += p * q / (len(members) if apart else 1)
    return found


FORMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "full domain": ({"name": "optimal", "suppression": 0.1}, {}),
    "local": ({"name": "mondrian"}, {}),
    "two tables": ({"name": "mondrian"}, {"form": "lossy-join"}),
    "three tables": ({"name": "mondrian"}, {"form": "lossy-join", "ss": "apart"}),
}


@pytest.mark.parametrize("dense", [1 << 14, 1])
@pytest.mark.parametrize("form", FORMS)
def test_pairs_equal_a_count_by_hand(monkeypatch: pytest.MonkeyPatch, form: str, dense: int) -> None:
    """Every pair, before and after, and the mean change; however many labels there are."""
    monkeypatch.setattr(room, "_DENSE", dense)
    algorithm, publish = FORMS[form]
    release = _release(algorithm, **publish)
    columns = compare_columns(release.publication)
    found = measure_association(release.publication, columns)
    table = {name: file for file, one in release.tables.items() for name in one.columns}
    changes = []
    for x, a in enumerate(columns):
        for y, b in enumerate(columns):
            if x == y:
                assert found.before[x][y] is None
                continue
            before = _v(Counter(zip(a.before.tolist(), b.before.tolist(), strict=True)))  # type: ignore[arg-type]
            after = _v(_expected(release, a, b, apart=table[a.name] != table[b.name]))
            assert found.before[x][y] == pytest.approx(before)
            assert found.after[x][y] == pytest.approx(after)
            changes += [] if before is None or after is None else [abs(after - before)]
    assert found.change == pytest.approx(sum(changes) / len(changes))
    assert not found.sampled


def test_a_column_of_stars_goes_with_nothing() -> None:
    """Where a column is generalized fully, nothing is left of what it had to do with others."""
    rows = {"age": [str(20 + one % 40) for one in range(200)], "illness": [str(one % 40 // 20) for one in range(200)]}
    columns = {"age": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}}
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 200}], "algorithm": {"name": "optimal"}}
    release = prepare(pa.table(rows), policy)
    found = measure_association(release.publication, compare_columns(release.publication))
    assert found.before[0][1] == pytest.approx(1.0, abs=0.02)
    assert found.after[0][1] == 0.0


def test_no_table_to_speak_of() -> None:
    """A side with one value has no association, and chance alone gives none."""
    assert cramers_v(np.array([[3.0, 4.0]])) is None
    assert cramers_v(np.zeros((2, 2))) is None
    assert cramers_v(np.array([[10.0, 10.0], [10.0, 11.0]])) == 0.0


@pytest.mark.parametrize("form", ["local", "two tables"])
def test_of_many_rows_some_are_looked_at(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """A sample of rows gives nearly the same, between two tables too."""
    algorithm, publish = FORMS[form]
    release = _release(algorithm, rows=6000, **publish)
    columns = compare_columns(release.publication)
    whole = measure_association(release.publication, columns)
    monkeypatch.setattr(room, "ROWS", 3000)
    some = measure_association(release.publication, columns)
    assert some.sampled
    for old, new in zip(whole.after, some.after, strict=True):
        for one, other in zip(old, new, strict=True):
            assert one is None or other == pytest.approx(one, abs=0.1)


def test_the_page_tells_the_change(page: Pages) -> None:
    """Two squares with figures, the mean change and the pair that changed most."""
    release = _release({"name": "mondrian"})
    text = page(report(release)).text
    found = release.figures.association
    assert found is not None
    assert found.change is not None
    assert f"On average a pair changed by {found.change:.3f}" in text
    assert "age 1 1 town 2 2 illness 3 3 job 4 4" in text


def test_one_column_has_no_pair(page: Pages) -> None:
    """A table of one column is said to have no pair."""
    policy = {
        "columns": {"q": {"role": "quasi", "hierarchy": "suppress"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    text = page(report(prepare(pa.table({"q": ["a", "a", "b", "b"]}), policy))).text
    assert "One column is published, so that there is no pair of columns to look at." in text
