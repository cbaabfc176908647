"""Expected answers from one table of labels: a cell holds any of the values that its label stands for.

Each of them is equally likely, in each cell independently of all others. A row then counts with the probability that
its values meet the conditions, and a sum has the expected value of the row's number where they do; rows being
independent, variances add up. Uncertain columns that no condition or sum ties together are looked up one by one: for
each label the share of its values that meet the condition. Only columns that are tied are taken in all combinations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.queries.column import Column
from sfumato.queries.lookups import Lookup
from sfumato.queries.measures import Measures
from sfumato.queries.parts import Part, divide
from sfumato.queries.question import Question
from sfumato.queries.sql import Plan, grouped, ordered, product, select, source, statement, where


def expected(question: Question, measures: Measures, columns: Sequence[Column], *, possible: bool = False) -> Plan:
    """The statement that gives expected sums and their covariances, group by group.

    With `possible`, a row that may meet the conditions counts fully, and there are no covariances.
    """
    parts, rest = divide(question, measures.items, lambda place: place if columns[place].uncertain else None)
    lookups = tuple(Lookup(f"p{place}", part, measures, columns) for place, part in enumerate(parts))
    asked = _Asked(question, measures, columns, rest, lookups)
    base = {"base": asked.base()}
    tables = base | {name: query for lookup in lookups for name, query in lookup.tables().items()}
    work = [statement(base | lookup.cells(), lookup.count) for lookup in lookups if lookup.tied]
    work += [statement(base, asked.group_count)] if any(lookup.part.groups for lookup in lookups) else []
    figures = asked.possible() if possible else asked.figures()
    return Plan(statement(tables, asked.last(figures)), spread=not possible, work=tuple((count,) for count in work))


@dataclass(frozen=True)
class _Asked:
    question: Question
    measures: Measures
    columns: Sequence[Column]
    rest: Part
    lookups: tuple[Lookup, ...]

    def base(self) -> str:
        """Rows that the question cannot tell apart, with their weight: labels, certain values and certain measures."""
        tied = frozenset().union(*(lookup.part.columns for lookup in self.lookups))
        used = [self.columns[place] for place in sorted(self.rest.columns | tied)]
        certain = [column for column in used if not column.uncertain]
        shown = tied | {column.place for column in self.rest.groups}
        keys = [column.code for column in used if column.uncertain]
        keys += [column.value for column in certain if column.place in shown]
        keys += [f"{self.measures.items[place].sql} AS x{place}" for place in sorted(self.rest.measures)]
        rows = source("t0", certain) + where(self.rest.conditions)
        return select(keys, {"w": "CAST(sum(w) AS DOUBLE)"}, rows) + grouped([str(i + 1) for i in range(len(keys))])

    @property
    def group_count(self) -> str:
        """The statement that counts how often rows stand in groups of uncertain columns."""
        groups = [column for column in self.question.groups if column.uncertain]
        sizes = [f"(SELECT DISTINCT {one.code}, {one.size} FROM {one.dictionary})" for one in groups]
        joins = [f"JOIN {size} USING ({one.code})" for one, size in zip(groups, sizes, strict=True)]
        figure = " * ".join(f"CAST({one.size} AS DOUBLE)" for one in groups)
        return f"SELECT sum({figure}) FROM base {' '.join(joins)}"

    def last(self, figures: dict[str, str]) -> str:
        """Rows with all that is looked up for them, summed by group."""
        owner = {column.place: lookup.name for lookup in self.lookups for column in lookup.part.groups}
        groups = {column.value: f"{owner.get(column.place, 'base')}.{column.value}" for column in self.question.groups}
        joins = ["base"]
        for lookup in self.lookups:
            same = " AND ".join(f"base.{key} IS NOT DISTINCT FROM {lookup.name}.{key}" for key in lookup.keys)
            joins.append(f"JOIN {lookup.name} ON {same}")
        by = list(groups.values())
        return select([], groups | figures, " ".join(joins)) + grouped(by) + ordered(by)

    def figures(self) -> dict[str, str]:
        """Expected sums and their covariances."""
        found = {f"e{k}": f"sum({product('w', self._mean(k))})" for k in range(len(self.measures.items))}
        return found | {f"v{k}_{m}": f"sum(w * ({self._covariance(k, m)}))" for k, m in self.measures.pairs}

    def possible(self) -> dict[str, str]:
        """Sums over rows that may meet the conditions, of certain measures alone."""
        return {f"e{k}": f"sum({product('w', self._certain(k))})" for k in range(len(self.measures.items))}

    def _certain(self, measure: int) -> str:
        return f"x{measure}" if measure in self.rest.measures else "1"

    def _mean(self, measure: int) -> str:
        """The expected number of a row."""
        return product(self._certain(measure), *(lookup.mean(measure) for lookup in self.lookups))

    def _covariance(self, one: int, other: int) -> str:
        """The expected product of two numbers of a row, less the product of those expected."""
        both = [lookup.mean_product(one, other) for lookup in self.lookups]
        expected_product = product(self._certain(one), self._certain(other), *both)
        return f"{expected_product} - {product(self._mean(one), self._mean(other))}"
