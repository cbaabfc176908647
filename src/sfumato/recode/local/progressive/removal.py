"""Removal: which groups may leave the rows that are still generalized, so that those can still be published.

A group that passes may be published as it is, but what stays must do without it. So rows leave only as far as all
that stays would pass as one class: then it can always be generalized far enough. That is what Lemma 5 of Wong, Li,
Fu and Wang secures for α, and what is asked here of every model, by counting.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem

_TRIED = 32
"""So many sizes are tried for a part of a group: with rounded shares one may fail where the next passes."""


@dataclass(frozen=True, eq=False)
class Removal:
    """Rows that are left, and of each line those that are offered: they would pass, group by group."""

    problem: Problem
    parts: Parts
    offered: IntArray

    def released(self, limit: int) -> IntArray:
        """Of each line the rows that leave, `limit` rows at most: whole offers, and a part of one more.

        What stays passes as one class, if all rows together did.
        """
        if not self.offered.any() or (self.offered.sum() <= limit and self.bears(self.offered)):
            return self.offered
        order = self._order()
        number = self._prefix(order, limit)
        rows = self._of(order[:number])
        if number < len(order):
            rows += self._part(rows, order[number], limit - int(rows.sum()))
        return rows

    def bears(self, taken: IntArray) -> bool:
        """Whether what stays without some rows of each line passes as one class; it may be nothing."""
        rows = self.parts.rows - taken
        return not rows.any() or self._passes(self.parts.of, rows)

    def _order(self) -> IntArray:
        """Groups with an offer. Those come first whose sensitive values are spread most as in all rows.

        They change what stays the least. Between equals the larger come first: the last ones may have to stay.
        """
        lines = self.offered > 0
        known, group = np.unique(self.parts.group[lines], return_inverse=True)
        classes = self.problem.count(Parts(self.parts.of[lines], self.offered[lines], group, len(known)))
        whole = as_one(self.problem, self.parts.of, self.parts.rows)
        away = [distances(classes, whole, name) for name in classes.sensitive]
        return known[np.lexsort([-classes.sizes, np.round(sum(away, np.zeros(len(known))), 9)])]

    def _prefix(self, order: IntArray, limit: int) -> int:
        """How many groups in this order may leave, found by bisection."""
        sizes = np.bincount(self.parts.group, weights=self.offered, minlength=self.parts.groups)[order]
        high = int(np.searchsorted(np.cumsum(sizes), limit, side="right"))

        def bears(size: int) -> bool:
            return self.bears(self._of(order[:size]))

        return high if bears(high) else last(bears, high)

    def _of(self, groups: IntArray) -> IntArray:
        """The rows on offer of some groups."""
        leaving = np.zeros(self.parts.groups, dtype=np.bool_)
        leaving[groups] = True
        return np.where(leaving.take(self.parts.group), self.offered, 0)

    def _part(self, gone: IntArray, group: int, limit: int) -> IntArray:
        """As many rows of one more group as may leave besides those that are gone, in about the mix of the group."""
        lines = self._stratified(group)
        of, offered = self.parts.of[lines], self.offered[lines]
        share = spaced if self.problem.whole else thinned

        def part(size: int) -> IntArray:
            rows = np.zeros(len(self.parts), dtype=np.int64)
            rows[lines] = share(offered, size)
            return rows

        most = last(lambda size: self.bears(gone + part(size)), min(limit, int(offered.sum()) - 1) + 1)
        sizes = range(most, max(most - _TRIED, 0), -1)
        passing = (size for size in sizes if share(offered, size).any() and self._passes(of, share(offered, size)))
        return part(next((size for size in passing if self.bears(gone + part(size))), 0))

    def _stratified(self, group: int) -> IntArray:
        """The lines of a group, ordered by their sensitive values."""
        lines = np.flatnonzero((self.parts.group == group) & (self.offered > 0))
        others = [self.problem.main(name).take(self.parts.of[lines]) for name in self.problem.encoded.domains]
        return lines[np.lexsort([np.arange(len(lines)), *others[::-1]])]

    def _passes(self, of: IntArray, rows: IntArray) -> bool:
        return bool(self.problem.requirement.holds(as_one(self.problem, of, rows)).all())


def last(good: Callable[[int], bool], end: int) -> int:
    """A number below `end` that is good, while the next is not or is the end: the last, if all good ones come first.

    0 is taken to be good.

    >>> last(lambda number: number**2 < 50, 100)
    7
    """
    low = 0
    while end - low > 1:
        middle = (low + end) // 2
        low, end = (middle, end) if good(middle) else (low, middle)
    return low


def thinned(rows: IntArray, size: int) -> IntArray:
    """So many of the rows, spread evenly over the lines.

    >>> thinned(np.array([4, 2, 2]), 4)
    array([2, 1, 1])
    """
    ends = np.cumsum(rows)
    share: IntArray = np.diff(ends * size // ends[-1], prepend=0)
    return share


def spaced(rows: IntArray, size: int) -> IntArray:
    """About so many of the rows, no more, as whole lines that are spread evenly.

    >>> spaced(np.array([2, 1, 2, 1]), 3)
    array([0, 1, 0, 1])
    """
    line, number = np.arange(len(rows)), size * len(rows) // int(rows.sum())
    while number:
        chosen = (line + 1) * number // len(rows) > line * number // len(rows)
        if rows[chosen].sum() <= size:
            return np.where(chosen, rows, 0)
        number = min(number - 1, number * 63 // 64)
    return np.zeros_like(rows)


def as_one(problem: Problem, of: IntArray, rows: IntArray) -> EquivalenceClasses:
    """Some rows of tuples as one class."""
    if problem.bags:
        lines = np.flatnonzero(rows)
        return problem.count(Parts(of[lines], rows[lines], np.zeros(len(lines), dtype=np.int64), 1))
    others = problem.encoded.tuples.others
    counted = {name: _single(others[name].take(of), rows, domain) for name, domain in problem.encoded.domains.items()}
    person = problem.encoded.individual
    people = counted.pop(person.name) if person else None
    return EquivalenceClasses(rows.sum(keepdims=True), counted, people)


def distances(classes: EquivalenceClasses, whole: EquivalenceClasses, column: str) -> FloatArray:
    """How far each class's distribution of a column is from that of the whole: the sum over the values, 0 to 2."""
    lines, all_rows = classes.sensitive[column], whole.sensitive[column]
    share = np.zeros(len(lines.domain.values))
    share[all_rows.value] = all_rows.count / whole.rows
    expected = share.take(lines.value)
    # Of a value that a class lacks, its whole share is missing: those shares are what the others leave of 1.
    away = np.abs(lines.count / classes.sizes.take(lines.class_of) - expected) - expected
    return np.asarray(np.bincount(lines.class_of, weights=away, minlength=len(classes)), dtype=np.float64) + 1


def _single(codes: IntArray, rows: IntArray, domain: SensitiveDomain) -> Histogram:
    counts = np.bincount(codes, weights=rows, minlength=len(domain.values)).astype(np.int64)
    value = np.flatnonzero(counts)
    return Histogram(np.zeros_like(value), value, counts[value], domain)
