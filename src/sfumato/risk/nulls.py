"""Missing values, both ways: NULL as a value of its own, and NULL as a wildcard that may stand for anything.

As a value, a row with NULL looks like rows with NULL only, to somebody who knows that it is missing. As a wildcard it
looks like every row that agrees where both are known, to somebody who knows the value that the table lacks.
Looking alike is no equivalence then, and so rows are counted one by one, not by classes.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.encode import CodedColumn
from sfumato.risk.alike import Alike
from sfumato.risk.subject import Lines

_WORK = 20_000_000
"""Lines that are compared in all; beyond it, lines drawn at random stand for all."""
_FEWEST = 200
"""But so many lines are drawn, if it takes longer."""


@dataclass(frozen=True)
class Missing:
    """Risk where NULL is read one way, by `looked_at` rows or persons: all, unless there were too many to compare."""

    highest: float
    average: float
    uniques: float
    unique_share: float
    looked_at: int

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


@dataclass(frozen=True)
class Nulls:
    """How many cells and rows lack a value, and the risk both ways."""

    cells: int
    rows: int
    counts: str
    as_value: Missing
    as_wildcard: Missing

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def nulls_of(lines: Lines, quasi: tuple[CodedColumn, ...], *, seed: int = 1, work: int = _WORK) -> Nulls | None:
    """The risk with NULL read both ways; nothing where no value is missing."""
    missing = _missing(lines, quasi)
    if not missing.any():
        return None
    counted = np.where(missing, lines.counts[:, None], 0)
    alike, every = Alike(lines, missing), np.arange(len(lines))
    fitting, chosen = alike.fitting(work), every
    if fitting is None:
        chosen = _drawn(lines, max(work // len(lines), _FEWEST), np.random.default_rng(seed))
        fitting = np.array([alike.fitting_one(line) for line in chosen.tolist()])
    value, wildcard = _read(lines, every, alike.equal()), _read(lines, chosen, fitting)
    some = int(lines.counts[missing.any(axis=1)].sum())
    return Nulls(int(counted.sum()), some, "persons" if lines.named else "rows", value, wildcard)


def _missing(lines: Lines, quasi: tuple[CodedColumn, ...]) -> BoolArray:
    """Which cell of which line is NULL, which codes have last."""
    found = [
        codes == width - 1 if column.texts[-1] is None else np.zeros(len(lines), dtype=np.bool_)
        for codes, width, column in zip(lines.columns, lines.widths, quasi, strict=True)
    ]
    return np.column_stack(found)


def _drawn(lines: Lines, most: int, random: np.random.Generator) -> IntArray:
    """About so many lines at random; of persons all lines, of as many persons as have so many."""
    if not lines.named:
        return np.sort(random.choice(len(lines), min(most, len(lines)), replace=False))
    known, place = np.unique(lines.person, return_inverse=True)
    order = random.permutation(len(known))
    many = max(int(np.searchsorted(np.cumsum(np.bincount(place)[order]), most)), 1)
    return np.flatnonzero(np.isin(place, order[:many]))


def _read(lines: Lines, chosen: IntArray, alike: IntArray) -> Missing:
    """The figures of chosen lines, scaled up to all where they are not all."""
    values, weights = _each(lines, chosen, 1.0 / alike)
    looked, whole = int(weights.sum()), len(np.unique(lines.person)) if lines.named else int(lines.counts.sum())
    share = float(weights[values == 1].sum()) / looked
    exact = share * whole if looked < whole else float(weights[values == 1].sum())
    return Missing(float(values.max()), float(values @ weights) / looked, exact, share, looked)


def _each(lines: Lines, chosen: IntArray, chance: FloatArray) -> tuple[FloatArray, IntArray]:
    """Chances by rows, or by persons, each as exposed as the most exposed of their lines."""
    if not lines.named:
        return chance, lines.counts[chosen]
    known, place = np.unique(lines.person[chosen], return_inverse=True)
    highest = np.zeros(len(known))
    np.maximum.at(highest, place, chance)
    return highest, np.ones(len(known), dtype=np.int64)
