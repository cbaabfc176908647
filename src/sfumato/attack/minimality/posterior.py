"""From possible worlds and their weights to what the adversary believes of each row, and guesses.

The posterior of a value in a cell is the weighted share of the worlds in which its rows have the value. Where worlds
were sampled, it is reported by its lower confidence limit, so that the largest of thousands is no accident.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.minimality.adversary_knowledge import AdversaryKnowledge, RowCells
from sfumato.attack.minimality.possible_worlds import PossibleWorlds
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.keys import number_tuples, pack_tuples

NEGLIGIBLE = 1e-12
"""Probabilities below this are what rounding leaves of none."""

TINY = np.finfo(np.float64).tiny
ROUNDING = 1e-9

_STANDARD_ERRORS = 4.0
"""By so many a sampled figure has to be away, so that the largest of thousands is no accident."""

_MIN_EFFECTIVE = 10
"""From fewer worlds that are left nothing is concluded."""


@dataclass(frozen=True, eq=False)
class WorldWeights:
    """How likely each world is, given that no alternative was published, up to a factor for each class.

    weight:     float[w], of each world
    worlds:     int[g], the number of worlds of each class
    total:      float[g], the sum of their weights
    effective:  float[g], how many worlds of equal weight would tell as much; infinite where no world is likelier than
                another, since the shares of the class are known then
    """

    weight: FloatArray
    worlds: IntArray
    total: FloatArray
    effective: FloatArray

    @classmethod
    def from_weights(cls, weight: FloatArray, class_of: IntArray, classes: int) -> "WorldWeights":
        """Sum the weights of worlds by class."""
        worlds = np.bincount(class_of, minlength=classes)
        total: FloatArray = np.bincount(class_of, weights=weight, minlength=classes).astype(np.float64)
        squares = np.bincount(class_of, weights=weight**2, minlength=classes)
        alike = total**2 / np.maximum(squares, TINY)
        # the mean of all worlds is known, so that the mean of some is off as in drawing without putting back
        rest = np.maximum(1 - alike / np.maximum(worlds, 1), 0.0)
        return cls(weight, worlds, total, np.where(rest > NEGLIGIBLE, alike / np.maximum(rest, NEGLIGIBLE), np.inf))

    @property
    def possible(self) -> BoolArray:
        """Classes of which some world is left."""
        return self.total > 0

    @property
    def informative(self) -> BoolArray:
        """Classes of which some worlds are likelier than others."""
        return self.possible & np.isfinite(self.effective)

    def suffices(self, worlds: PossibleWorlds) -> BoolArray:
        """Tell of which classes enough worlds are left to conclude something: one, where all were counted."""
        return self.possible & (worlds.counted | (self.effective >= _MIN_EFFECTIVE))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the adversary concludes from: worlds with their weights.

    informative:    bool[g], the classes in which some worlds are likelier than others, and enough are left
    truth_possible: bool[g], the classes in which the true world is among those left
    """

    knowledge: AdversaryKnowledge
    cells: RowCells
    worlds: PossibleWorlds
    weights: WorldWeights
    informative: BoolArray
    truth_possible: BoolArray


@dataclass(frozen=True, eq=False)
class CellPosterior:
    """What is believed of the rows of each cell: lines of a cell, a value and its probability.

    `lower_limit` is the least that the probability can be, as far as a sample tells; where all worlds were counted, it
    is the probability itself.
    """

    cell: IntArray
    value: IntArray
    probability: FloatArray
    lower_limit: FloatArray

    @classmethod
    def empty(cls) -> "CellPosterior":
        """Believe nothing of anybody."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def select(self, chosen: BoolArray) -> "CellPosterior":
        """Keep some of the lines."""
        return CellPosterior(self.cell[chosen], self.value[chosen], self.probability[chosen], self.lower_limit[chosen])


def posterior(evidence: Evidence, bag: Histogram, column: str) -> CellPosterior:
    """Compute the posterior of a column, for cells of classes in which some worlds are likelier than others.

    It is the share in the class, plus what the likelier worlds differ by from the average of all that were looked at:
    that a sample of worlds is not quite like all of them cancels out.

    line:            int[s], for each slot of the worlds its pair of cell and value, of m pairs that occur
    weighted, mean:  float[m], slots of a pair per world, by the weights and with equal weights
    share:           float[m], the share of the value in the class
    """
    cells, worlds, weights, width = evidence.cells, evidence.worlds, evidence.weights, len(bag.domain.values)
    line, lines = number_tuples(pack_tuples([worlds.cell, worlds.values[column]], [len(cells), width]))
    slot = np.zeros(lines, dtype=np.int64)
    slot[line] = np.arange(len(line))
    cell, value = worlds.cell[slot], worlds.values[column][slot]
    class_of = cells.class_of[cell]
    sums = np.bincount(line, weights=weights.weight[worlds.world], minlength=lines)
    weighted = sums / np.maximum(weights.total, TINY)[class_of]
    mean = np.bincount(line, minlength=lines) / np.maximum(weights.worlds, 1)[class_of]
    entry = np.searchsorted(bag.class_of * width + bag.value, class_of * width + value)
    share = bag.count[entry] / evidence.knowledge.sizes[bag.class_of[entry]]
    probability = np.clip(share + (weighted - mean) / cells.sizes[cell], 0.0, 1.0)
    limit = wilson_lower_limit(probability, np.maximum(weights.effective[class_of], 1.0))
    lower_limit = np.where(worlds.counted[class_of], probability, limit)
    return CellPosterior(cell, value, probability, lower_limit).select(evidence.informative[class_of])


def wilson_lower_limit(share: FloatArray, worlds: FloatArray) -> FloatArray:
    """Compute Wilson's lower confidence limit for a share that was found in so many worlds.

    >>> wilson_lower_limit(np.array([1.0, 0.5]), np.array([100.0, 100.0])).round(3)
    array([0.862, 0.314])
    """
    z = _STANDARD_ERRORS
    middle = share + z**2 / (2 * worlds)
    spread = z * np.sqrt(share * (1 - share) / worlds + z**2 / (4 * worlds**2))
    limit: FloatArray = np.maximum((middle - spread) / (1 + z**2 / worlds), 0.0)
    return limit


def guess_values(
    knowledge: AdversaryKnowledge, cells: RowCells, believed: CellPosterior, bag: Histogram
) -> tuple[IntArray, IntArray]:
    """Find for each row the most frequent value of its class, and the value that the attack guesses; both int[n].

    The attack keeps to the most frequent value unless another one is likelier, by more than a sample errs.
    """
    frequent = _largest_value(bag.class_of, bag.value, bag.count.astype(np.float64), knowledge.classes)
    default = frequent[cells.class_of]
    default_probability = np.zeros(len(cells))
    is_default = believed.value == default[believed.cell]
    default_probability[believed.cell[is_default]] = believed.probability[is_default]
    better = believed.select(believed.lower_limit > default_probability[believed.cell] + ROUNDING)
    guess = default.copy()
    if len(better.cell):
        changed = np.unique(better.cell)
        guess[changed] = _largest_value(better.cell, better.value, better.probability, len(cells))[changed]
    return frequent[knowledge.class_of], guess[cells.cell_of]


def _largest_value(group: IntArray, value: IntArray, amount: FloatArray, groups: int) -> IntArray:
    """Find for each group the value of the largest amount, of equals the first; 0 where it has no line."""
    order = np.lexsort((value, -amount, group))
    first = order[np.flatnonzero(np.diff(group[order], prepend=-1))]
    largest = np.zeros(groups, dtype=np.int64)
    largest[group[first]] = value[first]
    return largest
