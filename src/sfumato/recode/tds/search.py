"""The search: specialize the candidate of the best score that keeps every requirement, until there is none left.

Score = InfoGain / (PrivLoss + 1), equation (1) of Wang and Fung 2006. A candidate is looked at only when its gain could
make it the best, and again only when a specialization has changed the groups it is in. One that fails is given up for
good where its requirement can only get worse; where that is not so, it gets another chance.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.recode.recoding import Progress
from sfumato.recode.tds.axes import Axis
from sfumato.recode.tds.candidate import Candidate, mends
from sfumato.recode.tds.gains import Gains
from sfumato.recode.tds.link_view import LinkView
from sfumato.recode.tds.matching import Matching, Rematched
from sfumato.recode.tds.view import Tried, View

Key = tuple[int, int]
"""A column by its place, and a node of it."""

_PATIENCE = 4
"""Steps in vain after which a search for a way down ends."""


class Search:
    """The cuts of all columns, the candidates, and the views that judge them."""

    def __init__(self, axes: list[Axis], views: list[View], *, limit: int, gains: Gains | None) -> None:
        self.axes, self.views, self.limit, self.gains = axes, views, limit, gains
        self.matchings = list(dict.fromkeys(view.matching for view in views if isinstance(view, LinkView)))
        self.cuts = {place: np.zeros(axis.leaves, dtype=np.int64) for place, axis in enumerate(axes)}
        self.candidates: dict[Key, Candidate] = {}
        self.order: list[tuple[float, Key]] = []
        for place in range(len(axes)):
            self._add(place, 0)

    @property
    def passes(self) -> bool:
        """Whether the table as it stands meets every requirement."""
        return all(view.failing <= self.limit for view in self.views)

    def run(self, progress: Progress | None = None) -> None:
        """Specialize as long as a candidate is valid."""
        done = 0
        while (best := self._best()) is not None:
            self._specialize(best)
            done += 1
            if progress is not None:
                progress(done, done + len(self.candidates))

    def descend(self) -> bool:
        """Specialize whatever leaves the fewest rows failing, until the requirements are met; whether they ever are.

        For requirements that a specialization may mend. It gives up when some steps in a row were of no use, so that it
        is no proof that there is no way where it finds none.
        """
        least, vain = np.inf, 0
        while not self.passes:
            failing = sum(view.failing for view in self.views)
            least, vain = (failing, 0) if failing < least else (least, vain + 1)
            if not self.candidates or vain >= _PATIENCE:
                return False
            for candidate in self.candidates.values():
                self._look(candidate)
            self._specialize(min(self.candidates.values(), key=mends))
        return True

    def _best(self) -> Candidate | None:
        """The valid candidate of the best score; of equals the one of more gain, then the first."""
        self._weigh()
        best, score = None, -1.0
        for _, key in self._ordered():
            candidate = self.candidates[key]
            if best is not None and candidate.gain <= score:
                break  # its score is at most its gain, and that of all behind it
            self._look(candidate)
            failing = candidate.failing(self.limit)
            if any(view.falls for view in failing):
                self._drop(candidate)
            elif not failing and (found := self._score(candidate)) > score:
                best, score = candidate, found
        return best

    def _ordered(self) -> list[tuple[float, Key]]:
        """The candidates, those of the largest gain first; gains that never change are kept in order."""
        if self.gains is not None:
            self.order = sorted((-one.gain, key) for key, one in self.candidates.items())
        return list(self.order)

    def _weigh(self) -> None:
        """Gains that depend on the classes, of all candidates whose classes have changed."""
        if self.gains is not None:
            for candidate in self.candidates.values():
                if not candidate.weighed:
                    weight = self.axes[candidate.place].weight
                    candidate.gain = weight * self.gains.of(candidate.place, candidate.split)
                    candidate.weighed = True

    def _score(self, candidate: Candidate) -> float:
        return candidate.gain / (sum(view.lost(tried.figures) for view, tried in candidate.tried) + 1)

    def _look(self, candidate: Candidate) -> None:
        """Try a candidate, unless nothing has changed since the last time."""
        if candidate.fresh:
            return
        rematched = {each: each.tried(candidate.place, candidate.split) for each in self.matchings}
        candidate.tried = []
        for view in self.views:
            tried = _tried(view, candidate, rematched)
            if tried is not None:
                candidate.tried.append((view, tried))
        candidate.fresh = True

    def _specialize(self, chosen: Candidate) -> None:
        """Part what the candidate parts, and mark all that has changed by it."""
        self._drop(chosen)
        self._cut(chosen)
        for view, tried in chosen.tried:
            view.commit(tried)
        for matching in self.matchings:
            if (rematched := matching.tried(chosen.place, chosen.split)) is not None:
                matching.commit(rematched)
        for view, tried in chosen.tried:
            self._stale(view.touched(tried, self.cuts) if view.local else self.cuts)
        if self.gains is not None:
            for one in self._among(self.gains.commit(chosen.place, chosen.split, self.cuts)):
                one.weighed = False

    def _cut(self, chosen: Candidate) -> None:
        self.cuts[chosen.place][chosen.split.leaves] = np.array(chosen.split.children)[chosen.split.child]
        for child in chosen.split.children:
            self._add(chosen.place, child)

    def _add(self, place: int, node: int) -> None:
        split = self.axes[place].split(node)
        if split is not None:
            self.candidates[place, node] = Candidate(place, node, split, split.gain)
            insort(self.order, (-split.gain, (place, node)))

    def _drop(self, candidate: Candidate) -> None:
        key = candidate.place, candidate.node
        del self.candidates[key]
        at = bisect_left(self.order, (-candidate.gain, key))
        if self.order[at : at + 1] == [(-candidate.gain, key)]:
            del self.order[at]

    def _stale(self, touched: Mapping[int, IntArray]) -> None:
        for candidate in self._among(touched):
            candidate.fresh = False

    def _among(self, nodes: Mapping[int, IntArray]) -> list[Candidate]:
        """The candidates that are among some nodes of each column."""
        keys = [(place, node) for place, each in nodes.items() for node in set(each.tolist())]
        return [self.candidates[key] for key in keys if key in self.candidates]


def _tried(view: View, candidate: Candidate, rematched: Mapping[Matching, Rematched | None]) -> Tried | None:
    if isinstance(view, LinkView):
        return view.tried(candidate.place, candidate.split, rematched[view.matching])
    return view.tried(candidate.place, candidate.split)
