"""Distinct l-diversity (Machanavajjhala et al. 2006; Definition 20.3.2 of the chapter)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.models.model import MinimumCountModel, SensitiveColumnModel, count_distinct_values, sensitive_histogram
from sfumato.models.policy_keys import WHOLE_NUMBER


@dataclass(frozen=True)
class DistinctLDiversity(MinimumCountModel, SensitiveColumnModel):
    """Every class has at least `l` different sensitive values.

    Guards against a class that shares one value, as the three HIV rows of the chapter's Table 20.3. It
    does not bound how sure one can be: 99 of 100 rows may agree. Where rows name individuals, a class
    counts for no more than its people, because one person with l illnesses hides nobody.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["HIV", "flu", "HIV", "HIV"])
    >>> DistinctLDiversity("illness", l=2).holds(classes)
    array([ True, False])
    """

    name: ClassVar[str] = "distinct-l-diversity"
    threat: ClassVar[str] = "Someone who finds a person's class reads the one sensitive value it shares."

    l: Annotated[int, WHOLE_NUMBER, "the fewest different values of a class"]  # noqa: E741  the field's own name

    @property
    def least(self) -> int:
        """Different values are in different rows."""
        return self.l

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it has l values, and as many people."""
        passing: BoolArray = self._diversity(classes) >= self.l
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Count the values of the class with the fewest."""
        return {"l": int(self._diversity(classes).min()) if len(classes) else 0}

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say how many values, or people, the table has: no class has more."""
        values = int(count_distinct_values(sensitive_histogram(whole, self.column), len(whole)).sum())
        people = int(whole.persons.sum())
        if people < values:
            return f"the table has {people} people, so l can be at most {people}"
        return f"{self.column} has {values} values, so l can be at most {values}"

    def _diversity(self, classes: EquivalenceClasses) -> IntArray:
        """Count the different values of each class, but no more than its people."""
        values = count_distinct_values(sensitive_histogram(classes, self.column), len(classes))
        return np.minimum(values, classes.persons)
