"""Factors: the sums of a part of a query, class by class, from which expected values and variances are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

from sfumato.queries.column import Column
from sfumato.queries.measures import Measures
from sfumato.queries.parts import Part
from sfumato.queries.sql import grouped, product, select, source, total, where

Tables = tuple[int, ...]


def subsets(tables: Tables) -> list[Tables]:
    """All sets of some of these tables, the smallest first.

    >>> subsets((0, 1))
    [(), (0,), (1,), (0, 1)]
    """
    return list(chain.from_iterable(combinations(tables, size) for size in range(len(tables) + 1)))


@dataclass(frozen=True)
class Factor:
    """A part under the `name` of the table that it becomes, for a part of one table.

    That has for each class and group, and for each measure ``a`` of the part (0 just counts), the sum ``s{a}`` over all
    combinations of lines; and for each set V of its tables ``q{V}_{a}_{b}``: over the combinations of lines of V, the
    product of the sums of ``a`` and of ``b`` over the lines of the other tables.
    """

    name: str
    part: Part
    measures: Measures
    columns: Sequence[Column]

    def tables(self) -> dict[str, str]:
        """The tables on the way, this one last."""
        (table,) = self.part.pieces
        figures = {f"s{a}": total(self.amount(a)) for a in self.locals}
        figures |= {products((table,), a, b): total(product(self.amount(a), self.amount(b))) for a, b in self.pairs}
        rows = source(f"t{table}", self.used(table)) + where(self.part.conditions)
        return {self.name: select(self.keys, figures, rows) + grouped(self.keys)}

    def work(self) -> list[tuple[str, ...]]:
        """Statements that count the combinations of lines to look at; here none has to be formed."""
        return []

    def sum(self, measure: int) -> str:
        """The sum of what this part contributes to a measure."""
        return f"{self.name}.s{self.part.local(measure)}"

    def effect(self, tables: Tables, one: int, other: int) -> str:
        """The mean product of two measures' effects of these tables: means of products, by inclusion and exclusion."""
        terms = [
            f"{'-' if (len(tables) - len(within)) % 2 else '+'} {self._mean(within, one, other)}"
            for within in reversed(subsets(tables))
        ]
        return f"({' '.join(terms).removeprefix('+ ')})"

    def _mean(self, tables: Tables, one: int, other: int) -> str:
        """The mean over the lines of these tables of the product of the means over the others."""
        below = power("n", 2 * len(self.part.pieces) - len(tables))
        if not tables:
            return f"{self.sum(one)} * {self.sum(other)} / {below}"
        return f"{self.name}.{products(tables, *self._pair(one, other))} / {below}"

    def _pair(self, one: int, other: int) -> tuple[int, int]:
        a, b = self.part.local(one), self.part.local(other)
        return min(a, b), max(a, b)

    @cached_property
    def locals(self) -> list[int]:
        """The measures of this part."""
        return sorted({self.part.local(place) for place in range(len(self.measures.items))})

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Those whose products are needed."""
        return sorted({self._pair(*pair) for pair in self.measures.pairs})

    def amount(self, local: int) -> str:
        """A measure of this part in SQL."""
        return self.measures.items[local - 1].sql if local else "1"

    @property
    def keys(self) -> list[str]:
        """What sums are for: a class, and a group."""
        return ["class", *(column.value for column in self.part.groups)]

    def used(self, table: int) -> list[Column]:
        """The columns of a table that the part is about."""
        return [self.columns[place] for place in sorted(self.part.columns) if self.columns[place].table == table]


def products(tables: Tables, one: int, other: int) -> str:
    """What the sum of products over the lines of these tables is called.

    >>> products((0, 2), 1, 3)
    'q0x2_1_3'
    """
    return f"q{'x'.join(map(str, tables))}_{one}_{other}"


def power(name: str, exponent: int) -> str:
    """A name multiplied with itself, as one factor.

    >>> power("n", 1), power("n", 3)
    ('n', '(n * n * n)')
    """
    return name if exponent == 1 else f"({' * '.join([name] * exponent)})"


def all_lines(tables: int) -> str:
    """The statement that counts all combinations of lines of so many tables, which is quick."""
    return f"SELECT sum(pow(n, {tables})) FROM sizes"
