"""What a pseudonym gives away by linking a person's rows.

Where a person's rows are in several classes, whoever knows enough of them looks for the one pseudonym that is in all of
these classes. So what hides a person is not the smallest of their classes but the people whose rows are in exactly the
same ones. Uniting classes never makes these fewer: people in the same classes stay in the same classes.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import EquivalenceClasses


@dataclass(frozen=True, eq=False)
class LinkedPersons:
    """Persons, by their code, and for each the number of persons whose rows are in exactly the same classes.

    Bob and Eve share their two classes; Ann is the only one with rows in the first class alone.

    >>> people = ["ann", "bob", "eve", "bob", "eve"]
    >>> links = linked_persons(EquivalenceClasses.of([0, 0, 0, 1, 1], individuals=people))
    >>> links.sharing, links.fewest, links.count_below(2)
    (array([1, 2, 2]), 1, 1)
    """

    persons: IntArray
    sharing: IntArray

    @property
    def fewest(self) -> int:
        """The fewest persons who share their classes; 0 where there is nobody."""
        return int(self.sharing.min()) if len(self.sharing) else 0

    def count_below(self, k: int) -> int:
        """Count the persons whose classes fewer than k persons share, they themselves included."""
        return int((self.sharing < k).sum())


def linked_persons(classes: EquivalenceClasses) -> LinkedPersons:
    """Find who shares whose classes; where rows name no person, each row is a person and all of a class share it."""
    if classes.individuals is None:
        return LinkedPersons(np.arange(classes.rows), np.repeat(classes.sizes, classes.sizes))
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
    return LinkedPersons(persons, np.bincount(dense)[dense] if len(person) else person)
