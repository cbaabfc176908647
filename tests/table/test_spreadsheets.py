"""Workbooks: cells as people see them, sheets by name, and a sentence for everything that is no plain table."""

# ruff: noqa: DTZ001 - these cells are of no zone

import datetime as dt
import io
import json
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
import xlwt

from sfumato.core.memory import VARIABLE
from sfumato.errors import DataError, InputError
from sfumato.policy import load
from sfumato.table import read_table

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]
Rows = Sequence[Sequence[Any]]

PEOPLE: Rows = [
    ["age", "town", "born", "share", "ill"],
    [20, "Bern", dt.date(1990, 1, 31), 0.5, True],
    [21.0, None, dt.date(1991, 2, 1), 1, False],
    [None, "007", None, None, None],
]
FOUND = {
    "age": [20, 21, None],
    "town": ["Bern", None, "007"],
    "born": [dt.date(1990, 1, 31), dt.date(1991, 2, 1), None],
    "share": [0.5, 1.0, None],
    "ill": [True, False, None],
}


def write_xlsx(path: Path, sheets: dict[str, Rows], *, merge: str | None = None) -> None:
    """Write a workbook by openpyxl."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        if merge:
            sheet.merge_cells(merge)
    book.save(path)


def write_xls(path: Path, rows: Rows) -> None:
    """Write a workbook of the old format by xlwt."""
    book = xlwt.Workbook()
    sheet, day = book.add_sheet("People"), xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if isinstance(cell, dt.date):
                sheet.write(i, j, cell, day)
            elif cell is not None:
                sheet.write(i, j, cell)
    book.save(str(path))


def write_ods(path: Path, rows: Rows) -> None:
    """Write a sheet of LibreOffice by hand: a zip archive with one XML file that matters."""

    def cell(value: Any) -> str:
        if value is None:
            return "<table:table-cell/>"
        kind, attribute = "string", ""
        if isinstance(value, bool):
            kind, attribute = "boolean", f' office:boolean-value="{str(value).lower()}"'
        elif isinstance(value, int | float):
            kind, attribute = "float", f' office:value="{value}"'
        elif isinstance(value, dt.date):
            kind, attribute = "date", f' office:date-value="{value.isoformat()}"'
        return f'<table:table-cell office:value-type="{kind}"{attribute}><text:p>{value}</text:p></table:table-cell>'

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    names = "urn:oasis:names:tc:opendocument:xmlns:"
    spaces = "".join(f' xmlns:{name}="{names}{name}:1.0"' for name in ("office", "table", "text"))
    sheet = f'<table:table table:name="People">{lines}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        manifest = f'<manifest:manifest xmlns:manifest="{names}manifest:1.0"/>'
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr(
            "content.xml", f'<?xml version="1.0"?><office:document-content{spaces}>{body}</office:document-content>'
        )


WRITERS: dict[str, Callable[[Path, Rows], None]] = {
    "xlsx": lambda path, rows: write_xlsx(path, {"People": rows}),
    "xls": write_xls,
    "ods": write_ods,
}


def _read(path: Path, rules: Rules, columns: str, **data: Any) -> Any:
    first, *others = columns.split(",")
    return read_table(path, load(rules({first: "quasi"} | dict.fromkeys(others, "plain"), data=data)))


@pytest.mark.parametrize("kind", WRITERS)
def test_cells_are_what_people_see(tmp_path: Path, rules: Rules, kind: str) -> None:
    """Whole numbers are whole, whoever stored them as 20.0; dates are dates, and empty cells missing."""
    WRITERS[kind](tmp_path / f"t.{kind}", PEOPLE)
    table = _read(tmp_path / f"t.{kind}", rules, "age,town,born,share,ill")
    assert table.arrow.to_pydict() == FOUND
    assert (table.type_of("age"), table.type_of("born")) == (pa.int64(), pa.date32())


@pytest.mark.parametrize("kind", WRITERS)
def test_from_init_to_a_release(tmp_path: Path, runs: Runs, kind: str) -> None:
    """A workbook goes through init and anonymize, and 20 stays 20."""
    rows: Rows = [["age", "town", "visits"], *([20 + n % 3, ("Bern", "Thun")[n % 2], 7] for n in range(48))]
    WRITERS[kind](tmp_path / f"t.{kind}", rows)
    assert runs("init", f"t.{kind}").code == 0
    made = runs("anonymize", "policy.toml", "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["rows"] == 48
    assert ".0" not in (tmp_path / "release/public/table.csv").read_text()


def test_sheets_by_name(tmp_path: Path, rules: Rules, runs: Runs) -> None:
    """The first sheet is read unless another is named; one that is not there is refused with those that are."""
    path = tmp_path / "t.xlsx"
    write_xlsx(path, {"One": [["a"], [1], [2]], "Two": [["a"], [3], [3]]})
    assert _read(path, rules, "a").arrow.to_pydict() == {"a": [1, 2]}
    assert _read(path, rules, "a", sheet="Two").arrow.to_pydict() == {"a": [3, 3]}
    with pytest.raises(DataError, match="has no sheet 'Three'; it has 'One', 'Two'"):
        _read(path, rules, "a", sheet="Three")
    with pytest.raises(DataError, match="did you mean Two"):
        _read(path, rules, "a", sheet="Twoo")
    assert runs("init", "t.xlsx", "--sheet", "Two").code == 0
    assert 'sheet = "Two"' in (tmp_path / "policy.toml").read_text()
    assert runs("anonymize", "policy.toml").code == 0


def test_mixed_cells_are_text(tmp_path: Path, rules: Rules) -> None:
    """A column of several kinds is text, each cell as it reads; null says which texts are missing."""
    rows: Rows = [["a", "b"], [20, 20], ["refused", "NA"], [dt.datetime(2020, 1, 31), 3], [True, "NA"]]
    write_xlsx(tmp_path / "t.xlsx", {"S": rows})
    table = _read(tmp_path / "t.xlsx", rules, "a,b", null=["", "NA"])
    assert table.arrow.to_pydict() == {"a": ["20", "refused", "2020-01-31", "true"], "b": [20, None, 3, None]}


def test_dates_and_times(tmp_path: Path, rules: Rules) -> None:
    """A column of dates stays one, and one with a time of day anywhere is of times."""
    rows: Rows = [
        ["a", "b"],
        [dt.date(2020, 1, 31), dt.datetime(2020, 1, 31, 8, 5)],
        [dt.date(2020, 2, 1), dt.date(2020, 2, 1)],
    ]
    write_xlsx(tmp_path / "t.xlsx", {"S": rows})
    found = _read(tmp_path / "t.xlsx", rules, "a,b").arrow
    assert found.column("a").to_pylist() == [dt.date(2020, 1, 31), dt.date(2020, 2, 1)]
    assert found.column("b").to_pylist() == [dt.datetime(2020, 1, 31, 8, 5), dt.datetime(2020, 2, 1)]


def test_empty_rows_and_columns(tmp_path: Path, rules: Rules) -> None:
    """A table may begin anywhere on the sheet; empty rows and columns around it and in it are no part of it."""
    rows: Rows = [[], [], [None, "a", None, "b"], [None, 1, None, 2], [], [None, 3, None, 4], []]
    write_xlsx(tmp_path / "t.xlsx", {"S": rows})
    assert _read(tmp_path / "t.xlsx", rules, "a,b").arrow.to_pydict() == {"a": [1, 3], "b": [2, 4]}


def test_a_forgotten_header_cell(tmp_path: Path, rules: Rules) -> None:
    """A column without a name is called by its place, with a warning."""
    write_xlsx(tmp_path / "t.xlsx", {"S": [["a", None, "c"], [1, 2, 3]]})
    table = _read(tmp_path / "t.xlsx", rules, "a,column 2,c")
    assert table.arrow.to_pydict() == {"a": [1], "column 2": [2], "c": [3]}
    assert "'column 2'" in table.warnings[0]


REFUSED: dict[str, tuple[Rows, str | None, str]] = {
    "empty sheet": ([], None, "sheet 'S' of t.xlsx is empty; name another"),
    "header alone": ([["a", "b"]], None, "the table has no rows"),
    "merged header": ([["Person", None, "c"], ["a", "b", "c"], [1, 2, 3]], "A1:B1", "has merged cells"),
    "title": (
        [["Visits of 2020"], ["a", "b"], [1, 2]],
        None,
        "has one cell, as a title has, and the rows below have 2",
    ),
    "merged title": ([["Visits of 2020"], ["a", "b"], [1, 2]], "A1:B1", "has merged cells"),
    "name twice": ([["a", "a"], [1, 2]], None, "column names stand twice"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_plain_table(tmp_path: Path, rules: Rules, case: str) -> None:
    """What cannot be read as one table with one header is refused, and nothing is guessed."""
    rows, merge, words = REFUSED[case]
    write_xlsx(tmp_path / "t.xlsx", {"S": rows}, merge=merge)
    with pytest.raises(DataError, match=words):
        _read(tmp_path / "t.xlsx", rules, "a,b")


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("damage", ["cut", "junk", "zeros"])
def test_damaged_workbooks(tmp_path: Path, rules: Rules, kind: str, damage: str) -> None:
    """A damaged workbook is one sentence, whatever its reader makes of it."""
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](path, PEOPLE)
    content = path.read_bytes()
    changed = {"cut": content[: len(content) // 2], "junk": b"junk" * 50, "zeros": bytes(len(content))}[damage]
    path.write_bytes(changed)
    with pytest.raises(DataError, match=rf"t\.{kind} cannot be read as a workbook: it is damaged"):
        _read(path, rules, "age,town,born,share,ill")


def test_a_huge_workbook_is_refused_unread(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workbook that says that it unpacks to more than may be used is not unpacked."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(20_000_000))
    (tmp_path / "t.xlsx").write_bytes(stream.getvalue())
    monkeypatch.setenv(VARIABLE, "4MB")
    with pytest.raises(DataError, match=r"t.xlsx, unpacked, takes at least 20.0 MB"):
        _read(tmp_path / "t.xlsx", rules, "a")


def test_two_cells_far_apart(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small workbook whose cells span a huge sheet ends in a sentence, and takes no memory that it may not."""
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", 1
    book.save(tmp_path / "t.xlsx")
    monkeypatch.setenv(VARIABLE, "100MB")
    with pytest.raises(DataError, match="takes more memory than may be used"):
        _read(tmp_path / "t.xlsx", rules, "a")


def test_without_the_library(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch, runs: Runs) -> None:
    """Where the package is missing, the sentence says how to install it."""
    write_xlsx(tmp_path / "t.xlsx", {"S": PEOPLE})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(InputError, match=r"python-calamine .* pip install 'sfumato\[excel\]'"):
        _read(tmp_path / "t.xlsx", rules, "age,town,born,share,ill")
    assert "pip install 'sfumato[excel]'" in runs("init", "t.xlsx").sentence


def test_a_sheet_of_something_else(tmp_path: Path, rules: Rules) -> None:
    """A sheet is of a workbook: for a CSV it is refused, and so is a query for a workbook."""
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"sheet is of a workbook, and t.csv is CSV; leave it out"):
        _read(tmp_path / "t.csv", rules, "a", sheet="S")
    write_xlsx(tmp_path / "t.xlsx", {"S": [["a"], [1]]})
    with pytest.raises(DataError, match=r"query is of a database, and t.xlsx is a workbook"):
        _read(tmp_path / "t.xlsx", rules, "a", query="select 1")
