"""k-means where two parties hold different columns of the same rows (Vaidya and Clifton, KDD 2003).

Each party holds its own coordinates of every centre, and never shows them. The squared distance of a row to a centre is
the sum of two parts, one from each party's columns: so the parts, as whole numbers, already are shares of it, and a
secure comparison finds the nearest centre of every row without showing a distance (`share_of_least`). Both learn the
cluster of every row, and each moves its coordinates of a centre to the mean of its own columns there. Distances are
rounded to 2^-40 of the largest that the bounds allow; but for rows that are so near to two centres alike, the clusters
are those of Lloyd's algorithm on the joined table.

Adversary: semi-honest. There are two parties, so each is the only colluder against the other. Both learn the cluster of
every row after every iteration, and of several starts which is the best.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.party.cluster_frame import ClusterFrame, Points, distances_to, sums_by_cluster
from sfumato.party.party_session import PartySession
from sfumato.party.secure_comparison import share_of_least

_DISTANCE_BITS = 40


@dataclass(frozen=True)
class OwnClusters:
    """What one start came to: this party's coordinates of the centres, the cluster of each row, and how long it took.

    `cost` is this party's part of the sum of squared distances, a mean over rows.
    """

    centres: Points
    clusters: NDArray[np.int64]
    iterations: int
    converged: bool
    cost: float


def cluster_columns(  # noqa: PLR0913 - what both parties agreed on, by name
    session: PartySession,
    frame: ClusterFrame,
    steps: NDArray[np.int64],
    start: Points,
    *,
    farthest: float,
    iterations: int,
    step: str,
) -> OwnClusters:
    """Run Lloyd's algorithm with the one peer, from one start.

    steps:     int64[n, d], this party's columns;  start: float64[k, d], its coordinates of the first centres
    farthest:  the largest squared distance over both parties' columns, which is public
    """
    (peer,) = session.others
    points, centres = frame.points(steps), start
    scale = 2.0**_DISTANCE_BITS / farthest
    clusters = np.full(len(steps), -1, dtype=np.int64)
    for iteration in range(1, iterations + 1):
        parts = np.stack([distances_to(points, centre) for centre in centres], axis=1)
        before = clusters
        clusters = share_of_least(
            session,
            peer,
            np.rint(parts * scale).astype(np.int64).view(np.uint64),
            step=f"{step}/{iteration}",
            bits=_DISTANCE_BITS + 2,
        )
        if (clusters == before).all():
            break
        centres = frame.means(sums_by_cluster(steps, clusters, len(centres)), centres)
    converged = bool((clusters == before).all())
    cost = float(distances_to(points, centres[clusters]).mean())
    return OwnClusters(centres, clusters, iteration, converged, cost)


def choose_start(session: PartySession, costs: list[float], *, farthest: float, step: str) -> int:
    """Find the start whose cost is the least, the sum of both parties' parts; nobody learns another's part."""
    (peer,) = session.others
    parts = np.rint(np.array([costs]) * (2.0**_DISTANCE_BITS / farthest)).astype(np.int64)
    return int(share_of_least(session, peer, parts.view(np.uint64), step=step, bits=_DISTANCE_BITS + 2)[0])
