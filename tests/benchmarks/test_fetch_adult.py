"""The Adult rows, cleaned."""

import pytest

from benchmarks.fetch_adult import HEADER, clean

pytestmark = pytest.mark.slow

FILE = """|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.
25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, United-States, >50K.

"""


def test_clean() -> None:
    """Rows with unknown values, remarks and blank lines go; blanks and the dot after a label too."""
    (row,) = clean(FILE, "test")
    cells = dict(zip(HEADER, row, strict=True))
    assert (cells["workclass"], cells["salary-class"], cells["split"]) == ("Private", "<=50K", "test")
