"""Which worlds an alternative fails in, by the models themselves, all worlds at once."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.attack.minimality.cells import Cells
from sfumato.attack.minimality.finer import Finer
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.world import Worlds
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, count_values
from sfumato.core.keys import number_tuples, pack_tuples

_NOTHING = 1e-12
"""Probabilities below this are what rounding leaves of none."""

_TINY = np.finfo(np.float64).tiny
_ROUNDS = 8


def failing(situation: Situation, cells: Cells, finer: Finer, worlds: Worlds) -> BoolArray:
    """In which worlds some part of the alternative fails a requirement."""
    part = finer.part[cells.row]
    first = np.full(situation.classes, len(finer.part))
    np.minimum.at(first, cells.home[part >= 0], part[part >= 0])
    place = part - first[cells.home]
    slots = np.flatnonzero((part >= 0)[worlds.cell])
    world = worlds.world[slots]
    owner, _ = number_tuples(
        pack_tuples([world, place[worlds.cell[slots]]], [len(worlds), int(place.max(initial=0)) + 1])
    )
    values = {name: codes[slots] for name, codes in worlds.values.items()}
    persons = None if worlds.persons is None else worlds.persons[slots]
    bad = ~passing(situation, owner, values, persons)
    found = np.zeros(len(worlds), dtype=np.bool_)
    found[world[bad[owner]]] = True
    return found


def passing(
    situation: Situation, owner: IntArray, values: Mapping[str, IntArray], persons: IntArray | None
) -> BoolArray:
    """Which classes meet every requirement, from the class and the values of each row."""
    ones, domains = np.ones_like(owner), situation.domains
    sensitive = {name: count_values(owner, codes, ones, domains[name]) for name, codes in values.items()}
    named = situation.encoded.individual
    people = None if persons is None or named is None else count_values(owner, persons, ones, domains[named.name])
    return situation.requirement.holds(EquivalenceClasses(np.bincount(owner), sensitive, people))


@dataclass(frozen=True, eq=False)
class Weighed:
    """How likely each world is, given that no alternative was taken, up to a factor for each class.

    `tried` is how many worlds of each class there are, `total` the sum of their weights, and `effective` how many
    worlds of equal weight would tell as much: without end where no world is likelier than another, since the shares of
    the class are known then.
    """

    weight: FloatArray
    tried: IntArray
    total: FloatArray
    effective: FloatArray

    @classmethod
    def of(cls, weight: FloatArray, home: IntArray, classes: int) -> "Weighed":
        """Worlds of these classes with these weights."""
        tried = np.bincount(home, minlength=classes)
        total: FloatArray = np.bincount(home, weights=weight, minlength=classes).astype(np.float64)
        squares = np.bincount(home, weights=weight**2, minlength=classes)
        alike = total**2 / np.maximum(squares, _TINY)
        # the mean of all worlds is known, so that the mean of some is off as in drawing without putting back
        rest = np.maximum(1 - alike / np.maximum(tried, 1), 0.0)
        return cls(weight, tried, total, np.where(rest > _NOTHING, alike / np.maximum(rest, _NOTHING), np.inf))

    @property
    def known(self) -> BoolArray:
        """Classes of which some world is left."""
        return self.total > 0

    @property
    def telling(self) -> BoolArray:
        """Classes of which some worlds are likelier than others."""
        return self.known & np.isfinite(self.effective)


def weighed(finer: tuple[Finer, ...], fails: list[BoolArray], worlds: Worlds, classes: int) -> Weighed:
    """Each world by the probability that every alternative fails, there or in another class of its group.

    What is known of the other classes depends on the other alternatives, and the other way round; so each is taken with
    what the others say of it, in turn (belief propagation). With one alternative, or where each class is a group of its
    own, once is enough and exact.
    """
    alone = all(len(np.unique(one.group)) == classes for one in finer)
    factors = np.ones((len(finer), len(worlds)))
    for _ in range(1 if alone or len(finer) == 1 else _ROUNDS):
        for place, (one, fail) in enumerate(zip(finer, fails, strict=True)):
            rest = np.delete(factors, place, axis=0).prod(axis=0)
            elsewhere = _elsewhere(_chance(fail, rest, worlds.home, classes), one.group)
            factors[place] = np.where(one.open[worlds.home] & ~fail, elsewhere[worlds.home], 1.0)
    return Weighed.of(factors.prod(axis=0), worlds.home, classes)


def _chance(fail: BoolArray, weight: FloatArray, home: IntArray, classes: int) -> FloatArray:
    """The probability for each class that an alternative fails in it; 0 where no world is left."""
    total = np.bincount(home, weights=weight, minlength=classes)
    chance: FloatArray = np.bincount(home, weights=weight * fail, minlength=classes) / np.maximum(total, _TINY)
    return chance


def consistent(finer: tuple[Finer, ...], fails: list[BoolArray]) -> BoolArray:
    """In which classes every alternative fails as things are, there or in another class of its group."""
    found = np.ones(len(finer[0].open) if finer else 0, dtype=np.bool_)
    for one, fail in zip(finer, fails, strict=True):
        found &= ~one.open | fail | (_elsewhere(fail.astype(np.float64), one.group) > 0)
    return found


def _elsewhere(chance: FloatArray, group: IntArray) -> FloatArray:
    """For each class the probability that another class of its group has a part that fails."""
    sure = chance >= 1
    groups = int(group.max(initial=0)) + 1
    never = np.log1p(-np.where(sure, 0.0, chance))
    others = np.bincount(group, weights=never, minlength=groups)[group] - never
    certain = (np.bincount(group, weights=sure, minlength=groups)[group] - sure) > 0
    found = np.where(certain, 1.0, -np.expm1(others))
    return np.where(found < _NOTHING, 0.0, found)
