"""Columns whose possible values are public, so that parties can count over them without asking each other.

A column of a task is either a list of values (``values = { sex = ["f", "m"] }``) or numbers within bounds, of so many
decimals (``bounds = { age = [0, 120] }``, ``decimals = { age = 1 }``, or ``decimals = 1`` for all). Both are settings
of the task, the same at every party, and say nothing of anybody's rows. A cell outside is refused by its holder, before
anything is sent, in a sentence that names the row and not the cell. Numbers are whole steps above the lower bound from
then on, so that sums of them are exact, however they are divided among parties.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.core.arrow import numpy_numbers
from sfumato.core.numbers import is_number, read_decimal
from sfumato.errors import DataError, PolicyError, quote
from sfumato.party.identifiers import size_sentence
from sfumato.party.party_task import PartyTable
from sfumato.policy.section import Section, require_table
from sfumato.reading.outside_table import check_column_names

WIDEST_STEPS = 1 << 31
"""Steps between two bounds: the square of one fits into 62 bits, and sums of four billion of them into 64."""
LONGEST_VALUE = 64
"""Bytes of a value's text that a union carries; longer ones are listed in the task."""
_MOST_DECIMALS = 9


@dataclass(frozen=True)
class HeldValues:
    """A column as its holder has it: its different texts, and for each row the place of its text, int64[n]."""

    texts: tuple[str, ...]
    codes: NDArray[np.int64]

    def used(self) -> "HeldValues":
        """Give the same rows, and no text that none of them has."""
        there, codes = np.unique(self.codes, return_inverse=True)
        return HeldValues(tuple(self.texts[place] for place in there.tolist()), codes)

    def codes_among(self, values: Sequence[str]) -> NDArray[np.int64]:
        """Number the rows by the places of their texts in `values`, which has all of them."""
        place = {value: number for number, value in enumerate(values)}
        return np.array([place[text] for text in self.texts], dtype=np.int64)[self.codes]


@dataclass(frozen=True)
class ValueList:
    """A column of categories; `values` is ``None`` where the parties find them by a secure union.

    >>> held = ValueList("sex", ("f", "m")).hold(PartyTable(pa.table({"sex": ["m", "f", "m"]}), "a.csv"))
    >>> held.codes_among(("f", "m")).tolist()
    [1, 0, 1]
    """

    column: str
    values: tuple[str, ...] | None

    def hold(self, table: PartyTable) -> HeldValues:
        """Take the column from a party's table; a cell that is empty or not among the values is refused."""
        held = hold_texts(table, self.column)
        if self.values is None:
            long = np.array([len(text.encode()) > LONGEST_VALUE for text in held.texts], dtype=bool)
            _refuse_row(
                table, self.column, long[held.codes], f"has more than {LONGEST_VALUE} bytes; list the column in values"
            )
        else:
            known = set(self.values)
            allowed = np.array([text in known for text in held.texts], dtype=bool)
            _refuse_row(table, self.column, ~allowed[held.codes], "is not among the values of the task; add it there")
        return held


@dataclass(frozen=True)
class NumberBounds:
    """A column of numbers from `least` to `most`, both in steps of 10^-decimals.

    >>> ages = NumberBounds("age", 180, 900, 1)
    >>> ages.hold(PartyTable(pa.table({"age": ["18", "37.5"]}), "a.csv")).tolist(), ages.in_units(195)
    ([0, 195], 37.5)
    """

    column: str
    least: int
    most: int
    decimals: int

    @property
    def steps(self) -> int:
        """How many steps it is from the one bound to the other."""
        return self.most - self.least

    def in_units(self, steps: Fraction | float) -> float:
        """Turn steps above the lower bound into the numbers of the column."""
        return float((self.least + Fraction(steps)) / 10**self.decimals)

    def hold(self, table: PartyTable) -> NDArray[np.int64]:
        """Take the column from a party's table, in steps above the lower bound, int64[n]."""
        held = hold_texts(table, self.column)
        steps = np.zeros(len(held.texts), dtype=np.int64)
        wrong = np.zeros((3, len(held.texts)), dtype=bool)  # no number, too many decimals, out of bounds
        for place, text in enumerate(held.texts):
            number = read_decimal(text)
            scaled = Fraction(*number) * 10**self.decimals if number is not None else Fraction(1, 2)
            wrong[0, place] = number is None
            wrong[1, place] = scaled.denominator != 1
            wrong[2, place] = not self.least <= scaled <= self.most
            if not wrong[:, place].any():
                steps[place] = int(scaled) - self.least
        cures = (
            "is no number; write it in digits, or list the column in values",
            f"has more than {self.decimals} decimals; round it, or raise decimals in the task",
            "is outside of its bounds; widen them in the task",
        )
        for flags, cure in zip(wrong, cures, strict=True):
            _refuse_row(table, self.column, flags[held.codes], cure)
        return steps[held.codes]


def hold_texts(table: PartyTable, column: str) -> HeldValues:
    """Take a column as texts; a cell without a value is refused."""
    check_column_names([column], table.arrow.column_names, table.name)
    cells = table.arrow[column]
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_null(cells.type):
        cells = cells.cast(pa.string())
    if cells.null_count:
        empty = numpy_numbers(cells.is_null().cast(pa.uint8())).astype(bool)
        _refuse_row(table, column, empty, "has no value; fill it in, or leave out such rows")
    encoded = cells.cast(pa.string()).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = numpy_numbers(encoded.indices).astype(np.int64)
    return HeldValues(tuple(encoded.dictionary.to_pylist()), codes)


def _refuse_row(table: PartyTable, column: str, wrong: NDArray[np.bool_], cure: str) -> None:
    """Refuse the first row that is flagged, by its number; its cell is nobody's business."""
    if wrong.any():
        raise DataError(f"{table.name}: {quote(column)} of row {int(np.argmax(wrong)) + 1:,} {cure}")


def read_domains(section: Section, columns: Sequence[str]) -> tuple[ValueList | NumberBounds, ...]:
    """Read what ``values``, ``bounds`` and ``decimals`` of a task say of these columns, in their order."""
    values = require_table(section.table.get("values", {}), section.path("values"), example='{ sex = ["f", "m"] }')
    bounds = require_table(section.table.get("bounds", {}), section.path("bounds"), example="{ age = [0, 120] }")
    decimals: Any = section.table.get("decimals", {})
    if isinstance(decimals, int):  # for all of them
        decimals = dict.fromkeys(bounds, decimals)
    decimals = require_table(decimals, section.path("decimals"), example="{ age = 1 }")
    for key, named in (("values", values), ("bounds", bounds), ("decimals", decimals)):
        for name in named:
            if name not in columns:
                raise PolicyError(
                    "is not one of the columns of the task; leave it out", key=f"{section.path(key)}.{name}"
                )
    domains: list[ValueList | NumberBounds] = []
    for name in columns:
        if name in values and name in bounds:
            raise PolicyError("has values as well as bounds; leave one out", key=f"{section.path('values')}.{name}")
        if name in bounds:
            domains.append(_read_range(name, bounds[name], decimals.get(name, 0), section))
            continue
        if name in decimals:
            raise PolicyError("has decimals and no bounds; name both", key=f"{section.path('decimals')}.{name}")
        known = _read_values(values[name], f"{section.path('values')}.{name}") if name in values else None
        domains.append(ValueList(name, known))
    return tuple(domains)


def _read_values(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
        raise PolicyError('must be a list of texts such as ["f", "m"]', key=key)
    if len(set(value)) < len(value):
        raise PolicyError("has a value twice; name each once", key=key)
    return tuple(value)


def _read_range(name: str, value: Any, decimals: Any, section: Section) -> NumberBounds:
    key = f"{section.path('bounds')}.{name}"
    if not isinstance(value, list) or len(value) != 2 or not all(is_number(end) for end in value):
        raise PolicyError("must be two numbers such as [0, 120]", key=key)
    if not isinstance(decimals, int) or isinstance(decimals, bool) or not 0 <= decimals <= _MOST_DECIMALS:
        raise PolicyError(
            f"must be a whole number from 0 to {_MOST_DECIMALS}", key=f"{section.path('decimals')}.{name}"
        )
    least, most = (Fraction(str(end)) * 10**decimals for end in value)
    if least.denominator != 1 or most.denominator != 1:
        raise PolicyError(f"bounds have more than {decimals} decimals; say so in decimals", key=key)
    if not 0 < most - least < WIDEST_STEPS:
        raise PolicyError(
            f"must be a lower and a higher number, less than {WIDEST_STEPS:,} steps of the last decimal apart", key=key
        )
    return NumberBounds(name, int(least), int(most), decimals)


def read_columns(section: Section, *, most: int | None = None) -> tuple[str, ...]:
    """Read ``columns`` of a task: at least one name, each once, and at most so many."""
    columns = section.texts("columns")
    if not columns:
        raise PolicyError('must name columns, such as ["age", "sex"]', key=section.path("columns"))
    if len(set(columns)) < len(columns):
        raise PolicyError("names a column twice; name each once", key=section.path("columns"))
    if most is not None and len(columns) > most:
        raise PolicyError(f"must name at most {most} columns, not {len(columns)}", key=section.path("columns"))
    return columns


def stated_domains(domains: Sequence[ValueList | NumberBounds], parties: Sequence[str], most_items: int | None) -> str:
    """Say in a sentence which columns have values that the parties find together, and so learn; nothing if none."""
    found = [domain.column for domain in domains if isinstance(domain, ValueList) and domain.values is None]
    if not found:
        return ""
    names = ", ".join(quote(name) for name in found)
    whose = "and not at whom" if len(parties) > 2 else "and what one of the two lacks is the other's"
    return (
        f"All parties learn which values of {names} occur at any of them, {whose}; some learn how many of them other "
        f"parties have in common; {size_sentence(most_items)}."
    )
