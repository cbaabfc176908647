"""Split groups, each along an attribute of its own: at a median, or into the children of a label."""

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.recode.local.mondrian.board import Board
from sfumato.recode.local.mondrian.children import children
from sfumato.recode.local.mondrian.cuts import Cuts, Median, sides
from sfumato.recode.local.mondrian.pool import Pool
from sfumato.recode.local.mondrian.sieve import Sieve
from sfumato.recode.local.problem import Problem

Split = tuple[list[Pool], BoolArray]
"""What came of the groups that could be split, and which these are."""


class Splitter:
    """Splits groups so that every side passes, or leaves them as they are."""

    def __init__(self, problem: Problem, board: Board, *, relax: bool) -> None:
        self.board, self.relax, self.sieve = board, relax, Sieve(problem)

    def split(self, pool: Pool, axis: IntArray, level: IntArray) -> Split:
        """Split each group along its axis; along one with levels, below the given level."""
        tree = self.board.trees.take(axis)
        ok = np.zeros(len(axis), dtype=np.bool_)
        found: list[Pool] = []
        for chosen, way in ((tree, self._children), (~tree, self._cut)):
            if chosen.any():
                more, ok[chosen] = way(pool.only(chosen), axis[chosen], level[chosen])
                found += more
        return found, ok

    def _children(self, pool: Pool, axis: IntArray, level: IntArray) -> Split:
        """Into the children of the label that covers each group."""
        where = axis.take(pool.owner)
        child = self.board.child(where, self.board.place(where, pool.of), level.take(pool.owner))
        return children(pool, child, self.sieve, width=self.board.labels)

    def _cut(self, pool: Pool, axis: IntArray, level: IntArray) -> Split:
        """In two, at the median; NULLs apart from numbers first of all."""
        del level
        place = self.board.place(axis.take(pool.owner), pool.of)
        median = Median.of(pool.owner, place, pool.rows, span=self.board.span)
        found: list[Pool] = []
        ok = np.zeros(pool.groups, dtype=np.bool_)
        for cuts, fit in self._ways(median, self.board.nulls.take(axis)):
            tried = fit & ~ok
            if tried.any():
                lines = tried.take(pool.owner)
                more, ok[tried] = self._halves(pool.only(tried), place[lines], cuts.only(tried))
                found += more
        return found, ok

    def _ways(self, median: Median, null: IntArray) -> list[tuple[Cuts, BoolArray]]:
        """Cuts to try, one after another, and for which groups.

        By counts alone the less even one of two strict cuts fails where the other does. Rows of one value are divided
        only where no strict cut passes: values that stay together make tighter labels.
        """
        every = np.ones(len(null), dtype=np.bool_)
        strict = median.strict()
        cuts = [*(strict[:1] if self.sieve.counts else strict), *([median.even()] if self.relax else [])]
        return [median.apart(null), *((cut, every) for cut in cuts)]

    def _halves(self, pool: Pool, place: Codes, cuts: Cuts) -> Split:
        side, rows, lines = sides(cuts, pool.owner, place, pool.rows, whole=self.sieve.problem.whole)
        of, owner = (pool.of, pool.owner) if len(lines) == len(pool) else (pool.of[lines], pool.owner[lines])
        side += 2 * owner
        passing = self.sieve.passes(of, rows, side, 2 * pool.groups)
        ok: BoolArray = passing[0::2] & passing[1::2]
        kept = np.flatnonzero(ok.take(owner))
        if not len(kept):
            return [], ok
        fresh = np.cumsum(np.repeat(ok, 2)) - 1
        return [Pool(of.take(kept), rows.take(kept), fresh.take(side.take(kept)))], ok
