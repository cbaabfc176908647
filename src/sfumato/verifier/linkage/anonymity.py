"""(X, Y)-anonymity: how many different values on y each value on x is linked to, in the join."""

from collections.abc import Iterator

from sfumato.verifier.linkage.joined import BOTH, SHOWN, Joined
from sfumato.verifier.linkage.lines import run


def anonymity(joined: Joined, k: int) -> Iterator[str]:
    """Queries that together give a line for each value on x, or for `m` that are alike: (who, figure, ok, m).

    `who` lists some of them, each as the number of x in the pivot and in each of the others.
    """
    for some in joined.batches():
        yield _single(joined, k) if joined.single else _several(joined, k, some)


def _single(joined: Joined, k: int) -> str:
    """Each x of the pivot is of one kind j, so all its units stand beside all units of others that match j.

    So there are as many different combinations as units here times units there. Where one factor is k or more, the
    product is; of such x the smallest will do, since it gives the smallest product.
    """
    here = f"SELECT any_value(j) AS j, x, CAST(sum(w) AS HUGEINT) AS f FROM groups_{joined.pivot} GROUP BY x"
    there = f"SELECT j{joined.xs}, sum(w) AS f FROM others GROUP BY j{joined.xs}"
    for table, query, who in (("here", here, "[x]"), ("there", there, joined.listed("x"))):
        run(
            joined.plan.connection,
            f"CREATE OR REPLACE TABLE {table} AS SELECT j, CASE WHEN f < {k} THEN f END AS step, min(f) AS f, "
            f"count(*) AS m, min({who}, {SHOWN}) AS who FROM ({query}) GROUP BY j, step",
        )
    joined.pairs("here", "there")
    return (
        f"SELECT {BOTH} AS who, a.f * b.f AS figure, figure >= {k} AS ok, CAST(a.m AS HUGEINT) * b.m AS m "
        "FROM here a JOIN there b ON b.j = a.j"
    )


def _several(joined: Joined, k: int, some: str) -> str:
    """An x of the pivot is of several kinds, and the same combination of units may come from several of them.

    Where the pivot's rows are counted they differ from kind to kind, and nothing comes twice.
    """
    x, joins = f"g.x{joined.xs}", f"FROM groups_{joined.pivot} g JOIN others o ON o.j = g.j WHERE {some}"
    if joined.parts[joined.pivot].keyed:
        counted = f"SELECT {x}, sum(g.w * o.w) AS f {joins} GROUP BY {x}"
    else:
        units = f"{x}, g.u{joined.us}"
        once = f"SELECT {units}, max(o.w) AS w {joins} GROUP BY {units}"
        counted = f"SELECT x{joined.xs}, sum(w) AS f FROM ({once}) GROUP BY x{joined.xs}"
    return f"SELECT [[x] || {joined.listed('x')}] AS who, f AS figure, f >= {k} AS ok, 1 AS m FROM ({counted})"
