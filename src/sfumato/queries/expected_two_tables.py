"""Expected answers from several tables: within a class, any line of one may belong to any line of another.

The model is that of somebody who knows the tables alone: the lines of a class in one table are paired with those in
another by a bijection, all of them equally likely, for each table independently of the others. An answer is a sum over
the lines i of M(i, σ(i), τ(i), …), where M is the row's number if it meets the conditions, and 0 if not.

For a class of n lines and p tables, the expected value is the sum of M over all combinations of lines, divided by
n^(p-1). For the variance M is split into effects, as in an analysis of variance: that of a set U of tables is the part
of M that depends on all of them and has mean 0 over each. Effects of fewer than two tables do not vary; the others are
uncorrelated, and contribute n (1 - (-1/(n-1))^(|U|-1)) times the mean of their squares. With two tables this is
Hoeffding's formula, the sum of squares of the doubly centered M over n - 1. Covariances follow by polarization.

Where M is a product of parts, each effect is, too: each part becomes a table of sums by class (`_ClassSums`, or
`_CombinationSums` for a part that ties several tables together), and effects are multiplied in the last statement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from itertools import product as all_choices

from sfumato.queries.query_plan import (
    CLASSES,
    EACH_TIME,
    ONCE,
    Measures,
    QueryPart,
    QueryPlan,
    divide_query,
    group_by,
    join_classes,
    measure_sql,
    order_by,
    product,
    select,
    sorted_pair,
    statement,
    table_with_values,
    total,
    where,
)
from sfumato.queries.query_tables import QueryColumn
from sfumato.queries.sql_reader import Expression, ParsedQuery

TableNumbers = tuple[int, ...]


def plan_expected_two_tables(query: ParsedQuery, measures: Measures, columns: Sequence[QueryColumn]) -> QueryPlan:
    """Plan the statement that gives expected sums and their covariances, group by group."""
    parts, rest = divide_query(query, measures, lambda place: columns[place].table)
    # what is about no column goes with the first part, or with the first table if there is no part
    first = parts[0] if parts else QueryPart((0,))
    first = replace(first, conditions=first.conditions + rest.conditions, measures=first.measures | rest.measures)
    parts = [first, *parts[1:]]
    groups = [column.value for column in query.groups]
    if len(parts) == 1 and len(first.pieces) == 1:
        return QueryPlan(_exact_sums(first, measures, columns, groups))
    kinds = [_ClassSums if len(part.pieces) == 1 else _CombinationSums for part in parts]
    factors = [kind(f"p{i}", part, measures, columns) for i, (kind, part) in enumerate(zip(kinds, parts, strict=True))]
    tables = {name: sql for factor in factors for name, sql in factor.tables().items()}
    figures = {f"e{k}": f"sum({_expected_sum(factors, k)})" for k in range(len(measures.items))}
    figures |= {f"v{k}_{m}": f"sum({_covariance(factors, k, m)})" for k, m in measures.pairs}
    varying = " OR ".join(f"{_covariance(factors, k, k)} > 0" for k in range(len(measures.items)))
    figures["c"] = f"count(*) FILTER (WHERE {varying})"
    figures |= {f"r{k}_{m}": f"sum((n - 1) * {_covariance(factors, k, m)})" for k, m in measures.pairs}
    rows = join_classes([*(factor.name for factor in factors), "sizes"])
    last = select(groups, figures, rows) + group_by(groups) + order_by(groups)
    work = [counts for factor in factors for counts in factor.work()]
    return QueryPlan(statement(tables, last), model=CLASSES, work=(*work, *_count_group_combinations(factors, tables)))


def _exact_sums(part: QueryPart, measures: Measures, columns: Sequence[QueryColumn], groups: Sequence[str]) -> str:
    """Write the statement of a query about one table alone, which is answered exactly."""
    used = [columns[place] for place in sorted(part.columns)]
    figures = {f"e{place}": total(measure.sql) for place, measure in enumerate(measures.items)}
    figures |= {f"v{k}_{m}": "0" for k, m in measures.pairs}
    rows = table_with_values(f"t{part.pieces[0]}", used) + where(part.conditions)
    return select(groups, figures, rows) + group_by(groups) + order_by(groups)


def _expected_sum(factors: Sequence["_ClassSums"], measure: int) -> str:
    """Write the expected sum of a measure in one class."""
    tables = sum(len(factor.part.pieces) for factor in factors)
    sums = " * ".join(factor.sum(measure) for factor in factors)
    return f"{sums} / {_power('n', tables - 1)}"


def _covariance(factors: Sequence["_ClassSums"], k: int, m: int) -> str:
    """Write the covariance of the sums of two measures in one class: over all sets of two tables or more."""
    terms = []
    for choice in all_choices(*(_subsets(factor.part.pieces) for factor in factors)):
        size = sum(map(len, choice))
        if size > 1:
            effects = [factor.effect(tables, k, m) for factor, tables in zip(factors, choice, strict=True)]
            share = "n * n / (n - 1)" if size == 2 else f"n * (1 - pow(-1 / (n - 1), {size - 1}))"
            terms.append(" * ".join([share, *effects]))
    return f"CASE WHEN n > 1 THEN {' + '.join(terms)} ELSE 0 END"


def _count_group_combinations(factors: Sequence["_ClassSums"], tables: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Write statements that count the combinations of groups, where several parts have some."""
    several = [factor for factor in factors if factor.part.groups]
    if len(several) < 2:
        return []
    counts = [f"(SELECT class, count(*) AS m{i} FROM {one.name} GROUP BY class)" for i, one in enumerate(several)]
    figure = " * ".join(f"CAST(m{i} AS DOUBLE)" for i in range(len(several)))
    quick = _count_all_lines(sum(len(one.part.pieces) for one in several))
    return [(quick, statement(tables, f"SELECT sum({figure}) FROM {join_classes(counts)}"))]


def _count_all_lines(tables: int) -> str:
    """Write the statement that counts all combinations of lines of so many tables, which is quick."""
    return f"SELECT sum(pow(n, {tables})) FROM sizes"


def _subsets(tables: TableNumbers) -> list[TableNumbers]:
    """List all sets of some of these tables, the smallest first.

    >>> _subsets((0, 1))
    [(), (0,), (1,), (0, 1)]
    """
    return list(chain.from_iterable(combinations(tables, size) for size in range(len(tables) + 1)))


def _power(name: str, exponent: int) -> str:
    """Multiply a name with itself, as one factor.

    >>> _power("n", 1), _power("n", 3)
    ('n', '(n * n * n)')
    """
    return name if exponent == 1 else f"({' * '.join([name] * exponent)})"


def _product_name(tables: TableNumbers, a: int, b: int) -> str:
    """Name the sum of products over the lines of these tables.

    >>> _product_name((0, 2), 1, 3)
    'q0x2_1_3'
    """
    return f"q{'x'.join(map(str, tables))}_{a}_{b}"


@dataclass(frozen=True)
class _ClassSums:
    """A part of one table, under the `name` of the table that it becomes.

    That has for each class and group, and for each measure ``a`` of the part (0 just counts), the sum ``s{a}`` over all
    combinations of lines; and for each set V of its tables ``q{V}_{a}_{b}``: over the combinations of lines of V, the
    product of the sums of ``a`` and of ``b`` over the lines of the other tables.
    """

    name: str
    part: QueryPart
    measures: Measures
    columns: Sequence[QueryColumn]

    def tables(self) -> dict[str, str]:
        """Write the intermediate tables, this one last."""
        (table,) = self.part.pieces
        figures = {f"s{a}": total(self.amount(a)) for a in self.numbers}
        for a, b in self.pairs:
            figures[_product_name((table,), a, b)] = total(product(self.amount(a), self.amount(b)))
        rows = table_with_values(f"t{table}", self.used(table)) + where(self.part.conditions)
        return {self.name: select(self.keys, figures, rows) + group_by(self.keys)}

    def work(self) -> list[tuple[str, ...]]:
        """Write statements that count the combinations of lines to look at; here none has to be formed."""
        return []

    def sum(self, measure: int) -> str:
        """Name the sum of what this part contributes to a measure."""
        return f"{self.name}.s{self.part.number_of(measure)}"

    def effect(self, tables: TableNumbers, k: int, m: int) -> str:
        """Write the mean product of two measures' effects of these tables, by inclusion and exclusion of means."""
        terms = [
            f"{'-' if (len(tables) - len(within)) % 2 else '+'} {self._mean_product(within, k, m)}"
            for within in reversed(_subsets(tables))
        ]
        return f"({' '.join(terms).removeprefix('+ ')})"

    def _mean_product(self, tables: TableNumbers, k: int, m: int) -> str:
        """Write the mean over the lines of these tables of the product of the means over the others."""
        below = _power("n", 2 * len(self.part.pieces) - len(tables))
        if not tables:
            return f"{self.sum(k)} * {self.sum(m)} / {below}"
        a, b = sorted_pair(self.part.number_of(k), self.part.number_of(m))
        return f"{self.name}.{_product_name(tables, a, b)} / {below}"

    @cached_property
    def numbers(self) -> list[int]:
        """The measures of this part."""
        return self.part.numbers(self.measures)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Those whose products are needed."""
        return self.part.number_pairs(self.measures)

    def amount(self, number: int) -> str:
        """Write a measure of this part in SQL."""
        return measure_sql(self.measures, number)

    @property
    def keys(self) -> list[str]:
        """What sums are for: a class, and a group."""
        return ["class", *(column.value for column in self.part.groups)]

    def used(self, table: int) -> list[QueryColumn]:
        """List the columns of a table that the part is about."""
        return [self.columns[place] for place in sorted(self.part.columns) if self.columns[place].table == table]


class _CombinationSums(_ClassSums):
    """A part of several tables, which a condition such as ``age > 60 OR illness = 'flu'`` ties together.

    All combinations of lines of a class are looked at; lines that the part cannot tell apart are taken together.
    """

    def tables(self) -> dict[str, str]:
        """Write lines of each table, their combinations, sums of these over some tables, and this one of all sums."""
        some_tables = [some for some in _subsets(self.part.pieces) if some]
        sums = {f"{self.name}_{'x'.join(map(str, some))}": self._partial_sums(some) for some in some_tables}
        every = " UNION ALL BY NAME ".join(f"FROM {name}" for name in sums)
        names = [f"s{a}" for a in self.numbers]
        names += [_product_name(some, a, b) for some in some_tables for a, b in self.pairs]
        whole = select(self.keys, {name: f"sum({name})" for name in names}, f"({every})") + group_by(self.keys)
        lines = {name + ONCE: sql for name, sql in self._lines().items()}
        return lines | {f"{self.name}_all{EACH_TIME}": self._combinations()} | sums | {self.name: whole}

    def work(self) -> list[tuple[str, ...]]:
        """Write statements that count the combinations: those of all lines, and those that can be told apart."""
        pieces = self.part.pieces
        counts = [f"(SELECT class, count(*) AS m{t} FROM {self._lines_name(t)} GROUP BY class)" for t in pieces]
        figure = " * ".join(f"CAST(m{table} AS DOUBLE)" for table in pieces)
        exact = statement(self._lines(), f"SELECT sum({figure}) FROM {join_classes(counts)}")
        return [(_count_all_lines(len(pieces)), exact)]

    def _lines_name(self, table: int) -> str:
        return f"{self.name}_t{table}"

    def _lines(self) -> dict[str, str]:
        """Select for each table the lines that the part can tell apart, with a number ``i`` and a weight ``w``."""
        lines = {}
        for table in self.part.pieces:
            used = self.used(table)
            keys = ["class", *(column.value for column in used)]
            figures = {f"w{table}": "count(*)", f"i{table}": "row_number() OVER ()"}
            rows = table_with_values(f"t{table}", used) + where(self._own_conditions(table))
            lines[self._lines_name(table)] = select(keys, figures, rows) + group_by(keys)
        return lines

    def _own_conditions(self, table: int) -> list[Expression]:
        """List the conditions that a table meets or not by itself."""
        places = {column.place for column in self.used(table)}
        return [one for one in self.part.conditions if one.columns and one.columns <= places]

    def _combinations(self) -> str:
        """Select the combinations of lines that meet the conditions, with what each contributes to each measure."""
        own = [one for table in self.part.pieces for one in self._own_conditions(table)]
        tying = [one for one in self.part.conditions if one not in own]
        rows = join_classes([self._lines_name(table) for table in self.part.pieces]) + where(tying)
        numbers = [f"{sign}{table}" for table in self.part.pieces for sign in "iw"]
        return select([*self.keys, *numbers], {f"f{a}": self.amount(a) for a in self.numbers}, rows)

    def _partial_sums(self, tables: TableNumbers) -> str:
        """Sum, over the lines of these tables, products of sums over the lines of the other tables."""
        own = [f"{sign}{table}" for table in tables for sign in "iw"]
        others = [f"w{table}" for table in self.part.pieces if table not in tables]
        weights = [f"w{table}" for table in tables]
        figures = {_product_name(tables, a, b): f"sum({product(*weights, f'f{a}', f'f{b}')})" for a, b in self.pairs}
        if not others:
            figures |= {f"s{a}": f"sum({product(*weights, f'f{a}')})" for a in self.numbers}
            return select(self.keys, figures, f"{self.name}_all") + group_by(self.keys)
        each = {f"f{a}": f"sum({product(*others, f'f{a}')})" for a in self.numbers}
        inner = select([*self.keys, *own], each, f"{self.name}_all") + group_by([*self.keys, *own])
        return select(self.keys, figures, f"({inner})") + group_by(self.keys)
