"""TOML as text: dotted keys, the line on which a key is written, and writing a document.

`tomllib` reads values and forgets where they were. `find_line` reads just enough of the grammar a second time to say
on which line a key is, so that an error in a policy can name it. `write_toml` quotes keys and values as they have to
be, so that a document is read back as it was.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

KeyPath = tuple[str | int, ...]
"""A key of a document: the names of its tables, the indexes of its arrays, and its own name."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")

# Keys


def dotted_key(*names: str) -> str:
    """Join names to one TOML key, quoted where TOML asks for quotes.

    >>> print(dotted_key("columns", "marital status", "role"))
    columns."marital status".role
    """
    # DEL is the one character that JSON leaves as it is and TOML does not.
    quoted = (json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f") for name in names)
    return ".".join(name if _BARE.fullmatch(name) else text for name, text in zip(names, quoted, strict=True))


def split_key(key: str) -> KeyPath:
    """Split a dotted key into its names and indexes.

    >>> split_key('privacy[0]."a.b"')
    ('privacy', 0, 'a.b')

    Raises:
        ValueError: this is no key.
    """
    parts = [token for token, _ in read_tokens(key)]
    pairs = zip(["", *parts], parts, strict=False)
    return tuple(int(part) if before == "[" else _read_name(part) for before, part in pairs if part not in _MARKS)


# Lines


def find_line(text: str, key: str) -> int | None:
    r"""Find the line on which `key` is written in `text`, a TOML document that tomllib reads.

    For a key that is missing the answer is the line of the closest table around it that is written. None where there
    is no such line, or where it is not certain.

    >>> policy = '[[privacy]]\nmodel = "k-anonymity"\n\n[[privacy]]\nk = 0'
    >>> find_line(policy, "privacy[1].k"), find_line(policy, "privacy[1].model"), find_line(policy, "columns")
    (5, 4, None)
    """
    try:
        path, lines = split_key(key), key_lines(text)
    except (ValueError, RecursionError):
        return None
    enclosing = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[outer] for outer in enclosing if outer in lines), None)


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""List all keys of a document, and the line on which each is first written.

    >>> key_lines("[a]\nb = 1")
    {('a',): 1, ('a', 'b'): 2}

    Raises:
        ValueError: this is not TOML.
    """
    reader = _KeyReader(text)
    reader.read_document()
    return reader.lines


_END = ""
_AFTER_VALUE = frozenset({"\n", ",", "]", "}", _END})
_MARKS = frozenset("\n[]{}=,.")
_TOKEN = re.compile(
    r'''
      (?P<blank> [ \t\r]+ | \#[^\n]* )
    | (?P<text>  """(?:\\.|(?!""")[^\\])*"{3,5} | \'\'\'(?:(?!\'\'\').)*'{3,5}
               | "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
    | (?P<other> \n | [\[\]{}=,.] | [^\s\#"'\[\]{}=,.]+ )
    ''',
    re.VERBOSE | re.DOTALL,
)


def read_tokens(text: str) -> Iterator[tuple[str, int]]:
    """List the tokens of a TOML document, without blanks and comments, and the line of each.

    >>> list(read_tokens("a = 0.5 # half"))
    [('a', 1), ('=', 1), ('0', 1), ('.', 1), ('5', 1)]

    Raises:
        ValueError: this is not TOML.
    """
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"not TOML at line {line}")
        if match.lastgroup != "blank":
            yield match[0], line
        position, line = match.end(), line + match[0].count("\n")


def _read_name(token: str) -> str:
    r"""Read the name that a token writes, bare or quoted.

    >>> _read_name("age"), _read_name('"\u0061ge"'), _read_name("'age'")
    ('age', 'age', 'age')
    """
    if token in _MARKS:
        raise ValueError(f"expected a key, not {token}")
    # tomllib knows the escapes of a quoted key; a bare one is what it says.
    return next(iter(tomllib.loads(f"{token} = 0"))) if token[0] in "\"'" else token


class _KeyReader:
    """Reads a document in one pass, token by token, and notes the line of every key."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._latest: dict[KeyPath, int] = {}  # of each [[array]], the index of its latest table
        self._tokens = [*read_tokens(text), (_END, 0)]
        self._position = 0

    def read_document(self) -> None:
        table: KeyPath = ()
        while self._peek() != _END:
            if self._peek() == "[":
                table = self._read_header()
            elif not self._accept("\n"):
                self._read_pair(table)

    def _read_header(self) -> KeyPath:
        """Read a [table] or an [[array]]; return the path of the table that it opens."""
        line = self._line()
        self._expect("[")
        is_array = self._accept("[")
        *outer, name = self._read_names()
        for _ in range(1 + is_array):
            self._expect("]")
        parent = self._enter((), outer, line)
        if is_array:
            path = (*parent, name)
            self._latest[path] = self._latest.get(path, -1) + 1
        return self._enter(parent, [name], line)

    def _read_pair(self, table: KeyPath) -> None:
        line = self._line()
        path = self._enter(table, self._read_names(), line)
        self._expect("=")
        self._read_value(path)

    def _read_value(self, path: KeyPath) -> None:
        if self._accept("["):
            index = 0
            while not self._accept_closing("]"):
                self.lines.setdefault((*path, index), self._line())
                self._read_value((*path, index))
                index += 1
        elif self._accept("{"):
            while not self._accept_closing("}"):
                self._read_pair(path)
        else:
            self._next()
            while self._peek() not in _AFTER_VALUE:  # 0.5 and 1979-05-27 07:32 are several tokens
                self._next()

    def _read_names(self) -> list[str]:
        names = [_read_name(self._next())]
        while self._accept("."):
            names.append(_read_name(self._next()))
        return names

    def _enter(self, path: KeyPath, names: list[str], line: int) -> KeyPath:
        """Go from a table down these names, into the latest table of each array, and note their line."""
        for name in names:
            path = (*path, name)
            self.lines.setdefault(path, line)
            if path in self._latest:
                path = (*path, self._latest[path])
                self.lines.setdefault(path, line)
        return path

    def _line(self) -> int:
        return self._tokens[self._position][1]

    def _peek(self) -> str:
        return self._tokens[self._position][0]

    def _next(self) -> str:
        token = self._peek()
        if token == _END:
            raise ValueError("the document ends in the middle of a value")
        self._position += 1
        return token

    def _accept(self, token: str) -> bool:
        """Go past the next token if it is this one."""
        accepted = self._peek() == token
        self._position += accepted
        return accepted

    def _accept_closing(self, bracket: str) -> bool:
        while self._accept("\n") or self._accept(","):
            pass
        return self._accept(bracket)

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise ValueError(f"expected {token}")


# Writing

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f-\x9f]')


def write_toml(document: Mapping[str, object]) -> str:
    """Write a whole document, table by table.

    >>> print(write_toml({"columns": {"a b": {"role": "plain"}}, "privacy": [{"k": 2}]}))
    [columns]
    "a b" = { role = "plain" }
    <BLANKLINE>
    [[privacy]]
    k = 2
    <BLANKLINE>
    """
    values = {name: content for name, content in document.items() if not _is_table(content)}
    # Values come first: what is written after a table's head belongs to the table.
    parts = ["\n".join(write_table("", values)).lstrip() + "\n"] if values else []
    for name, content in document.items():
        if name in values:
            continue
        single = isinstance(content, Mapping)
        head = f"[{write_key(name)}]" if single else f"[[{write_key(name)}]]"
        tables: Any = [content] if single else content
        parts += ["\n".join(write_table(head, table)) + "\n" for table in tables]
    return "\n".join(parts)


def _is_table(content: object) -> bool:
    """Tell whether this is a table, or a list of tables."""
    several = content if isinstance(content, list | tuple) and content else [content]
    return all(isinstance(item, Mapping) for item in several)


def write_table(head: str, content: Mapping[str, object]) -> list[str]:
    """Write the lines of a table: its head, and one for each key.

    >>> write_table("[algorithm]", {"name": "auto"})
    ['[algorithm]', 'name = "auto"']
    """
    return [head, *(f"{write_key(name)} = {write_value(value)}" for name, value in content.items())]


def write_key(name: str) -> str:
    r"""Write a key, quoted where it has to be.

    >>> print(write_key("age"), write_key("marital status"), write_key('a"b'), write_key("größe"), write_key(""))
    age "marital status" "a\"b" "größe" ""
    """
    return name if _BARE.fullmatch(name) else write_string(name)


def write_string(text: str) -> str:
    r"""Write a basic string; whatever would end it or is not allowed in it is escaped.

    >>> print(write_string('say "hi"\n\x00'))
    "say \"hi\"\n\u0000"
    """
    escaped = _ESCAPED.sub(lambda match: _ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}"), text)
    return f'"{escaped}"'


def write_value(content: object) -> str:
    """Write a value on one line: text, a number, a list or an inline table.

    >>> print(write_value({"role": "quasi", "hierarchy": {"intervals": [5, 10], "top": 90}}))
    { role = "quasi", hierarchy = { intervals = [5, 10], top = 90 } }
    """
    match content:
        case bool():
            return "true" if content else "false"
        case str():
            return write_string(content)
        case int() | float():
            return repr(content)  # which TOML reads as well
        case Mapping():
            parts = ", ".join(f"{write_key(name)} = {write_value(value)}" for name, value in content.items())
            return f"{{ {parts} }}" if parts else "{}"
        case list() | tuple():
            return f"[{', '.join(write_value(value) for value in content)}]"
    raise TypeError(f"TOML has no {type(content).__name__}")
