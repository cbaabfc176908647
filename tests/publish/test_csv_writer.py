"""Written CSV: no cell that a spreadsheet would run, and every cell comes back by the documented rule."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.core.arrow import arrow_texts
from sfumato.policy import load
from sfumato.publish import csv_writer
from sfumato.publish.csv_writer import csv_cells as written
from sfumato.publish.csv_writer import write_csv
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable
from sfumato.release import prepare
from sfumato.table import Table, read_table
from sfumato.verifier.duckdb_tables import open_file
from sfumato.verifier.sql import remove_guard

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]
Read = Callable[[Path], list[dict[str, str]]]

RISKY = tuple("=+-@\t\r\0")
TEXT_TYPES = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]


def _back(path: Path, policy: Any) -> dict[str, list[str | None]]:
    """A published CSV read again, with the apostrophes of the formula rule taken away."""
    found = read_table(path, load(policy)).arrow.to_pydict()
    return {name: [None if cell is None else remove_guard(cell) for cell in column] for name, column in found.items()}


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
@pytest.mark.parametrize("start", RISKY, ids=repr)
def test_nothing_that_a_spreadsheet_would_run(kind: Any, start: str) -> None:
    """A text that starts like a formula gets an apostrophe, in every type that text comes in."""
    (cell,) = written(pa.array([start + "cmd"]).cast(kind)).to_pylist()
    assert cell.lstrip('"').startswith("'" + start)


@pytest.mark.parametrize("number", ["-1", "-1.5", "-.5", "-5.", "-1e-7", "-12E+3"])
def test_true_negative_numbers_are_left_alone(number: str) -> None:
    """A negative number is a number, in a column of text too; anything more behind it makes it text."""
    assert written(pa.array([number, number + " x", number + "\n"])).to_pylist() == [
        number,
        f"'{number} x",
        f'"\'{number}\n"',
    ]
    assert written(pa.array([-1.5, float("-inf")])).to_pylist() == ["-1.5", "-inf"]


def test_every_column_and_the_header_are_guarded(rules: Rules, saves: Saves, cells: Read) -> None:
    """The rule holds for headers, quasi-identifiers, sensitive and plain columns alike, in a verified release."""
    names = ["=q", "-s", "@p"]
    table = pa.table({name: ["=1+1", "=1+1"] for name in names})
    folder = saves(table, rules(dict(zip(names, ["quasi", "sensitive", "plain"], strict=True))))
    assert cells(folder / "public" / "table.csv") == [{f"'{name}": "'=1+1" for name in names}] * 2


def test_null_empty_and_suppressed_are_three_things(rules: Rules, saves: Saves) -> None:
    """NULL, the empty text and a star survive the way out and back, beside a column that is all stars."""
    values = [None, "", "*"] * 2
    table = pa.table({"q": values, "r": ["1", "2", "3", "4", "5", "6"], "s": values, "p": values})
    policy = rules({"q": "quasi", "r": "quasi", "s": "sensitive", "p": "plain"})
    found = _back(saves(table, policy) / "public" / "table.csv", policy)
    assert set(found["r"]) == {"*"}
    for name in "qsp":
        assert sorted(found[name], key=str) == sorted(values, key=str)
    assert found["q"] == found["s"] == found["p"]


def test_null_is_written_as_the_policy_reads_it(rules: Rules, saves: Saves) -> None:
    """Where the policy calls a question mark missing, NULL is written so, and the text of it is quoted."""
    policy = rules({"q": "quasi", "p": "plain"}, data={"null": ["?"]})
    folder = saves(pa.table({"q": [None, None], "p": ["?", ""]}), policy)
    assert sorted((folder / "public" / "table.csv").read_text().splitlines()) == ["?,", '?,"?"', "q,p"]
    assert sorted(map(str, _back(folder / "public" / "table.csv", policy)["p"])) == ["", "?"]


def test_a_column_alone_with_null(rules: Rules, saves: Saves) -> None:
    """A table of one column keeps the rows that are NULL."""
    policy = rules({"q": "quasi"})
    found = _back(saves(pa.table({"q": [None, None, "a", "a"]}), policy) / "public" / "table.csv", policy)
    assert sorted(found["q"], key=str) == [None, None, "a", "a"]


TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("'=+-@\t\r\n\0\", 1"), max_size=6)


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.none() | TEXTS, st.none() | TEXTS), min_size=1, max_size=12), st.sampled_from(TEXT_TYPES))
def test_what_is_written_comes_back(
    tmp_path: Path, rules: Rules, rows: list[tuple[str | None, str | None]], kind: Any
) -> None:
    """Any texts, read again by the verifier's reader and by ours, are the texts that were there."""
    plain, sensitive = zip(*rows, strict=True)
    table = pa.table({"q": ["x"] * len(rows), "s": pa.array(sensitive, pa.string()), "p": pa.array(plain).cast(kind)})
    policy = rules({"q": "quasi", "s": "sensitive", "p": "plain"}, k=1)
    write_csv([prepare(table, policy).tables["table"]], tmp_path / "t.csv")
    opened = open_file(tmp_path / "t.csv").connection.execute("SELECT c2, c1 FROM published").fetchall()
    seen = [tuple(None if cell is None else remove_guard(cell) for cell in row) for row in opened]
    assert sorted(seen, key=str) == sorted(rows, key=str)
    if b"\0" not in (tmp_path / "t.csv").read_bytes():  # our own reader takes a small file with NUL for a binary one
        found = _back(tmp_path / "t.csv", policy)
        assert sorted(zip(found["p"], found["s"], strict=True), key=str) == sorted(rows, key=str)


@settings(max_examples=300)
@given(TEXTS)
def test_the_rule_is_reversible(text: str) -> None:
    """Guarding and taking the guard away are inverse, and a guarded text starts no formula."""
    (cell,) = written(pa.array([text]), null="\0never").to_pylist()
    inner = cell[1:-1].replace('""', '"') if cell.startswith('"') else cell
    assert remove_guard(inner) == text
    assert inner == text or inner == "'" + text
    if text.startswith(RISKY) and inner == text:
        assert float(text) <= 0


@pytest.mark.parametrize(("most", "size", "pieces"), [(1 << 14, 1 << 22, 1), (9, 1 << 22, 1), (9, 100, 2), (9, 9, 4)])
def test_columns_are_combined_by_what_rows_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, size: int, pieces: int
) -> None:
    """All combinations, those that rows have, or none where their texts are long: the lines are the same."""
    monkeypatch.setattr(csv_writer, "_COMBINED", most)
    monkeypatch.setattr(csv_writer, "_COMBINED_BYTES", size)
    draw = np.random.default_rng(1)
    first = draw.integers(0, 5, 400)
    codes = [first, (first + draw.integers(0, 2, 400)) % 5, 4 - first, draw.integers(0, 2, 400)]
    texts = arrow_texts(["a", None, "b,c", "=1", 'say "x"'])
    columns = {f"c{i}": PublishedColumn(code.astype(np.uint8), texts) for i, code in enumerate(codes)}
    table = PublishedTable(Table(pa.table({})), np.arange(400), columns, {}, frozenset())
    assert len(csv_writer._combine_columns(csv_writer._pieces(table, ""))) == pieces
    write_csv([table], tmp_path / "t.csv")
    cells = written(texts).to_pylist()
    lines = [",".join(cells[code[row]] for code in codes) for row in range(400)]
    assert (tmp_path / "t.csv").read_text() == "\n".join(["c0,c1,c2,c3", *lines]) + "\n"


@pytest.mark.slow
def test_large_tables_are_written_in_batches(rules: Rules, saves: Saves, tmp_path: Path) -> None:
    """Rows beyond one batch are all there, each with the cells that belong together."""
    rows = 150_000
    table = pa.table(
        {
            "q": ["a", "b"] * (rows // 2),
            "p": [f"{i:x}" for i in range(rows)],
            "s": [str(i % 7) for i in range(rows)],
        }
    )
    policy = rules({"q": "quasi", "p": "plain", "s": "sensitive"})
    found = _back(saves(table, policy) / "public" / "table.csv", policy)
    assert all(
        (q, s) == ("ab"[int(p or "", 16) % 2], str(int(p or "", 16) % 7))
        for q, p, s in zip(found["q"], found["p"], found["s"], strict=True)
    )
    assert sorted(map(str, found["p"])) == sorted(table["p"].to_pylist())
