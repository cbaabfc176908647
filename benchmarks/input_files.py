"""The input files of the cases: Adult's own, or made once and kept in a folder that git ignores.

Files are made in a process of its own (`python input_files.py DATA ROWS FILE`), so that the runner stays small.
"""

import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv
import pyarrow.parquet

from sfumato.datasets import adult_arx_folder, adult_folder, enlarge, synthetic_adult

MAKE = (sys.executable, "-P", Path(__file__))
"""The command that makes a file: a fresh interpreter, which finds installed packages only."""


def input_file(data: str, rows: int, kind: str, folder: Path) -> Path:
    """Say where the file is or is to be: `data` is a case's; made-up rows say so in the name."""
    real = {"adult": adult_folder(), "arx": adult_arx_folder()}.get(data)
    if real:
        return real / "adult.csv"
    word = "arx" if data == "like" and adult_arx_folder() else "synthetic"
    return folder / f"{word}-{data}-{rows}.{kind}"


def source_of(path: Path) -> str:
    """Say which rows a file has, by its name: ``real``, ``enlarged`` (copied and changed) or ``synthetic``."""
    return {"adult": "real", "arx-like": "enlarged"}.get(path.stem.rpartition("-")[0] or path.stem, "synthetic")


def make(data: str, rows: int, path: Path) -> None:
    """Write the file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"part-{path.name}")
    table = enlarge(rows_to_enlarge(), rows) if data == "like" else synthetic_adult(rows)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, part, store_schema=False)  # without Arrow's own, as other programs write it
    else:
        with duckdb.connect() as connection:
            connection.from_arrow(table).write_csv(str(part), header=True)
    part.rename(path)


def rows_to_enlarge() -> Any:
    """Read the rows that ARX ships, or make some up."""
    folder = adult_arx_folder()
    if folder is None:
        return synthetic_adult(30_162)
    return pyarrow.csv.read_csv(folder / "adult.csv", parse_options=pyarrow.csv.ParseOptions(delimiter=";"))


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
