"""Arrow tables in memory as they are to be published, in DuckDB as files would be."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.verifier.opening import connected
from sfumato.verifier.published import Published


def in_memory(
    tables: Mapping[str, Any], needed: Collection[str], numbers: Collection[str] = (), beside: Sequence[Path] = ()
) -> list[Published]:
    """Tables by what a sentence calls them, on one connection that may read the files `beside`.

    The `needed` columns become text as the library prints it; those of `numbers` stay as they are.
    """
    connection, opened = connected(beside), []
    for place, (label, table) in enumerate(tables.items()):
        kept = {f"c{i}": table.column(i) for i, name in enumerate(table.column_names) if name in numbers}
        texts = {f"c{i}": _as_text(table.column(i)) for i, name in enumerate(table.column_names) if name in needed}
        connection.register(f"published_{place}", pa.table(texts | kept))
        types = {field.name: _plain(field.type) for field in table.schema if field.name in numbers}
        opened.append(Published(connection, tuple(table.column_names), types, source=f"published_{place}", label=label))
    return opened


def _as_text(column: Any) -> Any:
    """A column as a dictionary of texts: each different value is printed once."""
    kind = _plain(column.type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return pa.chunked_array([_relabelled(chunk) for chunk in coded.chunks], pa.dictionary(pa.int32(), pa.string()))


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _relabelled(chunk: Any) -> Any:
    return pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string()))
