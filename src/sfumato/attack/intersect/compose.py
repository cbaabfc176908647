"""Compose: block by block, what all releases together leave of a sensitive column to each person."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attack.intersect.values import Held, Values, common, within
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.matching.fits import Pairs
from sfumato.matching.people import People

APART = -1


@dataclass(frozen=True, eq=False)
class Composed:
    """What is left of one column, by tuple of `People`; arrays of two dimensions have a line for each release.

    `left` is the number of values left, `APART` where fewer than two releases are fit; `alone` the number of values in
    each release, 0 where it is not fit or lacks the column. `rows` are the rows left in each release, and `share` the
    largest share that a value has of these; `rows_alone` and `share_alone` are of all rows that fit. `true_left` and
    `true_alone` are by person: whether the true value is among those left.
    """

    values: Values
    left: IntArray
    alone: IntArray
    rows: IntArray
    rows_alone: IntArray
    share: FloatArray
    share_alone: FloatArray
    true_left: BoolArray
    true_alone: BoolArray

    @classmethod
    def empty(cls, values: Values, people: People) -> "Composed":
        """Before anybody was looked up."""
        tuples, persons = (len(values.releases), people.different), (len(values.releases), people.persons)
        return cls(
            values,
            left=np.full(people.different, APART),
            alone=np.zeros(tuples, dtype=np.int64),
            rows=np.zeros(tuples, dtype=np.int64),
            rows_alone=np.zeros(tuples, dtype=np.int64),
            share=np.zeros(tuples),
            share_alone=np.zeros(tuples),
            true_left=np.zeros(people.persons, dtype=np.bool_),
            true_alone=np.zeros(persons, dtype=np.bool_),
        )

    def add(self, pairs: Sequence[Pairs], start: int, persons: IntArray, tuples: IntArray) -> None:
        """A block of tuples from `start` on; `persons` are those who have one, `tuples` which of the block each has."""
        places, width = self.values.places, len(self.values.codes)
        held = {place: self.values.held(place, pairs[place]) for place in places}
        fits = [pairs[place].some for place in places]
        block = slice(start, start + len(fits[0]))
        kept, enough = common(list(held.values()), fits, width), np.sum(fits, axis=0) >= 2
        self.left[block] = np.where(enough, np.bincount(kept // width, minlength=len(enough)), APART)
        for place, one in held.items():
            self._release(place, block, one, kept)
        self._truth(held, kept, persons, tuples)

    def _release(self, place: int, block: slice, held: Held, kept: IntArray) -> None:
        """The figures of one release."""
        width, many = len(self.values.codes), block.stop - block.start
        person, left = held.keys // width, within(held.keys, kept)
        self.alone[place, block] = np.bincount(person, minlength=many)
        self.rows_alone[place, block], self.share_alone[place, block] = _largest(person, held.rows, many)
        self.rows[place, block], self.share[place, block] = _largest(person[left], held.rows[left], many)

    def _truth(self, held: dict[int, Held], kept: IntArray, persons: IntArray, tuples: IntArray) -> None:
        true = self.values.true
        if true is None:
            return
        known = true[persons]
        keys = np.where(known < 0, -2, tuples * len(self.values.codes) + known)
        self.true_left[persons] = within(keys, kept)
        for place, one in held.items():
            self.true_alone[place, persons] = within(keys, one.keys)


def _largest(person: IntArray, rows: IntArray, many: int) -> tuple[IntArray, FloatArray]:
    """The rows of each person, and the largest share of them that a value has."""
    every = np.bincount(person, weights=rows, minlength=many).astype(np.int64)
    most = np.zeros(many, dtype=np.int64)
    np.maximum.at(most, person, rows)
    return every, most / np.maximum(every, 1)
