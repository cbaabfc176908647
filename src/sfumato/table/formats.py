"""The file formats: how each says its columns and their types, and how it is read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.policy import DataSource, Policy, Role
from sfumato.table.delimited import begin_delimited, delimited_schema, read_delimited
from sfumato.table.json_lines import begin_json, json_schema, read_json

_BEGINNING = 100_000
_TEXT = {".csv", ".tsv", ".txt", ".tab", ""}


@dataclass(frozen=True)
class Format:
    """A file format: what it is called, how to learn its columns, and how to read some of them.

    `begin` reads the first rows of some columns, where that is quicker than to read all.
    """

    name: str
    schema: Callable[[Path, DataSource], Any]
    read: Callable[[Path, Policy, list[str]], Any]
    begin: Callable[[Path, Policy, list[str]], Any] | None = None


def format_of(path: Path) -> Format:
    """By its first bytes where they tell, else by its name."""
    with path.open("rb") as file:
        head = file.read(8)
    suffix = path.suffix.lower()
    if head.startswith(b"PAR1") or suffix in {".parquet", ".pq"}:
        return Format("Parquet", _parquet_schema, _parquet, _begin_parquet)
    if head.startswith(b"FEA1"):  # Arrow's reader of these trusts them, and a damaged one ends the process
        raise DataError(f"{path.name} is a Feather file of version 1; save it as version 2 (Arrow), or as Parquet")
    if head.startswith(b"ARROW1") or suffix in {".feather", ".arrow"}:
        return Format("Feather", _feather_schema, _feather)
    if suffix in {".jsonl", ".ndjson", ".json"}:
        return Format("JSON Lines", json_schema, read_json, begin_json)
    if suffix in _TEXT:
        return Format("CSV", delimited_schema, read_delimited, begin_delimited)
    raise DataError(
        f"{path.name}: '{suffix}' files are not read by this version; "
        "save the table as CSV, Parquet, Feather or JSON Lines"
    )


def _parquet_schema(path: Path, _: DataSource) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    return pq.read_schema(path)


def _parquet(path: Path, policy: Policy, columns: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    schema = pq.read_schema(path)
    text = [name for name in columns if pa.types.is_string(schema.field(name).type)]
    coded = [name for name in text if policy.columns[name].role is not Role.PLAIN]
    # without partitioning: a folder called sex=f on the way to the file is not a column
    return pq.read_table(path, columns=columns, read_dictionary=coded, partitioning=None)


def _begin_parquet(path: Path, _: Policy, columns: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with pq.ParquetFile(path) as file:
        return pa.Table.from_batches([next(file.iter_batches(_BEGINNING, columns=columns))])


def _feather_schema(path: Path, _: DataSource) -> Any:
    from pyarrow import ipc  # noqa: PLC0415 - only where a Feather file is read

    with path.open("rb") as file:
        return ipc.open_file(file).schema


def _feather(path: Path, _: Policy, columns: list[str]) -> Any:
    from pyarrow import feather  # noqa: PLC0415 - only where a Feather file is read

    return feather.read_table(path, columns=columns)
