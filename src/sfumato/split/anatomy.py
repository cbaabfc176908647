"""Anatomy: buckets of rows whose sensitive values are all different (Xiao and Tao 2006).

Rows are piled up by sensitive value. As long as enough piles are left, each bucket takes one row of each of the
largest (the paper's group creation); what remains then is one row of a few values, and each goes to a bucket that lacks
its value (residue assignment). Which rows of a pile go where is random: quasi-identifiers play no part, which is what
the lossy join of a recoding does better. What is called a bucket here and in messages is the paper's QI-group, and a
pile is its hash bucket.

How many different values a bucket needs follows from the policy (`bucket_size`). Where rows name persons, rows of one
person in one bucket change places with others (`separate_persons`).
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, count_values
from sfumato.core.linked_persons import linked_persons
from sfumato.core.randomness import Randomness
from sfumato.core.segments import run_starts
from sfumato.encode import EncodedTable, divide_lines, value_totals
from sfumato.errors import Infeasible, quote
from sfumato.policy import Policy
from sfumato.recode import check_models
from sfumato.recode.recoding import Recoding, labels_at
from sfumato.recode.requirement import Requirement

_DEALS = 8
"""So often buckets are dealt anew where persons or distances do not meet the policy in them."""

_MOST_LINES = 20_000_000
"""Buckets of more lines than this, all values together, are not tried."""

_ROUNDS = 64
"""So often rows that are still in a bucket with another row of their person try another place."""

_INSTEAD = 'publish by lossy join instead, with [publish] form = "lossy-join"'


def anatomy(encoded: EncodedTable, policy: Policy) -> Recoding:
    """Put each row into a bucket, so that all buckets meet the policy; or `Infeasible`, with what would help."""
    check_models(encoded, policy)
    requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
    column, rows = encoded.sensitive[policy.anatomized], encoded.counts
    if rows is not None:  # rows are dealt out one by one
        column = replace(column, codes=np.repeat(column.codes, rows))
    person = encoded.individual
    if person is not None and rows is not None:
        person = replace(person, codes=np.repeat(person.codes, rows))
    size = bucket_size(encoded, requirement, column.name)
    randomness = Randomness(policy.search.seed, "buckets")
    piles = Piles.from_codes(column.codes, column.width, randomness)
    cap = piles.cap(size)
    suppressed = int(np.maximum(piles.counts - cap, 0).sum())
    if not cap or suppressed > requirement.limit:
        raise _infeasible(piles, size, column.name, requirement)
    for _ in range(_DEALS):  # what chance spoils, chance may mend
        group = piles.deal(size, piles.cap(size))
        if person is not None:
            group = separate_persons(group, person.codes, column.codes, randomness)
        classes = count_classes(encoded, group)
        if requirement.holds(classes).all():
            break
        piles = Piles.from_codes(column.codes, column.width, randomness)
    else:
        why = f"buckets of {size} different values of {quote(column.name)} do not meet the policy"
        raise Infeasible(f"{why}, though dealt {_DEALS} times; {_INSTEAD}")
    if not requirement.holds_linked(classes):
        why = f"buckets are drawn at random, so that fewer than linked_k = {requirement.linked} persons share theirs"
        raise Infeasible(f"{why}; {_INSTEAD}", nearest={"linked_k": float(linked_persons(classes).fewest)})
    divided = None
    if rows is not None:
        divided, group = divide_lines(rows, np.arange(len(rows)), group, np.zeros(len(rows), dtype=np.int64))
        rows = rows if divided is None else divided.rows
    values = {attribute.name: labels_at(attribute, 0) for attribute in encoded.divide(divided).quasi}
    published = group >= 0 if suppressed else None
    return Recoding("anatomy", values, published, classes, group=group, counts=rows, divided=divided)


def _infeasible(piles: "Piles", size: int, column: str, requirement: Requirement) -> Infeasible:
    """Say why there are no such buckets: one value has too many rows."""
    most, rows = int(piles.counts.max()), len(piles.rows)
    value = f"the most frequent value of {quote(column)}"
    why = f"{value} stands in {most:,} of {rows:,} rows, above the share of 1 in {size}"
    helps = f"buckets of {rows // most} would do" if rows // most > 1 else "no buckets would do"
    limit = f", and suppressing {requirement.limit:,} rows is not enough" if requirement.limit else ""
    why = f"anatomy needs buckets of {size} different values, and {why}{limit}"
    return Infeasible(f"{why}: {helps}; ask for less, or let more rows be suppressed", nearest={"l": rows / most})


def count_classes(encoded: EncodedTable, group: IntArray) -> EquivalenceClasses:
    """Count the classes of a grouping of rows, as the models see them.

    `group` (int[rows]) is the class of each row, -1 where it is suppressed; no class is empty. Rows are those of the
    table's lines, line after line.
    """
    rows = np.flatnonzero(group >= 0)
    class_of, ones = group[rows], np.ones(len(rows), dtype=np.int64)
    if encoded.counts is not None:
        rows = np.repeat(np.arange(encoded.lines), encoded.counts)[rows]
    person = encoded.individual
    columns = {name: encoded.sensitive[name] for name in encoded.domains if name in encoded.sensitive}
    if person is not None:
        columns[person.name] = person
    histograms = {
        name: count_values(class_of, column.codes.take(rows).astype(np.int64), ones, encoded.domains[name])
        for name, column in columns.items()
    }
    individuals = histograms.pop(person.name) if person is not None else None
    return EquivalenceClasses(np.bincount(class_of), histograms, individuals)


@dataclass(frozen=True, eq=False)
class Piles:
    """Rows by sensitive value: `rows` are those of the first value, then those of the next, each pile well shuffled.

    `counts` has the number of rows of each value.
    """

    rows: IntArray
    counts: IntArray
    randomness: Randomness

    @classmethod
    def from_codes(cls, codes: IntArray, width: int, randomness: Randomness) -> "Piles":
        """Pile up the rows that hold each of `width` codes."""
        order = randomness.permutation(len(codes))
        rows = order[np.argsort(codes.take(order), kind="stable")]
        return cls(rows, np.bincount(codes, minlength=width), randomness)

    def cap(self, size: int) -> int:
        """Find the largest height to cut piles down to so that none holds more than 1 in `size` of the rows left.

        >>> Piles(np.arange(9), np.array([6, 2, 1]), Randomness()).cap(2)
        3
        """
        low, high = 0, int(self.counts.max(initial=0))
        while low < high:
            middle = (low + high + 1) // 2
            fits = np.minimum(self.counts, middle).sum() >= size * middle
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def deal(self, size: int, cap: int) -> IntArray:
        """Deal the rows out to buckets: the bucket of each row, -1 where a pile was cut down to the cap.

        `buckets` is an int[buckets, size], the values that each takes; `taken` an int[values], how many rows of a pile
        that is. The first rows of a pile go to the buckets that take its value, in the order of these.
        """
        counts = np.minimum(self.counts, cap)
        buckets = bucket_values(counts, size)
        values = buckets.ravel()
        taken = np.bincount(values, minlength=len(counts))
        starts = np.cumsum(self.counts) - self.counts
        place = np.arange(len(self.rows)) - np.repeat(starts, self.counts)  # of a row in its pile
        group = np.full(len(self.rows), -1)
        group[self.rows[place < np.repeat(taken, self.counts)]] = np.argsort(values, kind="stable") // size
        # Each row that is left goes into a bucket without its value, at random among all such.
        left = counts - taken
        for value in np.flatnonzero(left).tolist():
            lacking = np.flatnonzero((buckets != value).all(axis=1))
            chosen = self.randomness.permutation(len(lacking))[: left[value]]
            first = starts[value] + taken[value]
            group[self.rows[first : first + left[value]]] = lacking[chosen]
        return group


def bucket_values(counts: IntArray, size: int) -> IntArray:
    """Choose the values that each bucket takes, a line for each: those of the largest piles that are left.

    >>> bucket_values(np.array([4, 1, 3]), 2).tolist()
    [[0, 2], [0, 2], [0, 1], [0, 2]]
    """
    piles = [(-count, value) for value, count in enumerate(counts.tolist()) if count]
    heapify(piles)
    values: list[int] = []
    while len(piles) >= size:
        chosen = [heappop(piles) for _ in range(size)]
        following = -piles[0][0] if piles else 0
        times = max(1, -chosen[-1][0] - following)  # so many buckets in a row take the same
        values += [value for _, value in chosen] * times
        for count, value in chosen:
            if count + times:
                heappush(piles, (count + times, value))
    return np.array(values, dtype=np.int64).reshape(-1, size)


def bucket_size(encoded: EncodedTable, requirement: Requirement, column: str) -> int:
    """Find the smallest number of different values with which every bucket meets every requirement.

    It is tried out, on buckets of neighbouring values, one for every value. More values never hurt, except where a
    requirement compares with the whole table; what is made in the end is checked once more. A share of α is taken as
    it is, refined or not: rounded up, it would let a bucket be a single row.
    """
    width = encoded.sensitive[column].width
    low = requirement.least
    for model in requirement.models:  # so many different values have no share above α
        alpha = model.required.get("alpha")
        low = max(low, 1 if alpha is None else math.ceil(1 / Fraction(str(alpha))))
    high = low
    while high <= width and not _size_passes(encoded, requirement, column, high):
        low, high = high + 1, min(2 * high, width) if high < width else width + 1
    if high > width:
        names = ", ".join(model.name for model in requirement.models)
        why = f"no bucket of different values of {quote(column)}, which has {width:,}, meets the policy ({names})"
        raise Infeasible(f"{why}; ask for less", nearest={"l": float(width)})
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _size_passes(encoded, requirement, column, middle) else (middle + 1, high)
    return low


def _size_passes(encoded: EncodedTable, requirement: Requirement, column: str, size: int) -> bool:
    """Tell whether buckets of `size` values pass: one for each value, of it and the next ones, each row a person's."""
    if size * encoded.sensitive[column].width > _MOST_LINES:
        return False
    domain = encoded.domains.get(column) or value_totals(encoded.sensitive[column])
    width = len(domain.values)
    class_of = np.repeat(np.arange(width), size)
    value = (class_of + np.tile(np.arange(size), width)) % width
    order = np.lexsort([value, class_of])
    histogram = Histogram(class_of, value[order], np.ones(len(class_of), dtype=np.int64), domain)
    return bool(requirement.holds(EquivalenceClasses(np.full(width, size), {column: histogram})).all())


def separate_persons(group: IntArray, person: Codes, value: Codes, randomness: Randomness) -> IntArray:
    """Let rows of one person in one bucket change places with rows of the same value in other buckets.

    A bucket of l different values hides nobody if several of its rows are one person's. The values of all buckets stay
    as they are, and which row a row changes places with is drawn at random, as everything about buckets is. Where
    somebody has more rows of a value than there are buckets to go to, some stay where they are.

    `group`, `person` and `value` have an entry per row; a row of group -1 has no bucket and stays so.

    >>> separate_persons(np.array([0, 0, 1, 1]), np.array([7, 7, 8, 9]), np.array([0, 1, 0, 1]), Randomness(1)).tolist()
    [0, 1, 1, 0]
    """
    group, people = group.copy(), person.astype(np.int64)
    width = int(people.max(initial=0)) + 1
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(value[rows], kind="stable")]
    values = value[rows]
    first = run_starts(values)  # where the rows of each value begin
    lengths = np.diff(first, append=len(rows))
    for _ in range(_ROUNDS):
        keys = group[rows] * width + people[rows]
        repeated = np.ones(len(keys), dtype=np.bool_)  # another row of this person in this bucket comes before
        repeated[np.unique(keys, return_index=True)[1]] = False
        if not repeated.any():
            break
        here = rows[repeated]
        place = np.searchsorted(values[first], value[here])
        there = rows[first[place] + randomness.permutation(len(rows))[: len(here)] % lengths[place]]
        fits = _can_swap(group, people, here, there, width)
        group[here[fits]], group[there[fits]] = group[there[fits]], group[here[fits]]
    return group


def _can_swap(group: IntArray, people: IntArray, here: IntArray, there: IntArray, width: int) -> BoolArray:
    """Tell which pairs of rows can change buckets so that nobody gets into a bucket twice, no bucket in two pairs.

    `here` and `there` (int[pairs]) are rows; persons are numbered below `width`.
    """
    keys = np.unique(group * width + people)
    clash = np.isin(group[there] * width + people[here], keys) | np.isin(group[here] * width + people[there], keys)
    fits: BoolArray = ~clash & (group[here] != group[there])
    touched = np.column_stack([group[here], group[there]])[fits].ravel()
    first = np.zeros(len(touched), dtype=np.bool_)
    first[np.unique(touched, return_index=True)[1]] = True
    fits[fits] = first.reshape(-1, 2).all(axis=1)
    return fits
