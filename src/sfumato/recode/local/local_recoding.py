"""Local recoding: choose the start, partition, settle, improve, link persons, and label every row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import narrow_codes
from sfumato.encode import EncodedTable
from sfumato.models import AlphaDeassociation
from sfumato.policy import Policy
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.recode.local.axes import TreeAxis
from sfumato.recode.local.bottom_up import bottom_up
from sfumato.recode.local.cover import cover
from sfumato.recode.local.exchange import Exchange
from sfumato.recode.local.linked_k import satisfy_linked_k
from sfumato.recode.local.microaggregation import aggregate_strata, microaggregation
from sfumato.recode.local.mondrian import mondrian, mondrian_relaxed
from sfumato.recode.local.partition import Partition, allocate_rows
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.progressive import progressive
from sfumato.recode.local.settle import settle
from sfumato.recode.local.start import choose_start, full_domain_classes, has_small_lattice, pose_problem
from sfumato.recode.local.top_down import top_down
from sfumato.recode.recoding import Labels, Progress, Recoding

LocalAlgorithm = Callable[[Problem, Progress | None], Partition]

ALGORITHMS: dict[str, LocalAlgorithm] = {
    "progressive": progressive,
    "top-down": top_down,
    "bottom-up": bottom_up,
    "mondrian": mondrian,
    "mondrian-relaxed": mondrian_relaxed,
    MICROAGGREGATION: microaggregation,
}
"""Each from a problem whose start is one group that passes, to groups that pass as far as its models are monotone."""

_TRIED = 300_000
"""Tables of more different tuples are not tried with every algorithm."""

_LINES, _PER_TUPLE = 120_000_000, 2_000
"""Lines that a covering may look at: about a second, and more for tables of many different tuples."""

_MANY, _VERY_MANY = 100_000, 1_000_000
"""Different tuples that a table may have at most to be improved, without patience and with it."""

_LOST = 0.04
"""A covering that leaves a larger share of the rows without a place is given up."""

_PAIRS, _LITTLE = 300_000_000, 5e-4
"""Pairs that an exchange may price, about a second; and the share of the cost that a round has to save."""


@dataclass(frozen=True, eq=False)
class _Result:
    """The classes that an algorithm came to, and whether they were improved."""

    algorithm: str
    partition: Partition
    improved: bool = False


def recode_locally(
    encoded: EncodedTable, policy: Policy, name: str, progress: Progress | None = None
) -> Recoding | None:
    """Recode by a local algorithm, or return nothing where the requirements cannot be met.

    With ``auto``, the cheapest result of several algorithms is taken, and there is patience to improve a large table.
    Where columns have ranges or sets and no cut is possible, as where everybody who died did so before everybody who
    lived was last seen, these columns are tried as the value or nothing: others may then keep their detail.
    """
    posed = pose_problem(encoded, policy)
    if name == MICROAGGREGATION and policy.search.strata:
        clustering = policy.search.clustering or "mdav"
        return apply_partition(posed, aggregate_strata(posed, policy.search.strata, clustering, progress), name)
    problem = choose_start(posed)
    best = None if problem is None else _find_best(problem, policy, name, progress)
    if problem is None or best is None:
        return None
    uncut = best.partition.groups == 1 and not all(isinstance(axis, TreeAxis) for axis in problem.axes)
    publish = policy.document.get("publish")
    asked = isinstance(publish, Mapping) and "ranges" in publish  # who says how ranges are published wants ranges
    if name == "auto" and uncut and not asked:
        by_levels = replace(policy, search=replace(policy.search, name=_BY_LEVELS))
        second = choose_start(pose_problem(encoded, by_levels))
        other = None if second is None else _find_best(second, by_levels, _BY_LEVELS, progress)
        if second is not None and other is not None and second.cost(other.partition) < problem.cost(best.partition):
            problem, best = second, other
    return replace(apply_partition(problem, best.partition, best.algorithm), improved=best.improved)


_BY_LEVELS = "top-down"
"""What works on levels, and takes ranges and sets for the value or nothing."""


def _find_best(problem: Problem, policy: Policy, name: str, progress: Progress | None) -> _Result | None:
    """Find the cheapest classes by an algorithm, or by several; none where persons cannot be linked as required."""

    def cheapest(results: list[_Result]) -> _Result:
        """Choose the first of the cheapest; a single one need not be priced."""
        return results[0] if len(results) == 1 else min(results, key=lambda result: problem.cost(result.partition))

    names = auto_candidates(problem) if name == "auto" else (name,)
    clustering = policy.search.clustering or "mdav"
    results = [_Result(each, _find_classes(problem, each, progress, clustering)) for each in names]
    best = cheapest(results)
    if policy.search.improve and name != MICROAGGREGATION:  # its groups are near by distance, not by what labels cost
        improved = improve(problem, best.partition, progress, patient=name == "auto")
        if improved is not best.partition:
            best = _Result(best.algorithm, improved, improved=True)
    if problem.requirement.linked > 1:  # linking persons may cost one of them more than another
        linked = [
            replace(result, partition=partition)
            for result in dict.fromkeys((best, *results))
            if (partition := satisfy_linked_k(problem, result.partition)) is not None
        ]
        if not linked:
            return None
        best = cheapest(linked)
    return best


def auto_candidates(problem: Problem) -> tuple[str, ...]:
    """List the algorithms that ``auto`` tries, of which the cheapest result is taken: all that are worth the time.

    The full-domain optimum is one of them where its search is quick: where pruning is exact and the lattice small. It
    is a local recoding too, under the tightest labels of its classes; name it where a column is to have one level.
    """
    requirement = problem.requirement
    if not all(isinstance(axis, TreeAxis) for axis in problem.axes):
        return "mondrian", "mondrian-relaxed"
    if len(problem.counts) > _TRIED:
        return ("bottom-up",) if requirement.linked > 1 else ("progressive",)
    quick = requirement.exact and has_small_lattice(problem) and problem.start.groups == 1
    # Relaxed cuts need a column without levels; orphans are too many where shares of values are bounded tightly.
    shares = any(isinstance(model, AlphaDeassociation) for model in requirement.models) and requirement.linked <= 1
    persons = () if problem.encoded.individual is None or shares else ("bottom-up",)
    return ("progressive", "top-down", *persons, "mondrian", *(("optimal",) if quick else ()))


def _find_classes(problem: Problem, name: str, progress: Progress | None, clustering: str) -> Partition:
    """Run an algorithm and settle what it comes to."""
    if name == MICROAGGREGATION and problem.start.groups == 1:
        return settle(problem, microaggregation(problem, progress, clustering=clustering))
    if name == "optimal":
        return settle(problem, full_domain_classes(problem) or problem.start)
    return settle(problem, problem.start if problem.start.groups > 1 else ALGORITHMS[name](problem, progress))


def improve(
    problem: Problem, partition: Partition, progress: Progress | None = None, *, patient: bool = False
) -> Partition:
    """Find a partition that costs no more than the given one, whose classes all pass.

    Two ways lead to a better one. `cover` forgets the groups and takes the cheapest classes first; `Exchange` moves
    rows between classes. Whichever of the given partition and the covering costs less is then exchanged to the end.
    Nothing is drawn at random, so the same input gives the same result.

    It takes a few seconds. Tables with more different tuples than can be worked through in that time come back as they
    are, unless there is patience.
    """
    tuples = len(problem.counts)
    if tuples > (_VERY_MANY if patient else _MANY):
        return partition
    budget = max(_LINES, _PER_TUPLE * tuples) * (2 if problem.encoded.domains else 1)
    start = partition
    covering = Exchange(problem, cover(problem, partition, budget, progress), _PAIRS).fill()
    if covering.rows_without_place <= _LOST * problem.encoded.rows:
        start = min((settle(problem, covering.result), partition), key=problem.cost)
    exchanged = Exchange(problem, start, _PAIRS).improve(_LITTLE)
    return min((settle(problem, exchanged.result), partition), key=problem.cost)


def apply_partition(problem: Problem, partition: Partition, algorithm: str) -> Recoding:
    """Give every row the labels of its class: the recoding that a settled partition is."""
    partition = partition.combine_lines()
    group = allocate_rows(problem.encoded, partition)
    published = None if (partition.group >= 0).all() else group >= 0
    labels = {}
    for axis, label in zip(problem.axes, problem.labels(partition), strict=True):
        codes = narrow_codes(label.codes, len(label.texts)).take(np.maximum(group, 0))
        labels[axis.name] = Labels(codes, label.texts, label.loss, label.climbed, None)
    return Recoding(algorithm, labels, published, problem.count(partition))
