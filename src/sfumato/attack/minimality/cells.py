"""Cells: rows of one class that no alternative tells apart, so that they hold a value with equal probability."""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.minimality.finer import Finer
from sfumato.attack.minimality.situation import Situation
from sfumato.core.arrays import IntArray
from sfumato.core.keys import number_tuples, pack_tuples


@dataclass(frozen=True, eq=False)
class Cells:
    """The cell of each row, and of each cell its class, its rows and one of them."""

    of: IntArray
    home: IntArray
    sizes: IntArray
    row: IntArray

    def __len__(self) -> int:
        return len(self.sizes)


def cells(situation: Situation, finer: tuple[Finer, ...]) -> Cells:
    """Rows of a class that stand in the same part of every alternative that is open to it."""
    return cells_by(situation, [one.part + 1 for one in finer])


def cells_by(situation: Situation, labels: list[IntArray]) -> Cells:
    """Rows of a class with equal labels."""
    widths = [situation.classes, *(int(label.max(initial=0)) + 1 for label in labels)]
    of, many = number_tuples(pack_tuples([situation.class_of, *labels], widths))
    row = np.zeros(many, dtype=np.int64)
    row[of] = np.arange(len(of))
    return Cells(of, situation.class_of[row], np.bincount(of, minlength=many), row)
