"""Which sides of a split pass, with as little counting as the models allow."""

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.models import KAnonymity
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem


class Sieve:
    """Asks the models of a problem; where rows alone count, counts them.

    `least` is the fewest rows that a side needs, `counts` says that it needs no more than that.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        models = problem.requirement.models
        self.least = problem.requirement.least
        self.counts = problem.encoded.individual is None and all(isinstance(model, KAnonymity) for model in models)

    def passes(self, of: IntArray, rows: IntArray, side: IntArray, count: int) -> BoolArray:
        """Which of so many sides pass, given line by line; an empty one does not."""
        passing: BoolArray = np.bincount(side, rows, count) >= self.least
        if self.counts or not passing.any():
            return passing
        lines, number = np.flatnonzero(passing.take(side)), np.cumsum(passing) - 1
        parts = Parts(of.take(lines), rows.take(lines), number.take(side.take(lines)), int(passing.sum()))
        passing[passing] = self.problem.holds(parts)
        return passing
