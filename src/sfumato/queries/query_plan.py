"""What the ways of answering a query share: its measures, its independent parts, and pieces of SQL.

A query asks for figures: counts, sums and averages. Each follows from sums over rows of a few numbers, its `Measures`.
What is uncertain in a release comes in independent pieces: in a generalized table each uncertain column, in several
tables which lines of each belong together. A condition or a sum about two pieces ties them together; what is not tied
is computed by itself (`QueryPart`) and multiplied in the end.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sfumato.queries.query_tables import QueryColumn
from sfumato.queries.sql_reader import Aggregate, Expression, ParsedQuery, as_number

LABELS, CLASSES = "labels", "classes"
"""What a model may be wrong about: the values within a label, or which lines of a class go together."""

PieceOf = Callable[[int], int | None]
"""The piece that the column at a place belongs to; none for a column that is certain."""


@dataclass(frozen=True)
class QueryPlan:
    """How a query is answered: `sql` that gives, for each group, its sums and, if `has_errors`, their covariances.

    `work` has, for each step that forms combinations, statements that count beforehand how many there would be: quick
    and too high first, exact last. `model` says which sums follow that the
    error of the model is made of: those of `LABELS`, of `CLASSES`, or none.
    """

    sql: str
    has_errors: bool = True
    model: str = ""
    work: tuple[tuple[str, ...], ...] = ()


# Measures.


@dataclass(frozen=True)
class Measure:
    """A number of each row, in SQL, and the columns that it is about; an `amount` is summed, and no mere count."""

    sql: str
    columns: frozenset[int] = frozenset()
    amount: bool = False


@dataclass(frozen=True)
class Measures:
    """What is summed for a query: `items`, and for each figure the places of those that it needs.

    A count and a sum need one, an average needs the sum and the count that it divides by. `mask_errors` has, for the
    place of an amount of masked columns, that of the variance which masks add to it.
    """

    items: tuple[Measure, ...]
    needs: tuple[tuple[int, ...], ...]
    mask_errors: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def from_query(cls, query: ParsedQuery, weight: QueryColumn | None = None) -> "Measures":
        """List the measures of a query, each once; with a column of sampling weights, every row counts by its own."""
        needed = [[_weigh(one, weight) for one in _measures_of(aggregate)] for aggregate in query.aggregates]
        items = tuple(dict.fromkeys(measure for each in needed for measure in each))
        return cls(items, tuple(tuple(map(items.index, each)) for each in needed))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The measures whose covariances are needed: each with itself, and those of an average with each other."""
        own = [(place, place) for place in range(len(self.items))]
        return tuple(dict.fromkeys([*own, *(sorted_pair(*each) for each in self.needs if len(each) == 2)]))


def _measures_of(aggregate: Aggregate) -> list[Measure]:
    argument = aggregate.argument
    if argument is None:
        return [Measure("1")]  # every row counts
    is_known = Measure(f"CAST({argument.sql} IS NOT NULL AS DOUBLE)", argument.columns)
    if aggregate.function == "count":
        return [is_known]
    value = Measure(f"coalesce({as_number(argument, aggregate.function).sql}, 0)", argument.columns, amount=True)
    return [value] if aggregate.function == "sum" else [value, is_known]


def _weigh(measure: Measure, weight: QueryColumn | None) -> Measure:
    """Multiply a measure by the weight of its row, where there is one."""
    if weight is None:
        return measure
    own = f"CAST({weight.value} AS DOUBLE)"
    sql = own if measure.sql == "1" else f"{own} * {measure.sql}"
    return Measure(sql, measure.columns | {weight.place}, measure.amount)


def sorted_pair(first: int, second: int) -> tuple[int, int]:
    """Put two numbers in order."""
    return min(first, second), max(first, second)


# Parts.


@dataclass(frozen=True)
class QueryPart:
    """Pieces that are tied together, and all that the query says of them: `measures` by their places.

    The measures of a part are numbered from 1; number 0 is the measure that just counts.
    """

    pieces: tuple[int, ...]
    conditions: tuple[Expression, ...] = ()
    measures: frozenset[int] = frozenset()
    groups: tuple[QueryColumn, ...] = ()
    columns: frozenset[int] = frozenset()

    def number_of(self, measure: int) -> int:
        """Number a measure within this part; 0 where it is about others, and this part counts."""
        return measure + 1 if measure in self.measures else 0

    def numbers(self, measures: Measures) -> list[int]:
        """List the numbers of all measures within this part, each once."""
        return sorted({self.number_of(place) for place in range(len(measures.items))})

    def number_pairs(self, measures: Measures) -> list[tuple[int, int]]:
        """List the pairs of numbers whose products are needed, each once."""
        return sorted({sorted_pair(self.number_of(a), self.number_of(b)) for a, b in measures.pairs})


def measure_sql(measures: Measures, number: int) -> str:
    """Write the measure of a number within a part in SQL."""
    return measures.items[number - 1].sql if number else "1"


def divide_query(query: ParsedQuery, measures: Measures, piece_of: PieceOf) -> tuple[list[QueryPart], QueryPart]:
    """Divide a query into its parts, and what is left that is about no piece at all."""
    conditions = [(one.columns, one) for one in query.conditions]
    amounts = [(one.columns, place) for place, one in enumerate(measures.items)]
    groups = [(frozenset({one.place}), one) for one in query.groups]
    all_columns = [columns for columns, _ in (*conditions, *amounts, *groups)]

    def pieces_of(columns: frozenset[int]) -> set[int]:
        return {piece for piece in map(piece_of, columns) if piece is not None}

    def part(pieces: frozenset[int]) -> QueryPart:
        def is_mine(columns: frozenset[int]) -> bool:
            return bool(pieces_of(columns) & pieces) if pieces else not pieces_of(columns)

        return QueryPart(
            tuple(sorted(pieces)),
            tuple(one for columns, one in conditions if is_mine(columns)),
            frozenset(place for columns, place in amounts if is_mine(columns)),
            tuple(one for columns, one in groups if is_mine(columns)),
            frozenset().union(*filter(is_mine, all_columns)),
        )

    return [part(pieces) for pieces in _connected(map(pieces_of, all_columns))], part(frozenset())


def _connected(bundles: Iterable[set[int]]) -> list[frozenset[int]]:
    """Unite bundles that have a piece in common.

    >>> _connected([{1, 2}, {3}, {2, 4}, set()])
    [frozenset({3}), frozenset({1, 2, 4})]
    """
    components: list[frozenset[int]] = []
    for bundle in bundles:
        if bundle:
            touched = [one for one in components if one & bundle]
            components = [one for one in components if not one & bundle] + [frozenset(bundle).union(*touched)]
    return components


# Pieces of SQL.


def table_with_values(table: str, columns: Iterable[QueryColumn]) -> str:
    """Join a table with the dictionaries of those of its columns that are looked at.

    >>> table_with_values("t0", [QueryColumn("age", 3), QueryColumn("id", 4, coded=False)])
    't0 JOIN d3 USING (k3)'
    """
    coded = [column for column in columns if column.coded]
    return " ".join([table, *(f"JOIN {column.dictionary} USING ({column.code})" for column in coded)])


def where(conditions: Sequence[Expression]) -> str:
    """Write the clause that asks for all of these conditions, or nothing."""
    return f" WHERE {' AND '.join(one.sql for one in conditions)}" if conditions else ""


def group_by(columns: Sequence[str]) -> str:
    """Write the clause that groups by these columns, or nothing."""
    return f" GROUP BY {', '.join(columns)}" if columns else ""


def order_by(columns: Sequence[str]) -> str:
    """Write the clause that orders by these columns with NULL last, or nothing."""
    return f" ORDER BY {', '.join(f'{column} NULLS LAST' for column in columns)}" if columns else ""


def product(*factors: str) -> str:
    """Multiply factors, ones left out.

    >>> product("1", "f"), product("1"), product("f", "f")
    ('f', '1', 'f * f')
    """
    return " * ".join(factor for factor in factors if factor != "1") or "1"


def total(amount: str) -> str:
    """Sum an amount over rows, as a floating number.

    >>> total("1"), total("f")
    ('CAST(count(*) AS DOUBLE)', 'sum(f)')
    """
    return "CAST(count(*) AS DOUBLE)" if amount == "1" else f"sum({amount})"


def select(keys: Iterable[str], figures: Mapping[str, str], rest: str) -> str:
    """Select these keys, and figures by their names.

    >>> select(["class"], {"n": "count(*)"}, "t0")
    'SELECT class, count(*) AS n FROM t0'
    """
    return f"SELECT {', '.join([*keys, *(f'{sql} AS {name}' for name, sql in figures.items())])} FROM {rest}"


def join_classes(tables: Sequence[str]) -> str:
    """Join tables by their classes.

    >>> join_classes(["p0", "p1", "sizes"])
    'p0 JOIN p1 USING (class) JOIN sizes USING (class)'
    """
    first, *others = tables
    return " ".join([first, *(f"JOIN {other} USING (class)" for other in others)])


ONCE, EACH_TIME = " AS MATERIALIZED", " AS NOT MATERIALIZED"
"""After the name of an intermediate table: it is computed once, or each time that it is read."""


def statement(tables: Mapping[str, str], last: str) -> str:
    """Write a statement with intermediate tables, one per line."""
    lines = [f"{name if ' AS ' in name else f'{name} AS'} ({query})" for name, query in tables.items()]
    return "WITH " + ",\n".join(lines) + f"\n{last}" if lines else last
