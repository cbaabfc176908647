"""Optimal: the node of least loss, exactly, for any metric and any model, monotone or not.

Every node has a floor under its loss. Small subsets of the attributes first rule out what they can, as in Incognito;
where no row may be suppressed, classes that turn out too small do so on the way, as witnesses. The search takes the
node with the lowest floor and climbs a chain from it to the top, always to the node with the most open nodes below it,
and bisects the chain: a node that is not viable settles everything below it at once, the more the higher it is; one
that passes may lower the best. It ends when no floor is below the best. Nothing is assumed of a model but its own
`doomed` bound, so the result equals exhaustive search; models differ only in how much work is saved.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.recode.evaluate import Evaluation, Evaluator, Progress
from sfumato.recode.lattice import Node, generalizations, specializations
from sfumato.recode.subsets import survivors
from sfumato.recode.witness import Witnesses

_SUBSETS = 3
"""Subsets of attributes up to this size are searched first, for what they rule out."""

_FEW = 200_000
"""With more tuples than this, counting them for every subset costs more than it saves."""

_WITNESSES = 20
"""So many classes are asked, at the most; later ones tell little that is new."""

SAME = 1e-12
"""Losses closer than this are a tie, broken by height and then by levels."""


@dataclass
class _State:
    """Floors of all nodes (infinite where settled), nodes known to pass, and the best node so far."""

    evaluator: Evaluator
    start: FloatArray
    floor: FloatArray
    passing: BoolArray
    best: Evaluation | None = None
    witnesses: int = _WITNESSES

    @classmethod
    def of(cls, evaluator: Evaluator) -> "_State":
        """Before anything is known."""
        start = evaluator.metric.floor()
        return cls(evaluator, start, start.copy(), np.zeros(start.shape, dtype=np.bool_))

    @cached_property
    def witness(self) -> Witnesses:
        """What turns a class that is too small into nodes that are out."""
        requirement, lattice = self.evaluator.requirement, self.evaluator.lattice
        return Witnesses(self.evaluator.encoded, lattice, requirement.least)

    def learn(self, found: Evaluation) -> None:
        """Note what evaluating a node tells of it and of others."""
        below, above = specializations(found.node), generalizations(found.node)
        if not found.viable:
            self.floor[below] = np.inf
            self._hear(found)
        else:
            np.maximum(self.floor[below], self.start[below] + found.below, out=self.floor[below])
        np.maximum(self.floor[above], found.above, out=self.floor[above])
        self.floor[found.node] = np.inf
        if found.passes:
            self.passing[above if self._closed else found.node] = True
            self.best = found if self.improves(found) else self.best

    @property
    def _closed(self) -> bool:
        """Whether nothing can be learned above a node that passes: all pass there, and no row goes at any of them."""
        return self.evaluator.requirement.exact and not self.evaluator.requirement.limit

    def _hear(self, found: Evaluation) -> None:
        """Ask the smallest class of a node that is out which other nodes it rules out."""
        if found.smallest is not None and self.witnesses:
            self.witnesses -= 1
            self.floor[self.witness.rule_out(found.node, found.smallest)] = np.inf

    def improves(self, found: Evaluation) -> bool:
        """Whether a node is better than the best: less loss, then lower, then first in order of levels."""
        return self.best is None or self.may_beat(found.loss, found.node)

    def may_beat(self, floor: float, node: Node) -> bool:
        """Whether a node with this floor could still be better than the best."""
        if self.best is None:
            return bool(floor < np.inf)
        best = self.best.loss
        if abs(floor - best) > SAME:
            return bool(floor < best)
        return (sum(node), node) < (sum(self.best.node), self.best.node)


def optimal(evaluator: Evaluator, progress: Progress | None = None) -> Evaluation | None:
    """The passing node of least loss, or nothing where none passes."""
    state = _State.of(evaluator)
    state.learn(evaluator.evaluate(evaluator.lattice.top))
    if evaluator.requirement.limit and evaluator.requirement.linked > 1:  # nothing is pruned on links where rows may go
        first = optimal(evaluator.without_suppression())
        if first is not None:
            state.learn(evaluator.evaluate(first.node))
    if evaluator.requirement.limit and len(evaluator.encoded.tuples) <= _FEW:  # without it, witnesses are cheaper
        state.floor[~survivors(evaluator, _SUBSETS)] = np.inf
    while (node := _lowest(state)) is not None:
        _bisect(state, _chain(state, node))
        if _may_beat(state, node):  # where failing says nothing of what lies below, the node itself is still open
            state.learn(evaluator.evaluate(node))
        if progress:
            settled = np.isinf(state.floor) if state.best is None else state.floor > state.best.loss
            progress(int(settled.sum()), state.floor.size)
    return state.best


def _lowest(state: _State) -> Node | None:
    """The open node with the lowest floor, if it could be better than the best."""
    flat = int(np.argmin(state.floor))
    node = tuple(int(level) for level in np.unravel_index(flat, state.floor.shape))
    if state.may_beat(float(state.floor[node]), node):
        return node
    if state.best is None or state.floor[node] > state.best.loss + SAME:
        return None
    return _tied(state)


def _tied(state: _State) -> Node | None:
    """An open node whose floor ties with the best and that comes before it."""
    assert state.best is not None  # noqa: S101 - the only caller has looked; this tells the type checker
    near = state.evaluator.lattice.nodes(state.floor <= state.best.loss + SAME)
    return next((node for node in near if state.may_beat(float(state.floor[node]), node)), None)


def _chain(state: _State, node: Node) -> list[Node]:
    """From a node to the top, always by the step below which most nodes are open, then by the cheapest.

    Without suppression, witnesses rule nodes out all over the lattice; then the cheapest step alone is better.
    """
    covered = np.zeros(state.floor.shape, dtype=np.int64)
    if state.evaluator.requirement.limit:
        covered = _open(state).astype(np.int64)
        for axis in range(covered.ndim):
            covered = covered.cumsum(axis=axis)  # so that each node counts the open ones below it
    chain = [node]
    while steps := list(state.evaluator.lattice.parents(chain[-1])):
        chain.append(min(steps, key=lambda step: (-covered[step], state.start[step], step)))
    return chain


def _open(state: _State) -> BoolArray:
    """Nodes that are not settled and whose floor is not above the best."""
    return state.floor <= (np.finfo(np.float64).max if state.best is None else state.best.loss)


def _bisect(state: _State, chain: list[Node]) -> None:
    """Find where the chain begins to pass, learning from each look; what is known is not looked at again."""
    low, high = 0, len(chain) - 1
    while low <= high:
        middle = (low + high) // 2
        node = chain[middle]
        if not np.isinf(state.floor[node]) and not (state.passing[node] and not _may_beat(state, node)):
            state.learn(state.evaluator.evaluate(node))
        low, high = (low, middle - 1) if state.passing[node] else (middle + 1, high)


def _may_beat(state: _State, node: Node) -> bool:
    return state.may_beat(float(state.floor[node]), node)
