"""Pairs: which groups of the current table match which combinations of earlier releases, as the table is specialized.

At the start, with every quasi-identifier at its root, nearly everything matches. Each specialization splits groups of
the current table, and each part keeps those of its parent's matches that are still consistent. So the join is never
made: it is kept as a list of pairs of groups, and only pairs of groups that have changed are looked at again.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.previous.history import History


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """For each group of the current table, in order, the combinations it matches: those from `first` to the next."""

    first: IntArray
    match: IntArray

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def of(cls, owner: IntArray, match: IntArray, groups: int) -> "Pairs":
        """From pairs in the order of their groups."""
        return cls(np.searchsorted(owner, np.arange(groups + 1)), match)

    @cached_property
    def owner(self) -> IntArray:
        """The group of each pair."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def lengths(self) -> IntArray:
        """How many combinations each group matches."""
        return np.diff(self.first)

    def only(self, groups: IntArray) -> "Pairs":
        """Some of the groups, numbered by their places; a group may stand twice."""
        lengths = self.lengths[groups]
        first = np.concatenate(([0], np.cumsum(lengths)))
        lines = np.arange(first[-1]) + np.repeat(self.first[groups] - first[:-1], lengths)
        return Pairs(first, self.match[lines])

    def keep(self, kept: BoolArray) -> "Pairs":
        """Some of the pairs, for the same groups."""
        return Pairs.of(self.owner[kept], self.match[kept], len(self))

    def plus(self, more: "Pairs") -> "Pairs":
        """With further groups behind these."""
        return Pairs(np.concatenate([self.first, self.first[-1] + more.first[1:]]), np.append(self.match, more.match))


@dataclass(frozen=True, eq=False, repr=False)
class Matcher:
    """Which combinations of earlier releases a label of the current table leaves over."""

    history: History

    @property
    def start(self) -> Pairs:
        """One group that matches everything."""
        return Pairs(np.array([0, len(self.history)]), np.arange(len(self.history)))

    def consistent(self, pairs: Pairs, column: str, labels: IntArray) -> Pairs:
        """The pairs that stay when each group has this label in a column, by the column's taxonomy."""
        star, kept = self.history.star, np.ones(len(pairs.match), dtype=np.bool_)
        own = labels[pairs.owner]
        for place, join in enumerate(star.joins):
            if column in join:
                other = self.history.labels[place, column][pairs.match]
                kept &= star.taxonomies[column].consistent(own, other)
        return pairs if kept.all() else pairs.keep(kept)

    def allowed(self, pairs: Pairs, labels: dict[str, IntArray]) -> Pairs:
        """The pairs that no rule excludes, given the labels of each group in the columns that rules name."""
        star, kept = self.history.star, np.ones(len(pairs.match), dtype=np.bool_)
        for rule in star.rules:
            own = [side for side in rule if side.reference.table is None]
            if not own:
                continue
            (mine,), (other,) = own, [side for side in rule if side.reference.table is not None]
            place = star.names.index(str(other.reference.table))
            theirs = self.history.labels[place, other.reference.column][pairs.match]
            out = star.taxonomies[other.reference.column].below(theirs, other.value)
            column = mine.reference.column
            out &= star.taxonomies[column].below(labels[column], mine.value)[pairs.owner]
            kept &= ~out
        return pairs if kept.all() else pairs.keep(kept)
