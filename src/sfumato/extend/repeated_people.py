"""Whether further rows are about people who are in the tables before: by their identifiers, where these are at hand.

New rows are taken to be about other people, and no published file can show whether that is so. The data holder may
still have the tables that the releases were made of; a file that is where it was, with the hash that the audit has, is
compared. Values of identifiers are counted here, and never kept or told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.encode import encode_column
from sfumato.errors import InputError
from sfumato.policy import Policy
from sfumato.reading.outside_table import ReadOptions, outside_column_names, read_outside_table
from sfumato.table.files import file_digest, may_name_persons


@dataclass(frozen=True)
class OriginalTable:
    """The file that a release was made of: where it was, the hash that it had, and how it is read."""

    path: Path
    sha256: str
    options: ReadOptions


def find_original(audit: Mapping[str, Any]) -> OriginalTable | None:
    """Find the file that a release was made of by its audit; nothing where it came from no file, or is not there."""
    try:
        data, digest = audit["policy"]["data"], audit["input"]["sha256"]
        path = Path(audit["folder"]) / data["source"]
        options = {key: value for key, value in data.items() if key != "source"}
        is_there = isinstance(digest, str) and path.is_file()
    except (KeyError, TypeError, AttributeError, ValueError):
        return None
    return OriginalTable(path, digest, options) if is_there else None


def count_repeated_people(data: Any, policy: Policy, originals: Sequence[OriginalTable]) -> dict[str, int] | None:
    """Count, by identifier, the further rows whose value stands in a table before.

    Columns that are left out for another reason than that they name somebody, such as a sex or a date, are not
    compared. Returns ``None`` where nothing could be: no identifier names persons, or no table is as it was. A missing
    value is nobody's.
    """
    names = [column.name for column in policy.identifiers]
    known: dict[str, set[str]] = {}
    for original in originals:
        try:
            if not names or file_digest(original.path) != original.sha256:
                continue
            table = read_outside_table(original.path, names, original.options)
        except (InputError, OSError):  # it cannot be read any more, which is no reason to publish nothing
            continue
        for name in names:
            if may_name_persons(table.arrow.column(name)):
                texts = encode_column(table, name).texts
                known.setdefault(name, set()).update(text for text in texts if text is not None)
    if not known:
        return None
    source = policy.document.get("data")
    options = {key: value for key, value in source.items() if key != "source"} if isinstance(source, Mapping) else {}
    held = [name for name in known if name in outside_column_names(data, options)]
    table = read_outside_table(data, held, options)
    repeated = {}
    for name in held:
        column = encode_column(table, name)
        there = np.array([text is not None and text in known[name] for text in column.texts], dtype=np.bool_)
        repeated[name] = int(there[column.codes].sum())
    return repeated
