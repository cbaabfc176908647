"""A policy written as TOML: keys and values quoted as they have to be, so that they are read back as they were."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def written(document: Mapping[str, object]) -> str:
    """A whole document, table by table.

    >>> print(written({"columns": {"a b": {"role": "plain"}}, "privacy": [{"k": 2}]}))
    [columns]
    "a b" = { role = "plain" }
    <BLANKLINE>
    [[privacy]]
    k = 2
    <BLANKLINE>
    """
    plain = {name: content for name, content in document.items() if not _is_table(content)}
    head = ["\n".join(table("", plain)).lstrip() + "\n"] if plain else []  # what stands after a table is the table's
    parts = [part for name, content in document.items() if name not in plain for part in _tables(name, content)]
    return "\n".join([*head, *("\n".join(part) + "\n" for part in parts)])


def _is_table(content: object) -> bool:
    """Whether it is a table, or several."""
    several = content if isinstance(content, list | tuple) and content else [content]
    return all(isinstance(one, Mapping) for one in several)


def _tables(name: str, content: Any) -> Iterator[list[str]]:
    """A table of this name, or each of several."""
    if isinstance(content, Mapping):
        yield table(f"[{key(name)}]", content)
        return
    for one in content:
        yield table(f"[[{key(name)}]]", one)


def table(head: str, content: Mapping[str, object]) -> list[str]:
    """The lines of a table: its head, and one for each key.

    >>> table("[algorithm]", {"name": "auto"})
    ['[algorithm]', 'name = "auto"']
    """
    return [head, *(f"{key(one)} = {value(part)}" for one, part in content.items())]


def key(name: str) -> str:
    r"""A key, quoted where it has to be.

    >>> print(key("age"), key("marital status"), key('a"b'), key("größe"), key(""))
    age "marital status" "a\"b" "größe" ""
    """
    return name if _BARE.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    r"""A basic string; whatever would end it or cannot stand in it is escaped.

    >>> print(quoted('say "hi"\n\x00'))
    "say \"hi\"\n\u0000"
    """
    return f'"{"".join(_escaped(one) for one in text)}"'


def _escaped(one: str) -> str:
    if one in _ESCAPED:
        return _ESCAPED[one]
    return f"\\u{ord(one):04x}" if ord(one) < 0x20 or 0x7F <= ord(one) <= 0x9F else one


def value(content: object) -> str:
    """A value on one line: text, a number, a list or an inline table.

    >>> print(value({"role": "quasi", "hierarchy": {"intervals": [5, 10], "top": 90}}))
    { role = "quasi", hierarchy = { intervals = [5, 10], top = 90 } }
    """
    match content:
        case bool():
            return "true" if content else "false"
        case str():
            return quoted(content)
        case int() | float():
            return repr(content)  # which TOML reads as well
        case Mapping():
            parts = ", ".join(f"{key(name)} = {value(part)}" for name, part in content.items())
            return f"{{ {parts} }}" if parts else "{}"
        case list() | tuple():
            return f"[{', '.join(value(part) for part in content)}]"
    raise TypeError(f"TOML has no {type(content).__name__}")
