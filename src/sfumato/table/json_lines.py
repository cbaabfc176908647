"""JSON Lines: one object a line. Text that looks like a date stays text; a missing key is NULL."""

import json
import mmap
import re
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, quote
from sfumato.policy import DataSource, Policy
from sfumato.table.batch_source import BatchSource, FileHash, LongRecord, Part, PartSize, choose_fields, cut_lines
from sfumato.table.table import TableFile, open_table_file

_BLOCK = 1 << 22
_BEGINNING = 1 << 23
_LONGEST = 1 << 30
_DEEPEST = 100
_NESTED = re.compile(rb"[\[{][^\[{\]}]*+[\[{]")
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{\]}]', re.DOTALL)
_TYPES = {str: "text", bool: "true or false", int: "numbers", float: "numbers", dict: "objects", list: "lists"}


def json_lines_schema(path: TableFile, _: DataSource) -> Any:
    """Read the columns of all objects, in the order in which they first come."""
    return _read_objects(path).schema


def read_json_lines(path: TableFile, _: Policy, columns: list[str]) -> Any:
    """Read some columns of all objects."""
    return _read_objects(path).select(columns)


def read_first_json_objects(path: TableFile, _: Policy, columns: list[str]) -> Any:
    """Read the objects in the first few megabytes of a file that has been read as a whole before."""
    from pyarrow import json as arrow_json  # noqa: PLC0415 - only where a JSON file is read

    with open_table_file(path) as file:
        content = file.read(_BEGINNING)
    whole = content.rpartition(b"\n")[0] if len(content) == _BEGINNING else content
    return arrow_json.read_json(pa.BufferReader(whole)).select(columns)


def _read_objects(path: TableFile) -> Any:
    """Read a file, a second time where Arrow took text for dates: these columns are declared as text then."""
    _refuse_array(path)
    _check_depth(path)
    table = _parse(path, None)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise _encoding_error(path) from None
    dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if not dates:
        return table
    return _parse(
        path, pa.schema([(field.name, pa.string() if field.name in dates else field.type) for field in table.schema])
    )


def _refuse_array(path: TableFile) -> None:
    with open_table_file(path) as file:
        if file.read(4096).lstrip().startswith(b"["):
            raise DataError(f"{path.name} is a JSON array; write one object per line (JSON Lines)")


def _encoding_error(path: TableFile) -> DataError:
    return DataError(f"{path.name} is not UTF-8; save it as UTF-8")


def _check_depth(path: TableFile) -> None:
    """Refuse nesting that would exhaust the parser's stack; a table has none."""
    with open_table_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        place = _find_deep_place(content)
        line = 0 if place is None else content[:place].count(b"\n") + 1
    if line:
        raise _depth_error(path, line)


def _find_deep_place(content: bytes | mmap.mmap) -> int | None:
    """Find the bracket that is nested too deeply, by the bytes before it."""
    if not _NESTED.search(content):
        return None
    depth = 0
    for token in _TOKENS.finditer(content):  # brackets outside of text
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token[0], 0)
        if depth > _DEEPEST:
            return token.start()
    return None


def _depth_error(path: TableFile, line: int) -> DataError:
    return DataError(f"{path.name}: line {line} is nested too deeply; a table holds one plain object per line")


def _parse(path: TableFile, schema: Any) -> Any:
    """Run Arrow's reader, in blocks that grow until the longest object fits into one."""
    from pyarrow import json as arrow_json  # noqa: PLC0415 - only where a JSON file is read

    block = _BLOCK
    while True:
        try:
            with open_table_file(path) as file:
                return arrow_json.read_json(
                    file,
                    read_options=arrow_json.ReadOptions(block_size=block),
                    parse_options=arrow_json.ParseOptions(explicit_schema=schema),
                )
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or block >= _LONGEST:
                raise _explain_failure(path) or error from None
            block *= 8


def _explain_failure(path: TableFile) -> DataError | None:
    """Say what is wrong, by line: Arrow counts from the start of a block and may quote what it read."""
    types: dict[str, str] = {}
    with open_table_file(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                content = json.loads(line)
            except (ValueError, RecursionError):
                content = None
            if not isinstance(content, dict):
                return DataError(f"{path.name}: line {number} is not a JSON object; write one object per line")
            for key, value in content.items():
                kind = _TYPES.get(type(value), "")
                if kind and types.setdefault(key, kind) != kind:
                    return DataError(
                        f"{path.name}: column {quote(key)} mixes {types[key]} and {kind} (line {number}); "
                        "write it in one type, as text if in doubt"
                    )
    return None


# Blocks of lines, each parsed by itself.


class JsonLinesBlocks(BatchSource):
    """A file of JSON Lines, one block of lines after the other.

    Columns and types show only in the objects. So all are parsed twice: first for the types that hold them all, by the
    rules by which Arrow widens them, and then with these types declared.
    """

    def __init__(self, path: TableFile, source: DataSource, size: PartSize) -> None:
        del source
        self._path, self._size = path, size
        _refuse_array(path)
        try:
            self.schema = self._find_types()
        except (_DeepBlock, LongRecord, UnicodeError, pa.ArrowException) as error:
            raise self.explain(error) or error from None

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns."""
        del policy
        self._chosen = choose_fields(self.schema, columns)
        return self._chosen

    def parts(self) -> Generator[Part]:
        """Parse the blocks, the chosen columns alone."""
        self.digest = None
        with open_table_file(self._path) as file, FileHash(file.read) as hashed:
            read = hashed.read if isinstance(self._path, Path) else file.read
            for block in cut_lines(read, self._size.bytes):
                yield partial(_parse_block, block, self._chosen)
            self.digest = hashed.digest if isinstance(self._path, Path) else None

    def _find_types(self) -> Any:
        """Parse all blocks, two at a time, and widen the types of what comes before by those that follow."""
        found = pa.schema([])
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(2, "sfumato-read") as pool, open_table_file(self._path) as file:
            for block in cut_lines(file.read, self._size.bytes):
                waiting.append(pool.submit(_find_block_types, block))
                if len(waiting) > 2:
                    found = _widen_schema(found, waiting.popleft().result())
            while waiting:
                found = _widen_schema(found, waiting.popleft().result())
        texts = [field.with_type(pa.string()) if pa.types.is_temporal(field.type) else field for field in found]
        return pa.schema(texts)

    def explain(self, error: Exception) -> Exception | None:
        """Say what is wrong by a line of the file, which is read once more for it."""
        if isinstance(error, _DeepBlock | pa.ArrowException | LongRecord):
            lines = 0
            with open_table_file(self._path) as file, suppress(LongRecord):
                for block in cut_lines(file.read, self._size.bytes):
                    if (place := _find_deep_place(block)) is not None:
                        return _depth_error(self._path, lines + block.count(b"\n", 0, place) + 1)
                    lines += block.count(b"\n")
            return _explain_failure(self._path)
        return _encoding_error(self._path) if isinstance(error, UnicodeError) else None


class _DeepBlock(Exception):
    """A block that is nested too deeply for a parser."""


def _find_block_types(block: bytes) -> Any:
    if _find_deep_place(block) is not None:
        raise _DeepBlock
    table = _parse_block(block)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise UnicodeError from None
    return table.schema


def _parse_block(block: bytes, schema: Any = None) -> Any:
    """Parse a block in this thread; where a schema is declared, its columns and no others."""
    from pyarrow import json as arrow_json  # noqa: PLC0415 - only where a JSON file is read

    table = arrow_json.read_json(
        pa.BufferReader(block),
        read_options=arrow_json.ReadOptions(block_size=len(block) + 1, use_threads=False),
        parse_options=arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "ignore"
        ),
    )
    return table if schema is None else table.select(schema.names)


def _widen_schema(before: Any, after: Any) -> Any:
    """Find the types that hold two blocks; a column that is only in the later one comes last."""
    names = list(dict.fromkeys([*before.names, *after.names]))
    fields = {name: [one.field(name) for one in (before, after) if name in one.names] for name in names}
    return pa.schema([pa.field(name, _widen_type([one.type for one in found])) for name, found in fields.items()])


def _widen_type(kinds: list[Any]) -> Any:
    """Find the type that holds values of two, as Arrow does of the cells of one block; there may be none.

    >>> _widen_type([pa.int64(), pa.float64()]), _widen_type([pa.timestamp("s"), pa.string()])
    (DataType(double), DataType(string))
    """
    types = pa.types
    known = list(dict.fromkeys(kind for kind in kinds if not types.is_null(kind)))
    if len(known) <= 1:
        return known[0] if known else pa.null()
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in known):
        return pa.float64()
    if all(types.is_temporal(kind) or types.is_string(kind) for kind in known):
        return pa.string()
    if all(types.is_list(kind) for kind in known):
        return pa.list_(_widen_type([kind.value_type for kind in known]))
    if all(types.is_struct(kind) for kind in known):
        return pa.struct(list(_widen_schema(*(pa.schema(list(kind)) for kind in known))))
    raise pa.ArrowInvalid
