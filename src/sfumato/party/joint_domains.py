"""Domains that several parties share: the values a column can have, known to all, whoever has rows with them.

A hierarchy must not depend on one party's rows, or the labels of two parties would not fit together. So a column's
values come from where all parties find the same: the leaves of its hierarchy file, the whole numbers of a declared
domain, or a list in the task. Where there is none of these, the parties find the values that occur by a secure union
(chapter, 20.5): all of them learn which values there are, and nobody whose they are. Whether a quasi-identifier is
missing somewhere is found by a secure sum, since NULL has a label of its own only where it occurs.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.core.arrow import arrow_indices
from sfumato.core.classes import SensitiveDomain
from sfumato.encode import (
    CodedColumn,
    EncodedTable,
    QuasiIdentifier,
    bind_quasi_identifier,
    count_distinct_tuples,
    encode_column,
    sensitive_domain,
)
from sfumato.errors import DataError, PolicyError, RunAborted, quote
from sfumato.hierarchy import File, Intervals, LabelFunction, Ranges, Sets
from sfumato.hierarchy.hierarchy import Label, refuse_values
from sfumato.policy import Column, Policy
from sfumato.table import Table

LONGEST_ITEM = 101
"""Bytes of the longest item of a union of values: a mark, and the value."""
_MOST_NUMBERS = 1_000_000
"""Whole numbers of the largest domain whose numbers are listed."""
_NULL_ITEM, _TEXT_MARK = b"\0", b"\1"


def public_values(column: Column, nulls: Sequence[str], stated: Sequence[str] | None = None) -> tuple[str, ...] | None:
    """List the values that a column can have, as all parties know them, sorted; nothing where nobody declares them.

    >>> from sfumato.policy import Role
    >>> public_values(Column("age", Role.QUASI, Intervals([5], domain=[17, 20])), [""])
    ('17', '18', '19', '20')
    >>> public_values(Column("sex", Role.SENSITIVE), [""], ["m", "f"]), public_values(Column("x", Role.SENSITIVE), [""])
    (('f', 'm'), None)
    """
    values: list[str] | None = None
    match column.hierarchy:
        case _ if stated is not None:
            values = list(stated)
        case File() as file:
            values = [line[0] for line in file.lines]
        case Intervals(domain=(lowest, highest)) as intervals if intervals.is_whole:
            numbers = range(math.ceil(lowest), math.floor(highest) + 1)
            values = list(map(str, numbers)) if len(numbers) <= _MOST_NUMBERS else None
        case _:
            pass
    return None if values is None else tuple(sorted(value for value in set(values) if value not in nulls))


def check_hierarchies(policy: Policy) -> None:
    """Refuse hierarchies whose labels would depend on one party's rows."""
    for column in policy.quasi:
        if isinstance(column.hierarchy, Ranges | Sets | LabelFunction):
            kind = {Ranges: "ranges", Sets: "sets", LabelFunction: "a function"}[type(column.hierarchy)]
            raise PolicyError(
                f"{kind} would depend on the rows of one party; give a file, intervals, a mask, dates or suppress",
                key=f"columns.{column.name}.hierarchy",
            )


@dataclass(frozen=True, eq=False, repr=False)
class OwnColumns:
    """This party's quasi-identifiers and sensitive columns, coded by the values that it has itself.

    `known` are the values that all parties know of a column, and `sought` the columns whose values are to be found
    together; sensitive columns that nobody counts are neither. `table` has the columns that are published as they came.
    """

    policy: Policy
    table: Table
    coded: Mapping[str, CodedColumn]
    known: Mapping[str, tuple[str, ...]]
    sought: tuple[str, ...]

    @classmethod
    def from_table(
        cls, table: Table, policy: Policy, stated: Mapping[str, Sequence[str]], counted: Collection[str]
    ) -> "OwnColumns":
        """Code the columns of a table; refuse values that are in no domain, and those that are too long to be sought.

        `counted` are the sensitive columns whose values are counted together. What is refused is told to its holder
        alone, and nothing has been sent yet.
        """
        nulls = policy.source.null
        columns = [*policy.quasi, *policy.sensitive]
        coded = {column.name: encode_column(table, column.name) for column in columns}
        known, sought = {}, []
        for column in columns:
            if column not in policy.quasi and column.name not in counted:
                continue
            texts = coded[column.name].texts
            if column.hierarchy is not None:
                column.hierarchy.bind(texts, column=column.name, nulls=nulls)  # refuses what it does not know
            values = public_values(column, nulls, stated.get(column.name))
            if values is None:
                _check_sought(column.name, texts, nulls)
                sought.append(column.name)
                continue
            known[column.name] = values
            strange = [text for text in texts if text is not None and text not in set(values)]
            if strange and column not in policy.quasi:
                raise DataError(
                    f"column {quote(column.name)} holds {len(strange):,} values that are not in its domain; add them "
                    "to values in [task], or mend them"
                )
            remedy = "write them as the domain does, or add them to values in [task]"
            refuse_values(strange, column=column.name, fault="not in the domain of all parties", remedy=remedy)
        return cls(policy, table, coded, known, tuple(sought))

    def items(self, name: str) -> list[bytes]:
        """The values of a column as a union of sets takes them; NULL is one of them."""
        texts = self.coded[name].texts
        return [_NULL_ITEM if text is None else _TEXT_MARK + text.encode() for text in texts]

    @property
    def missing(self) -> IntArray:
        """How many rows lack a value of each quasi-identifier, int64[quasi-identifiers]."""
        return np.array([self.table.arrow.column(column.name).null_count for column in self.policy.quasi])

    def encode(self, domains: Mapping[str, tuple[Label, ...]], totals: Mapping[str, IntArray]) -> EncodedTable:
        """Encode this party's rows over domains that all parties share.

        `domains` has the values of every column that is known or sought, `totals` the rows of all parties with each
        value of a sensitive column that a requirement looks at, none of them 0.
        """
        policy, nulls = self.policy, self.policy.source.null
        order = {name: place for place, name in enumerate(self.table.arrow.column_names)}
        coded = {name: _recode(column, domains.get(name, column.texts)) for name, column in self.coded.items()}
        quasi: tuple[QuasiIdentifier, ...] = tuple(
            bind_quasi_identifier(coded[column.name], column, nulls)
            for column in sorted(policy.quasi, key=lambda column: order[column.name])
        )
        summed = {
            column.name: sensitive_domain(SensitiveDomain(domains[column.name], totals[column.name]), column, nulls)
            for column in policy.sensitive
            if column.name in totals
        }
        sensitive = {column.name: coded[column.name] for column in policy.sensitive}
        plain = {column.name: self.table.arrow.column(column.name) for column in policy.ungeneralized}
        tuples = count_distinct_tuples(quasi, {name: sensitive[name] for name in summed})
        return EncodedTable(self.table.rows, quasi, sensitive, None, summed, tuples, plain)


def read_items(items: Sequence[bytes], nulls: Collection[str]) -> tuple[Label, ...]:
    r"""Read the values of a union of sets, sorted, NULL last; what no party can have by this program ends the run.

    >>> read_items([b"\0", b"\1flu", b"\1HIV"], [""])
    ('HIV', 'flu', None)
    """
    held = [item for item in items if item != _NULL_ITEM]
    try:
        texts = sorted(item.removeprefix(_TEXT_MARK).decode() for item in held)
    except UnicodeDecodeError:
        raise RunAborted("a party has a value that is no UTF-8; find out whose program was changed") from None
    marked = all(item.startswith(_TEXT_MARK) for item in held)
    if not marked or len(set(items)) < len(items) or not set(nulls).isdisjoint(texts):
        raise RunAborted("a party has a value that is none, or that is there twice; find out whose program was changed")
    return (*texts, *([None] if _NULL_ITEM in items else []))


def _recode(column: CodedColumn, domain: tuple[Label, ...]) -> CodedColumn:
    """Code a column by all values of a domain; those that the column lacks have no value of their own here."""
    place_of = {text: place for place, text in enumerate(domain)}
    places = np.array([place_of[text] for text in column.texts], dtype=np.int64)
    own: list[int | None] = [None] * len(domain)
    for code, place in enumerate(places.tolist()):
        own[place] = code
    codes = narrow_codes(places, len(domain)).take(column.codes)
    values: Any = column.values.take(arrow_indices(own))
    return replace(column, codes=codes, texts=domain, values=values)


def _check_sought(name: str, texts: Sequence[Label], nulls: Collection[str]) -> None:
    """Refuse values that a union of sets does not take: longer ones, and numbers that are written as NULL is."""
    if not set(nulls).isdisjoint(texts):
        raise DataError(
            f"column {quote(name)} holds numbers that [data] null calls missing; make them missing in the table"
        )
    if any(len(text.encode()) >= LONGEST_ITEM for text in texts if text is not None):
        raise DataError(
            f"column {quote(name)} holds values of {LONGEST_ITEM} bytes and more, which the parties do not seek "
            "together; give it a hierarchy file, or list its values in [task]"
        )
