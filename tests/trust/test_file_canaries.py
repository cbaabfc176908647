"""Identifiers of every kind of file (TRUST 7): planted values appear in no byte that is written or printed."""

import gzip
import io
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import parquet as pq

Runs = Callable[..., Any]

CANARY = "CANARY"
FRAME = pd.DataFrame(
    {
        "ssn": [f"{CANARY}{n}" for n in range(40)],
        "age": [30 + n % 4 for n in range(40)],
        "illness": [("flu", "HIV", "cold")[n % 3] for n in range(40)],
    }
)
POLICY = """[data]
source = "{file}"
[columns]
ssn = {{ role = "identifier" }}
age = {{ role = "quasi", hierarchy = {{ intervals = [5, 10] }} }}
illness = {{ role = "sensitive" }}
[[privacy]]
model = "k-anonymity"
k = {k}
[publish]
format = "csv.gz"
to = {{ url = "sqlite:///open.db", table = "people{k}" }}
"""


def _xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (list(FRAME), *FRAME.itertuples(index=False)):
        book.active.append(list(row))
    book.save(path)


def _sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        FRAME.to_sql("people", connection, index=False)


def _duckdb(path: Path) -> None:
    with closing(duckdb.connect(str(path))) as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")


def _zip(path: Path) -> None:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(FRAME, preserve_index=False), stream)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("people.parquet", stream.getvalue())


WRITERS: dict[str, Callable[[Path], Any]] = {
    "t.xlsx": _xlsx,
    "t.sav": lambda path: pyreadstat.write_sav(FRAME, path),
    "t.dta": lambda path: pyreadstat.write_dta(FRAME, path),
    "t.sqlite": _sqlite,
    "t.duckdb": _duckdb,
    "t.zip": _zip,
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode())),
}


@pytest.mark.slow
@pytest.mark.parametrize("file", WRITERS)
def test_trust_07_of_files(tmp_path: Path, runs: Runs, file: str) -> None:
    """No identifier is in the release, in its database or in what is printed, whether it succeeds or fails."""
    WRITERS[file](tmp_path / file)
    outcomes = []
    for k in (5, 41):
        (tmp_path / "policy.toml").write_text(POLICY.format(file=file, k=k))
        outcomes.append(runs("anonymize", "policy.toml", "--out", f"release{k}"))
    assert [one.code for one in outcomes] == [0, 1]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != file]
    assert {"open.db", "table.csv.gz", "audit.json", "report.html"} <= {path.name for path in written}
    contents = {path: path.read_bytes() for path in written}
    contents |= {path: gzip.decompress(content) for path, content in contents.items() if path.suffix == ".gz"}
    assert [path for path, content in contents.items() if CANARY.encode() in content] == []
    assert not any(CANARY in one.out + one.err for one in outcomes)
