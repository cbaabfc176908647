"""Primary cells: those that give somebody away by themselves, and how wide the interval around each has to be.

The rules of statistical offices (Hundepool et al., Statistical Disclosure Control, 2012, chapter 4). A cell is primary

- where fewer than `min_count` contribute to it;
- by the p% rule, where the second largest contributor can estimate the largest within p %: what all others add is less
  than p % of the largest amount;
- by the dominance rule (n, k), where the n largest have more than k % of the cell;
- where a sum of amounts is 0 although somebody contributes: then everybody in it has 0.

In a table of counts in which rows are contributors, only the first applies. Empty cells are published as 0: that
nobody is there is taken for known.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.cross_tables.cell_table import TOTAL, CellTable
from sfumato.errors import InputError

RULES = ("few", "p-percent", "dominance", "zero")
"""Why a cell is primary, the first that applies."""


@dataclass(frozen=True)
class DisclosureRules:
    """When a cell is primary: fewer contributors than `min_count`, the `p` % rule, and dominance as a pair (n, k)."""

    min_count: int = 5
    p: float = 10.0
    dominance: tuple[int, float] | None = (1, 75.0)

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise InputError(f"min-count is {self.min_count}; it is a number of contributors, at least 1")
        if not 0 < self.p < 100:
            raise InputError(f"p is {self.p:g}; it is a percentage above 0 and below 100")
        if self.dominance is not None:
            n, k = self.dominance
            if n < 1 or not 0 < k < 100:
                raise InputError(
                    f"dominance is {n},{k:g}; it is a number of contributors and the percentage they may have, as 1,75"
                )

    def as_json(self) -> dict[str, object]:
        """Write them for a manifest."""
        n, k = self.dominance or (None, None)
        return {"min_count": self.min_count, "p": self.p, "dominance": None if n is None else [n, k]}


def find_primary_cells(cells: CellTable, rules: DisclosureRules) -> NDArray[np.str_]:
    """Say for each cell by which rule it is primary, or "" where it is not; compared exactly.

    >>> import pyarrow
    >>> from sfumato.cross_tables.cell_table import count_cells
    >>> from sfumato.table import Table
    >>> paid = pyarrow.table({"branch": ["a", "a", "a", "b", "b", "b"], "turnover": [95, 3, 1, 9, 8, 7]})
    >>> cells = count_cells(Table(paid), ["branch"], [], measure="turnover")
    >>> find_primary_cells(cells, DisclosureRules(min_count=3)).tolist()
    ['p-percent', '', 'dominance']
    """
    found = np.full(len(cells), "", dtype="U9")
    there = ~cells.empty

    def mark(rule: str, where: BoolArray) -> None:
        found[there & where & (found == "")] = rule

    mark("few", cells.contributors < rules.min_count)
    if cells.counted and cells.individual is None:
        return found
    values, largest = cells.values.astype(object), cells.largest.astype(object)
    share = Fraction(str(rules.p)) / 100
    others = values - largest[:, 0] - (largest[:, 1] if largest.shape[1] > 1 else 0)
    mark("p-percent", (others * share.denominator < largest[:, 0] * share.numerator).astype(np.bool_))
    if rules.dominance is not None:
        n, most = rules.dominance[0], Fraction(str(rules.dominance[1])) / 100
        top = largest[:, :n].sum(axis=1)
        mark("dominance", (top * most.denominator > values * most.numerator).astype(np.bool_))
    mark("zero", cells.values == 0)
    return found


@dataclass(frozen=True, eq=False)
class ProtectionLevels:
    """How far a cell, where it is suppressed, has to be able to move in the eyes of who tries to find its value.

    up, down:  float[cells], steps above and below the value that must be possible: p % of the value; for a count
               rounded to whole numbers, and for a primary count up to `min_count` and down to the least there can be
    room:      float[cells], how far a cell can move down at all: amounts are at least 0, and a suppressed count is
               at least 1, since empty cells are published
    """

    cells: CellTable
    rules: DisclosureRules
    primary: BoolArray
    up: FloatArray
    down: FloatArray
    room: FloatArray

    @classmethod
    def of(cls, cells: CellTable, rules: DisclosureRules, primary: BoolArray) -> "ProtectionLevels":
        """Work the levels out for whoever knows nothing but the published table."""
        room: FloatArray = cells.values.astype(np.float64) - (1.0 if cells.counted else 0.0)
        up, down = _levels(cells, rules, primary, np.zeros(len(cells)), np.zeros(len(cells)))
        if rules.dominance is not None and not (cells.counted and cells.individual is None):
            # with this much above it, the n largest have no more than k % of what the cell may hold
            n, k = rules.dominance
            top = cells.largest[:, :n].sum(axis=1)
            up = np.where(primary, np.maximum(up, top * (100.0 / k) - cells.values), up)
        room, up, down = (np.where(cells.empty, 0.0, level) for level in (room, up, down))
        return cls(cells, rules, primary, up, down, room)

    def against(self, cell: int, known: list[int]) -> tuple[float, float]:
        """Give the levels of a primary cell for a contributor who is alone in the cells `known`, and so knows them.

        What counts is what the cell holds besides: `known` are innermost cells, and those within the cell are his.
        """
        codes, cells = self.cells.codes, self.cells
        inside = [
            one for one in known if all(k in {TOTAL, c} for k, c in zip(codes[cell].tolist(), codes[one], strict=True))
        ]
        if not inside:
            return float(self.up[cell]), float(self.down[cell])
        own, number = np.zeros(len(cells)), np.zeros(len(cells))
        own[cell], number[cell] = cells.values[inside].sum(), len(inside)
        up, down = _levels(cells, self.rules, self.primary, own, number, only=cell)
        return float(up[0]), float(down[0])


def _levels(
    cells: CellTable,
    rules: DisclosureRules,
    primary: BoolArray,
    own: FloatArray,
    number: FloatArray,
    only: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Steps up and down that cells must be able to move, of which `own` steps in `number` innermost cells are known."""
    chosen = slice(None) if only is None else slice(only, only + 1)
    values, inner = cells.values[chosen].astype(np.float64), cells.inner[chosen]
    rest = values - own[chosen]
    share = rules.p / 100
    if not cells.counted:
        total = float(cells.values.max())
        average = total / max(int(cells.contributors.max()), 1)
        return np.where(rest > 0, share * rest, share * average * primary[chosen]), share * rest
    small = primary[chosen] & (values < rules.min_count)
    least = own[chosen] + np.maximum(inner - number[chosen], 0)
    high = own[chosen] + np.ceil(rest * (1 + share) - 1e-9)
    low = np.maximum(least, own[chosen] + np.floor(rest * (1 - share) + 1e-9))
    high = np.where(primary[chosen], np.maximum(high, rules.min_count), high)
    low = np.where(small, least, low)
    return high - values, np.maximum(values - low, 0.0)
