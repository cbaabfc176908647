"""Where a key stands in a TOML file."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.policy.toml_text import dotted_key, find_line, key_lines

TEXT = '''\
title = "a = 1 # no comment"  # 1
[data]                        # 2
"null" = [                    # 3
  "",                         # 4
  """
  [columns]
  """,                        # 5 to 7
]
'sou rce'.path = 1979-05-27 07:32:00
[columns]
age.role = "quasi"            # 11
age.weight = 0.5
sex = { role = "quasi", hierarchy = { mask = 'right', "a.b" = 1 } }
[columns."a \\"b\\""]
role = "plain"                # 15
[[privacy]]
k = 5
[[ privacy ]]                 # 18
  k = 5
  [privacy.sub]               # 20
  x = """a""""
  [[privacy.more]]
  y = 1
  [[privacy.more]]
  y = 2                       # 25
[empty]
'''


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("title", 1),
        ("data", 2),
        ("data.null", 3),
        ("data.null[0]", 4),
        ("data.null[1]", 5),
        ('data."sou rce".path', 9),
        ("columns", 10),
        ("columns.age", 11),
        ("columns.age.role", 11),
        ("columns.age.weight", 12),
        ("columns.sex.hierarchy.mask", 13),
        ('columns.sex.hierarchy."a.b"', 13),
        ('columns."a \\"b\\"".role', 15),
        ("privacy", 16),
        ("privacy[0]", 16),
        ("privacy[0].k", 17),
        ("privacy[1]", 18),
        ("privacy[1].k", 19),
        ("privacy[1].sub.x", 21),
        ("privacy[1].more[0].y", 23),
        ("privacy[1].more[1].y", 25),
        ("empty", 26),
    ],
)
def test_keys_are_found(key: str, line: int) -> None:
    """A key written in any of TOML's ways is found on its line."""
    assert find_line(TEXT, key) == line


@pytest.mark.parametrize(
    ("key", "line"),
    [("columns.age.hierarchy", 11), ("privacy[1].model", 18), ("data.null[7]", 3), ("empty.key", 26)],
)
def test_missing_keys_are_sought_around(key: str, line: int) -> None:
    """A key that is missing is found where its table is."""
    assert find_line(TEXT, key) == line


@pytest.mark.parametrize("key", ["algorithm.name", "", "privacy[x]", 'columns."age', "[[[", "\x00"])
def test_keys_that_stand_nowhere(key: str) -> None:
    """A key of which nothing is written, or that is no key, has no line."""
    assert find_line(TEXT, key) in {None, 16} if key == "privacy[x]" else find_line(TEXT, key) is None


@pytest.mark.parametrize("text", ["a = [1", "a = {b", 'a = "', "[a", "= 1", "a", "a = " + "[" * 100_000])
def test_unfinished_documents(text: str) -> None:
    """In a document that is no TOML nothing is certain."""
    assert find_line(text, "a") is None


def test_inline_tables_on_several_lines() -> None:
    """The inline tables of an array are told apart, line by line."""
    text = 'privacy = [\n  { model = "k-anonymity", k = 5 },\n  { model = "x", values = [\n "a",\n "b"] },\n]\n'
    assert find_line(text, "privacy[1].values[1]") == 5
    assert find_line(text, "privacy[0].k") == 2


names = st.text(min_size=1, max_size=4) | st.sampled_from(["a", "b", "privacy", "a.b", "x y"])
scalars = st.integers(0, 99) | st.booleans() | st.sampled_from(["", "a # b", "[x]", "k = 1", "{", '"', "\\"])
documents = st.dictionaries(
    names,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=10,
    ),
    max_size=4,
)


@given(document=documents, broken=st.booleans())
def test_lines_against_a_writer_that_knows_them(document: dict[str, object], broken: bool) -> None:
    """Of any document, the keys found are those tomllib reads, on the lines they were written on."""
    writer = Writer(broken)
    writer.tables(document, ())
    text = "\n".join(writer.lines) + "\n"
    assert set(key_lines(text)) == set(paths(tomllib.loads(text), ()))
    assert all(key_lines(text)[path] == line for path, line in writer.places.items())


class Writer:
    """Writes a document as TOML, tables under headers where it can, and notes the line of every value."""

    def __init__(self, broken: bool) -> None:
        self.lines: list[str] = []
        self.places: dict[tuple[str | int, ...], int] = {}
        self.broken = broken  # arrays go over several lines

    def tables(self, table: dict[str, object], path: tuple[str | int, ...]) -> None:
        later = {name: value for name, value in table.items() if isinstance(value, dict) or is_array(value)}
        for name, value in table.items():
            if name not in later:
                self.pair(name, value, (*path, name))
        for name, value in later.items():
            self.header(name, value, (*path, name))

    def header(self, name: str, value: object, path: tuple[str | int, ...]) -> None:
        names = dotted_key(*(part for part in path if isinstance(part, str)))
        if isinstance(value, dict):
            self.start(f"[{names}]", path)
            self.tables(value, path)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self.start(f"[[ {names} ]] # {name!r}", (*path, index))
                self.tables(item, (*path, index))

    def pair(self, name: str, value: object, path: tuple[str | int, ...]) -> None:
        self.start(f"{dotted_key(name)} = ", path)
        self.value(value, path)

    def start(self, text: str, path: tuple[str | int, ...]) -> None:
        self.lines.append(text)
        self.places[path] = len(self.lines)

    def value(self, value: object, path: tuple[str | int, ...]) -> None:
        if isinstance(value, list):
            self.lines[-1] += "["
            for index, item in enumerate(value):
                if self.broken:
                    self.lines.extend(["# ]", ""])
                self.places[*path, index] = len(self.lines)
                self.value(item, (*path, index))
                self.lines[-1] += ", "
            self.lines[-1] += "]"
        elif isinstance(value, dict):
            self.inline(value, path)
        else:
            self.lines[-1] += str(value).lower() if isinstance(value, int) else dotted_key(f"{value} ")

    def inline(self, table: dict[str, object], path: tuple[str | int, ...]) -> None:
        self.lines[-1] += "{"
        for index, (name, value) in enumerate(table.items()):
            self.lines[-1] += f"{', ' if index else ''}{dotted_key(name)} = "
            self.places[*path, name] = len(self.lines)
            self.value(value, (*path, name))
        self.lines[-1] += "}"


def is_array(value: object) -> bool:
    """Whether this can be written with [[headers]]."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def paths(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """The path of everything inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield (*path, step)
        yield from paths(item, (*path, step))
