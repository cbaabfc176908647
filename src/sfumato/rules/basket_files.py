"""Files of baskets: FIMI lines, long tables and wide tables, read into `Baskets` and written back.

- **lines** (``.dat``, ``.fimi``, ``.txt``): a basket a line, items separated by blanks or tabs. A line without items is
  a basket without items, and counts.
- **long** (``--long transaction,item``): a row for each item of a transaction.
- **wide** (any other table): a row is a basket, and each cell that is not NULL the item ``column=value``.

What is written is sorted, baskets as well as items, so that the order of the original does not get into it; and the
transactions of a long table get new numbers, since theirs may lead to a customer.
"""

import csv
import io
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.arrow import arrow_flags, arrow_numbers, numpy_numbers
from sfumato.core.listed_names import split_names
from sfumato.core.regular_file import open_regular_file
from sfumato.errors import DataError, InputError, OutputError, UnreadableFile, quote
from sfumato.reading.outside_table import check_column_names, outside_column_names, read_outside_table
from sfumato.rules.baskets import Baskets
from sfumato.table.formula_guard import guard_formula
from sfumato.table.frames import frame_kind

LINE_SUFFIXES = (".dat", ".fimi", ".txt")


@dataclass(frozen=True, eq=False)
class BasketTable:
    """Baskets together with the form they came in, so that they can be written back.

    form:       lines, long, wide, or memory (lists of items)
    columns:    the names of transaction and item (long), or of all columns (wide)
    table:      the Arrow table of a wide form, its rows in the order of the baskets
    column_of:  the place of each item's column (wide)
    """

    baskets: Baskets
    form: str
    columns: tuple[str, ...] = ()
    table: Any = None
    column_of: tuple[int, ...] = ()

    @property
    def keeps_empty(self) -> bool:
        """Whether a basket without items stays in the file, for whoever reads it: a row does, and a line may not."""
        return self.form == "wide"


def read_baskets(
    source: Any, *, long: Sequence[str] | str | None = None, options: Mapping[str, Any] | None = None
) -> BasketTable:
    """Read baskets from a file, a frame, or lists of items.

    `long` names the columns of transactions and of items, of a file or a frame that has a row for each item. `options`
    are keys of [data] in a policy, for tables.

    >>> import pyarrow
    >>> list(read_baskets(pyarrow.table({"age": [26, 30], "illness": ["flu", None]})).baskets)
    [('age=26', 'illness=flu'), ('age=30',)]
    """
    if isinstance(source, BasketTable):
        return source
    if isinstance(source, Baskets):
        return BasketTable(source, "memory")
    if isinstance(source, str | Path):
        path = _find_table(Path(source))
        if long is None and path.suffix.lower() in LINE_SUFFIXES:
            return BasketTable(_read_lines(path), "lines")
        return _read_table(path, long, options or {})
    if _is_frame(source):
        return _read_table(source, long, {})
    if long is not None:
        raise InputError("long names columns of a table, and lists of items have none; leave it out")
    return BasketTable(Baskets.of(source), "memory")


def _find_table(path: Path) -> Path:
    """Take the published table where a release's folder is named."""
    if path.is_dir():
        for name in ("table.csv", "table.parquet", "table.csv.gz", "table"):
            if (path / "public" / name).exists():
                return path / "public" / name
    return path


def _is_frame(source: Any) -> bool:
    """Tell whether something is a frame of a library, and not lists of items."""
    if isinstance(source, list | tuple | set | frozenset | dict) or hasattr(source, "__next__"):
        return False
    try:
        frame_kind(source)
    except InputError:
        return False
    return True


def _read_lines(path: Path) -> Baskets:
    """Read a basket a line: blanks and tabs part items, and nothing else does."""
    with open_regular_file(path) as file:
        try:
            content = file.read()
        except OSError as error:
            raise UnreadableFile(
                path.name, "failed", f"cannot be read: {error.strerror}", "name another file"
            ) from None
    if not content:
        raise DataError(f"{path.name} is empty; a file of baskets has a line for each")
    if b"\0" in content:
        raise DataError(f"{path.name} holds NUL bytes, which no file of baskets has; name a text file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path.name}: line {number:,} is not UTF-8; save it as UTF-8") from None
    del content
    lines = text.replace("\r\n", "\n").replace("\t", " ").split("\n")
    del text
    if not lines[-1]:
        lines.pop()  # the end of the last line begins no other
    # numbers as they are read: a million texts would take more room than all that is mined
    number_of: dict[str, int] = {}
    codes: array[int] = array("q")
    lengths: array[int] = array("q")
    for line in lines:
        items = [number_of.setdefault(item, len(number_of)) for item in line.split(" ") if item]
        codes.extend(items)
        lengths.append(len(items))
    rows = np.repeat(np.arange(len(lengths)), np.frombuffer(lengths, dtype=np.int64))
    found, _ = Baskets.from_occurrences(rows, np.frombuffer(codes, dtype=np.int64), tuple(number_of), len(lengths))
    return found


def _read_table(source: Any, long: Sequence[str] | str | None, options: Mapping[str, Any]) -> BasketTable:
    where = source.name if isinstance(source, Path) else "the table"
    names = outside_column_names(source, options)
    if long is None:
        table = read_outside_table(source, names, options).arrow
        return _wide_baskets(table, names)
    columns = split_names(long) if isinstance(long, str) else list(long)
    if len(columns) != 2 or columns[0] == columns[1]:
        raise InputError("--long: must name two columns, those of transactions and of items, such as receipt,product")
    check_column_names(columns, names, where)
    table = read_outside_table(source, columns, options).arrow
    transactions, items = (_code_column(table[name]) for name in columns)
    if (transactions.codes < 0).any():
        row = int(np.flatnonzero(transactions.codes < 0)[0]) + 1
        raise DataError(f"{where}: row {row:,} has no {quote(columns[0])}; say which transaction it is of")
    there = items.codes >= 0
    baskets, _ = Baskets.from_occurrences(
        transactions.codes[there], items.codes[there], items.texts, len(transactions.texts)
    )
    return BasketTable(baskets, "long", tuple(columns))


def _wide_baskets(table: Any, names: Sequence[str]) -> BasketTable:
    """Make an item of each cell: ``column=value``."""
    for name in names:
        other = next((long for long in names if long.startswith(f"{name}=")), None)
        if other is not None:
            raise DataError(
                f"the columns {quote(name)} and {quote(other)} could make the same item, since an item is "
                "column=value; rename one"
            )
    rows: list[IntArray] = []
    codes: list[IntArray] = []
    items: list[str] = []
    home: dict[str, int] = {}
    for place, name in enumerate(names):
        column = _code_column(table[name])
        there = np.flatnonzero(column.codes >= 0)
        rows.append(there)
        codes.append(column.codes[there] + len(items))
        own = [f"{name}={text}" for text in column.texts]
        items.extend(own)
        home.update(dict.fromkeys(own, place))
    baskets, order = Baskets.from_occurrences(np.concatenate(rows), np.concatenate(codes), items, table.num_rows)
    column_of = tuple(home[item] for item in baskets.items)
    return BasketTable(baskets, "wide", tuple(names), table.take(arrow_numbers(order)), column_of)


@dataclass(frozen=True)
class _CodedCells:
    """A column as numbers of its different texts, -1 for NULL."""

    codes: IntArray
    texts: tuple[str, ...]


def _code_column(column: Any) -> _CodedCells:
    """Number the different values of a column by their text."""
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    if pa.types.is_null(encoded.dictionary.type):
        return _CodedCells(np.full(len(encoded), -1, dtype=np.int64), ())
    texts = encoded.dictionary.cast(pa.string()).to_pylist()
    place: dict[str, int] = {}
    number = np.array([-1 if text is None else place.setdefault(text, len(place)) for text in texts], dtype=np.int64)
    there = numpy_numbers(encoded.indices.is_valid().cast(pa.uint8())).astype(bool)
    codes = np.full(len(encoded), -1, dtype=np.int64)
    codes[there] = number[numpy_numbers(encoded.indices.drop_null())]
    return _CodedCells(codes, tuple(place))


def basket_writer(source: BasketTable, path: Path) -> Callable[[Path, BoolArray, BoolArray], None]:
    """Choose how baskets of this form are written under this name; give the function that does it.

    It takes where to write, which occurrences are removed, and which baskets are dropped.
    """
    suffix = path.suffix.lower()
    if source.form in {"lines", "memory"}:
        if suffix not in LINE_SUFFIXES:
            raise OutputError(f"{path.name}: baskets that came as lines are written as lines; name a .dat file")
        return lambda place, removed, dropped: _write_lines(source, place, removed, dropped)
    if source.form == "long":
        if suffix != ".csv":
            raise OutputError(f"{path.name}: a table of transactions and items is written as CSV; name a .csv file")
        return lambda place, removed, dropped: _write_long(source, place, removed, dropped)
    if suffix not in {".csv", ".parquet"}:
        raise OutputError(f"{path.name}: a table is written as CSV or Parquet; name a .csv or .parquet file")
    return lambda place, removed, dropped: _write_wide(source, place, removed, dropped, suffix)


def _write_lines(source: BasketTable, path: Path, removed: BoolArray, dropped: BoolArray) -> None:
    odd = next((item for item in source.baskets.items if not item or any(sign in item for sign in " \t\n\r\0")), None)
    if odd is not None:
        raise OutputError(
            f"the item {quote(odd)} has a blank or a line end in it, which parts items in a file of lines"
        )
    left, _ = source.baskets.without(removed, dropped)
    _write_text(path, "".join(f"{' '.join(basket)}\n" for basket in left))


def _write_long(source: BasketTable, path: Path, removed: BoolArray, dropped: BoolArray) -> None:
    """Write a row for each item; baskets without items have none, and the others get numbers in their sorted order."""
    left, _ = source.baskets.without(removed, dropped)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([guard_formula(name) for name in source.columns])
    number = 0
    for basket in left:
        number += bool(basket)
        writer.writerows((number, guard_formula(item)) for item in basket)
    _write_text(path, text.getvalue())


def changed_table(source: BasketTable, removed: BoolArray, dropped: BoolArray) -> Any:
    """Give the wide table with NULL in place of removed cells, the rows in the order of what is left of them."""
    import pyarrow.compute as pc  # noqa: PLC0415 - it takes a while

    baskets, columns = source.baskets, []
    _, order = baskets.without(removed, dropped)
    home, where = np.asarray(source.column_of, dtype=np.int64)[baskets.codes[removed]], baskets.rows[removed]
    for place, name in enumerate(source.columns):
        gone = np.zeros(len(baskets), dtype=bool)
        gone[where[home == place]] = True
        cells = source.table[name].combine_chunks()
        if gone.any():
            cells = pc.if_else(arrow_flags(gone), pa.nulls(1, cells.type)[0], cells)
        columns.append(cells.take(arrow_numbers(order)))
    return pa.table(columns, names=list(source.columns))


def _write_wide(source: BasketTable, path: Path, removed: BoolArray, dropped: BoolArray, suffix: str) -> None:
    table = changed_table(source, removed, dropped)
    if suffix == ".parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415 - only where Parquet is written

        pq.write_table(table, path)
        return
    texts = [_csv_cells(cells) for cells in table.columns]
    header = ",".join(_csv_cell(name) for name in source.columns)
    lines = "".join(f"{','.join(row)}\n" for row in zip(*texts, strict=True))
    _write_text(path, f"{header}\n{lines}")


def _csv_cells(cells: Any) -> list[str]:
    """Write a column's cells for CSV, each different one once; NULL is nothing, and empty text a pair of quotes."""
    if pa.types.is_null(cells.type):
        return [""] * len(cells)
    coded = _code_column(cells)
    texts = [*(_csv_cell(text) for text in coded.texts), ""]  # -1 is the last
    return [texts[code] for code in coded.codes.tolist()]


def _csv_cell(text: str) -> str:
    guarded = guard_formula(text)
    if not guarded or any(sign in guarded for sign in ',"\r\n') or guarded != guarded.strip():
        return '"' + guarded.replace('"', '""') + '"'
    return guarded


def write_json(path: Path, parts: Iterable[str]) -> None:
    """Write what was mined; the file is readable by its owner alone, since it tells of baskets that are not shared."""
    with (
        appearing(path) as stage,
        os.fdopen(os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file,
    ):
        file.writelines(parts)


def _write_text(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give a hidden place beside a file, which gets its name when the block ends well, and vanishes if it does not."""
    stage = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        try:
            yield stage
            with stage.open("rb+") as file:
                os.fsync(file.fileno())
            stage.replace(path)
        finally:
            with suppress(FileNotFoundError):
                stage.unlink()
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or type(error).__name__}; choose another") from None
