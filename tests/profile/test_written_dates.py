"""Which formats a column of dates has."""

import pytest

from sfumato.profile.column_values import ColumnValues
from sfumato.profile.written_dates import DATE_FORMATS, WrittenDates, find_date_formats


def texts(*values: str) -> ColumnValues:
    """A column of these values."""
    return ColumnValues.from_counts(dict.fromkeys(values, 1))


@pytest.mark.parametrize("form", [form for form in DATE_FORMATS if form is not None])
def test_every_date_format_is_found(form: str) -> None:
    """Dates written in a format are read in it, or in one that gives the same dates."""
    from datetime import UTC, datetime, timedelta

    days = [datetime(1987, 1, 20, 13, 59, 58, tzinfo=UTC) + timedelta(days=31 * step) for step in range(40)]
    written = [day.strftime(form) for day in days]
    found = find_date_formats(texts(*written))
    assert found is not None
    assert found.has_one_format
    assert found.formats[0] is not None
    read = [datetime.strptime(text, found.formats[0]) for text in written]  # noqa: DTZ007 - dates have no zone
    assert read == [datetime.strptime(text, form) for text in written]  # noqa: DTZ007 - same


def test_days_and_months_that_may_be_mistaken_are_said() -> None:
    """Where every value may have the month first, somebody is told."""
    assert find_date_formats(texts("03/04/2020", "01/02/2021")) == WrittenDates(("%d/%m/%Y",), month_first=True)
    assert find_date_formats(texts("03/04/2020", "28/02/2021")) == WrittenDates(("%d/%m/%Y",))
