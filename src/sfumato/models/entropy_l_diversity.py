"""Entropy l-diversity (Machanavajjhala et al. 2006; Definition 20.3.3 of the chapter)."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.segments import sum_by_group
from sfumato.models.model import (
    TOLERANCE,
    SensitiveColumnModel,
    count_distinct_values,
    doomed_share,
    round_down,
    sensitive_histogram,
)
from sfumato.models.policy_keys import AT_LEAST_ONE


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveColumnModel):
    """In every class the sensitive values have an entropy of at least log `l`.

    Guards against classes in which few values dominate: a class is as uncertain as `l` values that are
    equally frequent. It has l different values at least (Exercise 7), and no table reaches more than
    its own entropy (Exercise 8), so common values make it hard to meet. An entropy within 1e-9 of
    log l passes.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1, 1], illness=["HIV", "flu", "HIV", "HIV", "flu"])
    >>> EntropyLDiversity("illness", l=2).holds(classes)
    array([ True, False])
    """

    name: ClassVar[str] = "entropy-l-diversity"
    threat: ClassVar[str] = "Someone who finds a person's class guesses a sensitive value that dominates it."

    l: Annotated[float, AT_LEAST_ONE, "as uncertain as this many equally frequent values"]  # noqa: E741  its name

    @property
    def monotone(self) -> bool:
        """Entropy is concave: that of a union is no less than its parts' average (Exercise 9a)."""
        return True

    @property
    def least(self) -> int:
        """The entropy of n rows is at most log n; the tolerance is taken off."""
        return math.ceil(self.l * (1 - 2 * TOLERANCE))

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it is uncertain enough."""
        passing: BoolArray = self._uncertainty(classes) >= math.log(self.l) - TOLERANCE
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Compute the exponential of the smallest entropy, or the people of the smallest class where rows name them."""
        return {"l": math.exp(self._uncertainty(classes).min()) if len(classes) else 0}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging; all of a class with fewer than l values or people.

        The entropy H of a class is at least the average of its parts'. Parts that pass have log l at
        least, parts that fail, a share f of the rows, have 0 at least: H >= (1 - f) log l. So
        f >= 1 - H / log l. Both tolerances are taken off, one for passing parts, one for rounding.
        """
        goal, entropies = math.log(self.l), self._entropies(classes)
        failing = ~self.holds(classes)
        share = (goal - entropies - 2 * TOLERANCE) / max(goal, TOLERANCE)
        values = count_distinct_values(sensitive_histogram(classes, self.column), len(classes))
        # The entropy of v values is at most log v, in every part as well, so too few values cannot be split right.
        too_few = np.log(np.maximum(np.minimum(values, classes.persons), 1)) < goal - 2 * TOLERANCE
        return doomed_share(failing, np.where(too_few, 1.0, share) * classes.sizes, classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say the entropy of the table: no split into classes reaches more (Exercise 8)."""
        return f"l can be at most {round_down(float(self.achieved(whole)['l']))}"

    def _uncertainty(self, classes: EquivalenceClasses) -> FloatArray:
        """Compute the entropy of each class, but no more than log of its people: one person hides nobody."""
        return np.minimum(self._entropies(classes), np.log(classes.persons))

    def _entropies(self, classes: EquivalenceClasses) -> FloatArray:
        histogram = sensitive_histogram(classes, self.column)
        share = histogram.count / classes.sizes[histogram.class_of]
        # A class of one value has entropy 0; rounding must not make it a little less.
        return np.maximum(sum_by_group(histogram.class_of, -share * np.log(share), len(classes)), 0.0)
