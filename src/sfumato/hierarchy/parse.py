"""From what a policy says to a checked Spec."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from sfumato.errors import PolicyError, did_you_mean
from sfumato.hierarchy.base import Spec
from sfumato.hierarchy.dates import Dates
from sfumato.hierarchy.file import File
from sfumato.hierarchy.intervals import Intervals
from sfumato.hierarchy.mask import Mask
from sfumato.hierarchy.open_ended import Ranges, Sets
from sfumato.hierarchy.suppress import Suppress

Kind = type[Intervals] | type[Mask] | type[Dates] | type[Ranges]

# A kind is known by its first key; its fields are the keys that it takes.
_KINDS: dict[str, Kind] = {"intervals": Intervals, "mask": Mask, "dates": Dates, "ranges": Ranges}
_WORDS: dict[str, type[Suppress] | type[Sets]] = {"suppress": Suppress, "sets": Sets}
_OPTIONS = [one.name for kind in _KINDS.values() for one in fields(kind)]
_CHOICE = 'a file name, "suppress", "sets" or one of { intervals }, { mask }, { dates } and { ranges }'

SCHEMA: dict[str, object] = {
    "description": "How values of this column may be told less exactly.",
    "anyOf": [spec.schema for spec in (*_WORDS.values(), File, *_KINDS.values())],
}


def parse(value: object, *, folder: Path, key: str) -> Spec:
    """The Spec for what TOML gave as `hierarchy`; files are looked for in `folder` and read here.

    Raises PolicyError, with the dotted `key` it is about, for what means nothing, and HierarchyError for a
    file that is not functional and nested.

    >>> parse("suppress", folder=Path(), key="columns.sex.hierarchy")
    Suppress()
    >>> parse({"mask": "right", "lenght": 5}, folder=Path(), key="columns.zip.hierarchy")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.zip.hierarchy.lenght: unknown key; did you mean length?
    """
    try:
        return _named(value, folder) if isinstance(value, str) else _keyed(value)
    except PolicyError as error:
        # A Spec knows its own keys; where it stands in the policy is known here.
        raise PolicyError(error.message, key=f"{key}.{error.key}" if error.key else key) from error


def _named(word: str, folder: Path) -> Spec:
    if word in _WORDS:
        return _WORDS[word]()
    if not word.strip():
        raise PolicyError(f"must be {_CHOICE}, not an empty text")
    try:
        return File(folder / word)
    except PolicyError as error:
        # Most files that are not there are there under another name, or are a word misspelt.
        near = [name for name in (*_WORDS, *(path.name for path in folder.glob("*"))) if name != word]
        raise PolicyError(f"{error.message}{did_you_mean(word, near)}") from error


def _keyed(table: object) -> Spec:
    if not isinstance(table, Mapping):
        raise PolicyError(f"must be {_CHOICE}, not {table!r}")
    kind = _kind(table)
    allowed = [one.name for one in fields(kind)] if kind else _OPTIONS
    for key in table:
        if key not in allowed:
            raise PolicyError(f"unknown key{did_you_mean(str(key), allowed)}", key=str(key))
    if kind is None:
        raise PolicyError(f"must be {_CHOICE}, not {dict(table)!r}")
    return kind(**table)


def _kind(table: Mapping[Any, Any]) -> Kind | None:
    kinds = [name for name in _KINDS if name in table]
    if len(kinds) > 1:
        raise PolicyError(f"must be one of {' and '.join(kinds)}, not both")
    return _KINDS[kinds[0]] if kinds else None
