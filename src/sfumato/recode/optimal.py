"""Optimal: the node of least loss, exactly, for any metric and any model, monotone or not.

Every node has a floor under its loss. Small subsets of the attributes first rule out what they can, as in Incognito.
Then the search takes the node with the lowest floor, climbs a chain from it as far as floors stay below the best loss
known, and bisects the chain: a node near the top of it that is not viable settles everything below it at once, one
that passes lowers the best. It ends when no floor is below the best. Nothing is assumed of a model but its own
`doomed` bound, so the result equals exhaustive search; models differ only in how much work is saved.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.recode.evaluate import Evaluation, Evaluator, Progress
from sfumato.recode.lattice import Lattice, Node, generalizations, specializations
from sfumato.recode.subsets import survivors

_SUBSETS = 3
"""Subsets of attributes up to this size are searched first, for what they rule out."""

_SAME = 1e-12
"""Losses closer than this are a tie, broken by height and then by levels."""


@dataclass
class _State:
    """Floors of all nodes (infinite where settled) and the best node so far."""

    lattice: Lattice
    start: np.ndarray
    floor: np.ndarray
    best: Evaluation | None = None

    def learn(self, found: Evaluation) -> None:
        """Note what evaluating a node tells of it and of others."""
        below, above = specializations(found.node), generalizations(found.node)
        if not found.viable:
            self.floor[below] = np.inf
        else:
            np.maximum(self.floor[below], self.start[below] + found.below, out=self.floor[below])
        np.maximum(self.floor[above], found.above, out=self.floor[above])
        self.floor[found.node] = np.inf
        if found.passes and self.improves(found):
            self.best = found

    def improves(self, found: Evaluation) -> bool:
        """Whether a node is better than the best: less loss, then lower, then first in order of levels."""
        return self.best is None or self.may_beat(found.loss, found.node)

    def may_beat(self, floor: float, node: Node) -> bool:
        """Whether a node with this floor could still be better than the best."""
        if self.best is None:
            return bool(floor < np.inf)
        best = self.best.loss
        if abs(floor - best) > _SAME:
            return bool(floor < best)
        return (sum(node), node) < (sum(self.best.node), self.best.node)


def optimal(evaluator: Evaluator, progress: Progress | None = None) -> Evaluation | None:
    """The passing node of least loss, or nothing where none passes."""
    start = evaluator.metric.floor()
    state = _State(evaluator.lattice, start, start.copy())
    state.learn(evaluator.evaluate(evaluator.lattice.top))
    state.floor[~survivors(evaluator, _SUBSETS)] = np.inf
    while (node := _lowest(state)) is not None:
        _bisect(evaluator, state, _chain(state, node))
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
    if state.best is None or state.floor[node] > state.best.loss + _SAME:
        return None
    return _tied(state)


def _tied(state: _State) -> Node | None:
    """An open node whose floor ties with the best and that comes before it."""
    assert state.best is not None  # noqa: S101 - the only caller has looked; this tells the type checker
    near = state.lattice.nodes(state.floor <= state.best.loss + _SAME)
    return next((node for node in near if state.may_beat(float(state.floor[node]), node)), None)


def _chain(state: _State, node: Node) -> list[Node]:
    """From a node upwards by the cheapest step, as long as it could be better than the best."""
    chain = [node]
    while True:
        steps = [step for step in state.lattice.parents(chain[-1]) if state.may_beat(_floor(state, step), step)]
        if not steps:
            return chain
        chain.append(min(steps, key=lambda step: (_floor(state, step), step)))


def _bisect(evaluator: Evaluator, state: _State, chain: list[Node]) -> None:
    """Find where the chain begins to pass, learning from each look."""
    low, high = 0, len(chain) - 1
    while low <= high:
        middle = (low + high) // 2
        found = evaluator.evaluate(chain[middle])
        state.learn(found)
        low, high = (low, middle - 1) if found.passes else (middle + 1, high)


def _floor(state: _State, node: Node) -> float:
    return float(state.floor[node])
