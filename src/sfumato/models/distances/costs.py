"""What it costs to take one sensitive value for another, from an expert's file."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.errors import PolicyError, listing


@dataclass(frozen=True, eq=False)
class Costs:
    """A cost for each pair of values; one direction stands for both unless both are given.

    NULL is written as empty text, in the file and in `pairs`. `source` is what the policy calls it.

    >>> Costs({("flu", "cold"): 1, ("flu", ""): 2, ("cold", ""): 4}).closed(["flu", "cold", None])
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """

    pairs: Mapping[tuple[str, str], float] = field(repr=False)
    source: str = ""

    def __post_init__(self) -> None:
        for (one, other), cost in self.pairs.items():
            if not (math.isfinite(cost) and cost >= 0) or (one == other and cost != 0):
                raise PolicyError(f"cost {cost} of {one!r} and {other!r} makes no sense", key="costs")

    @classmethod
    def read(cls, name: str, folder: Path) -> "Costs":
        """The costs in a file of value,value,cost lines; a first line that ends in `cost` is a header."""
        try:
            with (folder / name).open(encoding="utf-8-sig", newline="") as file:
                return cls(_pairs(csv.reader(file), name), name)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise PolicyError(f"{name} cannot be read as costs ({error})", key="costs") from error

    def closed(self, values: Sequence[str | None]) -> FloatArray:
        """The cost of the cheapest chain of moves between each two values.

        The chapter's program may move mass through third values, so the chain is what a move costs.
        """
        table = self._table([value or "" for value in values])
        for middle in range(len(table)):
            np.minimum(table, table[:, middle, None] + table[middle], out=table)
        return table

    def _table(self, values: Sequence[str]) -> FloatArray:
        table = np.array([[self._between(one, other) for other in values] for one in values], dtype=np.float64)
        missing = np.argwhere(np.isnan(table))
        if len(missing):
            lacks = listing(f"{values[i]},{values[j]}" for i, j in missing if i < j)
            raise PolicyError(f"{self.source or 'costs'} has no line for {lacks}", key="costs")
        return table

    def _between(self, one: str, other: str) -> float:
        if one == other:
            return 0.0
        return self.pairs.get((one, other), self.pairs.get((other, one), math.nan))


def _pairs(lines: Iterable[list[str]], name: str) -> dict[tuple[str, str], float]:
    pairs: dict[tuple[str, str], float] = {}
    for number, cells in enumerate(lines, start=1):
        if cells and not (number == 1 and cells[-1].strip().lower() == "cost"):
            one, other, cost = _line(cells, f"{name}, line {number}")
            if pairs.setdefault((one, other), cost) != cost:
                raise PolicyError(f"{name}, line {number}: a second cost for {one},{other}", key="costs")
    return pairs


def _line(cells: list[str], place: str) -> tuple[str, str, float]:
    try:
        one, other, cost = cells
        return one, other, float(cost)
    except ValueError:
        raise PolicyError(f"{place} must be value,value,cost", key="costs") from None
