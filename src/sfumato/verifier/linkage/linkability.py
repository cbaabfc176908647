"""(X, Y)-linkability: the share of each protected value on y among the lines of the join that have a value on x."""

from collections.abc import Iterator

from sfumato.verifier.linkage.joined import BOTH, SHOWN, Joined
from sfumato.verifier.linkage.lines import run
from sfumato.verifier.linkage.thresholds import Thresholds


def linkability(joined: Joined, thresholds: Thresholds) -> Iterator[str]:
    """Queries that together give a line for each value on x, or for `m` alike: (who, figure, ok, m, over, under).

    The share is to be at most over / under. `who` lists some, each as the number of x in the pivot and in each of the
    others. Where every value is protected alike, the largest share of an x stands for all; or else there is a line for
    each unit, and `who` has x and unit of the pivot, x of each of the others, and the unit of each.
    """
    for some in joined.batches():
        yield _single(joined, thresholds) if joined.single else _several(joined, thresholds, some)


def closest(joined: Joined, who: list[int]) -> list[int]:
    """The units to which an x has the largest share, the pivot's first."""
    x = " AND ".join([f"g.x = {who[0]}", *(f"o.x{i} = {n}" for i, n in zip(joined.others, who[1:], strict=True))])
    found = run(joined.plan.connection, f"SELECT * FROM ({_parts(joined, x)}) ORDER BY part DESC, u{joined.us} LIMIT 1")
    return list(found[0][1 + len(joined.others) : -1])


def _single(joined: Joined, thresholds: Thresholds) -> str:
    """Each x of the pivot is of one kind j: all its rows match the same.

    So a share in the join is a share here times a share there. One that is not above the lowest threshold stays below
    it, whatever it is multiplied with; only the largest of these matters, and only as a figure.
    """
    _make_alike(joined, "here", _here(joined, each=thresholds.each), thresholds)
    _make_alike(joined, "there", _there(joined, each=thresholds.each), thresholds)
    joined.pairs("here", "there")
    fits = "coalesce(a.part * b.part * under <= a.whole * b.whole * over, true)"
    return (
        f"SELECT {BOTH} AS who, a.f * b.f AS figure, {fits} AS ok, CAST(a.m AS HUGEINT) * b.m AS m, over, under "
        f"FROM here a JOIN there b ON b.j = a.j {thresholds.join(joined, 'a.u', 'b.')}"
    )


def _here(joined: Joined, *, each: bool) -> str:
    """How much of an x of the pivot `each` unit has, or the largest."""
    pivot, unit = f"groups_{joined.pivot}", ", g.u" if each else ""
    whole = f"SELECT x, CAST(sum(n) AS HUGEINT) AS whole FROM {pivot} GROUP BY x"
    return (
        f"SELECT g.x{unit}, any_value(g.j) AS j, any_value(t.whole) AS whole, CAST(max(g.w) AS HUGEINT) AS part "
        f"FROM {pivot} g JOIN ({whole}) t ON t.x = g.x GROUP BY g.x{unit}"
    )


def _there(joined: Joined, *, each: bool) -> str:
    """The same of the others, for each kind of the pivot that they match."""
    same = "".join(f" AND t.x{table} = o.x{table}" for table in joined.others)
    keys = "".join(f", o.x{table}" for table in joined.others) + (joined.us if each else "")
    return (
        f"SELECT o.j{keys}, any_value(t.n) AS whole, max(o.w) AS part FROM others o JOIN totals t ON t.j = o.j{same} "
        f"GROUP BY o.j{keys}"
    )


def _make_alike(joined: Joined, table: str, query: str, thresholds: Thresholds) -> None:
    """Make a table of the different shares of a kind, with how often there is each."""
    over, under = thresholds.lowest
    units = {"here": ", u", "there": joined.us}[table] if thresholds.each else ""
    who = {"here": f"[x{units}]", "there": joined.listed("x", "u") if units else joined.listed("x")}[table]
    high = f"CASE WHEN CAST({under} AS HUGEINT) * part > CAST({over} AS HUGEINT) * whole THEN"
    run(
        joined.plan.connection,
        f"CREATE OR REPLACE TABLE {table} AS SELECT j{units}, {high} part // gcd(part, whole) END AS part, "
        f"{high} whole // gcd(part, whole) END AS whole, max(q.part / q.whole) AS f, count(*) AS m, "
        f"min({who}, {SHOWN}) AS who FROM ({query}) q GROUP BY ALL",
    )


def _several(joined: Joined, thresholds: Thresholds, some: str) -> str:
    """An x of the pivot is of several kinds: lines are added up over all of them."""
    x = f"g.x{joined.xs}"
    rows = f"(SELECT x, j, sum(n) AS n FROM groups_{joined.pivot} GROUP BY x, j)"
    wholes = f"SELECT {x}, sum(g.n * t.n) AS whole FROM {rows} g JOIN totals t ON t.j = g.j WHERE {some} GROUP BY {x}"
    parts, who = _parts(joined, some), f"[x, u] || {joined.listed('x', 'u')}"
    if not thresholds.each:
        parts = f"SELECT x{joined.xs}, max(part) AS part FROM ({parts}) GROUP BY ALL"
        who = f"[x] || {joined.listed('x')}"
    return (
        f"SELECT [{who}] AS who, part / whole AS figure, part * under <= whole * over AS ok, 1 AS m, over, under "
        f"FROM ({parts}) JOIN ({wholes}) USING (x{joined.xs}) {thresholds.join(joined, 'u', '')}"
    )


def _parts(joined: Joined, some: str) -> str:
    """The lines of each x and unit."""
    keys = f"g.x{joined.xs}, g.u{joined.us}"
    return (
        f"SELECT {keys}, sum(g.w * o.w) AS part FROM groups_{joined.pivot} g JOIN others o ON o.j = g.j WHERE {some} "
        f"GROUP BY {keys}"
    )
