"""Samarati: the lowest height at which some node passes, by binary search; all such nodes, and the best.

Binary search on the height is right only if passing nodes are closed upwards. Where suppression or the
model breaks that, heights are searched from below instead, which is always right.
"""

import numpy as np

from sfumato.recode.evaluate import Evaluation, Evaluator, Progress
from sfumato.recode.lattice import Node, specializations


class _Heights:
    """Nodes by height, with those that are known to be out left out."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.out = np.zeros(evaluator.lattice.shape, dtype=np.bool_)
        self.known: dict[Node, Evaluation] = {}

    def at(self, height: int) -> list[Node]:
        """Nodes of this height that may pass."""
        return self.evaluator.lattice.nodes((self.evaluator.lattice.height == height) & ~self.out)

    def evaluate(self, node: Node) -> Evaluation:
        """Evaluate once, and rule out what lies below a node that is not viable."""
        if node not in self.known:
            self.known[node] = self.evaluator.evaluate(node)
            if not self.known[node].viable:
                self.out[specializations(node)] = True
        return self.known[node]

    def any_passes(self, height: int) -> bool:
        """Whether some node of this height passes; stops at the first."""
        return any(self.evaluate(node).passes for node in self.at(height))


def samarati(evaluator: Evaluator, progress: Progress | None = None) -> list[Evaluation]:
    """All passing nodes of the lowest height at which any passes; nothing where none does at all."""
    heights = _Heights(evaluator)
    top = sum(evaluator.lattice.top)
    lowest = _bisected(heights, top, progress) if evaluator.requirement.exact else _climbed(heights, top, progress)
    if lowest is None:
        return []
    return [found for node in heights.at(lowest) if (found := heights.evaluate(node)).passes]


def _bisected(heights: _Heights, top: int, progress: Progress | None) -> int | None:
    if not heights.any_passes(top):
        return None
    low, high = 0, top
    while low < high:
        middle = (low + high) // 2
        if heights.any_passes(middle):
            high = middle
        else:
            low = middle + 1
        if progress:
            progress(top - (high - low), top)
    return low


def _climbed(heights: _Heights, top: int, progress: Progress | None) -> int | None:
    for height in range(top + 1):
        if heights.any_passes(height):
            return height
        if progress:
            progress(height, top)
    return None
