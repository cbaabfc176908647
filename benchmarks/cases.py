"""What is measured: the jobs, what ARX takes for them, and what we want them to take."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks import arx, peers
from benchmarks.case import OCCUPATION, Case, Method, Target

M = 1_000_000
SHARES = {0.0: "0", 0.02: "2", 1.0: "all"}
SALARY = "salary-class"
BOUNDS = {2: 0.0142, 5: 0.0301, 10: 0.0431, 25: 0.0639, 50: 0.0846, 100: 0.1093}
"""What no local recoding of ARX's rows loses less than, by k: the second bound of `benchmarks.lower_bound`."""
DISTINCT = {"model": "distinct-l-diversity", "column": OCCUPATION, "l": 3}
ENTROPY = {"model": "entropy-l-diversity", "column": OCCUPATION, "l": 3}
CLOSENESS = {"model": "t-closeness", "column": OCCUPATION, "t": 0.2, "distance": "emd-equal"}


def every_case() -> Iterator[Case]:
    """All of them, small ones first."""
    yield Case("help", "Command", "", 0, target=Target(seconds=0.3))
    yield from _full_domain("adult", "Adult, 45,222 rows, 8 quasi-identifiers, k = 5", 45_222)
    yield from _full_domain("arx", "ARX's Adult, 30,162 rows, 9 quasi-identifiers, k = 5", 30_162)
    yield from _diversity()
    yield from _local()
    yield from _mondrian()
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


def _local() -> Iterator[Case]:
    group = "ARX's Adult, 30,162 rows, 9 quasi-identifiers, local recoding"
    for k, bound in BOUNDS.items():
        theirs, goal = (arx.LOCAL, 0.050) if k == 5 else (None, None)
        case = Case(f"local-k{k}", group, "arx", 30_162, arx=theirs, target=Target(seconds=3, loss=goal), bound=bound)
        yield replace(case, method=Method("auto", k))
    million = "Adult-like rows, a million, CSV, 9 quasi-identifiers, k = 5, local recoding"
    yield Case("local-1m", million, "like", M, arx=arx.LOCAL_MILLION, method=Method("auto"))


def _mondrian() -> Iterator[Case]:
    group = "ARX's Adult, 8 quasi-identifiers (salary class left out), k = 5, Mondrian"
    tree = Method("mondrian", improve=False, left_out=SALARY)
    ways = (("mondrian", tree, peers.MONDRIAN), ("mondrian-sets", replace(tree, sets=True), peers.MONDRIAN_SETS))
    for name, method, peer in ways:
        target = Target(search=peer.search / 10, loss=peer.loss)
        case = Case(name, group, "arx", 30_162, target=target, method=method, peer=peer)
        yield case
        yield replace(case, name=f"{name}-improved", method=replace(method, improve=True))
    million = Target(search=peers.MONDRIAN_MILLION.search / 10)
    yield Case("mondrian-1m", group, "like", M, target=million, method=tree, peer=peers.MONDRIAN_MILLION)


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
