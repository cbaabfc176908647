"""k-means over the data of all parties (chapter, 20.5): Lloyd's algorithm (1982), with sums that nobody shows.

Where parties hold different rows, each assigns its own rows to the nearest centre, and counts and sums of the rows of
each cluster are added by a secure sum (Bonawitz et al. 2017); the next centres are their quotients. Numbers are whole
steps above their lower bound, so sums are exact, and the centres of every iteration are those of the joined rows. The
first centres are public: given by the task, or drawn within the bounds from its seed. Where two parties hold different
columns of the same rows, `vertical_k_means` does the same.

Adversary: semi-honest. Everybody learns the sizes and centres of the clusters after every iteration, not only after the
last, and from them what n - 1 parties always learn of the last one: its own sums. A cluster of one row has that row as
its centre: with ``min_count`` the run ends before the sums of a cluster that is not empty and smaller are opened. Where
a single row moves from one cluster to another between two iterations, the sums differ by that row, and nothing here is
against that but few iterations.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.core.numbers import is_number
from sfumato.errors import PolicyError, RunAborted
from sfumato.party.cluster_frame import ClusterFrame, Points, nearest_centres, squared_distances, sums_by_cluster
from sfumato.party.gated_sums import open_large_sums, read_min_count
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.public_domains import NumberBounds, read_columns, read_domains
from sfumato.party.row_linkage import (
    LINKAGE_KEYS,
    LinkedRows,
    RowLinkage,
    read_divided_columns,
    read_partition,
)
from sfumato.party.secure_sum import LARGEST_SUM, check_counts, secure_count, secure_sum
from sfumato.party.vertical_k_means import choose_start, cluster_columns
from sfumato.policy.section import Section

_ITERATIONS = 100
_MOST_CLUSTERS = 1000
_MOST_STARTS = 100


@dataclass(frozen=True)
class KMeansTask(PartyTask):
    """Find `clusters` centres among the rows of all parties, from public starts.

    domains:  the columns, numbers within bounds;  scaled: whether each is divided by the width of its bounds
    starts:   the first centres, one tuple of points per start, in the columns' own numbers
    divided:  which party has which columns, and how rows are linked, where partition is vertical
    """

    kind: ClassVar[str] = "k-means"
    keys: ClassVar[tuple[str, ...]] = (
        *("columns", "bounds", "decimals", "k", "start", "seed", "starts", "iterations", "scale", "min_count"),
        *("partition", *LINKAGE_KEYS),
    )
    result_to: tuple[str, ...]
    domains: tuple[NumberBounds, ...]
    starts: tuple[tuple[tuple[float, ...], ...], ...]
    iterations: int = _ITERATIONS
    scaled: bool = False
    min_count: int = 0
    divided: Mapping[str, tuple[str, ...]] | None = None
    linkage: RowLinkage | None = None

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        divided, linkage = None, None
        if read_partition(section, LINKAGE_KEYS, ("min_count",)):
            divided, linkage = read_divided_columns(section, parties), RowLinkage.read(section, parties)
            columns = tuple(column for own in divided.values() for column in own)
        else:
            columns = read_columns(section)
        domains = []
        for domain in read_domains(section, columns):
            if not isinstance(domain, NumberBounds):
                raise PolicyError("must have bounds, such as [0, 120]", key=f"{section.path('bounds')}.{domain.column}")
            domains.append(domain)
        return cls(
            result_to,
            tuple(domains),
            _read_starts(section, domains),
            _read_count(section, "iterations", _ITERATIONS, 10_000),
            section.choice("scale", ("none", "bounds")) == "bounds",
            read_min_count(section),
            divided,
            linkage,
        )

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what the sums and comparisons protect from whom."""
        if self.linkage is not None:
            return ProtocolStatement(
                SEMI_HONEST,
                "the other of the two parties learns what stands below, and nothing else.",
                f"{self.linkage.sentence()} Both learn the cluster of every row after every iteration of every start, "
                "and which start is the best; the coordinates of centres stay with the party that has the column.",
                "Vaidya and Clifton, Privacy-preserving k-means clustering over vertically partitioned data, KDD 2003, "
                "with the comparison of shares of Garay, Schoenmakers and Villegas, PKC 2007",
            )
        learned = (
            "All parties learn the centres and sizes of the clusters after every iteration of every start, and the sum "
            "of squared distances of each start; a small cluster's centre says much of its rows, and two iterations "
            "between which a single row moved tell that row, and not whose it is."
        )
        if self.min_count:
            one, other = parties[:2]
            learned += (
                f" The run ends where a cluster has 1 to {self.min_count - 1} rows, before its sums are opened, and "
                f"all learn that; {one} and {other} hold the sizes between them, and would learn such a size if they "
                "colluded."
            )
        return ProtocolStatement(
            SEMI_HONEST,
            "they learn the last party's sizes and sums of each cluster, since those of all less their own are that.",
            learned,
            "Lloyd's algorithm over a secure sum by pairwise masks (Bonawitz et al., CCS 2017)",
        )

    def prepare(self, me: str, table: PartyTable) -> "HeldPoints":
        """Take this party's columns as whole steps above their lower bounds."""
        own = [one for one in self.domains if self.divided is None or one.column in self.divided[me]]
        steps = np.stack([domain.hold(table) for domain in own], axis=1)
        return HeldPoints(steps, None if self.linkage is None else self.linkage.hold(table))

    def cautions(self, prepared: "HeldPoints") -> tuple[str, ...]:
        """Say what this party should know of its identifiers."""
        return () if prepared.linked is None else prepared.linked.warnings

    def run(self, session: PartySession, prepared: "HeldPoints") -> Any:
        """Run Lloyd's algorithm from every start, and tell the best."""
        if self.linkage is not None and prepared.linked is not None:
            rows = self.linkage.link(session, prepared.linked, step="k-means")
            return self._run_vertical(session, prepared.steps[rows])
        return self._run_horizontal(session, prepared.steps)

    def _run_vertical(self, session: PartySession, steps: NDArray[np.int64]) -> Any:
        """Cluster rows of which this party has some columns; the result has its own coordinates of the centres."""
        mine = [place for place, one in enumerate(self.domains) if one.column in (self.divided or {})[session.me]]
        whole = ClusterFrame(self.domains, self.scaled)
        frame = ClusterFrame(tuple(self.domains[place] for place in mine), self.scaled)
        found = [
            cluster_columns(
                session,
                frame,
                steps,
                whole.place(start)[:, mine],
                farthest=whole.farthest,
                iterations=self.iterations,
                step=f"k-means/{number}",
            )
            for number, start in enumerate(self.starts)
        ]
        costs = [one.cost for one in found]
        best = choose_start(session, costs, farthest=whole.farthest, step="k-means/best") if len(found) > 1 else 0
        if session.me not in self.result_to:
            return None
        return {
            "centres": [frame.describe(centre) for centre in found[best].centres],
            "sizes": np.bincount(found[best].clusters, minlength=len(self.starts[best])).tolist(),
            "iterations": found[best].iterations,
            "converged": found[best].converged,
            "start": best,
        }

    def _run_horizontal(self, session: PartySession, prepared: NDArray[np.int64]) -> Any:
        """Cluster rows of which this party has some, by sums of all."""
        frame = ClusterFrame(self.domains, self.scaled)
        points, best = frame.points(prepared), None
        for number, start in enumerate(self.starts):
            centres = frame.place(start)
            for iteration in range(1, self.iterations + 1):
                step = f"k-means/{number}/{iteration}"
                sums = sums_by_cluster(prepared, nearest_centres(points, centres), len(centres))
                self._check_sizes(session, sums[:, 0], step)
                total = secure_count(session, sums, step=step, most=LARGEST_SUM)
                if total is None:
                    raise ValueError("a sum for all parties")  # a bug of ours
                sizes, before = total[:, 0], centres
                check_counts(sizes, 0)
                widest = max(one.steps for one in self.domains)
                check_counts(total[:, 1:] // np.maximum(sizes, 1)[:, None], 0, widest)  # a mean is within the bounds
                centres = frame.means(total, before)
                if (centres == before).all():
                    break
            cost = self._add_costs(session, squared_distances(points, centres), frame, sizes, f"k-means/{number}/cost")
            if best is None or cost < best["cost"]:
                best = {
                    "centres": [frame.describe(centre) for centre in centres],
                    "sizes": sizes.tolist(),
                    "cost": cost,
                    "iterations": iteration,
                    "converged": bool((centres == before).all()),
                    "start": number,
                }
        return best if session.me in self.result_to else None

    @classmethod
    def tabulate(cls, result: Any) -> list[dict[str, Any]]:
        """Write a line for each cluster.

        >>> KMeansTask.tabulate({"centres": [{"age": 31.5}, {"age": 70.0}], "sizes": [4, 9], "cost": 2.0})
        [{'cluster': 1, 'rows': 4, 'centre of age': 31.5}, {'cluster': 2, 'rows': 9, 'centre of age': 70.0}]
        """
        return [
            {"cluster": number, "rows": size} | {f"centre of {column}": place for column, place in centre.items()}
            for number, (centre, size) in enumerate(zip(result["centres"], result["sizes"], strict=True), start=1)
        ]

    def _check_sizes(self, session: PartySession, sizes: NDArray[np.int64], step: str) -> None:
        """End the run where a cluster of all parties' rows is neither empty nor large enough."""
        if not self.min_count:
            return
        nothing = np.zeros((len(sizes), 0), dtype=np.int64)
        there, _ = open_large_sums(session, sizes, nothing, least=1, step=f"{step}/there", to=())
        large, _ = open_large_sums(session, sizes, nothing, least=self.min_count, step=f"{step}/large", to=())
        if (there & ~large).any():
            raise RunAborted(
                f"a cluster has fewer than {self.min_count} rows of all parties together, so that its centre would say "
                "too much of them; ask for fewer clusters, or for another seed"
            )

    @staticmethod
    def _add_costs(
        session: PartySession, distances: Points, frame: "ClusterFrame", sizes: NDArray[np.int64], step: str
    ) -> float:
        """Add up all parties' squared distances, in steps so small that the sum of as many rows just fits 64 bits."""
        steps = 2.0**61 / (max(int(sizes.sum()), 1) * frame.farthest)
        total = secure_sum(session, np.array([round(float(distances.sum()) * steps)], dtype=np.int64), step=step)
        return 0.0 if total is None else float(total[0]) / steps


@dataclass(frozen=True)
class HeldPoints:
    """A party's rows in whole steps, int64[n, columns], and what links them with the other's."""

    steps: NDArray[np.int64]
    linked: LinkedRows | None = None


def _read_count(section: Section, name: str, default: int, most: int) -> int:
    number = section.whole_number(name)
    if number is None:
        return default
    if not 1 <= number <= most:
        raise section.error(name, f"must be from 1 to {most:,}")
    return number


def _read_starts(section: Section, domains: Sequence[NumberBounds]) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """Read the first centres, or draw them evenly within the bounds, from the seed alone: they are no secret.

    They are drawn from a hash, so that every version of every library draws the same.
    """
    given: Any = section.table.get("start")
    if given is not None:
        for name in ("k", "seed", "starts"):
            if name in section.table:
                raise PolicyError("goes without start, which says where clusters begin", key=section.path(name))
        if (
            not isinstance(given, list)
            or not 1 <= len(given) <= _MOST_CLUSTERS
            or not all(isinstance(point, list) and len(point) == len(domains) for point in given)
            or not all(is_number(number) for point in given for number in point)
        ):
            raise PolicyError(
                f"must be a list of points, each of {len(domains)} numbers in the order of columns",
                key=section.path("start"),
            )
        for point in given:
            for number, domain in zip(point, domains, strict=True):
                if not domain.in_units(0) <= number <= domain.in_units(domain.steps):
                    raise PolicyError("has a point outside of the bounds", key=section.path("start"))
        return (tuple(tuple(float(number) for number in point) for point in given),)
    if "k" not in section.table:
        raise PolicyError("must say how many clusters to find", key=section.path("k"))
    clusters = _read_count(section, "k", 1, _MOST_CLUSTERS)
    starts = _read_count(section, "starts", 1, _MOST_STARTS)
    seed = section.whole_number("seed") or 0
    size = starts * clusters * len(domains)
    drawn = hashlib.shake_256(f"sfumato k-means start {seed}".encode()).digest(4 * size)
    shares = (np.frombuffer(drawn, dtype="<u4") / 2.0**32).reshape(starts, clusters, len(domains)).tolist()
    return tuple(
        tuple(
            tuple(domain.in_units(share * domain.steps) for share, domain in zip(point, domains, strict=True))
            for point in start
        )
        for start in shares
    )
