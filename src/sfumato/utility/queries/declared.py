"""What published labels cover as far as the release itself tells: what whoever answers queries from it has to go by."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.encode import CodedColumn
from sfumato.queries.labels import Leaves, read_labels
from sfumato.utility.queries.covers import Cover, Label

Entry = Mapping[str, Any]


def declared(column: CodedColumn, labels: Sequence[Label], entry: Entry) -> Cover | None:
    """What labels cover by the column's entry in the data dictionary, in codes of the original's column.

    Nothing where the entry does not tell it of every label, or not in the way that the original writes its values: of
    ranges that hold more numbers than can be listed, of a star where no domain is declared, of dates in a format of
    their own.

    >>> column = CodedColumn("age", np.array([0, 1]), ("35", "38"), None)
    >>> declared(column, ["35-39"], {"integers": True}).shares(np.array([True, False]))
    array([0.2])
    """
    leaves = read_labels(entry, labels)
    if leaves.unclear is not None or leaves.sampled or "date_format" in entry:
        return None
    codes, counts = _codes(leaves, column), np.bincount(leaves.owner, minlength=len(labels))
    known = np.bincount(leaves.owner[codes < column.width], minlength=len(labels))
    if not known.all():
        return None
    ends = np.cumsum(counts)
    return Cover(codes, ends - counts, ends)


def _codes(leaves: Leaves, column: CodedColumn) -> IntArray:
    """The original's code of each leaf; one more than there are for a value that the original does not have."""
    known = {_number(text) if leaves.number else text: code for code, text in enumerate(column.texts)}
    return np.array([known.get(leaf, column.width) for leaf in leaves.values.to_pylist()], dtype=np.int64)


def _number(text: Label) -> float | None:
    """A text as a number; as itself where it is none, so that it is no leaf's."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return float("nan")
