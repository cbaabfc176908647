"""Finer alternatives: what an algorithm that stops as late as it can would have published instead.

An alternative parts classes along one column, into the labels one level lower. It is *open* where each part has rows
enough: whether it passes then depends on who holds what, and that it was not taken tells something. A part that is too
small fails whoever holds what, and tells nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.attack.minimality.situation import Situation
from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import QuasiIdentifier
from sfumato.recode.local.mondrian import Median, assign_sides


@dataclass(frozen=True, eq=False)
class Finer:
    """One alternative for each class: the part of each row, numbered class by class, and the classes where it is open.

    Where it is not open, a row has the part -1.
    Classes of one `group` are parted together or not at all: it is enough that one of them has a part that fails.
    """

    part: IntArray
    open: BoolArray
    group: IntArray


def alternatives(situation: Situation) -> tuple[Finer, ...]:
    """An alternative for each quasi-identifier that has an open one."""
    found = [_opened(situation, part, group) for part, group in _parted(situation)]
    return tuple(one for one in found if one.open.any())


def _parted(situation: Situation) -> Iterator[tuple[IntArray, IntArray]]:
    """For each column what the rows would be told apart by, and the classes that go together."""
    alone = np.arange(situation.classes)
    for attribute in situation.quasi:
        codes = attribute.column.codes[situation.rows].astype(np.int64)
        if situation.recoding.levels is not None:
            level = situation.recoding.levels[attribute.name]
            if level:
                yield attribute.hierarchy.matrix[codes, level - 1].astype(np.int64), np.zeros_like(alone)
        elif situation.recoding.cut and situation.recoding.group is None:
            if attribute.spec.levelled:
                yield _below_cut(situation, attribute, codes)
        elif attribute.spec.levelled:
            yield _below(situation, attribute, codes), alone
        else:
            yield _halves(situation, _places(attribute)[codes]), alone


def _below(situation: Situation, attribute: QuasiIdentifier, codes: IntArray) -> IntArray:
    """One level below the lowest label that covers all rows of a class; one part where they share a value."""
    matrix, level = attribute.hierarchy.matrix, np.zeros(situation.classes, dtype=np.int64)
    first = np.flatnonzero(np.diff(situation.class_of, prepend=-1))
    for each in range(attribute.hierarchy.height):
        label = matrix[:, each].take(codes)
        level += np.minimum.reduceat(label, first) != np.maximum.reduceat(label, first)
    lower = np.maximum(level - 1, 0)[situation.class_of]
    return matrix[codes, lower].astype(np.int64)


def _below_cut(situation: Situation, attribute: QuasiIdentifier, codes: IntArray) -> tuple[IntArray, IntArray]:
    """One level below the label that is published, which is the same cut for all classes that have the label."""
    labels = situation.recoding.labels[attribute.name]
    label = labels.codes[situation.rows].astype(np.int64)
    level = labels.climbed.astype(np.int64)[label]
    group = np.zeros(situation.classes, dtype=np.int64)
    group[situation.class_of] = label
    return attribute.hierarchy.matrix[codes, np.maximum(level - 1, 0)].astype(np.int64), group


def _places(attribute: QuasiIdentifier) -> IntArray:
    """Values that have no levels in the order that Mondrian cuts them in: numbers, or sets by their frequency."""
    if attribute.hierarchy.ranks is not None:
        return attribute.hierarchy.ranks
    places = np.empty(attribute.column.width, dtype=np.int64)
    places[np.argsort(-attribute.frequencies, kind="stable")] = np.arange(len(places))
    return places


def _halves(situation: Situation, place: IntArray) -> IntArray:
    """The two sides of the median of each class, as Mondrian cuts: the more even cut, or else the other."""
    owner, ones = situation.class_of, np.ones_like(situation.class_of)
    better, other = Median.from_lines(owner, place, ones, span=int(place.max(initial=0)) + 1).strict()
    one = assign_sides(better, owner, place, ones, whole=True)[0]
    two = assign_sides(other, owner, place, ones, whole=True)[0]
    right = np.bincount(owner, weights=one)
    return np.where(((right > 0) & (right < situation.sizes))[owner], one, two)


def _opened(situation: Situation, label: IntArray, group: IntArray) -> Finer:
    """Where an alternative parts a class and every part of its whole group has rows enough."""
    owner, classes = situation.class_of, situation.classes
    part, parts = number_tuples(pack_tuples([owner, label], [classes, int(label.max(initial=0)) + 1]))
    home = np.zeros(parts, dtype=np.int64)
    home[part] = owner
    small = np.bincount(part) < situation.requirement.least
    several = np.bincount(home, minlength=classes) > 1
    fails = np.bincount(group[home[small]], minlength=int(group.max(initial=0)) + 1) > 0
    opened = several & ~fails[group]
    return Finer(np.where(opened[owner], part, -1), opened, group)
