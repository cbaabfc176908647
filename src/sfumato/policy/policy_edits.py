"""Edits of a policy's text: it comes to say something else, and its comments stay where they are.

An edit is tried where the key is written, read back, and kept only if the document then says exactly what it should;
where no small edit does, the document is written anew.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.policy.policy import plain_tables
from sfumato.policy.toml_text import KeyPath, dotted_key, find_line, write_key, write_table, write_toml, write_value

_VALUE = re.compile(r"""=\s*("(?:\\.|[^"\\])*"|'[^']*'|[^\s,\]}#"']+)""")


def edit_policy(text: str, wanted: Mapping[str, Any]) -> str:
    r"""Write the text of a policy that says `wanted`, out of one that says something else.

    Columns are written anew line by line, requirements table by table, all else key by key. Comments stay, but for
    those of a requirement that is taken out. Only where that cannot be done, the document is written without comments.

    >>> text = '[columns]\n# why\nage = { role = "plain" }  # by hand\n\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    >>> role = {"role": "quasi", "hierarchy": "suppress"}
    >>> print(edit_policy(text, {"columns": {"age": role}, "privacy": [{"model": "k-anonymity", "k": 3}]}))
    [columns]
    # why
    age = { role = "quasi", hierarchy = "suppress" }  # by hand
    <BLANKLINE>
    [[privacy]]
    model = "k-anonymity"
    k = 3
    <BLANKLINE>
    """
    if _read_toml(text) == wanted:
        return text
    edited = _edit_columns(text, wanted)
    edited = _edit_requirements(edited, wanted)
    return edit_toml(edited, wanted) or write_toml(wanted)


def _edit_columns(text: str, wanted: Mapping[str, Any]) -> str:
    """Write the lines of columns anew that differ, where each has a line of its own."""
    columns = (_read_toml(text) or {}).get("columns")
    goal = wanted.get("columns")
    if not isinstance(columns, dict) or not isinstance(goal, Mapping):
        return text
    for name, entry in goal.items():
        before: Any = _read_toml(text) or {}
        if before["columns"].get(name) == entry or name not in before["columns"]:
            continue
        number = find_line(text, dotted_key("columns", name))
        if number is None:
            continue
        lines = text.splitlines(keepends=True)
        beside = _comment_behind(lines[number - 1])
        lines[number - 1] = f"{write_key(name)} = {write_value(entry)}{beside}\n"
        edited = "".join(lines)
        after = {**before, "columns": {**before["columns"], name: entry}}
        if _read_toml(edited) == after:
            text = edited
    return text


def _comment_behind(line: str) -> str:
    """Find the comment at the end of a line of TOML, with the blanks before it."""
    for place in [found.start() for found in re.finditer(r"\s*#", line)]:
        if _read_toml(line[:place]) is not None and _read_toml(line) is not None:
            return line[place:].rstrip("\n")
    return ""


def _edit_requirements(text: str, wanted: Mapping[str, Any]) -> str:
    """Take requirements out and put new ones in, each with the comments above it; others stay as they are."""
    now, goal = (_read_toml(text) or {}).get("privacy"), wanted.get("privacy")
    if not isinstance(now, list) or not isinstance(goal, list | tuple) or len(now) == len(goal):
        return text
    blocks = _split_tables(text)
    places = [place for place, block in enumerate(blocks) if re.search(r"^\[\[\s*privacy\s*\]\]", block, re.MULTILINE)]
    if len(places) != len(now):
        return text
    written = {place: blocks[places[old]] for old, place in _pair_equal(now, goal)}
    fresh = {
        place: "\n".join(write_table("[[privacy]]", entry)) + "\n\n"
        for place, entry in enumerate(goal)
        if place not in written
    }
    order = [written.get(place, fresh.get(place, "")) for place in range(len(goal))]
    first = places[0] if places else len(blocks)
    others = [(place, block) for place, block in enumerate(blocks) if place not in places]
    before = [block for place, block in others if place < first]
    after = [block for place, block in others if place >= first]
    edited = "".join(_end_line(block) for block in (*before, *order, *after))
    return edited if _read_toml(edited) == {**(_read_toml(text) or {}), "privacy": list(goal)} else text


def _pair_equal(now: Sequence[Any], goal: Sequence[Any]) -> list[tuple[int, int]]:
    """Pair the places of entries that say the same, in their order."""
    pairs, taken = [], set[int]()
    for place, entry in enumerate(goal):
        old = next((at for at, one in enumerate(now) if at not in taken and one == entry), None)
        if old is not None:
            taken.add(old)
            pairs.append((old, place))
    return pairs


def _split_tables(text: str) -> list[str]:
    """Cut a document before each head of a table, the comments right above it with it."""
    lines, blocks, current = text.splitlines(keepends=True), list[str](), list[str]()
    for line in lines:
        if re.match(r"\[", line):
            above: list[str] = []
            while current and current[-1].lstrip().startswith("#"):
                above.insert(0, current.pop())
            blocks.append("".join(current))
            current = above
        current.append(line)
    return [*blocks, "".join(current)]


def edit_toml(text: str, wanted: Mapping[str, Any]) -> str | None:
    r"""Change, add or leave out keys of a TOML document so that it says `wanted`; every comment and space stays.

    ``None`` where it cannot be done by small edits.

    >>> print(edit_toml("[algorithm]  # how\nname = 'auto'  # best", {"algorithm": {"name": "tds", "seed": 1}}))
    [algorithm]  # how
    seed = 1
    name = "tds"  # best
    """
    for path in _differences(_read_toml(text) or {}, wanted):
        goal = _change_one(_read_toml(text) or {}, wanted, path)
        edits = _candidate_edits(text, path, _value_at(wanted, path))
        edited = next((edit for edit in edits if _read_toml(edit) == goal), None)
        if edited is None:
            return None
        text = edited
    return text if _read_toml(text) == wanted else None


def _read_toml(text: str) -> dict[str, object] | None:
    try:
        return plain_tables(tomllib.loads(text))
    except ValueError:
        return None


def _differences(now: Any, wanted: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Find the places that differ: keys of a table, one by one, or a whole value."""
    if isinstance(now, dict) and isinstance(wanted, Mapping):
        for key in [*now, *(key for key in wanted if key not in now)]:
            inside = now.get(key, {} if isinstance(wanted.get(key), Mapping) else None)
            yield from _differences(inside, wanted.get(key), (*path, key))
    elif (
        isinstance(now, list)
        and isinstance(wanted, list)
        and len(now) == len(wanted)
        and all(isinstance(value, dict) for value in now)
    ):
        for place, (value, other) in enumerate(zip(now, wanted, strict=True)):
            yield from _differences(value, other, (*path, place))
    elif now != wanted:
        yield path


def _value_at(document: Any, path: KeyPath) -> Any:
    for part in path:
        document = document.get(part) if isinstance(document, Mapping) else document[part]
    return document


def _change_one(now: dict[str, object], wanted: Mapping[str, Any], path: KeyPath) -> dict[str, object]:
    """Give one place of a document the value that is wanted there, and leave the others as they are."""
    *outer, key = path
    table: Any = now
    for part in outer:
        table = table.setdefault(part, {}) if isinstance(table, dict) else table[part]
    table[key] = _value_at(wanted, path)
    if table[key] is None:
        del table[key]
    return now


def _candidate_edits(text: str, path: KeyPath, value: object) -> Iterator[str]:
    """Edit the document at each place where the key may belong: replace a value, add a line, or add a table."""
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{dotted_key(part)}" for part in path).lstrip(".")
    number = find_line(text, dotted)
    lines, key = text.splitlines(keepends=True), dotted_key(str(path[-1]))
    if number is not None:
        before, line, after = "".join(lines[: number - 1]), lines[number - 1], "".join(lines[number:])
        if value is None:
            yield before + after
        else:
            for match in _VALUE.finditer(line):
                yield before + line[: match.start(1)] + write_value(value) + line[match.end(1) :] + after
            yield f"{before}{_end_line(line)}{key} = {write_value(value)}\n{after}"
    if value is not None and len(path) == 2:
        yield f"{_end_line(text)}\n[{dotted_key(str(path[0]))}]\n{key} = {write_value(value)}\n"


def _end_line(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"
