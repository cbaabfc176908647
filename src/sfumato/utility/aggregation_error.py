"""What means, medians and modes of classes are off by: SSE / SST, the information loss of microaggregation.

SSE adds up the squares by which published numbers differ from the true ones, SST those by which the true numbers differ
from the mean of their column; each column is divided by its variance first, so that SSE / SST is the average over
columns (Domingo-Ferrer and Mateo-Sanz 2002). 0 is a column as it came, and 1 one of which only the mean is left. A cell
that shows nothing, and a row that is suppressed, is off by as much as its column's mean would be.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.arrow import arrow_texts
from sfumato.core.numbers import read_decimal
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.hierarchy import Dates, Intervals, Ranges
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.policy import Policy
from sfumato.recode import Recoding
from sfumato.table.number_scale import is_text, read_date_values


@dataclass(frozen=True)
class ColumnAggregation:
    """One column: what is published of a class, and how far that is from the values.

    `squared_error` is its SSE / SST, where it holds numbers or dates that differ. `changed` is the share of rows whose
    cell is not what came in, suppressed rows among them.
    """

    aggregate: str
    squared_error: float | None
    changed: float


@dataclass(frozen=True)
class AggregationError:
    """The error of all columns that are published by means, medians and modes; `squared_error` is SSE / SST in all."""

    squared_error: float | None
    columns: dict[str, ColumnAggregation]

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and the audit."""
        return asdict(self)


def measure_aggregation(encoded: EncodedTable, recoding: Recoding, policy: Policy) -> AggregationError | None:
    """Measure what microaggregation has columns off by; nothing where no column is aggregated."""
    columns, errors = dict[str, ColumnAggregation](), []
    for attribute in encoded.quasi:
        aggregate = policy.aggregate(attribute.name)
        if aggregate in {None, "ancestor"} or recoding.group is not None:
            continue
        error = None
        if isinstance(attribute.spec, Intervals | Ranges | Dates):
            error = _squared_error(attribute, recoding)
        if error is not None:
            errors.append(error)
        columns[attribute.name] = ColumnAggregation(str(aggregate), error, _share_changed(attribute, recoding))
    return AggregationError(float(np.mean(errors)) if errors else None, columns) if columns else None


def _squared_error(attribute: QuasiIdentifier, recoding: Recoding) -> float | None:
    """Divide SSE by SST, over rows that hold a number; nothing where these are all equal.

    true, told: float[rows], NaN where there is no number, or it is not told
    """
    labels = recoding.labels[attribute.name]
    values, texts = (read_label_numbers(attribute, texts) for texts in (attribute.column.texts, labels.texts))
    largest = float(np.nanmax(np.abs(np.append(values, 0.0)))) or 1.0  # squares of very large numbers are no floats
    true, told = (values / largest).take(attribute.column.codes), (texts / largest).take(labels.codes)
    if recoding.published is not None:
        told = np.where(recoding.published, told, np.nan)
    known = ~np.isnan(true)
    if not known.any():
        return None
    rows = None if recoding.counts is None else recoding.counts[known]  # of each line, where lines are counted
    off = true[known] - np.average(true[known], weights=rows)
    total = _sum_squares(off, rows)
    if total <= 1e-26 * (len(off) if rows is None else int(rows.sum())):
        return None
    rest = np.where(np.isnan(told[known]), off, true[known] - told[known])
    return _sum_squares(rest, rows) / total


def _sum_squares(errors: FloatArray, rows: IntArray | None) -> float:
    squares = errors**2
    return float(squares.sum() if rows is None else (squares * rows).sum())


def read_label_numbers(attribute: QuasiIdentifier, labels: tuple[Label, ...]) -> FloatArray:
    """Read values or aggregates of a column of numbers or dates as floats, NaN for NULL and ``*``.

    >>> from sfumato.encode import CodedColumn
    >>> column = CodedColumn("age", np.array([0]), ("37",), None)
    >>> age = QuasiIdentifier(column, Ranges().bind(["37"], column="age"), 1.0, Ranges())
    >>> read_label_numbers(age, ("37", "*", None))
    array([37., nan, nan])
    """
    texts = [None if label == ROOT else label for label in labels]
    if isinstance(attribute.spec, Dates):
        kind = attribute.column.values.type
        read = read_date_values(arrow_texts(texts) if is_text(kind) else arrow_texts(texts).cast(kind), attribute.spec)
        return np.full(len(texts), np.nan) if read is None else read.numbers
    ratios = [None if text is None else read_decimal(text) for text in texts]
    return np.array([np.nan if ratio is None else _quotient(*ratio) for ratio in ratios])


def _quotient(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except OverflowError:
        return float(np.finfo(np.float64).max) * (1 if numerator > 0 else -1)


def _share_changed(attribute: QuasiIdentifier, recoding: Recoding) -> float:
    """Give the share of rows whose published cell does not read as the one that came in."""
    labels, column = recoding.labels[attribute.name], attribute.column
    code = {text: place for place, text in enumerate(labels.texts)}
    own = np.array([code.get(text, -1) for text in column.texts])
    same: BoolArray = own.take(column.codes) == labels.codes
    if recoding.published is not None:
        same &= recoding.published
    return 1.0 - float(np.average(same, weights=recoding.counts))
