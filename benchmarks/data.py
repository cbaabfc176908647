"""The input files of the cases: Adult's own, or made once and kept in a folder that git ignores.

Run as a process of its own (`python data.py DATA ROWS FILE`), so that the runner stays small.
"""

import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv
import pyarrow.parquet

from sfumato.datasets import adult_arx_folder, adult_folder, enlarge, synthetic_adult


def input_file(data: str, rows: int, kind: str, folder: Path) -> Path:
    """Where the file is or is to be: `data` is a case's; made-up rows say so in the name."""
    real = {"adult": adult_folder(), "arx": adult_arx_folder()}.get(data)
    if real:
        return real / "adult.csv"
    word = "arx" if data == "like" and adult_arx_folder() else "synthetic"
    return folder / f"{word}-{data}-{rows}.{kind}"


def source_of(path: Path) -> str:
    """``real``, ``enlarged`` (real rows, copied and changed) or ``synthetic``: what a table is to say of a file."""
    return {"adult": "real", "arx-like": "enlarged"}.get(path.stem.rpartition("-")[0] or path.stem, "synthetic")


def make(data: str, rows: int, path: Path) -> None:
    """Write the file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"part-{path.name}")
    _write(enlarge(_base(), rows) if data == "like" else synthetic_adult(rows), part)
    part.rename(path)


def _base() -> Any:
    folder = adult_arx_folder()
    if folder is None:
        return synthetic_adult(30_162)
    return pyarrow.csv.read_csv(folder / "adult.csv", parse_options=pyarrow.csv.ParseOptions(delimiter=";"))


def _write(table: Any, path: Path) -> None:
    if path.suffix == ".parquet":
        # without Arrow's own schema, as other programs write it
        pyarrow.parquet.write_table(table, path, store_schema=False)
        return
    with duckdb.connect() as connection:
        connection.from_arrow(table).write_csv(str(path), header=True)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
