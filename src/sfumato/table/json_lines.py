"""JSON Lines: one object a line. Text that looks like a date stays text; a missing key is NULL."""

import json
import mmap
import re
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, quote
from sfumato.policy import DataSource, Policy
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
    with open_table_file(path) as file:
        if file.read(4096).lstrip().startswith(b"["):
            raise DataError(f"{path.name} is a JSON array; write one object per line (JSON Lines)")
    _check_depth(path)
    table = _parse(path, None)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise DataError(f"{path.name} is not UTF-8; save it as UTF-8") from None
    dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if not dates:
        return table
    return _parse(
        path, pa.schema([(field.name, pa.string() if field.name in dates else field.type) for field in table.schema])
    )


def _check_depth(path: TableFile) -> None:
    """Refuse nesting that would exhaust the parser's stack; a table has none."""
    with open_table_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if not _NESTED.search(content):
            return
        depth = 0
        for token in _TOKENS.finditer(content):  # brackets outside of text
            depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token[0], 0)
            if depth > _DEEPEST:
                line = content[: token.start()].count(b"\n") + 1
                break
        else:
            return
    raise DataError(f"{path.name}: line {line} is nested too deeply; a table holds one plain object per line")


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
