"""Asked: a requirement on the join, with what it takes of the current table and a judge of what is found."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn
from sfumato.models import ROW, Linkage, XYAnonymity, XYLinkability
from sfumato.policy import ColumnReference
from sfumato.previous.anonymity import Anonymity
from sfumato.previous.checking import check_values
from sfumato.previous.history import History
from sfumato.previous.linkability import Linkability
from sfumato.previous.past import Past, past_of
from sfumato.previous.star import Star


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """A requirement: its columns of x in the current table, the number of each row's value on y, and its judge."""

    entry: Linkage
    x: tuple[str, ...]
    y: IntArray
    ys: int
    judge: Anonymity | Linkability


def asked(history: History, entry: Linkage) -> Asked:
    """What an entry asks of the current table, given the earlier releases."""
    star = history.star
    x = tuple(each.column for each in star.references(entry.x) if each.table is None)
    own = [each for each in star.references(entry.y) if each.table is None]
    columns = [star.known[each.column] for each in own if each.column != ROW]
    keyed, complete = ColumnReference(ROW) in own, _is_complete(star, entry)
    if isinstance(entry, XYAnonymity):
        past = past_of(history, entry, records=False)
        y, ys, _ = _numbered([] if keyed else columns, star.encoded.rows)
        return Asked(entry, x, y, ys, Anonymity(past, entry.k, complete, keyed=keyed, valued=bool(columns)))
    assert isinstance(entry, XYLinkability)  # noqa: S101 - there are two; this tells the type checker
    past = past_of(history, entry, records=True)
    y, ys, values = _numbered(columns, star.encoded.rows)
    bounds = _bounds(entry, star, past, list(zip(columns, values, strict=True)), ys)
    return Asked(entry, x, y, ys, Linkability(past, bounds, complete))


def _is_complete(star: Star, entry: Linkage) -> bool:
    """Whether x has every column by which records are matched, in all tables."""
    needed = [*star.matched]
    for place, name in enumerate(star.names):
        needed += [f"{name}.{column}" for column in star.matched_of(place)]
    return set(needed) <= set(entry.x)


def _numbered(columns: Sequence[CodedColumn], rows: int) -> tuple[IntArray, int, list[IntArray]]:
    """The number of each row's value on some columns, how many there are, and the code of each by column."""
    if not columns:
        return np.zeros(rows, dtype=np.int64), 1, []
    packed = pack_tuples([column.codes for column in columns], [column.width for column in columns])
    numbers, many = number_tuples(packed)
    keys = np.empty(many, dtype=np.int64)
    keys[numbers] = packed.keys
    return numbers, many, packed.unpack(keys)


def _bounds(
    entry: XYLinkability, star: Star, past: Past, own: Sequence[tuple[CodedColumn, IntArray]], ys: int
) -> FloatArray:
    """The bound of each pair of an own value on y and one of the past, in the order in which y names its columns."""
    first, second = (part.ravel() for part in np.indices((ys, past.ys)))
    known = {column.name: _texts(column, codes, first) for column, codes in own}
    known |= {name: _texts(column, codes, second) for name, column, codes in past.values}
    texts = [known[str(each)] for each in star.references(entry.y)]
    lines = list(zip(*texts, strict=True))
    check_values(entry, lines, "values")
    bounds = entry.bounds(lines)
    found = np.array([bounds.get(line, np.nan) for line in lines], dtype=np.float64)
    return found.reshape(ys, past.ys)


def _texts(column: CodedColumn, codes: IntArray, places: IntArray) -> list[str | None]:
    return [column.texts[code] for code in codes[places].tolist()]
