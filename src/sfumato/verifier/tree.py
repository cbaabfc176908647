"""The earth mover's distance in a hierarchy, by what the distributions share at each level."""

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.verifier.compared import Compared


def hierarchical(compared: Compared) -> str:
    """The mean, over the levels below the root, of what the distributions at that level do not share."""
    ancestors = compared.needs.ancestors
    if ancestors is None:
        raise InputError(f"emd-hierarchical needs the hierarchy of '{compared.column}', which the audit does not have")
    height = len(ancestors[0]) - 1 if ancestors else 0
    if not height:
        return f"SELECT DISTINCT id, 0.0 AS figure FROM {compared.joined}"
    table = _table(compared, ancestors, height)
    above = f"JOIN {table} t ON t.v IS NOT DISTINCT FROM w.v GROUP BY"
    lifted = f"SELECT w.id, t.level, t.a, sum(w.p) AS p FROM {compared.joined} w {above} w.id, t.level, t.a"
    base = f"SELECT t.level, t.a, sum(w.q) AS q FROM {compared.whole} w {above} t.level, t.a"
    return (
        f"SELECT l.id, greatest(1 - sum(least(l.p, b.q)) / {height}, 0) AS figure FROM ({lifted}) l "
        f"JOIN ({base}) b ON b.level = l.level AND b.a = l.a GROUP BY l.id"
    )


def _table(compared: Compared, ancestors: tuple[tuple[int, ...], ...], height: int) -> str:
    """The name of a table of value, level and ancestor, the root left out."""
    values = compared.needs.values
    lines = [(v, i, line[i]) for v, line in zip(values, ancestors, strict=True) for i in range(height)]
    arrow = pa.table(
        {
            "v": pa.array([v for v, _, _ in lines], pa.string()),
            "level": pa.array([level for _, level, _ in lines], pa.int64()),
            "a": pa.array([a for _, _, a in lines], pa.int64()),
        }
    )
    table = f"{compared.whole}_tree"
    compared.counts.connection.register(table, arrow)
    return table
