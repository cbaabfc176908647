"""Choose and run an algorithm, and say why when nothing can be published."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.classes import EquivalenceClasses
from sfumato.encode import EncodedTable
from sfumato.errors import Infeasible, PolicyError
from sfumato.models import Model
from sfumato.policy import Policy
from sfumato.policy.options import CUTS
from sfumato.recode.evaluate import Evaluation, Evaluator, Progress, Requirement
from sfumato.recode.frequencies import Roller
from sfumato.recode.incognito import incognito
from sfumato.recode.lattice import check_size
from sfumato.recode.local import local
from sfumato.recode.metrics import METRICS
from sfumato.recode.optimal import SAME, optimal
from sfumato.recode.plan import Recoding, full_domain, raised
from sfumato.recode.samarati import samarati

if TYPE_CHECKING:
    from sfumato.previous import Star

Search = Callable[[Evaluator, Progress | None], Evaluation | None]


def recode(
    encoded: EncodedTable, policy: Policy, progress: Progress | None = None, *, star: "Star | None" = None
) -> Recoding:
    """The recoding that the policy's algorithm finds, or `Infeasible` with the reason and what would help.

    `star` has the earlier releases, where a requirement is about the join with them. What is searched is the table as
    exactly as it may be told; levels are those of the whole hierarchies again afterwards.
    """
    return raised(_recoded(encoded.permitted, policy, progress, star=star), encoded)


def _recoded(encoded: EncodedTable, policy: Policy, progress: Progress | None, *, star: "Star | None") -> Recoding:
    check_models(encoded, policy)
    name = policy.recoder
    if name in CUTS:
        from sfumato.recode.tds import specialized  # noqa: PLC0415 - others do without it, and start sooner

        found = specialized(encoded, policy, star, progress)
    else:
        search = full_domain_search if name in ALGORITHMS else local
        found = search(encoded, policy, name, progress)
    if found is None:
        raise _infeasible(encoded, Requirement.of(policy.privacy, encoded.rows, policy.search.suppression))
    return found


def full_domain_search(
    encoded: EncodedTable, policy: Policy, name: str, progress: Progress | None = None
) -> Recoding | None:
    """The recoding that a full-domain algorithm finds, or nothing where the requirements cannot be met."""
    requirement = Requirement.of(policy.privacy, encoded.rows, policy.search.suppression)
    check_size([attribute.hierarchy.height for attribute in encoded.quasi])
    evaluator = Evaluator(encoded, requirement, METRICS[policy.search.metric](encoded))
    if not evaluator.evaluate(evaluator.lattice.top).viable:
        return None
    found = ALGORITHMS[name](evaluator, progress)
    return None if found is None else full_domain(encoded, evaluator, found.node, name)


def best(found: list[Evaluation]) -> Evaluation | None:
    """The node of least loss; ties go to the lower, then to the first in order of levels."""
    least = min((one.loss for one in found), default=np.inf)
    tied = [one for one in found if one.loss <= least + SAME]
    return min(tied, key=lambda one: (sum(one.node), one.node), default=None)


ALGORITHMS: dict[str, Search] = {
    "optimal": optimal,
    "samarati": lambda evaluator, progress: best(samarati(evaluator, progress)),
    "incognito": lambda evaluator, progress: best(incognito(evaluator, progress)),
}


def check_models(encoded: EncodedTable, policy: Policy) -> None:
    """Let each requirement look at the table once, and name the one that objects."""
    whole = whole_table(encoded)
    for place, model in enumerate(policy.privacy):
        try:
            model.check(whole)
        except PolicyError as error:
            raise PolicyError(error.message, key=f"privacy[{place}].{error.key}") from None


def _infeasible(encoded: EncodedTable, requirement: Requirement) -> Infeasible:
    """Name each requirement that the whole table as one class fails, and the nearest that it meets."""
    whole = whole_table(encoded)
    failing = [model for model in requirement.models if not model.holds(whole).all()]
    reasons = "; ".join(f"{_described(model)} cannot be met: {model.hint(whole)}" for model in failing)
    if requirement.limit and reasons:
        reasons += f" where no row is suppressed, and suppressing {requirement.limit:,} rows is not enough"
    nearest = {key: float(value) for model in failing for key, value in model.achieved(whole).items()}
    return Infeasible(reasons or "no generalization meets the requirements together", nearest=nearest)


def whole_table(encoded: EncodedTable) -> EquivalenceClasses:
    """The table as one class, as full generalization leaves it."""
    roller = Roller(encoded)
    top = tuple(hierarchy.height for hierarchy in roller.hierarchies)
    return roller.group(roller.roll_up(roller.base(), top)).classes


def _described(model: Model) -> str:
    keys = ", ".join(f"{key} = {value}" for key, value in model.required.items())
    return f"{model.name} ({keys})"
