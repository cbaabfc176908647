"""JSON Lines: one object a line. Text that looks like a date stays text; a missing key is NULL."""

import json
import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.policy import DataSource, Policy

_BLOCK = 1 << 22
_BEGINNING = 1 << 23
_LONGEST = 1 << 30
_DEEPEST = 100
_NESTED = re.compile(rb"[\[{][^\[{\]}]*+[\[{]")
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{\]}]', re.DOTALL)
_KINDS = {str: "text", bool: "true or false", int: "numbers", float: "numbers", dict: "objects", list: "lists"}


def json_schema(path: Path, _: DataSource) -> Any:
    """The columns of all objects, in the order in which they first come."""
    return _objects(path).schema


def read_json(path: Path, _: Policy, columns: list[str]) -> Any:
    """The columns."""
    return _objects(path).select(columns)


def begin_json(path: Path, _: Policy, columns: list[str]) -> Any:
    """The columns of the first objects, as many as stand in the first few megabytes, of a file that was read before."""
    from pyarrow import json as arrow_json  # noqa: PLC0415 - only where a JSON file is read

    with path.open("rb") as file:
        content = file.read(_BEGINNING)
    whole = content.rpartition(b"\n")[0] if len(content) == _BEGINNING else content
    return arrow_json.read_json(pa.BufferReader(whole)).select(columns)


def _objects(path: Path) -> Any:
    with path.open("rb") as file:
        if file.read(4096).lstrip().startswith(b"["):
            raise DataError(f"{path.name} is a JSON array; write one object per line (JSON Lines)")
    _check_depth(path)
    table = _parsed(path, None)
    _check_text(path, table)
    dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if not dates:
        return table
    return _parsed(
        path, pa.schema([(field.name, pa.string() if field.name in dates else field.type) for field in table.schema])
    )


def _check_depth(path: Path) -> None:
    """Refuse nesting that would exhaust the parser's stack; a table has none."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        place = _too_deep(content) if _NESTED.search(content) else None
        line = None if place is None else content[:place].count(b"\n") + 1
    if line is not None:
        raise DataError(f"{path.name}: line {line} is nested too deeply; a table holds one plain object per line")


def _too_deep(content: mmap.mmap) -> int | None:
    """The place where brackets outside of text are nested deeper than any table needs."""
    depth = 0
    for token in _TOKENS.finditer(content):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token[0], 0)
        if depth > _DEEPEST:
            return token.start()
    return None


def _check_text(path: Path, table: Any) -> None:
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise DataError(f"{path.name} is not UTF-8; save it as UTF-8") from None


def _parsed(path: Path, schema: Any) -> Any:
    from pyarrow import json as arrow_json  # noqa: PLC0415 - only where a JSON file is read

    block = _BLOCK
    while True:
        try:
            return arrow_json.read_json(
                path,
                read_options=arrow_json.ReadOptions(block_size=block),
                parse_options=arrow_json.ParseOptions(explicit_schema=schema),
            )
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or block >= _LONGEST:
                raise _explained(path, error) from None
            block *= 8  # an object longer than the block: read on in larger ones


def _explained(path: Path, error: Exception) -> Exception:
    """What is wrong, by line: Arrow counts from the start of a block and may quote what it read."""
    return next(_complaints(path), error)


def _complaints(path: Path) -> Iterator[DataError]:
    kinds: dict[str, str] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            found = _object(line)
            if found is None:
                yield DataError(f"{path.name}: line {number} is not a JSON object; write one object per line")
                return
            for key, value in found.items():
                kind = _KINDS.get(type(value), "")
                if kind and kinds.setdefault(key, kind) != kind:
                    yield DataError(
                        f"{path.name}: column '{key}' mixes {kinds[key]} and {kind} (line {number}); "
                        "write it in one type, as text if in doubt"
                    )


def _object(line: bytes) -> dict[str, Any] | None:
    """The object on a line, if there is one."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
