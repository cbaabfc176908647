"""Recursive (c, l)-diversity (Machanavajjhala et al. 2006; Definition 20.3.4 of the chapter)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.numbers import ceil_times, floor_times
from sfumato.core.segments import run_starts, sum_by_group
from sfumato.models.model import (
    SensitiveColumnModel,
    count_distinct_values,
    doomed_share,
    round_up,
    sensitive_histogram,
)
from sfumato.models.policy_keys import ABOVE_ZERO, WHOLE_NUMBER


@dataclass(frozen=True)
class RecursiveLDiversity(SensitiveColumnModel):
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

    c: Annotated[float, ABOVE_ZERO, "how far the top value may outweigh the tail"]
    l: Annotated[int, WHOLE_NUMBER, "the place at which the tail begins"]  # noqa: E741  the field's own name

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
        """Tell of each class whether its top value is small enough."""
        top, tail = self._top_and_tail(classes)
        passing: BoolArray = top < ceil_times(self.c, tail)
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Compute the least c that is not enough, at this l.

        Where a class has fewer than l values, or people, no c would do: then there is no c, and l is the
        number of values, or people, of the class with the fewest.
        """
        top, tail = self._top_and_tail(classes)
        if (tail == 0).any():
            return {"l": int(self._diversity(classes).min())}
        return {"c": float((top / tail).max(initial=0.0)), "l": self.l}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging; all of a class with fewer than l values or people.

        g = top - c tail is convex and grows with the class, so g of a class is at most the sum over its
        parts. Parts that pass are below 0, parts that fail, F rows in all, are at most F (their tail is
        not negative). So F >= top - c tail.
        """
        top, tail = self._top_and_tail(classes)
        surplus = top - floor_times(self.c, tail)
        rows = np.where(self._diversity(classes) < self.l, classes.sizes, surplus)
        # With the floor, a fraction of a row is rounded up, as `doomed_share` would.
        return doomed_share(top >= ceil_times(self.c, tail), rows, classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say what the table as one class reaches: no split has a smaller c."""
        reached = self.achieved(whole)
        if "c" not in reached:
            return f"{self.column} has {reached['l']} values, so l can be at most {reached['l']}"
        return f"c must be above {round_up(float(reached['c']))} with l = {self.l}"

    def _top_and_tail(self, classes: EquivalenceClasses) -> tuple[IntArray, IntArray]:
        """Count the rows of each class's most frequent value, and those of its l-th value and all rarer ones.

        Returns two int[classes]. The tail is 0 where a class has fewer than l values, or people. The lines of the
        histogram are ranked within their class, largest count first, by one plain sort of packed numbers: `class_of`,
        `count` and `rank` are int[lines] in that order.
        """
        histogram = sensitive_histogram(classes, self.column)
        width = int(histogram.count.max(initial=0)) + 1
        packed = np.sort(histogram.class_of * width + (width - 1 - histogram.count))
        class_of, complement = np.divmod(packed, width)
        count = width - 1 - complement
        first = run_starts(class_of)
        rank = np.arange(len(class_of)) - np.repeat(first, np.diff(first, append=len(class_of)))
        top = sum_by_group(class_of, np.where(rank == 0, count, 0), len(classes)).astype(np.int64)
        head = sum_by_group(class_of, np.where(rank < self.l - 1, count, 0), len(classes)).astype(np.int64)
        return top, np.where(classes.persons < self.l, 0, classes.sizes - head)

    def _diversity(self, classes: EquivalenceClasses) -> IntArray:
        """Count the different values of each class, but no more than its people: one person hides nobody."""
        values = count_distinct_values(sensitive_histogram(classes, self.column), len(classes))
        return np.minimum(values, classes.persons)
