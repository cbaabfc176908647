"""The earth mover's distance on a line, by quantiles.

The models compare cumulative shares gap by gap. Here the class's rows, in order, travel to the same quantile of
the whole table, which is the cheapest plan there is on a line, and what they travel is added up.
"""

from sfumato.errors import InputError
from sfumato.verifier.compared import Compared


def ordered(compared: Compared) -> str:
    """A query that gives (id, figure).

    A value at ``spot`` that takes the shares from ``low`` to ``high`` of its class moves down where the table's
    quantile is below it, which is up to the table's own share of values up to it (``mid``), and up beyond.
    """
    if compared.needs.ranks is None:
        raise InputError(f"emd-ordered needs an order of '{compared.column}', which the audit does not have")
    table = _table(compared)
    travel = (
        "SELECT s.id, t.spot, low, high, least(greatest(t.cum, low), high) AS mid, "
        f"CASE WHEN t.cum <= low THEN {_work('l', 'low')} WHEN t.cum >= high THEN {_work('h', 'high')} "
        f"ELSE t.work END AS turn, {_work('l', 'low')} AS down, {_work('h', 'high')} AS up "
        f"FROM {_steps(compared)} s JOIN {table} t ON t.v IS NOT DISTINCT FROM s.v "
        f"ASOF JOIN {table} h ON s.high <= h.cum ASOF JOIN {table} l ON s.low <= l.cum"
    )
    way = "spot * (mid - low) - (turn - down) + (up - turn) - spot * (high - mid)"
    return f"SELECT id, greatest(sum({way}), 0) AS figure FROM ({travel}) GROUP BY id"


def _table(compared: Compared) -> str:
    """The whole table's values in order: where each stands, the share up to it, and the quantile's integral there."""
    spot, total = f"place / {max(compared.needs.places - 1, 1)}", sum(compared.needs.totals)
    return (
        f"(SELECT v, {spot} AS spot, sum(total) OVER o / {total} AS cum, sum(total * {spot}) OVER o / {total} AS work "
        f"FROM {compared.whole} WINDOW o AS (ORDER BY place))"
    )


def _steps(compared: Compared) -> str:
    """Each value of a class with the shares of the class that it takes, from low to high."""
    return (
        f"(SELECT id, v, sum(r) OVER o / n AS high, (sum(r) OVER o - r) / n AS low FROM {compared.joined} "
        "WINDOW o AS (PARTITION BY id ORDER BY place ROWS UNBOUNDED PRECEDING))"
    )


def _work(table: str, share: str) -> str:
    """The integral of the table's quantile up to a share, from the first value that reaches it."""
    return f"{table}.work - ({table}.cum - {share}) * {table}.spot"
