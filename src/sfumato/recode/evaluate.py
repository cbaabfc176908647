"""Evaluate nodes: which classes pass, how many rows go, what it costs, and what no specialization can save.

Pruning is on one number only. `doomed` rows are rows that every specialization of the node has to suppress
as well, by each model's own proof. Where they exceed what may be suppressed, the node and everything below
it is out. For k-anonymity that is the usual monotonicity; for models that suppression makes non-monotone it
is a weaker but sound bound; where a model gives none (the refined α bound), nothing is pruned.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import linked_persons
from sfumato.encode import EncodedTable
from sfumato.models import Model
from sfumato.recode.frequencies import Frequencies, Grouped, Roller
from sfumato.recode.lattice import Lattice, Node
from sfumato.recode.metric import Metric

Progress = Callable[[int, int], None]
"""Called with nodes settled and nodes in all."""

_CACHED_TUPLES = 12
"""The cache holds at most this many times the tuples of the table."""


@dataclass(frozen=True)
class Requirement:
    """All models of a policy together, and the rows that may be suppressed for them."""

    models: tuple[Model, ...]
    limit: int

    @classmethod
    def of(cls, models: tuple[Model, ...], rows: int, suppression: Fraction) -> "Requirement":
        """The limit is a whole number of rows, rounded down exactly; one row at least has to be published."""
        return cls(models, min(int(suppression * rows), rows - 1))

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Which classes satisfy every model."""
        passing = np.ones(len(classes), dtype=np.bool_)
        for model in self.models:
            passing &= model.holds(classes)
        return passing

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """The share of each class that some model dooms: the largest of what they each prove."""
        share = np.zeros(len(classes))
        for model in self.models:
            np.maximum(share, model.doomed(classes), out=share)
        return share

    def rules_out(self, doomed: float) -> bool:
        """Whether so many doomed rows exceed the limit, rounding errors put aside."""
        return doomed > 0 if self.limit == 0 else doomed > self.limit * (1 + 1e-9) + 1e-6

    @property
    def least(self) -> int:
        """The fewest rows that a passing class can have."""
        return max((model.least for model in self.models), default=1)

    @property
    def linked(self) -> int:
        """The fewest persons who have to share a person's set of classes."""
        return max((model.linked for model in self.models), default=1)

    def links(self, classes: EquivalenceClasses) -> bool:
        """Whether as many persons as have to share each person's classes, in a table of these classes.

        It is monotone: where classes are united, persons who shared their classes still do.
        """
        return self.linked <= 1 or linked_persons(classes).fewest >= self.linked

    @property
    def exact(self) -> bool:
        """Whether a node that fails is always ruled out: then the passing nodes are closed upwards.

        Where rows may go, those of the persons whose classes too few share at a node may be gone below it.
        """
        if self.limit == 0:
            return all(model.monotone for model in self.models)
        return self.linked <= 1 and all(model.hereditary for model in self.models)


@dataclass(frozen=True)
class Evaluation:
    """What is known of a node once its classes have been looked at.

    `loss` is infinite and `below` 0 for a node that is not viable: it is out, whatever it would cost. `above` is a
    floor for its generalizations, `below` what it adds to the floor of its specializations. `smallest` are the labels
    of its smallest class, where that class is too small for any model and no row may be suppressed.
    """

    node: Node
    passes: bool
    viable: bool
    suppressed: int
    loss: float
    above: float
    below: float
    smallest: tuple[int, ...] | None = None


class Evaluator:
    """Evaluates nodes over one set of attributes, each frequency set rolled up from the smallest at hand."""

    def __init__(
        self,
        encoded: EncodedTable,
        requirement: Requirement,
        metric: Metric,
        attributes: tuple[int, ...] | None = None,
    ) -> None:
        self.encoded, self.requirement, self.metric = encoded, requirement, metric
        self.roller = Roller(encoded, attributes)
        self.lattice = Lattice(tuple(hierarchy.height for hierarchy in self.roller.hierarchies))
        base = self.roller.base()
        self._kept = [base]
        self._levels = np.array([base.node])
        self._room = _CACHED_TUPLES * len(base)

    def over(self, attributes: tuple[int, ...]) -> "Evaluator":
        """The same for a subset of the attributes."""
        return Evaluator(self.encoded, self.requirement, self.metric, attributes)

    def without_suppression(self) -> "Evaluator":
        """The same where no row may go."""
        return Evaluator(self.encoded, replace(self.requirement, limit=0), self.metric, self.roller.chosen)

    def frequencies(self, node: Node) -> Frequencies:
        """The frequency set at a node, from the smallest known set that it generalizes."""
        fits = np.flatnonzero((self._levels <= node).all(axis=1))
        source = min((self._kept[i] for i in fits), key=len)
        if source.node == node:
            return source
        found = self.roller.roll_up(source, node)
        if len(found) <= 0.7 * len(source) and len(found) <= self._room:
            self._keep(found)
        return found

    def judge(self, node: Node) -> tuple[Grouped, BoolArray, FloatArray]:
        """The classes at a node, which of them pass, and the share of each that is doomed."""
        grouped = self.roller.group(self.frequencies(node))
        passing = self.requirement.holds(grouped.classes)
        doomed = np.zeros(len(passing)) if passing.all() else self.requirement.doomed(grouped.classes)
        return grouped, passing, doomed

    def evaluate(self, node: Node) -> Evaluation:
        """Judge a node and, unless it is out, price it."""
        grouped, passing, doomed = self.judge(node)
        above = self.metric.above(grouped.classes)
        suppressed = int(grouped.classes.sizes[~passing].sum())
        if not self._viable(grouped.classes, doomed):
            return Evaluation(node, False, False, suppressed, np.inf, above, 0.0, self._too_small(grouped))
        price = self.metric.price(node, grouped, passing, doomed)
        passes = suppressed <= self.requirement.limit and self._links(grouped.classes, passing)
        return Evaluation(node, passes, True, suppressed, price.loss, above, price.below)

    def viable(self, node: Node) -> bool:
        """Whether the node, or something below it, may pass."""
        grouped, _, doomed = self.judge(node)
        return self._viable(grouped.classes, doomed)

    def _viable(self, classes: EquivalenceClasses, doomed: FloatArray) -> bool:
        if self.requirement.rules_out(float((classes.sizes * doomed).sum())):
            return False
        return self.requirement.limit > 0 or self.requirement.links(classes)

    def _links(self, classes: EquivalenceClasses, passing: BoolArray) -> bool:
        """Of what is published; where no row may go, that was asked before."""
        return self.requirement.limit == 0 or self.requirement.links(classes.select(passing))

    def _too_small(self, grouped: Grouped) -> tuple[int, ...] | None:
        smallest = int(grouped.classes.sizes.argmin())
        if self.requirement.limit or grouped.classes.sizes[smallest] >= self.requirement.least:
            return None
        chosen = np.arange(len(grouped.classes)) == smallest
        return tuple(int(label[0]) for label in grouped.labels(chosen)[: len(self.lattice.heights)])

    def _keep(self, found: Frequencies) -> None:
        self._room -= len(found)
        self._kept.append(found)
        self._levels = np.vstack([self._levels, found.node])
