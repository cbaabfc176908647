"""A published table of drawn rows and the table it was drawn from, column by column, for whoever compares them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.condense.half_draw import HalfDraw, draw_from_half
from sfumato.condense.mixed_columns import MixedTable, mix_columns
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.arrow import arrow_numbers, arrow_texts
from sfumato.errors import InputError, listing
from sfumato.hierarchy import Dates
from sfumato.masking import mask_table
from sfumato.policy import Column, Policy
from sfumato.publish.drawn_publication import drawn_k
from sfumato.split.two_tables import NAME_THE_ORIGINAL, read_published_columns
from sfumato.table import Table, read_original
from sfumato.table.number_scale import read_date_values, read_number_values

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


def read_drawn_cells(public: Path, manifest: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Read columns of the published table as text, each an Arrow array."""
    read = read_published_columns(public / manifest["table"], manifest, list(names))
    return {name: arrow_texts(list(one.texts)).take(arrow_numbers(one.codes)) for name, one in read.items()}


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
    read = (
        read_date_values(coded.dictionary, spec if isinstance(spec, Dates) else None, column=name)
        if kind == "date"
        else read_number_values(coded.dictionary, column=name)
    )
    numbers = np.zeros(0) if read is None else read.numbers
    return np.append(numbers, np.nan)[dictionary_places(coded)]


def as_dictionary(values: Any) -> Any:
    """An Arrow array of different values and places among them, whatever it was."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()


def dictionary_places(values: Any) -> IntArray:
    """The place of each row in the dictionary, -1 for NULL."""
    return np.array(values.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
