"""Persons in an order that their names have no part in.

Between rows that are alike, a search takes those that come first. If persons came in the order of their names, whoever
knows the names would know who was dropped and who was lent, and of those who cannot have been, more than is promised.
So persons are numbered by what is published of them, spread by hashing, and those of whom the same is published at
random. What comes out is then the same each time, whoever is called what.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrow import places, to_numpy
from sfumato.coding import Coded
from sfumato.keys import Codes, hashed, narrow, starts
from sfumato.randomness import Randomness


def nameless(person: Coded, columns: Iterable[Codes], randomness: Randomness) -> Coded:
    """The persons numbered anew, by the codes of all other columns in their rows, whichever order these have.

    >>> people = Coded("who", np.array([0, 1, 1]), ("ann", "bob"), pa.array(["ann", "bob"]))
    >>> found = nameless(people, [np.array([5, 7, 8])], Randomness(1))
    >>> sorted(found.texts), [found.texts[code] for code in found.codes]
    (['ann', 'bob'], ['ann', 'bob', 'bob'])
    """
    rows = np.zeros(len(person.codes), dtype=np.uint64)
    for place, codes in enumerate(columns):
        rows = hashed(rows ^ codes.astype(np.uint64), place + 1)
    order = np.lexsort([randomness.permutation(person.width), _summed(rows, person.codes)])
    return _renumbered(person, order)


def ranks(columns: Mapping[str, Any]) -> list[Codes]:
    """The values of Arrow columns as numbers that do not depend on the order of the rows."""
    return [to_numpy(pc.rank(_sortable(column), tiebreaker="dense").cast(pa.int64())) for column in columns.values()]


def _sortable(column: Any) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type)
    return column.cast(pa.string()) if pa.types.is_null(kind) or pa.types.is_string_view(kind) else column


def _summed(words: Any, codes: Codes) -> Any:
    """The sum of the words of each person, which wraps around as words do."""
    order = np.argsort(codes, kind="stable")
    return np.add.reduceat(words[order], starts(codes[order])) if len(words) else words


def _renumbered(person: Coded, order: Any) -> Coded:
    place = np.empty(person.width, dtype=np.int64)
    place[order] = np.arange(person.width)
    texts = tuple(person.texts[number] for number in order.tolist())
    values = person.values.take(places(order.tolist()))
    return Coded(person.name, narrow(place, person.width).take(person.codes), texts, values)
