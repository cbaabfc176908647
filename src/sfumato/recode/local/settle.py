"""Settle: groups become classes. Groups of equal labels are one class, and classes that fail are merged with others.

Classes are what a reader can tell apart, so groups with equal labels count together, whatever the algorithm thought.
For monotone models that changes nothing; under the refined α bound a union of good groups may fail. Then failing
classes are merged with their cheapest neighbours until all pass. Each step leaves fewer classes and the table as one
class passes (that is checked before any algorithm starts), so it ends with every requirement met.
"""

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.segments import sort_by_group
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Hulls, PricedGroups, Problem

_TRIED = 8
"""So many of the cheapest neighbours are tried for one with which the union passes."""

_PATIENCE = 60
"""So many steps merge failing classes with one neighbour each; then it is several at a time, to come to an end."""

_PAIRS = 1 << 22
"""So many pairs are priced at a time."""

_NEAR = 512
"""Neighbours that are looked at where there are too many to look at all."""


def settle(problem: Problem, partition: Partition) -> Partition:
    """Make classes of groups, all of them passing; those of the start where no others pass."""
    partition, patience = merge_equal_labels(problem, partition.without_empty_groups()), _PATIENCE
    while not (passing := problem.holds(partition)).all():
        if partition.groups == 1:
            return problem.start
        patience -= 1
        partition = merge_failing(problem, partition, passing, patient=patience > 0)
    return partition


def merge_equal_labels(problem: Problem, partition: Partition) -> Partition:
    """Make one group of groups with equal labels."""
    labels = problem.labels(partition)
    codes, widths = [axis.codes for axis in labels], [len(axis.texts) for axis in labels]
    number, groups = number_tuples(pack_tuples(codes, widths))
    return partition if groups == partition.groups else partition.merge(number)


def merge_failing(problem: Problem, partition: Partition, passing: BoolArray, *, patient: bool = True) -> Partition:
    """Merge each group that does not pass with its cheapest neighbour; without patience, with several.

    `passing` is bool[g]. With f failing groups and m neighbours of each: near int[f, m], added float[f, m] what each
    union would cost more, candidates int[f, 8] the cheapest. A failing group goes with the first of these with which it
    passes, or with the cheapest; without patience, where none of them helps, all that have no other plans join it.
    """
    priced = PricedGroups.from_partition(problem, partition)
    into, failing = np.arange(partition.groups), np.flatnonzero(~passing)
    near = _near_groups(priced.hulls, partition.groups, failing)
    for block in np.array_split(np.arange(len(failing)), max(len(failing) * near.shape[1] // _PAIRS, 1)):
        added = _added_costs(problem, priced, failing[block], near[block])
        candidates = np.take_along_axis(near[block], np.argsort(added, axis=1, kind="stable")[:, :_TRIED], 1)
        partner = _first_partner(problem, partition, failing[block], candidates)
        into[failing[block]] = np.where(partner < 0, candidates[:, 0], partner)
        if not patient:
            helpless, company = failing[block][partner < 0], candidates[partner < 0]
            free = into[company] == company
            into[company[free]] = np.broadcast_to(helpless[:, None], company.shape)[free]
    return merge_equal_labels(problem, partition.merge(_components(into)))


def _near_groups(hulls: Hulls, groups: int, failing: IntArray) -> IntArray:
    """Choose the groups to compare with each failing one, itself included: int[f, m].

    All of them, or those that are near it when all are sorted by their hulls.
    """
    if groups <= 2 * _NEAR:
        return np.broadcast_to(np.arange(groups), (len(failing), groups))
    order = np.lexsort([hull[:, word] for hull in hulls for word in range(hull.shape[1])])
    place = np.empty(groups, dtype=np.int64)
    place[order] = np.arange(groups)
    start = np.clip(place[failing] - _NEAR // 2, 0, groups - _NEAR)
    near: IntArray = order[start[:, None] + np.arange(_NEAR)]
    return near


def _added_costs(problem: Problem, priced: PricedGroups, failing: IntArray, near: IntArray) -> FloatArray:
    """Price what each union would add to the cost: float[f, m] for failing int[f] and near int[f, m]."""
    own, others = [hull[failing][:, None] for hull in priced.hulls], [hull[near] for hull in priced.hulls]
    joined = [hull.reshape(-1, hull.shape[-1]) for hull in problem.join_hulls(own, others)]
    row_costs = problem.row_costs(joined).reshape(near.shape)
    sizes, costs = priced.sizes, priced.costs
    union = problem.metric.group_costs(row_costs, sizes[failing][:, None] + sizes[near])
    return np.where(near == failing[:, None], np.inf, union - costs[failing][:, None] - costs[near])


def _first_partner(problem: Problem, partition: Partition, failing: IntArray, candidates: IntArray) -> IntArray:
    """Find, of the candidates (int[f, t], cheapest first), the first with which the union passes; -1 for none."""
    published = partition.published
    order, runs = sort_by_group(published.group, published.groups)
    partner = np.full(len(failing), -1)
    for candidate in candidates.T:
        open_ = np.flatnonzero((partner < 0) & (candidate != failing))
        if not len(open_):
            continue
        # A group for each pair of groups: the lines of all first ones, then those of all second ones.
        members = np.concatenate([failing[open_], candidate[open_]])
        lines = order[runs.places(members)]
        pair = np.repeat(np.tile(np.arange(len(open_)), 2), runs.lengths[members])
        unions = Partition(published.tuples[lines], published.rows[lines], pair, len(open_))
        good = open_[problem.holds(unions)]
        partner[good] = candidate[good]
    return partner


def _components(into: IntArray) -> IntArray:
    """Give groups that hang together by what they become part of one number, the least among them.

    Whoever follows the links ends in a circle, after at most as many steps as there are groups; steps double each time.
    """
    ahead, least = into, np.minimum(np.arange(len(into)), into)
    for _ in range(len(into).bit_length()):
        least = np.minimum(least, least[ahead])
        ahead = ahead[ahead]
    number: IntArray = least[ahead]
    return number
