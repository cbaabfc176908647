"""A release held against the table that it is said to have been made from."""

from collections.abc import Sequence

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.encode import CodedColumn
from sfumato.errors import DataError, listing

WAY = "name the table that this release was made from"


def check_rows(lines: int, rows: int) -> None:
    """A release has no more lines than its original has rows.

    >>> check_rows(3, 2)
    Traceback (most recent call last):
    sfumato.errors.DataError: the release has 3 lines and the original 2 rows; name the table that this release was
    made from
    """
    if lines > rows:
        raise DataError(f"the release has {lines:,} lines and the original {rows:,} rows; {WAY}")


def codes_of(texts: Sequence[str | None], column: CodedColumn) -> IntArray:
    """The original's codes of values as they stand in a release; a sentence where one is not there.

    >>> column = CodedColumn("sex", np.array([0, 1]), ("f", "m"), None)
    >>> codes_of(["m", "f"], column).tolist()
    [1, 0]
    >>> codes_of(["x"], column)
    Traceback (most recent call last):
    sfumato.errors.DataError: column 'sex' of the release holds values that the original does not have: 'x'; name the
    table that this release was made from
    """
    known = {text: code for code, text in enumerate(column.texts)}
    strange = sorted((text for text in texts if text not in known), key=str)
    if strange:
        why = f"column '{column.name}' of the release holds values that the original does not have: {listing(strange)}"
        raise DataError(f"{why}; {WAY}")
    return np.array([known[text] for text in texts], dtype=np.int64)
