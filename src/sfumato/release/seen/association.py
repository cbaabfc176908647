"""How strongly columns go together, before and after: Cramér's V over their bins, corrected for chance (Bergsma 2013).

It is 0 where two columns have nothing to do with each other and 1 where one tells the other, whatever their kinds. What
is published is looked at as a reader may: a row under a label counts in each bin by the label's share there, and where
columns stand in different tables, all lines of a class of one may belong to all lines of that class of the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.release.seen.column import Seen

if TYPE_CHECKING:
    from sfumato.release.release import Release

Grid = list[list[float | None]]

MOST = 12
"""Pairs of so many columns at most."""

ROWS = 50_000
"""More rows than this are not looked at, but so many of them, drawn at random."""

_DENSE = 1 << 14
"""Pairs of labels are counted in a table where it has no more cells than this."""

Joint = Callable[[Seen, Seen], FloatArray]
"""Counts of a pair of columns, bin by bin."""


@dataclass(frozen=True, eq=False)
class Association:
    """Of each pair of columns, before and after; nothing where a column has one value only.

    `change` is the mean of how much a pair changed, up or down; `sampled` says that not all rows were looked at.
    """

    names: tuple[str, ...]
    before: Grid
    after: Grid
    change: float | None
    sampled: bool


def association(release: "Release", columns: Sequence[Seen]) -> Association:
    """Of the first columns."""
    chosen, rng = list(columns[:MOST]), np.random.default_rng(1)
    owner = release.recoding.class_of
    published = np.flatnonzero(owner >= 0)
    every, kept = _some(np.arange(release.encoded.rows), rng), _some(published, rng)
    between = _Between({one.name: one for one in chosen}, owner, published, kept)
    before, after = _pairs(_cut(chosen, every), _before), _pairs(_cut(chosen, kept), _after(release, between))
    pairs = [(a, b) for old, new in zip(before, after, strict=True) for a, b in zip(old, new, strict=True)]
    changes = [abs(new - old) for old, new in pairs if old is not None and new is not None]
    change = float(np.mean(changes)) if changes else None
    return Association(tuple(one.name for one in chosen), before, after, change, len(kept) < release.rows)


def cramer(joint: FloatArray) -> float | None:
    """Cramér's V of a table of counts, corrected for chance; nothing where a side has one value only.

    >>> cramer(np.array([[50.0, 0.0], [0.0, 50.0]])), cramer(np.array([[25.0, 25.0], [25.0, 25.0]]))
    (1.0, 0.0)
    """
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    joint = joint[rows > 0][:, columns > 0]
    rows, columns, total = rows[rows > 0], columns[columns > 0], joint.sum()
    if min(len(rows), len(columns)) < 2 or total <= 1:
        return None
    expected = np.outer(rows, columns) / total
    phi = float(((joint - expected) ** 2 / expected).sum() / total)
    wide, tall = len(rows) - 1, len(columns) - 1
    phi = max(0.0, phi - wide * tall / (total - 1))
    most = min(wide - wide**2 / (total - 1), tall - tall**2 / (total - 1))
    return float(min(1.0, np.sqrt(phi / most))) if most > 0 else None


def _some(rows: IntArray, rng: np.random.Generator) -> IntArray:
    """The rows, or as many of them as are looked at."""
    return rows if len(rows) <= ROWS else np.sort(rng.choice(rows, ROWS, replace=False))


def _pairs(columns: Sequence[Seen], joint: Joint) -> Grid:
    """The association of each pair; a column with itself has none."""
    found = {(a, b): cramer(joint(columns[a], columns[b])) for a in range(len(columns)) for b in range(a)}
    places = range(len(columns))
    return [[None if a == b else found[max(a, b), min(a, b)] for b in places] for a in places]


def _cut(columns: Sequence[Seen], rows: IntArray) -> list[Seen]:
    """The columns of these rows alone."""
    return [replace(one, before=one.before.take(rows), after=one.after.take(rows)) for one in columns]


def _before(a: Seen, b: Seen) -> FloatArray:
    """Counts as the rows came."""
    return _counts(a.before, b.before, len(a.bins), len(b.bins))


def _after(release: "Release", between: "_Between") -> Joint:
    """Expected counts of what is published: by row, or by class between two tables."""
    table = {name: place for place, one in enumerate(release.tables.values()) for name in one.columns}

    def joint(a: Seen, b: Seen) -> FloatArray:
        if table[a.name] == table[b.name]:
            return _told(a, b)
        return between.joint(a, b.name) if table[a.name] < table[b.name] else between.joint(b, a.name).T

    return joint


def _told(a: Seen, b: Seen) -> FloatArray:
    """Rows by their labels, each label spread over its bins."""
    tall, wide = len(a.spread), len(b.spread)
    if tall * wide <= _DENSE:
        return _product(a.spread, _product(_counts(b.after, a.after, wide, tall), b.spread))
    parts = [np.bincount(a.after, weights=share.take(b.after), minlength=tall) for share in b.spread.T]
    return _product(a.spread, np.stack(parts, axis=1))


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """By numpy itself: for matrices of this shape a library would start threads, which take longer than the work."""
    product: FloatArray = np.einsum("li,lj->ij", a, b)
    return product


@dataclass(frozen=True, eq=False)
class _Between:
    """Two tables: every line of a class in one belongs to every line of it in the other, as far as they tell.

    All `columns` by name and the class of each row; the `published` rows make up the classes, `kept` are looked at.
    """

    columns: Mapping[str, Seen]
    class_of: IntArray
    published: IntArray
    kept: IntArray
    known: dict[str, FloatArray] = field(default_factory=dict)

    def joint(self, a: Seen, b: str) -> FloatArray:
        """The rows of a, which are cut to those looked at, each beside what its class holds of b."""
        owner, shares = self.class_of.take(self.kept), self._shares(b)
        parts = [np.bincount(a.before, weights=share.take(owner), minlength=len(a.bins)) for share in shares.T]
        return np.stack(parts, axis=1)

    def _shares(self, name: str) -> FloatArray:
        """The share of each bin in each class, by all rows; values are published as they were."""
        if name not in self.known:
            one, owner = self.columns[name], self.class_of.take(self.published)
            sizes = np.bincount(owner)
            counts = _counts(owner, one.before.take(self.published), len(sizes), len(one.bins))
            self.known[name] = counts / np.maximum(sizes, 1)[:, None]
        return self.known[name]


def _counts(a: Codes, b: Codes, tall: int, wide: int) -> FloatArray:
    """How often each code of one stands beside each code of the other."""
    found = np.bincount(a.astype(np.int64) * wide + b, minlength=tall * wide)
    return found.reshape(tall, wide).astype(np.float64)
