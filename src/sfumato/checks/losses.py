"""The losses of a publication, cell by cell: a suppressed row has lost all that it had."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.checks.naive import Row
from sfumato.checks.tables import Case

Node = tuple[int, ...]
Labels = tuple[str | None, ...]
Classes = Mapping[Labels, Sequence[Row]]
Cells = tuple[float, float]  # what was lost, and what full generalization would have lost


def labelled(case: Case, row: Row, node: Node) -> Labels:
    """The labels of a row at a node."""
    return tuple(case.path(name, row[name])[level] for name, level in zip(case.quasi, node, strict=True))


def loss_of(case: Case, node: Node, published: Classes, metric: str | None = None) -> float:
    """The loss by a metric, or by that of the case's policy, if these classes are published at a node."""
    metric = metric or case.document["algorithm"]["metric"]
    if metric == "average-class-size":
        return 1 / len(published)
    rows = len(case.rows)
    kept = sum(map(len, published.values()))
    if metric == "discernibility":
        return (sum(len(members) ** 2 for members in published.values()) + (rows - kept) * rows) / rows**2
    cells = [_CELLS[metric](case, i, node, published) for i in range(len(node))]
    lost, worst = map(sum, zip(*cells, strict=True))
    return lost / worst if worst else 1 - kept / rows


def _kept(case: Case, node: Node, published: Classes) -> list[bool]:
    return [labelled(case, row, node) in published for row in case.rows]


def _ncp(case: Case, i: int, node: Node, published: Classes) -> Cells:
    """The share of the other leaves that stand under a label."""
    name, tree = case.quasi[i], case.trees[case.quasi[i]]
    covered = Counter(path[node[i]] for path in tree.values())
    costs = [(covered[tree[row[name]][node[i]]] - 1) / (len(tree) - 1) for row in case.rows]
    lost = sum(cost if kept else 1 for cost, kept in zip(costs, _kept(case, node, published), strict=True))
    return case.weight(name) * lost, case.weight(name) * len(case.rows)


def _climbed(weight: Callable[[Case, str], float]) -> Callable[..., Cells]:
    """Levels climbed, each worth a weight."""

    def cells(case: Case, i: int, node: Node, published: Classes) -> Cells:
        each, top = weight(case, case.quasi[i]), case.height(case.quasi[i])
        lost = sum(node[i] if kept else top for kept in _kept(case, node, published))
        return each * lost, each * top * len(case.rows)

    return cells


def _entropy(case: Case, i: int, node: Node, published: Classes) -> Cells:
    """Bits: log2 of the rows that share the label over those that share the value."""
    name, tree = case.quasi[i], case.trees[case.quasi[i]]
    values = Counter(row[name] for row in case.rows)
    labels = Counter(tree[row[name]][node[i]] for row in case.rows)
    lost = worst = 0.0
    for row, kept in zip(case.rows, _kept(case, node, published), strict=True):
        full = math.log2(len(case.rows) / values[row[name]])
        lost += math.log2(labels[tree[row[name]][node[i]]] / values[row[name]]) if kept else full
        worst += full
    return case.weight(name) * lost, case.weight(name) * worst


_CELLS: dict[str, Callable[[Case, int, Node, Any], Cells]] = {
    "ncp": _ncp,
    "distortion": _climbed(lambda case, name: case.weight(name)),
    "height": _climbed(lambda case, name: 1.0),  # noqa: ARG005 - weights do not count
    "precision": _climbed(lambda case, name: case.weight(name) / case.height(name)),
    "entropy": _entropy,
}
