"""The key file of the individual column: where it is. What is in it, nobody reads before a release is made.

A policy can be read, and a release verified against it, where the key is not: that is what it is kept apart for.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import PolicyError
from sfumato.policy.section import Section, dotted

if TYPE_CHECKING:
    from sfumato.policy.columns import Column


def read_key(section: Section, *, individual: bool, folder: Path) -> Path | None:
    """The path under ``key`` of a column, from `folder`, or None where it is left out.

    >>> read_key(Section({"key": "person.key"}, "columns.person"), individual=True, folder=Path("project"))
    PosixPath('project/person.key')
    >>> read_key(Section({"key": "person.key"}, "columns.age"), individual=False, folder=Path("project"))
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age.key: only a column of role individual has pseudonyms, and so a key;
    leave it out
    """
    name = section.text("key")
    if name is None:
        return None
    if not individual:
        why = "only a column of role individual has pseudonyms, and so a key"
        raise PolicyError(f"{why}; leave it out", key=section.path("key"))
    if not name:
        raise section.wrong("key", "must be the path of a file")
    return folder / name


def check_key(columns: "Mapping[str, Column]", path: Path, what: str) -> None:
    """Refuse a key file that is the file at `path`, which is there for something else: others know what is in it."""
    for column in columns.values():
        if column.key is not None and _is_same(column.key, path):
            way = "name a file that holds the key alone and is kept apart"
            raise PolicyError(f"{column.key} is {what}; {way}", key=dotted("columns", column.name, "key"))


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121 - Path's own is no better, and takes a path as well
    except (OSError, ValueError):  # one of them is not there, or could not be
        return False
