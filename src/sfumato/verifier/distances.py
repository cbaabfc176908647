"""Distances of each class to the whole input table, in SQL and by formulas of their own.

The models sum absolute differences; here the overlap of two distributions is summed instead. The general
earth mover's distance is solved in its dual form, where the models solve the primal.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.verifier.promise import Needs

if TYPE_CHECKING:
    from sfumato.verifier.checks import Counts


def query(counts: "Counts", rule: Mapping[str, Any]) -> str:
    """A query that gives (id, figure): the distance of each class."""
    column, distance = rule["column"], rule["distance"]
    pairs, whole = counts.pairs(column), _whole(counts, column)
    return _DISTANCES[distance](counts, column, pairs, whole)


def _whole(counts: "Counts", column: str) -> str:
    """A table (v, q, place) of the column's distribution in the whole input."""
    needs = counts.promise.needs.get(column)
    if needs is None:
        raise InputError(
            f"t-closeness of '{column}' compares with the whole input table; its distribution stands in "
            "private/audit.json, which is not here: verify the complete release folder"
        )
    table = f"whole_{counts.pairs(column)}"
    rows = sum(needs.totals)
    arrow = pa.table(
        {
            "v": pa.array(needs.values, pa.string()),
            "q": pa.array([total / rows for total in needs.totals], pa.float64()),
            "place": pa.array(needs.ranks or range(len(needs.values)), pa.int64()),
        }
    )
    counts.connection.register(f"{table}_arrow", arrow)
    counts.connection.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM {table}_arrow")
    _check_known(counts, column, table)
    return table


def _check_known(counts: "Counts", column: str, whole: str) -> None:
    strange = counts.connection.execute(
        f"SELECT count(*) FROM (SELECT DISTINCT v FROM {counts.pairs(column)}) p "
        f"WHERE NOT EXISTS (SELECT 1 FROM {whole} w WHERE w.v IS NOT DISTINCT FROM p.v)"
    ).fetchone()[0]
    if strange:
        raise InputError(f"column '{column}' holds {strange} values that the input did not have; it was changed")


def _overlap(counts: "Counts", column: str, pairs: str, whole: str) -> str:
    """Variational distance: what the two distributions do not share."""
    del counts, column
    return (
        f"SELECT p.id, 1 - sum(least(p.r / p.n, w.q)) AS figure FROM {pairs} p "
        f"JOIN {whole} w ON w.v IS NOT DISTINCT FROM p.v GROUP BY p.id"
    )


def _kl(counts: "Counts", column: str, pairs: str, whole: str) -> str:
    del counts, column
    return (
        f"SELECT p.id, sum(p.r / p.n * ln(p.r / p.n / w.q)) AS figure FROM {pairs} p "
        f"JOIN {whole} w ON w.v IS NOT DISTINCT FROM p.v GROUP BY p.id"
    )


def _ordered(counts: "Counts", column: str, pairs: str, whole: str) -> str:
    """Mass that has to cross each gap between neighbouring places, over the number of gaps."""
    places = _needs(counts, column).places
    return (
        f"SELECT id, sum(abs(crossing)) / {max(places - 1, 1)} AS figure FROM ("
        f"SELECT c.id, w.gap * sum(coalesce(p.r / p.n, 0) - w.q) OVER (PARTITION BY c.id ORDER BY w.place) AS crossing "
        f"FROM classes c CROSS JOIN (SELECT *, coalesce(lead(place) OVER (ORDER BY place) - place, 0) AS gap "
        f"FROM {whole}) w LEFT JOIN {pairs} p ON p.id = c.id AND p.v IS NOT DISTINCT FROM w.v) GROUP BY id"
    )


def _hierarchical(counts: "Counts", column: str, pairs: str, whole: str) -> str:
    """The mean, over the levels below the root, of what the distributions at that level do not share."""
    ancestors = _needs(counts, column).ancestors
    if ancestors is None:
        raise InputError(f"emd-hierarchical needs the hierarchy of '{column}', which the audit does not have")
    table, height = f"{whole}_tree", len(ancestors[0]) - 1
    lines = [(v, level, line[level]) for v, line in enumerate(ancestors) for level in range(height)]
    values = _needs(counts, column).values
    arrow = pa.table(
        {
            "v": pa.array([values[v] for v, _, _ in lines], pa.string()),
            "level": pa.array([level for _, level, _ in lines], pa.int64()),
            "a": pa.array([a for _, _, a in lines], pa.int64()),
        }
    )
    counts.connection.register(table, arrow)
    lifted = (
        f"SELECT p.id, t.level, t.a, sum(p.r / p.n) AS p FROM {pairs} p "
        f"JOIN {table} t ON t.v IS NOT DISTINCT FROM p.v GROUP BY p.id, t.level, t.a"
    )
    base = (
        f"SELECT t.level, t.a, sum(w.q) AS q FROM {whole} w "
        f"JOIN {table} t ON t.v IS NOT DISTINCT FROM w.v GROUP BY t.level, t.a"
    )
    return (
        f"SELECT l.id, 1 - sum(least(l.p, b.q)) / {height} AS figure FROM ({lifted}) l "
        f"JOIN ({base}) b ON b.level = l.level AND b.a = l.a GROUP BY l.id"
    )


def _general(counts: "Counts", column: str, pairs: str, whole: str) -> str:
    """One dual problem per different distribution: potentials that differ by at most the cost."""
    from sfumato.verifier.transport import dual_cost  # noqa: PLC0415 - SciPy is imported only here

    numbered = f"(SELECT *, row_number() OVER (ORDER BY v) - 1 AS i FROM {whole})"
    shares = counts.connection.execute(
        f"SELECT p.id, list(w.i ORDER BY w.i), list(p.r / p.n ORDER BY w.i) FROM {pairs} p "
        f"JOIN {numbered} w ON w.v IS NOT DISTINCT FROM p.v GROUP BY p.id"
    ).fetchall()
    rows = counts.connection.execute(f"SELECT v, q FROM {numbered} ORDER BY i").fetchall()
    costs = counts.promise.costs[column]
    figures = dual_cost([v for v, _ in rows], [q for _, q in rows], costs, [(i, s) for _, i, s in shares])
    table = f"{whole}_figures"
    counts.connection.register(
        table,
        pa.table(
            {
                "id": pa.array([row[0] for row in shares], pa.int64()),
                "figure": pa.array(figures, pa.float64()),
            }
        ),
    )
    return f"SELECT id, figure FROM {table}"


def _needs(counts: "Counts", column: str) -> Needs:
    return counts.promise.needs[column]


_DISTANCES: dict[str, Callable[["Counts", str, str, str], str]] = {
    "variational": _overlap,
    "emd-equal": _overlap,
    "kl": _kl,
    "emd-ordered": _ordered,
    "emd-hierarchical": _hierarchical,
    "emd": _general,
}
