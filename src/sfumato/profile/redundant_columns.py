"""Columns that say what another says: a code and its label, three copies of a date, a date of birth and an age.

A column follows from another where rows that agree in the other agree in it. Rows are sorted by one column and
neighbours compared in all others at once, so that the work is that of the sampled rows times the square of the columns;
of many columns fewer rows are looked at. What a sample shows is then counted in all rows. Where nearly every row has a
number or date of its own, no rows agree: there two columns say the same if they order the rows alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import FloatArray
from sfumato.core.arrow import arrow_numbers
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.profile.column_facts import ColumnFacts
from sfumato.profile.table_profile import TableProfile, number_values
from sfumato.profile.written_numbers import plain_number

_MOST_ROWS, _LEAST_ROWS = 4000, 300
_WORK = 600_000_000
"""Cells that may be compared: about a second."""

_EVIDENCE = 20
"""Pairs of rows that would differ by chance, for their agreement to tell something."""

_ERRORS = 0.01
"""The share of such pairs, and of all rows, that may differ all the same: slips."""

_ALIKE = 0.999
"""The correlation of ranks from which on two columns order the rows alike."""

_MANY_VALUES = 10
_CONFIRMED = 100
"""Columns that are counted in all rows at most; of the others the sample is believed."""


@dataclass(frozen=True)
class ColumnRelation:
    """That a column says what `source` says: the `same` in other words or in order, or less than it.

    `told_by` has all columns that it follows from.
    """

    source: str
    same: bool
    told_by: tuple[str, ...] = ()

    def sentence(self, quoted: str) -> str:
        """Say it, with the name of the source as it is to be written.

        >>> ColumnRelation("age", False).sentence("'age'")
        "follows from 'age', so that keeping both tells nothing more"
        """
        what = "says the same as" if self.same else "follows from"
        return f"{what} {quoted}, so that keeping both tells nothing more"


def find_redundant_columns(profile: TableProfile, columns: Sequence[ColumnFacts]) -> dict[str, ColumnRelation]:
    """Find the columns that say what another of them says, with the one that it is best said of.

    Of columns that say the same, all but the first are redundant. Of those that a column follows from, the one with the
    fewest values is named: an age group follows from the age, and the age from the date of birth.
    """
    facts = [column for column in columns if column.values.distinct + bool(column.values.missing) > 1]
    if len(facts) < 2:
        return {}
    sampled = _sample_rows(profile, len(facts))
    codes = np.column_stack([_number_sampled(profile, column.name, sampled) for column in facts])
    follows = find_dependencies(codes)
    alike = _ordered_alike(profile, facts, sampled)
    relations: dict[str, ColumnRelation] = {}
    confirmed = 0
    for place, column in enumerate(facts):
        sources = sorted(np.flatnonzero(follows[:, place]).tolist(), key=lambda a: (facts[a].values.distinct, a))
        # of two that say the same, the first one is not redundant; what follows both ways is the same
        sources = [a for a in sources if not follows[place, a] or a < place]
        for source in sources:
            confirmed += 1
            if confirmed > _CONFIRMED or _is_confirmed(profile, facts[source].name, column.name):
                told_by = tuple(facts[a].name for a in sources)
                relations[column.name] = ColumnRelation(facts[source].name, bool(follows[place, source]), told_by)
                break
        if column.name in relations:
            continue
        # the one with more values tells more; of equals the first
        tells = [
            a
            for a in np.flatnonzero(alike[place]).tolist()
            if (-facts[a].values.distinct, a) < (-column.values.distinct, place)
        ]
        if tells:
            source = tells[0]
            same = facts[source].values.distinct <= 1.1 * column.values.distinct
            relations[column.name] = ColumnRelation(facts[source].name, same)
    return relations


def find_dependencies(codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which columns follow from which in n rows of m columns.

    codes:    int[n, m], the number of each value
    follows:  bool[m, m], whether column j follows from column i; never from itself

    Rows are sorted by column i. Of neighbours that agree in i, as many should differ in j as pairs of rows do in the
    whole, unless j follows from i: then hardly any do. Where too few would differ by chance, nothing is said.

    >>> codes = np.array([[0, 5], [1, 6], [2, 5], [3, 6]] * 30)
    >>> find_dependencies(codes).tolist()
    [[False, True], [False, False]]
    """
    rows, columns = codes.shape
    narrow = codes.astype(np.int16 if codes.max(initial=0) < 2**15 else np.int32)
    shares = [np.bincount(narrow[:, j]) / rows for j in range(columns)]
    differing = np.array([1 - float((share**2).sum()) for share in shares])
    follows = np.zeros((columns, columns), dtype=np.bool_)
    for i in range(columns):
        in_order = narrow[np.argsort(narrow[:, i], kind="stable")]
        agree = np.flatnonzero(in_order[1:, i] == in_order[:-1, i])
        expected = len(agree) * differing
        if expected.max(initial=0) < _EVIDENCE:
            continue
        differ = (in_order[agree + 1] != in_order[agree]).sum(axis=0)
        follows[i] = (expected >= _EVIDENCE) & (differ <= _ERRORS * expected)
    np.fill_diagonal(follows, val=False)
    return follows


def _sample_rows(profile: TableProfile, columns: int) -> NDArray[np.int64]:
    """Choose rows that are spread evenly over the table, fewer the more columns there are."""
    rows = min(_MOST_ROWS, max(_LEAST_ROWS, _WORK // columns**2), profile.rows)
    return np.linspace(0, profile.rows - 1, rows).astype(np.int64)


def _number_sampled(profile: TableProfile, name: str, sampled: NDArray[np.int64]) -> NDArray[np.int64]:
    column = profile.table.arrow.column(name).take(arrow_numbers(sampled))
    return number_values(column)[0].astype(np.int64)


def _is_confirmed(profile: TableProfile, source: str, column: str) -> bool:
    """Tell whether hardly any row of the whole table has another value than most with its value of the source."""
    (first, width), (second, second_width) = (
        number_values(profile.table.arrow.column(name)) for name in (source, column)
    )
    packed = pack_tuples([first, second], [width, second_width])
    pairs = count_keys(packed)
    most = np.zeros(width, dtype=np.int64)
    np.maximum.at(most, packed.unpack(pairs.keys)[0], pairs.counts)
    return profile.rows - int(most.sum()) <= _ERRORS * profile.rows


def _ordered_alike(
    profile: TableProfile, facts: Sequence[ColumnFacts], sampled: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell which columns of numbers and dates order the sampled rows alike, or just the other way round: bool[m, m]."""
    alike = np.zeros((len(facts), len(facts)), dtype=np.bool_)
    places, scores = list[int](), list[FloatArray]()
    for place, column in enumerate(facts):
        if column.values.distinct < _MANY_VALUES or column.values.missing > 0.5 * column.values.rows:
            continue
        texts = profile.table.arrow.column(column.name).take(arrow_numbers(sampled)).cast("string").to_pylist()
        numbers = _read_in_order(column, texts)
        if numbers is None:
            continue
        ranks = _average_ranks(numbers)
        spread = float(np.nanstd(ranks))
        if spread:
            places.append(place)
            scores.append(np.nan_to_num((ranks - np.nanmean(ranks)) / spread))
    if len(places) < 2:
        return alike
    table = np.column_stack(scores)
    present = (table != 0).astype(float)
    together = np.maximum(present.T @ present, 1)
    correlation = np.abs(table.T @ table) / together
    enough = together >= 2 * _EVIDENCE
    alike[np.ix_(places, places)] = (correlation >= _ALIKE) & enough
    np.fill_diagonal(alike, val=False)
    return alike


def _read_in_order(facts: ColumnFacts, texts: Sequence[str | None]) -> FloatArray | None:
    """Read sampled values as numbers that order them, NULL as not a number; ``None`` where they have no order."""
    if facts.type.numbers is not None:
        style = facts.type.numbers.style
        return np.array([np.nan if text is None else float(plain_number(text, style)) for text in texts])
    dates = facts.type.dates
    if dates is None:
        return None
    return np.array([np.nan if text is None else dates.read(text).toordinal() for text in texts])


def _average_ranks(numbers: FloatArray) -> FloatArray:
    """Rank numbers, equal ones alike; NULL has no rank."""
    ranks = np.full(len(numbers), np.nan)
    there = np.flatnonzero(~np.isnan(numbers))
    _, code, counts = np.unique(numbers[there], return_inverse=True, return_counts=True)
    ranks[there] = (np.cumsum(counts) - counts / 2)[code]
    return ranks
