"""Alternatives for each class: what an algorithm that cuts as fine as it can would have published instead.

An *alternative* parts classes along one column, into the labels one level lower. It is *open* where each part has
enough rows: whether it passes then depends on who has which sensitive value, and that it was not published tells
something. A part that is too small fails whoever has what, and tells nothing.

Worlds are those of single classes. Which alternatives go together depends on the algorithm: in full-domain recoding all
classes are parted or none, in a cut all classes with the same label, in local recoding each class by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.attack.minimality.adversary_knowledge import AdversaryKnowledge, RowCells
from sfumato.attack.minimality.minimality_result import MinimalityCoverage
from sfumato.attack.minimality.possible_worlds import PossibleWorlds, WorldLimits, deal_worlds, true_world
from sfumato.attack.minimality.posterior import NEGLIGIBLE, TINY, Evidence, WorldWeights
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy import Ranges
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.policy.options import UNLEVELLED
from sfumato.recode.local.mondrian import Median, assign_sides

_PROPAGATION_ROUNDS = 8
"""Rounds of belief propagation."""


@dataclass(frozen=True, eq=False)
class ClassAlternative:
    """One alternative for all classes.

    part:   int[n], the part of each row, numbered class by class; -1 where the alternative is not open
    open:   bool[g], the classes where it is open
    group:  int[g], classes of one group are parted together or not at all: it is enough that one of them has a part
            that fails
    """

    part: IntArray
    open: BoolArray
    group: IntArray


def evidence_from_classes(
    knowledge: AdversaryKnowledge, limits: WorldLimits, coverage: MinimalityCoverage
) -> tuple[Evidence | None, MinimalityCoverage]:
    """Weigh worlds of each class by itself, by what may have failed in it and in those that go with it.

    Returns no evidence where no alternative is open to any class.
    """
    alternatives = open_alternatives(knowledge)
    if not alternatives:
        return None, coverage
    is_open = np.any([alternative.open for alternative in alternatives], axis=0)
    cells = RowCells.from_labels(knowledge, [alternative.part + 1 for alternative in alternatives])
    worlds = deal_worlds(knowledge, cells, is_open, limits)
    fails = [_failing_worlds(knowledge, cells, alternative, worlds) for alternative in alternatives]
    weights = _weigh_worlds(alternatives, fails, worlds, knowledge.classes)
    truth = true_world(knowledge, cells)
    true_fails = [_failing_worlds(knowledge, cells, alternative, truth) for alternative in alternatives]
    truth_possible = _consistent_classes(alternatives, true_fails)
    enough = weights.suffices(worlds)
    informative = weights.informative & enough
    # where the truth does not fit, the adversary errs: that is known, and not counted as unfit
    unfit = (weights.worlds > 0) & truth_possible & ~enough
    coverage = replace(
        coverage,
        open=int(is_open.sum()),
        telling=int(informative.sum()),
        counted=int(worlds.counted.sum()),
        drawn=int(worlds.sampled.sum()),
        worlds=len(worlds),
        fitting=float(weights.weight.mean()) if len(worlds) else 1.0,
        unfit=int(unfit.sum()),
        misled=int((is_open & ~truth_possible).sum()),
    )
    return Evidence(knowledge, cells, worlds, weights, informative, truth_possible), coverage


# The alternatives


def open_alternatives(knowledge: AdversaryKnowledge) -> tuple[ClassAlternative, ...]:
    """List an alternative for each quasi-identifier that has one which is open to some class."""
    every = [_open_where_large(knowledge, label, group) for label, group in _finer_labels(knowledge)]
    return tuple(alternative for alternative in every if alternative.open.any())


def _finer_labels(knowledge: AdversaryKnowledge) -> Iterator[tuple[IntArray, IntArray]]:
    """For each column give the finer label of each row, int[n], and the group of each class, int[g]."""
    recoding, alone = knowledge.recoding, np.arange(knowledge.classes)
    for quasi in knowledge.quasi:
        codes = quasi.column.codes[knowledge.rows].astype(np.int64)
        if recoding.levels is not None:
            level = recoding.levels[quasi.name]
            if level:
                yield quasi.hierarchy.matrix[codes, level - 1].astype(np.int64), np.zeros_like(alone)
        elif recoding.cut and recoding.group is None:
            if not isinstance(quasi.spec, Ranges):
                yield _labels_below_cut(knowledge, quasi, codes)
        elif quasi.spec.levelled or recoding.algorithm not in {*UNLEVELLED, MICROAGGREGATION}:
            yield _labels_below_common(knowledge, quasi, codes), alone
        else:
            yield _sides_of_median(knowledge, _cutting_order(quasi)[codes]), alone


def _labels_below_common(knowledge: AdversaryKnowledge, quasi: QuasiIdentifier, codes: IntArray) -> IntArray:
    """Go one level below the lowest label that covers all rows of a class; one part where they share a value."""
    matrix, level = quasi.hierarchy.matrix, np.zeros(knowledge.classes, dtype=np.int64)
    first = np.flatnonzero(np.diff(knowledge.class_of, prepend=-1))
    for each in range(quasi.hierarchy.height):
        label = matrix[:, each].take(codes)
        level += np.minimum.reduceat(label, first) != np.maximum.reduceat(label, first)
    lower = np.maximum(level - 1, 0)[knowledge.class_of]
    return matrix[codes, lower].astype(np.int64)


def _labels_below_cut(
    knowledge: AdversaryKnowledge, quasi: QuasiIdentifier, codes: IntArray
) -> tuple[IntArray, IntArray]:
    """Go one level below the published label, which is the same cut for all classes that have the label."""
    labels = knowledge.recoding.labels[quasi.name]
    label = labels.codes[knowledge.rows].astype(np.int64)
    level = labels.climbed.astype(np.int64)[label]
    group = np.zeros(knowledge.classes, dtype=np.int64)
    group[knowledge.class_of] = label
    return quasi.hierarchy.matrix[codes, np.maximum(level - 1, 0)].astype(np.int64), group


def _cutting_order(quasi: QuasiIdentifier) -> IntArray:
    """Rank values that have no levels as Mondrian cuts them: numbers by size, sets by frequency."""
    if quasi.hierarchy.ranks is not None:
        return quasi.hierarchy.ranks
    ranks = np.empty(quasi.column.width, dtype=np.int64)
    ranks[np.argsort(-quasi.frequencies, kind="stable")] = np.arange(len(ranks))
    return ranks


def _sides_of_median(knowledge: AdversaryKnowledge, rank: IntArray) -> IntArray:
    """Find the side of its class's median that each row is on, as Mondrian cuts: the more even cut, or the other."""
    class_of, ones = knowledge.class_of, np.ones_like(knowledge.class_of)
    better, other = Median.from_lines(class_of, rank, ones, span=int(rank.max(initial=0)) + 1).strict()
    by_better = assign_sides(better, class_of, rank, ones, whole=True)[0]
    by_other = assign_sides(other, class_of, rank, ones, whole=True)[0]
    right = np.bincount(class_of, weights=by_better)
    return np.where(((right > 0) & (right < knowledge.sizes))[class_of], by_better, by_other)


def _open_where_large(knowledge: AdversaryKnowledge, label: IntArray, group: IntArray) -> ClassAlternative:
    """Open an alternative where it parts a class, and every part of the class's whole group has enough rows."""
    class_of, classes = knowledge.class_of, knowledge.classes
    part, parts = number_tuples(pack_tuples([class_of, label], [classes, int(label.max(initial=0)) + 1]))
    class_of_part = np.zeros(parts, dtype=np.int64)
    class_of_part[part] = class_of
    small = np.bincount(part) < knowledge.requirement.least
    several = np.bincount(class_of_part, minlength=classes) > 1
    group_fails = np.bincount(group[class_of_part[small]], minlength=int(group.max(initial=0)) + 1) > 0
    is_open = several & ~group_fails[group]
    return ClassAlternative(np.where(is_open[class_of], part, -1), is_open, group)


# Worlds in which alternatives fail


def _failing_worlds(
    knowledge: AdversaryKnowledge, cells: RowCells, alternative: ClassAlternative, worlds: PossibleWorlds
) -> BoolArray:
    """Tell in which worlds some part of the alternative fails a requirement: bool[w].

    part, place:  int[c], the part of each cell; its number among the parts of its class
    slots:        the slots of the worlds whose cell has a part; a pair of world and part is one class to be judged
    """
    part = alternative.part[cells.any_row]
    first = np.full(knowledge.classes, len(alternative.part))
    np.minimum.at(first, cells.class_of[part >= 0], part[part >= 0])
    place = part - first[cells.class_of]
    slots = np.flatnonzero((part >= 0)[worlds.cell])
    world = worlds.world[slots]
    class_of, _ = number_tuples(
        pack_tuples([world, place[worlds.cell[slots]]], [len(worlds), int(place.max(initial=0)) + 1])
    )
    values = {name: codes[slots] for name, codes in worlds.values.items()}
    persons = None if worlds.persons is None else worlds.persons[slots]
    failing_parts = ~knowledge.passing_classes(class_of, values, persons)
    fails = np.zeros(len(worlds), dtype=np.bool_)
    fails[world[failing_parts[class_of]]] = True
    return fails


def _weigh_worlds(
    alternatives: Sequence[ClassAlternative], fails: Sequence[BoolArray], worlds: PossibleWorlds, classes: int
) -> WorldWeights:
    """Weigh each world by the probability that every alternative fails, there or in another class of its group.

    What is known of the other classes depends on the other alternatives, and the other way round; so each is taken with
    what the others say of it, in turn (belief propagation). With one alternative, or where each class is a group of its
    own, once is enough and exact.

    factors:  float[a, w], for each of a alternatives the probability that it fails, given a world
    """
    alone = all(len(np.unique(alternative.group)) == classes for alternative in alternatives)
    factors = np.ones((len(alternatives), len(worlds)))
    for _ in range(1 if alone or len(alternatives) == 1 else _PROPAGATION_ROUNDS):
        for place, (alternative, fail) in enumerate(zip(alternatives, fails, strict=True)):
            weight = np.delete(factors, place, axis=0).prod(axis=0)
            total = np.bincount(worlds.class_of, weights=weight, minlength=classes)
            failing = np.bincount(worlds.class_of, weights=weight * fail, minlength=classes)
            elsewhere = _fails_elsewhere(failing / np.maximum(total, TINY), alternative.group)
            open_and_passes = alternative.open[worlds.class_of] & ~fail
            factors[place] = np.where(open_and_passes, elsewhere[worlds.class_of], 1.0)
    return WorldWeights.from_weights(factors.prod(axis=0), worlds.class_of, classes)


def _consistent_classes(alternatives: Sequence[ClassAlternative], fails: Sequence[BoolArray]) -> BoolArray:
    """Tell in which classes every alternative fails in one world of each, there or in another class of its group."""
    consistent = np.ones(len(alternatives[0].open), dtype=np.bool_)
    for alternative, fail in zip(alternatives, fails, strict=True):
        elsewhere = _fails_elsewhere(fail.astype(np.float64), alternative.group) > 0
        consistent &= ~alternative.open | fail | elsewhere
    return consistent


def _fails_elsewhere(probability: FloatArray, group: IntArray) -> FloatArray:
    """Compute for each class the probability that a part of another class of its group fails.

    probability, group:  [g], that some part of the class fails, and the group of the class
    Logarithms of passing are summed over the group, less the class itself; classes that fail for certain are counted.
    """
    certain = probability >= 1
    groups = int(group.max(initial=0)) + 1
    log_passes = np.log1p(-np.where(certain, 0.0, probability))
    others = np.bincount(group, weights=log_passes, minlength=groups)[group] - log_passes
    others_certain = (np.bincount(group, weights=certain, minlength=groups)[group] - certain) > 0
    fails = np.where(others_certain, 1.0, -np.expm1(others))
    return np.where(fails < NEGLIGIBLE, 0.0, fails)
