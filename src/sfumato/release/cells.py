"""A published column, without a way back to the rows it came from."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.arrow import coded, numbers
from sfumato.keys import Codes


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """One published column: codes in published order, and the value of each code that occurs, and no other."""

    codes: Codes
    values: Any

    def arrow(self, kind: Any) -> Any:
        """As an Arrow array of the given type."""
        if pa.types.is_dictionary(kind):
            return coded(self.codes, self.values, kind)
        return self.values.cast(kind).take(numbers(self.codes))
