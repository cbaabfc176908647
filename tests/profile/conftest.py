"""Tables to profile: a file of any kind, an ugly one, and one of visits."""

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

Writes = Callable[[str | bytes], Path]
CANARY = "Zacharias Canary"
UGLY = (
    'Nom du "client"',
    "e-mail",
    "Geburts datum",
    "PLZ",
    "größe (cm)",
    "Kontostand €",
    "Notizen",
    "leer",
    "konstant",
    "Gemischt",
    "code",
    "uid",
    "Besuch",
    "Diagnose",
    "*stern*",
    "Köln;Ort",
    "temp\n°C",
)


@pytest.fixture
def writes(tmp_path: Path) -> Writes:
    """Writes a CSV file and gives its path."""

    def writer(content: str | bytes) -> Path:
        path = tmp_path / "table.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    """BOM, semicolons, newlines in cells, dates in three formats, decimal commas, NULLs, nothing, everything."""
    draw = np.random.default_rng(3)
    lines = [_cells(UGLY), *(_cells(_ugly_row(draw, row)) for row in range(150))]
    path = tmp_path / "ugly.csv"
    path.write_bytes(codecs.BOM_UTF8 + "".join(lines).encode())
    return path


def _cells(cells: Any) -> str:
    quoted = ('"' + cell.replace('"', '""') + '"' if any(one in cell for one in '";\n') else cell for cell in cells)
    return ";".join(quoted) + "\r\n"


def _ugly_row(draw: np.random.Generator, row: int) -> list[str]:
    year, month, day = draw.integers(1940, 2005), draw.integers(1, 13), draw.integers(13, 29)
    dates = (f"{year}-{month:02}-{day:02}", f"{day}.{month:02}.{year}", f"{month:02}/{day}/{year}")
    any_of = draw.choice
    return [
        f"{CANARY} {row}",
        f"canary{row}@example.org",
        dates[row % 3],
        f"0{draw.integers(1000, 1099)}",
        f"{draw.uniform(150, 200):.1f}".replace(".", ","),
        f"{any_of(['-', ''])}{draw.integers(1, 9)}.{draw.integers(100, 999)},{draw.integers(10, 99)}",
        f'first line\nsecond; line with a "quote" about canary {row}',
        "",
        "always",
        str(any_of(["1", "2", "three", "NULL", "4,5"])),
        f"{draw.integers(0, 30):04d}",
        f"{row * 7919 % 100_000:05d}",
        f"{draw.integers(1, 29):02}/{draw.integers(1, 13):02}/2024",
        str(any_of(["I21.0", "E11.9", "J45.9", "F32.1"])),
        str(any_of(["a*", "b", "*", "c", "d", "e"])),
        str(any_of(["Köln", "Bonn", "Aachen", "", "Essen", "Ulm", "Zürich"])),
        str(draw.integers(-20, 35)) if row % 9 else "NULL",
    ]


@pytest.fixture
def visits_file(tmp_path: Path) -> Path:
    """Visits with several rows per patient and two jobs that are rare, as a CSV file."""
    from sfumato.datasets import visits

    path, table = tmp_path / "visits.csv", visits(400)
    place = table.column_names.index("job")
    jobs = ["bishop", "smith", "smith", *table["job"].cast("string").to_pylist()[3:]]
    arrow_csv.write_csv(table.set_column(place, "job", pa.array(jobs)), path)
    return path


@pytest.fixture
def american(tmp_path: Path) -> Path:
    """People of the United States, with all that Safe Harbor is about."""
    draw = np.random.default_rng(4)
    rows = 200
    born = draw.integers(1930, 2005, rows)
    table = pa.table(
        {
            "ssn": [f"{100 + row % 800}-{row % 90 + 10}-{1000 + row}" for row in range(rows)],
            "dob": [f"{year}-0{month}-11" for year, month in zip(born, draw.integers(1, 10, rows), strict=True)],
            "zip": [f"{code:05d}" for code in draw.integers(10_000, 99_999, rows)],
            "zip3": draw.choice(["100", "101", "606"], rows).tolist(),
            "age": (2025 - born).tolist(),
            "capped_age": np.minimum(90, 2025 - born).tolist(),
            "city": [f"{letter}ville" for letter in draw.choice(list("ABCDEF"), rows)],
            "state": draw.choice(["NY", "CA", "TX"], rows).tolist(),
            "race": draw.choice(["white", "black", "asian", "other"], rows).tolist(),
            "diagnosis": draw.choice(["flu", "HIV", "ulcer", "cold"], rows).tolist(),
        }
    )
    path = tmp_path / "people.csv"
    arrow_csv.write_csv(table, path)
    return path
