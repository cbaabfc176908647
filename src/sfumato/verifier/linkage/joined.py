"""The join, seen from one of its tables: that one, the pivot, with all that its kinds match in the others.

Table ``others`` has, for each kind of the pivot (``j``), each combination of x values of the other tables (``x1``,
``x2`` and so on, by the number of the table) and of their units (``u1``, ``u2``, ...), their weight together (``w``).
Where shares are asked for, ``totals`` has the lines of the join of the others for each kind and x (``n``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfumato.verifier.linkage.groups import Part
from sfumato.verifier.linkage.lines import run
from sfumato.verifier.linkage.matches import too_large
from sfumato.verifier.linkage.plan import Plan

LIMIT = 200_000_000
"""So many pairs of groups are looked at for one requirement, and no more."""

AT_ONCE = 10_000_000
"""So many of them at a time, to spare memory."""

SHOWN = 3
"""So many of those that fail are named."""

BOTH = "flatten([[a_who || b_who FOR b_who IN b.who] FOR a_who IN a.who])"
"""In SQL, some values on x of two tables ``a`` and ``b``, each with each."""


@dataclass(frozen=True)
class Joined:
    """A requirement over the join, from the pivot: `distinct` values are counted, or else shares.

    `single` says that each x of the pivot is of one kind: then what it is linked to in other tables depends on that
    kind alone, and each x counts for itself.
    """

    plan: Plan
    parts: Sequence[Part]
    distinct: bool
    pivot: int
    single: bool

    @property
    def others(self) -> list[int]:
        """The other tables."""
        return [table for table in range(len(self.parts)) if table != self.pivot]

    @property
    def xs(self) -> str:
        """Their x values, each with a comma before it."""
        return "".join(f", x{table}" for table in self.others)

    @property
    def us(self) -> str:
        """Their units, likewise."""
        return "".join(f", u{table}" for table in self.others)

    def listed(self, *columns: str) -> str:
        """Numbers of the others as a list in SQL: x or u of each.

        >>> Joined(None, [None, None, None], True, 0, True).listed("x", "u")
        'CAST([x1, x2, u1, u2] AS BIGINT[])'
        """
        numbers = [f"{column}{table}" for column in columns for table in self.others]
        return f"CAST([{', '.join(numbers)}] AS BIGINT[])"

    def batches(self) -> Iterator[str]:
        """Make the tables ``others`` and ``totals``, for some of the x values of the first other table at a time.

        An x of the join has one x of that table, so it is whole in one batch. Gives a condition on the groups ``g`` of
        the pivot, where they are too many to be joined with all of these at once; an x is whole there, too.
        """
        size, seen = self._size(), 0
        _check(size)
        number = 1 + size // AT_ONCE if self.others else 1
        for part in range(number):
            self._make(f"WHERE g{self.others[0]}.x % {number} = {part}" if number > 1 else "")
            pairs = 0 if self.single else self.pairs(f"groups_{self.pivot}", "others")
            seen += pairs
            _check(seen)
            slices = 1 + pairs // AT_ONCE
            yield from (f"g.x % {slices} = {i}" for i in range(slices))

    def pairs(self, here: str, there: str) -> int:
        """How many lines of two tables have the same kind; refused where there are too many."""
        one, other = (f"(SELECT j, count(*) AS c FROM {table} GROUP BY j)" for table in (here, there))
        found = f"SELECT coalesce(sum(CAST(a.c AS HUGEINT) * b.c), 0) FROM {one} a JOIN {other} b ON b.j = a.j"
        size = int(run(self.plan.connection, found)[0][0])
        _check(size)
        return size

    def _size(self) -> int:
        """How many combinations of groups of the others match a kind of the pivot, counted from kinds alone."""
        tables = "".join(
            f" JOIN (SELECT j, count(*) AS c FROM groups_{table} GROUP BY j) g{table} ON g{table}.j = m.j{table}"
            for table in self.others
        )
        sizes = " * ".join(["CAST(1 AS HUGEINT)", *(f"g{table}.c" for table in self.others)])
        return int(run(self.plan.connection, f"SELECT coalesce(sum({sizes}), 0) FROM matches m{tables}")[0][0])

    def _make(self, some: str) -> None:
        source = f"FROM matches m{''.join(f' JOIN groups_{i} g{i} ON g{i}.j = m.j{i}' for i in self.others)} {some}"
        x, u = ("".join(f", g{i}.{name} AS {name}{i}" for i in self.others) for name in "xu")
        how = "max" if self.distinct else "sum"  # a unit counts once, however many ways lead to it; lines all count
        run(
            self.plan.connection,
            f"CREATE OR REPLACE TABLE others AS SELECT m.j{self.pivot} AS j{x}{u}, {how}({self._product('w')}) AS w "
            f"{source} GROUP BY ALL",
        )
        if not self.distinct:
            run(
                self.plan.connection,
                f"CREATE OR REPLACE TABLE totals AS SELECT m.j{self.pivot} AS j{x}, sum({self._product('n')}) AS n "
                f"{source} GROUP BY ALL",
            )

    def _product(self, column: str) -> str:
        return " * ".join(["CAST(1 AS HUGEINT)", *(f"g{table}.{column}" for table in self.others)])


def joined(plan: Plan, parts: Sequence[Part], *, distinct: bool) -> Joined:
    """Choose the pivot: a table in which x tells the kind; or else one whose rows are counted; and the largest."""
    ranked = [(_single(plan, table), distinct and part.keyed, _groups(plan, table)) for table, part in enumerate(parts)]
    pivot = max(range(len(parts)), key=lambda table: ranked[table])
    return Joined(plan, parts, distinct, pivot, ranked[pivot][0])


def _single(plan: Plan, table: int) -> bool:
    return not run(plan.connection, f"SELECT 1 FROM groups_{table} GROUP BY x HAVING count(DISTINCT j) > 1 LIMIT 1")


def _groups(plan: Plan, table: int) -> int:
    return int(run(plan.connection, f"SELECT count(*) FROM groups_{table}")[0][0])


def _check(size: int) -> None:
    if size > LIMIT:
        raise too_large("pairs of groups", f"{size:,}", LIMIT)
