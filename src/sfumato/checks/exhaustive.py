"""Exhaustive search over all full-domain generalizations, counted with dicts: slow, plain and sure."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.checks.losses import Labels, Node, labelled, loss_of
from sfumato.checks.naive import Row, links, passes
from sfumato.checks.tables import Case


@dataclass(frozen=True)
class Outcome:
    """What publishing at a node comes to."""

    node: Node
    published: Mapping[Labels, list[Row]]
    suppressed: int
    passes: bool
    loss: float


def every_outcome(case: Case) -> dict[Node, Outcome]:
    """All nodes of the lattice, each judged and priced by itself."""
    heights = [range(case.height(name) + 1) for name in case.quasi]
    return {node: outcome(case, node) for node in itertools.product(*heights)}


def outcome(case: Case, node: Node) -> Outcome:
    """Publish at a node: classes that fail are suppressed, and so many rows must be allowed to be."""
    rows, world = case.rows, case.world
    published = {
        labels: members
        for labels, members in classes(case, node).items()
        if passes(case.document["privacy"], members, world)
    }
    suppressed = len(rows) - sum(map(len, published.values()))
    allowed = math.floor(round(case.document["algorithm"]["suppression"] * len(rows), 9))
    loss = loss_of(case, node, published) if published else math.inf
    good = bool(published) and suppressed <= allowed and links(case.document["privacy"], published.values(), world)
    return Outcome(node, published, suppressed, good, loss)


def classes(case: Case, node: Node) -> dict[Labels, list[Row]]:
    """Rows by their labels at a node."""
    found: dict[Labels, list[Row]] = {}
    for row in case.rows:
        found.setdefault(labelled(case, row, node), []).append(row)
    return found


def best(found: list[Outcome]) -> Outcome:
    """Least loss; of equal ones the lowest, then the first."""
    least = min(one.loss for one in found)
    return min((one for one in found if one.loss <= least + 1e-10), key=lambda one: (sum(one.node), one.node))


def minimal(found: list[Outcome]) -> list[Outcome]:
    """Those with no other one below."""

    def below(one: Outcome, other: Outcome) -> bool:
        return one.node != other.node and all(a <= b for a, b in zip(one.node, other.node, strict=True))

    return [one for one in found if not any(below(other, one) for other in found)]
