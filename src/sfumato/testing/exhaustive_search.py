"""Exhaustive search over all full-domain generalizations, counted with dicts: slow, plain and sure.

Losses are summed cell by cell; a suppressed row has lost all that it had.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.testing.model_definitions import Row, class_passes, links_pass
from sfumato.testing.random_tables import TableCase

Node = tuple[int, ...]
Labels = tuple[str | None, ...]
Classes = Mapping[Labels, Sequence[Row]]
_Loss = tuple[float, float]  # what a column lost, and what full generalization would have lost


@dataclass(frozen=True)
class NodeOutcome:
    """What publishing at a node comes to."""

    node: Node
    published: Mapping[Labels, list[Row]]
    suppressed: int
    passes: bool
    loss: float


def evaluate_every_node(case: TableCase) -> dict[Node, NodeOutcome]:
    """Evaluate all nodes of the lattice, each by itself."""
    heights = [range(case.height(name) + 1) for name in case.quasi]
    return {node: evaluate_node(case, node) for node in itertools.product(*heights)}


def evaluate_node(case: TableCase, node: Node) -> NodeOutcome:
    """Publish at a node: classes that fail are suppressed, and so many rows must be allowed to be."""
    rows, rules = case.rows, case.document["privacy"]
    classes = classes_at(case, node)
    published = {labels: members for labels, members in classes.items() if class_passes(rules, members, case.context)}
    suppressed = len(rows) - sum(map(len, published.values()))
    allowed = math.floor(round(case.document["algorithm"]["suppression"] * len(rows), 9))
    loss = compute_loss(case, node, published) if published else math.inf
    passes = bool(published) and suppressed <= allowed and links_pass(rules, published.values(), case.context)
    return NodeOutcome(node, published, suppressed, passes, loss)


def classes_at(case: TableCase, node: Node) -> dict[Labels, list[Row]]:
    """Group the rows by their labels at a node."""
    classes: dict[Labels, list[Row]] = {}
    for row in case.rows:
        classes.setdefault(labels_at(case, row, node), []).append(row)
    return classes


def labels_at(case: TableCase, row: Row, node: Node) -> Labels:
    """Return the labels of a row at a node."""
    return tuple(case.path(name, row[name])[level] for name, level in zip(case.quasi, node, strict=True))


def best_outcome(outcomes: list[NodeOutcome]) -> NodeOutcome:
    """Find the one of least loss; of equal ones the lowest, then the first."""
    least = min(outcome.loss for outcome in outcomes)
    best = (outcome for outcome in outcomes if outcome.loss <= least + 1e-10)
    return min(best, key=lambda outcome: (sum(outcome.node), outcome.node))


def minimal_outcomes(outcomes: list[NodeOutcome]) -> list[NodeOutcome]:
    """Find those with no other one below."""

    def is_below(low: NodeOutcome, high: NodeOutcome) -> bool:
        return low.node != high.node and all(a <= b for a, b in zip(low.node, high.node, strict=True))

    return [outcome for outcome in outcomes if not any(is_below(other, outcome) for other in outcomes)]


# Losses


def compute_loss(case: TableCase, node: Node, published: Classes, metric: str | None = None) -> float:
    """Compute the loss by a metric, or by that of the case's policy, if these classes are published at a node."""
    metric = metric or case.document["algorithm"]["metric"]
    if metric == "average-class-size":
        return 1 / len(published)
    rows = len(case.rows)
    kept = sum(map(len, published.values()))
    if metric == "discernibility":
        return (sum(len(members) ** 2 for members in published.values()) + (rows - kept) * rows) / rows**2
    losses = [_COLUMN_LOSSES[metric](case, i, node, published) for i in range(len(node))]
    lost, worst = map(sum, zip(*losses, strict=True))
    return lost / worst if worst else 1 - kept / rows


def _is_published(case: TableCase, node: Node, published: Classes) -> list[bool]:
    return [labels_at(case, row, node) in published for row in case.rows]


def _ncp(case: TableCase, i: int, node: Node, published: Classes) -> _Loss:
    """The share of the other leaves that are under a label."""
    name, tree = case.quasi[i], case.trees[case.quasi[i]]
    covered = Counter(path[node[i]] for path in tree.values())
    costs = [(covered[tree[row[name]][node[i]]] - 1) / (len(tree) - 1) for row in case.rows]
    lost = sum(cost if kept else 1 for cost, kept in zip(costs, _is_published(case, node, published), strict=True))
    return case.weight(name) * lost, case.weight(name) * len(case.rows)


def _levels(weight: Callable[[TableCase, str], float], *, own: bool = True) -> Callable[..., _Loss]:
    """The levels that cells are generalized by, each worth a weight; of the label's own, or of the node."""

    def column_loss(case: TableCase, i: int, node: Node, published: Classes) -> _Loss:
        name = case.quasi[i]
        each, top = weight(case, name), case.height(name)
        paths = {row[name]: case.path(name, row[name]) for row in case.rows}
        climbed = {value: climb(path, node[i], [*paths.values()]) if own else node[i] for value, path in paths.items()}
        kept = zip(case.rows, _is_published(case, node, published), strict=True)
        lost = sum(climbed[row[name]] if published else top for row, published in kept)
        return each * lost, each * top * len(case.rows)

    return column_loss


def climb(path: Sequence[str | None], level: int, paths: Sequence[Sequence[str | None]]) -> int:
    """Count the levels up to the label of a path at a level: one that is said again and covers no more counts once.

    >>> paths = [("nurse", "health", "*"), ("retired", "retired", "*")]
    >>> [[climb(path, level, paths) for level in range(3)] for path in paths]
    [[0, 1, 2], [0, 0, 2]]
    """
    if path[level] == "*":
        return len(path) - 1
    while level and {path[level]} == {other[level - 1] for other in paths if other[level] == path[level]}:
        level -= 1
    return level


def _entropy(case: TableCase, i: int, node: Node, published: Classes) -> _Loss:
    """Bits: log2 of the rows that share the label over those that share the value."""
    name, tree = case.quasi[i], case.trees[case.quasi[i]]
    values = Counter(row[name] for row in case.rows)
    labels = Counter(tree[row[name]][node[i]] for row in case.rows)
    lost = worst = 0.0
    for row, kept in zip(case.rows, _is_published(case, node, published), strict=True):
        full = math.log2(len(case.rows) / values[row[name]])
        lost += math.log2(labels[tree[row[name]][node[i]]] / values[row[name]]) if kept else full
        worst += full
    return case.weight(name) * lost, case.weight(name) * worst


_COLUMN_LOSSES: dict[str, Callable[[TableCase, int, Node, Any], _Loss]] = {
    "ncp": _ncp,
    "distortion": _levels(lambda case, name: case.weight(name)),
    "height": _levels(lambda case, name: 1.0, own=False),  # noqa: ARG005 - weights do not count
    "precision": _levels(lambda case, name: case.weight(name) / case.height(name)),
    "entropy": _entropy,
}
