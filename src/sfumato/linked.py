"""Linked: what a pseudonym gives away by tying a person's rows together.

Where a person's rows stand in several classes, whoever knows enough of them looks for the one pseudonym that is in all
of these classes. So what hides a person is not the smallest of their classes but the people whose rows stand in exactly
the same ones. Uniting classes never makes these fewer: people in the same classes stay in the same classes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.classes import Classes, IntArray


@dataclass(frozen=True, eq=False)
class Linked:
    """Persons, by their code, and for each the number of persons who stand in exactly the same classes.

    Bob and Eve share their two classes; Ann is the only one with rows in the first class alone.

    >>> people = ["ann", "bob", "eve", "bob", "eve"]
    >>> found = linked(Classes.of([0, 0, 0, 1, 1], individuals=people))
    >>> found.sharing, found.fewest, found.below(2)
    (array([1, 2, 2]), 1, 1)
    """

    persons: IntArray
    sharing: IntArray

    @property
    def fewest(self) -> int:
        """The fewest persons who share their classes; 0 where there is nobody."""
        return int(self.sharing.min()) if len(self.sharing) else 0

    def below(self, k: int) -> int:
        """Persons whose classes fewer than k persons share, they themselves among them."""
        return int((self.sharing < k).sum())


def linked(classes: Classes) -> Linked:
    """Who shares whose classes; where rows name no person, each row is a person's and all of a class share it."""
    if classes.individuals is None:
        return Linked(np.arange(classes.rows), np.repeat(classes.sizes, classes.sizes))
    return linked_by(classes.individuals.value, classes.individuals.owner)


def linked_by(person: IntArray, owner: IntArray) -> Linked:
    """The same from pairs of person and class, in any order, none of them twice."""
    sets = _Sets(person, owner)
    return Linked(sets.persons, np.bincount(sets.numbers)[sets.numbers] if len(person) else person)


class _Sets:
    """The set of classes of each person, numbered so that equal sets, and only those, have one number."""

    def __init__(self, person: IntArray, owner: IntArray) -> None:
        order = np.lexsort([owner, person])
        self.owner = owner[order]
        self.persons, self.first, self.length = np.unique(person[order], return_index=True, return_counts=True)

    @cached_property
    def numbers(self) -> IntArray:
        """Sets are told apart class by class: after i steps, by their length and their first i classes."""
        numbers, width = self.length.copy(), int(self.owner.max(initial=0)) + 1
        longer, used = np.arange(len(numbers)), int(numbers.max(initial=0)) + 1
        for place in range(int(self.length.max(initial=0))):
            longer = longer[self.length[longer] > place]
            known, found = np.unique(
                numbers[longer] * width + self.owner[self.first[longer] + place], return_inverse=True
            )
            numbers[longer] = used + found
            used += len(known)
        return np.unique(numbers, return_inverse=True)[1]
