"""What a pseudonym gives away by linking a person's rows.

Where a person's rows are in several classes, whoever knows enough of them looks for the one pseudonym that is in all of
these classes. So what hides a person is not the smallest of their classes but the people whose rows are in exactly the
same ones. Uniting classes never makes these fewer: people in the same classes stay in the same classes.
"""

import math
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import EquivalenceClasses

_ROUNDING = 1e-6
"""What sums of shares of persons may be off by."""


@dataclass(frozen=True, eq=False)
class LinkedPersons:
    """Persons, by their code, and for each the number of persons whose rows are in exactly the same classes.

    Bob and Eve share their two classes; Ann is the only one with rows in the first class alone.

    >>> people = ["ann", "bob", "eve", "bob", "eve"]
    >>> links = linked_persons(EquivalenceClasses.of([0, 0, 0, 1, 1], individuals=people))
    >>> links.sharing, links.fewest, links.count_below(2), links.least_suppressed(2)
    (array([1, 2, 2]), 1, 1, 1)

    `classes` is the number of classes that each person has rows in.
    """

    persons: IntArray
    sharing: IntArray
    classes: IntArray

    @property
    def fewest(self) -> int:
        """The fewest persons who share their classes; 0 where there is nobody."""
        return int(self.sharing.min()) if len(self.sharing) else 0

    def count_below(self, k: int) -> int:
        """Count the persons whose classes fewer than k persons share, they themselves included."""
        return int((self.sharing < k).sum())

    def least_suppressed(self, k: int) -> int:
        """Give a number of rows that are suppressed at least, here and however the classes are divided further.

        So many have to go before every published person shares the set of their classes with k persons, themselves
        included. Proof. Let U be the persons of whom a row is suppressed, and let s < k persons have the same set S.
        Either all s are in U, or one of them keeps all rows. Whoever shares that one's classes in the end, k persons,
        has published rows in the classes S and no others: so k - s of them are outside of the s, had rows in further
        classes, and are in U. Nobody helps two sets like that, since the published rows say which. So with n(j) the sum
        of min(s, k - s) over the sets of j classes, n(j) <= U(j) + h(j), where U(j) are those of U with j classes, and
        helpers h(j) are of U with more classes than j, each counted once. The fewest are found from the largest sets
        down: whoever of n(j) is not helped is in U, and helps one later. Nobody in U loses less than a row.
        """
        rare = self.sharing < k
        sharing = self.sharing[rare]
        of_size = np.bincount(self.classes[rare], np.minimum(1.0, (k - sharing) / sharing))
        changed = helpers = 0.0
        for persons in of_size[::-1].tolist():
            helped = min(helpers, persons)
            changed += persons - helped
            helpers += persons - 2 * helped
        return math.ceil(changed - _ROUNDING)


def linked_persons(classes: EquivalenceClasses) -> LinkedPersons:
    """Find who shares whose classes; where rows name no person, each row is a person and all of a class share it."""
    if classes.individuals is None:
        return LinkedPersons(
            np.arange(classes.rows), np.repeat(classes.sizes, classes.sizes), np.ones(classes.rows, dtype=np.int64)
        )
    return link_pairs(classes.individuals.value, classes.individuals.class_of)


def link_pairs(person: IntArray, class_of: IntArray) -> LinkedPersons:
    """Find who shares whose classes, from different pairs of person and class in any order.

    The set of classes of each person gets a number, equal for equal sets only. Sets are refined class by class: after
    i steps two sets have the same number if they have the same length and the same first i classes. Each step looks
    only at persons with more than i classes, so that the work is the number of pairs.
    """
    order = np.lexsort([class_of, person])
    class_of = class_of[order]
    persons, first, length = np.unique(person[order], return_index=True, return_counts=True)
    set_number, width = length.copy(), int(class_of.max(initial=0)) + 1
    longer, used = np.arange(len(persons)), int(length.max(initial=0)) + 1
    for step in range(int(length.max(initial=0))):
        longer = longer[length[longer] > step]
        known, refined = np.unique(set_number[longer] * width + class_of[first[longer] + step], return_inverse=True)
        set_number[longer] = used + refined  # numbers of this step lie above all that were given before
        used += len(known)
    dense = np.unique(set_number, return_inverse=True)[1]
    return LinkedPersons(persons, np.bincount(dense)[dense] if len(person) else person, length)
