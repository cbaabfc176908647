"""The points of the sequential-release experiment: set, requirement and score of every release that is made."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sfumato.papers.sequential.sets import CATEGORICAL, CLASS, EARLIER, IMMIGRATION, SET_A, SETS, SHARED, DataSet

CLASSIFICATION, CONDITIONAL, DISTORTION = "classification", "conditional", "distortion"
CLASSIFYING = (CLASSIFICATION, CONDITIONAL)
"""The paper's score, equation (2), and one that is not the paper's."""
XY, ROW, KA, LINK = "XY", "XY(row)", "KA", "link"
"""(X, Y)-anonymity with Y = K1 and with Y = {K1, K2}, k-anonymity on all of T1, and (X, Y)-linkability."""
Y = {XY: ("$row",), ROW: ("$row", f"{EARLIER}.$row")}


@dataclass(frozen=True)
class Grid:
    """The values that are run: TopN of anonymity by set, its thresholds, TopN of linkability and its thresholds."""

    tops_a: Sequence[int] = (3, 4, 5, 6)
    tops_b: Sequence[int] = (3, 4, 5, 6, 7)
    ks: Sequence[int] = (40, 80, 120, 160, 200)
    links: Sequence[int] = (1, 2, 3, 4)
    shares: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9)

    def tops(self, data: str) -> Sequence[int]:
        """Those of anonymity."""
        return self.tops_a if data == SET_A.name else self.tops_b


QUICK = Grid((3, 6), (3, 7), (40, 200), (1, 4), (0.1, 0.9))


@dataclass(frozen=True)
class Point:
    """One release: the set, the kind of requirement, the N of TopN (0 where there is none), k, and the score."""

    data: str
    method: str
    top: int
    k: float
    score: str = CLASSIFICATION

    @property
    def of(self) -> DataSet:
        """The set itself."""
        return SETS[self.data]

    @property
    def y(self) -> tuple[str, ...]:
        """The columns of T1 whose values linkability protects."""
        return CATEGORICAL[: self.top] if self.method == LINK else ()

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns of T1 that may be generalized: those of X, or all for k-anonymity."""
        if self.method in {KA, LINK}:
            return tuple(name for name in self.of.attributes if name not in self.y)
        chosen = {*self.of.ranked[: self.top], *SHARED}
        return tuple(name for name in self.of.attributes if name in chosen)

    @property
    def x(self) -> list[str]:
        """X: of T1 what may be generalized, of T2 everything for anonymity, the same shared columns for linkability."""
        theirs = [name for name in IMMIGRATION if name in self.quasi] if self.method == LINK else IMMIGRATION
        return [*self.quasi, *(f"{EARLIER}.{name}" for name in theirs)]

    def privacy(self, frame: Any) -> list[dict[str, Any]]:
        """The requirements as a policy has them; `frame` says which values are rare."""
        if self.method == KA:
            return [{"model": "k-anonymity", "k": self.k}]
        if self.method == LINK:
            asked = {"model": "xy-linkability", "x": self.x, "k": self.k}
            return [asked | {"y": [name], "values": rarest(frame[name].to_pylist())} for name in self.y]
        return [{"model": "xy-anonymity", "x": self.x, "y": list(Y[self.method]), "k": self.k}]

    @property
    def search(self) -> dict[str, Any]:
        """The algorithm as a policy has it."""
        column = {"class": CLASS} if self.score in CLASSIFYING else {}
        return {"name": "tds", "score": self.score, **column}

    @property
    def said(self) -> dict[str, Any]:
        """What it is, flat: a case begins with it."""
        return {"data": self.data, "method": self.method, "top": self.top, "k": self.k, "score": self.score}


def rarest(values: Sequence[str]) -> list[str]:
    """The less frequent half of the values; of an odd number the smaller half, in the order of the alphabet.

    >>> rarest(["a", "a", "a", "b", "c", "c"]), rarest(["m", "f", "m"])
    (['b'], ['f'])
    """
    counted = sorted(Counter(values).items(), key=lambda pair: (pair[1], pair[0]))
    return sorted(value for value, _ in counted[: len(counted) // 2])


def anonymity(grid: Grid, data: str) -> Iterator[Point]:
    """Figures 1 and 2, or 3 and 4."""
    for top, k in product(grid.tops(data), grid.ks):
        yield from (Point(data, method, top, k, score) for score, method in product(CLASSIFYING, (XY, ROW)))
        yield Point(data, XY, top, k, DISTORTION)
    yield from (Point(data, KA, 0, k, score) for k, score in product(grid.ks, (*CLASSIFYING, DISTORTION)))


def linkability(grid: Grid, data: str) -> Iterator[Point]:
    """Figure 6 or 7."""
    for score in CLASSIFYING:
        yield from (Point(data, LINK, top, share, score) for top, share in product(grid.links, grid.shares))
