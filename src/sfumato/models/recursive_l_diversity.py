"""Recursive (c, l)-diversity (Machanavajjhala et al. 2006; Definition 20.3.4 of the chapter)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.core.numbers import ceil_times, floor_times
from sfumato.core.segments import run_starts, sum_by_group
from sfumato.models.base import ColumnEntry
from sfumato.models.counts import distinct, doom, looked_at, rounded_up
from sfumato.models.keys import FACTOR, WHOLE


class Spread(NamedTuple):
    """Rows of the most frequent value of each class, and of its l-th value and all rarer ones."""

    top: IntArray
    tail: IntArray


@dataclass(frozen=True)
class RecursiveLDiversity(ColumnEntry):
    """In every class the top value has fewer rows than `c` times those from the `l`-th on together.

    Guards against a value that dominates its class, and stays so after l - 2 others are ruled out. It
    allows skew where the entropy model does not. Compared exactly, and strictly: `achieved` gives the
    c that the worst class has, and a policy needs a c above it.

    >>> classes = EquivalenceClasses.of([0, 0, 0, 1, 1, 1], illness=["HIV", "flu", "cold", "HIV", "HIV", "flu"])
    >>> RecursiveLDiversity("illness", c=2, l=2).holds(classes)
    array([ True, False])
    """

    name: ClassVar[str] = "recursive-l-diversity"
    threat: ClassVar[str] = "Someone who can rule out some sensitive values guesses one that dominates the rest."

    c: Annotated[float, FACTOR, "how far the top value may outweigh the tail"]
    l: Annotated[int, WHOLE, "the place at which the tail begins"]  # noqa: E741  the field's own name

    @property
    def monotone(self) -> bool:
        """Top minus c times tail is convex, so a union is below 0 where its parts are (Exercise 9b).

        Top is a maximum; tail is all rows minus the largest sum of l - 1 values, again a maximum.
        """
        return True

    @property
    def least(self) -> int:
        """There have to be l different values."""
        return self.l

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether the top value of each class is small enough."""
        top, tail = self._spread(classes)
        passing: BoolArray = top < ceil_times(self.c, tail)
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The least c that is not enough, at this l.

        Where a class has fewer than l values, or people, no c would do: then there is no c, and l is the
        number of values, or people, of the poorest class.
        """
        top, tail = self._spread(classes)
        if (tail == 0).any():
            return {"l": int(self._values(classes).min())}
        return {"c": float((top / tail).max(initial=0.0)), "l": self.l}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging; all of a class with fewer than l values or people.

        g = top - c tail is convex and grows with the class, so g of a class is at most the sum over its
        parts. Parts that pass are below 0, parts that fail, F rows in all, are at most F (their tail is
        not negative). So F >= top - c tail.
        """
        top, tail = self._spread(classes)
        surplus = top - floor_times(self.c, tail)
        rows = np.where(self._values(classes) < self.l, classes.sizes, surplus)
        # With the floor, a fraction of a row is rounded up, as `doom` would.
        return doom(top >= ceil_times(self.c, tail), rows, classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """The table as one class has the least c that any split has."""
        reached = self.achieved(whole)
        if "c" not in reached:
            return f"{self.column} has {reached['l']} values, so l can be at most {reached['l']}"
        return f"c must be above {rounded_up(float(reached['c']))} with l = {self.l}"

    def _spread(self, classes: EquivalenceClasses) -> Spread:
        owner, count, place = _by_count(looked_at(classes, self.column))
        size = len(classes)
        top = sum_by_group(owner, np.where(place == 0, count, 0), size).astype(np.int64)
        head = sum_by_group(owner, np.where(place < self.l - 1, count, 0), size).astype(np.int64)
        return Spread(top, np.where(classes.persons < self.l, 0, classes.sizes - head))

    def _values(self, classes: EquivalenceClasses) -> IntArray:
        """Different values; where rows name individuals no more than its people, since one person hides nobody."""
        return np.minimum(distinct(looked_at(classes, self.column), len(classes)), classes.persons)


def _by_count(lines: Histogram) -> tuple[IntArray, IntArray, IntArray]:
    """Class, count and place of each line, largest count first; one plain sort of packed numbers."""
    width = int(lines.count.max(initial=0)) + 1
    owner, lack = np.divmod(np.sort(lines.class_of * width + (width - 1 - lines.count)), width)
    first = run_starts(owner)
    begin = np.repeat(first, np.diff(first, append=len(owner)))
    return owner, width - 1 - lack, np.arange(len(owner)) - begin
