"""Malformed tables of every kind (TRUST 15): damaged at random, they are read or refused with one sentence.

Each kind of file is damaged twenty times, by a seed that a failure names. A file is read in a process of its own, so
that a library that crashes on one is found out, and not only one that raises.
"""

import gzip
import io
import os
import random
import signal
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
import xlwt

from sfumato.core.memory import VARIABLE
from sfumato.errors import SfumatoError
from sfumato.policy import load
from sfumato.table import read_table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(280)]

Rules = Callable[..., dict[str, Any]]

TIMES = 20
FRAME = pd.DataFrame(
    {"age": [30.0 + n % 4 for n in range(40)], "town": [("Bern", "Thun", "Köniz")[n % 3] for n in range(40)]}
)
ROWS = [list(FRAME), *(list(row) for row in FRAME.itertuples(index=False))]


def _xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    book.save(path)


def _xls(path: Path) -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("S")
    for i, row in enumerate(ROWS):
        for j, cell in enumerate(row):
            sheet.write(i, j, cell)
    book.save(str(path))


def _sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        FRAME.to_sql("people", connection, index=False)


def _duckdb(path: Path) -> None:
    with closing(duckdb.connect(str(path))) as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")


def _text() -> bytes:
    return FRAME.to_csv(index=False).encode()


def _zip(path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", _text())
    path.write_bytes(stream.getvalue())


LABELS = {"age": {30.0: "thirty"}}
WRITERS: dict[str, Callable[[Path], Any]] = {
    "xlsx": _xlsx,
    "xls": _xls,
    "sav": lambda path: pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS),
    "zsav": lambda path: pyreadstat.write_sav(FRAME, path, compress=True),
    "dta": lambda path: pyreadstat.write_dta(FRAME, path, variable_value_labels={"age": {30: "thirty"}}),
    "xpt": lambda path: pyreadstat.write_xport(FRAME, path),
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "csv.gz": lambda path: path.write_bytes(gzip.compress(_text())),
    "csv.zst": lambda path: path.write_bytes(pa.compress(_text(), codec="zstd", asbytes=True)),
    "zip": _zip,
}


def damage(content: bytes, seed: int) -> bytes:
    """Change, insert, cut out or cut off some bytes, near the head as often as anywhere."""
    draw = random.Random(seed)
    damaged = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at, size = draw.randrange(draw.choice((200, len(damaged) + 1))), draw.choice((1, 4, 50, 400))
        match draw.randrange(4):
            case 0:
                damaged[at : at + size] = draw.randbytes(size)
            case 1:
                damaged[at:at] = draw.choice((draw.randbytes(size), b"\xff" * size, bytes(size)))
            case 2:
                del damaged[at : at + size]
            case 3:
                del damaged[at + len(damaged) // 4 :]
    return bytes(damaged)


def _read_apart(path: Path, policy: Any) -> str:
    """Read a file in a child process; gives how it ended in a word."""
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            read_table(path, policy)
            os._exit(0)
        except SfumatoError as error:
            os._exit(3 if "\n" in str(error) else 0)
        except MemoryError:  # the command says so in a sentence
            os._exit(0)
        except BaseException:  # noqa: BLE001 - whatever else it is, it is found out
            os._exit(4)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "well", 3: "in several lines", 4: "by an exception"}.get(code, f"by signal {-code}")


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kind", WRITERS)
def test_trust_15_of_tables(tmp_path: Path, rules: Rules, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged table is read, or refused in one sentence, and never crashes the reader."""
    monkeypatch.setenv(VARIABLE, "200MB")  # some ask for all that there is
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](path)
    content, policy = path.read_bytes(), load(rules({"age": "quasi", "town": "plain"}))
    assert _read_apart(path, policy) == "well"
    ends = {}
    for seed in range(TIMES):
        path.write_bytes(damage(content, seed))
        ends[seed] = _read_apart(path, policy)
    assert {seed: end for seed, end in ends.items() if end != "well"} == {}
