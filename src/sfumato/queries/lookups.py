"""Look-ups: what a label, or several together, contribute to a query on average over the values they stand for."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.queries.column import Column
from sfumato.queries.measures import Measures
from sfumato.queries.parts import Part
from sfumato.queries.sql import grouped, product, select, total, where


@dataclass(frozen=True)
class Lookup:
    """A part of a query under the `name` of the table that it becomes.

    That has for each combination of labels, and for each measure ``a`` of the part (0 just counts), its mean ``s{a}``
    over the values that the labels stand for, 0 where they do not meet the conditions; and for pairs of measures the
    means ``q{a}_{b}`` of their products. Only what may meet the conditions is there at all.
    """

    name: str
    part: Part
    measures: Measures
    columns: Sequence[Column]

    @property
    def _uncertain(self) -> list[Column]:
        return [self.columns[place] for place in self.part.pieces]

    @property
    def keys(self) -> list[str]:
        """What it is looked up by: labels, and certain values that the part is about as well."""
        others = [self.columns[place] for place in sorted(self.part.columns - set(self.part.pieces))]
        return [*(column.code for column in self._uncertain), *(column.value for column in others)]

    @property
    def tied(self) -> bool:
        """Whether it is about more than one column, so that combinations have to be formed."""
        return len(self.keys) > 1

    def mean(self, measure: int) -> str:
        """The mean of a measure."""
        return f"{self.name}.s{self.part.local(measure)}"

    def mean_product(self, one: int, other: int) -> str:
        """The mean of the product of two measures."""
        return f"{self.name}.q{_pair(self.part.local(one), self.part.local(other))}"

    def tables(self) -> dict[str, str]:
        """The tables on the way, this one last."""
        keys = [*self.keys, *(column.value for column in self.part.groups)]
        size = f"any_value({' * '.join(column.size for column in self._uncertain)})"
        places = range(len(self.measures.items))
        own = sorted({self.part.local(place) for place in places})
        pairs = sorted({(min(a, b), max(a, b)) for a, b in self._pairs()})
        figures = {f"s{a}": f"{total(self._amount(a))} / {size}" for a in own}
        figures |= {f"q{_pair(a, b)}": f"{total(product(self._amount(a), self._amount(b)))} / {size}" for a, b in pairs}
        rows = self._rows() + where(self.part.conditions)
        return self.cells() | {self.name: select(keys, figures, rows) + grouped(keys)}

    def cells(self) -> dict[str, str]:
        """The different combinations of what it is looked up by, where it is not one label alone."""
        return {f"{self.name}_0": f"SELECT DISTINCT {', '.join(self.keys)} FROM base"} if self.tied else {}

    @property
    def count(self) -> str:
        """The statement that counts the combinations of values."""
        sizes = " * ".join(f"CAST({column.size} AS DOUBLE)" for column in self._uncertain)
        lines = [
            f"JOIN (SELECT DISTINCT {column.code}, {column.size} FROM {column.dictionary}) USING ({column.code})"
            for column in self._uncertain
        ]
        return f"SELECT sum({sizes}) FROM {self.name}_0 {' '.join(lines)}"

    def _rows(self) -> str:
        if not self.tied:
            return self._uncertain[0].dictionary
        joins = [f"JOIN {column.dictionary} USING ({column.code})" for column in self._uncertain]
        return " ".join([f"{self.name}_0", *joins])

    def _pairs(self) -> list[tuple[int, int]]:
        return [(self.part.local(one), self.part.local(other)) for one, other in self.measures.pairs]

    def _amount(self, local: int) -> str:
        return self.measures.items[local - 1].sql if local else "1"


def _pair(one: int, other: int) -> str:
    return f"{min(one, other)}_{max(one, other)}"
