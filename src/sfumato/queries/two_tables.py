"""Expected answers from several tables: within a class, any line of one may belong to any line of another.

The model is that of somebody who knows the tables alone: the lines of a class in one table are paired with those in
another by a bijection, all of them equally likely, for each table independently of the others. An answer is a sum over
the lines i of M(i, σ(i), τ(i), …), where M is the row's number if it meets the conditions, and 0 if not.

For a class of n lines and p tables, the expected value is the sum of M over all combinations of lines, divided by
n^(p-1). For the variance M is split into effects, as in an analysis of variance: that of a set U of tables is the part
of M that depends on all of them and has mean 0 over each. Effects of fewer than two tables do not vary; the others are
uncorrelated, and contribute n (1 - (-1/(n-1))^(|U|-1)) times the mean of their squares. With two tables this is
Hoeffding's formula, the sum of squares of the doubly centered M over n - 1. Covariances follow by polarization.

Where M is a product of parts, each effect is, too: `factors` works them out apart, and they are multiplied here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product as combined

from sfumato.queries.column import Column
from sfumato.queries.factors import Factor, all_lines, power, subsets
from sfumato.queries.measures import Measures
from sfumato.queries.parts import Part, divide
from sfumato.queries.question import Question
from sfumato.queries.sql import Plan, grouped, ordered, select, source, statement, total, where
from sfumato.queries.tied import Tied


def expected(question: Question, measures: Measures, columns: Sequence[Column]) -> Plan:
    """The statement that gives expected sums and their covariances, group by group."""
    parts = _parts(question, measures, columns)
    groups = [column.value for column in question.groups]
    if len(parts) == 1 and len(parts[0].pieces) == 1:
        return Plan(_exact(parts[0], measures, columns, groups))
    kinds = [Factor if len(part.pieces) == 1 else Tied for part in parts]
    factors = [kind(f"p{i}", part, measures, columns) for i, (kind, part) in enumerate(zip(kinds, parts, strict=True))]
    tables = {name: query for factor in factors for name, query in factor.tables().items()}
    figures = {f"e{k}": f"sum({_mean(factors, k)})" for k in range(len(measures.items))}
    figures |= {f"v{k}_{m}": f"sum({_covariance(factors, k, m)})" for k, m in measures.pairs}
    first, *others = [*(factor.name for factor in factors), "sizes"]
    joined = " ".join([first, *(f"JOIN {other} USING (class)" for other in others)])
    last = select(groups, figures, joined) + grouped(groups) + ordered(groups)
    work = [counts for factor in factors for counts in factor.work()]
    return Plan(statement(tables, last), work=(*work, *_grouped_work(factors, tables)))


def _grouped_work(factors: Sequence[Factor], tables: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Statements that count the combinations of groups, where several parts have some."""
    several = [factor for factor in factors if factor.part.groups]
    if len(several) < 2:
        return []
    counts = [f"(SELECT class, count(*) AS m{i} FROM {one.name} GROUP BY class)" for i, one in enumerate(several)]
    joined = " ".join([counts[0], *(f"JOIN {count} USING (class)" for count in counts[1:])])
    figure = " * ".join(f"CAST(m{i} AS DOUBLE)" for i in range(len(several)))
    return [
        (
            all_lines(sum(len(one.part.pieces) for one in several)),
            statement(tables, f"SELECT sum({figure}) FROM {joined}"),
        )
    ]


def _parts(question: Question, measures: Measures, columns: Sequence[Column]) -> list[Part]:
    """The parts by tables; what is about no column goes with the first, or with the first table if there is no part."""
    parts, rest = divide(question, measures.items, lambda place: columns[place].table)
    first = parts[0] if parts else Part((0,))
    whole = replace(first, conditions=first.conditions + rest.conditions, measures=first.measures | rest.measures)
    return [whole, *parts[1:]]


def _exact(part: Part, measures: Measures, columns: Sequence[Column], groups: Sequence[str]) -> str:
    """One table alone answers exactly."""
    used = [columns[place] for place in sorted(part.columns)]
    figures = {f"e{place}": total(measure.sql) for place, measure in enumerate(measures.items)}
    figures |= {f"v{k}_{m}": "0" for k, m in measures.pairs}
    rows = source(f"t{part.pieces[0]}", used) + where(part.conditions)
    return select(groups, figures, rows) + grouped(groups) + ordered(groups)


def _mean(factors: Sequence[Factor], measure: int) -> str:
    """The expected sum of a measure in one class."""
    tables = sum(len(factor.part.pieces) for factor in factors)
    sums = " * ".join(factor.sum(measure) for factor in factors)
    return f"{sums} / {power('n', tables - 1)}"


def _covariance(factors: Sequence[Factor], one: int, other: int) -> str:
    """The covariance of the sums of two measures in one class: over all sets of two tables or more."""
    terms = []
    for chosen in combined(*(subsets(factor.part.pieces) for factor in factors)):
        size = sum(map(len, chosen))
        if size > 1:
            effects = [factor.effect(part, one, other) for factor, part in zip(factors, chosen, strict=True)]
            share = "n * n / (n - 1)" if size == 2 else f"n * (1 - pow(-1 / (n - 1), {size - 1}))"
            terms.append(" * ".join([share, *effects]))
    return f"CASE WHEN n > 1 THEN {' + '.join(terms)} ELSE 0 END"
