"""Parquet, Feather and JSON Lines: their columns' names, and their rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.policy import Policy, Role, Source
from sfumato.table.delimited import delimited_names, read_delimited

_TEXT = {".csv", ".tsv", ".txt", ".tab", ""}


@dataclass(frozen=True)
class Format:
    """A file format: what it is called, how to learn its columns, and how to read some of them."""

    name: str
    names: Callable[[Path, Source], list[str]]
    read: Callable[[Path, Policy, list[str]], Any]


def format_of(path: Path) -> Format:
    """By its first bytes where they tell, else by its name."""
    with path.open("rb") as file:
        head = file.read(8)
    suffix = path.suffix.lower()
    if head.startswith(b"PAR1") or suffix in {".parquet", ".pq"}:
        return Format("Parquet", _parquet_names, _parquet)
    if head.startswith((b"ARROW1", b"FEA1")) or suffix in {".feather", ".arrow"}:
        return Format("Feather", _feather_names, _feather)
    if suffix in {".jsonl", ".ndjson", ".json"}:
        return Format("JSON Lines", _json_names, _json)
    if suffix in _TEXT:
        return Format("CSV", delimited_names, read_delimited)
    raise DataError(
        f"{path.name}: '{suffix}' files are not read by this version; "
        "save the table as CSV, Parquet, Feather or JSON Lines"
    )


def _parquet_names(path: Path, _: Source) -> list[str]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    return list(pq.read_schema(path).names)


def _parquet(path: Path, policy: Policy, columns: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    schema = pq.read_schema(path)
    text = [name for name in columns if pa.types.is_string(schema.field(name).type)]
    coded = [name for name in text if policy.columns[name].role is not Role.PLAIN]
    table = pq.read_table(path, columns=columns, read_dictionary=coded)
    return table.replace_schema_metadata()


def _feather_names(path: Path, _: Source) -> list[str]:
    from pyarrow import feather, ipc  # noqa: PLC0415 - only where a Feather file is read

    try:
        with path.open("rb") as file:
            return list(ipc.open_file(file).schema.names)
    except pa.ArrowInvalid:  # version 1 of the format has no schema to open
        return list(feather.read_table(path).column_names)


def _feather(path: Path, _: Policy, columns: list[str]) -> Any:
    from pyarrow import feather  # noqa: PLC0415 - only where a Feather file is read

    return feather.read_table(path, columns=columns).replace_schema_metadata()


def _json_names(path: Path, _: Source) -> list[str]:
    return list(_objects(path).column_names)


def _json(path: Path, _: Policy, columns: list[str]) -> Any:
    return _objects(path).select(columns)


def _objects(path: Path) -> Any:
    """One object a line. Text that looks like a date stays text."""
    from pyarrow import json  # noqa: PLC0415 - only where a JSON file is read

    with path.open("rb") as file:
        if file.read(4096).lstrip().startswith(b"["):
            raise DataError(f"{path.name} is a JSON array; write one object per line (JSON Lines)")
    table = json.read_json(path)
    dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if not dates:
        return table
    schema = pa.schema([(field.name, pa.string() if field.name in dates else field.type) for field in table.schema])
    return json.read_json(path, parse_options=json.ParseOptions(explicit_schema=schema))
