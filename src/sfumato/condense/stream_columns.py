"""The columns of a stream: rows as coordinates, and drawn coordinates as cells again.

A number or a date is one coordinate. A category has one for each of its values, 1 where the row has it and 0 elsewhere,
as in a table at rest; in a stream its values have to be declared beforehand, by a hierarchy file, and NULL is one more.
Neither NULL among numbers nor atoms can be told by sums, so the first is refused and the second are not looked for.

What is known of a column besides its statistics are traits: of how many decimals numbers have, whether any is negative,
how dates are written. They are those of all rows so far, and bring drawn numbers back onto their grid.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.condense.mixed_columns import declared_bounds, declared_kind
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.arrow import arrow_indices, arrow_texts
from sfumato.errors import DataError, PolicyError, quote
from sfumato.hierarchy import Dates, File
from sfumato.policy import Column, Policy, Role
from sfumato.policy.toml_text import dotted_key
from sfumato.table.number_scale import DAY, NumberScale, ReadNumbers, is_text, read_date_values, read_number_values

CATEGORY_WEIGHT = math.sqrt(0.5)
"""What a coordinate of a category counts: two values add 1 to a squared distance, numbers 2 on average."""
MOST_COORDINATES = 400
"""More coordinates than this would keep so many products for each group that no machine is quick with them."""
_SECOND = 1_000_000.0
_LARGEST_WHOLE = 2.0**63
"""Whole numbers from here on are no integers of Arrow."""
_TWO_DIGIT_YEARS = (-365 * float(DAY), 36_159 * float(DAY))
"""1969-01-01 to 2068-12-31: what a year of two digits is read as."""
_LARGEST = 1e120
"""A coordinate may be so many times larger than those of the first rows: its square has to be a number, too."""


@dataclass(frozen=True)
class StreamColumn:
    """One column: what it holds, what was declared of it, and the traits of its values so far.

    `lines` are those of the hierarchy of a category, from each value to ``*``. `bounds` are declared. The others are
    traits; `date_format` is None for dates that are no text. `decimals` is None where numbers lie on no grid.
    """

    name: str
    kind: str = "number"
    lines: tuple[tuple[str, ...], ...] = ()
    bounds: tuple[float, float] | None = None
    declared_format: str | None = None
    decimals: int | None = 0
    padded: bool = True
    digits: int = 0
    negative: bool = False
    date_step: float = 0.0
    date_format: str | None = None
    seen: bool = False

    @cached_property
    def values(self) -> tuple[str | None, ...]:
        """The values of a category, NULL last."""
        return (*(line[0] for line in self.lines), None)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.values) if self.kind == "category" else 1

    @property
    def declared(self) -> tuple[Any, ...]:
        """What was said of the column before any row was seen."""
        return self.name, self.kind, self.lines, self.bounds, self.declared_format

    def with_traits(self, read: ReadNumbers) -> "StreamColumn":
        """The column with the traits of further values."""
        scale = read.scale
        if self.kind == "date":
            step = min(self.date_step, scale.date_step) if self.seen else scale.date_step
            return replace(self, date_step=step, date_format=scale.date_format, seen=True)
        plain = self.decimals is not None and scale.decimals is not None
        most = max(self.decimals or 0, scale.decimals or 0) if plain else None
        same = not self.seen or self.decimals == scale.decimals
        return replace(
            self,
            decimals=most,
            padded=self.padded and same and scale.padded,
            digits=max(self.digits, scale.digits if scale.decimals is None else 0),
            negative=self.negative or bool((read.numbers < 0).any()),
            seen=True,
        )

    def scale(self, *, text: bool, largest: float = 0.0) -> NumberScale:
        """How drawn numbers, of which `largest` is the largest, are written: as `text`, or as Arrow has them."""
        if self.kind == "date":
            kind = pa.string() if text else pa.date32() if self.date_step >= DAY else pa.timestamp("us")
            shape = "%Y-%m-%d" if self.date_step >= DAY else "%Y-%m-%dT%H:%M:%S"
            form = self.date_format or (shape if self.date_step >= _SECOND else f"{shape}.%f")
            return NumberScale(kind, date_step=self.date_step, date_format=form if text else None)
        if text:
            return NumberScale(pa.string(), self.decimals, self.padded, self.digits or 17)
        whole = self.decimals == 0 and largest < _LARGEST_WHOLE
        return NumberScale(pa.int64() if whole else pa.float64(), self.decimals)

    @property
    def limits(self) -> tuple[float, float]:
        """What nothing drawn may exceed: the declared bounds, or 0 where no number was negative."""
        low, high = self.scale(text=True).limits
        if self.kind == "date" and "%y" in (self.date_format or ""):
            low, high = _TWO_DIGIT_YEARS
        if self.bounds is not None:
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
            if self.kind == "number" and self.decimals is None:  # they are written with so many digits
                digits = self.digits or 17
                low = float(Context(digits, ROUND_CEILING).create_decimal_from_float(low))
                high = float(Context(digits, ROUND_FLOOR).create_decimal_from_float(high))
            return low, high
        return (0.0 if self.kind == "number" and not self.negative else low), high


@dataclass(frozen=True)
class StreamColumns:
    """The columns that are condensed, in their order, the names of those left out, and the texts that mean NULL."""

    columns: tuple[StreamColumn, ...]
    left_out: tuple[str, ...] = ()
    null: tuple[str, ...] = ("",)

    @classmethod
    def from_names(cls, names: Sequence[str]) -> "StreamColumns":
        """Take all columns as numbers."""
        return cls(tuple(StreamColumn(name) for name in names))

    @classmethod
    def from_policy(cls, policy: Policy, names: Sequence[str]) -> "StreamColumns":
        """Take columns as a policy of drawn rows declares them; a column without a kind or a hierarchy holds numbers.

        Raises `PolicyError` for what a stream cannot do: persons, strata, masks, atoms, and categories whose values are
        not declared.
        """
        _check_policy(policy)
        settled = policy.for_table(names)
        if unlisted := [name for name in names if name not in settled.columns]:
            way = 'give it one in [columns], role = "identifier" to leave it out'
            raise DataError(f"the stream has the column {quote(unlisted[0])} without a role; {way}")
        drawn = [rules for rules in settled.columns.values() if rules.role is not Role.IDENTIFIER]
        columns = [_declare_column(rules, policy.source.null) for rules in drawn]
        order = {name: place for place, name in enumerate(names)}
        columns.sort(key=lambda column: order.get(column.name, len(order)))
        left_out = tuple(column.name for column in settled.identifiers)
        found = cls(tuple(columns), left_out, policy.source.null)
        if found.width > MOST_COORDINATES:
            raise DataError(
                f"the columns have {found.width:,} coordinates, one for each number and each value of a category, and "
                f"at most {MOST_COORDINATES} can be condensed in a stream; leave a column out, or use fewer categories"
            )
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that are condensed."""
        return tuple(column.name for column in self.columns)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return sum(column.width for column in self.columns)

    @property
    def places(self) -> list[slice]:
        """Which coordinates are those of each column."""
        ends = np.cumsum([column.width for column in self.columns]).tolist()
        return [slice(end - column.width, end) for end, column in zip(ends, self.columns, strict=True)]

    @property
    def fixed_weights(self) -> FloatArray:
        """What the coordinates of categories count, NaN for those of numbers: float[d]."""
        parts = [np.nan if column.kind != "category" else CATEGORY_WEIGHT for column in self.columns]
        return np.repeat(parts, [column.width for column in self.columns])

    def check_header(self, names: Sequence[str], what: str) -> None:
        """Refuse a header that has not these columns, in whatever order."""
        twice = next((name for name in names if list(names).count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{what} has the column {quote(twice)} twice; rename one")
        if missing := [name for name in self.names if name not in names]:
            raise DataError(f"{what} lacks the column {quote(missing[0])} of the state; give it, or name another state")
        known = {*self.names, *self.left_out}
        if strange := [name for name in names if name not in known]:
            way = "leave it out, or name another state"
            raise DataError(f"{what} has the column {quote(strange[0])}, which the state does not know; {way}")

    def read(self, cells: Sequence[Any], where: "RowNames") -> tuple[FloatArray, "StreamColumns"]:
        """Read rows as coordinates: Arrow arrays in the order of the columns to float[n, d], and the traits with them.

        Raises `DataError`, which says where it is and quotes no cell.
        """
        parts, columns = [], []
        for column, values in zip(self.columns, cells, strict=True):
            if column.kind == "category":
                parts.append(_read_categories(column, values, self.null, where))
                columns.append(column)
                continue
            found = _read_numbers(column, values, self.null, where)
            parts.append(found.numbers[:, None])
            columns.append(column.with_traits(found))
        return np.hstack(parts), replace(self, columns=tuple(columns))

    def exponents(self, first: FloatArray) -> IntArray:
        """Choose the power of two that each coordinate is divided by, so that products can be neither too large nor 0.

        It is taken from declared bounds, or from the spread of the first rows, float[n, d]; dividing by it is exact.
        """
        powers = np.zeros(self.width, dtype=np.int64)
        for column, place in zip(self.columns, self.places, strict=True):
            if column.kind == "category":
                continue
            values = first[:, place.start]
            largest = float(np.abs(values).max(initial=0.0)) or 1.0
            spread = float((values / largest).std())
            typical = largest * (spread if spread > 1e-12 else 1.0)
            if column.bounds is not None and math.isfinite(column.bounds[1] - column.bounds[0]):
                typical = column.bounds[1] - column.bounds[0]
            powers[place] = math.frexp(typical or 1.0)[1]
        return powers

    def limits(self, exponents: IntArray) -> tuple[FloatArray, FloatArray]:
        """Give what no number of a column exceeds, divided by the powers of two of coordinates: float[d] twice.

        Coordinates of categories have no limits here: what a group has of them is dealt out by its frequencies.
        """
        low, high = np.full(self.width, -np.inf), np.full(self.width, np.inf)
        for column, place in zip(self.columns, self.places, strict=True):
            if column.kind != "category":
                low[place], high[place] = column.limits
        with np.errstate(over="ignore", under="ignore"):  # a limit beyond all numbers is none
            return np.ldexp(low, -exponents), np.ldexp(high, -exponents)

    def scale_down(self, points: FloatArray, exponents: IntArray, where: "RowNames") -> FloatArray:
        """Divide coordinates by their powers of two; what is too large even so is refused."""
        scaled = np.ldexp(points, -exponents)
        if np.abs(scaled).max(initial=0.0) > _LARGEST:
            row, coordinate = np.argwhere(np.abs(scaled) > _LARGEST)[0].tolist()
            column = next(c for c, place in zip(self.columns, self.places, strict=True) if coordinate < place.stop)
            raise DataError(
                f"column {quote(column.name)} in {where(row)} holds a number that is beyond all measure of the first "
                "rows; mend it, or declare bounds for the column in a policy"
            )
        return scaled

    def as_json(self) -> dict[str, Any]:
        """Everything about the columns, for the state."""
        return {
            "columns": [asdict(column) for column in self.columns],
            "left_out": list(self.left_out),
            "null": list(self.null),
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "StreamColumns":
        """Read what `as_json` gave."""
        columns = [
            StreamColumn(
                **{
                    **entry,
                    "lines": tuple(tuple(line) for line in entry["lines"]),
                    "bounds": None if entry["bounds"] is None else tuple(entry["bounds"]),
                }
            )
            for entry in content["columns"]
        ]
        return cls(tuple(columns), tuple(content["left_out"]), tuple(content["null"]))


@dataclass(frozen=True)
class RowNames:
    """How a sentence calls the rows of a batch: by the lines of a text, or by their number from the first on."""

    lines: Sequence[int] | None = None
    first: int = 1

    def __call__(self, row: int) -> str:
        """Say where a row of the batch is.

        >>> RowNames([2, 3, 7])(2), RowNames(first=1001)(2)
        ('line 7', 'row 1,003')
        """
        return f"row {self.first + row:,}" if self.lines is None else f"line {self.lines[row]:,}"


def _check_policy(policy: Policy) -> None:
    """Refuse what a policy asks for and a stream cannot do."""
    if policy.publish.form != "synthetic":
        why = "condensing draws rows, and the policy publishes others"
        raise PolicyError(f'{why}; write [publish] form = "synthetic"', key="publish.form")
    if policy.individual is not None:
        why = "whose rows came before cannot be known of statistics alone, so that k counts rows in a stream"
        raise PolicyError(
            f'{why}; give the column role = "identifier", and one row per person',
            key=dotted_key("columns", policy.individual.name, "role"),
        )
    if policy.search.strata:
        raise PolicyError("a stream has no strata; keep a state for each of them", key="algorithm.strata")
    if policy.masked:
        why = "a stream is not masked; leave the mask out, or mask the rows before"
        raise PolicyError(why, key=dotted_key("columns", policy.masked[0].name))


def _declare_column(rules: Column, null: Sequence[str]) -> StreamColumn:
    if rules.atoms:
        why = "atoms take all rows of a group to be told from numbers, which a stream does not have; leave it out"
        raise PolicyError(why, key=dotted_key("columns", rules.name, "atoms"))
    kind = declared_kind(rules) or "number"
    if kind == "category":
        if not isinstance(rules.hierarchy, File):
            why = "a stream has to know the values of a category before they come"
            raise PolicyError(
                f"{why}; list them in a hierarchy, as a file or as {{ lines }}, or give the column another kind",
                key=dotted_key("columns", rules.name, "hierarchy"),
            )
        lines = tuple(line for line in rules.hierarchy.lines if line[0] not in null)
        return StreamColumn(rules.name, kind, lines)
    form = rules.hierarchy.format if isinstance(rules.hierarchy, Dates) else None
    bounds = declared_bounds(rules, dates=kind == "date")
    return StreamColumn(rules.name, kind, bounds=bounds, declared_format=form)


# ---------------------------------------------------------------------------------------------------------------------
# From cells to coordinates


def _read_numbers(column: StreamColumn, values: Any, null: Sequence[str], where: RowNames) -> ReadNumbers:
    """Read a column of numbers or dates, none of them NULL, none out of bounds."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kinds, name = f"{column.kind}s", quote(column.name)
    if is_text(values.type):
        values = pc.if_else(pc.is_in(values, value_set=arrow_texts(list(null))), pa.scalar(None, values.type), values)
    if values.null_count:
        row = pc.index(values.is_null(), value=True).as_py()
        raise DataError(
            f"column {name} in {where(row)} is empty, and sums of {kinds} know no missing values; fill it in, or leave "
            "the row or the column out of the stream"
        )
    try:
        if column.kind == "date":
            rules = None if column.declared_format is None else Dates(("year",), format=column.declared_format)
            read = read_date_values(values, rules)
        else:
            read = read_number_values(values, column=column.name)
    except DataError:
        read = None
    if read is None:
        row = _find_misfit(column, values)
        if row is None:
            raise DataError(f"column {name} from {where(0)} on is to hold {kinds}, and holds {values.type}; mend it")
        other = 'mend it, or declare another kind for the column in a policy (role = "identifier" leaves it out)'
        raise DataError(f"column {name} in {where(row)} does not hold a {column.kind}; {other}")
    if column.seen and column.kind == "date" and read.scale.date_format != column.date_format:
        raise DataError(f"column {name} from {where(0)} on has dates that are written in another way than before; mend")
    if column.bounds is not None:
        outside = (read.numbers < column.bounds[0]) | (read.numbers > column.bounds[1])
        if outside.any():
            row = int(outside.argmax())
            raise DataError(f"column {name} in {where(row)} is out of its bounds; mend it, or widen the bounds")
    return read


def _find_misfit(column: StreamColumn, values: Any) -> int | None:
    """Find the first value that is none of its kind by itself."""
    rules = None if column.declared_format is None else Dates(("year",), format=column.declared_format)
    for row in range(len(values)):
        one = values.slice(row, 1)
        try:
            found = (
                read_date_values(one, rules) if column.kind == "date" else read_number_values(one, column=column.name)
            )
        except DataError:
            found = None
        if found is None:
            return row
    return None


def _read_categories(column: StreamColumn, values: Any, null: Sequence[str], where: RowNames) -> FloatArray:
    """Read a column of categories as indicators: float[n, values]."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    texts = values.cast(pa.string())
    known = arrow_texts(list(column.values[:-1]))
    missing = pc.or_(texts.is_null(), pc.is_in(texts, value_set=arrow_texts(list(null))))
    codes = pc.if_else(missing, len(known), pc.index_in(texts, value_set=known).cast(pa.int64()))
    if codes.null_count:
        row = pc.index(codes.is_null(), value=True).as_py()
        raise DataError(
            f"column {quote(column.name)} in {where(row)} holds a value that its hierarchy does not list; mend it, or "
            "begin a new state with a policy that lists it"
        )
    indicators = np.zeros((len(codes), column.width))
    indicators[np.arange(len(codes)), codes.to_numpy()] = 1.0
    return indicators


# ---------------------------------------------------------------------------------------------------------------------
# From coordinates to cells


def common_labels(column: StreamColumn, held: FloatArray, k: int) -> tuple[IntArray, list[str | None]]:
    """Choose what each value of a category is published as: int[values], and the labels; -1 where it is not told.

    held: float[values], the rows that hold each value. One that k hold is told as it is, a rarer one by the lowest
    label of the hierarchy that k rows of such values share; where not even ``*`` is, it is not told.

    >>> lines = (("cook", "service", "*"), ("porter", "service", "*"), ("spy", "*", "*"))
    >>> jobs = StreamColumn("job", "category", lines)
    >>> label_of, labels = common_labels(jobs, np.array([3.0, 2.0, 9.0, 0.0]), 5)
    >>> [labels[place] if place >= 0 else "?" for place in label_of.tolist()]
    ['service', 'service', 'spy', '?']
    """
    counts = np.rint(held)
    label_of = np.full(len(counts), -1, dtype=np.int64)
    labels: list[str | None] = []
    for value in np.flatnonzero(counts >= k).tolist():
        label_of[value] = len(labels)
        labels.append(column.values[value])
    height = max(map(len, column.lines), default=1)
    for level in range(1, height):
        rare = np.flatnonzero((label_of < 0) & (counts > 0)).tolist()
        above: dict[str, list[int]] = {}
        for value in rare:
            # NULL climbs to the root at once
            label = "*" if value == len(column.lines) else column.lines[value][level]
            above.setdefault(label, []).append(value)
        for label, values in above.items():
            if counts[values].sum() >= k:
                label_of[values] = len(labels)
                labels.append(label)
    return label_of, labels


def take_labels(labels: Sequence[str | None], codes: IntArray) -> Any:
    """Make an Arrow array of texts from the labels and the label of each row."""
    return arrow_texts(list(labels)).take(arrow_indices(codes.tolist()))
