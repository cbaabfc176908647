"""Which values the answered maxima determine: extreme sets, where values may occur several times.

After some answered maxima a row is at most the least of the maxima it stood in. The extreme set of a query is the rows
of it for which that bound is the query's own maximum: one of them has it. Values may repeat, so a value is determined
exactly where an extreme set is a single row (Chin 1986; Kleinberg, Papadimitriou and Raghavan 2003): with two rows or
more in each of its sets, a row may as well be lower, all others being at their bounds. So a row that is not determined
may be as low as one likes, and nothing confines it from both sides.

A query is decided before its answer is looked at: it is denied where *some* answer that agrees with the earlier ones
would leave a single row in an extreme set (simulatable auditing: Kenthapadi, Mishra and Nissim 2005). Then a denial
tells nothing that the asker could not have worked out. Minima are maxima of the values turned over.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.auditor.sum_elimination import Blocks

Numbers = NDArray[np.int64]

UNBOUNDED = np.iinfo(np.int64).max
"""The bound of a row of which no maximum was answered; no value is that high."""


class ExtremeSets:
    """The answered maxima over some blocks, of `rows` rows each; values are whole numbers.

    `bound` is int64[blocks], the least maximum of each. `level` is int64[sets], the maximum of each extreme set, whose
    blocks are the `member` at the places where `owner` is the set.

    >>> high = ExtremeSets(np.array([1, 1, 1, 3]))
    >>> three, two = np.array([True, True, True, False]), np.array([True, True, False, False])
    >>> high.may_disclose([three]), high.may_disclose([two])
    (False, False)
    >>> high.add(three, 70)
    >>> high.may_disclose([two])  # if it were lower, the third would have the 70
    True
    >>> high.may_disclose([~three])  # three rows that are asked of together
    False
    """

    def __init__(self, rows: Numbers) -> None:
        self.rows = rows.astype(np.int64)
        self.bound = np.full(len(rows), UNBOUNDED, np.int64)
        self.level = np.empty(0, np.int64)
        self.owner = np.empty(0, np.int64)
        self.member = np.empty(0, np.int64)

    @property
    def touched(self) -> Blocks:
        """The blocks of which a maximum was answered."""
        found: Blocks = (self.bound != UNBOUNDED) & (self.rows > 0)
        return found

    def may_disclose(self, queries: Sequence[Blocks]) -> bool:
        """Tell whether some answers to queries, asked together, that agree with the earlier ones disclose a value.

        Queries that are asked together share no block. Each of them has rows.

        Two things can happen. A query's own set is the rows whose bound reaches the answer: it is smallest at the
        highest answer that is possible, the highest bound in the query, so at least two rows must have that bound. And
        an answer below the level of an earlier set takes the query's rows out of that set.
        """
        for query in queries:
            highest = self.bound[query].max()
            if self.rows[query & (self.bound == highest)].sum() < 2:
                return True
        if not len(self.level):
            return False
        left = self._rows_outside(np.logical_or.reduce(queries))
        if len(queries) == 1:
            return self._leaves_one_row(left)
        # Together: any of the queries may be below a level, and the others not. Left over is then one row where one is
        # in no query, or where all are in queries and one of these has a single row. It is not asked whether the
        # answers that this takes agree with other levels: that denies a little too much, and never too little.
        if (left == 1).any():
            return True
        return any(bool((self._rows_inside(query)[left == 0] == 1).any()) for query in queries)

    def _leaves_one_row(self, left: Numbers) -> bool:
        """Tell whether an answer is possible that leaves one row in some set, `left` being what is outside the query.

        Going down from the highest level: an answer below a level takes all rows of the query out of its sets. If one
        of them is then empty, no answer is that low, and the levels below do not matter.
        """
        order = np.argsort(-self.level, kind="stable")
        level, left = self.level[order], left[order]
        starts = np.flatnonzero(np.r_[True, level[1:] != level[:-1]])
        least = np.minimum.reduceat(left, starts)
        decisive = np.flatnonzero(least < 2)
        return bool(len(decisive)) and int(least[decisive[0]]) == 1

    def _rows_inside(self, blocks: Blocks) -> Numbers:
        counted = np.where(blocks, self.rows, 0)[self.member]
        return _add_by_set(counted, self.owner, len(self.level))

    def _rows_outside(self, blocks: Blocks) -> Numbers:
        return self._rows_inside(~blocks)

    def add(self, query: Blocks, answer: int) -> None:
        """Take a maximum as answered."""
        stays = ~(query[self.member] & (self.level[self.owner] > answer))
        self.owner, self.member = self.owner[stays], self.member[stays]
        self.bound[query] = np.minimum(self.bound[query], answer)
        extreme = query & (self.bound == answer) & (self.rows > 0)
        size = int(extreme.sum())
        common = _add_by_set(extreme[self.member].astype(np.int64), self.owner, len(self.level))
        sizes = _add_by_set(np.ones(len(self.member), np.int64), self.owner, len(self.level))
        same = self.level == answer
        if (same & (common == sizes)).any():
            return  # one of fewer rows says it already
        wider = same & (common == size)
        if wider.any():
            self._drop(wider)
        self.owner = np.r_[self.owner, np.full(size, len(self.level))]
        self.member = np.r_[self.member, np.flatnonzero(extreme)]
        self.level = np.r_[self.level, np.int64(answer)]

    def _drop(self, sets: NDArray[np.bool_]) -> None:
        kept = ~sets[self.owner]
        number = np.cumsum(~sets) - 1
        self.owner, self.member = number[self.owner[kept]], self.member[kept]
        self.level = self.level[~sets]

    def split(self, blocks: Sequence[int], rows: Numbers) -> None:
        """Part each of some blocks in two, the new part behind all; `rows` are those of all blocks afterwards."""
        before = len(self.rows)
        new_part = np.full(before, -1, np.int64)
        new_part[list(blocks)] = before + np.arange(len(blocks))
        also = new_part[self.member]
        self.owner = np.r_[self.owner, self.owner[also >= 0]]
        self.member = np.r_[self.member, also[also >= 0]]
        self.bound = np.r_[self.bound, self.bound[list(blocks)]]
        self.rows = rows.astype(np.int64)

    def append(self, rows: Numbers) -> None:
        """Number new blocks behind all, of which no maximum was answered."""
        self.rows = np.r_[self.rows, rows.astype(np.int64)]
        self.bound = np.r_[self.bound, np.full(len(rows), UNBOUNDED, np.int64)]

    def as_arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Give what it is made of, by names that start with a prefix."""
        return {f"{prefix}{name}": getattr(self, name) for name in ("bound", "level", "owner", "member")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, rows: Numbers) -> Self:
        """Make it of what `as_arrays` gave."""
        self = cls(rows)
        for name in ("bound", "level", "owner", "member"):
            setattr(self, name, np.array(arrays[f"{prefix}{name}"], np.int64))
        return self


def _add_by_set(counted: Numbers, owner: Numbers, sets: int) -> Numbers:
    """Add up whole numbers by set, exactly: a float holds every number of rows below 2^53."""
    return np.bincount(owner, weights=counted, minlength=sets).astype(np.int64)
