"""The worlds that are looked at: all of classes that have few, and a sample of the others."""

import numpy as np

from sfumato.attack.minimality.cells import Cells
from sfumato.attack.minimality.counted import every, few
from sfumato.attack.minimality.drawn import some
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.world import Limits, Worlds, joined
from sfumato.core.arrays import BoolArray


def worlds(situation: Situation, cells: Cells, chosen: BoolArray, limits: Limits) -> Worlds:
    """Worlds of the chosen classes. Half of the slots at the most are for those that are counted.

    They are only drawn where rows name persons, or where sensitive columns are dealt out each by itself.
    """
    plain = situation.persons is None and len(situation.sheets) == 1
    counted = few(situation, cells, chosen, limits.slots // 2) if plain else []
    left = chosen.copy()
    left[np.array([one.place for one in counted], dtype=np.int64)] = False
    drawn = some(situation, cells, left, limits)
    return joined(every(situation, counted), drawn) if counted else drawn
