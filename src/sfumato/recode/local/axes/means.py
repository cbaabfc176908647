"""Means of groups as labels, in exact arithmetic: the same members give the same text, in whatever order they come."""

from collections.abc import Sequence

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.numbers import write_decimal
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.recode.local.axes.axis import Members

_SAFE = 1 << 62


def means(numbers: Sequence[int | None], scale: int, members: Members, kinds: IntArray) -> list[Label]:
    """The mean of each group, rounded to one digit more than the numbers have.

    `numbers` are the leaves', in steps of ``1 / scale``; `kinds` say of each group whether it has numbers only (0),
    numbers and NULLs (1), or NULLs only (2).

    >>> members = Members(np.array([0, 1, 1]), np.array([1, 1, 1]), np.array([0, 0, 1]))
    >>> means([1, 2], 1, members, np.array([0, 0]))
    ['1.5', '2']
    """
    rows = np.bincount(members.group, members.rows, len(kinds)).astype(np.int64).tolist()
    sums = _sums(numbers, members, len(kinds))
    told = (_mean, lambda *_: ROOT, lambda *_: None)
    return [told[kind](total, count, scale) for kind, total, count in zip(kinds.tolist(), sums, rows, strict=True)]


def _mean(total: int, count: int, scale: int) -> str:
    """Rounded half up, so that it is the same however the rows are ordered."""
    return write_decimal((20 * total + count) // (2 * count), 10 * scale)


def _sums(numbers: Sequence[int | None], members: Members, groups: int) -> list[int]:
    """The sum of each group's numbers, in machine words where they fit."""
    known = [n or 0 for n in numbers]
    most = max(map(abs, known), default=0) * int(members.rows.sum())
    values = np.array(known, dtype=np.int64 if most < _SAFE else object)
    found = np.zeros(groups, dtype=values.dtype)
    np.add.at(found, members.group, values[members.leaf] * members.rows)
    return [int(total) for total in found]
