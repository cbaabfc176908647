"""Bundles: a person's rows with equal quasi-identifiers as one tuple, so that no algorithm can part them.

The pseudonym ties these rows together. In different classes they would tell that the person is in both, which is more
than either class tells. As one tuple they move together, and there are fewer tuples to move. A bundle has rows of
several sensitive values: bags say which.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray, narrow_codes
from sfumato.core.classes import Histogram, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import EncodedTable, count_distinct_tuples


class Held(NamedTuple):
    """What lines hold: of which line, which value, in how many rows."""

    line: IntArray
    value: IntArray
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Bag:
    """The values of one sensitive column in each of so many bundles.

    >>> from sfumato.core.classes import SensitiveDomain
    >>> domain = SensitiveDomain(("flu", "HIV"), np.array([2, 1]))
    >>> bag = Bag(Histogram(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 1]), domain), 2)
    >>> bag.of(np.array([1, 0])).value, bag.holding(1)
    (array([0, 0, 1]), array([ True, False]))
    """

    values: Histogram
    bundles: int

    @cached_property
    def first(self) -> IntArray:
        """Where the values of each bundle begin, and where the last end."""
        return np.searchsorted(self.values.class_of, np.arange(self.bundles + 1))

    @cached_property
    def main(self) -> Codes:
        """The value that each bundle holds most often, the first of several."""
        order = np.lexsort([self.values.value, -self.values.count, self.values.class_of])
        return narrow_codes(self.values.value[order[self.first[:-1]]], len(self.values.domain.values))

    def of(self, bundles: IntArray) -> Held:
        """The values of some bundles, line by line."""
        lengths = np.diff(self.first).take(bundles)
        begin = np.cumsum(lengths) - lengths
        places = np.repeat(self.first.take(bundles) - begin, lengths) + np.arange(int(lengths.sum()))
        lines = np.repeat(np.arange(len(bundles)), lengths)
        return Held(lines, self.values.value.take(places), self.values.count.take(places))

    def holding(self, value: int) -> BoolArray:
        """Which bundles hold a value."""
        found = np.zeros(self.bundles, dtype=np.bool_)
        found[self.values.class_of[self.values.value == value]] = True
        return found


def bundled(encoded: EncodedTable) -> tuple[EncodedTable, dict[str, Bag]]:
    """The table with a tuple for each person and combination of quasi-identifiers, and what sensitive values it has."""
    person = encoded.individual
    assert person is not None  # noqa: S101 - the only caller has looked; this tells the type checker
    tuples = count_distinct_tuples(encoded.quasi, {person.name: person})
    columns = [*encoded.tuples.quasi, encoded.tuples.others[person.name]]
    widths = [*(attribute.column.width for attribute in encoded.quasi), person.width]
    bundle = number_tuples(pack_tuples(columns, widths))[0]
    bags = {
        name: Bag(
            count_values(bundle, codes.astype(np.int64), encoded.tuples.counts, encoded.domains[name]), len(tuples)
        )
        for name, codes in encoded.tuples.others.items()
        if name != person.name
    }
    return replace(encoded, tuples=tuples), bags
