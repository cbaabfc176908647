"""Numbers beside labels: the ends of each range, or its middle, as columns one can compute with.

``[publish] numeric = "bounds"`` puts ``age_low`` and ``age_high`` beside ``age``, ``"midpoint"`` puts ``age_mid``. The
label stays. It is what forms the class: two ranges may have one middle, and a missing value and ``*`` have no ends
both, so that classes which differ in their labels alone would become one. What is added is worked out from the label,
cell by cell, and so tells nothing besides; the verifier reads the labels by code of its own and compares.

In a column of whole numbers both ends are part of the range: 35-39 is 35 and 39, below 20 ends in 19. In other columns
the high end of [1.5, 2) is 2, which is not part of it. An end that is open is missing, and so is its middle.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import narrow_codes
from sfumato.errors import InputError
from sfumato.hierarchy import Intervals, Ranges
from sfumato.hierarchy.hierarchy import Label
from sfumato.hierarchy.intervals import read_number_or_range
from sfumato.policy import Policy
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable

BOUND = "bound"
"""The role that the manifest gives these columns."""
ENDS = {"bounds": ("low", "high"), "midpoint": ("mid",)}
"""What is told of a range, by the value of `[publish] numeric`."""

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class BoundColumn:
    """A column that tells the low end, the high end or the middle (`bound`) of the labels of a column, `of`."""

    name: str
    of: str
    bound: str
    whole: bool

    def as_json(self, kind: str) -> dict[str, Any]:
        """The entry of the data dictionary, for a column of this type."""
        return {
            "name": self.name,
            "role": BOUND,
            "type": kind,
            "of": self.of,
            BOUND: self.bound,
            "integers": self.whole,
        }


def plan_numeric_columns(policy: Policy) -> tuple[BoundColumn, ...]:
    """List the columns that are added, in the order of the policy; means are numbers already, and get none.

    A name that the table has already gets underscores until it is new.

    >>> columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [5]}}, "age_low": {"role": "plain"}}
    >>> rules = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "publish": {"numeric": "bounds"}}
    >>> [column.name for column in plan_numeric_columns(Policy.read(rules))]
    ['age_low_', 'age_high']
    """
    taken, planned = set(policy.columns), []
    for column in policy.quasi:
        spec = column.hierarchy
        if not isinstance(spec, Intervals | Ranges) or policy.aggregate_form(column.name) is not None:
            continue
        for bound in ENDS.get(policy.publish.numeric, ()):
            name = f"{column.name}_{bound}"
            while name in taken:
                name += "_"
            taken.add(name)
            planned.append(BoundColumn(name, column.name, bound, spec.is_whole))
    return tuple(planned)


def add_numeric_columns(table: PublishedTable, policy: Policy) -> PublishedTable:
    """Put the numbers of labels beside them."""
    planned = plan_numeric_columns(policy)
    if not planned:
        return table
    columns: dict[str, Any] = {}
    types, added = dict(table.types), set()
    for name, column in table.columns.items():
        columns[name] = column
        for numeric in (one for one in planned if one.of == name):
            labels = column.values.cast(pa.string()).to_pylist()
            numbers = number_labels(labels, numeric.bound, whole=numeric.whole)
            places = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
            code_of = narrow_codes(np.array([places[number] for number in numbers], dtype=np.int64), len(places))
            values = arrow_bounds(list(places), whole=numeric.whole and numeric.bound != "mid")
            columns[numeric.name] = PublishedColumn(code_of.take(column.codes), values, column.counts)
            types[numeric.name] = values.type
            added.add(numeric.name)
    return replace(table, columns=columns, types=types, recoded=table.recoded | added)


def number_labels(labels: Iterable[Label], bound: str, *, whole: bool) -> list[Fraction | None]:
    """Read the low end, the high end or the middle of labels; none where it is open, or the value is missing.

    >>> number_labels(["35-39", "<20", "90+", "*", "41", None], "high", whole=True)
    [Fraction(39, 1), Fraction(19, 1), None, None, Fraction(41, 1), None]
    >>> number_labels(["[1.5, 2)", "[-5, 0)"], "mid", whole=False)
    [Fraction(7, 4), Fraction(-5, 2)]
    """
    ends = [_read_ends(label, whole=whole) for label in labels]
    if bound != "mid":
        return [low if bound == "low" else high for low, high in ends]
    return [None if low is None or high is None else (low + high) / 2 for low, high in ends]


def _read_ends(label: Label, *, whole: bool) -> tuple[Fraction | None, Fraction | None]:
    found = None if label is None else read_number_or_range(label)
    if found is None:
        return None, None
    low = None if isinstance(found.low, float) else found.low
    high = None if isinstance(found.high, float) else found.high
    if whole:
        low = None if low is None else Fraction(math.ceil(low))
        high = None if high is None else Fraction(math.floor(high) if found.closed else math.ceil(high) - 1)
    return low, high


def arrow_bounds(numbers: Sequence[Fraction | None], *, whole: bool) -> Any:
    """Make an Arrow array of numbers: whole ones of 64 bits where they fit, floating ones else."""
    fits = all(number is None or abs(number) <= _LARGEST for number in numbers)
    if whole and fits:
        return pa.array([None if number is None else int(number) for number in numbers], pa.int64())
    return pa.array([None if number is None else float(number) for number in numbers], pa.float64())


def label_intervals(table: PublishedTable, column: str, *, whole: bool) -> Any:
    """Make a pandas Series of the ranges that a column is published as, in the order of the table."""
    try:
        import pandas as pd  # noqa: PLC0415 - only for those who ask for it
    except ImportError:
        raise InputError("intervals are those of pandas; install it with pip install sfumato[pandas]") from None
    labels = table.columns[column].values.cast(pa.string()).to_pylist()
    intervals: list[Any] = []
    for label in labels:
        found = None if label is None else read_number_or_range(label)
        if found is None:
            intervals.append(None)
            continue
        low, high = _read_ends(label, whole=whole)
        closed: Literal["both", "left"] = "both" if whole or found.closed else "left"
        ends = (-math.inf if low is None else _plain(low), math.inf if high is None else _plain(high))
        intervals.append(pd.Interval(*ends, closed=closed))
    codes = table.columns[column].codes
    return pd.Series([intervals[code] for code in codes.tolist()], name=column)


def _plain(number: Fraction) -> float:
    return int(number) if number.denominator == 1 and abs(number) <= _LARGEST else float(number)
