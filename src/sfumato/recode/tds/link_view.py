"""A requirement on the join, on the values of x that the table has in its present state."""

from collections.abc import Mapping

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.keys import count_keys, number_tuples, pack_tuples
from sfumato.previous import CurrentCounts, GroupMatches, JoinRequirement, XYResult
from sfumato.recode.tds.axes import Split
from sfumato.recode.tds.groups import Groups, Parted, renewed
from sfumato.recode.tds.matching import Matching, Rematched, codes_of
from sfumato.recode.tds.view import Tried, View


class LinkView(View):
    """Every different tuple of the columns of x, those that records are matched by, and y; in groups by x."""

    def __init__(self, asked: JoinRequirement, matching: Matching) -> None:
        self.asked, self.matching, self.judge = asked, matching, asked.judge
        star = matching.star
        quasi = {attribute.name: place for place, attribute in enumerate(star.encoded.quasi)}
        inside = [name for name in asked.x if name in quasi]
        own = [codes_of(star, name) for name in asked.x]
        columns = [*own, (matching.rows_at, matching.size), (asked.y, asked.ys)]
        packed = pack_tuples([codes for codes, _ in columns], [width for _, width in columns])
        counted = count_keys(packed)
        *codes, self.record, self.y = packed.unpack(counted.keys)
        self.rows, known = counted.counts, dict(zip(asked.x, codes, strict=True))
        self.x = {quasi[name] for name in inside}
        self.leaves = {quasi[name]: known[name] for name in inside}
        self.leaves |= {quasi[n]: matching.tuples[n][self.record] for n in matching.axes if n not in inside}
        fixed = [name for name in asked.x if name not in quasi]
        start = pack_tuples([known[name] for name in fixed], [codes_of(star, name)[1] for name in fixed])
        of, many = number_tuples(start) if fixed else (np.zeros(len(self.rows), dtype=np.int64), 1)
        self.groups = Groups(of, many)
        self._begin()

    def _begin(self) -> None:
        everything = np.arange(len(self.rows))
        judged, rows = self._judged(Parted(everything, self.groups.of, np.arange(self.groups.count)), None)
        self.lost_rows = np.where(judged.passes, 0, rows)
        self.figure = judged.figure
        self.failing = int(self.lost_rows.sum())
        self.figures = {"y": float(self.judge.worst(judged.figure))}

    @property
    def falls(self) -> bool:
        """As the judge says, if no record can come to match nothing: that would take it out of the join."""
        return self.judge.antimonotone and self.matching.related

    def tried(self, place: int, split: Split, rematched: Rematched | None = None) -> Tried | None:
        """The values on x that would be parted or matched anew, judged."""
        if place not in self.leaves:
            return None
        child = split.which[self.leaves[place]]
        if place in self.x:
            tuples = np.flatnonzero(child >= 0)
            parted = self.groups.parted(tuples, child[tuples], len(split.children))
        else:  # x stays as it is, but what it matches does not
            tuples = np.flatnonzero(np.isin(self.groups.of, np.unique(self.groups.of[child >= 0])))
            parted = self.groups.parted(tuples, np.zeros_like(tuples), 1)
        judged, rows = self._judged(parted, rematched)
        lost = np.where(judged.passes, 0, rows)
        change = int(lost.sum()) - int(self.lost_rows[np.unique(parted.old)].sum())
        return Tried(change, {"y": float(self.judge.worst(judged.figure))}, parted, (lost, judged.figure))

    def commit(self, tried: Tried) -> None:
        """Part the values on x."""
        numbers = self.groups.commit(tried.parted)
        lost, figure = tried.more
        self.lost_rows = renewed(self.lost_rows, numbers, np.asarray(lost), self.groups.count)
        self.figure = renewed(self.figure, numbers, np.asarray(figure), self.groups.count)
        self.failing += tried.change
        self.figures = {"y": float(self.judge.worst(self.figure))}

    def lost(self, figures: Mapping[str, float]) -> float:
        """By the measure of the requirement."""
        return self.judge.privacy_loss(self.figures["y"], figures["y"])

    def _judged(self, parted: Parted, rematched: Rematched | None) -> tuple[XYResult, IntArray]:
        """The parts, judged by what they match, and the rows of each."""
        group = self.matching.groups.of[self.record[parted.tuples]]
        if rematched is not None:  # parts of groups stand behind the groups as they are
            new = np.full(self.matching.size, -1)
            new[rematched.parted.tuples] = len(self.matching.pairs) + rematched.parted.part
            found = new[self.record[parted.tuples]]
            group = np.where(found >= 0, found, group)
        involved, at = np.unique(group, return_inverse=True)
        rows = self.rows[parted.tuples]
        sizes = (len(parted.old), len(involved), self.asked.ys)
        lines = CurrentCounts.from_lines(parted.part, at, self.y[parted.tuples], rows, sizes)
        judged = self.judge.judge(lines, self._pairs(involved, rematched))
        return judged, np.bincount(parted.part, rows, sizes[0]).astype(np.int64)

    def _pairs(self, involved: IntArray, rematched: Rematched | None) -> GroupMatches:
        known = len(self.matching.pairs)
        now = self.matching.pairs.select(involved[involved < known])
        return now if rematched is None else now.append(rematched.pairs.select(involved[involved >= known] - known))
