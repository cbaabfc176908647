"""How often densities are matched with their own record, by an adversary who has all true records.

Expected anonymity is an average over the draw of centres. What it comes to in the draw that is published is measured by
doing what the adversary does: each density is matched with the true record, of its stratum, that fits it best. The
second adversary knows the algorithm as well, and what spread each true record would be given; so only records of the
very spread are looked at.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.uncertain.uncertain_records import UNCERTAIN, DrawnDensities, UncertainTable

_ROWS = 5_000
"""Densities that are matched, at most; the true records are all looked at."""


@dataclass(frozen=True)
class DensityLinkage:
    """What matching densities with the true records comes to.

    `linked` is the share of densities that are matched with their own record, where ties are broken by chance;
    `informed` the same of whoever knows the spread of each record as well. `rank` is how many true records fit as well
    as the own, on average, and `median_rank` at the median. `alone` is the share of densities that no other record fits
    as well. `rows` densities were looked at.
    """

    linked: float
    informed: float
    rank: float
    median_rank: float
    alone: float
    rows: int

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


def measure_density_linkage(table: UncertainTable, drawn: DrawnDensities) -> DensityLinkage:
    """Match densities with all true records of their stratum; which are matched is drawn with a fixed seed."""
    chosen = np.zeros(table.rows, dtype=bool)
    chosen[np.random.default_rng(1).permutation(table.rows)[:_ROWS]] = True  # what is measured, and protects nobody
    ranks, linked, informed = (np.ones(table.rows) for _ in range(3))
    order = np.argsort(table.strata, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(table.strata[order])) + 1):
        asked = rows[chosen[rows]]
        if not len(asked):
            continue
        ranks[asked], linked[asked] = _match(table, drawn, asked, rows)
        order_by_spread = rows[np.argsort(drawn.common[rows], kind="stable")]
        spreads = drawn.common[order_by_spread]
        for alike in np.split(order_by_spread, np.flatnonzero(np.diff(spreads)) + 1):
            some = alike[chosen[alike]]
            if len(some):
                informed[some] = _match(table, drawn, some, alike)[1]
    seen = ranks[chosen]
    return DensityLinkage(
        float(linked[chosen].mean()),
        float(informed[chosen].mean()),
        float(seen.mean()),
        float(np.median(seen)),
        float((seen <= 1).mean()),
        int(chosen.sum()),
    )


def _match(
    table: UncertainTable, drawn: DrawnDensities, asked: IntArray, rows: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Find for densities of one stratum how many of some true records fit as well, and the chance of a right match."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - takes a while

    open_places = [
        place for place, column in enumerate(table.columns) if column.unit and column.codes[rows[0]] == UNCERTAIN
    ]
    if not open_places:
        return np.full(len(asked), float(len(rows))), np.full(len(asked), 1 / len(rows))
    columns = [table.columns[place] for place in open_places]
    truth = np.stack([column.scaled[rows] for column in columns], axis=1)
    own = np.stack([column.scaled[asked] for column in columns], axis=1)
    centers = np.stack(
        [
            drawn.centers[place][asked] / (column.unit * column.per_unit)
            for place, column in zip(open_places, columns, strict=True)
        ],
        axis=1,
    )
    tree = cKDTree(truth)
    if drawn.density.name == "uniform":
        counts = tree.query_ball_point(centers, drawn.common[asked] * (1 + 1e-9), p=np.inf, return_length=True)
        fits = np.maximum(counts, 1).astype(np.float64)
        return fits, 1 / fits
    away = np.sqrt(((centers - own) ** 2).sum(axis=1))
    counts = tree.query_ball_point(centers, away * (1 + 1e-9) + 1e-12, return_length=True)
    equal = tree.query_ball_point(own, 1e-12, return_length=True)
    fits = np.maximum(counts, 1).astype(np.float64)
    return fits, np.where(counts <= equal, 1 / np.maximum(equal, 1), 0.0)
