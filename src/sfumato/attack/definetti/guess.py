"""Guesses: the likeliest value for each profile, and how often it is right."""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.definetti.join import Join
from sfumato.attack.definetti.learner import Learner
from sfumato.attack.definetti.people import People
from sfumato.attack.definetti.truth import Truth
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.segments import run_starts

_EQUAL = 1e-9
"""Values that are as likely but for rounding are guessed in turn."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """The best value for each profile, or several that tie, of which one is taken at random; and how sure one is."""

    profile: IntArray
    value: IntArray
    sure: FloatArray

    def right(self, truth: Truth) -> FloatArray:
        """The chance that the guess for each profile is right of somebody who has it; 0 without a guess."""
        profiles = len(truth.rows)
        ways = np.bincount(self.profile, minlength=profiles)
        right = np.bincount(self.profile, truth.share(self.profile, self.value), profiles)
        return right / np.maximum(ways, 1)

    def surest(self, profiles: int) -> FloatArray:
        """How sure one is of the guess for each profile."""
        found = np.zeros(profiles)
        found[self.profile] = self.sure
        return found


def within(join: Join, weights: FloatArray, allowed: BoolArray) -> Guesses:
    """The value that most lines of each profile got."""
    links = np.flatnonzero(allowed[join.value])
    keys = join.profile[join.cell[links]] * join.values + join.value[links]
    order = np.argsort(keys, kind="stable")
    first = run_starts(keys[order]) if len(links) else links
    pairs, sums = keys[order][first], np.add.reduceat(weights[links[order]], first)
    lines = np.bincount(join.profile, weights=join.lines)
    profile, value = np.divmod(pairs, join.values)
    return _best(profile, value, sums / lines[profile])


def _best(profile: IntArray, value: IntArray, sure: FloatArray) -> Guesses:
    """The best of each profile, whose lines stand together."""
    first = run_starts(profile) if len(profile) else profile
    top = np.repeat(np.maximum.reduceat(sure, first), np.diff(first, append=len(profile)))
    best = sure >= top - _EQUAL
    return Guesses(profile[best], value[best], sure[best])


def without(people: People, learner: Learner, allowed: BoolArray) -> Guesses:
    """The value that the learner finds likeliest for each profile whatever the bag, of those that are guessed about."""
    profiles = np.flatnonzero(people.weight)
    found = []
    for start, scores in learner.scores([known[profiles] for known in people.known]):
        scores[:, ~allowed] = -np.inf
        place, value = np.nonzero(scores >= scores.max(axis=1, keepdims=True) - _EQUAL)
        found.append((profiles[start + place], value, _share(scores)[place, value]))
    profile, value, sure = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Guesses(profile, value, sure)


def _share(scores: FloatArray) -> FloatArray:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    share: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return share
