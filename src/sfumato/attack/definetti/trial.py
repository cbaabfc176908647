"""One try of the attack: whom it is tried on, with what they are linked to and what is true of them."""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.definetti.assign import trained
from sfumato.attack.definetti.bag import Bag
from sfumato.attack.definetti.guess import Guesses, without
from sfumato.attack.definetti.join import Join, joined
from sfumato.attack.definetti.people import People
from sfumato.attack.definetti.truth import Truth
from sfumato.core.arrays import IntArray
from sfumato.split import TwoTables

PARTS = 5
"""Classes are split into so many parts, of which one at a time is held out."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The lines looked at, the bags of their classes, and the truth about them."""

    tables: TwoTables
    bag: Bag
    people: People
    truth: Truth

    def join(self, people: People | None = None) -> Join:
        """The people, all or these, with the bags of their classes."""
        return joined(people or self.people, self.bag.lines, self.tables.sizes)

    def right(self, guesses: Guesses, people: People | None = None) -> float:
        """On how many lines guesses are right, as it is to be expected where people look alike."""
        return float((guesses.right(self.truth) * (people or self.people).weight).sum())

    def accuracy(self, guesses: Guesses) -> float:
        """The share of lines on which guesses are right."""
        return self.right(guesses) / float(self.people.weight.sum())

    def drawn(self, join: Join) -> float:
        """The share of lines on which a value is right that is drawn at random from the bags of their profile.

        Where each profile has one line, a class of n lines with r of a value is right on r times r / n of these.
        """
        profile = join.profile[join.cell]
        right = join.even * self.people.guessed[profile] * self.truth.share(profile, join.value)
        return float(right.sum() / self.people.weight.sum())


def outside(trial: Trial, held_out: int, rng: np.random.Generator) -> float | None:
    """How often the learner is right about people of classes that it was not trained on, from what is known of them.

    Each time a part of the classes is held out and the learner is trained, by the same procedure, on the others.
    ``None`` where there is one class: nobody is left to learn from.
    """
    part = _parts(trial.people, len(trial.tables.sizes), rng)
    chosen = np.unique(part[trial.people.class_of])
    if len(chosen) < 2:
        return None
    every = [(trial.people.only(part != one), trial.people.only(part == one)) for one in chosen[:held_out]]
    lines = sum(float(held.weight.sum()) for _, held in every)
    return sum(_right(trial, rest, held) for rest, held in every) / lines if lines else None


def _right(trial: Trial, rest: People, held: People) -> float:
    learner = trained(trial.join(rest))
    return trial.right(without(held, learner, trial.bag.told), held)


def _parts(people: People, classes: int, rng: np.random.Generator) -> IntArray:
    """A part for each class, at random, each part of about as many lines."""
    lines = np.bincount(people.class_of, weights=people.lines, minlength=classes)
    order = rng.permutation(classes)
    before = np.cumsum(lines[order]) - lines[order]
    part = np.empty(classes, dtype=np.int64)
    part[order] = (before * PARTS / lines.sum()).astype(np.int64)
    return part
