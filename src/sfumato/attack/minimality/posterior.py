"""From worlds and their weights to what the adversary believes of each row."""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.minimality.cells import Cells
from sfumato.attack.minimality.seen import Seen
from sfumato.attack.minimality.situation import Situation
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.keys import number_tuples, pack_tuples

_Z = 4.0
"""Standard errors that a sampled figure has to be away by, so that the largest of thousands is no accident."""

_ROUNDING = 1e-9
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of the rows of each cell: lines of a cell, a value and how likely it is.

    `surely` is the least that it can be, as far as a sample tells; where all worlds were counted, the same.
    """

    cell: IntArray
    value: IntArray
    likely: FloatArray
    surely: FloatArray

    def only(self, chosen: BoolArray) -> "Posterior":
        """Some of the lines."""
        return Posterior(self.cell[chosen], self.value[chosen], self.likely[chosen], self.surely[chosen])


def posterior(seen: Seen, bag: Histogram, column: str) -> Posterior:
    """The posterior of a column, for cells of classes in which some worlds are likelier than others.

    It is the share in the class, and what the likelier worlds add to the average of all that were looked at: that a
    sample of worlds is not quite like all of them cancels out.
    """
    cells, worlds, found, width = seen.cells, seen.worlds, seen.found, len(bag.domain.values)
    place, lines = number_tuples(pack_tuples([worlds.cell, worlds.values[column]], [len(cells), width]))
    first = np.zeros(lines, dtype=np.int64)
    first[place] = np.arange(len(place))
    cell, value = worlds.cell[first], worlds.values[column][first]
    home = cells.home[cell]
    left = (
        np.bincount(place, weights=found.weight[worlds.world], minlength=lines) / np.maximum(found.total, _TINY)[home]
    )
    among = np.bincount(place, minlength=lines) / np.maximum(found.tried, 1)[home]
    share = _shares(bag, seen.situation.sizes, home * width + value)
    likely = np.clip(share + (left - among) / cells.sizes[cell], 0.0, 1.0)
    surely = np.where(worlds.counted[home], likely, _least(likely, np.maximum(found.effective[home], 1.0)))
    return Posterior(cell, value, likely, surely).only(seen.telling[home])


def _shares(bag: Histogram, sizes: IntArray, keys: IntArray) -> FloatArray:
    """The share of a value in a class, by both of them packed."""
    known = bag.class_of * len(bag.domain.values) + bag.value
    line = np.searchsorted(known, keys)
    share: FloatArray = bag.count[line] / sizes[bag.class_of[line]]
    return share


def _least(share: FloatArray, worlds: FloatArray) -> FloatArray:
    """Wilson's lower limit for a share that was found in so many worlds.

    >>> _least(np.array([1.0, 0.5]), np.array([100.0, 100.0])).round(3)
    array([0.862, 0.314])
    """
    middle = share + _Z**2 / (2 * worlds)
    spread = _Z * np.sqrt(share * (1 - share) / worlds + _Z**2 / (4 * worlds**2))
    limit: FloatArray = np.maximum((middle - spread) / (1 + _Z**2 / worlds), 0.0)
    return limit


def nobody() -> Posterior:
    """Nothing that is believed of anybody."""
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Posterior(none, none, nothing, nothing)


def guessed(situation: Situation, cells: Cells, found: Posterior, bag: Histogram) -> tuple[IntArray, IntArray]:
    """For each row the most frequent value of its class, and the value that the attack guesses.

    The attack keeps to the most frequent value unless another one is likelier, by more than a sample errs.
    """
    common = _largest(bag.class_of, bag.value, bag.count.astype(np.float64), situation.classes)
    plain = common[cells.home]
    best = plain.copy()
    likely = np.zeros(len(cells))
    own = found.value == plain[found.cell]
    likely[found.cell[own]] = found.likely[own]
    better = found.only(found.surely > likely[found.cell] + _ROUNDING)
    if len(better.cell):
        touched = np.unique(better.cell)
        best[touched] = _largest(better.cell, better.value, better.likely, len(cells))[touched]
    return common[situation.class_of], best[cells.of]


def _largest(owner: IntArray, value: IntArray, amount: FloatArray, owners: int) -> IntArray:
    """For each owner the value of the largest amount, of equals the first; 0 where it has no line."""
    order = np.lexsort((value, -amount, owner))
    first = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
    found = np.zeros(owners, dtype=np.int64)
    found[owner[first]] = value[first]
    return found
