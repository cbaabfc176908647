"""Hierarchies: how the values of a column may be generalized step by step, up to ``*``.

A policy declares a :class:`Spec` before any data is seen; :func:`parse` makes it from what TOML gave.
Bound to the distinct values of a column it is a :class:`Hierarchy`: one integer matrix, leaf x level.
Of a label that was published, of whatever level, :meth:`Spec.paths` gives the path to the root.
One kind per file: `hierarchy_file`, `intervals`, `mask`, `dates`, `suppress` and, without levels, `open_ended`. Each
knows how its labels are written and read.

>>> spec = parse({"intervals": [5, 10]}, folder=Path(), key="columns.age.hierarchy")
>>> spec.bind(["37", "41"], column="age").labels
(('37', '41'), ('35-39', '40-44'), ('30-39', '40-49'), ('*',))
>>> spec.paths(["35-39"], column="age")
[('35-39', '30-39', '*')]
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from sfumato.errors import HierarchyError, PolicyError, did_you_mean, quote
from sfumato.hierarchy.dates import Dates
from sfumato.hierarchy.hierarchy import MOST_LEVELS, Branch, Hierarchy, Spec
from sfumato.hierarchy.hierarchy_file import File, write
from sfumato.hierarchy.intervals import Intervals
from sfumato.hierarchy.label_function import LabelFunction
from sfumato.hierarchy.mask import Mask
from sfumato.hierarchy.open_ended import Ranges, Sets
from sfumato.hierarchy.suppress import Suppress

__all__ = [
    "LINES_SCHEMA",
    "SCHEMA",
    "Branch",
    "Dates",
    "File",
    "Hierarchy",
    "Intervals",
    "LabelFunction",
    "Mask",
    "Ranges",
    "Sets",
    "Spec",
    "Suppress",
    "parse",
    "write",
]

# A kind is known by its first key; its fields are the keys that it takes.
_KINDS: dict[str, type[Intervals] | type[Mask] | type[Dates] | type[Ranges]] = {
    "intervals": Intervals,
    "mask": Mask,
    "dates": Dates,
    "ranges": Ranges,
}
_LINES = "lines"
_WORDS: dict[str, type[Suppress] | type[Sets]] = {"suppress": Suppress, "sets": Sets}
_CHOICE = 'a file name, "suppress", "sets" or one of { intervals }, { mask }, { dates }, { ranges } and { lines }'
LINES_SCHEMA: dict[str, object] = {
    "type": "object",
    "description": "The lines of a hierarchy file, in the policy itself.",
    "properties": {
        _LINES: {
            "type": "array",
            "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": MOST_LEVELS + 1},
            "minItems": 1,
            "description": "One line per leaf: [leaf, parent, …, *].",
        }
    },
    "required": [_LINES],
    "additionalProperties": False,
}

SCHEMA: dict[str, object] = {
    "description": "How values of this column may be told less exactly.",
    "anyOf": [spec.schema for spec in (*_WORDS.values(), File, *_KINDS.values())] + [LINES_SCHEMA],
}


def parse(value: object, *, folder: Path, key: str) -> Spec:
    """Make the Spec of what TOML gave as `hierarchy`; files are looked for in `folder` and read here.

    Raises PolicyError, with the dotted `key` it is about, for what means nothing, and HierarchyError for a
    file that is not functional and nested.

    >>> parse("suppress", folder=Path(), key="columns.sex.hierarchy")
    Suppress()
    >>> parse({"mask": "right", "lenght": 5}, folder=Path(), key="columns.zip.hierarchy")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.zip.hierarchy.lenght: unknown key; did you mean length?
    """
    try:
        if isinstance(value, LabelFunction):
            return value
        return _parse_text(value, folder) if isinstance(value, str) else _parse_table(value)
    except PolicyError as error:
        # A Spec knows its own keys; where it is in the policy is known here.
        raise PolicyError(error.message, key=f"{key}.{error.key}" if error.key else key) from error


def _parse_text(text: str, folder: Path) -> Spec:
    if text in _WORDS:
        return _WORDS[text]()
    if not text.strip():
        raise PolicyError(f"must be {_CHOICE}, not an empty text")
    try:
        return File(folder / text)
    except PolicyError as error:
        # Most files that are not there are there under another name, or are a word misspelt.
        try:
            there = [path.name for path in folder.iterdir()]
        except (OSError, ValueError):  # there is no such folder, nor could there be
            there = []
        near = [name for name in (*_WORDS, *there) if name != text]
        raise PolicyError(f"{error.message}{did_you_mean(text, near)}") from error


def _parse_table(table: object) -> Spec:
    if not isinstance(table, Mapping):
        raise PolicyError(f"must be {_CHOICE}, not {quote(table)}")
    if list(table) == [_LINES]:
        return _parse_lines(table[_LINES])
    named = [name for name in (*_KINDS, _LINES) if name in table]
    if len(named) > 1:
        raise PolicyError(f"must be one of {' and '.join(named)}, not both")
    if named == [_LINES]:
        others = [str(key) for key in table if key != _LINES]
        raise PolicyError(f"unknown key{did_you_mean(others[0], [_LINES])}", key=others[0])
    kinds = [_KINDS[name] for name in named] or list(_KINDS.values())
    allowed = [option.name for kind in kinds for option in fields(kind)]
    for key in table:
        if key not in allowed:
            raise PolicyError(f"unknown key{did_you_mean(str(key), allowed)}", key=str(key))
    if not named:
        raise PolicyError(f"must be {_CHOICE}, not {quote(dict(table))}")
    return kinds[0](**table)


def _parse_lines(lines: object) -> File:
    example = '[["cook", "service", "*"], ["nurse", "health", "*"]]'
    if not isinstance(lines, list) or not lines:
        raise PolicyError(f"must be a list of lines such as {example}", key=_LINES)
    for place, line in enumerate(lines):
        if not isinstance(line, list) or not all(isinstance(cell, str) for cell in line):
            raise PolicyError(f"must be a list of texts, as in {example}", key=f"{_LINES}[{place}]")
    try:
        return File.from_lines(lines)
    except HierarchyError as error:
        raise PolicyError(str(error), key=_LINES) from None
