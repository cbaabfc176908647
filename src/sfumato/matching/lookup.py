"""People looked up by keys: where a value fits one label only, that label is where to look.

Of a raw table, or of one whose columns each have a cut through a hierarchy, nothing has to be compared then. What is
left of the other columns is compared for the lines that were found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.keys import pack_tuples
from sfumato.core.segments import expand_ranges
from sfumato.matching.column import Column


@dataclass(frozen=True, eq=False)
class Lookup:
    """Lines in the order of their keys, and for each person where theirs begin and end; `others` are still to fit."""

    order: IntArray
    begin: IntArray
    end: IntArray
    others: Sequence[Column]

    @property
    def candidates(self) -> IntArray:
        """How many lines have the key of each person."""
        return self.end - self.begin

    def places(self, start: int, end: int) -> tuple[IntArray, IntArray]:
        """The person, counted from `start`, and the line of each pair that fits; in the order of persons and lines."""
        person, place = expand_ranges(self.begin[start:end], self.end[start:end])
        line = self.order[place]
        for column in self.others:
            fits = column.pairs(person + start, line)
            person, line = person[fits], line[fits]
        ordered = np.lexsort((line, person)) if self.others else slice(None)
        return person[ordered], line[ordered]


def lookup(columns: Sequence[Column]) -> Lookup | None:
    """Look people up by the columns that tell one label for each value; nothing where no column does."""
    exact = [column for column in columns if column.only is not None]
    if not exact:
        return None
    people = len(exact[0].people)
    told = [one.only[one.people] for one in exact if one.only is not None]
    inside = np.all([labels >= 0 for labels in told], axis=0)
    codes = [np.concatenate([np.maximum(labels, 0), one.lines]) for labels, one in zip(told, exact, strict=True)]
    wanted, keys = np.split(pack_tuples(codes, [max(one.labels, 1) for one in exact]).keys, [people])
    order = np.argsort(keys, kind="stable")
    begin, end = (np.searchsorted(keys[order], wanted, side=side) for side in ("left", "right"))
    return Lookup(order, begin, np.where(inside, end, begin), [one for one in columns if one.only is None])
