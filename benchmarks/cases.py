"""What is measured: the jobs, what ARX takes for them, and what we want them to take."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import arx
from benchmarks.arx import Arx

M = 1_000_000
SHARES = {0.0: "0", 0.02: "2", 1.0: "all"}
OCCUPATION = "occupation"
DISTINCT = {"model": "distinct-l-diversity", "column": OCCUPATION, "l": 3}
ENTROPY = {"model": "entropy-l-diversity", "column": OCCUPATION, "l": 3}
CLOSENESS = {"model": "t-closeness", "column": OCCUPATION, "t": 0.2, "distance": "emd-equal"}


@dataclass(frozen=True)
class Target:
    """Upper limits: seconds, peak megabytes, and seconds as a multiple of `copy`'s."""

    seconds: float | None = None
    megabytes: float | None = None
    copies: float | None = None


@dataclass(frozen=True)
class Case:
    """A job: `data` is ``adult`` (45,222 rows), ``arx`` (30,162), ``like`` (`rows` of them) or empty for --help."""

    name: str
    group: str
    data: str
    rows: int
    suppression: float = 0.0
    format: str = "csv"
    also: tuple[Mapping[str, Any], ...] = ()
    arx: Arx | None = None
    target: Target = Target()

    @property
    def sensitive(self) -> str | None:
        """The column that is no quasi-identifier, if there is one."""
        return OCCUPATION if self.also else None

    def with_rows(self, rows: int) -> "Case":
        """The same job on another number of Adult-like rows, which nobody else's figures are about."""
        if self.data != "like" or rows == self.rows:
            return self
        return replace(self, rows=rows, arx=None, target=Target())


def every_case() -> Iterator[Case]:
    """All of them, small ones first."""
    yield Case("help", "Command", "", 0, target=Target(seconds=0.3))
    yield from _full_domain("adult", "Adult, 45,222 rows, 8 quasi-identifiers, k = 5", 45_222)
    yield from _full_domain("arx", "ARX's Adult, 30,162 rows, 9 quasi-identifiers, k = 5", 30_162)
    yield from _diversity()
    yield from _million()
    for kind in ("csv", "parquet"):
        yield from _scale(kind)


def chosen(*, only: Sequence[str] = (), quick: bool = False, rows: int | None = None) -> list[Case]:
    """The cases whose name holds one of `only`; `quick` leaves out those beyond a million rows."""
    found = [case for case in every_case() if not only or any(part in case.name for part in only)]
    sized = [case.with_rows(rows) if rows else case for case in found]
    return [case for case in sized if not quick or case.rows <= M]


def _full_domain(data: str, group: str, rows: int) -> Iterator[Case]:
    for share, word in SHARES.items():
        theirs = arx.FULL_DOMAIN[share]
        target = Target(seconds=theirs.seconds / 3, megabytes=300)
        yield Case(f"{data}-{word}", group, data, rows, share, arx=theirs, target=target)


def _diversity() -> Iterator[Case]:
    group = "ARX's Adult, 30,162 rows, 8 quasi-identifiers, k = 5 and a model on occupation"
    models = (("distinct", DISTINCT, arx.DISTINCT), ("entropy", ENTROPY, arx.ENTROPY))
    for name, model, theirs in (*models, ("closeness", CLOSENESS, arx.CLOSENESS)):
        for share in (0.0, 0.02):
            full = f"{name}-{SHARES[share]}"
            yield Case(full, group, "arx", 30_162, share, also=(model,), arx=theirs[share])


def _million() -> Iterator[Case]:
    group = "Adult-like rows, a million, CSV"
    yield Case("million-0", group, "like", M, 0.0, arx=arx.MILLION[0.0])
    yield Case("million-distinct-2", group, "like", M, 0.02, also=(DISTINCT,), arx=arx.MILLION_DISTINCT)
    yield Case("million-closeness-2", group, "like", M, 0.02, also=(CLOSENESS,), arx=arx.MILLION_CLOSENESS)


def _scale(kind: str) -> Iterator[Case]:
    group = f"Adult-like rows, {kind.upper() if kind == 'csv' else 'Parquet'}, 9 quasi-identifiers, k = 5, 2 %"
    theirs = {1: arx.MILLION[0.02], 5: arx.FIVE_MILLION[0.02]}
    targets = {1: Target(seconds=90 / 10), 5: Target(seconds=612 / 20), 10: Target(copies=3, megabytes=3000)}
    for millions in (1, 2, 5, 10):
        case = Case(f"{kind}-{millions}m-2", group, "like", millions * M, 0.02, kind, arx=theirs.get(millions))
        yield replace(case, target=targets.get(millions, Target()))
    yield Case(f"{kind}-10m-0", group.replace("2 %", "0 %"), "like", 10 * M, 0.0, kind, target=targets[10])
