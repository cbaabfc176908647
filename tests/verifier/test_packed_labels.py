"""Classes counted by packed labels: the same verdict as by the labels themselves, whatever labels there are."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from sfumato.verifier import packed_labels
from sfumato.verifier.checks import reach_verdict
from sfumato.verifier.counts import OneTableCounts
from sfumato.verifier.duckdb_tables import open_file
from sfumato.verifier.stated_promise import Promise

RULES: tuple[dict[str, Any], ...] = (
    {"model": "k-anonymity", "k": 2},
    {"model": "distinct-l-diversity", "column": "s", "l": 2},
    {"model": "alpha-deassociation", "column": "s", "alpha": 0.5},
)


def _table(draw: random.Random) -> pa.Table:
    """A table of few labels or of many, some of them NULL, some after all others, some of numbers."""
    rows, labels = draw.choice([60, 600]), draw.choice([2, 9, 400])
    columns: dict[str, list[Any]] = {}
    for place in range(draw.choice([1, 3, 9])):
        columns[f"q{place}"] = [draw.choice([None, *(f"v{n}" for n in range(labels))]) for _ in range(rows)]
        if draw.random() < 0.5:
            columns[f"q{place}"][: rows // 2] = ["always"] * (rows // 2)
    if draw.random() < 0.5:
        columns["number"] = [draw.choice([1, 2, None]) for _ in range(rows)]
    columns["s"] = [draw.choice(["flu", "HIV", None]) for _ in range(rows)]
    columns["who"] = [draw.choice("abcdefgh") for _ in range(rows)]
    return pa.table(columns)


def _count(path: Path, names: tuple[str, ...], individual: str | None) -> tuple[bool, list[Any]]:
    """Whether labels were packed, and all that is found."""
    counts = OneTableCounts(open_file(path), Promise(names, ("s",), individual, RULES))
    verdict = reach_verdict(counts)
    tables = {name for (name,) in counts.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    labels = [(sorted(map(str, counts.labels(name))), counts.count_labels(name)) for name in names]
    # of classes that are equally bad, any may be named
    findings = [(one.achieved, one.satisfied, one.failures[3:], len(one.failures)) for one in verdict.privacy]
    return "packed_classes" in tables, [verdict.rows, verdict.classes, findings, labels]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_packed_labels_give_the_verdict_of_the_labels(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With words of many columns or of one, labels that no early row has, NULL, numbers, and rows that name persons."""
    draw, path, packed = random.Random(kind), tmp_path / f"t.{kind}", 0
    monkeypatch.setattr(packed_labels, "_ALONE", 10**6)
    for trial in range(25):
        table = _table(draw)
        (pq.write_table if kind == "parquet" else pc.write_csv)(table, path)
        names = tuple(table.column_names[:-2])
        individual = draw.choice([None, "who"])
        monkeypatch.setattr(packed_labels, "SAMPLED_CELLS", 10**9)
        monkeypatch.setattr(packed_labels, "_LARGEST_WORD", draw.choice([5_000, 1 << 62]))
        plainly, expected = _count(path, names, individual)
        monkeypatch.setattr(packed_labels, "SAMPLED_CELLS", draw.choice([9, 40, 300]))
        was_packed, found = _count(path, names, individual)
        assert not plainly
        assert found == expected, trial
        packed += was_packed
    assert packed > 12
