"""The different values of a column, as text, with the number of rows of each."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_numbers, arrow_texts, numpy_numbers

_SAMPLE = 2000
"""Values that are looked at one by one in Python, evenly spread over all."""


@dataclass(frozen=True, eq=False, repr=False)
class ColumnValues:
    """Different values as an Arrow array of text, the rows of each, and the rows without a value.

    >>> ColumnValues.from_arrow(pa.chunked_array([["a", None, "a", "b"]])).counts.tolist()
    [2, 1]
    """

    texts: Any
    counts: IntArray
    missing: int

    @classmethod
    def from_arrow(cls, column: Any) -> Self:
        """Count the different values of an Arrow column, as the text that hierarchies see."""
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        counted = plain.value_counts()
        values, counts = counted.field("values"), numpy_numbers(counted.field("counts")).astype(np.int64)
        null = numpy_numbers(pc.is_null(values).cast(pa.uint8())).astype(bool)
        return cls(values.drop_null().cast(pa.large_string()), counts[~null], int(counts[null].sum()))

    @classmethod
    def from_counts(cls, counts: dict[str, int], missing: int = 0) -> Self:
        """Make a column of these values with so many rows of each.

        >>> ColumnValues.from_counts({"a": 2, "b": 1}, missing=1).rows
        4
        """
        texts = arrow_texts(list(counts)).cast(pa.large_string())
        return cls(texts, np.array(list(counts.values()), dtype=np.int64), missing)

    @property
    def distinct(self) -> int:
        """Number of different values."""
        return len(self.counts)

    @property
    def present(self) -> int:
        """Number of rows with a value."""
        return int(self.counts.sum())

    @property
    def rows(self) -> int:
        """Number of all rows."""
        return self.present + self.missing

    @property
    def separation(self) -> float:
        """The share of pairs of rows that differ in the column; NULL is a value like any other.

        >>> round(ColumnValues.from_counts({"a": 2, "b": 1}).separation, 3)
        0.667
        """
        counts = np.append(self.counts, self.missing).astype(float)
        pairs = self.rows * (self.rows - 1)
        return 1 - float((counts * (counts - 1)).sum()) / pairs if pairs else 0.0

    @property
    def largest_share(self) -> float:
        """The share of rows that the most frequent value has, NULL one of them."""
        return max(int(self.counts.max(initial=0)), self.missing) / max(self.rows, 1)

    @property
    def sample(self) -> list[str]:
        """Some of the values, evenly spread; all where they are few."""
        step = -(-self.distinct // _SAMPLE) or 1
        return list(self.texts.take(arrow_numbers(np.arange(0, self.distinct, step))).to_pylist())

    def to_list(self) -> list[str]:
        """List all values, for columns of few."""
        return list(self.texts.to_pylist())

    def all_match(self, pattern: str) -> bool:
        """Tell whether every value matches, by the regular expressions of RE2; true where there is no value."""
        return bool(pc.all(pc.match_substring_regex(self.texts, pattern), min_count=0).as_py())

    def any_match(self, pattern: str) -> bool:
        """Tell whether some value matches."""
        return bool(pc.any(pc.match_substring_regex(self.texts, pattern), min_count=0).as_py())
