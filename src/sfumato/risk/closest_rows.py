"""How near drawn rows are to the rows that they were drawn from, against rows that had no part in it.

Rows that are drawn near somebody's row tell of somebody. How near is near depends on the data: so pseudo-rows are drawn
from one half of the rows (see `half_draw`), and their distances to the nearest row of that half are held against those
to the nearest row of the other half, the hold-out. Where the ratio is 1, a drawn row is as near to people who had no
part in it as to those who had.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.condense.half_draw import HalfDraw, coordinates

NEAR = 0.95
"""Below this ratio drawn rows are nearer to their own rows than to others by more than chance would have it."""


@dataclass(frozen=True)
class ClosestRows:
    """How near drawn rows are to the nearest row, at the median: of those they come from, and of a hold-out.

    `ratio` is the one over the other. `copies` is the share of drawn rows that equal a row they come from in every
    column, and `hold_out_copies` that of those that equal a row of the hold-out. `rows` were looked at.
    """

    original: float
    hold_out: float
    ratio: float
    copies: float
    hold_out_copies: float
    rows: int

    @property
    def near(self) -> bool:
        """Whether drawn rows are nearer to the rows they come from than to others."""
        return self.ratio < NEAR

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self) | {"near": self.near}


def measure_closest_rows(half: HalfDraw) -> ClosestRows:
    """Measure how near drawn rows are to those that they were drawn from, and to as many others."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - takes a while

    points = coordinates(half.drawn)
    distances = [cKDTree(coordinates(rows)).query(points)[0] for rows in (half.own, half.hold_out)]
    near, far = (float(np.median(each)) for each in distances)
    copies = [float(np.mean(each <= 1e-9)) for each in distances]
    ratio = 1.0 if near == far else near / far if far else np.inf
    return ClosestRows(near, far, float(min(ratio, 1e9)), copies[0], copies[1], half.rows)
