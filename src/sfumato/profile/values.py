"""The different values of a column, as text, with how often each stands there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_numbers, arrow_texts, numpy_numbers

SAMPLE = 2000
"""Values that are looked at one by one in Python, evenly spread over all."""


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """Different values as an Arrow array of text, their rows, and the rows without a value.

    >>> values_of(pa.chunked_array([["a", None, "a", "b"]])).counts.tolist()
    [2, 1]
    """

    texts: Any
    counts: IntArray
    missing: int

    @property
    def distinct(self) -> int:
        """Number of different values."""
        return len(self.counts)

    @property
    def present(self) -> int:
        """Rows with a value."""
        return int(self.counts.sum())

    @property
    def rows(self) -> int:
        """All rows."""
        return self.present + self.missing

    @property
    def separation(self) -> float:
        """The share of pairs of rows that the column tells apart; NULL is a value like any other.

        >>> round(values_of(pa.chunked_array([["a", "a", "b"]])).separation, 3)
        0.667
        """
        counts = np.append(self.counts, self.missing).astype(float)
        pairs = self.rows * (self.rows - 1)
        return 1 - float((counts * (counts - 1)).sum()) / pairs if pairs else 0.0

    @property
    def largest(self) -> float:
        """The share of rows that the most frequent value has, NULL one of them."""
        return max(int(self.counts.max(initial=0)), self.missing) / max(self.rows, 1)

    @property
    def sample(self) -> list[str]:
        """Some of the values, evenly spread; all where they are few."""
        step = -(-self.distinct // SAMPLE) or 1
        return list(self.texts.take(arrow_numbers(np.arange(0, self.distinct, step))).to_pylist())

    def all_match(self, pattern: str) -> bool:
        """Whether every value matches, by the regular expressions of RE2; true of none."""
        return bool(pc.all(pc.match_substring_regex(self.texts, pattern), min_count=0).as_py())

    def any_match(self, pattern: str) -> bool:
        """Whether some value matches."""
        return bool(pc.any(pc.match_substring_regex(self.texts, pattern), min_count=0).as_py())

    def listed(self) -> list[str]:
        """All values as a list, for columns of few."""
        return list(self.texts.to_pylist())


def values_of(column: Any) -> Values:
    """Count the different values of an Arrow column, as the text that hierarchies see."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    found = plain.value_counts()
    values, counts = found.field("values"), numpy_numbers(found.field("counts")).astype(np.int64)
    empty = numpy_numbers(pc.is_null(values).cast(pa.uint8())).astype(bool)
    written = values.drop_null().cast(pa.large_string())
    return Values(written, counts[~empty], int(counts[empty].sum()))


def of_texts(values: dict[str, int], missing: int = 0) -> Values:
    """Values from a plain dict, for examples.

    >>> of_texts({"a": 2, "b": 1}, missing=1).rows
    4
    """
    return Values(
        arrow_texts(list(values)).cast(pa.large_string()), np.array(list(values.values()), dtype=np.int64), missing
    )
