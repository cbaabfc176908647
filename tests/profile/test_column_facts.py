"""Which kind of values a column holds, from its texts alone."""

import pytest

from sfumato.profile.column_facts import ColumnKind, infer_type
from sfumato.profile.column_values import ColumnValues


def texts(*values: str) -> ColumnValues:
    """A column of these values."""
    return ColumnValues.from_counts(dict.fromkeys(values, 1))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["7", "-12", "+3"], ColumnKind.INTEGER),
        (["0.5", "1e3", ".25"], ColumnKind.DECIMAL),
        (["1,5", "-2.000,25"], ColumnKind.DECIMAL),
        (["1,234", "12,345,678"], ColumnKind.INTEGER),
        (["007", "123"], ColumnKind.CODE),
        (["I21.0", "E11"], ColumnKind.CODE),
        (["SW1A 1AA", "EC1A 1BB"], ColumnKind.CODE),
        (["20-29", "30-39"], ColumnKind.CATEGORY),
        (["<=50K", ">50K"], ColumnKind.CATEGORY),
        (["nurse", "cook", "12"], ColumnKind.CATEGORY),
        (["2020-01-31", "2021-02-28"], ColumnKind.DATE),
        (["31.01.2020"], ColumnKind.DATE),
        (["Jan 31, 2020", "Feb 1, 2021"], ColumnKind.DATE),
        (["20200131", "20200201", "20200301", "20200401", "20200501"], ColumnKind.DATE),
        (["2020-02-30"], ColumnKind.CODE),
        (["She came at night and left", "He came by day and stayed on"], ColumnKind.TEXT),
        (["nan", "inf"], ColumnKind.CATEGORY),
        ([], ColumnKind.EMPTY),
    ],
)
def test_kinds_of_texts(values: list[str], kind: ColumnKind) -> None:
    """A column is what all of its values are."""
    assert infer_type(texts(*values)).kind is kind


def test_one_value_decides() -> None:
    """A single value that is no number makes a column of numbers one of categories, with a remark."""
    shape = infer_type(texts(*map(str, range(5000)), "unknown"))
    assert shape.kind is ColumnKind.CATEGORY
    assert shape.mixed
