"""Distinct l-diversity (Machanavajjhala et al. 2006; Definition 20.3.2 of the chapter)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.models.base import ColumnEntry, Enough
from sfumato.models.counts import distinct, looked_at
from sfumato.models.keys import WHOLE


@dataclass(frozen=True)
class DistinctLDiversity(Enough, ColumnEntry):
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

    l: Annotated[int, WHOLE, "the fewest different values of a class"]  # noqa: E741  the field's own name

    @property
    def least(self) -> int:
        """Different values stand in different rows."""
        return self.l

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class has l values, and as many people."""
        passing: BoolArray = self._reached(classes) >= self.l
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The values of the poorest class."""
        return {"l": int(self._reached(classes).min()) if len(classes) else 0}

    def hint(self, whole: EquivalenceClasses) -> str:
        """The table as one class is the richest class there is."""
        values = int(distinct(looked_at(whole, self.column), len(whole)).sum())
        people = int(whole.persons.sum())
        if people < values:
            return f"the table has {people} people, so l can be at most {people}"
        return f"{self.column} has {values} values, so l can be at most {values}"

    def _reached(self, classes: EquivalenceClasses) -> IntArray:
        values = distinct(looked_at(classes, self.column), len(classes))
        return np.minimum(values, classes.persons)
