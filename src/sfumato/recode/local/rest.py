"""Rest: the rows that an algorithm from below has still to generalize, all at the same levels."""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem


@dataclass(frozen=True, eq=False)
class Rest:
    """The rows that are left, grouped by their labels: each attribute's level, and of each group its label there."""

    problem: Problem
    parts: Parts
    labels: tuple[IntArray, ...]
    levels: tuple[int, ...]

    @classmethod
    def of(cls, problem: Problem) -> "Rest":
        """All rows that take part, as they are."""
        parts = problem.start.only(problem.start.group >= 0)
        rest = cls(problem, replace(parts, group=np.arange(len(parts)), groups=len(parts)), (), ())
        codes = tuple(codes.take(parts.of).astype(np.int64) for codes in problem.encoded.tuples.quasi)
        return rest._grouped(codes, (0,) * len(codes))

    def entropies(self) -> FloatArray:
        """Of the labels of each attribute, by rows; rounded, so that equal ones tie."""
        sizes = self.parts.sizes
        shares = [np.bincount(labels, weights=sizes) / sizes.sum() for labels in self.labels]
        return np.round(
            [-(share * np.log2(share, where=share > 0, out=np.zeros_like(share))).sum() for share in shares], 12
        )

    def climbed(self, attribute: int) -> "Rest":
        """With one attribute generalized by one level."""
        level = self.levels[attribute]
        matrix = self.problem.encoded.quasi[attribute].hierarchy.matrix
        lift = np.zeros(int(matrix[:, level].max()) + 1, dtype=np.int64)
        lift[matrix[:, level]] = matrix[:, level + 1]
        labels = [lift.take(codes) if i == attribute else codes for i, codes in enumerate(self.labels)]
        levels = tuple(now + (i == attribute) for i, now in enumerate(self.levels))
        return self._grouped(tuple(labels), levels)

    def without(self, taken: IntArray) -> "Rest":
        """After some rows of each line have left."""
        rows = self.parts.rows - taken
        parts = replace(self.parts, rows=rows).only(rows > 0)
        used = np.zeros(parts.groups, dtype=np.bool_)
        used[parts.group] = True
        return replace(self, parts=parts.numbered(), labels=tuple(labels[used] for labels in self.labels))

    def _grouped(self, labels: tuple[IntArray, ...], levels: tuple[int, ...]) -> "Rest":
        """Groups of equal labels as one."""
        attributes = self.problem.encoded.quasi
        widths = [len(one.hierarchy.labels[level]) for one, level in zip(attributes, levels, strict=True)]
        into, groups = number_tuples(pack_tuples(labels, widths))
        first = np.zeros(groups, dtype=np.int64)
        first[into] = np.arange(len(into))
        parts = replace(self.parts, group=into.take(self.parts.group), groups=groups)
        return Rest(self.problem, parts, tuple(codes.take(first) for codes in labels), levels)
