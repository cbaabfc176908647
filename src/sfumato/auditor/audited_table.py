"""A table as an auditor keeps it: cells of the columns of conditions, and what can be asked of each.

A cell is a combination of values of the columns that conditions may be about. Queries are unions of cells, so no query
can tell the rows of a cell apart, and all that an answer takes is, for each cell, how many rows it has, and of each
protected column how many values, their sum, the highest and the lowest. Memory goes by cells, not by rows.

Rows come and go. A block is rows of a cell that have been there through the same versions of the table: an update that
takes some rows out of a block parts it, those that came are blocks of their own, and blocks that are gone keep their
numbers, since earlier answers are about them. Which rows are the same in two versions is told by keyed hashes of a key
column and a protected value, so that a row may move to another cell, or be away for a while and come back. Each
protected column has blocks of its own: whose pay changed is new to the audit of pay, and the same person as before to
that of illness. A number is the same however it is written, since a program may well write 10 as 10.0 the next time.

Without a key nobody can tell who is who. Rows that read the same before and after may be of two people who changed
places, and whoever knows these two has one sum of other people than we think. So nothing is said of rows across an
update then: all blocks are new, and the ledger answers no more about columns that it had answered about.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import IntArray
from sfumato.core.numbers import read_decimal
from sfumato.errors import DataError, InputError, listing, quote

if TYPE_CHECKING:
    from sfumato.encode import CodedColumn

MOST_CELLS = 2000
"""Cells that are audited: a decision takes time that grows with their square."""
MOST_BLOCKS = 2 * MOST_CELLS
"""Blocks, those of rows that are gone among them."""
MOST_VALUES = 200
"""Different values of a protected column that is counted by value."""
_WHO = ""
"""Under this name rows are known by their key alone; or without one by all that is read of them."""
_MOST_DECIMALS = 40
_HASH_BYTES = 16


@dataclass(frozen=True, eq=False)
class CellColumn:
    """A column of conditions: its different values as texts, None for NULL, and the code of each cell.

    `numbers` has the values as exact numbers, where every text is one and none has a zero too many in front.
    """

    name: str
    texts: tuple[str | None, ...]
    codes: IntArray

    @cached_property
    def numbers(self) -> tuple[Fraction | None, ...] | None:
        """The values as numbers, None where the column is of texts."""
        numbers = []
        for text in self.texts:
            if text is not None and (read_decimal(text) is None or _has_leading_zero(text)):
                return None
            numbers.append(None if text is None else exact_number(text))
        return tuple(numbers)

    @cached_property
    def ordered(self) -> list[Any]:
        """The different values in their order, without NULL: numbers where all are, else texts."""
        values: Sequence[Any] = self.texts if self.numbers is None else self.numbers
        return sorted({value for value in values if value is not None})

    @cached_property
    def places(self) -> IntArray:
        """The place of each cell's value in `ordered`, -1 for NULL: int64[cells]."""
        values: Sequence[Any] = self.texts if self.numbers is None else self.numbers
        place_of = {value: place for place, value in enumerate(self.ordered)} | {None: -1}
        places: IntArray = np.array([place_of[value] for value in values], np.int64)[self.codes]
        return places


def exact_number(text: str) -> Fraction:
    """Read the text of a finite decimal number.

    >>> exact_number("1.50")
    Fraction(3, 2)
    """
    found = read_decimal(text)
    if found is None:
        raise ValueError(text)
    return Fraction(*found)


def _has_leading_zero(text: str) -> bool:
    digits = text.strip().lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()


@dataclass(frozen=True, eq=False)
class BlockValues:
    """The b blocks of a protected column, and what is known of it in each.

    `cell_of` is int64[b], the cell of each, -1 where its rows are gone, and `count`, int64[b], the values that are not
    missing. Of numbers, `totals` are the sums times ten to the power of
    `decimals`, and `highest` and `lowest` the keys of the extremes (`order_key`). `values` and `by_value`, int64[b, v],
    count the rows of each value, of a column of texts or of zeros and ones.
    """

    cell_of: IntArray
    count: IntArray
    decimals: int = 0
    totals: tuple[int, ...] = ()
    highest: IntArray | None = None
    lowest: IntArray | None = None
    values: tuple[str, ...] = ()
    by_value: IntArray | None = None

    @property
    def is_number(self) -> bool:
        """Whether sums and extremes can be asked for."""
        return self.highest is not None

    @property
    def is_binary(self) -> bool:
        """Whether it holds zeros and ones alone."""
        return self.is_number and self.by_value is not None

    @property
    def blocks(self) -> int:
        """How many blocks there are, those that are gone among them."""
        return len(self.cell_of)

    def blocks_of(self, cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Give the blocks whose rows are now in some cells."""
        inside: NDArray[np.bool_] = (self.cell_of >= 0) & cells[np.maximum(self.cell_of, 0)]
        return inside


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """A table by its cells: `columns` of conditions, `rows` of each cell (int64[cells]), and protected columns."""

    columns: tuple[CellColumn, ...]
    rows: IntArray
    protected: Mapping[str, BlockValues]

    @property
    def cells(self) -> int:
        """How many cells have rows."""
        return len(self.rows)

    def as_json(self) -> str:
        """Write it for a ledger."""
        columns = [{"name": one.name, "texts": one.texts, "codes": one.codes.tolist()} for one in self.columns]
        protected = {
            name: {
                "cell_of": one.cell_of.tolist(),
                "count": one.count.tolist(),
                "decimals": one.decimals,
                "totals": one.totals,
                "highest": None if one.highest is None else one.highest.tolist(),
                "lowest": None if one.lowest is None else one.lowest.tolist(),
                "values": one.values,
                "by_value": None if one.by_value is None else one.by_value.tolist(),
            }
            for name, one in self.protected.items()
        }
        return json.dumps({"columns": columns, "rows": self.rows.tolist(), "protected": protected})

    @classmethod
    def from_json(cls, text: str) -> "AuditedTable":
        """Read what `as_json` wrote."""
        content = json.loads(text)
        columns = [
            CellColumn(one["name"], tuple(one["texts"]), np.array(one["codes"], np.int64)) for one in content["columns"]
        ]
        protected = {
            name: BlockValues(
                np.array(one["cell_of"], np.int64),
                np.array(one["count"], np.int64),
                one["decimals"],
                tuple(one["totals"]),
                None if one["highest"] is None else np.array(one["highest"], np.int64),
                None if one["lowest"] is None else np.array(one["lowest"], np.int64),
                tuple(one["values"]),
                None
                if one["by_value"] is None
                else np.array(one["by_value"], np.int64).reshape(-1, len(one["values"])),
            )
            for name, one in content["protected"].items()
        }
        return cls(tuple(columns), np.array(content["rows"], np.int64), protected)


def columns_that_follow(table: AuditedTable) -> list[tuple[str, str]]:
    """List pairs of protected columns of numbers of which one is a multiple of the other plus a constant, or nearly.

    Told from the means of blocks: four at least, and all of them on a line but for a ten-thousandth of their spread.

    >>> pay, blocks = np.array([5, 9, 2, 4]), np.arange(4)
    >>> columns = {
    ...     name: BlockValues(blocks, np.full(4, 1), totals=tuple(x), highest=x) for name, x in
    ...     (("pay", pay), ("tax", 3 * pay + 7), ("age", np.array([20, 30, 40, 51])))
    ... }
    >>> columns_that_follow(AuditedTable((), np.full(4, 1), columns))
    [('tax', 'pay')]
    """
    means: dict[str, NDArray[np.float64]] = {}
    for name, values in table.protected.items():
        if values.is_number:
            there = np.flatnonzero(values.count).tolist()
            scale = 10**values.decimals
            means[name] = np.full(values.blocks, np.nan)
            means[name][there] = [float(Fraction(values.totals[one], scale * int(values.count[one]))) for one in there]
    found = []
    names = list(means)
    for place, other in enumerate(names):
        for one in names[place + 1 :]:
            both = ~np.isnan(means[one]) & ~np.isnan(means[other])
            x, y = means[other][both], means[one][both]
            if len(np.unique(x)) < 4 or len(np.unique(y)) < 4:
                continue
            with np.errstate(all="ignore"):  # of numbers near the largest ones nothing is told
                x, y = ((some - some.mean()) / np.ptp(some) for some in (x, y))
                beside = np.abs(y - x * (x @ y) / (x @ x)).max()
            if beside <= 1e-4:
                found.append((one, other))
    return found


def order_key(number: float) -> int:
    """Give a whole number that orders as floats do, each float one of its own.

    >>> order_key(-2.5) < order_key(0.0) < order_key(1e-300) < order_key(2.0), number_of_key(order_key(-2.5))
    (True, -2.5)
    """
    bits = int(np.float64(number + 0.0).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def number_of_key(key: int) -> float:
    """Give the float of a key."""
    return float(np.int64(key).view(np.float64)) if key >= 0 else -float(np.int64(-key).view(np.float64))


@dataclass(frozen=True, eq=False)
class RowHashes:
    """The rows of a table for the next update: a keyed hash of each (bytes[n, 16]) and its block (int32[n]).

    With a key there are such of each protected column, and of the key itself, of all rows that ever were: those in
    blocks without a cell are gone, and may come back. Without one, of the rows as they are.
    """

    hashes: NDArray[np.uint8]
    blocks: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class _ReadRows:
    """A table that was read: the columns of cells, the cell of each row, protected columns coded, hashes of rows."""

    cells: tuple[CellColumn, ...]
    cell: IntArray
    protected: Mapping[str, "CodedColumn"]
    hashes: Mapping[str, NDArray[np.uint8]]

    def table(self, like: Mapping[str, BlockValues] | None = None) -> tuple[AuditedTable, dict[str, RowHashes]]:
        """Make a table of it in which each cell is one block."""
        rows = np.bincount(self.cell).astype(np.int64)
        values = {
            name: _block_values(column, self.cell, np.arange(len(rows)), None if like is None else like[name])
            for name, column in self.protected.items()
        }
        hashes = {name: RowHashes(own, self.cell.astype(np.int32)) for name, own in self.hashes.items()}
        return AuditedTable(self.cells, rows, values), hashes


def read_cells(
    data: Any,
    conditions: Sequence[str],
    protected: Sequence[str],
    *,
    key: str | None,
    secret: bytes,
    options: Mapping[str, Any],
) -> tuple[AuditedTable, dict[str, RowHashes]]:
    """Read a table for the first time: each cell is one block."""
    return _read_rows(data, conditions, protected, key=key, secret=secret, options=options).table()


@dataclass(frozen=True, eq=False)
class TableChange:
    """A table after an update, its rows, and by protected column the blocks that were parted, in rounds.

    Parts come behind the old blocks. `parted` is None where all blocks are new, since no key tells who is who. `came`,
    `left` and `stayed` are rows; those that stayed read the same in the key, if there is one, and protected columns.
    `known` are rows whose key was there before, and `changed` says of how many of them a column's value was not.
    """

    table: AuditedTable
    hashes: Mapping[str, RowHashes]
    parted: Mapping[str, tuple[tuple[int, ...], ...]] | None
    came: int
    left: int
    stayed: int
    known: int = 0
    changed: Mapping[str, int] = field(default_factory=dict)


def update_cells(
    before: AuditedTable,
    known: Mapping[str, RowHashes],
    data: Any,
    *,
    key: str | None,
    secret: bytes,
    options: Mapping[str, Any],
) -> TableChange:
    """Read a new version of a table, and find which rows stayed as they were, which left and which came."""
    conditions = [one.name for one in before.columns]
    read = _read_rows(data, conditions, list(before.protected), key=key, secret=secret, options=options)
    total = int(before.rows.sum())
    origin, matched = _match_rows(known[_WHO], read.hashes[_WHO])
    if key is None:
        table, hashes = read.table(like=before.protected)
        same = int(matched.sum())
        return TableChange(table, hashes, None, came=len(origin) - same, left=total - same, stayed=same)
    if not matched.any():
        raise InputError(
            f"no row has a {quote(key)} that one had before, so that nobody would be known again; write the key as it "
            "was, or begin a new ledger where these are other people"
        )
    keys = RowHashes(
        np.concatenate([read.hashes[_WHO], known[_WHO].hashes[~matched]]),
        np.zeros(len(origin) + int((~matched).sum()), np.int32),
    )
    was_known, stayed = origin >= 0, np.ones(len(origin), np.bool_)
    values, hashes, parted, changed = {}, {_WHO: keys}, {}, {}
    for name, column in read.protected.items():
        old = before.protected[name]
        origin, matched = _match_rows(known[name], read.hashes[name])
        stayed &= (origin >= 0) & (old.cell_of[origin] >= 0)
        changed[name] = int((was_known & (origin < 0)).sum())
        values[name], hashes[name], parts = _follow_blocks(old, known[name], read, column, origin, matched)
        parted[name] = _rounds(parts)
    table = AuditedTable(read.cells, np.bincount(read.cell).astype(np.int64), values)
    same, people = int(stayed.sum()), int(was_known.sum())
    moved = {"came": len(stayed) - same, "left": total - same, "stayed": same}
    return TableChange(table, hashes, parted, known=people, changed=changed, **moved)


def _follow_blocks(
    before: BlockValues,
    known: RowHashes,
    read: _ReadRows,
    column: "CodedColumn",
    origin: IntArray,
    matched: NDArray[np.bool_],
) -> tuple[BlockValues, RowHashes, list[int]]:
    """Give the blocks of a protected column after an update, its rows, and the block that each part is of."""
    block, cell_of, parts = _part_blocks(before, known, read.cell, origin)
    if len(cell_of) > MOST_BLOCKS:
        raise InputError(
            f"with this update {len(cell_of):,} groups of rows would have to be told apart, those that left among "
            f"them, and at most {MOST_BLOCKS:,} are; begin a new ledger when answers of this one no longer matter"
        )
    # what is gone keeps its numbers: of a block that was parted, what its other parts do not have
    left_part = _left_parts(before, parts, cell_of)
    found = _block_values(column, block, cell_of, before)
    values = replace(found, count=_with_those_that_left(found.count, before.count, parts, left_part))
    # so do the rows that are gone, for when they come back
    gone = known.blocks[~matched]
    new_number = np.arange(before.blocks)
    new_number[list(left_part)] = list(left_part.values())
    hashes = RowHashes(
        np.concatenate([read.hashes[column.name], known.hashes[~matched]]),
        np.concatenate([block, new_number[gone]]).astype(np.int32),
    )
    return values, hashes, parts


def _part_blocks(
    before: BlockValues, known: RowHashes, cell: IntArray, origin: IntArray
) -> tuple[IntArray, IntArray, list[int]]:
    """Number the blocks after an update: the block of each row, the cell of each block, and the block each part is of.

    Rows of a block that are in one cell now stay one. The largest such part keeps the number; the others, and those
    that left where some stayed, are parts with new numbers, each block's second part before any block's third. Rows
    that came to a cell are a block behind all.
    """
    cell_of = np.full(before.blocks, -1, np.int64)
    there = np.bincount(known.blocks, minlength=before.blocks)
    block = origin.copy()
    places: dict[int, dict[int, int]] = {}  # rows by cell of each old block
    old = origin >= 0
    pairs, inverse, counts = np.unique(
        np.stack([origin[old], cell[old]]), axis=1, return_inverse=True, return_counts=True
    )
    for number, (one, where) in enumerate(pairs.T.tolist()):
        places.setdefault(one, {})[where] = number
    depth: list[tuple[int, int, int]] = []  # which part of its block, the block, and the pair, -1 for those that left
    number_of = np.zeros(len(counts), np.int64)
    for one, by_cell in places.items():
        order = sorted(by_cell.values(), key=lambda number: (-int(counts[number]), number))
        number_of[order[0]], cell_of[one] = one, pairs[1, order[0]]
        depth += [(place, one, number) for place, number in enumerate(order[1:])]
        if sum(int(counts[number]) for number in order) < there[one]:
            depth.append((len(order) - 1, one, -1))
    depth.sort()
    more = []
    for place, (_, _, number) in enumerate(depth):
        more.append(-1 if number < 0 else int(pairs[1, number]))
        if number >= 0:
            number_of[number] = before.blocks + place
    block[old] = number_of[inverse.reshape(-1)]
    new_cells, place_of = np.unique(cell[~old], return_inverse=True)
    block[~old] = before.blocks + len(depth) + place_of
    return block, np.r_[cell_of, np.array(more, np.int64), new_cells], [one for _, one, _ in depth]


def _left_parts(before: BlockValues, parts: Sequence[int], cell_of: IntArray) -> dict[int, int]:
    """Say which part of a block that was parted is those that left, by the block; a block itself where all did."""
    whole = {one: one for one in range(before.blocks) if cell_of[one] < 0}
    return whole | {one: place for place, one in enumerate(parts, before.blocks) if cell_of[place] < 0}


def _with_those_that_left(
    counts: IntArray, before: IntArray, parts: Sequence[int], left_part: Mapping[int, int]
) -> IntArray:
    """Add to counts by block those of rows that left: what a block had, and none of its parts has."""
    found, remaining = counts.copy(), before - counts[: len(before)]
    np.subtract.at(remaining, list(parts), counts[len(before) : len(before) + len(parts)])
    for one, place in left_part.items():
        found[place] = remaining[one]
    return found


def _rounds(parts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Divide blocks that are parted into rounds, in none of which one stands twice."""
    rounds: list[list[int]] = []
    for one in parts:
        if not rounds or one in rounds[-1]:
            rounds.append([])
        rounds[-1].append(one)
    return tuple(map(tuple, rounds))


def _match_rows(known: RowHashes, hashes: NDArray[np.uint8]) -> tuple[IntArray, NDArray[np.bool_]]:
    """Find the old block of each new row, -1 where it came, and which of the old rows stayed; equal rows by number."""
    old, new = (np.ascontiguousarray(some).view(f"V{_HASH_BYTES}").ravel() for some in (known.hashes, hashes))
    waiting: dict[bytes, list[int]] = {}
    for place, one in enumerate(old.tolist()):
        waiting.setdefault(one, []).append(place)
    block = np.full(len(new), -1, np.int64)
    stayed = np.zeros(len(old), np.bool_)
    for place, one in enumerate(new.tolist()):
        places = waiting.get(one)
        if places:
            found = places.pop()
            block[place], stayed[found] = known.blocks[found], True
    return block, stayed


def _read_rows(
    data: Any,
    conditions: Sequence[str],
    protected: Sequence[str],
    *,
    key: str | None,
    secret: bytes,
    options: Mapping[str, Any],
) -> _ReadRows:
    # an answer takes none of these, and importing them takes time
    from sfumato.encode import encode_column  # noqa: PLC0415
    from sfumato.reading.outside_table import (  # noqa: PLC0415
        check_column_names,
        outside_column_names,
        read_outside_table,
    )
    from sfumato.table import describe_source  # noqa: PLC0415

    names = [*conditions, *protected, *([] if key is None or key in conditions else [key])]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"column {listing(twice)} is named twice; a column is protected, or a condition or the key")
    check_column_names(names, outside_column_names(data, options), describe_source(data))
    table = read_outside_table(data, names, options)
    coded = {name: encode_column(table, name) for name in names}
    if key is not None:
        _check_key(coded[key])
    # rows of equal codes are one cell; cells are numbered in the order of their codes
    widths = [coded[name].width for name in conditions]
    packed = np.zeros(table.rows, np.int64)
    for name, width in zip(conditions, widths, strict=True):
        packed = packed * width + coded[name].codes
        packed = np.unique(packed, return_inverse=True)[1].reshape(-1).astype(np.int64)
    cells = int(packed.max()) + 1
    if cells > MOST_CELLS:
        raise InputError(
            f"the columns of conditions make {cells:,} cells in {describe_source(data)}, and at most {MOST_CELLS:,} "
            "are audited; name fewer columns with --on, or write coarser values into them, such as ages in steps of ten"
        )
    _, first = np.unique(packed, return_index=True)
    columns = tuple(
        CellColumn(name, coded[name].texts, coded[name].codes[first].astype(np.int64)) for name in conditions
    )
    # with a key a row is known wherever it is, by each protected value; without one by all that is read of it
    known_by = {_WHO: names} if key is None else {_WHO: [key]} | {name: [name, key] for name in protected}
    hashes = {which: _hash_rows(coded, some, secret) for which, some in known_by.items()}
    return _ReadRows(columns, packed, {name: coded[name] for name in protected}, hashes)


def _check_key(column: "CodedColumn") -> None:
    """Refuse a key that does not tell all rows apart: who of two left could not be told."""
    uses = np.bincount(column.codes, minlength=len(column.texts))
    written: dict[str | None, int] = {}  # 7 and 7.0 are one key
    for text, rows in zip(column.texts, uses.tolist(), strict=True):
        same = None if text is None else _settled(text)
        written[same] = written.get(same, 0) + rows
    shared = sum(rows for rows in written.values() if rows > 1)
    if shared:
        raise DataError(
            f"column {quote(column.name)} is the key, and {shared:,} rows share theirs with others; "
            "name one that tells all rows apart"
        )
    if written.get(None):
        raise DataError(f"column {quote(column.name)} is the key, and a row has none; fill it in")


def _hash_rows(coded: Mapping[str, "CodedColumn"], names: Sequence[str], secret: bytes) -> NDArray[np.uint8]:
    """Hash each row under a secret key: bytes[n, 16]. Without the key nobody can try values against them."""
    parts = []
    for name in names:  # a text is told from the next one by its length, and NULL from any text
        settled = [None if one is None else _settled(one).encode() for one in coded[name].texts]
        texts = [b"-" if one is None else b"%d:%s" % (len(one), one) for one in settled]
        parts.append(list(map(texts.__getitem__, coded[name].codes.tolist())))
    whole = hashlib.blake2b
    digests = [whole(b"".join(row), key=secret, digest_size=_HASH_BYTES).digest() for row in zip(*parts, strict=True)]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _HASH_BYTES)


def _settled(text: str) -> str:
    """Write a number as any other program would that has the same one; other texts stay, and so do leading zeros.

    >>> [_settled(text) for text in ("10.0", "1e1", "10", "-0.50", "007", "2024-01-01")]
    ['10', '10', '10', '-1/2', '007', '2024-01-01']
    """
    found = None if _has_leading_zero(text) else read_decimal(text)
    return text if found is None else str(Fraction(*found))


def _block_values(
    column: "CodedColumn", block: IntArray, cell_of: IntArray, like: BlockValues | None = None
) -> BlockValues:
    """Add up a protected column by block; `like` is what it was before an update, whose kind it keeps."""
    codes, texts, blocks = column.codes.astype(np.int64), column.texts, len(cell_of)
    missing = np.array([text is None for text in texts], np.bool_)
    there = ~missing[codes]
    block, codes = block[there], codes[there]
    count = np.bincount(block, minlength=blocks).astype(np.int64)
    numbers = [None if text is None else read_decimal(text) for text in texts]
    is_number = all((found is not None) != gone for found, gone in zip(numbers, missing.tolist(), strict=True))
    if like is not None and like.is_number and not is_number:
        raise DataError(f"column {quote(column.name)} holds a cell that is no number, as all were before; correct it")
    if not there.any():
        raise DataError(f"column {quote(column.name)} has no value at all; there is nothing to protect")
    if not is_number or (like is not None and not like.is_number):
        values = () if like is None else like.values
        return BlockValues(cell_of, count, **_count_by_value(column, block, codes, blocks, values))
    exact = [Fraction(*(found or (0, 1))) for found in numbers]
    decimals = next((d for d in range(_MOST_DECIMALS) if all(10**d % one.denominator == 0 for one in exact)), None)
    if decimals is None:
        raise DataError(
            f"column {quote(column.name)} has numbers with more than {_MOST_DECIMALS - 1} decimals; round them"
        )
    scaled = [int(one * 10**decimals) for one in exact]
    keys = np.array([order_key(float(one)) for one in exact], np.int64)[codes]
    highest, lowest = np.full(blocks, -(1 << 63), np.int64), np.full(blocks, (1 << 63) - 1, np.int64)
    np.maximum.at(highest, block, keys)
    np.minimum.at(lowest, block, keys)
    used = {text for text in texts if text is not None}
    binary = like.is_binary if like is not None else {exact_number(text) for text in used} <= {0, 1}
    by_value = _count_by_value(column, block, codes, blocks, ()) if binary else {}
    return BlockValues(cell_of, count, decimals, _add_up(scaled, block, codes, blocks), highest, lowest, **by_value)


def _add_up(scaled: Sequence[int], block: IntArray, codes: IntArray, blocks: int) -> tuple[int, ...]:
    """Add up whole numbers by block, exactly: in machine words where no sum can leave them."""
    largest = max((abs(one) for one in scaled), default=0)
    if largest * max(len(codes), 1) < 1 << 62:
        totals = np.zeros(blocks, np.int64)
        np.add.at(totals, block, np.array(scaled, np.int64)[codes])
        return tuple(totals.tolist())
    sums = [0] * blocks
    for place, code in zip(block.tolist(), codes.tolist(), strict=True):
        sums[place] += scaled[code]
    return tuple(sums)


def _count_by_value(
    column: "CodedColumn", block: IntArray, codes: IntArray, blocks: int, known: Sequence[str]
) -> dict[str, Any]:
    texts = [text for text in column.texts if text is not None]  # NULL is numbered last
    if len(texts) > MOST_VALUES:
        raise DataError(
            f"column {quote(column.name)} has {len(texts):,} different values and is not of numbers alone, and at most "
            f"{MOST_VALUES} can be counted; write coarser values into it, or correct the cells that are no numbers"
        )
    values = tuple(dict.fromkeys([*known, *texts]))
    place = np.array([values.index(text) for text in texts], np.int64)
    found = np.bincount(block * len(values) + place[codes], minlength=blocks * len(values))
    return {"values": values, "by_value": found.reshape(blocks, len(values)).astype(np.int64)}
