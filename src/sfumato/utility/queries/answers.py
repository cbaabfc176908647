"""Answers to queries from a release: what can be said of the count, class by class.

Both forms of publication say of each class how many people it has and which sensitive values they hold, not who holds
which. What they differ in is what they say of the quasi-identifiers: two tables show them as they were, a generalized
table shows a cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.encode import EncodedTable
from sfumato.labels.covered_values import CoveredCodes, find_covered_codes, find_declared_codes
from sfumato.labels.data_dictionary import Entry
from sfumato.split import TwoTables
from sfumato.split.two_tables import codes_in_original
from sfumato.utility.queries.bags import Bags
from sfumato.utility.queries.workload import Query


class Matching(Protocol):
    """What a release shows of the quasi-identifiers of each class."""

    def shares(self, query: Query) -> FloatArray:
        """The share of each class whose quasi-identifiers are wanted: known, or expected."""
        ...


@dataclass(frozen=True, eq=False)
class Answers:
    """A release, as far as it answers queries on one sensitive column."""

    matching: Matching
    bags: Bags

    def estimates(self, query: Query) -> tuple[float, float]:
        """The expected count, and the count of the paper.

        Expected: within a class, whose values are wanted and whose quasi-identifiers are wanted have nothing to do with
        each other, as far as the release tells. The paper's: all wanted values of every class that somebody with wanted
        quasi-identifiers may be in.
        """
        shares, wanted = self.matching.shares(query), self.bags.wanted(query.sensitive)
        return float((shares * wanted).sum()), float(wanted[shares > 0].sum())


@dataclass(frozen=True, eq=False)
class Lines:
    """Quasi-identifiers as they were, line by line; `codes` are the original's codes of the values of each column."""

    columns: tuple[Codes, ...]
    codes: tuple[IntArray, ...]
    class_of: IntArray
    sizes: IntArray

    def shares(self, query: Query) -> FloatArray:
        """The share of each class's lines that match."""
        owner = self.class_of.take(query.among(self.columns, self.codes))
        shares: FloatArray = np.bincount(owner, minlength=len(self.sizes)) / self.sizes
        return shares


@dataclass(frozen=True, eq=False)
class Cells:
    """Generalized cells: the labels of each class, and what each label covers, column by column."""

    labels: tuple[Codes, ...]
    covers: tuple[CoveredCodes, ...]

    def shares(self, query: Query) -> FloatArray:
        """The share of each class that is expected to match: every value under a label is as likely as another."""
        found: FloatArray = np.ones(len(self.labels[0]))
        for place, wanted in query.quasi:
            found *= self.covers[place].shares(wanted).take(self.labels[place])
        return found


def of_two_tables(tables: TwoTables, encoded: EncodedTable, sensitive: str) -> Answers:
    """Answers from two tables, in terms of the original."""
    columns = {column.name: column for column in tables.quasi}
    mine = [columns[attribute.name] for attribute in encoded.quasi]
    codes = [codes_in_original(one.texts, attribute.column) for one, attribute in zip(mine, encoded.quasi, strict=True)]
    lines = Lines(tuple(one.codes for one in mine), tuple(codes), tables.class_of, tables.sizes)
    return Answers(lines, Bags.of(tables.bags[sensitive], encoded.sensitive[sensitive], tables.sizes))


def of_labels(
    tables: TwoTables,
    encoded: EncodedTable,
    sensitive: str,
    *,
    levels: Mapping[str, int | None] | None = None,
    entries: Mapping[str, Entry] | None = None,
) -> Answers:
    """Answers from a generalized table: `tables` has its labels in place of values, and its classes.

    What labels cover is told by the columns' `entries` in the data dictionary; where these do not tell, or are left
    out, it is the values of the original under them. `levels` are those of columns whose labels are all of one level.
    """
    columns, some = {column.name: column for column in tables.quasi}, np.zeros_like(tables.sizes)
    some[tables.class_of] = np.arange(tables.rows)  # a line of each class, which has the labels of all
    mine = [columns[attribute.name] for attribute in encoded.quasi]
    told = [
        find_declared_codes(one, column.texts, entries[one.name]) if entries else None
        for column, one in zip(mine, [attribute.column for attribute in encoded.quasi], strict=True)
    ]
    covers = tuple(
        known or find_covered_codes(attribute, column.texts, (levels or {}).get(attribute.name))
        for known, column, attribute in zip(told, mine, encoded.quasi, strict=True)
    )
    cells = Cells(tuple(one.codes.take(some) for one in mine), covers)
    return Answers(cells, Bags.of(tables.bags[sensitive], encoded.sensitive[sensitive], tables.sizes))
