"""The points of the lossy-join experiment, and the methods that are compared at each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.papers.occupations import SENSITIVE

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
"""The eight quasi-identifiers of the paper's Table 8, in its order; its ninth, the occupation, is sensitive."""
K, ALPHA = 2, 0.33
SEED = 1
ATTRIBUTES = (4, 5, 6, 7, 8)
DIMENSIONS = (1, 2, 3, 4, 5, 6, 7, 8)
SELECTIVITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
ROWS = (5_000, 10_000, 20_000, 30_000, 40_000)


@dataclass(frozen=True)
class Point:
    """What is asked: how many quasi-identifiers there are, how many a query asks of, how selective it is, rows."""

    rows: int
    attributes: int = 8
    dimensions: int = 4
    selectivity: float = 0.05


@dataclass(frozen=True)
class Method:
    """A line of the plots: `values` is the ℓ of Anatomy's buckets, `improve` our pass after the paper's algorithm."""

    label: str
    form: str
    values: int = 0
    improve: bool = False

    @property
    def short(self) -> str:
        """For a line of many."""
        return f"Anatomy {self.values}" if self.values else "Lossy" if self.form == "lossy-join" else "Alpha"

    @property
    def privacy(self) -> dict[str, Any]:
        """What is required of every class."""
        if self.values:
            return {"model": "distinct-l-diversity", "column": SENSITIVE, "l": self.values}
        return {"model": "alpha-k-anonymity", "column": SENSITIVE, "k": K, "alpha": ALPHA}

    @property
    def search(self) -> dict[str, Any]:
        """The algorithm."""
        return {"name": "anatomy"} if self.values else {"name": "top-down", "improve": self.improve}


ALPHA_LOSSY = Method("Alpha(Lossy)", "lossy-join")
ANATOMIES = (Method("Anatomy, ℓ = 3", "anatomy", 3), Method("Anatomy, ℓ = 4", "anatomy", 4))
GENERALIZED = Method("Alpha", "generalized")
METHODS = (ALPHA_LOSSY, *ANATOMIES, GENERALIZED)
IMPROVED = tuple(replace(one, label=f"{one.label}, improved", improve=True) for one in (ALPHA_LOSSY, GENERALIZED))


def sweeps(rows: int, *, quick: bool = False) -> dict[str, list[Point]]:
    """The points of each sweep, by the field that it varies; all of them pass through the default point."""
    default = Point(rows)
    sizes = [size for size in ROWS if size < rows] or [rows // 4, rows // 2]
    varied: dict[str, Sequence[float]] = {
        "attributes": ATTRIBUTES,
        "dimensions": DIMENSIONS,
        "selectivity": SELECTIVITIES,
        "rows": [*sizes, rows],
    }
    chosen = {name: values[:: len(values) // 2] if quick else values for name, values in varied.items()}
    return {
        name: [replace(default, **{name: value}) for value in sorted({*values, getattr(default, name)})]
        for name, values in chosen.items()
    }


def points(every: dict[str, list[Point]]) -> list[Point]:
    """Every point once, those of one table and one number of quasi-identifiers together."""
    found = {point for members in every.values() for point in members}
    return sorted(found, key=lambda one: (-one.rows, -one.attributes, one.dimensions, one.selectivity))
