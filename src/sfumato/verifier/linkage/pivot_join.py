"""The join of a release with earlier ones, counted by groups of rows and seen from one of its tables, the pivot.

Rows of a table that a requirement cannot tell apart are one group. Table ``groups_i`` has a line for each value on x
(``x``), kind (``j``) and unit (``u``) of table i, with its rows (``n``) and its weight (``w``). A unit is what y tells
apart: a value on y, or a row where the row key is in y. Rows of one x and one kind match the same rows of other tables,
so that their row keys need not be told apart: all of them are one unit, ``u`` being the kind, which counts as many
times as it has rows. Other values on y say nothing beside a row key. Tables ``xs_i`` and ``ys_i`` have the labels
behind the numbers.

The join is that of the pivot with all that its kinds match in the others. Table ``others`` has, for each kind of the
pivot (``j``), each combination of x values of the other tables (``x1``, ``x2`` and so on, by the number of the table)
and of their units (``u1``, ``u2``, ...), their weight together (``w``). Where shares are counted, ``totals`` has the
lines of the join of the others for each kind and x (``n``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sfumato.verifier.linkage.record_matching import JoinPlan, TableColumn, execute, read_lines, same_labels, too_large
from sfumato.verifier.stated_promise import XY_ANONYMITY, StatedRequirement

MOST_PAIRS = 200_000_000
"""So many pairs of groups are looked at for one requirement, and no more."""

PAIRS_AT_ONCE = 10_000_000
"""So many of them at a time, to spare memory."""


# Groups


@dataclass(frozen=True)
class XYColumns:
    """The columns of one table in x and y, in their order, and whether its row key is in y (`keyed`)."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    keyed: bool

    @property
    def unit(self) -> tuple[str, ...]:
        """The columns that tell units apart: those in y, if they say more than the row key."""
        return () if self.keyed else self.y


def split_by_table(plan: JoinPlan, rule: StatedRequirement) -> list[XYColumns]:
    """Split x and y of a requirement by the tables that their columns are in."""
    x, y = ([plan.find(reference) for reference in rule[key]] for key in ("x", "y"))

    def columns(places: Sequence[TableColumn], table: int) -> tuple[str, ...]:
        return tuple(place.column for place in places if place.table == table and place.column is not None)

    keyed = {place.table for place in y if place.column is None}
    return [XYColumns(columns(x, table), columns(y, table), table in keyed) for table in range(len(plan.tables))]


def read_tables(plan: JoinPlan, rules: Sequence[StatedRequirement]) -> JoinPlan:
    """Read each table once into ``all_i``: the different lines on all columns that any of the requirements needs."""
    split = [split_by_table(plan, rule) for rule in rules]
    columns = []
    for table, view in enumerate(plan.tables):
        own = [name for of_rule in split for name in (*of_rule[table].x, *of_rule[table].unit)]
        columns.append(tuple(dict.fromkeys([*own, *plan.matched_columns(table)])))
        read_lines(view, columns[-1], f"all_{table}")
    return replace(plan, columns=tuple(columns))


def count_groups(plan: JoinPlan, rule: StatedRequirement) -> list[XYColumns]:
    """Make ``groups_i``, ``xs_i`` and ``ys_i`` of every table for a requirement, and split its columns by table.

    Weights: where different units are counted, as many as there are; where lines are, those of one unit.
    """
    split = split_by_table(plan, rule)
    for table, own in enumerate(split):
        matched = plan.matched_columns(table)
        columns = tuple(dict.fromkeys([*own.x, *own.unit, *matched]))
        plan.count_lines(table, columns, "lines")
        xs, ys = ([columns.index(name) for name in names] for names in (own.x, own.unit))
        _number_values(plan, f"xs_{table}", xs)
        _number_values(plan, f"ys_{table}", ys)
        kinds = [(columns.index(name), i) for i, name in enumerate(matched)]
        weight = "sum(l.n)" if own.keyed is (rule["model"] == XY_ANONYMITY) else "1"
        execute(
            plan.connection,
            f"CREATE OR REPLACE TABLE groups_{table} AS SELECT x.id AS x, k.j, {'k.j' if own.keyed else 'y.id'} AS u, "
            f"CAST(sum(l.n) AS BIGINT) AS n, CAST({weight} AS BIGINT) AS w FROM lines l "
            f"JOIN kinds_{table} k ON {same_labels('l', 'k', kinds)} "
            f"JOIN xs_{table} x ON {same_labels('l', 'x', [(j, i) for i, j in enumerate(xs)])} "
            f"JOIN ys_{table} y ON {same_labels('l', 'y', [(j, i) for i, j in enumerate(ys)])} GROUP BY ALL",
        )
    return split


def _number_values(plan: JoinPlan, target: str, places: Sequence[int]) -> None:
    """Number the different values on some columns, in their order: table `target` of ``id`` and ``k0``, ``k1``, ..."""
    columns = "".join(f", k{place} AS c{i}" for i, place in enumerate(places))
    renamed = "".join(f", c{i} AS k{i}" for i in range(len(places)))
    order = f"ORDER BY {', '.join(f'c{i}' for i in range(len(places)))}" if places else ""
    execute(
        plan.connection,
        f"CREATE OR REPLACE TABLE {target} AS SELECT row_number() OVER ({order}) AS id{renamed} "
        f"FROM (SELECT DISTINCT 1{columns} FROM lines)",
    )


# The join


@dataclass(frozen=True)
class PivotJoin:
    """The join from the pivot, to count `distinct` values, or else shares.

    `columns` are the requirement's of each table. `single` says that each x of the pivot is of one kind: then what
    it is linked to in other tables depends on that kind alone, and each x counts for itself.
    """

    plan: JoinPlan
    columns: Sequence[XYColumns]
    distinct: bool
    pivot: int
    single: bool

    @property
    def others(self) -> list[int]:
        """The other tables."""
        return [table for table in range(len(self.columns)) if table != self.pivot]

    @property
    def xs(self) -> str:
        """Their x values in SQL, each with a comma before it."""
        return "".join(f", x{table}" for table in self.others)

    @property
    def us(self) -> str:
        """Their units, likewise."""
        return "".join(f", u{table}" for table in self.others)

    def list_sql(self, *names: str) -> str:
        """Write numbers of the others as a list in SQL: x or u of each.

        >>> PivotJoin(None, [None, None, None], True, 0, True).list_sql("x", "u")
        'CAST([x1, x2, u1, u2] AS BIGINT[])'
        """
        numbers = [f"{name}{table}" for name in names for table in self.others]
        return f"CAST([{', '.join(numbers)}] AS BIGINT[])"

    def make_batches(self) -> Iterator[str]:
        """Make the tables ``others`` and ``totals``, for some of the x values of the first other table at a time.

        An x of the join has one x of that table, so it is whole in one batch. Gives a condition on the groups ``g`` of
        the pivot, where they are too many to be joined with all of these at once; an x is whole there, too.
        """
        # how many combinations of groups of the others match a kind of the pivot, counted from kinds alone
        joins = "".join(
            f" JOIN (SELECT j, count(*) AS c FROM groups_{table} GROUP BY j) g{table} ON g{table}.j = m.j{table}"
            for table in self.others
        )
        count = f"SELECT coalesce(sum({self._product('c')}), 0) FROM matches m{joins}"
        size, pairs_so_far = int(execute(self.plan.connection, count)[0][0]), 0
        _check_pairs(size)
        batches = 1 + size // PAIRS_AT_ONCE if self.others else 1
        for batch in range(batches):
            self._make_others(f"WHERE g{self.others[0]}.x % {batches} = {batch}" if batches > 1 else "")
            pairs = 0 if self.single else self.count_pairs(f"groups_{self.pivot}", "others")
            pairs_so_far += pairs
            _check_pairs(pairs_so_far)
            slices = 1 + pairs // PAIRS_AT_ONCE
            yield from (f"g.x % {slices} = {i}" for i in range(slices))

    def count_pairs(self, here: str, there: str) -> int:
        """Count the pairs of lines of two tables that have the same kind; refuse too many."""
        a, b = (f"(SELECT j, count(*) AS c FROM {table} GROUP BY j)" for table in (here, there))
        count = f"SELECT coalesce(sum(CAST(a.c AS HUGEINT) * b.c), 0) FROM {a} a JOIN {b} b ON b.j = a.j"
        pairs = int(execute(self.plan.connection, count)[0][0])
        _check_pairs(pairs)
        return pairs

    def _make_others(self, condition: str) -> None:
        joins = "".join(f" JOIN groups_{i} g{i} ON g{i}.j = m.j{i}" for i in self.others)
        source = f"FROM matches m{joins} {condition}"
        x, u = ("".join(f", g{i}.{name} AS {name}{i}" for i in self.others) for name in "xu")
        sum_up = "max" if self.distinct else "sum"  # a unit counts once, however many ways lead to it; lines all count
        execute(
            self.plan.connection,
            f"CREATE OR REPLACE TABLE others AS SELECT m.j{self.pivot} AS j{x}{u}, {sum_up}({self._product('w')}) AS w "
            f"{source} GROUP BY ALL",
        )
        if not self.distinct:
            execute(
                self.plan.connection,
                f"CREATE OR REPLACE TABLE totals AS SELECT m.j{self.pivot} AS j{x}, sum({self._product('n')}) AS n "
                f"{source} GROUP BY ALL",
            )

    def _product(self, column: str) -> str:
        return " * ".join(["CAST(1 AS HUGEINT)", *(f"g{table}.{column}" for table in self.others)])


def choose_pivot(plan: JoinPlan, columns: Sequence[XYColumns], *, distinct: bool) -> PivotJoin:
    """Choose the pivot: a table in which x determines the kind; or else one whose rows are counted; and the largest.

    Where a table holds the rows of several releases, it is the pivot: a kind of it is of one release.
    """

    def is_single(table: int) -> bool:
        several = f"SELECT 1 FROM groups_{table} GROUP BY x HAVING count(DISTINCT j) > 1 LIMIT 1"
        return not execute(plan.connection, several)

    def count(table: int) -> int:
        return int(execute(plan.connection, f"SELECT count(*) FROM groups_{table}")[0][0])

    ranks = [(is_single(table), distinct and own.keyed, count(table)) for table, own in enumerate(columns)]
    pivot = max(range(len(columns)), key=lambda table: ranks[table]) if plan.tag is None else 1
    return PivotJoin(plan, columns, distinct, pivot, ranks[pivot][0])


def _check_pairs(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise too_large("pairs of groups", f"{pairs:,}", MOST_PAIRS)
