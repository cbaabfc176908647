"""The profile of a table: what each column holds, how many values, how many missing, and what it looks like."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import narrow_codes
from sfumato.core.arrow import numpy_numbers
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.profile.formats import Format, looks_like
from sfumato.profile.kinds import Kind, Shape, shape_of
from sfumato.profile.names import Meaning, meaning
from sfumato.profile.reading import Opened, opened
from sfumato.profile.values import Values, of_texts, values_of
from sfumato.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Facts:
    """One column: its values, their kind, what its name says, and what its values look like.

    `readable` is false of a column whose type nobody can look at; it has no values then.
    """

    name: str
    values: Values
    shape: Shape
    meaning: Meaning
    format: Format | None
    readable: bool = True

    @property
    def kind(self) -> Kind:
        """Integers, decimals, dates, codes, categories, text, or nothing."""
        return self.shape.kind

    @property
    def concept(self) -> str:
        """What the name says it is about, by its key; empty where it says nothing."""
        return self.meaning.concept.key if self.meaning.concept else ""


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """A table as it was found."""

    path: Path
    opened: Opened
    columns: tuple[Facts, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.opened.rows

    def unique(self, names: list[str]) -> int:
        """Rows that no other row equals in these columns: whoever knows these values of somebody finds the row."""
        columns = [_codes(self.opened.table, name) for name in names]
        if not columns:
            return 0
        packed = pack_tuples([codes for codes, _ in columns], [width for _, width in columns])
        return int((count_keys(packed).counts == 1).sum())


def profile(path: Path) -> Profile:
    """Read a table and look at every column; files are read as `sfumato anonymize` will read them."""
    found = opened(path)
    with ThreadPoolExecutor(2) as pool:  # Arrow works outside Python's lock
        columns = tuple(pool.map(lambda name: _facts(found, name), found.names))
    return Profile(path, found, columns)


def _facts(found: Opened, name: str) -> Facts:
    said = meaning(name)
    if not found.readable(name):
        return Facts(name, of_texts({}, missing=found.rows), Shape(Kind.EMPTY), said, None, readable=False)
    values = values_of(found.table.arrow.column(name))
    shape = shape_of(values)
    form = looks_like(values.sample) if shape.kind not in {Kind.DATE, Kind.DECIMAL} else None
    return Facts(name, values, shape, said, form)


def _codes(table: Table, name: str) -> tuple[NDArray[Any], int]:
    """A column as numbers of its values, NULL one of them."""
    column = table.arrow.column(name).combine_chunks()
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    width = len(encoded.dictionary) + 1
    return narrow_codes(numpy_numbers(encoded.indices.fill_null(width - 1)).astype(np.int64), width), width
