"""linked_k: the set of classes that a person's rows are in is shared by as many persons as required.

The pseudonym links a person's rows, so what hides them is who else is in exactly the same classes. Where these are too
few, all rows of the person move to one of their classes, the one that it makes dearer the least: there everybody whose
rows are in that class alone is like them. A class that has too few of those is merged with its neighbour. A person
whose rows have been brought together stays so, and each merge leaves fewer classes, so it ends; at the latest with one
class, which everybody shares.
"""

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.deadline import is_over
from sfumato.core.linked_persons import linked_persons
from sfumato.core.segments import Segments, stable_order
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import PricedGroups, Problem
from sfumato.recode.local.settle import merge_failing, settle
from sfumato.recode.recoding import Progress


def satisfy_linked_k(problem: Problem, partition: Partition, progress: Progress | None = None) -> Partition | None:
    """Change classes until as many persons as required share each person's set of them; nothing if that cannot be.

    The classes pass before and after. When the time is over, all rows are one class, which everybody shares.
    """
    required = problem.requirement.linked
    while required > 1:
        linked = linked_persons(problem.count(partition))
        if linked.fewest >= required:
            break
        if partition.groups == 1:
            return None
        if is_over(progress):
            partition = settle(problem, partition.as_one_group())
            continue
        rare = np.zeros(int(problem.persons.max()) + 1, dtype=np.bool_)  # by the code of the person
        rare[linked.persons[linked.sharing < required]] = True
        person = problem.persons.take(partition.tuples)
        lines = np.flatnonzero((partition.group >= 0) & rare.take(person))
        several = lines[_in_several_classes(person[lines], partition.group[lines])]
        if len(several):
            partition = settle(problem, _bring_together(problem, partition, several))
        else:
            exposed = np.zeros(partition.groups, dtype=np.bool_)
            exposed[partition.group[lines]] = True
            partition = settle(problem, merge_failing(problem, partition, ~exposed))
    return partition


def _in_several_classes(person: IntArray, group: IntArray) -> IntArray:
    """Find the lines of persons who have lines in several classes, person by person: person int[n], group int[n]."""
    order = stable_order(person)
    runs = Segments.from_sorted(person[order])
    if not len(runs):
        return order
    low, high = (reduce.reduceat(group[order], runs.starts) for reduce in (np.minimum, np.maximum))
    return order[runs.spread(low < high)]


def _bring_together(problem: Problem, partition: Partition, lines: IntArray) -> Partition:
    """Move the lines of each person into the one of their classes that takes them in most cheaply.

    lines int[n] are sorted by person. With p persons and q different pairs of a person and a class that they are in:
    pairs int[q] sorted by person, who int[q], where int[q], added float[q].
    """
    persons = Segments.from_sorted(problem.persons.take(partition.tuples[lines]))
    pairs = np.unique(persons.group * partition.groups + partition.group[lines])
    who, where = pairs // partition.groups, pairs % partition.groups
    order = np.lexsort([where, _added_costs(problem, partition, lines, persons, pairs), who])
    target = where[order[np.searchsorted(who[order], np.arange(len(persons)))]]
    group = partition.group.copy()
    group[lines] = persons.spread(target)
    moved = Partition(partition.tuples, partition.rows, group, partition.groups)
    return moved.without_empty_groups().combine_lines()


def _added_costs(
    problem: Problem, partition: Partition, lines: IntArray, persons: Segments, pairs: IntArray
) -> FloatArray:
    """Price what it adds to a class to take in all lines of a person: float[q], for pairs of person and class.

    A pair is one number, ``person * groups + class``; lines int[n] are in the runs of their persons.
    """
    priced = PricedGroups.from_partition(problem, partition)
    who, where = pairs // partition.groups, pairs % partition.groups
    own = problem.hulls_of_runs(partition.tuples[lines], persons.starts)
    joined = problem.join_hulls([hull[who] for hull in own], [hull[where] for hull in priced.hulls])
    rows = partition.rows[lines]
    pair_of_line = np.searchsorted(pairs, persons.group * partition.groups + partition.group[lines])
    already_there = np.bincount(pair_of_line, rows, len(pairs)).astype(np.int64)
    coming = persons.sum(rows)[who] - already_there
    return problem.costs(joined, priced.sizes[where] + coming) - priced.costs[where]
