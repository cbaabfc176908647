"""The words of a TOML document; just enough of its grammar to find keys."""

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str | int, ...]
END = ""

_TOKEN = re.compile(
    r'''
      (?P<blank> [ \t\r]+ | \#[^\n]* )
    | (?P<text>  """(?:\\.|(?!""")[^\\])*"{3,5} | \'\'\'(?:(?!\'\'\').)*'{3,5}
               | "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
    | (?P<other> \n | [\[\]{}=,.] | [^\s\#"'\[\]{}=,.]+ )
    ''',
    re.VERBOSE | re.DOTALL,
)
_MARKS = frozenset("\n[]{}=,.")


def tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens of a TOML document, without blanks and comments, and the line of each.

    >>> list(tokens("a = 0.5 # half"))
    [('a', 1), ('=', 1), ('0', 1), ('.', 1), ('5', 1)]

    Raises:
        ValueError: this is not TOML.
    """
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"not TOML at line {line}")
        if match.lastgroup != "blank":
            yield match[0], line
        at, line = match.end(), line + match[0].count("\n")


def split(key: str) -> Path:
    """The names and indexes of a dotted key.

    >>> split('privacy[0]."a.b"')
    ('privacy', 0, 'a.b')
    """
    parts = [token for token, _ in tokens(key)]
    pairs = zip(["", *parts], parts, strict=False)
    return tuple(int(part) if before == "[" else name_of(part) for before, part in pairs if part not in _MARKS)


def name_of(token: str) -> str:
    r"""The name that a token writes, bare or quoted.

    >>> name_of("age"), name_of('"\u0061ge"'), name_of("'age'")
    ('age', 'age', 'age')
    """
    if token in _MARKS:
        raise ValueError(f"expected a key, not {token}")
    # tomllib knows the escapes of a quoted key; a bare one is what it says.
    return next(iter(tomllib.loads(f"{token} = 0"))) if token[0] in "\"'" else token
