"""Requirement: all privacy models of a policy together, and the number of rows that may be suppressed for them.

Searches ask a requirement two things of the classes at hand: which of them pass, and how many rows are *doomed*, which
is to say lost in every way of dividing these classes further, by each model's own proof. Nothing else may be concluded
from a class that fails. That a model is monotone says little once rows may be suppressed: a class that fails may have
parts that pass, and the rest of it may be suppressed.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import linked_persons
from sfumato.models import Model


@dataclass(frozen=True)
class Requirement:
    """The models that every published class has to satisfy, and the most rows that may be suppressed.

    >>> from sfumato.models import KAnonymity
    >>> requirement = Requirement.from_share((KAnonymity(2),), 1000, Fraction("0.05"))
    >>> requirement.limit, requirement.holds(EquivalenceClasses.of([0, 0, 1]))
    (50, array([ True, False]))
    """

    models: tuple[Model, ...]
    limit: int

    @classmethod
    def from_share(cls, models: tuple[Model, ...], rows: int, suppression: Fraction) -> "Requirement":
        """Allow a share of the rows to be suppressed, rounded down to whole rows; one row at least is published."""
        return cls(models, min(int(suppression * rows), rows - 1))

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell which classes satisfy every model."""
        passing = np.ones(len(classes), dtype=np.bool_)
        for model in self.models:
            passing &= model.holds(classes)
        return passing

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """Give the share of each class that is lost however it is divided: the largest that any model proves."""
        share = np.zeros(len(classes))
        for model in self.models:
            np.maximum(share, model.doomed(classes), out=share)
        return share

    def rules_out(self, doomed: float) -> bool:
        """Tell whether so many doomed rows exceed the limit, with a margin for rounding errors."""
        return doomed > 0 if self.limit == 0 else doomed > self.limit * (1 + 1e-9) + 1e-6

    @cached_property
    def least(self) -> int:
        """The fewest rows that a passing class can have."""
        return max((model.least for model in self.models), default=1)

    @property
    def linked(self) -> int:
        """The fewest persons who have to share a person's set of classes."""
        return max((model.linked for model in self.models), default=1)

    def linked_rule_out(self, classes: EquivalenceClasses, doomed: FloatArray) -> bool:
        """Tell whether neither these classes nor any division of them can have enough persons share their classes.

        Classes that are doomed as a whole go in any case; what is left has to be suppressed besides. Where no row may
        be suppressed, this is exact.
        """
        if self.linked <= 1:
            return False
        gone = doomed >= 1.0
        left = classes.select(~gone) if gone.any() else classes
        least = linked_persons(left).least_suppressed(self.linked)
        return self.rules_out(float(classes.sizes[gone].sum()) + least)

    def holds_linked(self, classes: EquivalenceClasses) -> bool:
        """Tell whether every person's set of classes is shared by enough persons, in a table of these classes.

        This is monotone: where classes are united, persons who shared their classes still do.
        """
        return self.linked <= 1 or linked_persons(classes).fewest >= self.linked

    @property
    def exact(self) -> bool:
        """Whether pruning is exact: a node that fails is always ruled out, so that passing nodes are closed upwards.

        Where rows may be suppressed, persons whose classes too few share at a node may be gone below it.
        """
        if self.limit == 0:
            return all(model.monotone for model in self.models)
        return self.linked <= 1 and all(model.hereditary for model in self.models)
