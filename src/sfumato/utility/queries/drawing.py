"""Queries drawn at random, with the count that each has in the original."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.encode import EncodedTable, QuasiIdentifier, count_distinct_tuples
from sfumato.errors import InputError
from sfumato.utility.queries.workload import Query, Workload

Progress = Callable[[int, int], None]

_DRAWS = 10
"""Queries are drawn so many times as often as they are wanted, and no more; then fewer are asked."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Queries with their true counts, none of them zero, and how often one with a true count of zero was drawn."""

    workload: Workload
    sensitive: str
    queries: tuple[Query, ...]
    actual: IntArray
    zero: int


def draw(encoded: EncodedTable, sensitive: str, workload: Workload, *, progress: Progress | None = None) -> Drawn:
    """Draw the queries from the values of the original, and count their rows there.

    There is no relative error where the true count is zero: such a query is drawn again, as long as there are not ten
    times as many draws as queries. The same seed gives the same queries, whatever the order of the rows.
    """
    _check(workload, len(encoded.quasi))
    truth, zero = Truth.of(encoded, sensitive), 0
    found, actual = list[Query](), list[int]()
    for query in islice(_queries(encoded, sensitive, workload), _DRAWS * workload.queries):
        count = truth.count(query)
        if count:
            found.append(query)
            actual.append(count)
        else:
            zero += 1
        if progress:
            progress(len(found), workload.queries)
        if len(found) == workload.queries:
            break
    return Drawn(workload, sensitive, tuple(found), np.array(actual, dtype=np.int64), zero)


@dataclass(frozen=True, eq=False)
class Truth:
    """The original, as the different lines that queries can tell apart."""

    quasi: tuple[Codes, ...]
    sensitive: Codes
    counts: IntArray

    @classmethod
    def of(cls, encoded: EncodedTable, sensitive: str) -> "Truth":
        """The lines as far as queries on one sensitive column look at them."""
        known = encoded.tuples
        lines = (
            known
            if sensitive in known.others
            else count_distinct_tuples(encoded.quasi, {sensitive: encoded.sensitive[sensitive]})
        )
        return cls(lines.quasi, lines.others[sensitive], lines.counts)

    def count(self, query: Query) -> int:
        """The rows that a query asks for."""
        lines = query.among(self.quasi)
        return int(self.counts.take(lines[query.sensitive.take(self.sensitive.take(lines))]).sum())


def _check(workload: Workload, quasi: int) -> None:
    if workload.dimensions > quasi:
        few = f"there are {quasi} quasi-identifiers, and a query cannot ask of {workload.dimensions}"
        raise InputError(f"{few}; give fewer dimensions")


def _queries(encoded: EncodedTable, sensitive: str, workload: Workload) -> Iterator[Query]:
    """Queries without end."""
    rng, width = np.random.default_rng(workload.seed), encoded.sensitive[sensitive].width
    while True:
        yield _query(encoded.quasi, width, workload, rng=rng)


def _query(attributes: Sequence[QuasiIdentifier], width: int, workload: Workload, *, rng: np.random.Generator) -> Query:
    places = np.sort(rng.choice(len(attributes), workload.dimensions, replace=False)).tolist()
    quasi = tuple((place, _some(attributes[place].column.width, workload, rng)) for place in places)
    return Query(quasi, _some(width, workload, rng))


def _some(width: int, workload: Workload, rng: np.random.Generator) -> BoolArray:
    wanted = np.zeros(width, dtype=np.bool_)
    wanted[rng.choice(width, workload.wanted(width), replace=False, shuffle=False)] = True
    return wanted
