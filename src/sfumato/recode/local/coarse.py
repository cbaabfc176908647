"""Coarse: a table in which values that are always published alike are one value.

Ranges of a partition are made of elementary intervals, and no label tells values of one interval apart. Neither may
the search: if it did, one extreme record, moved further out, could change the classes of others. So before the search
such columns are coded anew, by interval.
"""

from dataclasses import replace

from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.encode import CodedColumn, EncodedTable, QuasiIdentifier, count_distinct_tuples
from sfumato.hierarchy.hierarchy import build


def coarse(encoded: EncodedTable, places: dict[int, IntArray]) -> EncodedTable:
    """The table with some attributes, by number, coded by the place of each of their values."""
    if not places:
        return encoded
    quasi = tuple(_placed(one, places[i]) if i in places else one for i, one in enumerate(encoded.quasi))
    person = encoded.individual
    others = {name: encoded.sensitive[name] for name in encoded.domains if name in encoded.sensitive}
    if person is not None:
        others[person.name] = person
    return replace(encoded, quasi=quasi, tuples=count_distinct_tuples(quasi, others))


def _placed(attribute: QuasiIdentifier, place: IntArray) -> QuasiIdentifier:
    width = int(place.max(initial=0)) + 1
    names = tuple(str(number) for number in range(width))
    codes = narrow_codes(place, width).take(attribute.column.codes)
    column = CodedColumn(attribute.name, codes, names, attribute.column.values)
    return replace(attribute, column=column, hierarchy=build([names]))
