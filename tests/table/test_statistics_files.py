"""Files of SPSS, Stata and SAS: labels are the values, missing is missing, and damage is one sentence."""

# ruff: noqa: DTZ001 - these cells are of no zone

import datetime as dt
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from sfumato.errors import DataError, InputError
from sfumato.policy import load
from sfumato.table import column_names, read_table

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "age": [20.0, 30.0, 99.0, 41.0],
        "town": ["Bern", "", "Köniz", "Thun"],
        "share": [0.5, 1.0, 2.0, 4.0],
        "visits": [1.0, 2.0, 7.0, 8.0],
    }
)
LABELS = {"sex": {1: "Male", 2: "Female", 9: "Refused"}, "age": {99: "Refused"}, "visits": {7: "seven or more"}}


def _write_sav(path: Path) -> None:
    missing = {"sex": [9], "age": [{"lo": 90, "hi": 99}]}
    pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS, missing_ranges=missing)


def _write_zsav(path: Path) -> None:
    missing = {"sex": [9], "age": [{"lo": 90, "hi": 99}]}
    pyreadstat.write_sav(FRAME, path, compress=True, variable_value_labels=LABELS, missing_ranges=missing)


def _write_dta(path: Path) -> None:
    frame = FRAME.astype({"sex": object, "age": object})
    frame.loc[2, "sex"] = frame.loc[2, "age"] = "a"  # .a, a missing value that a user declared
    labels = {"sex": {1: "Male", 2: "Female", "a": "Refused"}, "visits": LABELS["visits"]}
    pyreadstat.write_dta(frame, path, variable_value_labels=labels, missing_user_values={"sex": ["a"], "age": ["a"]})


WRITERS: dict[str, Callable[[Path], None]] = {"sav": _write_sav, "zsav": _write_zsav, "dta": _write_dta}
FOUND = {
    "sex": ["Male", "Female", None, None],
    "age": [20, 30, None, 41],
    "town": ["Bern", None, "Köniz", "Thun"],
    "share": [0.5, 1.0, 2.0, 4.0],
    "visits": ["1", "2", "seven or more", "8"],
}


def _read(path: Path, rules: Rules, columns: str = "sex,age,town,share,visits", **data: Any) -> Any:
    first, *others = columns.split(",")
    return read_table(path, load(rules({first: "quasi"} | dict.fromkeys(others, "plain"), data=data)))


@pytest.mark.parametrize("kind", WRITERS)
def test_labels_and_missing_values(tmp_path: Path, rules: Rules, kind: str) -> None:
    """Labels stand for codes, a code without one is its number, declared missing values are NULL, 20.0 is 20."""
    WRITERS[kind](tmp_path / f"t.{kind}")
    table = _read(tmp_path / f"t.{kind}", rules)
    assert table.arrow.to_pydict() == FOUND
    assert table.type_of("age") == pa.int64()


def test_sas_transport(tmp_path: Path, rules: Rules) -> None:
    """A transport file has no labels; numbers and texts are what they are."""
    pyreadstat.write_xport(FRAME, tmp_path / "t.xpt")
    names = column_names(tmp_path / "t.xpt", load(rules({"sex": "quasi"})).source)
    assert [name.lower() for name in names] == list(FRAME)
    assert _read(tmp_path / "t.xpt", rules, ",".join(names)).arrow.to_pydict() == {
        names[0]: [1, 2, 9, None],
        names[1]: [20, 30, 99, 41],
        names[2]: FOUND["town"],
        names[3]: FOUND["share"],
        names[4]: [1, 2, 7, 8],
    }


def test_dates(tmp_path: Path, rules: Rules) -> None:
    """Dates and times come as such."""
    frame = pd.DataFrame({"day": [dt.date(2020, 1, 31)] * 2, "time": [dt.datetime(2020, 1, 31, 8, 5)] * 2})
    pyreadstat.write_sav(frame, tmp_path / "t.sav")
    found = _read(tmp_path / "t.sav", rules, "day,time").arrow
    assert (found.schema.field("day").type, found.column("time")[0].as_py()) == (
        pa.date32(),
        dt.datetime(2020, 1, 31, 8, 5),
    )


def test_identifiers_are_not_read(tmp_path: Path, rules: Rules) -> None:
    """A column of role identifier is not asked for."""
    _write_sav(tmp_path / "t.sav")
    roles = {"sex": "quasi", "age": "plain", "town": "identifier", "share": "plain", "visits": "plain"}
    assert "town" not in read_table(tmp_path / "t.sav", load(rules(roles))).arrow.column_names


@pytest.mark.parametrize("kind", WRITERS)
def test_from_init_to_a_release(tmp_path: Path, runs: Runs, kind: str) -> None:
    """A file goes through init and anonymize as it is, and labels are what is published."""
    frame = pd.DataFrame({"sex": [1.0 + n % 2 for n in range(60)], "age": [20.0 + n % 3 for n in range(60)]})
    write = pyreadstat.write_dta if kind == "dta" else pyreadstat.write_sav
    write(frame, tmp_path / f"t.{kind}", variable_value_labels={"sex": {1: "Male", 2: "Female"}})
    assert runs("init", f"t.{kind}").code == 0
    assert runs("anonymize", "policy.toml").code == 0
    published = (tmp_path / "release/public/table.csv").read_text()
    assert "Female" in published
    assert ".0" not in published


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta", "xpt", "sas7bdat"])
@pytest.mark.parametrize("damage", ["cut", "junk", "zeros"])
def test_damaged_files(tmp_path: Path, rules: Rules, kind: str, damage: str) -> None:
    """A damaged file is one sentence with its format."""
    path = tmp_path / f"t.{kind}"
    if kind in WRITERS:
        WRITERS[kind](path)
    elif kind == "xpt":
        pyreadstat.write_xport(FRAME, path)
    else:
        path.write_bytes(bytes(range(256)) * 8)
    content = path.read_bytes()
    path.write_bytes({"cut": content[: len(content) // 3], "junk": b"junk" * 99, "zeros": bytes(2000)}[damage])
    with pytest.raises(DataError, match=rf"t\.{kind} cannot be read as .*: it is damaged"):
        _read(path, rules)


def test_without_the_library(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is missing, the sentence says how to install it."""
    _write_sav(tmp_path / "t.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"t.sav is a file of SPSS, .* pip install 'sfumato\[stats\]'"):
        _read(tmp_path / "t.sav", rules)


def test_no_rows(tmp_path: Path, rules: Rules) -> None:
    """A file without rows is no table to publish."""
    pyreadstat.write_sav(FRAME.iloc[:0], tmp_path / "t.sav")
    with pytest.raises(DataError, match="no rows"):
        _read(tmp_path / "t.sav", rules)


class SasLibrary:
    """Stands for pyreadstat, which reads files of SAS and writes none: one column of two codes, and its catalog."""

    @staticmethod
    def read_sas7bdat(_: str, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        cells = {} if options.get("metadataonly") else {"sex": [1.0, 2.0, 3.0]}
        account = SimpleNamespace(column_names=["sex"], number_rows=3, variable_to_label={"sex": "SEX"})
        return cells, account

    @staticmethod
    def read_sas7bcat(path: str, **_: Any) -> tuple[dict[str, list[Any]], Any]:
        labels = {"SEX": {1.0: "Male", 2.0: "Female"}} if Path(path).read_bytes() == b"catalog" else {}
        return {}, SimpleNamespace(value_labels=labels)


@pytest.mark.parametrize("name", ["t.sas7bcat", "formats.sas7bcat", None])
def test_a_catalog_beside_a_file_of_sas(
    tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    """The labels of a catalog beside the file are the values; without one the codes are."""
    monkeypatch.setitem(sys.modules, "pyreadstat", SasLibrary)
    (tmp_path / "t.sas7bdat").write_bytes(b"table")
    if name:
        (tmp_path / name).write_bytes(b"catalog")
    found = _read(tmp_path / "t.sas7bdat", rules, "sex").arrow.column("sex").to_pylist()
    assert found == (["Male", "Female", "3"] if name else [1, 2, 3])
