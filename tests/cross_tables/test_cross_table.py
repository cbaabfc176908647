"""Cross-tables as users meet them: the command, its folder, what it says of ugly input, and tampering."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.cross_tables.cell_table import count_cells
from sfumato.cross_tables.primary_cells import DisclosureRules, find_primary_cells
from sfumato.table import Table
from tests.cross_tables.small_tables import random_amounts, rows_of


def _run(capsys: Any, *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stopped:
        main([str(one) for one in arguments])
    printed = capsys.readouterr()
    return int(stopped.value.code or 0), printed.out, printed.err


def _write(path: Path, table: Any) -> Path:
    lines = [",".join(table.column_names)]
    lines += [",".join("" if cell is None else str(cell) for cell in row.values()) for row in table.to_pylist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A published table of firms."""
    found = sf.cross_table(random_amounts(7, 90, 4, 4), ["town"], ["job"], sum="turnover", min_count=4)
    assert found.suppression.suppressed.any()
    return found.save(tmp_path / "out")


def test_the_command_writes_a_folder_that_verifies(tmp_path: Path, capsys: Any) -> None:
    """Public and private part, one JSON object, and a second look by the verifier from the files."""
    data, out = _write(tmp_path / "firms.csv", random_amounts(1, 120, 4, 4)), tmp_path / "out"
    code, printed, _ = _run(
        capsys,
        "audit",
        "table",
        data,
        "--rows",
        "town",
        "--columns",
        "job",
        "--sum",
        "turnover",
        "--out",
        out,
        "--json",
    )
    found = json.loads(printed)
    assert code == 0
    assert found["suppressed"] == found["primary"] + found["secondary"]
    assert {path.name for path in out.rglob("*") if path.is_file()} == {
        "table.csv", "manifest.json", "summary.html", "audit.json", "cells.parquet",
    }  # fmt: skip
    assert (out / "private").stat().st_mode & 0o777 == 0o700
    text = (out / "public" / "table.csv").read_text()
    assert text.startswith("town,job,sum\n")
    assert text.count(",x\n") == found["suppressed"]
    audit = json.loads((out / "private" / "audit.json").read_text())
    for cell in audit["suppressed_cells"]:
        value = float(cell["value"])
        assert cell["low"] <= value * 0.9 + 1e-6 or cell["high"] is None or cell["high"] >= value * 1.1 - 1e-6
    public = (out / "public" / "manifest.json").read_text() + (out / "public" / "summary.html").read_text()
    assert "primary" not in public
    assert _run(capsys, "verify", out)[0] == 0
    code, printed, _ = _run(capsys, "verify", out / "public", "--json")
    assert code == 0
    code, _, error = _run(capsys, "audit", "table", data, "--rows", "town", "--out", out)
    assert code == 2
    assert "exists already" in error
    assert _run(capsys, "audit", "table", data, "--rows", "town", "--out", out, "--force")[0] == 0


def test_without_the_private_part_the_published_intervals_are_checked(saved: Path, tmp_path: Path) -> None:
    """And it is said what was not."""
    (saved / "public").rename(tmp_path / "alone")
    verdict = sf.verify(tmp_path / "alone")
    assert verdict.satisfied
    assert "private part" in verdict.notes[0]


def _change_csv(public: Path, old: str, new: str) -> None:
    import hashlib

    path = public / "table.csv"
    path.write_text(path.read_text().replace(old, new, 1))
    manifest = json.loads((public / "manifest.json").read_text())
    manifest["files"]["table.csv"] = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    (public / "manifest.json").write_text(json.dumps(manifest))


def test_what_was_tampered_with_does_not_pass(saved: Path) -> None:
    """A changed byte; and, with hashes mended, a primary cell put back, a weaker rule, or a value that is not true."""
    public = saved / "public"
    table, manifest = (public / "table.csv").read_text(), (public / "manifest.json").read_text()
    audit = json.loads((saved / "private" / "audit.json").read_text())
    del audit["manifest_sha256"]
    (saved / "private" / "audit.json").write_text(json.dumps(audit))
    assert sf.verify(saved).satisfied
    first = next(cell for cell in audit["suppressed_cells"] if cell["rule"] != "secondary")
    line = ",".join(first["cell"].values())
    published = next(row for row in table.splitlines()[1:] if not row.endswith(",x"))
    for old, new in (
        (f"{line},x", f"{line},{first['value']}"),
        (published, published.rpartition(",")[0] + ",1.0"),
    ):
        _change_csv(public, old, new)
        assert not sf.verify(saved).satisfied
        (public / "table.csv").write_text(table)
        (public / "manifest.json").write_text(manifest)
    _change_csv(public, published, published.rpartition(",")[0] + ",-1.0")
    with pytest.raises(sf.NotVerified, match="neither an amount nor suppressed"):
        sf.verify(saved)
    (public / "table.csv").write_text(table)
    (public / "manifest.json").write_text(manifest)
    stricter = json.loads(manifest)
    stricter["rules"]["min_count"] = 60
    (public / "manifest.json").write_text(json.dumps(stricter))
    assert not sf.verify(saved).satisfied
    (public / "manifest.json").write_text(manifest)
    (public / "extra.txt").write_text("x")
    assert "does not belong" in sf.verify(saved).complaints[0]


def test_a_broken_manifest_is_refused(saved: Path) -> None:
    """In one sentence, whatever key it lacks."""
    path = saved / "public" / "manifest.json"
    whole = json.loads(path.read_text())
    for key in ("rows", "rules", "table", "files", "decimals", "total"):
        path.write_text(json.dumps({name: value for name, value in whole.items() if name != key}))
        with pytest.raises(sf.NotVerified, match=r"manifest\.json"):
            sf.verify(saved)


def test_an_untrue_search_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too little is suppressed the verifier stops it."""
    from sfumato.cross_tables import suppressed_table
    from sfumato.cross_tables.secondary_cells import suppress_cells as real

    def careless(*arguments: Any) -> Any:
        from dataclasses import replace

        found = real(*arguments)
        hidden = found.suppressed.copy()
        hidden[hidden.argmax()] = False
        return replace(found, suppressed=hidden)

    monkeypatch.setattr(suppressed_table, "suppress_cells", careless)
    with pytest.raises(sf.NotVerified, match="nothing was published"):
        sf.cross_table(rows_of([[2, 9], [9, 9]]), ["town"], ["job"])
    assert not list(tmp_path.iterdir())


def test_untrue_evidence_is_found() -> None:
    """The verifier counts contributors and amounts again from the rows, in SQL."""
    from sfumato.cross_tables import suppressed_table

    found = sf.cross_table(random_amounts(2, 80, 3, 3), ["town"], ["job"], sum="turnover", individual="firm")
    found.cells.contributors[0] += 1
    with pytest.raises(sf.NotVerified, match="not what the original rows come to"):
        suppressed_table._verify_in_memory(found)


@pytest.mark.parametrize(
    ("content", "arguments", "sentence"),
    [
        ("a,x\nu,-5\nv,2\n", ["--rows", "a", "--sum", "x"], "holds negative amounts"),
        ("a,x\nu,abc\nv,2\n", ["--rows", "a", "--sum", "x"], "neither a number nor a date"),
        ("a,x\nu,1990-01-01\n", ["--rows", "a", "--sum", "x"], "holds dates, which do not add up"),
        ("a,x\nu,\nv,\n", ["--rows", "a", "--sum", "x"], "has no amount in any row"),
        ("a,a\nu,1\n", ["--rows", "a"], "stand twice"),
        ("", ["--rows", "a"], "is empty"),
        ("a,x\n", ["--rows", "a"], "no rows"),
        ("a,x\nTotal,1\n", ["--rows", "a"], "choose another word with --total"),
        ("a,x\nu,1\n", ["--rows", "b"], "has no column 'b'"),
        ("a,x\nu,1\n", ["--rows", "a", "--columns", "a"], "named twice"),
        ("a,x\nu,1\n", ["--rows", "a", "--sum", "a"], "cannot be added up"),
        ("a,x\nu,1\n", ["--rows", "a", "--sum", "x", "--individual", "x"], "cannot be added up and name contributors"),
        ("a,x\nu,1\n", ["--rows", "a,"], "has an empty name"),
        ("a,x\nu,1\n", ["--rows", "a", "--p", "100"], "a percentage above 0 and below 100"),
        ("a,x\nu,1\n", ["--rows", "a", "--min-count", "0"], "at least 1"),
        ("a,x\nu,1\n", ["--rows", "a", "--dominance", "3"], "write it as --dominance 1,75"),
        ("a,x\nu,1\n", ["--rows", "a", "--dominance", "0,75"], "as 1,75"),
        ("a,x\nu,1\n", ["--rows", "a", "--marginals", "no"], "nested or all"),
        ("a,x\nu,1\n", ["--rows", "a", "--cost", "no"], "value or cells"),
        ("a,x\nu,1\n", ["--rows", "a", "--total", "x"], "the word for totals"),
    ],
)
def test_ugly_input_is_one_sentence(
    tmp_path: Path, capsys: Any, content: str, arguments: list[str], sentence: str
) -> None:
    """Exit code 2, nothing printed, nothing written."""
    path = tmp_path / "ugly.csv"
    path.write_text(content)
    code, printed, error = _run(capsys, "audit", "table", path, *arguments, "--out", tmp_path / "out")
    assert (code, printed) == (2, "")
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert sentence in error
    assert not (tmp_path / "out").exists()


def test_null_is_a_value_and_formulas_are_guarded(tmp_path: Path) -> None:
    """A missing label is a label of its own, apart from empty text, and survives the file."""
    rows = [(town, job) for town in (None, "", "=1+1") for job in ("a", "b") for _ in range(6)]
    data = pa.table({"town": [town for town, _ in rows], "job": [job for _, job in rows]})
    found = sf.cross_table(data, ["town"], ["job"])
    assert found.cells.labels[0] == ("", "=1+1", None)
    text = (found.save(tmp_path / "out") / "public" / "table.csv").read_text()
    assert "\n,a,6\n" in text
    assert '\n"",a,6\n' in text
    assert "\n'=1+1,a,6\n" in text
    assert sf.verify(tmp_path / "out").satisfied


def test_rules_count_persons_and_their_amounts() -> None:
    """Ten rows of two persons are two contributors; the largest of them has what all his rows have."""
    data = pa.table({"a": ["u"] * 10, "who": ["p"] * 9 + ["q"], "x": [1] * 9 + [4]})
    rules = DisclosureRules(min_count=3)
    by_rows = count_cells(Table(data), ["a"], [], measure="x")
    by_persons = count_cells(Table(data), ["a"], [], measure="x", individual="who")
    assert find_primary_cells(by_rows, rules).tolist() == ["", ""]
    assert find_primary_cells(by_persons, rules).tolist() == ["few", "few"]
    assert by_persons.largest[0].tolist() == [9, 4]
    assert find_primary_cells(by_persons, DisclosureRules(1, 10, (1, 60))).tolist() == ["p-percent"] * 2
    assert find_primary_cells(by_rows, DisclosureRules(3, 10, (1, 30))).tolist() == ["dominance"] * 2
    zeros = pa.table({"a": ["u"] * 9 + ["v"] * 9, "x": [0] * 9 + [5] * 9})
    assert find_primary_cells(count_cells(Table(zeros), ["a"], [], measure="x"), rules)[0] == "zero"


def test_sums_are_exact_and_shown_with_their_decimals() -> None:
    """0.1 and 0.2 are 0.3; amounts with more digits than floats have are rounded."""
    data = pa.table({"a": ["u"] * 20, "x": [0.1, 0.2] * 10})
    assert sf.cross_table(data, ["a"], sum="x").value_texts == ["3.0", "3.0"]
    many = pa.table({"a": ["u"] * 20, "x": [1 / 3] * 20})
    cells = count_cells(Table(many), ["a"], [], measure="x")
    assert cells.values[0] < 2**53
    assert cells.values[0] / 10**cells.decimals == pytest.approx(20 / 3)
    assert sf.cross_table(many, ["a"], sum="x").verdict.satisfied
    huge = pa.table({"a": ["u"] * 20, "x": [10**15] * 20})
    with pytest.raises(sf.DataError, match="give them in thousands"):
        sf.cross_table(huge, ["a"], sum="x")


def test_too_many_cells_are_refused() -> None:
    """A cube of columns with many values is no table that somebody reads."""
    data = pa.table({name: [f"{name}{i}" for i in range(100)] for name in "abc"})
    with pytest.raises(sf.DataError, match="leave a column out"):
        sf.cross_table(data, ["a"], ["b", "c"], marginals="all")


def test_frames_come_back_as_they_came_in() -> None:
    """One line for each cell; a suppressed value is missing."""
    import pandas as pd

    found = sf.cross_table(rows_of([[2, 9], [9, 9]]).to_pandas(), ["town"], ["job"])
    assert isinstance(found.frame, pd.DataFrame)
    assert list(found.frame.columns) == ["town", "job", "count"]
    assert int(found.frame["count"].isna().sum()) == int(found.suppression.suppressed.sum())
    assert "<table" in found._repr_html_()
    named = pa.table({"count": ["a"] * 9})
    assert sf.cross_table(named, ["count"]).frame.column_names == ["count", "count_"]


def test_marginals_are_nested_or_all() -> None:
    """Subtotals of outer columns, or of every combination."""
    data = random_amounts(1, 40, 2, 2)
    nested = count_cells(Table(data), ["town", "year"], ["job"])
    every = count_cells(Table(data), ["town", "year"], ["job"], marginals="all")
    assert len(nested) == (2 * 2 + 2 + 1) * 3
    assert len(every) == 27
    labels = [every.label(cell, "Total") for cell in range(27)]
    assert ("Total", "2020", "j0") in labels
    assert ("Total", "2020", "j0") not in [nested.label(cell, "Total") for cell in range(len(nested))]
