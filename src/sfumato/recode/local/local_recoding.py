"""Local recoding: choose the start, partition, settle, improve, link persons, and label every row."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sfumato.core.arrays import narrow_codes
from sfumato.core.deadline import is_over
from sfumato.encode import EncodedTable
from sfumato.models import AlphaDeassociation
from sfumato.policy import Policy
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.recode.local.axes import TreeAxis
from sfumato.recode.local.candidates import Candidate, Effort, cheapest, find_candidates
from sfumato.recode.local.linked_k import satisfy_linked_k
from sfumato.recode.local.microaggregation import aggregate_strata
from sfumato.recode.local.partition import Partition, allocate_rows
from sfumato.recode.local.parts import PartRunner, recode_in_parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.start import choose_start, has_small_lattice, pose_problem
from sfumato.recode.recoding import Labels, Progress, Recoding

_LITTLE_LEFT = 0.75
"""A table that loses more than this with ranges or sets is tried with the value or nothing."""

_TRIED = 300_000
"""Tables of more different tuples are not tried with every algorithm."""


def recode_locally(
    encoded: EncodedTable,
    policy: Policy,
    name: str,
    progress: Progress | None = None,
    *,
    run: PartRunner | None = None,
) -> Recoding | None:
    """Recode by a local algorithm, or return nothing where the requirements cannot be met.

    A large table is recoded in parts, by processes of this machine or by what `run` says.

    With ``auto``, the cheapest result of several algorithms is taken, and there is patience to improve a large table.
    Where columns have ranges or sets and hardly a cut is possible, as where everybody who died did so before everybody
    who lived was last seen, these columns are tried as the value or nothing: others may then keep their detail.
    """
    posed = pose_problem(encoded, policy)
    if name == MICROAGGREGATION and policy.search.strata:
        clustering = policy.search.clustering or "mdav"
        return apply_partition(posed, aggregate_strata(posed, policy.search.strata, clustering, progress), name)
    problem = choose_start(posed)
    best = None if problem is None else _find_best(problem, policy, name, progress, run)
    if problem is None or best is None:
        return None
    little = problem.cost(best.partition) > _LITTLE_LEFT * encoded.rows
    uncut = little and not all(isinstance(axis, TreeAxis) for axis in problem.axes)
    publish = policy.document.get("publish")
    asked = isinstance(publish, Mapping) and "ranges" in publish  # who says how ranges are published wants ranges
    if name == "auto" and uncut and not asked and not is_over(progress):
        by_levels = replace(policy, search=replace(policy.search, name=_BY_LEVELS))
        second = choose_start(pose_problem(encoded, by_levels))
        other = None if second is None else _find_best(second, by_levels, _BY_LEVELS, progress, run)
        if second is not None and other is not None and second.cost(other.partition) < problem.cost(best.partition):
            problem, best = second, other
    return replace(apply_partition(problem, best.partition, best.algorithm), improved=best.improved)


_BY_LEVELS = "top-down"
"""What works on levels, and takes ranges and sets for the value or nothing."""


def _find_best(
    problem: Problem, policy: Policy, name: str, progress: Progress | None, run: PartRunner | None
) -> Candidate | None:
    """Find the cheapest classes by an algorithm, or by several; none where persons cannot be linked as required.

    A large table that is to be improved is recoded in parts.
    """
    names = auto_candidates(problem) if name == "auto" else (name,)
    effort = None
    if policy.search.improve and name != MICROAGGREGATION:  # its groups are near by distance, not by what labels cost
        effort = Effort.of_table(problem, patient=name == "auto")
    united = recode_in_parts(problem, names, effort, progress, run)
    if united is not None:
        return united
    found = find_candidates(problem, names, effort, policy.search.clustering or "mdav", progress)
    if problem.requirement.linked <= 1:
        return found[0]
    linked = [  # linking persons may cost one of them more than another
        replace(candidate, partition=partition)
        for candidate in found
        if (partition := satisfy_linked_k(problem, candidate.partition, progress)) is not None
    ]
    return cheapest(problem, linked) if linked else None


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


def apply_partition(problem: Problem, partition: Partition, algorithm: str) -> Recoding:
    """Give every row the labels of its class: the recoding that a settled partition is."""
    partition = partition.combine_lines()
    group, divided = allocate_rows(problem.encoded, partition)
    published = None if (partition.group >= 0).all() else group >= 0
    labels = {}
    for axis, label in zip(problem.axes, problem.labels(partition), strict=True):
        codes = narrow_codes(label.codes, len(label.texts)).take(np.maximum(group, 0))
        labels[axis.name] = Labels(codes, label.texts, label.loss, label.climbed, None)
    counts = problem.encoded.counts if divided is None else divided.rows
    return Recoding(algorithm, labels, published, problem.count(partition), counts=counts, divided=divided)
