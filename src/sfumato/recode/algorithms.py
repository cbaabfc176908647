"""Run the algorithm that a policy names, and say why when nothing can be published."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.core.classes import EquivalenceClasses
from sfumato.core.deadline import Deadline
from sfumato.encode import EncodedTable
from sfumato.errors import Infeasible, OutOfTime, PolicyError
from sfumato.policy import Policy
from sfumato.policy.options import CUTS
from sfumato.recode.frequency_sets import FrequencyCounter
from sfumato.recode.full_domain import ALGORITHMS, full_domain
from sfumato.recode.recoding import Progress, Recoding, shift_levels
from sfumato.recode.requirement import Requirement

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases
    from sfumato.recode.local import PartRunner

FullDomainSearch = Callable[[EncodedTable, Policy, str, Progress | None], Recoding | None]
"""What recodes a table by the full-domain algorithm of a name, as `full_domain` does."""


def recode(
    encoded: EncodedTable,
    policy: Policy,
    progress: Progress | None = None,
    *,
    releases: "LinkedReleases | None" = None,
    run_parts: "PartRunner | None" = None,
    search: FullDomainSearch = full_domain,
) -> Recoding:
    """Recode a table by the algorithm of its policy.

    Raises `Infeasible`, with the reason and what would help, where the requirements cannot be met. `releases` has the
    earlier releases, where a requirement is about the join with them. `run_parts` recodes the parts of a large table,
    in local recoding, where processes of this machine are not to do it. `search` is what recodes by a full-domain
    algorithm, where the table's tuples are elsewhere. Algorithms work on the table generalized to the
    lowest levels that may be published; in the result, levels are counted from the values.

    Where the policy limits the time, the search ends then with the best that it has found, which is marked as `early`;
    it raises `OutOfTime` where it has found nothing.
    """
    limit = policy.search.time_limit
    deadline = None if limit is None else Deadline(limit, progress)
    progress = deadline or progress
    permitted = encoded.permitted
    check_models(permitted, policy)
    name = policy.recoder
    if name in CUTS:
        from sfumato.recode.tds import specialize_top_down  # noqa: PLC0415 - others do without it, and start sooner

        recoding = specialize_top_down(permitted, policy, releases, progress)
    elif name in ALGORITHMS:
        recoding = search(permitted, policy, name, progress)
    else:
        from sfumato.recode.local import recode_locally  # noqa: PLC0415 - same

        recoding = recode_locally(permitted, policy, name, progress, run=run_parts)
    early = deadline is not None and deadline.early
    if recoding is None and early:
        raise OutOfTime(
            f"the search found no release within {limit:g} s, though there may be one; give it more time "
            "(--time-limit, or algorithm.time_limit), or ask for less"
        )
    if recoding is None:
        raise explain_infeasible(whole_table(permitted), policy)
    return replace(shift_levels(recoding, encoded), early=early)


def check_models(encoded: EncodedTable, policy: Policy) -> None:
    """Let each requirement look at the table once, and name the one that objects."""
    check_whole(whole_table(encoded), policy)


def check_whole(whole: EquivalenceClasses, policy: Policy) -> None:
    """Do the same with the table as one class, wherever that was counted."""
    for place, model in enumerate(policy.privacy):
        try:
            model.check(whole)
        except PolicyError as error:
            raise PolicyError(error.message, key=f"privacy[{place}].{error.key}") from None


def whole_table(encoded: EncodedTable) -> EquivalenceClasses:
    """Count the table as one class, as full generalization leaves it."""
    counter = FrequencyCounter(encoded)
    top = tuple(hierarchy.height for hierarchy in counter.hierarchies)
    return counter.group(counter.roll_up(counter.at_bottom(), top)).classes


def explain_infeasible(whole: EquivalenceClasses, policy: Policy) -> Infeasible:
    """Name each requirement that the whole table as one class fails, and the nearest that it meets."""
    failing = [model for model in policy.privacy if not model.holds(whole).all()]
    reasons = []
    for model in failing:
        keys = ", ".join(f"{key} = {value}" for key, value in model.required.items())
        reasons.append(f"{model.name} ({keys}) cannot be met: {model.hint(whole)}")
    reason = "; ".join(reasons)
    limit = Requirement.from_share(policy.privacy, whole.rows, policy.search.suppression).limit
    if limit and reason:
        reason += f" where no row is suppressed, and suppressing {limit:,} rows is not enough"
    nearest = {key: float(value) for model in failing for key, value in model.achieved(whole).items()}
    return Infeasible(reason or "no generalization meets the requirements together", nearest=nearest)
