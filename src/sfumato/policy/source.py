"""Where the rows come from: the [data] part of a policy."""

import codecs
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PolicyError
from sfumato.policy.section import Section

KEYS = ("source", "separator", "null", "encoding")
LATER = ("query",)


@dataclass(frozen=True)
class Source:
    r"""A file of rows, and how to read it; without a path, the caller hands the table in.

    `separator` is None where the reader is to find it, and `null` are the cell texts read as missing.

    >>> Source(Path("adult.csv"), separator="\t").encoding
    'utf-8'
    """

    path: Path | None = None
    separator: str | None = None
    null: tuple[str, ...] = ("",)
    encoding: str = "utf-8"


def read_source(value: object, *, folder: Path) -> Source:
    """The [data] table; a relative path starts at `folder`.

    >>> read_source({"source": "adult.csv", "encoding": "latin-1"}, folder=Path()).encoding
    'iso8859-1'
    """
    section = Section.of(value, "data", KEYS, later=LATER)
    null = section.texts("null")
    return Source(
        path=_path(section, folder),
        separator=separator_of(section),
        null=("",) if null is None else null,
        encoding=encoding_of(section),
    )


def _path(section: Section, folder: Path) -> Path | None:
    source = section.text("source")
    if source is None:
        return None
    if "://" in source:
        raise PolicyError("database URLs are not in this version; give the path of a file", key="data.source")
    if not source:
        raise section.wrong("source", "must be the path of a file")
    return folder / source


def separator_of(section: Section) -> str | None:
    """The character that stands between two cells, or None where it is to be found."""
    separator = section.text("separator")
    if separator is None or (len(separator) == 1 and separator not in '"\r\n'):
        return separator
    raise section.wrong("separator", 'must be one character, such as ";" or "\\t"')


def encoding_of(section: Section) -> str:
    """The encoding by its usual name; UTF-8 where nothing is said."""
    encoding = section.text("encoding")
    if encoding is None:
        return "utf-8"
    try:
        "a".encode(encoding)  # unlike a look-up alone, refuses the codecs that are not of text
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise section.wrong("encoding", 'must be an encoding such as "utf-8" or "latin-1"') from None
