"""Samarati's algorithm: the lowest height at which some node passes, found by binary search (Samarati 2001).

Binary search on the height is right only if passing nodes are closed upwards. Where suppression or the model breaks
that, heights are searched from below instead, which is always right.
"""

import numpy as np

from sfumato.core.deadline import is_over
from sfumato.recode.evaluation import Evaluation, Evaluator
from sfumato.recode.lattice import Node, specializations
from sfumato.recode.recoding import Progress


def samarati(evaluator: Evaluator, progress: Progress | None = None) -> list[Evaluation]:
    """Find all passing nodes of the lowest height at which any passes; none where no node passes at all.

    When its time is over, those that were found of the lowest height so far at which one passes.
    """
    heights = _Heights(evaluator)
    top = sum(evaluator.lattice.top)
    search = _bisect_heights if evaluator.requirement.exact else _climb_heights
    lowest = search(heights, top, progress)
    if lowest is None:
        return []
    passing = list[Evaluation]()
    for node in heights.nodes(lowest):
        if (node in heights.evaluations or not is_over(progress)) and (evaluation := heights.evaluate(node)).passes:
            passing.append(evaluation)
    return passing


class _Heights:
    """Nodes by height, without those that are known to be out."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.ruled_out = np.zeros(evaluator.lattice.shape, dtype=np.bool_)
        self.evaluations: dict[Node, Evaluation] = {}

    def nodes(self, height: int) -> list[Node]:
        """List the nodes of a height that may pass."""
        return self.evaluator.lattice.nodes((self.evaluator.lattice.height == height) & ~self.ruled_out)

    def evaluate(self, node: Node) -> Evaluation:
        """Evaluate a node once, and rule out what lies below it if it is not viable."""
        if node not in self.evaluations:
            self.evaluations[node] = self.evaluator.evaluate(node)
            if not self.evaluations[node].viable:
                self.ruled_out[specializations(node)] = True
        return self.evaluations[node]

    def any_passes(self, height: int, progress: Progress | None = None) -> bool:
        """Tell whether some node of a height passes; stops at the first, or when the time is over."""
        return any(not is_over(progress) and self.evaluate(node).passes for node in self.nodes(height))


def _bisect_heights(heights: _Heights, top: int, progress: Progress | None) -> int | None:
    if not heights.any_passes(top):
        return None
    low, high = 0, top
    while low < high:
        middle = (low + high) // 2
        if heights.any_passes(middle, progress):
            high = middle
        elif is_over(progress):
            return high
        else:
            low = middle + 1
        if progress:
            progress(top - (high - low), top)
    return low


def _climb_heights(heights: _Heights, top: int, progress: Progress | None) -> int | None:
    for height in range(top + 1):
        if heights.any_passes(height, progress):
            return height
        if is_over(progress):
            return None
        if progress:
            progress(height, top)
    return None
