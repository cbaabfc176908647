"""The learner: naive Bayes over the quasi-identifiers, from weights in place of counts.

How much likelier a value is for somebody of age 40 is estimated from the lines of that age; the ages of few lines say
little, and are drawn towards saying nothing (Kifer uses naive Bayes, too; so does Cormode's variant of the attack).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attack.definetti.join import Join
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.segments import sum_by_group

SMOOTHING = 10.0
"""Each value of a quasi-identifier counts as if it were on so many lines more, with sensitive values as anywhere."""

_NEVER = 1e-9
"""A value that no line is given is not impossible."""

_BLOCK = 1 << 20
"""Scores are computed so many at a time."""


@dataclass(frozen=True, eq=False)
class Learner:
    """Logarithms: how frequent each value is, and how much more so with each value of each quasi-identifier."""

    prior: FloatArray
    lifts: tuple[FloatArray, ...]

    def along(self, join: Join) -> FloatArray:
        """What the quasi-identifiers of a cell say for the value of each of its links."""
        found = np.zeros(len(join.cell))
        for lift, seen in zip(self.lifts, join.seen, strict=True):
            found += lift.ravel().take(seen)
        return found

    def scores(self, known: Sequence[IntArray]) -> Iterator[tuple[int, FloatArray]]:
        """What is known of people says for each value, prior included: block by block, each with where it begins."""
        step = max(_BLOCK // len(self.prior), 1)
        for start in range(0, len(known[0]), step):
            parts = (
                lift.take(each[start : start + step], axis=0) for lift, each in zip(self.lifts, known, strict=True)
            )
            yield start, sum(parts, self.prior[np.newaxis, :])


def learn(join: Join, weights: FloatArray) -> Learner:
    """Estimate from the lines that each link got.

    Of lines with age 40, a share P(v | 40) holds v; by Bayes P(40 | v) / P(40) = P(v | 40) / P(v), which is the lift.
    """
    totals = np.bincount(join.value, weights=weights, minlength=join.values) + _NEVER
    prior = totals / totals.sum()
    counts = [sum_by_group(seen, weights, n * join.values) for seen, n in zip(join.seen, join.bins, strict=True)]
    return Learner(np.log(prior), tuple(_lift(each, prior) for each in counts))


def _lift(counts: FloatArray, prior: FloatArray) -> FloatArray:
    counts = counts.reshape(-1, len(prior))
    share = (counts + SMOOTHING * prior) / (counts.sum(axis=1, keepdims=True) + SMOOTHING)
    lift: FloatArray = np.log(share / prior)
    return lift
