"""Lend: lines move from groups that can spare them to the orphans, as few as are found to make these pass."""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.recode.local.bottom_up.offers import Offers, pieces
from sfumato.recode.local.bottom_up.spare import passing, spared
from sfumato.recode.local.parts import SUPPRESSED, Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.progressive.removal import last


def lent(problem: Problem, parts: Parts, orphans: Parts) -> Parts | None:
    """The groups, and the orphans with what is lent to them as one more; nothing where no loan makes them pass.

    Each lender passes without what it lends, and so does the new group.
    """
    lines = pieces(parts, whole=problem.whole)
    needy = replace(orphans, group=np.zeros(len(orphans), dtype=np.int64), groups=1)
    lending = _Lending(problem, lines, needy)
    loans = (lending.least(queue) for queue in Offers(problem, lines, needy).queues())
    found = [lending.moved(parts.only(parts.group < 0), loan) for loan in loans if loan is not None]
    return min(found, key=problem.cost, default=None)


@dataclass(frozen=True, eq=False)
class _Lending:
    """Lines that groups have, and orphans, all in one group, who need some of them."""

    problem: Problem
    lines: Parts
    orphans: Parts

    def least(self, queue: IntArray) -> BoolArray | None:
        """The lines that are lent: the first in the queue that can be spared, as few as make the orphans pass."""
        offered = queue[spared(self.problem, self.lines, queue).take(queue)]

        def little(size: int) -> bool:
            return self._loan(offered[:size]) is None

        sizes = np.unique(np.minimum(1 << np.arange(len(offered).bit_length() + 1), len(offered)))
        enough = next((int(size) for size in sizes if not little(int(size))), None)
        return None if enough is None else self._loan(offered[: last(little, enough) + 1])

    def _loan(self, offered: IntArray) -> BoolArray | None:
        """These lines, but those whose group would fail without them; nothing where the orphans still fail.

        A group that can do without two lines may need the one where the other stays.
        """
        loan, asked = np.zeros(len(self.lines), dtype=np.bool_), np.zeros(self.lines.groups, dtype=np.bool_)
        loan[offered] = True
        asked[self.lines.group[offered]] = True
        loan &= passing(self.problem, self.lines.only(~loan), asked).take(self.lines.group)
        helped = _put_together(self.orphans, replace(self.lines.only(loan), group=np.zeros(int(loan.sum()), np.int64)))
        return loan if self.problem.holds(replace(helped, groups=1)).all() else None

    def moved(self, gone: Parts, loan: BoolArray) -> Parts:
        """All groups after a loan, the orphans' the last, with the rows that are suppressed."""
        last_ = self.lines.groups
        lines = replace(self.lines, group=np.where(loan, last_, self.lines.group))
        orphans = replace(self.orphans, group=np.full(len(self.orphans), last_))
        parts = _put_together(lines, orphans, replace(gone, group=np.full(len(gone), SUPPRESSED)))
        return replace(parts, groups=last_ + 1).joined()


def _put_together(first: Parts, *others: Parts) -> Parts:
    """The lines of all, their groups numbered as they are."""
    parts = (first, *others)
    of, rows, group = (np.concatenate([getattr(each, name) for each in parts]) for name in ("of", "rows", "group"))
    return Parts(of, rows, group, first.groups)
