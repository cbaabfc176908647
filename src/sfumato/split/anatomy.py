"""Anatomy: buckets of rows whose sensitive values are all different (Xiao and Tao).

Rows are piled up by sensitive value. As long as enough piles are left, each bucket takes one row of each of the
largest; what remains then is one row of a few values, and each goes to a bucket that lacks its value. Which rows of a
pile go where is random: quasi-identifiers play no part, which is what the lossy join of a recoding does better.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import EquivalenceClasses, count_values
from sfumato.core.linked_persons import linked_persons
from sfumato.core.randomness import Randomness
from sfumato.encode import CodedColumn, EncodedTable
from sfumato.errors import Infeasible
from sfumato.policy import Policy
from sfumato.recode import check_models
from sfumato.recode.evaluate import Requirement
from sfumato.recode.plan import Recoding, labels_at
from sfumato.split.apart import apart
from sfumato.split.buckets import bucket_size

_DEALS = 8
"""So often buckets are dealt anew where persons or distances do not meet the policy in them."""

_INSTEAD = 'publish by lossy join instead, with [publish] form = "lossy-join"'


def anatomy(encoded: EncodedTable, policy: Policy) -> Recoding:
    """Buckets that meet the policy, each row in one; or `Infeasible`, with the reason and what would help."""
    check_models(encoded, policy)
    requirement = Requirement.of(policy.privacy, encoded.rows, policy.search.suppression)
    column = encoded.sensitive[policy.anatomized]
    size = bucket_size(encoded, requirement, column.name)
    randomness = Randomness(policy.search.seed, "buckets")
    piles = Piles.of(column.codes, column.width, randomness)
    cap = piles.cap(size)
    gone = int(np.maximum(piles.counts - cap, 0).sum())
    if not cap or gone > requirement.limit:
        raise _infeasible(piles, size, column.name, requirement)
    for _ in range(_DEALS):  # what chance spoils, chance may mend
        group = _dealt(encoded, piles, column, size)
        classes = counted(encoded, group)
        if requirement.holds(classes).all():
            break
        piles = Piles.of(column.codes, column.width, randomness)
    else:
        why = f"buckets of {size} different values of '{column.name}' do not meet the policy"
        raise Infeasible(f"{why}, though dealt {_DEALS} times; {_INSTEAD}")
    if not requirement.links(classes):
        why = f"buckets are drawn at random, so that fewer than linked_k = {requirement.linked} persons share theirs"
        raise Infeasible(f"{why}; {_INSTEAD}", nearest={"linked_k": float(linked_persons(classes).fewest)})
    exact = {attribute.name: labels_at(attribute, 0) for attribute in encoded.quasi}
    return Recoding("anatomy", exact, group >= 0 if gone else None, classes, group=group)


def _dealt(encoded: EncodedTable, piles: "Piles", column: CodedColumn, size: int) -> IntArray:
    """The bucket of each row, -1 where it is suppressed; no person twice in a bucket where that can be had."""
    group = piles.dealt(size, piles.cap(size))
    if encoded.individual is None:
        return group
    return apart(group, encoded.individual.codes, column.codes, piles.randomness)


def counted(encoded: EncodedTable, group: IntArray) -> EquivalenceClasses:
    """The classes of a grouping of rows, as the models see them."""
    rows = np.flatnonzero(group >= 0)
    owner, ones = group[rows], np.ones(len(rows), dtype=np.int64)
    person = encoded.individual
    columns = {name: encoded.sensitive[name] for name in encoded.domains if name in encoded.sensitive}
    if person is not None:
        columns[person.name] = person
    found = {
        name: count_values(owner, column.codes.take(rows).astype(np.int64), ones, encoded.domains[name])
        for name, column in columns.items()
    }
    people = found.pop(person.name) if person is not None else None
    return EquivalenceClasses(np.bincount(owner), found, people)


@dataclass(frozen=True, eq=False)
class Piles:
    """Rows by sensitive value: `rows` are those of the first value, then those of the next, each pile well shuffled."""

    rows: IntArray
    counts: IntArray
    randomness: Randomness

    @classmethod
    def of(cls, codes: IntArray, width: int, randomness: Randomness) -> "Piles":
        """Pile up the rows that hold each code."""
        order = randomness.permutation(len(codes))
        rows = order[np.argsort(codes.take(order), kind="stable")]
        return cls(rows, np.bincount(codes, minlength=width), randomness)

    def cap(self, size: int) -> int:
        """The largest height to cut the piles down to so that none holds more than its share, 1 in `size`, of the rest.

        >>> Piles(np.arange(9), np.array([6, 2, 1]), Randomness()).cap(2)
        3
        """
        low, high = 0, int(self.counts.max(initial=0))
        while low < high:
            middle = (low + high + 1) // 2
            fits = np.minimum(self.counts, middle).sum() >= size * middle
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def dealt(self, size: int, cap: int) -> IntArray:
        """The bucket of each row; -1 where a pile was cut."""
        counts = np.minimum(self.counts, cap)
        buckets = bucket_values(counts, size)
        values = buckets.ravel()
        taken = np.bincount(values, minlength=len(counts))
        place = np.arange(len(self.rows)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        group = np.full(len(self.rows), -1)
        group[self.rows[place < np.repeat(taken, self.counts)]] = np.argsort(values, kind="stable") // size
        self._place_rest(group, buckets, counts - taken)
        return group

    def _place_rest(self, group: IntArray, buckets: IntArray, left: IntArray) -> None:
        """Each row that is left into a bucket without its value, at random among all such."""
        starts = np.cumsum(self.counts) - self.counts
        taken = np.bincount(buckets.ravel(), minlength=len(left))
        for value in np.flatnonzero(left).tolist():
            able = np.flatnonzero((buckets != value).all(axis=1))
            chosen = self.randomness.permutation(len(able))[: left[value]]
            first = starts[value] + taken[value]
            group[self.rows[first : first + left[value]]] = able[chosen]


def bucket_values(counts: IntArray, size: int) -> IntArray:
    """The values that each bucket takes, a line for each: those of the largest piles that are left.

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


def _infeasible(piles: Piles, size: int, column: str, requirement: Requirement) -> Infeasible:
    """Why there are no such buckets: one value has too many rows."""
    most, rows = int(piles.counts.max()), len(piles.rows)
    why = f"the most frequent value of '{column}' stands in {most:,} of {rows:,} rows, above the share of 1 in {size}"
    helps = f"buckets of {rows // most} would do" if rows // most > 1 else "no buckets would do"
    limit = f", and suppressing {requirement.limit:,} rows is not enough" if requirement.limit else ""
    why = f"anatomy needs buckets of {size} different values, and {why}{limit}"
    return Infeasible(f"{why}: {helps}; ask for less, or let more rows be suppressed", nearest={"l": rows / most})
