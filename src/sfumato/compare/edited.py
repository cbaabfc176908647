"""Edit a TOML document in place: change, add or leave out keys, and keep every comment and space that is there.

An edit is tried where the key is written, read back, and kept only if the document then says exactly what it should.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.compare.settings import Path
from sfumato.policy.policy import plain_tables
from sfumato.policy.toml_text import dotted_key, find_line
from sfumato.policy.toml_text import write_value as toml

_VALUE = re.compile(r"""=\s*("(?:\\.|[^"\\])*"|'[^']*'|[^\s,\]}#"']+)""")


def edited(text: str, wanted: Mapping[str, Any]) -> str | None:
    r"""The document with the values of `wanted`; ``None`` where it cannot be done by small edits.

    >>> print(edited("[algorithm]  # how\nname = 'auto'  # best", {"algorithm": {"name": "tds", "seed": 1}}))
    [algorithm]  # how
    seed = 1
    name = "tds"  # best
    """
    for path in _differences(_said(text) or {}, wanted):
        goal = _with(_said(text) or {}, wanted, path)
        found = next((one for one in _candidates(text, path, _at(wanted, path)) if _said(one) == goal), None)
        if found is None:
            return None
        text = found
    return text if _said(text) == wanted else None


def _said(text: str) -> dict[str, object] | None:
    try:
        return plain_tables(tomllib.loads(text))
    except ValueError:
        return None


def _differences(now: Any, wanted: Any, path: Path = ()) -> Iterator[Path]:
    """The places that differ: keys of a table, one by one, or a whole value."""
    if isinstance(now, dict) and isinstance(wanted, Mapping):
        for key in [*now, *(key for key in wanted if key not in now)]:
            inside = now.get(key, {} if isinstance(wanted.get(key), Mapping) else None)
            yield from _differences(inside, wanted.get(key), (*path, key))
    elif isinstance(now, list) and isinstance(wanted, list) and len(now) == len(wanted) and _deep(now):
        for place, (one, other) in enumerate(zip(now, wanted, strict=True)):
            yield from _differences(one, other, (*path, place))
    elif now != wanted:
        yield path


def _deep(values: list[Any]) -> bool:
    return all(isinstance(one, dict) for one in values)


def _at(document: Any, path: Path) -> Any:
    for part in path:
        document = document.get(part) if isinstance(document, Mapping) else document[part]
    return document


def _with(now: dict[str, object], wanted: Mapping[str, Any], path: Path) -> dict[str, object]:
    """What the document says now, but for one place."""
    *outer, key = path
    table: Any = now
    for part in outer:
        table = table.setdefault(part, {}) if isinstance(table, dict) else table[part]
    table[key] = _at(wanted, path)
    if table[key] is None:
        del table[key]
    return now


def _candidates(text: str, path: Path, value: object) -> Iterator[str]:
    """The document with an edit at each place where it may belong."""
    number = find_line(text, _key(path))
    lines, key = text.splitlines(keepends=True), dotted_key(str(path[-1]))
    if number is not None:
        before, line, after = "".join(lines[: number - 1]), lines[number - 1], "".join(lines[number:])
        for match in _VALUE.finditer(line) if value is not None else ():
            yield before + line[: match.start(1)] + toml(value) + line[match.end(1) :] + after
        if value is None:
            yield before + after
        else:
            yield f"{before}{_ended(line)}{key} = {toml(value)}\n{after}"
    if value is not None and len(path) == 2:
        yield f"{_ended(text)}\n[{dotted_key(str(path[0]))}]\n{key} = {toml(value)}\n"


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _key(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{dotted_key(part)}" for part in path).lstrip(".")
