"""Full-domain generalization: in every column all values are published at one level of its hierarchy.

A choice of levels is a node of the lattice. An algorithm finds a node, classes that fail there are suppressed, and the
node is applied to the rows by look-up.
"""

from collections.abc import Callable

import numpy as np

from sfumato.core.deadline import is_over
from sfumato.core.keys import match_tuples
from sfumato.encode import EncodedTable
from sfumato.policy import Policy
from sfumato.recode.evaluation import Evaluation, Evaluator
from sfumato.recode.incognito import incognito
from sfumato.recode.lattice import Node, check_size
from sfumato.recode.metrics import LOSS_TOLERANCE, METRICS, Metric
from sfumato.recode.optimal import optimal
from sfumato.recode.recoding import Progress, Recoding, labels_at
from sfumato.recode.requirement import Requirement
from sfumato.recode.samarati import samarati


def full_domain(encoded: EncodedTable, policy: Policy, name: str, progress: Progress | None = None) -> Recoding | None:
    """Recode a table by a full-domain algorithm; nothing where the requirements cannot be met."""
    check_size([attribute.hierarchy.height for attribute in encoded.quasi])
    evaluator = Evaluator(encoded, *search_rules(encoded, policy))
    best = search_nodes(evaluator, name, progress)
    return None if best is None else apply_node(encoded, evaluator, best.node, name)


def search_rules(encoded: EncodedTable, policy: Policy) -> tuple[Requirement, Metric]:
    """What a policy requires of the classes of a table, and what it wants least of."""
    requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
    return requirement, METRICS[policy.search.metric](encoded)


def search_nodes(evaluator: Evaluator, name: str, progress: Progress | None = None) -> Evaluation | None:
    """Find a node by the algorithm of this name; nothing where none is found.

    Where the time is over before the algorithm comes to a node that passes, the most general one is taken if it does.
    """
    top = evaluator.evaluate(evaluator.lattice.top)
    if not top.viable:
        return None
    best = ALGORITHMS[name](evaluator, progress)
    if best is None and is_over(progress) and top.passes:
        best = top
    return best


def least_loss(evaluations: list[Evaluation]) -> Evaluation | None:
    """Choose the node of least loss; ties go to the lower one, then to the first in order of levels."""
    least = min((evaluation.loss for evaluation in evaluations), default=np.inf)
    tied = [evaluation for evaluation in evaluations if evaluation.loss <= least + LOSS_TOLERANCE]
    return min(tied, key=lambda evaluation: (sum(evaluation.node), evaluation.node), default=None)


ALGORITHMS: dict[str, Callable[[Evaluator, Progress | None], Evaluation | None]] = {
    "optimal": optimal,
    "samarati": lambda evaluator, progress: least_loss(samarati(evaluator, progress)),
    "incognito": lambda evaluator, progress: least_loss(incognito(evaluator, progress)),
}
"""The algorithms by the names that a policy gives them: each finds a node that passes, or none."""


def apply_node(encoded: EncodedTable, evaluator: Evaluator, node: Node, algorithm: str) -> Recoding:
    """Publish every value as its label at the node's level, and suppress the rows of classes that fail."""
    grouped, passing, _ = evaluator.judge(node)
    labels = {attribute.name: labels_at(attribute, level) for attribute, level in zip(encoded.quasi, node, strict=True)}
    published = None
    if not passing.all():
        failing = grouped.labels(~passing)[: len(node)]
        rows = [each.codes for each in labels.values()]
        published = ~match_tuples(rows, failing, [len(each.texts) for each in labels.values()])
    levels = dict(zip(encoded.names, node, strict=True))
    return Recoding(algorithm, labels, published, grouped.classes.select(passing), levels, counts=encoded.counts)
