"""A published table of drawn rows and the table it was drawn from, column by column, for whoever compares them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.condense.half_draw import HalfDraw, draw_from_half
from sfumato.condense.mixed_columns import MixedTable, mix_columns
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.arrow import arrow_numbers, arrow_texts
from sfumato.errors import DataError, InputError, listing, quote
from sfumato.hierarchy import Dates
from sfumato.masking import mask_table
from sfumato.policy import Column, Policy
from sfumato.publish.drawn_publication import drawn_k
from sfumato.split.two_tables import NAME_THE_ORIGINAL, read_published_columns
from sfumato.table import Table, read_original
from sfumato.table.number_scale import is_text, read_date_values, read_number_values

_KINDS = ("number", "date", "category")


def published_kinds(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The columns of a release of drawn rows and the kind of each, as its manifest has them.

    >>> published_kinds({"columns": [{"name": "age", "kind": "number"}]})
    {'age': 'number'}
    """
    kinds = {entry["name"]: entry.get("kind") for entry in manifest["columns"]}
    if not kinds or any(kind not in _KINDS for kind in kinds.values()):
        raise InputError("manifest.json has no proper 'columns': it was changed after publication")
    return kinds


def read_drawn_cells(public: Path, manifest: Mapping[str, Any], original: Table) -> dict[str, Any]:
    """Read the published columns, each an Arrow array: as text, and dates as the original has them."""
    kinds = published_kinds(manifest)
    read = read_published_columns(public / manifest["table"], manifest, list(kinds))
    cells = {name: arrow_texts(list(one.texts)).take(arrow_numbers(one.codes)) for name, one in read.items()}
    for name, kind in kinds.items():
        came = original.arrow.column(name).type
        if kind == "date" and pa.types.is_temporal(came):
            try:
                cells[name] = cells[name].cast(came)
            except pa.ArrowInvalid:
                raise _no_longer(name, kind) from None
    return cells


def _no_longer(name: str, kind: str) -> DataError:
    return DataError(f"column {quote(name)} of the release does not hold {kind}s; it was changed after publication")


def read_same_columns(data: Any, policy: Policy, names: Sequence[str]) -> Table:
    """Read a table as the policy of a release has it read, and refuse one that lacks published columns."""
    table = read_original(data, policy)
    missing = [name for name in names if name not in table.arrow.column_names or name not in policy.columns]
    if missing:
        raise InputError(f"the original has no column {listing(missing)}, which the release has; {NAME_THE_ORIGINAL}")
    return table


def draw_again(table: Table, policy: Policy) -> tuple[MixedTable, HalfDraw | None]:
    """Draw rows from half of a table as the policy has them drawn, masks included; none where there are too few.

    Also returns the whole table as it would be drawn from.
    """
    mixed = mix_columns(mask_table(table, policy).table, policy, drawn_k(policy))
    return mixed, draw_from_half(mixed, drawn_k(policy), policy.search)


def read_cell_numbers(name: str, values: Any, kind: str, rules: Column | None = None) -> FloatArray:
    """Read the cells of a column, an Arrow array, as numbers; dates as `rules` write them, NaN where there is none.

    >>> read_cell_numbers("age", pa.array(["20", None, "7.5"]), "number").tolist()
    [20.0, nan, 7.5]
    """
    coded = as_dictionary(values)
    spec = None if rules is None else rules.hierarchy
    if kind == "date":
        texts = _as_moments(coded.dictionary)
        read = read_date_values(texts, spec if isinstance(spec, Dates) else None, column=name)
    else:
        read = read_number_values(coded.dictionary, column=name)
    if read is None and coded.dictionary.null_count < len(coded.dictionary):
        raise _no_longer(name, kind)
    numbers = np.full(len(coded.dictionary), np.nan) if read is None else read.numbers
    return np.append(numbers, np.nan)[dictionary_places(coded)]


def _as_moments(texts: Any) -> Any:
    """Moments of texts with a time of day, as a CSV file has moments of a frame; all else as it is."""
    if not is_text(texts.type) or not pc.any(pc.match_substring(texts, ":")).as_py():
        return texts
    try:
        return texts.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return texts


def as_dictionary(values: Any) -> Any:
    """An Arrow array of different values and places among them, whatever it was."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()


def dictionary_places(values: Any) -> IntArray:
    """The place of each row in the dictionary, -1 for NULL."""
    return np.array(values.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
