"""Persons with rows in several classes of two tables: what the bags of all their classes have in common."""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.encode import EncodedTable
from sfumato.recode import Recoding
from sfumato.split.tables import of_recoding

_LINES = 50_000_000
"""More pairs of a person's class and a value in it than this are not looked at."""


@dataclass(frozen=True)
class Common:
    """`several` persons have rows in more than one class; for `one` of them a single value is in all their bags.

    Where a value stays the same for a person, that single value is known. `one` is ``None`` where there are too many
    pairs of classes and values to look at.
    """

    several: int
    one: int | None


def common(encoded: EncodedTable, recoding: Recoding) -> dict[str, Common]:
    """For each sensitive column; nothing where rows do not name persons."""
    if encoded.individual is None:
        return {}
    tables = of_recoding(encoded, recoding)
    person = encoded.individual.codes.take(np.flatnonzero(recoding.class_of >= 0))
    width = len(tables.sizes)
    pairs = count_keys(pack_tuples([person, tables.class_of], [encoded.individual.width, width])).keys
    who, where = pairs // width, pairs % width
    classes = np.bincount(who, minlength=encoded.individual.width)
    inside = classes[who] > 1
    several = int((classes > 1).sum())
    return {name: Common(several, _one(who[inside], where[inside], bag, classes)) for name, bag in tables.bags.items()}


def _one(who: IntArray, where: IntArray, bag: Histogram, classes: IntArray) -> int | None:
    """How many persons have one value alone that is in the bags of all their classes."""
    first = np.searchsorted(bag.class_of, np.arange(int(bag.class_of.max(initial=-1)) + 2))
    held = np.diff(first)[where]
    if held.sum() > _LINES:
        return None
    line = np.repeat(first[where] - np.cumsum(held) + held, held) + np.arange(int(held.sum()))
    values = len(bag.domain.values)
    found = count_keys(pack_tuples([np.repeat(who, held), bag.value[line]], [len(classes), values]))
    shared: BoolArray = found.counts == classes[found.keys // values]
    return int((np.bincount(found.keys[shared] // values, minlength=len(classes)) == 1).sum())
