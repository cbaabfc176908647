"""Rows drawn from a condensed stream: the written file beside the statistics of the groups.

A stream keeps no row, so nothing is left that drawn rows could be held against but its state: k, the columns, and of
each group its size, its means and its variances. They are handed over in plain values, as the state has them
(`EmittedStatement`), and what follows from them is worked out here anew: bounds, grids, labels, and what the columns
should add up to. The file is read in SQL before it gets its name.

Checked are the sizes of the groups (k to 2k - 1), the number of rows, names and types of the columns, that every number
and date is one, on its grid and within its bounds, that categories hold no other labels than their hierarchy has and k
rows share, and what each column adds up to:

- where rows were drawn exactly, every group keeps its mean but for half a step of the grid, and of each label as many
  rows as its share says, rounded up or down at random;
- where they were drawn on average, the mean of a column may be ten standard errors off, and as much as clipping at a
  bound can move it besides.

What is left to chance is bounded by Hoeffding's and Bernstein's inequalities and, for clipped uniform numbers, by
concentration of Lipschitz functions: a column that was drawn as it should be fails once in more than 10¹⁰ times.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import quote
from sfumato.verifier.duckdb_tables import CsvDialect, TableView, open_view
from sfumato.verifier.sql import connect, quote_text
from sfumato.verifier.verdict import Finding, Verdict

_STANDARD_ERRORS = 10.0
_PRECISION = 1e-12
"""By how much a mean may be off because it was worked out in floats, relative to the largest number of the column."""
_DAY, _SECOND = 86_400_000_000, 1_000_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - moments as they are written: zones are not converted
_NUMBER = r"-?\d+(\.\d+)?([eE][+-]?\d+)?"
_FOUR_DIGITS, _TWO_DIGITS = ((1, 1, 1), (9999, 12, 31)), ((1969, 1, 1), (2068, 12, 31))
"""The first and the last day that a year of four digits, and one of two, can be written for."""


@dataclass(frozen=True, eq=False)
class EmittedStatement:
    """What a state says of the rows that were drawn from it, in plain values.

    sizes: int[g]; means and variances: float[g, d], of coordinates; exponents: int[d], the powers of two that
    coordinates were divided by; columns: an object for each, as the state writes it. A number or date has one
    coordinate, a category one for each line of its hierarchy and one for NULL.

    `multiple` rows were drawn for each, with so much `noise`, and `exact` or on average.
    """

    k: int
    sizes: Any
    means: Any
    variances: Any
    exponents: Sequence[int]
    columns: Sequence[Mapping[str, Any]]
    multiple: int = 1
    noise: float = 0.0
    exact: bool = True

    @property
    def rows(self) -> int:
        """How many rows there have to be."""
        return int(np.sum(self.sizes)) * self.multiple

    @property
    def drawn(self) -> Any:
        """How many rows were drawn for each group: int[g]."""
        return np.asarray(self.sizes) * self.multiple


def verify_emitted_rows(path: Path, statement: EmittedStatement, *, parquet: bool = False) -> Verdict:
    r"""Check a written file of drawn rows, CSV or Parquet, against the statistics that it was drawn from.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = file.write_text("age\n30\n31\n35\n")
    >>> age = {"name": "age", "kind": "number", "decimals": 0, "negative": False}
    >>> said = EmittedStatement(3, [3], [[32.0]], [[4.7]], [0], [age])
    >>> verify_emitted_rows(file, said).satisfied
    True
    >>> _ = file.write_text("age\n30\n31\n39\n")
    >>> verify_emitted_rows(file, said).complaints
    ("column 'age' does not have the mean that the groups give it",)
    """
    path = path.resolve()
    with closing(connect([path])) as connection:
        view = open_view(connection, "published", path, None if parquet else CsvDialect())
        sizes = np.asarray(statement.sizes)
        least, most = (int(sizes.min()), int(sizes.max())) if len(sizes) else (0, 0)
        few, many = int((sizes < statement.k).sum()), int((sizes >= 2 * statement.k).sum())
        failures = (f"{few:,} groups have fewer than {statement.k:,} rows, the smallest {least:,}",) if few else ()
        finding = Finding("k-anonymity", {"k": statement.k}, {"k": least}, not few and len(sizes) > 0, failures)
        problems = []
        if many:
            problems.append(f"{many:,} groups have more than 2k - 1 rows, the largest {most:,}")
        names = tuple(str(column["name"]) for column in statement.columns)
        if view.columns != names:
            problems.append("the file has other columns than the state, or in another order")
            return Verdict(0, len(sizes), (finding,), tuple(problems))
        rows = _read_rows(view, statement, parquet=parquet)
        if rows != statement.rows:
            problems.append(f"the file has {rows:,} rows where {statement.rows:,} were to be drawn")
        place = 0
        for number, column in enumerate(statement.columns):
            width = len(column["lines"]) + 1 if column["kind"] == "category" else 1
            part = _StatedColumn(statement, column, number, slice(place, place + width), parquet)
            problems += part.type_problems(view)
            if rows:
                problems += part.label_problems(view) if width > 1 else part.number_problems(view, rows)
            place += width
        return Verdict(rows, len(sizes), (finding,), tuple(problems))


def _read_rows(view: TableView, statement: EmittedStatement, *, parquet: bool) -> int:
    """Read the file once: numbers and dates as n0, n1 and so on (NULL where they are none), cells as t0, t1."""
    parts = []
    for number, column in enumerate(statement.columns):
        cell = view.column(str(column["name"]))
        if column["kind"] == "category":
            parts.append(f"{view.text_sql(f'CAST({cell} AS VARCHAR)')} AS t{number}")
            continue
        text = f"CAST({cell} AS VARCHAR)"
        if column["kind"] == "number":
            value = f"CASE WHEN regexp_full_match({text}, '{_NUMBER}') THEN TRY_CAST({text} AS DOUBLE) END"
        elif parquet:
            value = f"epoch_us(TRY_CAST({cell} AS TIMESTAMP))"
        else:
            value = f"epoch_us(try_strptime({view.text_sql(text)}, {quote_text(_date_format(column))}))"
        parts.append(f"{value} AS n{number}, {text} AS t{number}")
    view.read(f"CREATE TABLE drawn AS SELECT {', '.join(parts)} FROM {view.source}")
    return int(_one_line(view, "SELECT count(*) FROM drawn")[0])


def _one_line(view: TableView, statement: str) -> tuple[Any, ...]:
    (line,) = view.connection.execute(statement).fetchall()
    return tuple(line)


def _date_format(column: Mapping[str, Any]) -> str:
    """How dates of a column are written in CSV: as they came, or as ISO has it where they were no text."""
    if column.get("date_format"):
        return str(column["date_format"])
    step = column["date_step"]
    return "%Y-%m-%d" if step >= _DAY else "%Y-%m-%dT%H:%M:%S" if step >= _SECOND else "%Y-%m-%dT%H:%M:%S.%f"


def _sql_number(number: float) -> str:
    return f"CAST({quote_text(str(float(number)))} AS DOUBLE)"


@dataclass(frozen=True, eq=False)
class _StatedColumn:
    """One column of the statement, its number, and its coordinates."""

    statement: EmittedStatement
    column: Mapping[str, Any]
    number: int
    place: slice
    parquet: bool

    @property
    def name(self) -> str:
        return f"column {quote(self.column['name'])}"

    @property
    def means(self) -> Any:
        """The means of each group: float[g], or float[g, values] of a category."""
        found = np.asarray(self.statement.means, dtype=np.float64)[:, self.place]
        return found if self.column["kind"] == "category" else found[:, 0]

    @property
    def step(self) -> float:
        if self.column["kind"] == "date":
            return float(self.column["date_step"])
        decimals = self.column["decimals"]
        return 0.0 if decimals is None else 10.0**-decimals

    def type_problems(self, view: TableView) -> list[str]:
        """Say where a column of Parquet has not the type of what it holds; in CSV every cell is looked at."""
        if not self.parquet:
            return []
        found = str(view.types.get(self.column["name"], "string"))
        if self.column["kind"] == "category":
            wanted = {"string"}
        elif self.column["kind"] == "date":
            wanted = {"date32[day]" if self.step >= _DAY else "timestamp[us]"}
        else:
            wanted = {"int64", "double"} if self.column["decimals"] == 0 else {"double"}
        return [] if found in wanted else [f"{self.name} is of the type {found}, and not {min(wanted)}"]

    # -----------------------------------------------------------------------------------------------------------------
    # Numbers and dates

    def limits(self) -> tuple[float, float]:
        """What no number may exceed: declared bounds, or 0 where none was negative; of dates the calendar."""
        low, high = -math.inf, math.inf
        if self.column["kind"] == "date":
            short = "%y" in _date_format(self.column)
            ends = _TWO_DIGITS if short else _FOUR_DIGITS
            low, high = (float((datetime(*end) - _EPOCH) // timedelta(microseconds=1)) for end in ends)  # noqa: DTZ001
        if self.column.get("bounds") is not None:
            return max(low, float(self.column["bounds"][0])), min(high, float(self.column["bounds"][1]))
        return (0.0 if self.column["kind"] == "number" and not self.column["negative"] else low), high

    def number_problems(self, view: TableView, rows: int) -> list[str]:
        """Name cells that are no numbers, off the grid or out of bounds, and a mean that is not that of the groups."""
        cell, problems = f"n{self.number}", []
        exponent = int(self.statement.exponents[self.place.start])
        down = math.ldexp(1.0, -(exponent // 2)), math.ldexp(1.0, -(exponent - exponent // 2))  # neither overflows
        low, high = self.limits()
        scaled = f"{cell} * {_sql_number(down[0])} * {_sql_number(down[1])}"
        none, off, out, mean, largest = _one_line(
            view,
            f"SELECT count(*) FILTER ({cell} IS NULL), count(*) FILTER ({self._off_grid(cell)}), "
            f"count(*) FILTER ({cell} < {_sql_number(low)} OR {cell} > {_sql_number(high)}), "
            f"fsum({scaled} / {rows}), max(abs({scaled})) FROM drawn",
        )
        if none:
            problems.append(f"{self.name} has {none:,} cells that are no {self.column['kind']}s")
        if off:
            problems.append(f"{self.name} has {off:,} {self.column['kind']}s that are not on its grid")
        if out:
            problems.append(f"{self.name} has {out:,} {self.column['kind']}s out of its bounds")
        if not none and not self._has_mean(float(mean), float(largest), low, high, exponent):
            problems.append(f"{self.name} does not have the mean that the groups give it")
        return problems

    def _off_grid(self, cell: str) -> str:
        """Write the condition that a number or date does not lie on the grid of its column."""
        if not self.step:
            return "false"
        if self.column["kind"] == "date":
            return f"{cell} % {int(self.step)} <> 0"
        decimals = int(self.column["decimals"])
        if not self.parquet:  # by its digits
            digits = rf"-?\d+(\.\d{{1,{decimals}}})?" if decimals else r"-?\d+"
            return f"{cell} IS NOT NULL AND NOT regexp_full_match(t{self.number}, '{digits}')"
        steps = f"({cell} * {_sql_number(10.0**decimals)})"
        return f"abs({steps} - round({steps})) > greatest(1e-9, least(abs({steps}) * 1e-12, 0.4))"

    def _has_mean(self, mean: float, largest: float, low: float, high: float, exponent: int) -> bool:
        """Whether all rows have the mean of the groups, each of them brought into bounds; all in coordinates."""
        said, drawn = self.statement, self.statement.drawn.astype(np.float64)
        if self.step:  # the outermost places of the grid
            low = low if math.isinf(low) else self.step * math.ceil(low / self.step - 1e-9)
            high = high if math.isinf(high) else self.step * math.floor(high / self.step + 1e-9)
        with np.errstate(over="ignore", under="ignore"):
            least, most, step = np.ldexp([low, high, self.step], -exponent)
        shares = drawn / drawn.sum()
        expected = float(shares @ np.clip(self.means, least, most))
        lowest = highest = float(step) / 2 * len(drawn) / drawn.sum() * 1.001 + _PRECISION * largest
        if not self.step:  # digits that are not written
            lowest = highest = highest + 10.0 ** (1 - (self.column["digits"] or 17)) * largest
        if self.column["kind"] == "date" and not self.parquet:  # a format of months puts all days on the first
            lowest += float(np.ldexp(_lost_by(_date_format(self.column), self.step), -exponent))
        if not said.exact:
            variances = np.maximum(np.asarray(said.variances, dtype=np.float64)[:, self.place.start], 0)
            whole = float(shares @ (variances + (self.means - float(shares @ self.means)) ** 2))
            errors = np.sqrt((variances + said.noise**2 * whole) / drawn)  # of the mean of each group
            reach = _STANDARD_ERRORS * errors
            clipped = (self.means - least < reach) | (most - self.means < reach)
            off = _STANDARD_ERRORS * float(np.sqrt((shares * errors) @ (shares * errors)))
            off += float(shares[clipped] @ errors[clipped]) / 2  # E max(X, 0) = E |X| / 2 is no more
            lowest, highest = lowest + off, highest + off
        return bool(expected - lowest <= mean <= expected + highest)

    # -----------------------------------------------------------------------------------------------------------------
    # Categories

    def label_problems(self, view: TableView) -> list[str]:
        """Name labels that nobody declared or too few share, and those of more or fewer rows than the groups say."""
        cell = f"t{self.number}"
        found = dict(view.connection.execute(f"SELECT {cell}, count(*) FROM drawn GROUP BY {cell}").fetchall())
        expected, room = self._label_counts()
        lines = self.column["lines"]
        declared = {label for line in lines for label in line} | {None, "*"}
        strange = sum(label not in declared for label in found)
        rare = sum(label in declared and label not in expected for label in found)
        wrong = sum(abs(found.get(label, 0) - count) > room[label] for label, count in expected.items())
        problems = []
        if strange:
            problems.append(f"{self.name} has {strange:,} values that its hierarchy does not list")
        if rare:
            problems.append(f"{self.name} has {rare:,} values that fewer than {self.statement.k:,} rows hold")
        if wrong:
            problems.append(f"{self.name} has {wrong:,} values in more or fewer rows than the groups give them")
        return problems

    def _label_counts(self) -> tuple[dict[str | None, float], dict[str | None, float]]:
        """Work out how many rows have each label, and by how much chance may change that."""
        said, drawn, means = self.statement, self.statement.drawn.astype(np.float64), self.means
        held = np.asarray(said.sizes) @ means
        labels = _shared_labels(self.column["lines"], held, said.k) or dict.fromkeys(range(len(held)), (0, "*"))
        kinds = sorted(set(labels.values()), key=str)
        values = [[value for value, label in labels.items() if label == kind] for kind in kinds]
        shares = np.maximum(np.stack([means[:, some].sum(axis=1) for some in values], axis=1), 0)  # float[g, labels]
        usual = np.maximum([held[some].sum() for some in values], 0)
        known = shares.sum(axis=1, keepdims=True)
        shares = np.where(known > 1e-9, shares / np.where(known > 1e-9, known, 1), usual / usual.sum())
        expected, room = dict[str | None, float](), dict[str | None, float]()
        for (_, label), share in zip(kinds, shares.T, strict=True):  # a label may stand on two levels
            expected[label] = expected.get(label, 0.0) + float(drawn @ share)
            # chances of e^-50: by Hoeffding for one row of each group, by Bernstein for each row by itself
            rounded = min(len(drawn), 5 * math.sqrt(len(drawn)))
            chance = _STANDARD_ERRORS * math.sqrt(float(drawn @ np.maximum(share * (1 - share), 0))) + 34
            room[label] = room.get(label, 0.0) + (rounded if said.exact else chance) + 1
        return expected, room


def _shared_labels(lines: Sequence[Sequence[str]], held: Sequence[float], k: int) -> dict[int, tuple[int, str | None]]:
    """Find what the values of a category may be told as, by number, NULL last: the level and the label.

    One that k rows hold is told as it is. Of the others, those are told by a label that together have k rows below it,
    as low in the hierarchy as may be.

    >>> _shared_labels([["cook", "service", "*"], ["porter", "service", "*"], ["spy", "*", "*"]], [3, 2, 9, 0], 5)
    {2: (0, 'spy'), 0: (1, 'service'), 1: (1, 'service')}
    """
    rows = [round(float(count)) for count in held]
    told = {
        value: (0, lines[value][0] if value < len(lines) else None) for value, count in enumerate(rows) if count >= k
    }
    for level in range(1, max(map(len, lines), default=1)):
        labels = {
            value: lines[value][level] if value < len(lines) else "*"
            for value, count in enumerate(rows)
            if count > 0 and value not in told
        }
        together: Counter[str] = Counter()
        for value, label in labels.items():
            together[label] += rows[value]
        told |= {value: (level, label) for value, label in labels.items() if together[label] >= k}
    return told


def _lost_by(form: str, step: float) -> float:
    """Find what a format leaves out of dates on a grid at most, in microseconds: 30 days of a month, say.

    >>> _lost_by("%Y-%m-%d", _DAY), _lost_by("%Y-%m", _DAY) / _DAY
    (0.0, 30.0)
    """
    probe = datetime(2000, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001 - as it is written
    try:
        read = datetime.strptime(probe.strftime(form), form)  # noqa: DTZ007 - same
    except ValueError:
        return 0.0
    lost = (probe - read.replace(tzinfo=None)) // timedelta(microseconds=1)
    return float(max(lost // step * step, 0))
