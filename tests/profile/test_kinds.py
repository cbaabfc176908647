"""Which kind of values a column holds, from its texts alone."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.profile.facts import profile
from sfumato.profile.kinds import Kind, shape_of
from sfumato.profile.moments import FORMATS, Moments, moments_of
from sfumato.profile.values import Values, of_texts, values_of


def texts(*values: str) -> Values:
    """A column of these values."""
    return of_texts(dict.fromkeys(values, 1))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["7", "-12", "+3"], Kind.INTEGER),
        (["0.5", "1e3", ".25"], Kind.DECIMAL),
        (["1,5", "-2.000,25"], Kind.DECIMAL),
        (["1,234", "12,345,678"], Kind.INTEGER),
        (["007", "123"], Kind.CODE),
        (["I21.0", "E11"], Kind.CODE),
        (["SW1A 1AA", "EC1A 1BB"], Kind.CODE),
        (["20-29", "30-39"], Kind.CATEGORY),
        (["<=50K", ">50K"], Kind.CATEGORY),
        (["nurse", "cook", "12"], Kind.CATEGORY),
        (["2020-01-31", "2021-02-28"], Kind.DATE),
        (["31.01.2020"], Kind.DATE),
        (["Jan 31, 2020", "Feb 1, 2021"], Kind.DATE),
        (["20200131", "20200201", "20200301", "20200401", "20200501"], Kind.DATE),
        (["2020-02-30"], Kind.CODE),
        (["She came at night and left", "He came by day and stayed on"], Kind.TEXT),
        (["nan", "inf"], Kind.CATEGORY),
        ([], Kind.EMPTY),
    ],
)
def test_kinds_of_texts(values: list[str], kind: Kind) -> None:
    """A column is what all of its values are."""
    assert shape_of(texts(*values)).kind is kind


def test_one_value_decides() -> None:
    """A single value that is no number makes a column of numbers one of categories, with a remark."""
    shape = shape_of(texts(*map(str, range(5000)), "unknown"))
    assert shape.kind is Kind.CATEGORY
    assert shape.mixed


@pytest.mark.parametrize("form", [form for form in FORMATS if form is not None])
def test_every_date_format_is_found(form: str) -> None:
    """Dates written in a format are read in it, or in one that gives the same dates."""
    from datetime import UTC, datetime, timedelta

    days = [datetime(1987, 1, 20, 13, 59, 58, tzinfo=UTC) + timedelta(days=31 * step) for step in range(40)]
    written = [day.strftime(form) for day in days]
    found = moments_of(texts(*written))
    assert found is not None
    assert found.single
    assert found.formats[0] is not None
    read = [datetime.strptime(text, found.formats[0]) for text in written]  # noqa: DTZ007 - dates have no zone
    assert read == [datetime.strptime(text, form) for text in written]  # noqa: DTZ007 - same


def test_days_and_months_that_may_be_mistaken_are_said() -> None:
    """Where every value may have the month first, somebody is told."""
    assert moments_of(texts("03/04/2020", "01/02/2021")) == Moments(("%d/%m/%Y",), month_first=True)
    assert moments_of(texts("03/04/2020", "28/02/2021")) == Moments(("%d/%m/%Y",))


def test_values_are_counted_as_they_print() -> None:
    """Counts, missing rows and the share of pairs told apart are those of a plain count."""
    column = ["a", None, "b", "a", None, "c", "a"]
    found = values_of(pa.chunked_array([column[:3], column[3:]]))
    assert dict(zip(found.listed(), found.counts.tolist(), strict=True)) == {"a": 3, "b": 1, "c": 1}
    assert found.missing == 2
    pairs = [(one, other) for i, one in enumerate(column) for other in column[i + 1 :]]
    assert found.separation == pytest.approx(sum(one != other for one, other in pairs) / len(pairs))


def test_typed_columns(tmp_path: Path) -> None:
    """Numbers, dates, truth values, empty and nested columns of a Parquet file are known for what they are."""
    table = pa.table(
        {
            "n": pa.array([1, 2, None]),
            "x": pa.array([0.5, 1.5, np.nan]),
            "day": pa.array(np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")),
            "at": pa.array(np.array(["2020-01-01T10:00", "2020-01-02", "2020-01-03"], dtype="datetime64[ns]")),
            "yes": pa.array([True, False, None]),
            "none": pa.nulls(3),
            "list": pa.array([[1], [2], [3]]),
            "coded": pa.array(["a", "b", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = {facts.name: (str(facts.kind), facts.values.missing) for facts in profile(tmp_path / "t.parquet").columns}
    assert found == {
        "n": ("integer", 1),
        "x": ("category", 0),
        "day": ("date", 0),
        "at": ("date", 0),
        "yes": ("category", 1),
        "none": ("empty", 3),
        "list": ("empty", 3),
        "coded": ("category", 1),
    }
