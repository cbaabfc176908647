"""The points of the identity-reserved experiment: table, requirement and method of every release that is made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sfumato.papers.occupations import SENSITIVE

COMMON, RESERVED = "k-anonymity", "identity-k-anonymity"
DIVERSITY, SHARES = "identity-kl-diversity", "identity-alpha-beta"
FIXED_K, FIXED_SHARE, FIXED_RPI = 10, 0.5, 1.4
COMPARED = (1.2, 1.4)
"""The rows per individual of Figures 3 and 4."""


@dataclass(frozen=True)
class Method:
    """A line of the plots; `improve` is our pass after the paper's algorithm, `suppression` a share of the rows."""

    label: str
    algorithm: str
    suppression: float = 0.0
    improve: bool = False

    @property
    def search(self) -> dict[str, Any]:
        """The algorithm as a policy has it."""
        named = {"name": self.algorithm, "metric": "distortion", "improve": self.improve, "seed": 1}
        return named | ({"suppression": self.suppression} if self.suppression else {})


LOCAL = Method("local", "bottom-up")
IMPROVED = Method("local, improved", "bottom-up", improve=True)
GLOBAL = Method("global", "optimal")
SUPPRESSING = tuple(Method(f"global, ≤ {100 * share:g} % suppressed", "optimal", share) for share in (0.001, 0.01))
COMMONLY = (LOCAL, SUPPRESSING[-1])
"""The text does not say by which algorithm the tables of Figures 1 and 2 are common k-anonymous."""


@dataclass(frozen=True)
class Grid:
    """The values that are run: rows per individual, k, l, and shares for both α and β; `improved` are values of k."""

    rpis: Sequence[float] = (1.2, 1.4, 1.6, 1.8)
    ks: Sequence[int] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    ls: Sequence[int] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    shares: Sequence[float] = (0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    improved: Sequence[int] = (2, 5, 10)


QUICK = Grid(COMPARED, (2, 4, 10), (2, 6, 10), (0.2, 0.5, 0.9), ())


@dataclass(frozen=True)
class Point:
    """One release: the rows per individual, the model with its keys, and the method."""

    rpi: float
    model: str
    keys: tuple[tuple[str, float], ...]
    method: Method

    @classmethod
    def of(cls, rpi: float, model: str, method: Method, **keys: float) -> "Point":
        """With the keys as keywords."""
        return cls(rpi, model, tuple(keys.items()), method)

    @property
    def privacy(self) -> dict[str, Any]:
        """The requirement as a policy has it."""
        column = {"column": SENSITIVE} if self.model in {DIVERSITY, SHARES} else {}
        return {"model": self.model, **column, **dict(self.keys)}

    @property
    def said(self) -> dict[str, Any]:
        """What it is, flat: a case begins with it."""
        return {"rpi": self.rpi, "model": self.model, **dict(self.keys), "method": self.method.label}


def points(grid: Grid) -> list[Point]:
    """Every point once, in the order of the figures."""
    every = (*_counted(grid), *_global(grid), *_valued(grid), *_improved(grid))
    return list(dict.fromkeys(every))


def _counted(grid: Grid) -> Iterator[Point]:
    """Figures 1 to 4: common k-anonymity everywhere, and the identity-reserved one beside it."""
    yield from (Point.of(rpi, COMMON, method, k=k) for method, rpi, k in product(COMMONLY, grid.rpis, grid.ks))
    yield from (Point.of(rpi, RESERVED, LOCAL, k=k) for rpi, k in product(COMPARED, grid.ks))


def _global(grid: Grid) -> Iterator[Point]:
    """Figures 5 and 6."""
    methods = (GLOBAL, LOCAL, *SUPPRESSING)
    yield from (Point.of(FIXED_RPI, RESERVED, method, k=k) for method, k in product(methods, grid.ks))
    for method, values in product((GLOBAL, LOCAL), grid.ls):
        yield Point.of(FIXED_RPI, DIVERSITY, method, k=FIXED_K, l=values)


def _valued(grid: Grid) -> Iterator[Point]:
    """Figures 7 and 8."""
    yield from (Point.of(FIXED_RPI, SHARES, LOCAL, alpha=FIXED_SHARE, beta=share) for share in grid.shares)
    yield from (Point.of(FIXED_RPI, SHARES, LOCAL, alpha=share, beta=FIXED_SHARE) for share in grid.shares)


def _improved(grid: Grid) -> Iterator[Point]:
    """Not of the paper: what the improvement pass changes."""
    yield from (Point.of(rpi, COMMON, IMPROVED, k=k) for rpi, k in product(grid.rpis, grid.improved))
    yield from (Point.of(rpi, RESERVED, IMPROVED, k=k) for rpi, k in product(COMPARED, grid.improved))
