"""Counting the lines of a CSV: where rows are many times alike, the verdict is that of reading cell by cell."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.arrow import arrow_texts
from sfumato.errors import NotVerified
from sfumato.publish.csv_writer import write_csv
from sfumato.publish.published_table import PublishedTable
from sfumato.table import Table
from sfumato.verifier import duckdb_tables
from sfumato.verifier.checks import reach_verdict
from sfumato.verifier.counts import OneTableCounts
from sfumato.verifier.duckdb_tables import open_files
from sfumato.verifier.stated_promise import Promise

RULES: tuple[dict[str, Any], ...] = (
    {"model": "k-anonymity", "k": 2},
    {"model": "distinct-l-diversity", "column": "s", "l": 2},
)


@pytest.fixture(autouse=True)
def _few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few lines show what lines are like."""
    monkeypatch.setattr(duckdb_tables, "_SAMPLED_LINES", 20)
    monkeypatch.setattr(duckdb_tables, "_ALIKE", 0)


def _count(files: list[Path], null: str, individual: str | None) -> tuple[bool, list[Any]]:
    """Whether lines were counted, and all that is found."""
    (view,) = open_files({"published": files}, null=null)
    counts = OneTableCounts(view, Promise(("q", "r"), ("s",), individual, RULES))
    verdict = reach_verdict(counts)
    tables = {name for (name,) in view.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    findings = [(one.achieved, one.satisfied, len(one.failures)) for one in verdict.privacy]
    classes = "SELECT c0, c1, c.n, v, sum(p.r) FROM classes c JOIN pairs_0 p USING (id) GROUP BY ALL ORDER BY ALL"
    people = view.connection.execute("SELECT sum(persons), max(persons) FROM persons").fetchall()
    found = [verdict.rows, verdict.classes, findings, people, view.connection.execute(classes).fetchall()]
    return "counted_rows" in tables, found


def test_counted_lines_give_the_verdict_of_the_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NULL, empty text, guarded texts and marks that need quotes, in one file or two, packed by gzip or not."""
    draw, counted = random.Random(5), 0
    plain = [None, "a", "b c", "NA", "=1", "-5", "20-29", "é", "a;b", "x\ty"]
    for trial in range(40):
        quoted = ["", "a,b", 'say "a"', "two\nlines", "a\rb", " a"]
        texts = [*draw.sample(plain, 4), *draw.sample(quoted, trial % 2)]
        ending, null = draw.choice([".csv", ".csv.gz"]), draw.choice(["", "NA"])
        names, files = ["q", "r", "s", "who"], [tmp_path / f"{trial}-{part}{ending}" for part in range(trial % 3 or 1)]
        for file in files:
            columns = {name: arrow_texts([draw.choice(texts) for _ in range(200)]) for name in names}
            table = PublishedTable(Table(pa.table(columns)), np.arange(200), columns, {}, frozenset())
            write_csv([table], file, null=null)
        individual = draw.choice([None, "who"])
        were_counted, found = _count(files, null, individual)
        with monkeypatch.context() as patch:
            patch.setattr(duckdb_tables, "_SAMPLED_LINES", 10**9)
            assert _count(files, null, individual) == (False, found), trial
        counted += were_counted
    assert 10 < counted < 40


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (b"a,b\n", "has not as many cells as the header"),
        (b"a,b,c,d,e\n", "has not as many cells as the header"),
        (b'"a,b,c,d\n', "has a quote that is not closed"),
        (b"a,b,c,\xff\n", "is not UTF-8"),
    ],
)
def test_a_line_that_is_no_record_is_told_by_its_number(spoil: bytes, words: str, tmp_path: Path) -> None:
    """One late in the file, after many that are alike, as it is where cells are read."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"q,r,s,who\n" + b"a,b,c,d\n" * 100 + spoil + b"a,b,c,d\n" * 3)
    with pytest.raises(NotVerified, match=words):
        _count([path], "", None)
