"""The different values of a column."""

import pyarrow as pa
import pytest

from sfumato.profile.column_values import ColumnValues


def test_values_are_counted_as_they_print() -> None:
    """Counts, missing rows and the share of pairs told apart are those of a plain count."""
    column = ["a", None, "b", "a", None, "c", "a"]
    found = ColumnValues.from_arrow(pa.chunked_array([column[:3], column[3:]]))
    assert dict(zip(found.to_list(), found.counts.tolist(), strict=True)) == {"a": 3, "b": 1, "c": 1}
    assert found.missing == 2
    pairs = [(one, other) for i, one in enumerate(column) for other in column[i + 1 :]]
    assert found.separation == pytest.approx(sum(one != other for one, other in pairs) / len(pairs))
