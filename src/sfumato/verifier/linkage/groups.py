"""Groups: the rows of each table that a requirement cannot tell apart, with how many they are.

Table ``groups_i`` has a line for each value on x (``x``), kind (``j``) and unit (``u``) of table i, with its rows
(``n``) and its weight (``w``). A unit is what y tells apart: a value on y, or a row where the row key stands in y.
Rows of one x and one kind match the same rows of other tables, so that their row keys need no telling: all of them are
one unit, ``u`` being the kind, which counts as many times as it has rows. Other values on y say nothing beside a row
key. Tables ``xs_i`` and ``ys_i`` have the labels behind the numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.verifier.linkage.lines import count_lines, run, same
from sfumato.verifier.linkage.plan import Plan
from sfumato.verifier.linkage.rules import ANONYMITY


@dataclass(frozen=True)
class Part:
    """What a requirement asks of one table: its columns in x and y, in their order, and whether its row key is in y."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    keyed: bool

    @property
    def seen(self) -> tuple[str, ...]:
        """The columns in y that tell more than the row key."""
        return () if self.keyed else self.y


def parts(plan: Plan, rule: Mapping[str, Any]) -> list[Part]:
    """The requirement table by table."""
    x, y = ([plan.find(reference) for reference in rule[key]] for key in ("x", "y"))

    def columns(places: Sequence[Any], table: int) -> tuple[str, ...]:
        return tuple(place.column for place in places if place.table == table and place.column is not None)

    keyed = {place.table for place in y if place.column is None}
    return [Part(columns(x, table), columns(y, table), table in keyed) for table in range(len(plan.tables))]


def gathered(plan: Plan, rules: Sequence[Mapping[str, Any]]) -> Plan:
    """Read each table once: the different lines on all columns that any of the requirements looks at."""
    asked = [parts(plan, rule) for rule in rules]
    columns = []
    for table, published in enumerate(plan.tables):
        own = [name for found in asked for name in (*found[table].x, *found[table].seen)]
        columns.append(tuple(dict.fromkeys([*own, *plan.matched(table)])))
        count_lines(published, columns[-1], f"all_{table}")
    return replace(plan, columns=tuple(columns))


def count_groups(plan: Plan, rule: Mapping[str, Any]) -> list[Part]:
    """Make the tables for a requirement, and say what it asks of each."""
    found = parts(plan, rule)
    for table, part in enumerate(found):
        _count(plan, table, part, distinct=rule["model"] == ANONYMITY)
    return found


def _count(plan: Plan, table: int, part: Part, *, distinct: bool) -> None:
    """Weights: where `distinct` units are counted, as many as there are; where lines are, those of one unit."""
    columns = tuple(dict.fromkeys([*part.x, *part.seen, *plan.matched(table)]))
    plan.count(table, columns, "lines")
    xs, ys = ([columns.index(name) for name in some] for some in (part.x, part.seen))
    _number(plan, f"xs_{table}", xs)
    _number(plan, f"ys_{table}", ys)
    kinds = [(columns.index(name), i) for i, name in enumerate(plan.matched(table))]
    weight = "sum(l.n)" if part.keyed is distinct else "1"
    run(
        plan.connection,
        f"CREATE OR REPLACE TABLE groups_{table} AS SELECT x.id AS x, k.j, {'k.j' if part.keyed else 'y.id'} AS u, "
        f"CAST(sum(l.n) AS BIGINT) AS n, CAST({weight} AS BIGINT) AS w FROM lines l "
        f"JOIN kinds_{table} k ON {same('l', 'k', kinds)} "
        f"JOIN xs_{table} x ON {same('l', 'x', [(j, i) for i, j in enumerate(xs)])} "
        f"JOIN ys_{table} y ON {same('l', 'y', [(j, i) for i, j in enumerate(ys)])} GROUP BY ALL",
    )


def _number(plan: Plan, target: str, places: Sequence[int]) -> None:
    """Number the different values on some columns, in their order: table `target` of ``id`` and ``k0``, ``k1``, ..."""
    columns = "".join(f", k{place} AS c{i}" for i, place in enumerate(places))
    renamed = "".join(f", c{i} AS k{i}" for i in range(len(places)))
    order = f"ORDER BY {', '.join(f'c{i}' for i in range(len(places)))}" if places else ""
    run(
        plan.connection,
        f"CREATE OR REPLACE TABLE {target} AS SELECT row_number() OVER ({order}) AS id{renamed} "
        f"FROM (SELECT DISTINCT 1{columns} FROM lines)",
    )
