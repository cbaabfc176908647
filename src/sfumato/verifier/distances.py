"""Distances of each class to the whole input table, in SQL and by formulas of their own.

The models sum what a class has too much; here the overlap of two distributions is summed instead. On a line the
models compare cumulative shares; here rows travel to their quantile. The general distance is solved in its dual
form, where the models solve the primal.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.verifier.compared import Compared
from sfumato.verifier.counts import Counts
from sfumato.verifier.line import ordered
from sfumato.verifier.tree import hierarchical
from sfumato.verifier.whole import whole


def query(counts: Counts, rule: Mapping[str, Any]) -> str:
    """A query that gives (id, figure): the distance of each class."""
    column, distance = rule["column"], rule["distance"]
    needs, table = whole(counts, column, distance)
    compared = Compared(counts, column, counts.pairs(column), needs, table, float(rule["t"]))
    return _DISTANCES[distance](compared)


def _overlap(compared: Compared) -> str:
    """Variational distance: what the two distributions do not share."""
    return f"SELECT id, greatest(1 - sum(least(p, q)), 0) AS figure FROM {compared.joined} GROUP BY id"


def _kl(compared: Compared) -> str:
    return f"SELECT id, greatest(sum(p * ln(p / q)), 0) AS figure FROM {compared.joined} GROUP BY id"


def _general(compared: Compared) -> str:
    """One dual problem per different distribution that might be the farthest, or too far."""
    from sfumato.verifier.transport import farthest  # noqa: PLC0415 - SciPy is imported only here

    if compared.column not in compared.counts.promise.costs:
        raise InputError(f"distance emd needs the costs of '{compared.column}', which the audit does not have")
    code = {value: i for i, value in enumerate(compared.needs.values)}
    found = compared.counts.connection.execute(
        f"SELECT id, list(v ORDER BY v), list(p ORDER BY v) FROM {compared.joined} GROUP BY id"
    ).fetchall()
    shares = [([code[value] for value in values], parts) for _, values, parts in found]
    figures = farthest(compared.needs, compared.counts.promise.costs[compared.column], shares, compared.limit)
    ids = pa.array([line[0] for line in found], pa.int64())
    table = f"{compared.whole}_figures"
    compared.counts.connection.register(table, pa.table({"id": ids, "figure": pa.array(figures, pa.float64())}))
    return f"SELECT id, figure FROM {table}"


_DISTANCES: dict[str, Callable[[Compared], str]] = {
    "variational": _overlap,
    "emd-equal": _overlap,
    "kl": _kl,
    "emd-ordered": ordered,
    "emd-hierarchical": hierarchical,
    "emd": _general,
}
