"""Columns without a name, as pandas and R write the numbers of rows: they get one, their holder is told, and init."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.table import read_table
from sfumato.table.column_header import header_schema, name_columns

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]


def _frame(rows: int = 40) -> pd.DataFrame:
    numbers = range(rows)
    return pd.DataFrame(
        {"sex": [("f", "m")[n % 2] for n in numbers], "town": [("Bern", "Thun")[n % 4 // 2] for n in numbers]}
    )


WRITTEN = {
    "pandas": lambda: _frame().to_csv(),
    "R": lambda: (
        '"","sex","town"\n'
        + "".join(f'"{n + 1}","{row.sex}","{row.town}"\n' for n, row in enumerate(_frame().itertuples()))
    ),
    "pandas with semicolons": lambda: _frame().to_csv(sep=";"),
    "spaces for a name": lambda: _frame().to_csv().replace(",sex", "  ,sex", 1),
    "CRLF": lambda: _frame().to_csv(lineterminator="\r\n"),
    "byte order mark": lambda: "\ufeff" + _frame().to_csv(),
}


@pytest.mark.parametrize("writer", WRITTEN)
def test_an_index_is_read_under_a_name(tmp_path: Path, rules: Rules, writer: str) -> None:
    """What pandas and R write with their defaults is read, the index as column 1, and a warning says so."""
    path = tmp_path / "t.csv"
    path.write_bytes(WRITTEN[writer]().encode())
    table = read_table(path, load(rules({"column 1": "identifier", "sex": "quasi", "town": "plain"})))
    assert table.arrow.to_pydict() == _frame().to_dict("list")
    (warning,) = table.warnings
    assert warning == (
        "the first column of t.csv has no name, as the row numbers that pandas and R write; it is called 'column 1', "
        "and left out"
    )


@pytest.mark.parametrize("writer", WRITTEN)
def test_init_drops_an_index_that_only_counts(tmp_path: Path, runs: Runs, writer: str) -> None:
    """The index is left out by init, which says why; what it wrote runs unedited, and both warn on standard error."""
    (tmp_path / "t.csv").write_bytes(WRITTEN[writer]().encode())
    shown = runs("init", "t.csv", "--json")
    assert shown.code == 0
    found = json.loads(shown.out)
    index = found["columns"][0]
    assert (index["name"], index["role"]) == ("column 1", "identifier")
    assert "only counts the rows" in (tmp_path / "policy.toml").read_text()
    assert len(found["warnings"]) == 1
    assert shown.err.startswith("warning: the first column of t.csv has no name")
    made = runs("anonymize", "policy.toml")
    assert made.code == 0
    assert "warning: the first column of t.csv has no name" in made.err
    assert (tmp_path / "release/public/table.csv").read_text().splitlines()[0] == "sex,town"
    audit = json.loads((tmp_path / "release/private/audit.json").read_text())
    assert any("has no name" in sentence for sentence in audit["warnings"])


def test_other_commands_call_it_the_same(tmp_path: Path, runs: Runs) -> None:
    """risk, utility and attack link read the same table by the same names."""
    (tmp_path / "t.csv").write_text(_frame().to_csv())
    assert runs("init", "t.csv").code == runs("anonymize", "policy.toml").code == 0
    assert runs("risk", "t.csv", "--policy", "policy.toml", "--json").code == 0
    assert runs("risk", "t.csv", "--quasi", "column 1", "--json").code == 0
    assert runs("utility", "release", "--original", "t.csv", "--json").code == 0
    linked = runs("attack", "link", "release", "--known", "t.csv", "--on", "sex,town", "--name", "column 1", "--json")
    assert linked.code == 0, linked.err


def test_an_index_that_names_somebody_is_kept_apart(tmp_path: Path, runs: Runs) -> None:
    """Row names that are no count are not called one."""
    frame = _frame()
    frame.index = [f"Person {n}" for n in range(len(frame))]
    (tmp_path / "t.csv").write_text(frame.to_csv())
    found = json.loads(runs("init", "t.csv", "--json").out)
    assert "only counts" not in (tmp_path / "policy.toml").read_text()
    assert found["columns"][0]["role"] == "identifier"


def test_a_name_that_exists_is_avoided(tmp_path: Path, rules: Rules) -> None:
    """An unnamed column never gets the name of another, and several each get their own."""
    (tmp_path / "t.csv").write_text(",column 1,\n1,2,3\n4,5,6\n")
    table = read_table(
        tmp_path / "t.csv", load(rules({"column 1_": "quasi", "column 1": "plain", "column 3": "plain"}))
    )
    assert table.arrow.to_pydict() == {"column 1_": ["1", "4"], "column 1": ["2", "5"], "column 3": ["3", "6"]}
    assert "are called 'column 1_', 'column 3'" in table.warnings[0]


def test_a_header_over_two_lines(tmp_path: Path, rules: Rules) -> None:
    """The header that is skipped is the first record, also where a name in it has a line break."""
    (tmp_path / "t.csv").write_text(',"a\nb"\n1,x\n2,y\n')
    table = read_table(tmp_path / "t.csv", load(rules({"column 1": "quasi", "a\nb": "plain"})))
    assert table.arrow.to_pydict() == {"column 1": ["1", "2"], "a\nb": ["x", "y"]}


def test_bad_records_keep_their_number(tmp_path: Path, rules: Rules) -> None:
    """With a column unnamed a record of another width is named as before."""
    for header in ("a", ""):
        (tmp_path / "t.csv").write_text(f"{header},b\n1,2\n3,4\n5\n")
        with pytest.raises(DataError, match="record 3 has 1 cells where the header has 2"):
            read_table(tmp_path / "t.csv", load(rules({header or "column 1": "quasi", "b": "plain"})))


def test_a_header_that_r_left_short(tmp_path: Path, rules: Rules) -> None:
    """R's write.table leaves the name of the row names out; nothing is shifted, and the sentence says what to do."""
    (tmp_path / "t.csv").write_text('"sex","town"\n"1","f","Bern"\n"2","m","Thun"\n')
    with pytest.raises(DataError, match=r"record 1 has 3 cells where the header has 2.*col.names = NA"):
        read_table(tmp_path / "t.csv", load(rules({"sex": "quasi", "town": "plain"})))


@pytest.mark.parametrize("text", ["\n1,2\n", ",\n1,2\n", " , \n1,2\n"])
def test_no_name_at_all_is_no_header(tmp_path: Path, rules: Rules, text: str) -> None:
    """A first line without any name names nothing."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match="the first line must name the columns"):
        read_table(tmp_path / "t.csv", load(rules({"a": "quasi"})))


@given(st.lists(st.sampled_from(["", " ", "a", "column 1", "column 2", "column 2_", "b"]), min_size=1, max_size=6))
def test_names_are_kept_and_new_ones_are_new(cells: list[str]) -> None:
    """Names that are there stay, and names that are given stand nowhere else."""
    if not any(cell.strip() for cell in cells):
        return
    names = name_columns(cells)
    assert [name for name, cell in zip(names, cells, strict=True) if cell.strip()] == [c for c in cells if c.strip()]
    given_names = [name for name, cell in zip(names, cells, strict=True) if not cell.strip()]
    assert all(names.count(name) == 1 for name in given_names)
    assert header_schema(cells, pa.string()).names == names


def test_a_named_column_is_no_warning(tmp_path: Path, rules: Rules) -> None:
    """A column that is really called column 1 is like any other."""
    (tmp_path / "t.csv").write_text("column 1,b\n1,2\n")
    assert read_table(tmp_path / "t.csv", load(rules({"column 1": "quasi", "b": "plain"}))).warnings == ()
    assert io.StringIO(_frame().to_csv()).readline() == ",sex,town\n"
