"""A published column, without a way back to the rows it came from."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.core.arrays import Codes, IntArray, count_codes
from sfumato.core.arrow import arrow_dictionary, arrow_numbers


@dataclass(frozen=True, eq=False, repr=False)
class PublishedColumn:
    """Codes in published order, and the value of each code that occurs, and no other.

    Of a table of counted lines there is a code per line, in no order, and `counts` are the published rows of each: none
    of a line that is not published.

    >>> import numpy as np
    >>> PublishedColumn(np.array([1, 0, 1]), pa.array(["f", "m"])).arrow(pa.string()).to_pylist()
    ['m', 'f', 'm']
    """

    codes: Codes
    values: Any
    counts: IntArray | None = None

    @property
    def rows_of_values(self) -> IntArray:
        """How many published rows have each value."""
        return count_codes(self.codes, len(self.values), self.counts)

    def arrow(self, kind: Any) -> Any:
        """As an Arrow array of the given type."""
        if pa.types.is_dictionary(kind):
            return arrow_dictionary(self.codes, self.values, kind)
        return self.values.cast(kind).take(arrow_numbers(self.codes))
