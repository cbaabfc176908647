"""Progressive local recoding: Algorithm 1 of Wong, Li, Fu and Wang 2006 (section 4.1; section 6 for many values).

All rows start as they are. In each loop the attribute whose labels have the highest entropy is generalized by one level
(lines 15 and 16), for all rows that are left; then groups of equal labels leave as far as they may, and keep the labels
that they have.

- Where one value is protected by an α bound, and only size is required besides, trunks leave first (lines 6 to 8): the
  largest part of a group, passing or not, that has the protected value as often as it may. The stub stays.
- Then groups that pass leave, whole or in part (lines 9 to 13), within two limits. With α bounds no more rows leave
  than Lemma 5 allows, the least over all protected values, columns and models. And whatever the models, what stays has
  to pass as one class. That is the idea behind the lemma, and for all other models it is the rule: k-anonymity (k rows
  stay, or none), diversity, closeness, persons, and any of them together.

So at the end of each loop what is left would pass as one class. Where all attributes are at their top it is one, and
leaves: there are no more loops than levels (Lemma 6, the removal before the first loop not counted), and every group
passes. Groups with equal labels are merged later, which only the refined α bound may mind; `settle` sees to that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain
from sfumato.core.deadline import is_over
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.numbers import ceil_times, exact_fraction
from sfumato.core.segments import Segments, stable_order
from sfumato.models import AlphaDeassociation, KAnonymity, Model
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.recoding import Progress

_TRIED = 32
"""So many sizes are tried for a part of a group: with rounded shares one may fail where the next passes."""


def progressive(problem: Problem, progress: Progress | None = None) -> Partition:
    """Partition into groups in the order in which they leave; rows that are suppressed at the start stay so.

    Progress is in rows: those that have left, and all. When the time is over, what has not left is one group.
    """
    left, rows = [problem.start.suppressed], int(problem.start.sizes.sum())
    for loop in loops(problem):
        left += loop.removed
        if progress:
            progress(rows - int(loop.unassigned.partition.rows.sum()), rows)
        if is_over(progress):
            left.append(loop.unassigned.partition.as_one_group())
            break
    return Partition.concatenate(left)


@dataclass(frozen=True, eq=False)
class Loop:
    """What left in a loop, and what is still unassigned."""

    removed: list[Partition]
    unassigned: "UnassignedRows"


def loops(problem: Problem) -> Iterator[Loop]:
    """Run the removal before anything is generalized, and then each loop: an attribute is generalized, groups leave."""
    trunks = Trunks.from_problem(problem)
    loop = _remove(UnassignedRows.from_problem(problem), trunks)
    yield loop
    while len(loop.unassigned.partition):
        attribute = int(loop.unassigned.entropies().argmax())
        loop = _remove(loop.unassigned.generalize(attribute), trunks)
        yield loop


def _remove(unassigned: "UnassignedRows", trunks: "Trunks | None") -> Loop:
    """Remove trunks, and then groups that pass; or all rows, where every group passes or there is but one."""
    problem, partition = unassigned.problem, unassigned.partition
    passing = problem.holds(partition)
    if passing.all() or partition.groups == 1:
        return Loop([partition], unassigned.without(partition.rows))
    removed = []
    if trunks is not None:
        offered = trunks.offer(problem, partition)
        trunk = Removal(problem, partition, offered).release(int(offered.sum()))
        removed.append(replace(partition, rows=trunk).select(trunk > 0))
        unassigned = unassigned.without(trunk)
        partition = unassigned.partition
        passing = problem.holds(partition)
    limit = lemma_5_limit(problem.requirement.models, problem.count_one_class(partition.tuples, partition.rows))
    offered = np.where(passing.take(partition.group), partition.rows, 0)
    further = Removal(problem, partition, offered).release(limit)
    removed.append(replace(partition, rows=further).select(further > 0))
    return Loop(removed, unassigned.without(further))


@dataclass(frozen=True, eq=False)
class UnassignedRows:
    """The rows that an algorithm from below has still to generalize, all at the same levels, grouped by their labels.

    `labels` has an array int[g] per attribute: the code of each group's label at the attribute's level, `levels`.
    """

    problem: Problem
    partition: Partition
    labels: tuple[IntArray, ...]
    levels: tuple[int, ...]

    @classmethod
    def from_problem(cls, problem: Problem) -> "UnassignedRows":
        """Take all rows that take part, as they are."""
        start = problem.start.published
        lines = replace(start, group=np.arange(len(start)), groups=len(start))
        codes = tuple(codes.take(start.tuples).astype(np.int64) for codes in problem.encoded.tuples.quasi)
        return cls(problem, lines, codes, (0,) * len(codes)).regroup()

    def entropies(self) -> FloatArray:
        """Measure the entropy of the labels of each attribute, by rows: float[d]; rounded, so that equal ones tie."""
        sizes = self.partition.sizes
        shares = [np.bincount(labels, weights=sizes) / sizes.sum() for labels in self.labels]
        return np.round(
            [-(share * np.log2(share, where=share > 0, out=np.zeros_like(share))).sum() for share in shares], 12
        )

    def generalize(self, attribute: int) -> "UnassignedRows":
        """Generalize one attribute by one level."""
        level, matrix = self.levels[attribute], self.problem.encoded.quasi[attribute].hierarchy.matrix
        above = np.zeros(int(matrix[:, level].max()) + 1, dtype=np.int64)
        above[matrix[:, level]] = matrix[:, level + 1]
        labels = tuple(above.take(codes) if i == attribute else codes for i, codes in enumerate(self.labels))
        levels = tuple(old + (i == attribute) for i, old in enumerate(self.levels))
        return replace(self, labels=labels, levels=levels).regroup()

    def without(self, removed: IntArray) -> "UnassignedRows":
        """Take some rows of each line away: int[n]."""
        rows = self.partition.rows - removed
        partition = replace(self.partition, rows=rows).select(rows > 0)
        used = np.zeros(partition.groups, dtype=np.bool_)
        used[partition.group] = True
        labels = tuple(labels[used] for labels in self.labels)
        return replace(self, partition=partition.without_empty_groups(), labels=labels)

    def regroup(self) -> "UnassignedRows":
        """Make one group of groups with equal labels."""
        attributes = self.problem.encoded.quasi
        widths = [len(attribute.hierarchy.labels[i]) for attribute, i in zip(attributes, self.levels, strict=True)]
        into, groups = number_tuples(pack_tuples(self.labels, widths))
        member = np.zeros(groups, dtype=np.int64)  # some old group of each new one
        member[into] = np.arange(len(into))
        partition = replace(self.partition, group=into.take(self.partition.group), groups=groups)
        return replace(self, partition=partition, labels=tuple(codes.take(member) for codes in self.labels))


# Which rows may leave, so that the others can still be published


@dataclass(frozen=True, eq=False)
class Removal:
    """Unassigned rows, and of each line the rows that are offered, int[n]: they would pass, group by group.

    A group that passes may be published as it is, but what stays must do without it. So rows leave only as far as all
    that stays would pass as one class: then it can always be generalized far enough. That is what Lemma 5 secures for
    α, and what is asked here of every model, by counting.
    """

    problem: Problem
    partition: Partition
    offered: IntArray

    def release(self, limit: int) -> IntArray:
        """Choose the rows of each line that leave, `limit` rows at most: whole offers, and a part of one more.

        What stays passes as one class, if all rows together did.
        """
        if not self.offered.any() or (self.offered.sum() <= limit and self._rest_passes(self.offered)):
            return self.offered
        partition, order = self.partition, self._order()
        sizes = np.bincount(partition.group, weights=self.offered, minlength=partition.groups)[order]
        most = int(np.searchsorted(np.cumsum(sizes), limit, side="right"))

        def first(number: int) -> IntArray:
            leaving = np.zeros(partition.groups, dtype=np.bool_)
            leaving[order[:number]] = True
            return np.where(leaving.take(partition.group), self.offered, 0)

        number = most
        if not self._rest_passes(first(most)):
            number = bisect_last(lambda number: self._rest_passes(first(number)), most)
        rows = first(number)
        if number < len(order):
            rows += self._part_of_group(rows, order[number], limit - int(rows.sum()))
        return rows

    def _rest_passes(self, removed: IntArray) -> bool:
        """Tell whether what stays without some rows of each line passes as one class; it may be nothing."""
        rows = self.partition.rows - removed
        return not rows.any() or self._pass_as_one(self.partition.tuples, rows)

    def _pass_as_one(self, tuples: IntArray, rows: IntArray) -> bool:
        return bool(self.problem.requirement.holds(self.problem.count_one_class(tuples, rows)).all())

    def _order(self) -> IntArray:
        """List the groups with an offer, those first whose sensitive values are distributed most as in all rows.

        They change what stays the least. Between equals the larger come first: the last ones may have to stay.
        """
        lines = self.offered > 0
        groups, group = np.unique(self.partition.group[lines], return_inverse=True)
        tuples = self.partition.tuples
        classes = self.problem.count(Partition(tuples[lines], self.offered[lines], group, len(groups)))
        whole = self.problem.count_one_class(tuples, self.partition.rows)
        away = [distances(classes, whole, name) for name in classes.sensitive]
        return groups[np.lexsort([-classes.sizes, np.round(sum(away, np.zeros(len(groups))), 9)])]

    def _part_of_group(self, removed: IntArray, group: int, limit: int) -> IntArray:
        """Choose as many rows of one more group as may leave besides those removed: int[n].

        In about the mix of the group: its lines are sorted by their sensitive values and an even share of each is
        taken. removed int[n]; `limit` is how many rows may leave at most.
        """
        lines = np.flatnonzero((self.partition.group == group) & (self.offered > 0))
        tuples = self.partition.tuples[lines]
        values = [self.problem.main_values(name).take(tuples) for name in self.problem.encoded.domains]
        order = np.lexsort([np.arange(len(lines)), *values[::-1]])  # by the sensitive values
        lines, tuples = lines[order], tuples[order]
        offered, share = self.offered[lines], spaced_lines if self.problem.indivisible else even_share

        def leaving(size: int) -> IntArray:
            rows = np.zeros(len(self.partition), dtype=np.int64)
            rows[lines] = share(offered, size)
            return rows

        most = bisect_last(
            lambda size: self._rest_passes(removed + leaving(size)), min(limit, int(offered.sum()) - 1) + 1
        )
        for size in range(most, max(most - _TRIED, 0), -1):
            rows = share(offered, size)
            if rows.any() and self._pass_as_one(tuples, rows) and self._rest_passes(removed + leaving(size)):
                return leaving(size)
        return leaving(0)


def bisect_last(good: Callable[[int], bool], end: int) -> int:
    """Find a number below `end` that is good, while the next is not or is the end: the last, if good ones come first.

    0 is taken to be good.

    >>> bisect_last(lambda number: number**2 < 50, 100)
    7
    """
    low = 0
    while end - low > 1:
        middle = (low + end) // 2
        low, end = (middle, end) if good(middle) else (low, middle)
    return low


def even_share(rows: IntArray, size: int) -> IntArray:
    """Choose so many of the rows, spread evenly over the lines.

    >>> even_share(np.array([4, 2, 2]), 4)
    array([2, 1, 1])
    """
    ends = np.cumsum(rows)
    share: IntArray = np.diff(ends * size // ends[-1], prepend=0)
    return share


def spaced_lines(rows: IntArray, size: int) -> IntArray:
    """Choose about so many of the rows, no more, as whole lines that are spread evenly.

    >>> spaced_lines(np.array([2, 1, 2, 1]), 3)
    array([0, 1, 0, 1])
    """
    line, number = np.arange(len(rows)), size * len(rows) // int(rows.sum())
    while number:
        chosen = (line + 1) * number // len(rows) > line * number // len(rows)
        if rows[chosen].sum() <= size:
            return np.where(chosen, rows, 0)
        number = min(number - 1, number * 63 // 64)
    return np.zeros_like(rows)


def distances(classes: EquivalenceClasses, whole: EquivalenceClasses, column: str) -> FloatArray:
    """Measure how far each class's distribution of a column is from that of the whole: the sum over values, 0 to 2."""
    lines, all_rows = classes.sensitive[column], whole.sensitive[column]
    share = np.zeros(len(lines.domain.values))
    share[all_rows.value] = all_rows.count / whole.rows
    expected = share.take(lines.value)
    # Of a value that a class lacks, its whole share is missing: those shares are what the others leave of 1.
    away = np.abs(lines.count / classes.sizes.take(lines.class_of) - expected) - expected
    return np.asarray(np.bincount(lines.class_of, weights=away, minlength=len(classes)), dtype=np.float64) + 1


# Lemma 5 and trunks, in whole numbers


def lemma_5_limit(models: tuple[Model, ...], whole: EquivalenceClasses) -> int:
    """Lemma 5: so many rows may leave a set of rows, whichever they are, and the α bounds still hold for the others.

    The least over all protected values of all columns, as in section 6; all rows where nothing is protected.

    >>> whole = EquivalenceClasses.of([0, 0, 0, 0], sens=["n", "n", "n", "c"])
    >>> lemma_5_limit((AlphaDeassociation(alpha=0.5, column="sens", values=["c"]),), whole)
    2
    """
    limit = whole.rows
    for model in models:
        if isinstance(model, AlphaDeassociation):
            # Of all protected values, the most frequent one leaves the least to remove.
            histograms = [whole.sensitive[column] for column in model.looks_at]
            rows = max(
                int(lines.count[_protected(model, lines.domain)[lines.value]].max(initial=0)) for lines in histograms
            )
            alpha = exact_fraction(model.alpha)
            smallest = rows  # the size of the smallest class that so many protected rows may be in
            if rows and alpha:
                smallest = int((rows - 1) / alpha) + 1 if model.refined else -int(-rows / alpha // 1)
            limit = min(limit, whole.rows - smallest)
    return max(limit, 0)


def _protected(model: AlphaDeassociation, domain: SensitiveDomain) -> BoolArray:
    """Tell which values of a column a model protects."""
    return np.array([model.values is None or value in model.values for value in domain.values], dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Trunks:
    """One protected value of one column, and the bound on its share: what has trunks (Definition 9).

    A trunk has as many protected rows as its size allows, no fewer: without it, the protected value is no more frequent
    among the rest (Lemma 4).
    """

    model: AlphaDeassociation
    column: str
    value: int

    @classmethod
    def from_problem(cls, problem: Problem) -> "Trunks | None":
        """Make trunks, if of all values that occur one is protected and size is all that is required besides.

        Trunks are cut to the row, which indivisible tuples do not allow.
        """
        models = problem.requirement.models
        limited = [model for model in models if isinstance(model, AlphaDeassociation)]
        sizes = [model for model in models if isinstance(model, KAnonymity)]
        if problem.indivisible or len(limited) != 1 or len(limited) + len(sizes) < len(models):
            return None
        (model,) = limited
        values = [
            (name, value)
            for name in model.looks_at
            for value in np.flatnonzero(_protected(model, problem.encoded.domains[name])).tolist()
        ]
        return cls(model, *values[0]) if len(values) == 1 and 0 < exact_fraction(model.alpha) < 1 else None

    def offer(self, problem: Problem, partition: Partition) -> IntArray:
        """Find the rows of each line that are in the trunk of its group, the largest that passes: int[n].

        A group need not pass to have one. Line 6 of Algorithm 1 takes all trunks; the text speaks of groups that pass,
        but a trunk passes by itself, and what stays is checked either way: taking all loses far less.

        With g groups, `wanted` int[g, 2] are the rows without and with the protected value that its trunk has; a group
        gives those of its first lines, in the order of tuples.
        """
        protected = problem.encoded.tuples.others[self.column].take(partition.tuples) == self.value
        group, rows = partition.group, partition.rows

        def per_group(amounts: IntArray) -> IntArray:
            return np.bincount(group, weights=amounts, minlength=partition.groups).astype(np.int64)

        size, inside = largest_trunks(self.model, partition.sizes, per_group(np.where(protected, rows, 0)))
        wanted = np.column_stack([size - inside, inside])
        lines = np.flatnonzero(wanted.any(axis=1).take(group))
        key = group.take(lines) * 2 + protected.take(lines)
        order = stable_order(key)
        lines, key = lines.take(order), key.take(order)
        before = Segments.from_sorted(key).sum_before(rows.take(lines))
        trunk = np.zeros(len(partition), dtype=np.int64)
        trunk[lines] = np.clip(wanted.reshape(-1).take(key) - before, 0, rows.take(lines))
        passing = problem.passes(partition.tuples, trunk, group, per_group(trunk))
        return np.where(passing.take(group), trunk, 0)


def largest_trunks(model: AlphaDeassociation, sizes: IntArray, exposed: IntArray) -> tuple[IntArray, IntArray]:
    """Find the largest trunk of groups, given rows and protected rows int[g]: its size and its protected rows, int[g].

    A trunk of p rows has ⌈αp⌉ protected ones (Definition 8). Where the model is not refined that must not be more
    than αp, so αp is a whole number: with α = a/b in lowest terms, p is a multiple of b.

    >>> largest_trunks(AlphaDeassociation(alpha=0.5, column="sens", values=["c"]), np.array([3, 9]), np.array([1, 3]))
    (array([2, 6]), array([1, 3]))
    """
    over, under = exact_fraction(model.alpha).as_integer_ratio()
    others = sizes - exposed
    if not model.refined:
        times = np.minimum(exposed // over, others // (under - over))
        return times * under, times * over
    # ⌈αp⌉ <= exposed, and p - ⌈αp⌉ = ⌊(1 - α)p⌋ <= others: both grow with p.
    size = np.minimum(exposed * under // over, -(-(others + 1) * under // (under - over)) - 1)
    return size, ceil_times(model.alpha, size)
