"""Mondrian (LeFevre, DeWitt and Ramakrishnan 2006): groups are cut in two or more, again and again, while all pass.

All groups are looked at at once. Each is cut along the attribute in which it is widest; where that fails, along the
next one. An attribute of ranges or sets is cut at the median of its order, one with a hierarchy below the lowest label
that covers the group, into its children. `mondrian` is strict: rows of one value stay together. `relaxed` divides the
rows of the median value into even halves where no strict cut of an attribute passes; along a hierarchy it does what
the strict one does.

For k-anonymity, with m the largest number of rows that have the same spans and values throughout, and attributes of
ranges and sets only, d of them:

- a group of `mondrian` has at most m + 2d(k - 1) rows. Where a group of more than 2k - 1 rows is not cut, less than k
  rows stand before and less than k behind the median of each attribute; all others agree in all of them.
- a group of `relaxed` has at most 2k - 1 rows, or agrees in every attribute: then to divide it changes no label. The
  same holds for `mondrian` where all rows differ in every attribute.
"""

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.recode.local.mondrian.board import Board
from sfumato.recode.local.mondrian.pool import Pool, gathered
from sfumato.recode.local.mondrian.split import Splitter
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.recoding import Progress


def mondrian(problem: Problem, progress: Progress | None = None) -> Parts:
    """The groups of strict Mondrian."""
    return _grown(problem, progress, relax=False)


def relaxed(problem: Problem, progress: Progress | None = None) -> Parts:
    """The groups of relaxed Mondrian."""
    return _grown(problem, progress, relax=True)


def _grown(problem: Problem, progress: Progress | None, *, relax: bool) -> Parts:
    board, start = Board(problem), problem.start
    splitter = Splitter(problem, board, relax=relax)
    kept = start.group >= 0
    done = _Done(int(start.rows[kept].sum()))
    pool = gathered([Pool(start.of[kept], start.rows[kept], start.group[kept])])
    if relax:  # rows that are divided stand in the order of their places, whatever their values are called
        pool = pool.ordered(board.order(pool.of))
    while len(pool):
        pool = _round(pool, splitter, done)
        if progress is not None:
            progress(done.rows, done.all)
    gone = start.only(~kept)
    of, rows, group = (
        np.concatenate(column) for column in zip(*done.pools, (gone.of, gone.rows, gone.group), strict=True)
    )
    return Parts(of, rows, group, done.groups)


class _Done:
    """The groups that are cut no further."""

    def __init__(self, rows: int) -> None:
        self.all, self.rows, self.groups = rows, 0, 0
        self.pools: list[tuple[IntArray, IntArray, IntArray]] = []

    def add(self, lines: Pool) -> None:
        """Groups that are numbered without gaps."""
        if len(lines):
            self.pools.append((lines.of, lines.rows, lines.owner + self.groups))
            self.groups += int(lines.owner.max()) + 1
            self.rows += int(lines.rows.sum())


def _round(pool: Pool, splitter: Splitter, done: _Done) -> Pool:
    """Split every group that can be split once: widest attribute first, all groups at once."""
    large = pool.sizes >= 2 * splitter.sieve.least
    done.add(pool.only(~large))
    pool = pool.only(large)
    if not len(pool):
        return pool
    found: list[Pool] = []
    widths, levels = splitter.board.spread(pool.of, pool.starts)
    order = np.argsort(-widths, axis=0, kind="stable")
    groups = np.arange(pool.groups)
    for step in order:
        axis = step.take(groups)
        wide = widths[axis, groups] > 0
        done.add(pool.only(~wide))
        pool, groups, axis = pool.only(wide), groups[wide], axis[wide]
        if not len(pool):
            break
        more, ok = splitter.split(pool, axis, levels[axis, groups])
        found += more
        pool, groups = pool.only(~ok), groups[~ok]
    done.add(pool)
    return gathered(found)
