"""Entropy l-diversity (Machanavajjhala et al. 2006; Definition 20.3.3 of the chapter)."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.segments import sum_by_group
from sfumato.models.base import ColumnEntry
from sfumato.models.counts import TOLERANCE, distinct, doom, looked_at, rounded_down
from sfumato.models.keys import DIVERSITY


@dataclass(frozen=True)
class EntropyLDiversity(ColumnEntry):
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

    l: Annotated[float, DIVERSITY, "as uncertain as this many equally frequent values"]  # noqa: E741  its name

    @property
    def monotone(self) -> bool:
        """Entropy is concave: that of a union is no less than its parts' average (Exercise 9a)."""
        return True

    @property
    def least(self) -> int:
        """The entropy of n rows is at most log n; tolerance taken off."""
        return math.ceil(self.l * (1 - 2 * TOLERANCE))

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class is uncertain enough."""
        passing: BoolArray = self._reached(classes) >= math.log(self.l) - TOLERANCE
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The exponential of the smallest entropy, or the people of the smallest class where rows name them."""
        return {"l": math.exp(self._reached(classes).min()) if len(classes) else 0}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging; all of a class with fewer than l values or people.

        The entropy H of a class is at least the average of its parts'. Parts that pass have log l at
        least, parts that fail, a share f of the rows, have 0 at least: H >= (1 - f) log l. So
        f >= 1 - H / log l. Both tolerances are taken off, one for passing parts, one for rounding.
        """
        goal, entropies = math.log(self.l), self._entropies(classes)
        failing = ~self.holds(classes)
        share = (goal - entropies - 2 * TOLERANCE) / max(goal, TOLERANCE)
        values = np.minimum(distinct(looked_at(classes, self.column), len(classes)), classes.persons)
        hopeless = np.log(np.maximum(values, 1)) < goal - 2 * TOLERANCE
        return doom(failing, np.where(hopeless, 1.0, share) * classes.sizes, classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """No split into classes beats the entropy of the table (Exercise 8)."""
        return f"l can be at most {rounded_down(float(self.achieved(whole)['l']))}"

    def _reached(self, classes: EquivalenceClasses) -> FloatArray:
        """Entropies; where rows name individuals no more than that of its people, since one person hides nobody."""
        return np.minimum(self._entropies(classes), np.log(classes.persons))

    def _entropies(self, classes: EquivalenceClasses) -> FloatArray:
        lines = looked_at(classes, self.column)
        share = lines.count / classes.sizes[lines.class_of]
        # A class of one value has entropy 0; rounding must not make it a little less.
        return np.maximum(sum_by_group(lines.class_of, -share * np.log(share), len(classes)), 0.0)
