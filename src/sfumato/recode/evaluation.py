"""Evaluate nodes of the lattice: which classes pass, how many rows are suppressed, what it costs, what is ruled out.

A node is *viable* unless it is known that neither it nor anything below it passes. That is concluded from one number:
the *doomed* rows, which every specialization of the node has to suppress as well, by each model's own proof. Where they
exceed what may be suppressed, the node and everything below it is out. For k-anonymity that is the usual monotonicity;
for models that suppression makes non-monotone it is a weaker but sound bound; where a model gives none (the refined α
bound), nothing is pruned.
"""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.memory import find_memory_left
from sfumato.encode import EncodedTable
from sfumato.recode.frequency_sets import FrequencyCounter, FrequencySet, NodeClasses
from sfumato.recode.lattice import Lattice, Node
from sfumato.recode.metrics import Metric
from sfumato.recode.requirement import Requirement

_FEW_TUPLES = 200_000
"""With more tuples than this, counting them for every subset costs more than it saves."""
_CACHED_TUPLES = 12
"""The cache of frequency sets holds at most this many times the tuples of the table."""
_CACHED_BYTES, _CACHE_SHARE = 32, 3
"""Bytes that a cached tuple takes with all that is worked out of it, and the part of the memory left for the cache."""


@dataclass(frozen=True)
class Evaluation:
    """What is known of a node once its classes have been counted.

    `loss` is infinite and `added_below` 0 for a node that is not viable: it is out, whatever it would cost.
    `floor_above` is a floor under the loss of its generalizations, `added_below` what it adds to the floor under its
    specializations. `undersized` has the labels of its smallest class, where no row may be suppressed and that class
    is too small for the models.
    """

    node: Node
    passes: bool
    viable: bool
    suppressed: int
    loss: float
    floor_above: float
    added_below: float
    undersized: tuple[int, ...] | None = None


class Evaluator:
    """Evaluates nodes over some of the attributes, each frequency set rolled up from the smallest at hand."""

    def __init__(
        self,
        encoded: EncodedTable,
        requirement: Requirement,
        metric: Metric,
        attributes: tuple[int, ...] | None = None,
    ) -> None:
        self.encoded, self.requirement, self.metric = encoded, requirement, metric
        self.counter = FrequencyCounter(encoded, attributes)
        self.lattice = Lattice(tuple(hierarchy.height for hierarchy in self.counter.hierarchies))
        bottom = self.counter.at_bottom()
        self._cache = [bottom]
        self._cached_nodes = np.array([bottom.node])  # int[sets, attributes]
        self._cache_room = min(_CACHED_TUPLES * len(bottom), find_memory_left() // (_CACHE_SHARE * _CACHED_BYTES))

    def project(self, attributes: tuple[int, ...]) -> "Evaluator":
        """Give an evaluator of the same table over a subset of the attributes."""
        return Evaluator(self.encoded, self.requirement, self.metric, attributes)

    def without_suppression(self) -> "Evaluator":
        """Give an evaluator of the same nodes that lets no row be suppressed."""
        return Evaluator(self.encoded, replace(self.requirement, limit=0), self.metric, self.counter.attributes)

    @property
    def cheap_subsets(self) -> bool:
        """Whether counting the tuples for every small subset of the attributes may save more than it costs."""
        return len(self.encoded.tuples) <= _FEW_TUPLES

    def frequencies(self, node: Node) -> FrequencySet:
        """Compute the frequency set at a node, from the smallest set in the cache that is below it."""
        below = np.flatnonzero((self._cached_nodes <= node).all(axis=1))
        source = min((self._cache[i] for i in below), key=len)
        if source.node == node:
            return source
        frequencies = self.counter.roll_up(source, node)
        if len(frequencies) <= min(0.7 * len(source), self._cache_room):
            self._cache_room -= len(frequencies)
            self._cache.append(frequencies)
            self._cached_nodes = np.vstack([self._cached_nodes, node])
        return frequencies

    def count_classes(self, node: Node) -> NodeClasses:
        """Count the classes at a node. Whoever gets the counts from elsewhere than a table has another way."""
        return self.counter.group(self.frequencies(node))

    def judge(self, node: Node) -> tuple[NodeClasses, BoolArray, FloatArray]:
        """Count the classes at a node, and tell which of them pass and the share of each that is doomed."""
        grouped = self.count_classes(node)
        passing = self.requirement.holds(grouped.classes)
        doomed = np.zeros(len(passing)) if passing.all() else self.requirement.doomed(grouped.classes)
        return grouped, passing, doomed

    def evaluate(self, node: Node) -> Evaluation:
        """Judge a node and, unless it is out, compute its loss."""
        grouped, passing, doomed = self.judge(node)
        classes, requirement = grouped.classes, self.requirement
        floor_above = self.metric.floor_above(classes)
        suppressed = int(classes.sizes[~passing].sum())
        if not self._is_viable(classes, doomed):
            return Evaluation(node, False, False, suppressed, np.inf, floor_above, 0.0, self._undersized(grouped))
        price = self.metric.price(node, grouped, passing, doomed)
        passes = suppressed <= requirement.limit
        if passes and requirement.limit:  # where no row may be suppressed, a viable node has enough linked persons
            passes = requirement.holds_linked(classes.select(passing))
        return Evaluation(node, passes, True, suppressed, price.loss, floor_above, price.added_below)

    def viable(self, node: Node) -> bool:
        """Tell whether the node, or something below it, may pass."""
        grouped, _, doomed = self.judge(node)
        return self._is_viable(grouped.classes, doomed)

    def known_to_fail(self, node: Node) -> bool:
        """Tell whether a node is known not to be viable, by what was counted so far; here nothing keeps from counting.

        Whoever gets the counts from elsewhere answers from what it has, and never asks for more.
        """
        return not self.viable(node)

    def _is_viable(self, classes: EquivalenceClasses, doomed: FloatArray) -> bool:
        if self.requirement.rules_out(float((classes.sizes * doomed).sum())):
            return False
        return not self.requirement.linked_rule_out(classes, doomed)

    def _undersized(self, grouped: NodeClasses) -> tuple[int, ...] | None:
        """Give the labels of the smallest class, if it rules the node out by its size alone."""
        sizes = grouped.classes.sizes
        smallest = int(sizes.argmin())
        if self.requirement.limit or sizes[smallest] >= self.requirement.least:
            return None
        labels = grouped.labels(np.arange(len(sizes)) == smallest)[: len(self.lattice.heights)]
        return tuple(int(label[0]) for label in labels)
