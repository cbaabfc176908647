"""History: the earlier releases joined with one another, at the level of groups of equal records.

A group is the records of a release that agree in all columns that matter for matching. Of those there are few, however
many records there are; and the current table is matched with combinations of groups, one of each release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.errors import DataError
from sfumato.previous.star import Rule, Star

_MOST = 20_000_000
"""Combinations of groups that are still looked at."""
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """The groups of one release: that of each record, and of each group the number of its label by column."""

    of: IntArray
    count: int
    labels: Mapping[str, IntArray]


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """All combinations of groups that match one another; `chosen` has for each release its group in each.

    Without earlier releases there is one combination, of nothing.
    """

    star: Star
    groups: tuple[Groups, ...]
    chosen: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.chosen[0]) if self.chosen else 1

    @cached_property
    def labels(self) -> dict[tuple[int, str], IntArray]:
        """The number of the label that each combination has in a column of a release."""
        pairs = list(enumerate(zip(self.groups, self.chosen, strict=True)))
        return {(i, name): labels[of] for i, (one, of) in pairs for name, labels in one.labels.items()}


def history_of(star: Star) -> History:
    """Join the earlier releases."""
    groups = tuple(_groups(star, place) for place in range(len(star.earlier)))
    chosen: list[IntArray] = [np.arange(groups[0].count)] if groups else []
    for place in range(1, len(groups)):
        chosen = _joined(star, groups, chosen, place)
    return History(star, groups, tuple(chosen))


def _groups(star: Star, place: int) -> Groups:
    earlier, names = star.earlier[place], star.matched_of(place)
    if not names:
        return Groups(np.zeros(earlier.rows, dtype=np.int64), 1, {})
    columns = [earlier.coded(name) for name in names]
    of, count = number_tuples(pack_tuples([column.codes for column in columns], [column.width for column in columns]))
    first = np.empty(count, dtype=np.int64)
    first[of[::-1]] = np.arange(len(of))[::-1]
    labels = {c.name: star.taxonomies[c.name].numbers(c.texts)[c.codes[first]] for c in columns}
    return Groups(of, count, labels)


def _joined(star: Star, groups: tuple[Groups, ...], chosen: list[IntArray], place: int) -> list[IntArray]:
    """The combinations so far, each with every group of one release more that it matches."""
    found: list[list[IntArray]] = []
    size, step = groups[place].count, max(_BLOCK // groups[place].count, 1)
    total = 0
    for start in range(0, len(chosen[0]), step):
        block = [each[start : start + step] for each in chosen]
        left, right = np.divmod(np.arange(len(block[0]) * size), size)
        fits = _fitting(star, groups, [*(each[left] for each in block), right])
        total += int(fits.sum())
        if total > _MOST:
            raise DataError(
                f"the earlier releases {', '.join(star.names)} match one another in more than {_MOST:,} ways; "
                "join them beforehand into one table, or look at fewer of them at a time"
            )
        found.append([*(each[left[fits]] for each in block), right[fits]])
    nothing = np.zeros(0, dtype=np.int64)
    return [np.concatenate([nothing, *parts]) for parts in zip(*found, strict=True)] or [nothing] * (place + 1)


def _fitting(star: Star, groups: tuple[Groups, ...], chosen: list[IntArray]) -> BoolArray:
    """Whether the last group of each combination matches all the others."""
    last = len(chosen) - 1
    fits = np.ones(len(chosen[last]), dtype=np.bool_)
    for i in range(last):
        for name in groups[i].labels.keys() & groups[last].labels.keys():
            if all(name in star.earlier[place].columns for place in (i, last)) and name not in star.apart:
                a, b = groups[i].labels[name][chosen[i]], groups[last].labels[name][chosen[last]]
                fits &= star.taxonomies[name].consistent(a, b)
    for rule in star.rules:
        fits &= ~_ruled_out(star, groups, chosen, rule)
    return fits


def _ruled_out(star: Star, groups: tuple[Groups, ...], chosen: list[IntArray], rule: Rule) -> BoolArray:
    """Combinations whose last group and one of the others are what a rule says cannot be."""
    out = np.ones(len(chosen[-1]), dtype=np.bool_)
    places = [star.names.index(side.reference.table) for side in rule if side.reference.table is not None]
    if len(places) < len(rule) or max(places) != len(chosen) - 1:
        return ~out
    for side, place in zip(rule, places, strict=True):
        labels = groups[place].labels[side.reference.column][chosen[place]]
        out &= star.taxonomies[side.reference.column].below(labels, side.value)
    return out
