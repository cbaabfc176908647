"""What is measured: the jobs, what other programs take for them, and what we want them to take.

Figures of other programs are constants from the project's data notes, not measured in a run. Verdicts on targets are
reported, never asserted, since a machine may be busy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

M = 1_000_000
OCCUPATION, SALARY = "occupation", "salary-class"


@dataclass(frozen=True)
class Arx:
    """What ARX takes: seconds cold and warm, peak megabytes, and quality, as far as they are known.

    ARX 3.9.2 on its own Adult rows, k = 5, loss metric, from process start to written file, median of three cold runs
    on a machine of this kind (2 cores). Losses are NCP, a suppressed row counting 1. On the 45,222 rows it was not
    measured: there the figures are those of its 30,162 rows.
    """

    seconds: float
    megabytes: float | None = None
    loss: float | None = None
    suppressed: int | None = None
    warm: float | None = None


ARX_LOCAL = Arx(8.6, 576, 0.059, 0)
"""Its local recoding as it comes."""
ARX_LOCAL_MILLION = Arx(240, 2300, 0.043, 0)
"""Its default on a million rows."""
ARX_FULL_DOMAIN = {
    0.0: Arx(2.9, 392, 0.636, 0, warm=0.16),
    0.02: Arx(4.3, 443, 0.357, 506, warm=1.3),
    1.0: Arx(8.7, 470, 0.228, 2553, warm=4.9),
}
ARX_DISTINCT = {0.0: Arx(2.8, 381, 0.625, 0), 0.02: Arx(3.4, 434, 0.278, 522)}
ARX_ENTROPY = {0.0: Arx(3.2, 344, 0.679, 0), 0.02: Arx(4.4, 434, 0.307, 518)}
ARX_CLOSENESS = {0.0: Arx(3.3, 332, 0.929, 0), 0.02: Arx(5.5, 448, 0.840, 235)}
ARX_MILLION = {0.0: Arx(13, 940, suppressed=0), 0.02: Arx(90, 1100, suppressed=19_911)}
ARX_MILLION_DISTINCT = Arx(41, 1400, suppressed=17_476)
ARX_MILLION_CLOSENESS = Arx(59, 1900, suppressed=12_404)
ARX_FIVE_MILLION = {0.0: Arx(78, 2600, suppressed=0), 0.02: Arx(612, 2800, suppressed=68_102)}


@dataclass(frozen=True)
class Peer:
    """What one of Python's Mondrians takes: seconds of search, and the loss (NCP) of its result where it is known.

    On ARX's rows with eight quasi-identifiers, k = 5, on a machine of this kind (2 cores).
    """

    search: float
    loss: float | None = None


MONDRIAN = Peer(0.5, 0.068)
"""A strict Mondrian in pure Python, by hierarchy."""
MONDRIAN_MILLION = Peer(20)
"""The same on a million rows."""
MONDRIAN_SETS = Peer(60, 0.032)
"""anonypy: Mondrian over value sets."""


@dataclass(frozen=True)
class Target:
    """Upper limits: seconds, peak megabytes, seconds as a multiple of `copy`'s, seconds of search alone, and loss."""

    seconds: float | None = None
    megabytes: float | None = None
    copies: float | None = None
    search: float | None = None
    loss: float | None = None

    def describe(self) -> str:
        """Say the limits in words."""
        words = {
            "seconds": "≤ {:.3g} s",
            "copies": "≤ {:g} × copy",
            "megabytes": "≤ {:g} MB",
            "search": "search ≤ {:.3g} s",
            "loss": "loss ≤ {:.3f}",
        }
        limits = {key: getattr(self, key) for key in words}
        return ", ".join(words[key].format(limit) for key, limit in limits.items() if limit is not None)

    def judge(self, figures: Mapping[str, Any]) -> str:
        """Say ``met``, or by how much each limit is missed; nothing where there is none."""
        if figures["code"] != 0:
            return "stopped" if figures["code"] is None else f"failed ({figures['code']})"
        checks: list[tuple[float, float, str]] = []
        if self.seconds is not None:
            checks.append((figures["seconds"], self.seconds, "s"))
        if self.copies is not None and figures["copy"]:
            checks.append((figures["seconds"] / figures["copy"], self.copies, "× copy"))
        if self.megabytes is not None:
            checks.append((figures["megabytes"], self.megabytes, "MB"))
        if self.search is not None:
            checks.append((figures["phases"]["search"], self.search, "s of search"))
        if self.loss is not None:
            checks.append((figures.get("published", figures["loss"]), self.loss, "loss"))
        missed = [f"{value:.3g} > {limit:.3g} {unit}" for value, limit, unit in checks if value > limit]
        return "missed: " + ", ".join(missed) if missed else "met" if checks else ""


@dataclass(frozen=True)
class Method:
    """How a release is sought: `sets` has age as ranges and the rest as sets of values, in place of hierarchies.

    `plain` is a column that is published as it is, `left_out` one that is not published.
    """

    algorithm: str = "optimal"
    k: int = 5
    improve: bool = True
    plain: str | None = None
    left_out: str | None = None
    sets: bool = False

    @property
    def local(self) -> bool:
        """Whether classes have labels of their own."""
        return self.algorithm != "optimal"


@dataclass(frozen=True)
class Case:
    """A job: `data` is ``adult`` (45,222 rows), ``arx`` (30,162), ``like`` (`rows` of them) or empty for --help.

    `bound` is a loss that nothing can be below.
    """

    name: str
    group: str
    data: str
    rows: int
    suppression: float = 0.0
    format: str = "csv"
    also: tuple[Mapping[str, Any], ...] = ()
    arx: Arx | None = None
    target: Target = Target()
    method: Method = Method()
    peer: Peer | None = None
    bound: float | None = None

    @property
    def sensitive(self) -> str | None:
        """The column that is no quasi-identifier, if there is one."""
        return OCCUPATION if self.also else None

    def with_rows(self, rows: int) -> "Case":
        """Give the same job on another number of Adult-like rows, which nobody else's figures are about."""
        if self.data != "like" or rows == self.rows:
            return self
        return replace(self, rows=rows, arx=None, peer=None, bound=None, target=Target())


def choose_cases(*, only: Sequence[str] = (), quick: bool = False, rows: int | None = None) -> list[Case]:
    """Choose the cases whose name holds one of `only`; `quick` leaves out those beyond a million rows."""
    named = [case for case in every_case() if not only or any(part in case.name for part in only)]
    sized = [case.with_rows(rows) if rows else case for case in named]
    return [case for case in sized if not quick or case.rows <= M]


SHARES = {0.0: "0", 0.02: "2", 1.0: "all"}
"""The rows that may be suppressed, as names of cases end with them."""
BOUNDS = {2: 0.0142, 5: 0.0301, 10: 0.0431, 25: 0.0639, 50: 0.0846, 100: 0.1093}
"""What no local recoding of ARX's rows loses less than, by k: the second bound of `benchmarks.lower_bound`."""
DISTINCT = {"model": "distinct-l-diversity", "column": OCCUPATION, "l": 3}
ENTROPY = {"model": "entropy-l-diversity", "column": OCCUPATION, "l": 3}
CLOSENESS = {"model": "t-closeness", "column": OCCUPATION, "t": 0.2, "distance": "emd-equal"}


def every_case() -> Iterator[Case]:
    """Give all cases, small ones first."""
    yield Case("help", "Command", "", 0, target=Target(seconds=0.3))
    adult, arx = (
        "Adult, 45,222 rows, 8 quasi-identifiers, k = 5",
        "ARX's Adult, 30,162 rows, 9 quasi-identifiers, k = 5",
    )
    for data, group, rows in (("adult", adult, 45_222), ("arx", arx, 30_162)):
        for share, word in SHARES.items():
            theirs = ARX_FULL_DOMAIN[share]
            target = Target(seconds=theirs.seconds / 3, megabytes=300)
            yield Case(f"{data}-{word}", group, data, rows, share, arx=theirs, target=target)
    group = "ARX's Adult, 30,162 rows, 8 quasi-identifiers, k = 5 and a model on occupation"
    models = {"distinct": (DISTINCT, ARX_DISTINCT), "entropy": (ENTROPY, ARX_ENTROPY)}
    for name, (model, by_share) in (models | {"closeness": (CLOSENESS, ARX_CLOSENESS)}).items():
        for share, theirs in by_share.items():
            yield Case(f"{name}-{SHARES[share]}", group, "arx", 30_162, share, also=(model,), arx=theirs)
    yield from _local_cases()
    yield from _mondrian_cases()
    group = "Adult-like rows, a million, CSV"
    yield Case("million-0", group, "like", M, 0.0, arx=ARX_MILLION[0.0])
    yield Case("million-distinct-2", group, "like", M, 0.02, also=(DISTINCT,), arx=ARX_MILLION_DISTINCT)
    yield Case("million-closeness-2", group, "like", M, 0.02, also=(CLOSENESS,), arx=ARX_MILLION_CLOSENESS)
    for kind in ("csv", "parquet"):
        yield from _growing_cases(kind)


def _local_cases() -> Iterator[Case]:
    group = "ARX's Adult, 30,162 rows, 9 quasi-identifiers, local recoding"
    for k, bound in BOUNDS.items():
        theirs, goal = (ARX_LOCAL, 0.050) if k == 5 else (None, None)
        case = Case(f"local-k{k}", group, "arx", 30_162, arx=theirs, target=Target(seconds=3, loss=goal), bound=bound)
        yield replace(case, method=Method("auto", k))
    million = "Adult-like rows, a million, CSV, 9 quasi-identifiers, k = 5, local recoding"
    yield Case("local-1m", million, "like", M, arx=ARX_LOCAL_MILLION, method=Method("auto"))


def _mondrian_cases() -> Iterator[Case]:
    group = "ARX's Adult, 8 quasi-identifiers (salary class left out), k = 5, Mondrian"
    tree = Method("mondrian", improve=False, left_out=SALARY)
    ways = (("mondrian", tree, MONDRIAN), ("mondrian-sets", replace(tree, sets=True), MONDRIAN_SETS))
    for name, method, peer in ways:
        target = Target(search=peer.search / 10, loss=peer.loss)
        case = Case(name, group, "arx", 30_162, target=target, method=method, peer=peer)
        yield case
        yield replace(case, name=f"{name}-improved", method=replace(method, improve=True))
    target = Target(search=MONDRIAN_MILLION.search / 10)
    yield Case("mondrian-1m", group, "like", M, target=target, method=tree, peer=MONDRIAN_MILLION)


def _growing_cases(kind: str) -> Iterator[Case]:
    group = f"Adult-like rows, {kind.upper() if kind == 'csv' else 'Parquet'}, 9 quasi-identifiers, k = 5, 2 %"
    theirs = {1: ARX_MILLION[0.02], 5: ARX_FIVE_MILLION[0.02]}
    targets = {1: Target(seconds=90 / 10), 5: Target(seconds=612 / 20), 10: Target(copies=3, megabytes=3000)}
    for millions in (1, 2, 5, 10):
        case = Case(f"{kind}-{millions}m-2", group, "like", millions * M, 0.02, kind, arx=theirs.get(millions))
        yield replace(case, target=targets.get(millions, Target()))
    yield Case(f"{kind}-10m-0", group.replace("2 %", "0 %"), "like", 10 * M, 0.0, kind, target=targets[10])
