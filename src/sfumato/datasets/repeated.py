"""A table with several rows per person, made from one with one row per person: the identity-reserved paper's tables."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

PERSON_COLUMN = "id-number"


class PersonGroups(NamedTuple):
    """How many people have one row (`a`), two (`b`) and three (`c`)."""

    a: int
    b: int
    c: int


def repeated(table: Any, rpi: float, *, people: int = 40_000, sensitive: str = "occupation", seed: int = 1) -> Any:
    """Make an Arrow table with `rpi` rows per person on average, as in section 5 of the identity-reserved paper.

    So many rows of `table` are chosen at random (all, where it has fewer), and each is a person with a number of its
    own in the new first column ``id-number``. `person_groups` says how many of them have two rows and three. A person's
    rows differ in `sensitive` alone: its further values are drawn as the table has them, from those that the person
    does not have yet. A person's rows follow one another; people are in no order.

    >>> small = pa.table({"sex": ["f", "m", "f", "m"], "job": ["cook", "clerk", "smith", "cook"]})
    >>> large = repeated(small, 1.75, sensitive="job")
    >>> large.column_names, large.num_rows
    (['id-number', 'sex', 'job'], 7)
    >>> len(set(zip(large["id-number"].to_pylist(), large["job"].to_pylist())))
    7
    """
    if sensitive not in table.column_names:
        raise ValueError(
            f"the table has no column {sensitive}; say with sensitive= which one a person's rows differ in"
        )
    if PERSON_COLUMN in table.column_names:
        raise ValueError(
            f"the table has a column {PERSON_COLUMN} already; rename it, since people get their numbers there"
        )
    draw = np.random.default_rng(seed)
    chosen = draw.permutation(table.num_rows)[:people]
    times = draw.permutation(np.repeat([1, 2, 3], person_groups(len(chosen), rpi)))
    person = np.repeat(np.arange(len(chosen)), times)
    nth = np.arange(len(person)) - np.repeat(np.cumsum(times) - times, times)
    rows = chosen[person]
    whole = table.unify_dictionaries()
    codes = _value_codes(whole.column(sensitive), sensitive, int(times.max(initial=0)))
    values = whole.column(sensitive).take(pa.array(_rows_with_values(codes, rows, nth, draw)))
    result = whole.take(pa.array(rows)).set_column(table.column_names.index(sensitive), sensitive, values)
    return result.add_column(0, PERSON_COLUMN, pa.array(person + 1))


def person_groups(people: int, rpi: float) -> PersonGroups:
    """Compute how many of so many people have one row, two and three, by the pattern of the paper's Table 6.

    Twice as many have two rows as have three; together they have all rows beyond one per person. So nobody would be
    left with one row above an rpi of 7/3.

    >>> [person_groups(40_000, rpi) for rpi in (1.2, 1.8)]
    [PersonGroups(a=34000, b=4000, c=2000), PersonGroups(a=16000, b=16000, c=8000)]
    """
    further = round(people * rpi) - people
    three = further // 4
    two = further - 2 * three
    if further < 0 or two + three > people:
        raise ValueError(f"rpi must be from 1 to 7/3, where the last person with one row gets a second, not {rpi:g}")
    return PersonGroups(people - two - three, two, three)


def _value_codes(column: Any, name: str, needed: int) -> NDArray[np.int64]:
    """Number the column's values, NULL one of them; a person needs so many different ones."""
    kind = column.type
    plain = (column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column).combine_chunks()
    encoded = plain.dictionary_encode(null_encoding="encode")
    if len(encoded.dictionary) < needed:
        values = f"{len(encoded.dictionary)} different values, and a person with {needed} rows needs as many"
        raise ValueError(f"column {name} has {values}; take another column or a lower rpi")
    return np.asarray(encoded.indices.to_numpy(), dtype=np.int64)


def _rows_with_values(
    codes: NDArray[np.int64], rows: NDArray[np.int64], nth: NDArray[np.int64], draw: np.random.Generator
) -> NDArray[np.int64]:
    """Choose for each of the n rows of the result a row of the table that has its value: the person's own, then others.

    codes:     int[t], the value of each row of the table
    rows, nth: int[n], the person's row in the table, and how many rows of the person are before; persons are together
    """
    source, in_order, counts = rows.copy(), np.argsort(codes, kind="stable"), np.bincount(codes)
    for place in range(1, int(nth.max(initial=0)) + 1):
        current = np.flatnonzero(nth == place)
        taken = np.stack([codes[source[current - back]] for back in range(1, place + 1)], axis=1)
        source[current] = in_order[_draw_other_values(counts, taken, draw)]
    return source


def _draw_other_values(
    counts: NDArray[np.int64], taken: NDArray[np.int64], draw: np.random.Generator
) -> NDArray[np.int64]:
    """Draw for each of m lines a place among all rows in order of their values, outside the values it has taken.

    counts: int[v], the rows of each value; taken: int[m, p], the different values that a line must not get.
    All other places are equally likely, so that values come as often as the table has them: a place is drawn from as
    many as are left, and steps over each taken value that begins at it or before, from the first on.
    """
    taken = np.sort(taken, axis=1)
    first = np.cumsum(counts) - counts
    place: NDArray[np.int64] = draw.integers(0, counts.sum() - counts[taken].sum(axis=1))
    for value in taken.T:
        place += np.where(place >= first[value], counts[value], 0)
    return place
