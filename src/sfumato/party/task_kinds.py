"""The kinds of tasks that parties can work out together, by the word that ``[task] kind`` has for each."""

from importlib import import_module
from typing import TYPE_CHECKING

from sfumato.errors import PolicyError, did_you_mean, quote
from sfumato.policy.section import join_choices

if TYPE_CHECKING:
    from sfumato.party.party_task import PartyTask

TASKS = {
    "sum": "secure_sum:SumTask",
    "union": "secure_union:UnionTask",
    "contingency": "contingency:ContingencyTask",
    "rules": "shared_rules:RulesTask",
    "k-means": "shared_k_means:KMeansTask",
    "naive-bayes": "shared_naive_bayes:NaiveBayesTask",
    "compare": "secure_comparison:CompareTask",
    "distance": "vector_distance:DistanceTask",
    "scalar-product": "scalar_product:ScalarProductTask",
    "union-size": "set_cardinality:UnionSizeTask",
    "intersection": "private_intersection:IntersectionTask",
    "intersection-size": "set_cardinality:IntersectionSizeTask",
    "anonymize": "anonymize_together:AnonymizeTask",
}
"""The module and the class of each kind; it is imported when it is asked for."""


def task_class(kind: str) -> "type[PartyTask]":
    """Give the class of a kind of task.

    >>> task_class("sum").__name__
    'SumTask'
    >>> task_class("summ")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: task.kind: must be sum..., not 'summ'; did you mean sum?
    """
    if kind not in TASKS:
        hint = did_you_mean(kind, TASKS)
        raise PolicyError(f"must be {join_choices(TASKS)}, not {quote(kind)}{hint}", key="task.kind")
    module, name = TASKS[kind].split(":")
    found: type[PartyTask] = getattr(import_module(f"sfumato.party.{module}"), name)
    return found
