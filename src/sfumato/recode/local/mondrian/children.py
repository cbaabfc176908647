"""Split groups into the children of a label.

Where every child passes, each is a group of its own. Children that fail stand together as the rest of their group,
which keeps its label; where the rest fails too, the smallest child that passes joins it. (Splitting only where all
children pass loses about twice as much on Adult at k = 5.)
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.recode.local.mondrian.pool import Pool
from sfumato.recode.local.mondrian.sieve import Sieve


@dataclass(frozen=True, eq=False)
class _Sides:
    """The children of groups: the child of each line, and of each child its group and whether it passes."""

    pool: Pool
    side: IntArray
    owner: IntArray
    passing: BoolArray

    def good(self) -> IntArray:
        """How many children of each group pass."""
        return np.bincount(self.owner[self.passing], minlength=self.pool.groups)

    def whole(self) -> BoolArray:
        """Groups of which all children pass."""
        bad: BoolArray = np.bincount(self.owner[~self.passing], minlength=self.pool.groups) > 0
        return ~bad

    def rest(self) -> IntArray:
        """One of the failing children of each group, to stand for all of them; -1 where none fails."""
        rest = np.full(self.pool.groups, -1)
        rest[self.owner[~self.passing]] = np.flatnonzero(~self.passing)
        return rest

    def smallest(self) -> IntArray:
        """The smallest passing child of each group; -1 where there is none."""
        sizes = np.bincount(self.side, self.pool.rows, len(self.owner))
        order = np.argsort(-sizes, kind="stable")
        order = order[self.passing.take(order)]
        smallest = np.full(self.pool.groups, -1)
        smallest[self.owner.take(order)] = order
        return smallest


def children(pool: Pool, child: Codes, sieve: Sieve, *, width: int) -> tuple[list[Pool], BoolArray]:
    """Split groups by the child that each line belongs to, one of `width`; also which groups could be split."""
    side, count = number_tuples(pack_tuples([pool.owner, child], [pool.groups, width]))
    owner = np.empty(count, dtype=np.int64)
    owner[side] = pool.owner
    sides = _Sides(pool, side, owner, sieve.passes(pool.of, pool.rows, side, count))
    into, ok = _united(sides, sieve)
    kept = np.flatnonzero(ok.take(pool.owner))
    if not len(kept):
        return [], ok
    used = np.zeros(count, dtype=np.bool_)
    used[into[ok.take(owner)]] = True
    fresh = (np.cumsum(used) - 1).take(into)
    return [Pool(pool.of.take(kept), pool.rows.take(kept), fresh.take(side.take(kept)))], ok


def _united(sides: _Sides, sieve: Sieve) -> tuple[IntArray, BoolArray]:
    """What each child becomes part of, and which groups can be split that way."""
    good, ok, rest = sides.good(), sides.whole(), sides.rest()
    into = np.where(sides.passing, np.arange(len(sides.owner)), rest.take(sides.owner))
    tried = ~ok & (good >= 1)
    if tried.any():
        ok[tried] = _pass(sides, into, rest[tried], sieve)
    tried = ~ok & (good >= 2)
    if tried.any():
        into[sides.smallest()[tried]] = rest[tried]
        ok[tried] = _pass(sides, into, rest[tried], sieve)
    return into, ok


def _pass(sides: _Sides, into: IntArray, chosen: IntArray, sieve: Sieve) -> BoolArray:
    """Which of the chosen children pass, with what has become part of them."""
    place = np.full(len(into), -1)
    place[chosen] = np.arange(len(chosen))
    found = place.take(into).take(sides.side)
    lines = np.flatnonzero(found >= 0)
    return sieve.passes(sides.pool.of.take(lines), sides.pool.rows.take(lines), found.take(lines), len(chosen))
