"""Files that declare more rows than memory can take are refused before they are read, and no others."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet as pq

from sfumato.core.memory import VARIABLE
from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.table import read_table

Rules = Callable[..., dict[str, Any]]

ROWS = 2_000_000
NAMES = tuple("abcdef")


def _write_parquet(path: Path) -> None:
    codes = pa.array(np.resize(np.array([0, 1], dtype=np.int32), ROWS))
    coded = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y"]))
    pq.write_table(pa.table(dict.fromkeys(NAMES, coded)), path, compression="zstd", store_schema=False)


def _write_feather(path: Path) -> None:
    numbers = pa.table(dict.fromkeys(NAMES, pa.array(np.zeros(ROWS, dtype=np.int64))))
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, numbers.schema, options=options) as writer:
        writer.write_table(numbers)


def _write_csv(path: Path) -> None:
    path.write_bytes(",".join(NAMES).encode() + b"\n" + b"x,y,x,y,x,y\n" * ROWS)


WRITERS = {"parquet": _write_parquet, "feather": _write_feather, "csv": _write_csv}


@pytest.mark.parametrize("kind", WRITERS)
def test_more_rows_than_fit_are_refused(
    tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Two million rows in a small file are a sentence where 20 MB may be used, before Arrow takes any memory."""
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](path)
    policy = load(rules(dict.fromkeys(NAMES, "quasi")))
    monkeypatch.setenv(VARIABLE, "20MB")
    before = pa.total_allocated_bytes()
    with pytest.raises(
        DataError, match=r"^t\..*, with 2,000,000 rows, takes at least .* MB of memory, and 20.0 MB may"
    ):
        read_table(path, policy)
    assert pa.total_allocated_bytes() - before < 2_000_000
    monkeypatch.setenv(VARIABLE, "4GB")
    assert read_table(path, policy).rows == ROWS


@pytest.mark.parametrize("kind", WRITERS)
def test_columns_that_are_not_read_count_nothing(
    tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The way out that the sentence names is one: with five of six columns left out, the table is read."""
    WRITERS[kind](tmp_path / f"t.{kind}")
    monkeypatch.setenv(VARIABLE, "35MB")
    policy = load(rules(dict.fromkeys(NAMES, "identifier") | {"a": "quasi"}))
    assert read_table(tmp_path / f"t.{kind}", policy).rows == ROWS


def test_what_is_counted_is_less_than_what_is_used(
    tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand rows of nine columns, 8 MB of CSV, are read where 30 MB may be used: ten million need 3 GB."""
    draw = np.random.default_rng(1)
    cells = {f"c{i}": pa.array(draw.integers(10**7, 10**7 + 500, 100_000).astype(str)) for i in range(9)}
    arrow_csv.write_csv(pa.table(cells), tmp_path / "t.csv")
    monkeypatch.setenv(VARIABLE, "30MB")
    assert read_table(tmp_path / "t.csv", load(rules(dict.fromkeys(cells, "quasi")))).rows == 100_000


@pytest.mark.slow
def test_the_limit_of_a_process_is_kept(tmp_path: Path) -> None:
    """Under `ulimit -v` a command refuses what cannot fit under it, by one sentence and exit 2."""
    _write_parquet(tmp_path / "t.parquet")
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
        "import sfumato.table.least_memory as m; m._KEY = 1 << 9; "  # as if there were many more rows
        "from sfumato.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "risk", "t.parquet", "--quasi", "a,b,c"]
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 2
    assert done.stderr.startswith("error: t.parquet, with 2,000,000 rows, takes at least 1.1 GB of memory, and ")
    assert done.stderr.count("\n") == 1
