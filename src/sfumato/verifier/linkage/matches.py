"""Which combinations of labels match: table ``matches`` with one column of kinds for each table, j0, j1 and so on.

Rows of a table that agree in all labels that matter for matching, and in whether a rule is about them, are of one kind.
There are few kinds, so the join is found for them, and holds for all their rows.
"""

from itertools import combinations

import pyarrow as pa

from sfumato.errors import NotVerified
from sfumato.verifier.linkage.earlier import TOP
from sfumato.verifier.linkage.lines import encoded, run
from sfumato.verifier.linkage.plan import Plan, Side
from sfumato.verifier.sql import text

LIMIT = 50_000_000
"""So many combinations of kinds are looked at, and no more."""


def too_large(what: str, size: str, limit: int) -> NotVerified:
    """What is said where the join is too large to look at: that there is no proof."""
    return NotVerified(
        f"the join with earlier releases has {size} {what}, more than the {limit:,} that this version looks at; "
        "nothing was proved: ask for fewer columns in x and y, or for all columns in x that are joined on"
    )


def find_matches(plan: Plan) -> None:
    """Make the tables ``kinds_i`` (the labels of a table with their kind, j) and ``matches``."""
    for table in range(len(plan.tables)):
        _find_kinds(plan, table)
    for one, other in combinations(range(len(plan.tables)), 2):
        _match_pair(plan, one, other)
    run(plan.connection, "CREATE TABLE matches AS SELECT DISTINCT j AS j0 FROM kinds_0")
    for table in range(1, len(plan.tables)):
        _extend(plan, table)


def _find_kinds(plan: Plan, table: int) -> None:
    """Lines on the columns that are matched, with what rules say of them (f0, f1, ...) and their kind (j)."""
    columns = plan.matched(table)
    plan.count(table, columns, "lines")
    for place, name in enumerate(columns):
        _find_paths(plan, table, place, name)
    said = "".join(f", {_is_below(plan, table, side)} AS f{rule}" for rule, side in plan.sides(table).items())
    run(plan.connection, f"CREATE TABLE flagged AS SELECT *{said} FROM lines")
    kind = [f"k{columns.index(name)}" for name in plan.joins(table)] + [f"f{rule}" for rule in plan.sides(table)]
    run(plan.connection, f"CREATE TABLE kinds_{table} AS SELECT *, {_numbered(kind)} AS j FROM flagged")
    run(plan.connection, "DROP TABLE flagged")


def _is_below(plan: Plan, table: int, side: Side) -> str:
    """Whether a line has a rule's value, or one below it."""
    place = plan.matched(table).index(side.column)
    return f"k{place} IN (SELECT label FROM paths_{table}_{place} WHERE above = {text(encoded(side.value))})"


def _numbered(columns: list[str]) -> str:
    return f"dense_rank() OVER (ORDER BY {', '.join(columns)})" if columns else "CAST(1 AS BIGINT)"


def _find_paths(plan: Plan, table: int, place: int, name: str) -> None:
    """Table ``paths``: each label of a column with all that stands on its way to the root, itself included."""
    known = [(encoded(path[0]), encoded(label)) for path in plan.taxonomies.get(name, ()) for label in path]
    ways = pa.table(
        {"label": pa.array([a for a, _ in known], pa.string()), "above": pa.array([b for _, b in known], pa.string())}
    )
    plan.connection.register("ways", ways)
    labels = f"(SELECT DISTINCT k{place} AS label FROM lines)"
    run(
        plan.connection,
        f"CREATE TABLE paths_{table}_{place} AS SELECT label, above FROM {labels} JOIN ways USING (label) "
        f"UNION SELECT label, unnest([label, '{encoded(TOP)}']) FROM {labels} ANTI JOIN ways USING (label)",
    )


def _match_pair(plan: Plan, one: int, other: int) -> None:
    """Table ``pairs_one_other``: kinds that match, by one shared column after the other, and by the rules at last."""
    shared = plan.shared[one, other]
    run(plan.connection, "CREATE TABLE step_0 AS SELECT CAST(1 AS BIGINT) AS a, CAST(1 AS BIGINT) AS b")
    for length in range(1, len(shared) + 1):
        _match_column(plan, (one, other), shared[:length])
    ends = [
        f"(SELECT DISTINCT j, {_prefix(plan, table, shared)} AS q{_flags(plan, table)} FROM kinds_{table})"
        for table in (one, other)
    ]
    both = plan.sides(one).keys() & plan.sides(other).keys()
    allowed = "".join(f" AND NOT (a.f{rule} AND b.f{rule})" for rule in both)
    _limited(
        plan,
        f"pairs_{one}_{other}",
        f"SELECT DISTINCT a.j AS j{one}, b.j AS j{other} FROM step_{len(shared)} s JOIN {ends[0]} a ON a.q = s.a "
        f"JOIN {ends[1]} b ON b.q = s.b WHERE true{allowed}",
    )
    run(plan.connection, f"DROP TABLE step_{len(shared)}")


def _flags(plan: Plan, table: int) -> str:
    return "".join(f", f{rule}" for rule in plan.sides(table))


def _prefix(plan: Plan, table: int, shared: tuple[str, ...]) -> str:
    return _numbered([f"k{plan.matched(table).index(name)}" for name in shared])


def _match_column(plan: Plan, pair: tuple[int, int], shared: tuple[str, ...]) -> None:
    """From pairs that match on all shared columns but the last, to those that match on that one as well.

    Two labels match where one stands on the other's way to the root.
    """
    last, length = shared[-1], len(shared)
    one, other = (f"paths_{table}_{plan.matched(table).index(last)}" for table in pair)
    labels = (
        f"SELECT DISTINCT p.label AS a, p.above AS b FROM {one} p SEMI JOIN {other} o ON o.label = p.above "
        f"UNION SELECT DISTINCT p.above, p.label FROM {other} p SEMI JOIN {one} o ON o.label = p.above"
    )
    ends = [
        f"(SELECT DISTINCT {_prefix(plan, table, shared[:-1])} AS p, k{plan.matched(table).index(last)} AS label, "
        f"{_prefix(plan, table, shared)} AS q FROM kinds_{table})"
        for table in pair
    ]
    _limited(
        plan,
        f"step_{length}",
        f"SELECT a.q AS a, b.q AS b FROM step_{length - 1} s JOIN {ends[0]} a ON a.p = s.a JOIN ({labels}) l "
        f"ON l.a = a.label JOIN {ends[1]} b ON b.p = s.b AND b.label = l.b",
    )
    run(plan.connection, f"DROP TABLE step_{length - 1}")


def _extend(plan: Plan, table: int) -> None:
    """Combinations of the tables before with every kind of one table more that matches all of them."""
    joined = f"pairs_0_{table} p0 ON p0.j0 = m.j0" + "".join(
        f" JOIN pairs_{before}_{table} p{before} ON p{before}.j{before} = m.j{before} "
        f"AND p{before}.j{table} = p0.j{table}"
        for before in range(1, table)
    )
    _limited(plan, "extended", f"SELECT m.*, p0.j{table} FROM matches m JOIN {joined}")
    run(plan.connection, "DROP TABLE matches; ALTER TABLE extended RENAME TO matches")


def _limited(plan: Plan, table: str, query: str) -> None:
    """Make a table, unless it is too large to."""
    run(plan.connection, f"CREATE TABLE {table} AS SELECT * FROM ({query}) LIMIT {LIMIT + 1}")
    if run(plan.connection, f"SELECT count(*) FROM {table}")[0][0] > LIMIT:
        raise too_large("combinations of labels that match", f"over {LIMIT:,}", LIMIT)
