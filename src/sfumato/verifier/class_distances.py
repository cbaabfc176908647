"""The distance of each class to the whole input table, for t-closeness (Li, Li and Venkatasubramanian 2007).

Every distance has a formula of its own here, so that two ways of computing it have to agree. The models sum what a
class has too much; here the overlap of two distributions is summed instead. On a line the models compare cumulative
shares; here rows travel to their quantile. The general distance is solved in its dual form, where the models solve the
primal.

Where the policy lets no row be suppressed, the whole table is the published one, and whoever has the public folder
alone can measure distances that need no hierarchy and no costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import InputError, quote
from sfumato.verifier.counts import ClassCounts
from sfumato.verifier.stated_promise import InputDistribution, MoveCosts, StatedRequirement

Vector = NDArray[np.float64]
ValueShares = tuple[Sequence[int], Sequence[float]]
"""Which values a class has, by their codes, and the share of each."""

_WITHOUT_AUDIT = frozenset({"variational", "kl", "emd-equal", "emd-ordered"})
_SHARES_AT_ONCE = 5_000_000
"""So many shares of a value in a class are in memory at once, those of 0 included."""
_TIGHT: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def distance_query(counts: ClassCounts, rule: StatedRequirement) -> str:
    """Write a query that gives (id, figure): the distance of each class.

    Classes with a value that the whole table does not have are left out.
    """
    column, distance = rule["column"], rule["distance"]
    distribution = counts.promise.distributions.get(column) or _published_distribution(counts, column, distance)
    whole = f"whole_{counts.pairs(column)}_{distance.replace('-', '_')}"
    rows = sum(distribution.totals)
    table = pa.table(
        {
            "v": pa.array(distribution.values, pa.string()),
            "total": pa.array(distribution.totals, pa.int64()),
            "q": pa.array([total / rows for total in distribution.totals], pa.float64()),
            "place": pa.array(distribution.ranks or range(len(distribution.values)), pa.int64()),
        }
    )
    counts.connection.register(f"{whole}_arrow", table)
    counts.connection.execute(f"CREATE OR REPLACE TABLE {whole} AS SELECT * FROM {whole}_arrow")
    return _DISTANCES[distance](ComparedDistributions(counts, column, distribution, whole, float(rule["t"])))


@dataclass(frozen=True)
class ComparedDistributions:
    """A sensitive column in each class and in the whole table.

    `whole` is the name of the table (v, total, q, place): a value of the whole table, its rows, its share, and its
    position in the order of values. `limit` is the largest distance that is allowed.
    """

    counts: ClassCounts
    column: str
    distribution: InputDistribution
    whole: str
    limit: float

    @property
    def shares(self) -> str:
        """The pairs of class and value with the whole table's line of that value, p being its share of the class.

        Classes with a value that the whole table does not have are left out.
        """
        pairs = self.counts.pairs(self.column)
        unknown = f"SELECT id FROM {pairs} p ANTI JOIN {self.whole} w ON w.v IS NOT DISTINCT FROM p.v"
        return (
            f"(SELECT p.id, p.n, p.r, p.r / p.n AS p, w.* FROM {pairs} p "
            f"JOIN {self.whole} w ON w.v IS NOT DISTINCT FROM p.v WHERE p.id NOT IN ({unknown}))"
        )


def _published_distribution(counts: ClassCounts, column: str, distance: str) -> InputDistribution:
    """Take the published table for the whole one, where no row could be suppressed and nothing else is needed."""
    lines = counts.connection.execute(
        f"SELECT v, CAST(sum(r) AS BIGINT) FROM {counts.pairs(column)} GROUP BY v ORDER BY v"
    ).fetchall()
    values = tuple(value for value, _ in lines)
    ordered = distance == "emd-ordered"
    ranks = numeric_ranks(values) if ordered and column not in counts.promise.ordered else None
    if not counts.promise.complete or distance not in _WITHOUT_AUDIT or (ordered and ranks is None):
        raise InputError(
            f"t-closeness of {quote(column)} compares with the whole input table; what it needs for that stands in "
            "private/audit.json, which is not here: verify the complete release folder"
        )
    return InputDistribution(values, tuple(total for _, total in lines), ranks, len(values))


def numeric_ranks(values: Sequence[str | None]) -> tuple[int, ...] | None:
    """Find the positions of texts in numeric order, if all are numbers; equal numbers are in text order.

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


# Distances without an order


def _variational(compared: ComparedDistributions) -> str:
    """One minus what the two distributions share; the earth mover's distance where all moves cost 1 is the same."""
    return f"SELECT id, greatest(1 - sum(least(p, q)), 0) AS figure FROM {compared.shares} GROUP BY id"


def _kullback_leibler(compared: ComparedDistributions) -> str:
    return f"SELECT id, greatest(sum(p * ln(p / q)), 0) AS figure FROM {compared.shares} GROUP BY id"


# The earth mover's distance on a line (Section 5.1 of the paper), by quantiles


def _emd_ordered(compared: ComparedDistributions) -> str:
    """Let the rows of a class, in order, travel to the same quantile of the whole table, and add up the way.

    That is the cheapest plan there is on a line. A value at ``spot`` that takes the shares from ``low`` to ``high`` of
    its class moves down where the table's quantile is below it, which is up to the table's own share of values up to it
    (``mid``), and up beyond.
    """
    if compared.distribution.ranks is None:
        raise InputError(f"emd-ordered needs an order of {quote(compared.column)}, which the audit does not have")
    # the whole table's values in order: where each is (0 to 1), the share up to it, and the quantile's integral there
    spot, total = f"place / {max(compared.distribution.places - 1, 1)}", sum(compared.distribution.totals)
    table = (
        f"(SELECT v, {spot} AS spot, sum(total) OVER o / {total} AS cum, sum(total * {spot}) OVER o / {total} AS work "
        f"FROM {compared.whole} WINDOW o AS (ORDER BY place))"
    )
    # each value of a class with the shares of the class that it takes
    steps = (
        f"(SELECT id, v, sum(r) OVER o / n AS high, (sum(r) OVER o - r) / n AS low FROM {compared.shares} "
        "WINDOW o AS (PARTITION BY id ORDER BY place ROWS UNBOUNDED PRECEDING))"
    )
    # the integral of the table's quantile up to low, and up to high, from the first value that reaches it
    down, up = "l.work - (l.cum - low) * l.spot", "h.work - (h.cum - high) * h.spot"
    travel = (
        "SELECT s.id, t.spot, low, high, least(greatest(t.cum, low), high) AS mid, "
        f"CASE WHEN t.cum <= low THEN {down} WHEN t.cum >= high THEN {up} "
        f"ELSE t.work END AS turn, {down} AS down, {up} AS up "
        f"FROM {steps} s JOIN {table} t ON t.v IS NOT DISTINCT FROM s.v "
        f"ASOF JOIN {table} h ON s.high <= h.cum ASOF JOIN {table} l ON s.low <= l.cum"
    )
    way = "spot * (mid - low) - (turn - down) + (up - turn) - spot * (high - mid)"
    return f"SELECT id, greatest(sum({way}), 0) AS figure FROM ({travel}) GROUP BY id"


# The earth mover's distance in a hierarchy (Section 5.2 of the paper), by levels


def _emd_hierarchical(compared: ComparedDistributions) -> str:
    """Take the mean, over the levels below the root, of what the distributions at that level do not share."""
    values, ancestors = compared.distribution.values, compared.distribution.ancestors
    if ancestors is None:
        raise InputError(
            f"emd-hierarchical needs the hierarchy of {quote(compared.column)}, which the audit does not have"
        )
    height = len(ancestors[0]) - 1 if ancestors else 0
    if not height:
        return f"SELECT DISTINCT id, 0.0 AS figure FROM {compared.shares}"
    lines = [(v, i, line[i]) for v, line in zip(values, ancestors, strict=True) for i in range(height)]
    levels = pa.table(
        {
            "v": pa.array([v for v, _, _ in lines], pa.string()),
            "level": pa.array([level for _, level, _ in lines], pa.int64()),
            "a": pa.array([a for _, _, a in lines], pa.int64()),
        }
    )
    table = f"{compared.whole}_tree"
    compared.counts.connection.register(table, levels)
    above = f"JOIN {table} t ON t.v IS NOT DISTINCT FROM w.v GROUP BY"
    lifted = f"SELECT w.id, t.level, t.a, sum(w.p) AS p FROM {compared.shares} w {above} w.id, t.level, t.a"
    base = f"SELECT t.level, t.a, sum(w.q) AS q FROM {compared.whole} w {above} t.level, t.a"
    return (
        f"SELECT l.id, greatest(1 - sum(least(l.p, b.q)) / {height}, 0) AS figure FROM ({lifted}) l "
        f"JOIN ({base}) b ON b.level = l.level AND b.a = l.a GROUP BY l.id"
    )


# The general earth mover's distance (Section 5 of the paper), in its dual form


def _emd_general(compared: ComparedDistributions) -> str:
    """Solve one dual program per different distribution that might be the farthest, or too far.

    Classes are looked at in the order of an upper bound, so many at a time, until the bound of all others says that
    they are neither; these keep it. It is the one of `transport_distances`, in SQL.
    """
    connection, costs = compared.counts.connection, compared.counts.promise.costs
    if compared.column not in costs:
        raise InputError(f"distance emd needs the costs of {quote(compared.column)}, which the audit does not have")
    distribution, table = compared.distribution, f"{compared.whole}_figures"
    code = {value: i for i, value in enumerate(distribution.values)}
    matrix = cost_matrix(distribution.values, costs[compared.column])
    ways = matrix @ (np.array(distribution.totals) / sum(distribution.totals))
    connection.register(f"{table}_ways", pa.table({"v": pa.array(distribution.values, pa.string()), "way": ways}))
    connection.execute(
        f"CREATE OR REPLACE TABLE {table}_bounds AS SELECT id, row_number() OVER (ORDER BY figure DESC, id) AS place, "
        "figure FROM (SELECT id, least(sum(s.p * w.way), greatest(1 - sum(least(s.p, s.q)), 0) * "
        f"{float(matrix.max(initial=0.0))}) AS figure FROM {compared.shares} s "
        f"JOIN {table}_ways w ON w.v IS NOT DISTINCT FROM s.v GROUP BY id)"
    )
    connection.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT id, figure FROM {table}_bounds LIMIT 0")
    farthest, done, most = 0.0, 0, max(100, _SHARES_AT_ONCE // max(len(code), 1))
    while True:
        lines = connection.execute(
            "SELECT b.id, any_value(b.figure), list(s.v ORDER BY s.v), list(s.p ORDER BY s.v) "
            f"FROM {compared.shares} s "
            f"JOIN {table}_bounds b ON b.id = s.id WHERE b.place > {done} AND b.place <= {done + most} GROUP BY b.id"
        ).fetchall()
        # a hair more, since sums in another order differ in their last digits
        if not lines or max(line[1] for line in lines) * (1 + 1e-9) <= min(compared.limit, farthest):
            break
        shares = [([code[value] for value in values], parts) for _, _, values, parts in lines]
        figures = transport_distances(distribution, costs[compared.column], shares, compared.limit, farthest)
        ids = pa.array([line[0] for line in lines], pa.int64())
        connection.register("solved", pa.table({"id": ids, "figure": pa.array(figures, pa.float64())}))
        connection.execute(f"INSERT INTO {table} SELECT id, figure FROM solved")
        connection.unregister("solved")
        farthest, done = max(farthest, *figures), done + len(lines)
    connection.execute(f"INSERT INTO {table} SELECT id, figure FROM {table}_bounds WHERE place > {done}")
    return f"SELECT id, figure FROM {table}"


def transport_distances(
    distribution: InputDistribution,
    costs: MoveCosts,
    shares: Sequence[ValueShares],
    limit: float,
    farthest: float = 0.0,
) -> list[float]:
    """Find the distance of each class, exact for the farthest and for all beyond `limit`.

    `shares` has a line for each class, and `farthest` is the distance of some other class. A class that an upper bound
    shows to be neither gets the bound: rows that all travel as if they did not know where they come from are a way to
    move, if not the cheapest.

    >>> whole = InputDistribution(("a", "b"), (1, 1))
    >>> transport_distances(whole, {("a", "b"): 2.0}, [([0], [1.0]), ([0, 1], [0.5, 0.5])], 0.0)
    [1.0, 0.0]
    """
    table, whole = cost_matrix(distribution.values, costs), np.array(distribution.totals) / sum(distribution.totals)
    parts = [np.zeros(len(whole)) for _ in shares]  # float[v] for each class: its share of every value
    for part, (codes, of_class) in zip(parts, shares, strict=True):
        part[list(codes)] = of_class
    figures = [float(min(part @ table @ whole, np.maximum(part - whole, 0).sum() * table.max())) for part in parts]
    solved: dict[bytes, float] = {}
    # From the largest bound down: what is neither beyond the limit nor beyond the farthest so far is left at its bound.
    for i in np.argsort(np.negative(figures), kind="stable").tolist():
        if figures[i] > min(limit, farthest):
            key = parts[i].tobytes()
            solved[key] = solved[key] if key in solved else dual_distance(table, parts[i] - whole)
            figures[i] = solved[key]
            farthest = max(farthest, figures[i])
    return figures


def cost_matrix(values: Sequence[str | None], costs: MoveCosts) -> Vector:
    """Make the table of costs, float[v, v]: that of each move as it was given, or of the way back."""

    def cost(start: str, end: str) -> float:
        if start == end:
            return 0.0
        stated = costs.get((start, end), costs.get((end, start)))
        if stated is None:
            raise InputError(f"the audit has no cost of {quote(start)} and {quote(end)}; it was changed")
        return stated

    texts = [value or "" for value in values]
    return np.array([[cost(start, end) for end in texts] for start in texts], dtype=np.float64)


def dual_distance(costs: Vector, difference: Vector) -> float:
    """Find the most that potentials can gain which differ between two values by at most the cost of the move.

    `costs` are float[v, v] and `difference`, float[v], the shares of a class minus those of the whole table. This is
    the dual of the transport problem: maximize the sum of u_i d_i such that u_i - u_j <= c_ij for all i and j.

    >>> dual_distance(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([0.5, -0.5]))
    1.0
    """
    from scipy import sparse  # noqa: PLC0415 - SciPy is needed for this distance only
    from scipy.optimize import linprog  # noqa: PLC0415 - same

    scale, number = float(costs.max(initial=0.0)), len(difference)
    if scale == 0 or not np.abs(difference).max() > 1e-15:
        return 0.0
    start, end = np.nonzero(~np.eye(number, dtype=np.bool_))
    lines = np.arange(len(start))
    signs = np.concatenate([np.ones(len(start)), -np.ones(len(start))])
    places = (np.tile(lines, 2), np.concatenate([start, end]))
    moves: Any = sparse.csr_array((signs, places), shape=(len(start), number))
    bounds = [(0.0, 0.0)] + [(None, None)] * (number - 1)  # potentials count only by difference
    limits = costs[start, end] / scale
    result = linprog(-difference, A_ub=moves, b_ub=limits, bounds=bounds, method="highs-ds", options=_TIGHT)
    if result.status:  # potentials of 0 are feasible and finite costs bound them, so there is always a solution
        raise RuntimeError(f"the linear program of a distance has no solution ({result.message})")
    return max(0.0, -float(result.fun or 0.0)) * scale


_DISTANCES: dict[str, Callable[[ComparedDistributions], str]] = {
    "variational": _variational,
    "emd-equal": _variational,
    "kl": _kullback_leibler,
    "emd-ordered": _emd_ordered,
    "emd-hierarchical": _emd_hierarchical,
    "emd": _emd_general,
}
