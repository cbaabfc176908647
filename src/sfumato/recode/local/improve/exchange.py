"""Exchange: rows change their class where that lowers the cost, and classes that cost too much are given up.

A proposal moves one line to another class, or all lines of a class to others. All are priced at once; those that
promise most are chosen so that no class has part in two, carried out together, and each is kept only if its own
classes have become cheaper and meet every requirement. So a round never makes anything worse.
"""

from collections.abc import Callable

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.recode.local.improve.neighbours import Targets, seek
from sfumato.recode.local.improve.proposals import Proposals, chosen, proposed
from sfumato.recode.local.improve.swaps import swaps
from sfumato.recode.local.parts import SUPPRESSED, Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.standing import Standing

_GAIN = 1e-9
"""What a change has to save, in rows."""

_CHEAP = 0.25
"""Classes whose rows cost less than this share of an average row are not looked at."""

_SLOW = 0.985
"""Filling goes on while a round leaves at most so much of the rows that have no place."""

_ROUNDS = 100
"""Rounds at most."""

_BARREN = 3
"""Rounds running that bring little before it ends, where sensitive values may speak against a change."""


class Exchange:
    """A grouping that is being improved; lines stay whole.

    Classes that fail are emptied first; nothing else changes before that. Where rows may still be suppressed, that is
    a way out too: it costs what a row costs of which nothing is left. The budget is in pairs of line and class.
    """

    def __init__(self, problem: Problem, parts: Parts, budget: int) -> None:
        self.problem, self.parts, self.budget = problem, parts.numbered().joined(), budget
        self.void, self.groups = self.parts.groups, self.parts.groups + 1
        self.kept = np.flatnonzero(self.parts.group >= 0)
        self.of, self.rows, self.group = (
            part[self.kept] for part in (self.parts.of, self.parts.rows, self.parts.group)
        )
        self.spare = problem.requirement.limit - int(self.parts.rows.sum() - self.rows.sum())
        self.standing = self._count(np.arange(self.groups), self.group)
        self.targets = Targets.none(len(self.of))
        self.stale = np.ones(len(self.of), dtype=np.bool_)

    @property
    def result(self) -> Parts:
        """The grouping as it is now."""
        group = np.full(len(self.parts), SUPPRESSED)
        group[self.kept] = np.where(self.group == self.void, SUPPRESSED, self.group)
        return Parts(self.parts.of, self.parts.rows, group, self.parts.groups).numbered().joined()

    @property
    def lost(self) -> int:
        """Rows of classes that fail."""
        return int(self.standing.sizes[self._lost].sum())

    @property
    def _lost(self) -> BoolArray:
        """Classes that fail."""
        lost: BoolArray = ~self.standing.open & (self.standing.sizes > 0)
        return lost

    @property
    def cost(self) -> float:
        """What all classes cost, failing ones included."""
        return float(self.standing.costs.sum())

    def run(self, little: float) -> "Exchange":
        """Rounds until they save little, as a share of the cost."""

        def helps() -> bool:
            enough = little * abs(self.cost)
            return self.round() > enough or self.swap() > enough

        return self._while(helps)

    def fill(self) -> "Exchange":
        """Rounds until no class fails, or few more rows find a place."""

        def fewer() -> bool:
            if lost := self.lost:
                self.round()
            return self.lost < _SLOW * lost

        return self._while(fewer)

    def _while(self, helps: Callable[[], bool]) -> "Exchange":
        """Go on while it helps, with some patience: what was refused once may fit elsewhere."""
        barren, done, patience = 0, 0, _BARREN if self.problem.encoded.domains else 1
        while barren < patience and done < _ROUNDS and self.budget > 0:
            barren, done = 0 if helps() else barren + 1, done + 1
        return self

    def round(self) -> float:
        """Propose, choose, try and keep what is better; what that saved."""
        self._price()
        targets = self.targets.or_none(self.rows, self.void) if self.spare > 0 else self.targets
        return self._try(proposed(self.problem, self.standing, self._lines, targets))

    def swap(self) -> float:
        """The same with lines that change places."""
        self._price()
        return self._try(swaps(self.problem, self.standing, self._lines, self.targets))

    @property
    def _lines(self) -> Parts:
        return Parts(self.of, self.rows, self.group, self.groups)

    def _price(self) -> None:
        """Seek targets anew for lines whose class or target has changed, where there is anything to gain."""
        lost = self._lost
        dear = lost if lost.any() else self._dear
        lines = np.flatnonzero(self.stale & dear[self.group])
        asked = Parts(self.of[lines], self.rows[lines], self.group[lines], self.groups)
        found = self.targets.only(lines)
        self.budget -= seek(self.problem, self.standing, asked, found)
        self.targets.put(lines, found)
        self.stale[lines] = False

    @property
    def _dear(self) -> BoolArray:
        """Classes whose rows cost so much that there is something to gain."""
        sizes, costs = self.standing.sizes, self.standing.costs
        dear: BoolArray = costs > (_GAIN + _CHEAP * max(self.cost, 0.0) / sizes.sum()) * sizes
        return dear

    def _try(self, found: Proposals) -> float:
        """Choose from the proposals, carry them out, and take back those that do not help."""
        found = chosen(found, self.void, self.rows, self.spare)
        if not len(found.gain):
            return 0.0
        owner, gone = found.owner, found.target == self.void
        part = np.full(self.groups, -1)
        part[found.target], part[found.source] = owner, np.arange(len(found.gain))
        part[self.void] = -1
        touched = np.flatnonzero(part >= 0)
        moved = self.group.copy()
        moved[found.lines] = found.target
        after = self._count(touched, moved)
        saved = np.bincount(part[touched], weights=self.standing.penalized[touched] - after.penalized)
        saved -= np.bincount(owner[gone], weights=self.rows[found.lines[gone]], minlength=len(saved))
        good = saved > _GAIN
        self.standing.put(touched, after, good[part[touched]])
        lines = good[owner]
        self.group[found.lines[lines]] = found.target[lines]
        self.spare -= int(self.rows[found.lines[lines & gone]].sum())
        self._forget(touched[good[part[touched]]], found.lines[~lines])
        return float(saved[good].sum())

    def _forget(self, changed: IntArray, refused: IntArray) -> None:
        """What is known of lines whose class or target has changed is stale; refused ones seek another."""
        classes = np.zeros(self.groups, dtype=np.bool_)
        classes[changed] = True
        self.stale |= classes[self.group] | classes[self.targets.group]
        self.targets.refuse(refused)
        self.stale[refused] = True

    def _count(self, groups: IntArray, group: IntArray) -> Standing:
        """Some groups as they stand, given the group of each line; an empty one costs nothing."""
        place = np.full(self.groups, -1)
        place[groups] = np.arange(len(groups))
        lines = np.flatnonzero(place[group] >= 0)
        parts = Parts(self.of[lines], self.rows[lines], place[group[lines]], len(groups))
        found = Standing.empty(self.problem, len(groups))
        full, packed = np.flatnonzero(parts.sizes > 0), parts.numbered()
        if len(full):
            found.put(full, Standing.of(self.problem, packed), np.ones(len(full), dtype=np.bool_))
        return found
