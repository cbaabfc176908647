"""Alternatives to a full-domain generalization: other nodes that would have been published, had they passed.

Classes of a node pass or fail together, so worlds are those of the whole table. Of a small table all worlds are looked
at, and all nodes that the algorithm prefers to the published one: then the posterior is that of somebody who runs the
algorithm on every table that there could have been. Where rows may be suppressed, worlds are sampled and the nodes
right below are looked at, with the suppressed rows taken as known.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from sfumato.attack.minimality.adversary_knowledge import AdversaryKnowledge, RowCells
from sfumato.attack.minimality.minimality_result import MinimalityCoverage
from sfumato.attack.minimality.possible_worlds import (
    TableWorlds,
    WorldLimits,
    list_table_worlds,
    sample_table_worlds,
)
from sfumato.attack.minimality.posterior import Evidence, WorldWeights
from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import PackedTuples, number_tuples, pack_tuples
from sfumato.policy import Policy
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.frequency_sets import NodeClasses
from sfumato.recode.lattice import Lattice, Node, minimal
from sfumato.recode.metrics import LOSS_TOLERANCE, METRICS

_SLOTS_OF_BLOCK = 1 << 20
"""Rows of worlds that are judged at a time."""


def evidence_from_nodes(
    knowledge: AdversaryKnowledge, policy: Policy, limits: WorldLimits, coverage: MinimalityCoverage
) -> tuple[Evidence | None, MinimalityCoverage]:
    """Find the worlds of the table in which no other node would have been published.

    Returns no evidence where every other node fails whoever has what.

    fits:    bool[w], the worlds of the table that are left
    labels:  int[n] for each node, the class of each row there; rows of a published class that no node tells apart are
             a cell
    """
    lattice, classes = _NodeAlternatives(knowledge, policy), knowledge.classes
    counted = not lattice.limit
    nodes = lattice.preferred() if counted else lattice.below()
    if not nodes:
        return None, coverage
    table_worlds = list_table_worlds(knowledge) if counted else sample_table_worlds(knowledge, limits)
    fits = ~np.any([lattice.beats_published(node, table_worlds) for node in nodes], axis=0)
    truth = TableWorlds(np.arange(len(knowledge.rows))[None, :], complete=False)
    truth_possible = not any(lattice.beats_published(node, truth)[0] for node in nodes)
    labels = [number_tuples(lattice.labels(node))[0][: len(knowledge.rows)] for node in nodes]
    cells = RowCells.from_labels(knowledge, labels)
    worlds = table_worlds.by_class(knowledge, cells)
    weights = WorldWeights.from_weights(np.repeat(fits.astype(np.float64), classes), worlds.class_of, classes)
    enough = weights.suffices(worlds)
    informative = weights.informative & enough
    coverage = replace(
        coverage,
        open=classes,
        telling=int(informative.sum()),
        counted=classes if counted else 0,
        drawn=0 if counted else classes,
        worlds=len(fits),
        fitting=float(fits.mean()),
        unfit=int((~enough).sum()),
        misled=0 if truth_possible else classes,
    )
    return Evidence(knowledge, cells, worlds, weights, informative, np.full(classes, truth_possible)), coverage


class _NodeAlternatives:
    """The lattice that a full-domain release was found in, and the node that was published."""

    def __init__(self, knowledge: AdversaryKnowledge, policy: Policy) -> None:
        self.knowledge, self.algorithm = knowledge, knowledge.recoding.algorithm
        levels = knowledge.recoding.levels or {}
        self.published: Node = tuple(levels[quasi.name] for quasi in knowledge.quasi)
        self.lattice = Lattice(tuple(quasi.hierarchy.height for quasi in knowledge.quasi))
        self.metric = METRICS[policy.search.metric](knowledge.encoded)
        self.limit = knowledge.requirement.limit
        self._losses: dict[Node, float] = {}

    @cached_property
    def rows(self) -> IntArray:
        """All rows of the table: the published ones in their order, then the suppressed ones."""
        encoded = self.knowledge.encoded
        suppressed: BoolArray = np.ones(encoded.lines, dtype=np.bool_)
        suppressed[self.knowledge.rows] = False
        rows = np.flatnonzero(suppressed)
        if encoded.counts is not None:
            rows = np.repeat(rows, encoded.counts.take(rows))
        return np.concatenate([self.knowledge.rows, rows])

    def labels(self, node: Node) -> PackedTuples:
        """Pack the labels of all rows at a node."""
        pairs = list(zip(self.knowledge.quasi, node, strict=True))
        columns = [quasi.hierarchy.matrix[:, level].take(quasi.column.codes[self.rows]) for quasi, level in pairs]
        return pack_tuples(columns, [len(quasi.hierarchy.labels[level]) for quasi, level in pairs])

    def below(self) -> list[Node]:
        """List the nodes one level lower in one column that may pass, depending on who has what."""
        node = self.published
        lower = [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level]
        return [below for below in lower if self._may_pass(below)]

    def preferred(self) -> list[Node]:
        """List the nodes that the algorithm takes before the published one if they pass, and that may pass.

        Where models are monotone the highest of them are enough: if one below them passes, so do they.
        """
        marked = np.zeros(self.lattice.shape, dtype=np.bool_)
        for node in np.ndindex(*self.lattice.shape):
            marked[node] = self._precedes_published(node)
        if all(model.monotone for model in self.knowledge.requirement.models):
            upside_down = tuple(slice(None, None, -1) for _ in self.lattice.shape)
            marked = minimal(marked[upside_down])[upside_down]  # the maximal ones
        return [node for node in self.lattice.nodes(marked) if self._may_pass(node)]

    def _precedes_published(self, node: Node) -> bool:
        """Tell whether the algorithm takes a node before the published one, where no row is suppressed."""
        published = self.published
        if node == published:
            return False
        if self.algorithm == "samarati" and sum(node) != sum(published):
            return sum(node) < sum(published)
        loss, published_loss = self._loss(node), self._loss(published)
        if abs(loss - published_loss) <= LOSS_TOLERANCE:
            return (sum(node), node) < (sum(published), published)
        return loss < published_loss

    def _loss(self, node: Node) -> float:
        """Price a node, all of whose classes pass."""
        if node not in self._losses:
            packed = self.labels(node)
            class_of, classes = number_tuples(packed)
            grouped = NodeClasses(EquivalenceClasses(np.bincount(class_of)), _distinct(packed), None)
            every_class = np.ones(classes, dtype=np.bool_)
            self._losses[node] = self.metric.price(node, grouped, every_class, np.zeros(classes)).loss
        return self._losses[node]

    def _may_pass(self, node: Node) -> bool:
        """Tell whether few enough rows are in classes that are too small, whoever has what."""
        sizes = np.bincount(number_tuples(self.labels(node))[0])
        return int(sizes[sizes < self.knowledge.requirement.least].sum()) <= self.limit

    def beats_published(self, node: Node, worlds: TableWorlds) -> BoolArray:
        """Tell in which worlds a node would have been published in place of the one that was: bool[w]."""
        packed = self.labels(node)
        class_of, classes = number_tuples(packed)
        passes = self._passing_classes(class_of, classes, worlds)
        if not self.limit:
            return np.asarray(passes.all(axis=1))
        sizes = np.bincount(class_of)
        beats = ~passes @ sizes <= self.limit
        if self.algorithm == "optimal":  # it has to cost less as well
            grouped, doomed = NodeClasses(EquivalenceClasses(sizes), _distinct(packed), None), np.zeros(len(sizes))
            beats[beats] = [
                self.metric.price(node, grouped, good, doomed).loss <= self._published_loss + LOSS_TOLERANCE
                for good in passes[beats]
            ]
        return np.asarray(beats)

    @cached_property
    def _published_loss(self) -> float:
        """The loss of the published node, with the rows that it suppresses."""
        evaluator = Evaluator(self.knowledge.encoded, self.knowledge.requirement, self.metric)
        return evaluator.evaluate(self.published).loss

    def _passing_classes(self, class_of: IntArray, classes: int, worlds: TableWorlds) -> BoolArray:
        """Tell which classes of a node pass in each world: bool[w, g].

        class_of:  int[n], the class at the node of each row of the table, suppressed rows included
        rows:      int[b, n], for a block of b worlds the rows whose values the rows have; suppressed rows keep theirs
        """
        encoded, published = self.knowledge.encoded, len(self.knowledge.rows)
        suppressed, step = np.arange(published, len(self.rows)), max(_SLOTS_OF_BLOCK // len(class_of), 1)
        blocks = []
        for start in range(0, len(worlds.order), step):
            order = worlds.order[start : start + step]
            size = len(order)
            rows = self.rows[np.hstack([order, np.broadcast_to(suppressed, (size, len(suppressed)))])]
            values = {
                name: encoded.sensitive[name].codes[rows].reshape(-1).astype(np.int64)
                for name in self.knowledge.columns
            }
            persons = None
            if encoded.individual is not None:
                persons = np.tile(encoded.individual.codes[self.rows].astype(np.int64), size)
            class_in_world = (np.arange(size)[:, None] * classes + class_of).reshape(-1)
            passes = self.knowledge.passing_classes(class_in_world, values, persons)
            blocks.append(passes.reshape(size, classes))
        return np.concatenate(blocks)


def _distinct(packed: PackedTuples) -> PackedTuples:
    return PackedTuples(np.unique(packed.keys), packed.span, packed.stages)
