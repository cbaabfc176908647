"""Definition 1 over the join of two tables: whom the same quasi-identifiers may be, in all their classes together.

Generalized (α, k)-anonymity (Wong, Liu, Yin, Huang, Fu and Pei, lossy join, Definition 1) bounds the share of each
value in the bag B that an individual is linked to. Whoever knows a person's quasi-identifiers q looks them up in NSS
and finds them on m lines of class c, for one or several classes. The join links q to the bag of each of these classes,
m times. No protected value may have a larger share of all this than a class may give it. If q is in one class, that is
what the class shows already; here are those that are in several.

The join is never written out: `points` has a line for each q and class, a class has a line for each value in it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sfumato.verifier.sql import exact_ratio, is_protected, times
from sfumato.verifier.stated_promise import StatedRequirement

_AT_ONCE = 5_000_000
"""So many lines of (q, class, value) are counted in one go, whatever the table is like, to bound memory."""

_FINE = 10**20
"""Shares of classes of up to ten billion lines differ by more than one of it."""


class ExcessShare(NamedTuple):
    """Quasi-identifiers that are in several classes, and the value that the join gives too large a share."""

    q: int
    classes: int
    value: str
    share: float
    allowed: float


def find_excesses(
    connection: Any, rule: StatedRequirement, pairs: Sequence[str], most: int
) -> tuple[list[ExcessShare], int]:
    """Find the worst `most` quasi-identifiers whose share in the join is too large, and how many there are.

    `pairs` are the tables (id, n, v, r) of the columns that the requirement is about; the connection has the table
    ``points``: a number for each q, the class id, and the lines m of q in that class.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS spread AS SELECT * FROM points WHERE id IS NOT NULL AND q IN "
        "(SELECT q FROM points WHERE id IS NOT NULL GROUP BY q HAVING count(*) > 1)"
    )
    fields = "q UBIGINT, classes BIGINT, value VARCHAR, share DOUBLE, allowed DOUBLE"
    connection.execute(f"CREATE OR REPLACE TABLE excesses ({fields})")
    for table in pairs:
        _collect_excesses(connection, rule, table)
    worst = "SELECT DISTINCT ON (q) * FROM excesses ORDER BY q, share DESC, value"
    lines = connection.execute(f"SELECT * FROM ({worst}) ORDER BY share DESC, classes, q LIMIT {most}").fetchall()
    failing = connection.execute("SELECT count(DISTINCT q) FROM excesses").fetchall()[0][0]
    return [ExcessShare(*line) for line in lines], failing


def _collect_excesses(connection: Any, rule: StatedRequirement, pairs: str) -> None:
    """Add the excesses of a column to table ``excesses``, a part of the quasi-identifiers at a time."""
    # Only protected values that have more than half of alpha in some class are counted. The others are nowhere near:
    # a mixture of bags gives no value a larger share than the largest that it has in one of them. To leave out all
    # with alpha or less would be right, too; but then this would not be a check of its own.
    over, under = exact_ratio(rule["alpha"])
    near = f"{times(2 * under, 'r')} > {times(over, 'n')}"
    values = f"SELECT DISTINCT v FROM {pairs} WHERE {is_protected(rule.get('values'))} AND {near}"
    connection.execute(f"CREATE OR REPLACE TABLE frequent AS SELECT row_number() OVER () AS place, v FROM ({values})")
    connection.execute(
        "CREATE OR REPLACE TABLE bags AS SELECT p.id, f.place, p.r "
        f"FROM {pairs} p JOIN frequent f ON f.v IS NOT DISTINCT FROM p.v"
    )
    connection.execute(f"CREATE OR REPLACE TABLE sizes AS SELECT DISTINCT id, n FROM {pairs}")
    lines = "SELECT id, count(*) AS lines FROM bags GROUP BY id"
    count = f"SELECT coalesce(sum(lines), 0) FROM spread s JOIN ({lines}) b ON b.id = s.id"
    parts = 1 + int(connection.execute(count).fetchall()[0][0]) // _AT_ONCE
    for part in range(parts):
        connection.execute(f"INSERT INTO excesses {_excess_query(rule, f'WHERE s.q % {parts} = {part}')}")


def _excess_query(rule: StatedRequirement, condition: str) -> str:
    """Select whom the join gives a value above what is allowed, compared in whole numbers of up to 128 bits.

    Of the lines that the join has for q, the sum of m n over its classes, the sum of m r have the value.
    """
    parts = (
        "SELECT s.q, b.place, sum(CAST(s.m AS HUGEINT) * b.r) AS part "
        f"FROM spread s JOIN bags b ON b.id = s.id {condition} GROUP BY s.q, b.place"
    )
    wholes = (
        f"SELECT s.q, count(*) AS classes, sum(CAST(s.m AS HUGEINT) * z.n) AS whole, {_allowed_share(rule)} AS allowed "
        f"FROM spread s JOIN sizes z ON z.id = s.id {condition} GROUP BY s.q"
    )
    return (
        "SELECT w.q, w.classes, coalesce(f.v, 'NULL'), p.part / w.whole, w.allowed.rows / w.allowed.size "
        f"FROM ({parts}) p JOIN ({wholes}) w ON w.q = p.q JOIN frequent f ON f.place = p.place "
        "WHERE w.allowed.size * p.part > w.allowed.rows * w.whole"
    )


def _allowed_share(rule: StatedRequirement) -> str:
    """Write the largest share that a class of q may give a value, as an aggregate: so many rows of so many.

    That is alpha. Where the requirement is refined (Definition 5 of Wong et al. 2006), a class of n lines may hold
    ceil(alpha n) of them, which is a share of ceil(alpha n) / n; so much may the join have, too, as the largest of them
    over the classes of q.
    """
    over, under = exact_ratio(rule["alpha"])
    if not rule.get("refined"):
        return f"{{'rows': CAST({over} AS HUGEINT), 'size': CAST({under} AS HUGEINT)}}"
    rows = f"(({times(over, 'z.n')} + {under - 1}) // {under})"
    return f"arg_max({{'rows': {rows}, 'size': CAST(z.n AS HUGEINT)}}, {rows} * {_FINE} // z.n)"
