"""Specialize: what each attribute offers to each active group, and the two criteria that choose between them.

Specializing a group one level down in an attribute sends its rows to branches. Branches that fail are pushed back to
the parent; if what is left there fails too, more rows have to come back (see `unspecialize`). Criterion 1 of Wong, Li,
Fu and Wang takes the attribute that specializes the most rows, criterion 2 among equals the one with the fewest
branches.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.top_down.groups import Branches, Groups

_FEW = 0.5
"""Groups are looked at apart from the others where they hold fewer lines than this share."""


class Judge:
    """Says which sets of rows pass. Where nothing but their size is looked at, `sized`, it need not count values."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.least = problem.requirement.least
        smallest = EquivalenceClasses(np.array([self.least]))
        self.sized = not problem.encoded.domains and bool(problem.requirement.holds(smallest).all())

    def passing(self, of: IntArray, rows: FloatArray, owner: IntArray, sizes: FloatArray) -> BoolArray:
        """Which sets pass: line by line `rows` rows of the tuple `of` stand in the set `owner`.

        `sizes` are the rows of each set; one whose size is given as 0 is not looked at and does not pass.
        """
        passing: BoolArray = sizes >= self.least
        if self.sized or not passing.any():
            return passing
        lines = np.flatnonzero(passing.take(owner) & (rows > 0))
        number = np.cumsum(passing) - 1
        group = number.take(owner.take(lines))
        parts = Parts(of.take(lines), rows.take(lines).astype(np.int64), group, int(number[-1]) + 1)
        passing[passing] = self.problem.holds(parts)
        return passing


@dataclass(frozen=True, eq=False)
class Offers:
    """Per group, the rows that an attribute specializes and the branches that it makes.

    Where rows have to be un-specialized, these are the most and the fewest that can be; with `sized` requirements
    they are exact.
    """

    rows: FloatArray
    branches: FloatArray


def offered(judge: Judge, groups: Groups) -> Offers:
    """What every attribute offers to every group: a line per attribute; no rows where it cannot be specialized.

    An attribute that specializes all rows with two branches cannot be beaten by a later one; those are not asked.
    """
    rows, branches = (np.zeros(groups.level.shape) for _ in range(2))
    sizes, asked = groups.sizes, np.ones(len(groups), dtype=np.bool_)
    for attribute, level in enumerate(groups.level):
        chosen = np.flatnonzero(asked & (level > 0))
        if len(chosen):
            one = _asked(judge, groups, attribute, chosen)
            rows[attribute, chosen], branches[attribute, chosen] = one.rows, one.branches
            asked[chosen] = (one.rows < sizes[chosen]) | (one.branches > 2)
    return Offers(rows, branches)


def _asked(judge: Judge, groups: Groups, attribute: int, chosen: IntArray) -> Offers:
    """What one attribute offers to the chosen groups; the others are counted too where they are few."""
    if groups.lengths[chosen].sum() < _FEW * len(groups.of):
        return offer(judge, groups.only(chosen), attribute)
    found = offer(judge, groups, attribute)
    return Offers(found.rows[chosen], found.branches[chosen])


def offer(judge: Judge, groups: Groups, attribute: int) -> Offers:
    """What one attribute offers to each group."""
    branches = groups.below(attribute)
    sizes = branches.sums(groups.rows)
    passing = judge.passing(groups.of, groups.rows, branches.of, sizes)
    begin, kept = branches.base[:-1], np.where(passing, sizes, 0.0)
    done, count = np.add.reduceat(kept, begin), np.add.reduceat(passing, begin, dtype=np.float64)
    whole = groups.sizes
    if judge.sized:
        smallest = np.minimum.reduceat(np.where(passing, sizes, np.inf), begin)
        return _exact(judge.least, whole, done, count, smallest)
    fits = stays(judge, groups, branches, passing)
    most = np.minimum(done - 1, whole - judge.least)
    return _none_without(Offers(np.where(fits, done, most), np.where(fits, count, count - 1)), count)


def stays(judge: Judge, groups: Groups, branches: Branches, passing: BoolArray) -> BoolArray:
    """Whether what failing branches push back can stay in the parent: nothing, or rows that pass."""
    back = np.where(passing.take(branches.of), 0.0, groups.rows)
    left = groups.sums(back)
    fits: BoolArray = judge.passing(groups.of, back, groups.number, left) | (left == 0)
    return fits


def _exact(least: int, whole: FloatArray, done: FloatArray, count: FloatArray, smallest: FloatArray) -> Offers:
    """Where only sizes count: rows come back up to `least` if branches can spare them, else the smallest branch."""
    left = whole - done
    fits = (left == 0) | (left >= least)
    spares = done - count * least >= least - left
    rows = np.where(fits, done, np.where(spares, whole - least, np.where(count > 1, done - smallest, 0.0)))
    return _none_without(Offers(rows, np.where(fits | spares, count, count - 1)), count)


def _none_without(offers: Offers, count: FloatArray) -> Offers:
    """No rows where no branch passes."""
    return Offers(np.where(count > 0, np.maximum(offers.rows, 0.0), 0.0), np.maximum(offers.branches, 1.0))
