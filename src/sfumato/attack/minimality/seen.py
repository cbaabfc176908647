"""What is seen of the worlds that could be: which of them are left, and where that tells something."""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.attack.minimality.cells import Cells, cells
from sfumato.attack.minimality.finer import alternatives
from sfumato.attack.minimality.found import Looked
from sfumato.attack.minimality.judge import Weighed, consistent, failing, weighed
from sfumato.attack.minimality.lots import Lot, every_lot, flat, some_lot
from sfumato.attack.minimality.nodes import Nodes, cells_of
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.world import Limits, Worlds, truth
from sfumato.attack.minimality.worlds import worlds
from sfumato.core.arrays import BoolArray

_ENOUGH = 10
"""Of fewer worlds that fit nothing is concluded."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Worlds with their weights, the classes in which they tell something, and those in which the truth is left."""

    situation: Situation
    cells: Cells
    worlds: Worlds
    found: Weighed
    telling: BoolArray
    right: BoolArray


def by_nodes(situation: Situation, lattice: Nodes, limits: Limits, looked: Looked) -> tuple[Seen | None, Looked]:
    """Worlds of the table as a whole: those in which no other node would have been published."""
    counted = not lattice.limit
    finer = lattice.preferred() if counted else lattice.below()
    if not finer:
        return None, looked
    lot = every_lot(situation) if counted else some_lot(situation, limits)
    fits, classes = ~np.any([lattice.beats(node, lot) for node in finer], axis=0), situation.classes
    true = Lot(np.arange(len(situation.rows))[None, :], whole=False)
    right = not any(lattice.beats(node, true)[0] for node in finer)
    split = cells_of(lattice, finer)
    drawn, found = flat(situation, split, lot, fits)
    unfit = ~_enough(drawn, found)
    telling = found.telling & ~unfit
    looked = replace(
        looked,
        open=classes,
        telling=int(telling.sum()),
        counted=classes if counted else 0,
        drawn=0 if counted else classes,
        worlds=len(fits),
        fitting=float(fits.mean()),
        unfit=int(unfit.sum()),
        misled=0 if right else classes,
    )
    return Seen(situation, split, drawn, found, telling, np.full(classes, right)), looked


def by_classes(situation: Situation, limits: Limits, looked: Looked) -> tuple[Seen | None, Looked]:
    """Worlds of each class by itself, weighed by what may have failed in it and in those that go with it."""
    finer = alternatives(situation)
    if not finer:
        return None, looked
    opened = np.any([one.open for one in finer], axis=0)
    split = cells(situation, finer)
    drawn = worlds(situation, split, opened, limits)
    found = weighed(finer, [failing(situation, split, one, drawn) for one in finer], drawn, situation.classes)
    as_it_is = truth(situation, split)
    right = consistent(finer, [failing(situation, split, one, as_it_is) for one in finer])
    enough = _enough(drawn, found)
    unfit = (found.tried > 0) & right & ~enough  # where the truth does not fit, the adversary errs: that is known
    telling = found.telling & enough
    looked = replace(
        looked,
        open=int(opened.sum()),
        telling=int(telling.sum()),
        counted=int(drawn.counted.sum()),
        drawn=int(drawn.drawn.sum()),
        worlds=len(drawn),
        fitting=float(found.weight.mean()) if len(drawn) else 1.0,
        unfit=int(unfit.sum()),
        misled=int((opened & ~right).sum()),
    )
    return Seen(situation, split, drawn, found, telling, right), looked


def _enough(drawn: Worlds, found: Weighed) -> BoolArray:
    """Classes of which enough worlds are left to say something: one, where all were counted."""
    return found.known & (drawn.counted | (found.effective >= _ENOUGH))
