"""The optimal node: that of least loss, exactly, for any metric and any model, monotone or not.

Branch and bound over the lattice. Every node has a floor under its loss, infinite once the node is settled. Small
subsets of the attributes first rule out what they can, as in Incognito; where no row may be suppressed, single classes
that are too small rule out nodes all over the lattice instead (`Witnesses`). The search takes the open node with the
lowest floor, climbs a chain of nodes from it to the top, always to the node with the most open nodes below it, and
bisects the chain: a node that is not viable settles everything below it at once, the more the higher it is; one that
passes may be the best so far. The search ends when no floor is below the best loss. Nothing is assumed of a model but
its own `doomed` bound, so the result equals that of exhaustive search; models differ only in how much work is saved.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.deadline import is_over
from sfumato.encode import EncodedTable
from sfumato.recode.evaluation import Evaluation, Evaluator
from sfumato.recode.incognito import search_subsets, viable_without_attributes
from sfumato.recode.lattice import Lattice, Node, add_specializations, generalizations, specializations
from sfumato.recode.metrics import LOSS_TOLERANCE
from sfumato.recode.recoding import Progress

_LARGEST_SUBSET = 3
"""Subsets of attributes up to this size are searched first, for what they rule out."""

_MOST_WITNESSES = 20
"""At most so many classes that are too small are followed through the lattice; later ones rule out little more."""

_MOST_ABOVE = 300
"""So many nodes above one that fails are looked at, by what is known of it."""

_LOOKS_BY_COUNT = 20
"""So many nodes are looked at before it is counted again how many are open below each."""

_BLOCK = 1 << 16


def optimal(evaluator: Evaluator, progress: Progress | None = None) -> Evaluation | None:
    """Find the passing node of least loss, or nothing where none passes.

    Ties go to the lower node, then to the first in order of levels. When its time is over, the best so far is given.
    """
    requirement, search = evaluator.requirement, _BranchAndBound(evaluator)
    search.learn(evaluator.evaluate(evaluator.lattice.top))
    if requirement.limit and requirement.linked > 1:
        # Nothing is pruned on linked persons where rows may be suppressed: begin with a good node.
        strict = optimal(evaluator.without_suppression(), progress)
        if strict is not None:
            search.learn(evaluator.evaluate(strict.node))
    if requirement.limit and evaluator.cheap_subsets:  # without a limit, witnesses are cheaper
        search.floor[~left_by_subsets(evaluator, _LARGEST_SUBSET, progress)] = np.inf
    while not is_over(progress) and (node := search.next_node()) is not None:
        search.bisect(search.chain_to_top(node))
        if search.may_improve(node):  # where failing rules out nothing below, the node itself is still open
            search.learn(evaluator.evaluate(node))
        if progress:
            settled = np.isinf(search.floor) if search.best is None else search.floor > search.best.loss
            progress(int(settled.sum()), search.floor.size)
    return search.best


def optimal_from_above(evaluator: Evaluator, progress: Progress | None = None) -> Evaluation | None:
    """Find the same node as `optimal` by looking at general nodes before special ones, for those who count in secret.

    Where every look at a node tells its counts to others, a node that fails badly tells most. So a node is looked at
    only where it would be better than the best so far and all nodes above it that would be are settled. The search
    first goes down from the top, always to the cheapest child that passes. Then it takes the open node with most open
    nodes below it, which is one of the highest: a node that fails settles all of these at once, and one that passes is
    the best so far where no row is suppressed. Counts of a node tell those of every node above it, so a node that fails
    settles what is below the nodes above it that fail as well. Nothing is counted for subsets of the attributes, and no
    class followed.
    """
    search, lattice = _BranchAndBound(evaluator, follow=False), evaluator.lattice
    search.learn(evaluator.evaluate(lattice.top))
    here = lattice.top
    while True:  # down from a node to its cheapest child that passes, as long as there is one
        children = [(*here[:i], level - 1, *here[i + 1 :]) for i, level in enumerate(here) if level]
        for child in sorted(children, key=lambda node: (search.initial_floor[node], node)):
            if search.may_improve(child):
                search.look_from_above(child)
                if search.passing[child]:
                    here = child
                    break
        else:
            break
    while (node := search.next_node()) is not None:
        open_below = search.count_open()
        if left := int(open_below[lattice.top]):  # otherwise what is left ties with the best
            open_below[search.floor >= search.loss_to_beat] = 0
            node = tuple(int(level) for level in np.unravel_index(int(np.argmax(open_below)), open_below.shape))
        search.look_from_above(node)
        if progress:
            progress(search.floor.size - left, search.floor.size)
    return search.best


class _BranchAndBound:
    """What is known of all nodes: arrays in the shape of the lattice, and the best node so far.

    `initial_floor` is the metric's floor under the loss of each node; `floor` is raised by what evaluations tell, and
    infinite where a node is settled. `passing` marks nodes that are known to pass. `follow` says whether classes that
    are too small are followed through the lattice.
    """

    def __init__(self, evaluator: Evaluator, *, follow: bool = True) -> None:
        self.evaluator = evaluator
        self.initial_floor = evaluator.metric.floor()
        self.floor = self.initial_floor.copy()
        self.passing = np.zeros(self.floor.shape, dtype=np.bool_)
        self.best: Evaluation | None = None
        self.witnesses_left = _MOST_WITNESSES if follow else 0
        self.open_below: NDArray[np.int32] | None = None  # as it was when chains were last laid by it
        self.looks = 0

    @cached_property
    def witnesses(self) -> "Witnesses":
        """What follows a class that is too small through the lattice."""
        return Witnesses(self.evaluator.encoded, self.evaluator.lattice, self.evaluator.requirement.least)

    def learn(self, evaluation: Evaluation) -> None:
        """Note what evaluating a node tells of it and of others: two slices of each array, below and above the node."""
        self.looks += 1
        node, requirement = evaluation.node, self.evaluator.requirement
        below, above = specializations(node), generalizations(node)
        if evaluation.viable:
            np.maximum(self.floor[below], self.initial_floor[below] + evaluation.added_below, out=self.floor[below])
        else:
            self.floor[below] = np.inf
            if evaluation.undersized is not None and self.witnesses_left:
                self.witnesses_left -= 1
                self.floor[self.witnesses.rule_out(node, evaluation.undersized)] = np.inf
        np.maximum(self.floor[above], evaluation.floor_above, out=self.floor[above])
        self.floor[node] = np.inf
        if evaluation.passes:
            # Where no row may be suppressed and pruning is exact, all nodes above pass as well, suppressing none.
            closed_upwards = requirement.exact and not requirement.limit
            self.passing[above if closed_upwards else node] = True
            if self.best is None or self._precedes_best(evaluation.loss, node):
                self.best = evaluation

    def look_from_above(self, node: Node) -> None:
        """Evaluate a node; where it is out, settle what is below the highest nodes above it that are known to be."""
        evaluation = self.evaluator.evaluate(node)
        self.learn(evaluation)
        if evaluation.viable:
            return
        fails, reached, open_below = {node: True}, [node], self.count_open()
        while reached and len(fails) < _MOST_ABOVE:
            below = reached.pop()
            above = [parent for parent in self.evaluator.lattice.parents(below) if open_below[parent]]
            for parent in above:
                if parent not in fails:
                    fails[parent] = self.evaluator.known_to_fail(parent)
                    reached += [parent] if fails[parent] else []
            if not any(fails[parent] for parent in above):
                self.floor[specializations(below)] = np.inf
                open_below = self.count_open()

    @property
    def loss_to_beat(self) -> float:
        """The loss of the best node, less what makes no difference."""
        return np.inf if self.best is None else self.best.loss - LOSS_TOLERANCE

    def count_open(self) -> NDArray[np.int32]:
        """Count for each node those of it and its specializations that would be better than the best, by their floor.

        int32[lattice]; a lattice has fewer nodes than that, `LARGEST`. What merely ties with the best is not counted.
        """
        open_below = (self.floor < self.loss_to_beat).astype(np.int32)
        add_specializations(open_below)
        return open_below

    def may_improve(self, node: Node) -> bool:
        """Tell whether a node could still be better than the best, by its floor."""
        return self._precedes_best(float(self.floor[node]), node)

    def _precedes_best(self, loss: float, node: Node) -> bool:
        """Tell whether a node with this loss is better than the best: less loss, then lower, then first by levels."""
        if self.best is None:
            return bool(loss < np.inf)
        if abs(loss - self.best.loss) > LOSS_TOLERANCE:
            return bool(loss < self.best.loss)
        return (sum(node), node) < (sum(self.best.node), self.best.node)

    def next_node(self) -> Node | None:
        """Choose the open node with the lowest floor; nothing where no node could be better than the best."""
        node = tuple(int(level) for level in np.unravel_index(int(np.argmin(self.floor)), self.floor.shape))
        if self.may_improve(node):
            return node
        if self.best is None or self.floor[node] > self.best.loss + LOSS_TOLERANCE:
            return None
        # The lowest floor ties with the best and comes after it; another one that ties may come before it.
        tied = self.evaluator.lattice.nodes(self.floor <= self.best.loss + LOSS_TOLERANCE)
        return next((node for node in tied if self.may_improve(node)), None)

    def chain_to_top(self, node: Node) -> list[Node]:
        """Climb from a node to the top, always by the step below which most nodes are open, then by the cheapest.

        Without suppression witnesses rule nodes out all over the lattice, and the cheapest step alone is better.
        """
        if self.open_below is None or (self.evaluator.requirement.limit and self.looks >= _LOOKS_BY_COUNT):
            # Counting takes as long as a few looks, so that later chains go by a count that is a little out of date.
            self.open_below = np.zeros(self.floor.shape, dtype=np.int32)  # a lattice has fewer nodes, `LARGEST`
            if self.evaluator.requirement.limit:
                best_loss = np.finfo(np.float64).max if self.best is None else self.best.loss
                self.open_below[self.floor <= best_loss] = 1
                add_specializations(self.open_below)
            self.looks = 0
        open_below, chain = self.open_below, [node]
        while steps := list(self.evaluator.lattice.parents(chain[-1])):
            chain.append(min(steps, key=lambda step: (-open_below[step], self.initial_floor[step], step)))
        return chain

    def bisect(self, chain: list[Node]) -> None:
        """Find where a chain begins to pass, learning from each look; what is known is not looked at again."""
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            node = chain[middle]
            if not np.isinf(self.floor[node]) and (not self.passing[node] or self.may_improve(node)):
                self.learn(self.evaluator.evaluate(node))
            low, high = (low, middle - 1) if self.passing[node] else (middle + 1, high)


def left_by_subsets(evaluator: Evaluator, largest: int, progress: Progress | None = None) -> BoolArray:
    """Mark the nodes over all attributes that no subset of up to `largest` attributes rules out.

    Stops early where subsets of a size rule out nothing. The frequency sets of small subsets are small, and what they
    rule out need never be counted in full. When the time is over, what was ruled out so far is.
    """
    left = np.ones(evaluator.lattice.shape, dtype=np.bool_)
    viable = viable_without_attributes()
    for size in range(1, min(largest, left.ndim - 1) + 1):
        before = int(left.sum())
        viable = dict(search_subsets(evaluator, size, viable, progress))
        for subset, nodes in viable.items():
            left &= nodes.reshape([levels if i in subset else 1 for i, levels in enumerate(left.shape)])
        if is_over(progress) or (size > 1 and left.sum() == before):
            break
    return left


class Witnesses:
    """Rules out all nodes at which the class of one tuple, the witness, is too small.

    Where no row may be suppressed, a node is out as soon as one class is smaller than any class that passes. The size
    of one tuple's class at *every* node follows from a single pass over the tuples: each tuple is in the class at the
    nodes above the levels at which the two first agree. So counting tuples by those levels, and adding up along each
    axis of the lattice, gives all sizes at once.
    """

    def __init__(self, encoded: EncodedTable, lattice: Lattice, least: int) -> None:
        self.tuples, self.lattice, self.least = encoded.tuples, lattice, least
        self.matrices = [attribute.hierarchy.matrix for attribute in encoded.quasi]

    def rule_out(self, node: Node, labels: tuple[int, ...]) -> BoolArray:
        """Mark the nodes at which some tuple's class is too small; the tuple has these labels at this node."""
        members: IntArray | None = None
        for matrix, codes, level, label in zip(self.matrices, self.tuples.quasi, node, labels, strict=True):
            covered = matrix[:, level] == label
            members = np.flatnonzero(covered[codes]) if members is None else members[covered[codes[members]]]
        assert members is not None  # noqa: S101 - there is at least one quasi-identifier; this tells the type checker
        return self.sizes(int(members[0])) < self.least

    def sizes(self, witness: int) -> IntArray:
        """Count the rows of one tuple's class at every node; the result has the shape of the lattice.

        `steps` has for each attribute an int[values]: the first level at which a value agrees with the witness, times
        the attribute's stride in the flattened lattice. So the sum of a tuple's steps is the flat number of the lowest
        node at which the tuple is in the witness's class.
        """
        strides = np.cumprod((1, *self.lattice.shape[:0:-1]))[::-1]
        steps = [
            (matrix == matrix[codes[witness]]).argmax(axis=1) * stride
            for matrix, codes, stride in zip(self.matrices, self.tuples.quasi, strides, strict=True)
        ]
        joining = np.zeros(self.lattice.size)  # rows of the tuples that join the class at each node
        for start in range(0, len(self.tuples), _BLOCK):  # a block stays in the processor's cache
            part = slice(start, start + _BLOCK)
            lowest = sum(step.take(codes[part]) for step, codes in zip(steps, self.tuples.quasi, strict=True))
            joining += np.bincount(lowest, weights=self.tuples.counts[part], minlength=len(joining))
        sizes = joining.reshape(self.lattice.shape)
        add_specializations(sizes)
        return sizes.astype(np.int64)
