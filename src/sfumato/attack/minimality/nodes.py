"""Full-domain generalizations, taken whole: which others would have been published instead, had they passed.

Of a small table all worlds are looked at, and all nodes that the algorithm prefers to the published one: then the
posterior is that of somebody who runs the algorithm on every table that there could have been. Where rows may be
suppressed, worlds are sampled and the nodes right below are looked at, with the suppressed rows taken as known.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from sfumato.attack.minimality.cells import Cells, cells_by
from sfumato.attack.minimality.judge import passing
from sfumato.attack.minimality.lots import Lot
from sfumato.attack.minimality.situation import Situation
from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import PackedTuples, number_tuples, pack_tuples
from sfumato.policy import Policy
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.frequency_sets import NodeClasses
from sfumato.recode.lattice import Lattice, Node, minimal
from sfumato.recode.metrics import LOSS_TOLERANCE, METRICS

_SLOTS = 1 << 20
"""Rows that are judged at a time."""


class Nodes:
    """The lattice that a full-domain release was found in."""

    def __init__(self, situation: Situation, policy: Policy) -> None:
        self.situation, self.algorithm = situation, situation.recoding.algorithm
        levels = situation.recoding.levels or {}
        self.published: Node = tuple(levels[one.name] for one in situation.quasi)
        self.lattice = Lattice(tuple(one.hierarchy.height for one in situation.quasi))
        self.metric = METRICS[policy.search.metric](situation.encoded)
        self.limit = situation.requirement.limit

    @cached_property
    def rows(self) -> IntArray:
        """All rows of the table: the published ones in their order, then the suppressed ones."""
        every: BoolArray = np.ones(self.situation.encoded.rows, dtype=np.bool_)
        every[self.situation.rows] = False
        return np.concatenate([self.situation.rows, np.flatnonzero(every)])

    def labels(self, node: Node) -> PackedTuples:
        """The labels of all rows at a node, packed."""
        pairs = list(zip(self.situation.quasi, node, strict=True))
        columns = [one.hierarchy.matrix[:, level].take(one.column.codes[self.rows]) for one, level in pairs]
        return pack_tuples(columns, [len(one.hierarchy.labels[level]) for one, level in pairs])

    def below(self) -> list[Node]:
        """Nodes one level lower in one column that do not fail in every world, whoever holds what."""
        node = self.published
        lower = [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level]
        return [one for one in lower if self._open(one)]

    def preferred(self) -> list[Node]:
        """Nodes that the algorithm takes before the published one, if they pass: those that are not surely failing.

        Where models are monotone the highest of them are enough: if one below them passes, so do they.
        """
        marked = np.zeros(self.lattice.shape, dtype=np.bool_)
        for node in np.ndindex(*self.lattice.shape):
            marked[node] = self._before(node)
        if all(model.monotone for model in self.situation.requirement.models):
            turned = tuple(slice(None, None, -1) for _ in self.lattice.shape)
            marked = minimal(marked[turned])[turned]  # seen from above
        return [node for node in self.lattice.nodes(marked) if self._open(node)]

    def beats(self, node: Node, lot: Lot) -> BoolArray:
        """In which worlds a node would have been published in place of the one that was."""
        packed = self.labels(node)
        owner, classes = number_tuples(packed)
        good = self._passing(owner, classes, lot)
        if not self.limit:
            return np.asarray(good.all(axis=1))
        sizes = np.bincount(owner)
        found = ~good @ sizes <= self.limit
        if self.algorithm == "optimal":
            cheaper = self._cheaper(node, NodeClasses(EquivalenceClasses(sizes), _distinct(packed), None))
            found[found] = [cheaper(one) for one in good[found]]
        return np.asarray(found)

    def _passing(self, owner: IntArray, classes: int, lot: Lot) -> BoolArray:
        """Which classes of a node pass, world by world."""
        step = max(_SLOTS // len(owner), 1)
        blocks = [self._block(owner, classes, lot.order[i : i + step]) for i in range(0, len(lot.order), step)]
        return np.concatenate(blocks)

    def _block(self, owner: IntArray, classes: int, order: IntArray) -> BoolArray:
        every, fixed = self.situation.encoded, np.arange(len(self.situation.rows), len(self.rows))
        rows = self.rows[np.hstack([order, np.broadcast_to(fixed, (len(order), len(fixed)))])]
        values = {name: every.sensitive[name].codes[rows].reshape(-1).astype(np.int64) for name in self._columns}
        place = (np.arange(len(order))[:, None] * classes + owner).reshape(-1)
        one = every.individual
        persons = None if one is None else np.tile(one.codes[self.rows].astype(np.int64), len(order))
        return passing(self.situation, place, values, persons).reshape(len(order), classes)

    @property
    def _columns(self) -> tuple[str, ...]:
        return self.situation.columns

    def _before(self, node: Node) -> bool:
        """Whether the algorithm takes a node before the published one, where no row is suppressed."""
        own, mine = self.published, (sum(node), node)
        if node == own:
            return False
        if self.algorithm == "samarati" and sum(node) != sum(own):
            return sum(node) < sum(own)
        loss, known = self._loss(node), self._loss(own)
        return mine < (sum(own), own) if abs(loss - known) <= LOSS_TOLERANCE else loss < known

    def _loss(self, node: Node) -> float:
        if node not in self._losses:
            packed = self.labels(node)
            owner, classes = number_tuples(packed)
            grouped = NodeClasses(EquivalenceClasses(np.bincount(owner)), _distinct(packed), None)
            everything = np.ones(classes, dtype=np.bool_)
            self._losses[node] = self.metric.price(node, grouped, everything, np.zeros(classes)).loss
        return self._losses[node]

    @cached_property
    def _losses(self) -> dict[Node, float]:
        return {}

    def _cheaper(self, node: Node, grouped: NodeClasses) -> Callable[[BoolArray], bool]:
        """Whether a node costs less than the published one, given which of its classes pass."""
        every, requirement = self.situation.encoded, self.situation.requirement
        own = Evaluator(every, requirement, self.metric).evaluate(self.published).loss
        doomed = np.zeros(len(grouped.classes))
        return lambda good: self.metric.price(node, grouped, good, doomed).loss <= own + LOSS_TOLERANCE

    def _open(self, node: Node) -> bool:
        """Whether few enough rows stand in classes that are too small."""
        sizes = np.bincount(number_tuples(self.labels(node))[0])
        return int(sizes[sizes < self.situation.requirement.least].sum()) <= self.limit


def cells_of(nodes: Nodes, finer: list[Node]) -> Cells:
    """Rows of a class that no node tells apart."""
    known = len(nodes.situation.rows)
    return cells_by(nodes.situation, [number_tuples(nodes.labels(node))[0][:known] for node in finer])


def _distinct(packed: PackedTuples) -> PackedTuples:
    return PackedTuples(np.unique(packed.keys), packed.span, packed.stages)
