"""What the tests of trust read from a release: its published table, and rows without their order."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq


@pytest.fixture(scope="session")
def table_of() -> Callable[[Path], Any]:
    """Reads the published table of a release."""
    return _published


@pytest.fixture
def bags(saves: Callable[..., Path]) -> Callable[..., Counter[tuple[Any, ...]]]:
    """Publishes a table under a policy, and gives the published rows without their order."""
    return lambda table, policy: _bag(_published(saves(table, policy)))


def _published(folder: Path) -> Any:
    """The published table, from its file, every column as it is written."""
    path = next((folder / "public").glob("table.*"))
    if path.suffix == ".parquet":
        return pq.read_table(path)
    names = path.read_text().splitlines()[0].split(",")
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    return csv.read_csv(path, convert_options=options)


def _bag(table: Any) -> Counter[tuple[Any, ...]]:
    """The rows of a table, without their order."""
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))
