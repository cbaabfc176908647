"""Assigning the values of bags to lines: weights that learn from all classes and keep to the counts of each."""

import numpy as np

from sfumato.attack.definetti.join import Join
from sfumato.attack.definetti.learner import Learner, learn
from sfumato.core.arrays import FloatArray

ROUNDS = 10
"""The most times that the learner is trained; accuracies hardly change after five."""

_SETTLED = 0.01
"""Training ends when no more of the weight than this goes from one value to another."""

_STEPS = 4
_LAST = 100
_CLOSE = 1e-6
"""Weights are balanced in so many steps while learning, in so many at the end, or until they are as close as this."""

_FAR = -30.0
"""No value of a bag is ruled out altogether: somebody holds it."""


def trained(join: Join) -> Learner:
    """Begin with the shares of the bags; then learn from the weights and weigh by what was learned, in turn."""
    weights, learner = join.even, learn(join, join.even)
    for _ in range(ROUNDS):
        before, weights = weights, assigned(join, learner, steps=_STEPS)
        learner = learn(join, weights)
        if np.abs(weights - before).sum() <= 2 * _SETTLED * join.lines.sum():
            break
    return learner


def assigned(join: Join, learner: Learner, *, steps: int = _LAST) -> FloatArray:
    """The lines that each link gets by what a learner says, such that the counts of each class are kept."""
    said = learner.along(join)
    said -= join.largest(said).take(join.cell)
    return balanced(join, np.exp(np.maximum(said, _FAR, out=said), out=said), steps=steps)


def balanced(join: Join, weights: FloatArray, *, steps: int = _LAST) -> FloatArray:
    """Scale by entry of the bag and by cell in turn (Sinkhorn), until each entry and each cell has its lines.

    All classes at once. Cells come last, so that theirs hold exactly, and entries as closely as the steps allow.
    """
    weights = weights * (join.lines / join.totals(weights)).take(join.cell)
    for _ in range(steps):
        held = np.bincount(join.entry, weights=weights, minlength=len(join.held))
        if np.abs(held - join.held).max(initial=0.0) <= _CLOSE:
            break
        weights *= (join.held / np.maximum(held, np.finfo(np.float64).tiny)).take(join.entry)
        weights *= (join.lines / join.totals(weights)).take(join.cell)
    return weights
