"""Post-randomization (PRAM; Gouweleeuw, Kooiman, Willenborg and de Wolf 1998): values are kept or drawn anew.

A value is kept with chance p; else it is drawn among the values of the column, that very one included. Drawn evenly,
the transition matrix depends on nothing but p and the number m of values: a published value is at most
1 + p m / (1 - p) times likelier where it is true than where any other is, which is e^ε. So everybody can say of a
published value that it was drawn, and the frequencies can be worked out again: (share - (1 - p) / m) / p.

Invariant, a value is drawn by the frequencies of the column. Then these are expected to stay as they are, since
q (p I + (1 - p) 1 qᵀ) = q, and nobody has to work anything out. The price is that a rare value is rarely drawn: one
that is seen is likely true, and the odds, 1 + p / ((1 - p) q), are as bad as the rarest value is rare. That is why
drawing evenly is the default: it protects those alike who have a rare value, and its matrix tells nothing of the table.
"""

import math
from dataclasses import dataclass

import numpy as np

from sfumato.channels.category_noise import draw_uniform
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.randomness import Randomness


@dataclass(frozen=True, eq=False)
class TransitionChances:
    """What a value becomes: itself with chance `keep`, else any value i with chance `drawn[i]`.

    drawn: float[values], adds up to 1
    """

    keep: float
    drawn: FloatArray

    @classmethod
    def of(cls, keep: float, counts: IntArray, *, invariant: bool) -> "TransitionChances":
        """Make it for a column whose values occur so many times each, int[values].

        >>> TransitionChances.of(0.8, np.array([30, 10]), invariant=True).matrix().round(3).tolist()
        [[0.95, 0.05], [0.15, 0.85]]
        """
        if invariant:
            return cls(keep, counts / max(int(counts.sum()), 1))
        return cls(keep, np.full(len(counts), 1 / max(len(counts), 1)))

    def matrix(self) -> FloatArray:
        """The chance of each value for each true one, float[true, published]; rows add up to 1."""
        return self.keep * np.eye(len(self.drawn)) + (1 - self.keep) * self.drawn[None, :]

    @property
    def epsilon(self) -> float:
        """The log of the largest ratio of two chances of one published value; infinite where one rules a value out.

        >>> round(TransitionChances.of(0.5, np.array([5, 5]), invariant=False).epsilon, 4)  # ln 3
        1.0986
        """
        if len(self.drawn) < 2 or self.keep == 0:
            return 0.0
        least = float(self.drawn.min()) * (1 - self.keep)
        return math.inf if least <= 0 else math.log1p(self.keep / least)

    def draw(self, codes: IntArray, randomness: Randomness) -> IntArray:
        """Keep each of n values or draw it anew, both as places among the values.

        >>> chances = TransitionChances.of(0.0, np.array([1, 1, 0]), invariant=True)
        >>> sorted(set(chances.draw(np.zeros(50, dtype=np.int64), Randomness(1)).tolist()))
        [0, 1]
        """
        kept = draw_uniform((len(codes),), randomness) < self.keep
        sums = np.cumsum(self.drawn)
        anew = (
            np.searchsorted(sums, draw_uniform((len(codes),), randomness) * sums[-1], side="right")
            if len(sums)
            else codes
        )
        return np.where(kept, codes, np.minimum(anew, max(len(sums) - 1, 0)))
