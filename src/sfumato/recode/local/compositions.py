"""Compositions: the sensitive values of a class, and what it may still take without failing.

Under a promise about sensitive values, near rows rarely form a class: too many of them have the same value. What helps
is to choose, among rows that agree, as many of each value as the requirement allows (the eligibility of Anatomy, Xiao
and Tao 2006, and the buckets of SABRE, Cao et al. 2011, are this for one model each). Here no model is known by name:
compositions are proposed, and the requirement is asked which of them pass. So it works for every model that says of
counts whether they pass, those of others included.

Rows with equal values in all sensitive columns are of one *kind*; values that no model protects count as equal. A
composition is the rows of each kind in a class.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.models import KAnonymity
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.requirement import Requirement

_MOST_KINDS = 512
"""Kinds of rows at most: compositions are dense tables."""

_CAPS = np.array([1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 45, 64, 90, 128, 256, 512, 1024, 4096, 1 << 14, 1 << 18])
"""Largest rows of a kind that are tried, for compositions as even as the rows allow."""

_SHARES = np.array([1.5, 1.2, 1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
"""Sizes, as shares of the rows there are, of the compositions tried that are like the whole table's."""

_MANY, _LARGE = 10_000, 200
"""Rows of a group that is large enough for any composition, and sizes that are tried for the smallest one."""

_CELLS = 1 << 22
"""So many counts are looked at at a time."""


@dataclass(frozen=True, eq=False)
class Compositions:
    """The kinds of rows of a problem, and what the requirement says of counts of them.

    With t tuples of m kinds: `least` are the rows that a class has at least, `kind_of` int[t] the kind of each tuple,
    `value_of` int[m] the value that a kind has in each sensitive column. `shares` float[m] is the composition of all
    rows that take part, which passes.

    >>> from sfumato.models import AlphaDeassociation
    >>> domain = SensitiveDomain(("flu", "HIV"), np.array([3, 2]))
    >>> requirement = Requirement((AlphaDeassociation("illness", 0.5),), 0)
    >>> value_of = {"illness": (domain, np.array([0, 1]))}
    >>> two = Compositions(requirement, 1, np.array([0, 1]), value_of, np.array([0.6, 0.4]))
    >>> two.holds(np.array([[1, 1], [2, 1]])).tolist()
    [True, False]
    >>> two.trim(np.array([[5, 2]])).tolist()
    [[2, 2]]
    >>> two.may_take(np.array([[2, 1], [1, 2]])).tolist()
    [[False, True], [True, False]]
    """

    requirement: Requirement
    least: int
    kind_of: IntArray
    value_of: "dict[str, tuple[SensitiveDomain, IntArray]]"
    shares: FloatArray

    @classmethod
    def from_problem(cls, problem: Problem) -> "Compositions | None":
        """Find the kinds of a problem; nothing where only sizes count, where persons do, or of too many kinds."""
        encoded = problem.encoded
        if problem.only_sizes_count or not encoded.domains or encoded.individual is not None:
            return None
        codes = {}
        for name in encoded.domains:
            protected = problem.protected_values(name)
            # values that no model protects are one, whichever they are
            same = np.where(protected, np.arange(len(protected)), int(np.argmin(protected)))
            codes[name] = same[encoded.tuples.others[name].astype(np.int64)]
        kind_of, kinds = number_tuples(
            pack_tuples(list(codes.values()), [len(domain.values) for domain in encoded.domains.values()])
        )
        if kinds > _MOST_KINDS:
            return None
        value_of = {}
        for name, domain in encoded.domains.items():
            value = np.zeros(kinds, dtype=np.int64)
            value[kind_of] = codes[name]
            value_of[name] = (domain, value)
        start = problem.start.published
        rows = np.bincount(kind_of[start.tuples], weights=start.rows, minlength=kinds)
        # sizes are looked at by themselves
        models = tuple(model for model in problem.requirement.models if not isinstance(model, KAnonymity))
        requirement = Requirement(models, problem.requirement.limit)
        return cls(requirement, problem.requirement.least, kind_of, value_of, rows / rows.sum())

    @cached_property
    def kinds(self) -> int:
        """How many kinds there are."""
        return len(self.shares)

    @cached_property
    def candidates(self) -> int:
        """How many counts are looked at to trim a group."""
        return (len(_CAPS) + len(_SHARES)) * self.kinds

    def count(self, partition: Partition) -> IntArray:
        """Count the kinds of each group: int[groups, m]; no line is suppressed."""
        return self.count_lines(partition.tuples, partition.rows, partition.group, partition.groups)

    def count_lines(self, tuples: IntArray, rows: IntArray, group: IntArray, groups: int) -> IntArray:
        """Count the kinds of lines, so many rows of a tuple in a group: int[groups, m]."""
        place = group * self.kinds + self.kind_of.take(tuples)
        counts = np.bincount(place, weights=rows, minlength=groups * self.kinds)
        return counts.astype(np.int64).reshape(groups, self.kinds)

    def holds(self, counts: IntArray) -> BoolArray:
        """Tell which compositions pass, int[g, m]; one without enough rows does not, nor one of less than nothing."""
        return self._holds_of_size(counts, counts.sum(axis=1))

    def _holds_of_size(self, counts: IntArray, sizes: IntArray) -> BoolArray:
        """Tell which compositions pass, given their sizes, int[g]; those that are too small are not counted."""
        passing: BoolArray = sizes >= self.least
        if not passing.all():
            large = passing.nonzero()[0]
            if len(large):
                passing[large] = self._holds_of_size(counts.take(large, axis=0), sizes.take(large))
            return passing
        group, kind = counts.nonzero()
        rows = counts[group, kind]
        histograms = {}
        for name, (domain, value) in self.value_of.items():
            # of one column, kinds are its values in their order: the lines are a histogram as they are
            one = len(self.value_of) == 1
            histograms[name] = (
                Histogram(group, value.take(kind), rows, domain)
                if one
                else count_values(group, value.take(kind), rows, domain)
            )
        return self.requirement.holds(EquivalenceClasses(sizes, histograms))

    def trim(self, counts: IntArray) -> IntArray:
        """Choose of each group as many rows as pass together, as far as is found; of a group without any, none.

        counts int[g, m], and so is what is returned. Two ways of leaving rows out are tried: at most so many of each
        kind, which is what bounds on shares and diversity ask for; and in proportion to the table, which is what
        closeness asks for.
        """
        if len(counts) * self.candidates <= _CELLS:
            return self._trim(counts)
        blocks = np.array_split(counts, len(counts) * self.candidates // _CELLS + 1)
        return np.concatenate([self._trim(block) for block in blocks])

    def worth_trimming(self, counts: IntArray) -> BoolArray:
        """Tell which groups, int[g, m], have rows and kinds enough for one of the compositions that are tried."""
        rows, kinds = self._least
        enough: BoolArray = (counts.sum(axis=1) >= rows) & ((counts > 0).sum(axis=1) >= kinds)
        return enough

    @cached_property
    def _least(self) -> tuple[int, int]:
        """Find the rows and the kinds of the smallest compositions that pass, of those that would be tried.

        Tried are ever more of the frequent kinds, as many of each or as in the table, in groups of any size.
        """
        order = np.argsort(-self.shares, kind="stable")
        frequent = np.argsort(order) < np.arange(1, self.kinds + 1)[:, None]  # bool[m, m]: the first 1, 2, 3 ...
        shares = np.where(frequent, self.shares, 0.0)
        shares /= shares.sum(axis=1, keepdims=True)
        kinds = self.holds(frequent * _MANY) | self.holds((shares * _MANY + 0.5).astype(np.int64))
        least_kinds = int(np.flatnonzero(kinds)[0]) + 1 if kinds.any() else 1
        sizes = np.arange(1, _LARGE)
        few = np.concatenate([np.minimum(1, frequent), (sizes[:, None] * self.shares + 0.5).astype(np.int64)])
        passing = self.holds(few.astype(np.int64))
        return int(few[passing].sum(axis=1).min(initial=_LARGE)), least_kinds

    def _trim(self, counts: IntArray) -> IntArray:
        """Trim groups that are few enough: c candidates at once, int[c, g, m]."""
        caps = int(np.searchsorted(_CAPS, counts.max(initial=0)))
        candidates = np.empty((1 + caps + len(_SHARES), *counts.shape), dtype=np.int64)
        candidates[0] = counts
        candidates[1 : 1 + caps] = _CAPS[:caps, None, None]
        # the whole part of share times size, and a half
        candidates[1 + caps :] = np.multiply.outer(_SHARES, counts.sum(axis=1)[:, None] * self.shares) + 0.5
        np.minimum(candidates, counts, out=candidates)
        sizes = candidates.sum(axis=2)
        passing = self._holds_of_size(candidates.reshape(-1, self.kinds), sizes.ravel()).reshape(sizes.shape)
        sizes *= passing
        group, chosen = np.arange(len(counts)), sizes.argmax(axis=0)
        best: IntArray = candidates[chosen, group] * passing[chosen, group][:, None]
        return best

    def may_take(self, counts: IntArray) -> BoolArray:
        """Tell of which kinds each class may take one more row and pass: bool[g, m], counts int[g, m]."""
        return self._may_change(counts, 1)

    def may_give(self, counts: IntArray) -> BoolArray:
        """Tell of which kinds each class may give a row away and pass: bool[g, m], counts int[g, m]."""
        return self._may_change(counts, -1)

    def _may_change(self, counts: IntArray, rows: int) -> BoolArray:
        """Tell what passes with so many rows more of one kind: bool[g, m]."""
        may = np.zeros(counts.shape, dtype=np.bool_)
        for block in np.array_split(np.arange(len(counts)), counts.size * self.kinds // _CELLS + 1):
            group, kind = np.divmod(np.arange(len(block) * self.kinds), self.kinds)
            changed = counts[block].take(group, axis=0)
            changed[np.arange(len(changed)), kind] += rows
            there = np.flatnonzero(changed[np.arange(len(changed)), kind] >= 0)
            passing = np.zeros(len(changed), dtype=np.bool_)
            passing[there] = self.holds(changed[there])
            may[block] = passing.reshape(len(block), self.kinds)
        return may
