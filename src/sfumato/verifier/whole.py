"""The distribution of a sensitive column in the whole input table: from the audit, or from what is published.

Where the policy lets no row be suppressed, the whole table is the published one, and whoever has the public
folder alone can measure distances that need no hierarchy and no costs.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.verifier.counts import Counts
from sfumato.verifier.promise import Needs

_SELF_CONTAINED = frozenset({"variational", "kl", "emd-equal", "emd-ordered"})


def whole(counts: Counts, column: str, distance: str) -> tuple[Needs, str]:
    """What is known of a column in the whole input, and the name of its table: v, total, q (share), place."""
    needs = counts.promise.needs.get(column) or _from_published(counts, column, distance)
    table = f"whole_{counts.pairs(column)}_{distance.replace('-', '_')}"
    rows = sum(needs.totals)
    arrow = pa.table(
        {
            "v": pa.array(needs.values, pa.string()),
            "total": pa.array(needs.totals, pa.int64()),
            "q": pa.array([total / rows for total in needs.totals], pa.float64()),
            "place": pa.array(needs.ranks or range(len(needs.values)), pa.int64()),
        }
    )
    counts.connection.register(f"{table}_arrow", arrow)
    counts.connection.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM {table}_arrow")
    return needs, table


def _from_published(counts: Counts, column: str, distance: str) -> Needs:
    found = counts.connection.execute(
        f"SELECT v, CAST(sum(r) AS BIGINT) FROM {counts.pairs(column)} GROUP BY v ORDER BY v"
    ).fetchall()
    values = [value for value, _ in found]
    ranks = numeric_ranks(values) if distance == "emd-ordered" else ()
    if distance == "emd-ordered" and column in counts.promise.ordered:
        ranks = None
    if not counts.promise.complete or distance not in _SELF_CONTAINED or ranks is None:
        raise InputError(
            f"t-closeness of '{column}' compares with the whole input table; what it needs for that stands in "
            "private/audit.json, which is not here: verify the complete release folder"
        )
    return Needs(
        tuple(values), tuple(total for _, total in found), ranks if distance == "emd-ordered" else None, len(values)
    )


def numeric_ranks(values: Sequence[str | None]) -> tuple[int, ...] | None:
    """The places of texts in numeric order, if all are numbers; numbers that are equal stand in text order.

    >>> numeric_ranks(["10", "9", "1e1"]), numeric_ranks(["1", None])
    ((1, 0, 2), None)
    """
    try:
        numbers = [Decimal(value) for value in values if value is not None]
    except InvalidOperation:
        return None
    if len(numbers) < len(values) or not all(number.is_finite() for number in numbers):
        return None
    order = sorted(range(len(values)), key=lambda i: (numbers[i], values[i]))
    places = {i: place for place, i in enumerate(order)}
    return tuple(places[i] for i in range(len(values)))
