"""Expected answers from one table of labels: a cell holds any of the values that its label covers.

Each of them is equally likely, in each cell independently of all others. A row then counts with the probability that
its values meet the conditions, and a sum has the expected value of the row's number where they do; rows being
independent, variances add up. Uncertain columns that no condition or sum ties together are looked up one by one: for
each label the share of its values that meet the condition. Only columns that are tied are taken in all combinations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.queries.model_error import cells_sql, cuts_sql, model_sums_sql
from sfumato.queries.query_plan import (
    LABELS,
    Measures,
    QueryPart,
    QueryPlan,
    divide_query,
    group_by,
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
from sfumato.queries.sql_reader import ParsedQuery


def plan_expected_one_table(
    query: ParsedQuery, measures: Measures, columns: Sequence[QueryColumn], *, possible: bool = False
) -> QueryPlan:
    """Plan the statement that gives expected sums and their covariances, group by group.

    With `possible`, a row that may meet the conditions counts fully, and there are no covariances.
    """
    parts, rest = divide_query(query, measures, lambda place: place if columns[place].uncertain else None)
    lookups = [_LabelMeans(f"p{place}", part, measures, columns) for place, part in enumerate(parts)]
    base = {"base": _base_rows(rest, lookups, measures, columns)}
    tables = base | {name: sql for lookup in lookups for name, sql in lookup.tables().items()}
    work = [statement(base | lookup.combinations(), lookup.count) for lookup in lookups if lookup.is_tied]
    uncertain_groups = [column for column in query.groups if column.uncertain]
    work += [statement(base, _count_groups(uncertain_groups))] if uncertain_groups else []

    # what a row contributes to a measure: its certain number, times what is looked up for its labels
    def certain(measure: int) -> str:
        return f"x{measure}" if measure in rest.measures else "1"

    def mean(measure: int) -> str:
        return product(certain(measure), *(lookup.mean(measure) for lookup in lookups))

    def mean_product(k: int, m: int) -> str:
        return product(certain(k), certain(m), *(lookup.mean_product(k, m) for lookup in lookups))

    table_of = {column.place: lookup.name for lookup in lookups for column in lookup.part.groups}
    groups = {column.value: f"{table_of.get(column.place, 'base')}.{column.value}" for column in query.groups}
    joins = ["base"]
    for lookup in lookups:
        same = " AND ".join(f"base.{key} IS NOT DISTINCT FROM {lookup.name}.{key}" for key in lookup.keys)
        joins.append(f"JOIN {lookup.name} ON {same}")
    every, counts = range(len(measures.items)), tuple((count,) for count in work)
    if possible:
        figures, by = {f"e{k}": f"sum({product('w', certain(k))})" for k in every}, list(groups.values())
        last = select([], groups | figures, " ".join(joins)) + group_by(by) + order_by(by)
        return QueryPlan(statement(tables, last), has_errors=False, work=counts)

    # lines of labels: their rows, the share that meets the conditions, and means of measures
    means = {f"m{k}": mean(k) for k in every} | {f"q{k}_{m}": mean_product(k, m) for k, m in measures.pairs}
    shares = {f"p_{lookup.name}": lookup.share for lookup in lookups}
    codes = sorted({columns[place].code for lookup in lookups for place in lookup.part.pieces})
    line = groups | {code: f"base.{code}" for code in codes} | {"w": "w", "p": product(*shares.values())}
    tables["lines"] = select([], line | shares | means, " ".join(joins))
    by, figures, rows = list(groups), _sums_of_lines(measures), "lines"
    if lookups:
        parts = [lookup.part for lookup in lookups]
        tables["cells"] = cells_sql([*by, *codes], list(shares), parts, measures, columns)
        cut = {columns[place].code: f"p_{lookup.name}" for lookup in lookups for place in lookup.part.pieces}
        tables["cuts"] = cuts_sql(by, cut, list(shares), parts, measures)
        figures, rows = model_sums_sql(measures, parts, columns), "cuts"
    last = select(by, figures, rows) + group_by(by) + order_by(by)
    return QueryPlan(statement(tables, last), model=LABELS if lookups else "", work=counts)


def _sums_of_lines(measures: Measures) -> dict[str, str]:
    """Write expected sums and their covariances over lines, of equally likely values."""
    sums = {f"e{k}": f"sum(w * m{k})" for k in range(len(measures.items))}
    return sums | {f"v{k}_{m}": f"sum(w * (q{k}_{m} - m{k} * m{m}))" for k, m in measures.pairs}


def _base_rows(
    rest: QueryPart, lookups: Sequence["_LabelMeans"], measures: Measures, columns: Sequence[QueryColumn]
) -> str:
    """Select rows that the query cannot tell apart, with their weight: labels, certain values and certain measures."""
    looked_up = frozenset().union(*(lookup.part.columns for lookup in lookups))
    used = [columns[place] for place in sorted(rest.columns | looked_up)]
    certain = [column for column in used if not column.uncertain]
    visible = looked_up | {column.place for column in rest.groups}
    keys = [column.code for column in used if column.uncertain]
    keys += [column.value for column in certain if column.place in visible]
    keys += [f"{measures.items[place].sql} AS x{place}" for place in sorted(rest.measures)]
    rows = table_with_values("t0", certain) + where(rest.conditions)
    return select(keys, {"w": "CAST(sum(w) AS DOUBLE)"}, rows) + group_by([str(i + 1) for i in range(len(keys))])


def _count_groups(groups: Sequence[QueryColumn]) -> str:
    """Count how often rows are in groups of uncertain columns, in SQL."""
    sizes = [f"(SELECT DISTINCT {one.code}, {one.size} FROM {one.dictionary})" for one in groups]
    joins = [f"JOIN {size} USING ({one.code})" for one, size in zip(groups, sizes, strict=True)]
    figure = " * ".join(f"CAST({one.size} AS DOUBLE)" for one in groups)
    return f"SELECT sum({figure}) FROM base {' '.join(joins)}"


@dataclass(frozen=True)
class _LabelMeans:
    """A part of a query under the `name` of the table that it becomes.

    That has for each combination of labels, and for each measure ``a`` of the part (0 just counts), its mean ``s{a}``
    over the values that the labels cover, 0 where they do not meet the conditions; and for pairs of measures the means
    ``q{a}_{b}`` of their products. Only what may meet the conditions is there at all.
    """

    name: str
    part: QueryPart
    measures: Measures
    columns: Sequence[QueryColumn]

    @property
    def _uncertain(self) -> list[QueryColumn]:
        return [self.columns[place] for place in self.part.pieces]

    @property
    def keys(self) -> list[str]:
        """What it is looked up by: labels, and certain values that the part is about as well."""
        others = [self.columns[place] for place in sorted(self.part.columns - set(self.part.pieces))]
        return [*(column.code for column in self._uncertain), *(column.value for column in others)]

    @property
    def is_tied(self) -> bool:
        """Whether it is about more than one column, so that combinations have to be formed."""
        return len(self.keys) > 1

    @property
    def share(self) -> str:
        """Name the share of the values that meets the conditions."""
        return f"{self.name}.s0"

    def mean(self, measure: int) -> str:
        """Name the mean of a measure."""
        return f"{self.name}.s{self.part.number_of(measure)}"

    def mean_product(self, k: int, m: int) -> str:
        """Name the mean of the product of two measures."""
        a, b = sorted_pair(self.part.number_of(k), self.part.number_of(m))
        return f"{self.name}.q{a}_{b}"

    def tables(self) -> dict[str, str]:
        """Write the intermediate tables, this one last."""

        def amount(number: int) -> str:
            return measure_sql(self.measures, number)

        keys = [*self.keys, *(column.value for column in self.part.groups)]
        size = f"any_value({' * '.join(column.size for column in self._uncertain)})"
        numbers = sorted({0, *self.part.numbers(self.measures)})
        figures = {f"s{a}": f"{total(amount(a))} / {size}" for a in numbers}
        for a, b in self.part.number_pairs(self.measures):
            figures[f"q{a}_{b}"] = f"{total(product(amount(a), amount(b)))} / {size}"
        rows = self._uncertain[0].dictionary
        if self.is_tied:
            joins = [f"JOIN {column.dictionary} USING ({column.code})" for column in self._uncertain]
            rows = " ".join([f"{self.name}_0", *joins])
        means = select(keys, figures, rows + where(self.part.conditions)) + group_by(keys)
        return self.combinations() | {self.name: means}

    def combinations(self) -> dict[str, str]:
        """Write the table of the different combinations of keys, where it is looked up by more than one label."""
        return {f"{self.name}_0": f"SELECT DISTINCT {', '.join(self.keys)} FROM base"} if self.is_tied else {}

    @property
    def count(self) -> str:
        """The statement that counts the combinations of values."""
        sizes = " * ".join(f"CAST({column.size} AS DOUBLE)" for column in self._uncertain)
        joins = [
            f"JOIN (SELECT DISTINCT {column.code}, {column.size} FROM {column.dictionary}) USING ({column.code})"
            for column in self._uncertain
        ]
        return f"SELECT sum({sizes}) FROM {self.name}_0 {' '.join(joins)}"
