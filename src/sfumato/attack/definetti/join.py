"""The join of the two tables, which is where the attack begins: every cell linked to every value of its bag."""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.definetti.people import People
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import Histogram


@dataclass(frozen=True, eq=False)
class Join:
    """Links from each cell to each value of its bag.

    Equal lines of a class are weighed alike whatever is learned, so that they are counted and not repeated. Of each
    cell: its `profile`, its `lines`, its first link in `begins`. Of each link: its `cell`, its `value`, the `entry` of
    the bag that it leads to, the lines it gets by its share of the bag in `even` and, in `seen`, where the learner
    keeps what it knows of each quasi-identifier with this value. `held` is how many of the lines hold each entry;
    `values` are all that there are, `bins` those of each quasi-identifier.
    """

    profile: IntArray
    lines: FloatArray
    begins: IntArray
    cell: IntArray
    value: IntArray
    entry: IntArray
    even: FloatArray
    held: FloatArray
    seen: tuple[IntArray, ...]
    values: int
    bins: tuple[int, ...]

    def totals(self, amounts: FloatArray) -> FloatArray:
        """The sum over the links of each cell."""
        totals: FloatArray = np.add.reduceat(amounts, self.begins)
        return totals

    def largest(self, amounts: FloatArray) -> FloatArray:
        """The largest over the links of each cell."""
        largest: FloatArray = np.maximum.reduceat(amounts, self.begins)
        return largest


def joined(people: People, bag: Histogram, sizes: IntArray) -> Join:
    """The join of people with the bags of their classes.

    Where some lines of a class are left out, its bag shrinks with them, in shares.
    """
    present = np.bincount(people.class_of, weights=people.lines, minlength=len(sizes))
    chosen = np.flatnonzero(present[bag.class_of])
    holder = bag.class_of[chosen]
    different = np.bincount(holder, minlength=len(sizes))
    links = different[people.class_of]
    begins = np.cumsum(links) - links
    cell = np.repeat(np.arange(len(links)), links)
    entry = np.arange(len(cell)) + ((np.cumsum(different) - different)[people.class_of] - begins)[cell]
    share = bag.count[chosen] / sizes[holder]
    value, values = bag.value[chosen[entry]], len(bag.domain.values)
    return Join(
        people.profile,
        people.lines,
        begins,
        cell,
        value,
        entry,
        even=share[entry] * people.lines[cell],
        held=share * present[holder],
        seen=tuple((known * values)[people.profile][cell] + value for known in people.known),
        values=values,
        bins=people.bins,
    )
