"""Write CSV: quotes only where needed, NULL apart from empty text, and no cell that a spreadsheet would run.

The formula rule: a text that starts with ``=``, ``+``, ``-``, ``@``, a tab, a carriage return or NUL, or with
apostrophes before one of these, gets one apostrophe in front. Reading it back, one apostrophe is taken away
where apostrophes stand before one of those characters. Numbers, negative ones included, are left alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes
from sfumato.core.arrow import arrow_numbers, arrow_text, arrow_texts
from sfumato.release.cells import Cells
from sfumato.release.published import Published

_RISKY = r"^'*[=+\-@\t\r\x00]"
_NEGATIVE = r"^-(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_QUOTED = r'[",\r\n]|^\s|\s$'
_BATCH = 1 << 17
_COMBINED = 1 << 14


@dataclass(frozen=True, eq=False)
class _Plain:
    """A column that is not coded: its values are put into words a batch at a time."""

    values: Any
    end: str
    null: str


def cells(values: Any, *, null: str = "") -> Any:
    """Values as they stand between two separators.

    >>> cells(pa.array(["=1+1", "'=1", "-5", "-5 degrees", "a,b", "", None])).to_pylist()
    ["'=1+1", "''=1", '-5', "'-5 degrees", '"a,b"', '""', '']
    """
    text = values.cast(pa.string())
    if _is_text(values.type):
        text = _guarded(text)
    missing = arrow_text(null)
    needs = pc.or_(pc.match_substring_regex(text, _QUOTED), pc.equal(text, missing))
    quoted = _joined(arrow_text('"'), pc.replace_substring(text, '"', '""'), arrow_text('"'))
    return pc.coalesce(pc.if_else(needs, quoted, text), missing)


def write_csv(published: Published, path: Path, *, null: str = "") -> None:
    """Write the table, a batch of rows at a time."""
    header = cells(arrow_texts(list(published.columns)), null=null).to_pylist()
    with path.open("wb") as file:
        file.write((",".join(header) + "\n").encode())
        for lines in _batches(published, null):
            file.write(lines)


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _guarded(text: Any) -> Any:
    """The formula rule."""
    risky = pc.and_not(pc.match_substring_regex(text, _RISKY), pc.match_substring_regex(text, _NEGATIVE))
    return pc.if_else(risky, _joined(arrow_text("'"), text), text)


def _batches(published: Published, null: str) -> Iterator[Any]:
    """The bytes of some rows at a time."""
    parts = _combined(_parts(published, null))
    for start in range(0, published.rows, _BATCH):
        pieces = [_piece(part, start) for part in parts]
        lines = pieces[0] if len(pieces) == 1 else _joined(*pieces)
        yield _content(lines)


def _parts(published: Published, null: str) -> list[Cells | _Plain]:
    """Each coded column as texts that end in their separator with the code of each row's text; others as they are."""
    last = len(published.columns) - 1
    return [_part(column, "\n" if i == last else ",", null) for i, column in enumerate(published.columns.values())]


def _part(column: Any, end: str, null: str) -> Cells | _Plain:
    if isinstance(column, Cells):
        return Cells(column.codes, _ended(column.values, end, null))
    return _Plain(column, end, null)


def _ended(values: Any, end: str, null: str) -> Any:
    return _joined(cells(values, null=null), arrow_text(end))


def _joined(*pieces: Any) -> Any:
    """Texts one after another, row by row."""
    return pc.binary_join_element_wise(*pieces, arrow_text(""))


def _combined(parts: list[Cells | _Plain]) -> list[Cells | _Plain]:
    """Neighbouring columns of few values as one column of their combinations: fewer pieces to join per row."""
    combined = parts[:1]
    for part in parts[1:]:
        before = combined[-1]
        small = len(before.values) * len(part.values) <= _COMBINED
        if small and isinstance(before, Cells) and isinstance(part, Cells):
            combined[-1] = _pairs(before, part)
        else:
            combined.append(part)
    return combined


def _pairs(one: Cells, other: Cells) -> Cells:
    pairs = [a + b for a in one.values.to_pylist() for b in other.values.to_pylist()]
    codes: Codes = one.codes.astype(np.int32) * len(other.values) + other.codes
    return Cells(codes, arrow_texts(pairs))


def _piece(part: Cells | _Plain, start: int) -> Any:
    if isinstance(part, _Plain):
        return _ended(part.values.slice(start, _BATCH), part.end, part.null)
    return part.values.take(arrow_numbers(part.codes[start : start + _BATCH]))


def _content(lines: Any) -> Any:
    """The characters of an array of texts, which lie one after another in memory."""
    offsets = np.frombuffer(lines.buffers()[1], dtype=np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(lines.buffers()[2])[int(offsets[0]) : int(offsets[-1])]
