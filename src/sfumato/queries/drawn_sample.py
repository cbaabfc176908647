"""Answers from drawn rows: plain sums over them, and the error of a sample.

Rows of a release of the form ``synthetic`` hold values, and no labels; a count or a sum over them is divided by
`multiple`, the drawn rows for each row of the original. What the original has is not in the release, so an answer has
an error like that of a sample of as many rows as the original: with x the number that a row adds, 0 where it does not
meet the conditions, and n drawn rows, a sum has the variance (Σ x² - (Σ x)² / n) / `multiple`. Drawn rows are not
independent: groups keep their means and frequencies, so that answers about many are nearer than that. What is drawn
from groups is a smoother table than the original, too, which no variance says.
"""

from collections.abc import Sequence

from sfumato.queries.query_plan import Measures, QueryPlan, group_by, order_by, select, table_with_values, where
from sfumato.queries.query_tables import QueryColumn
from sfumato.queries.sql_reader import ParsedQuery


def plan_drawn_rows(
    query: ParsedQuery, measures: Measures, columns: Sequence[QueryColumn], multiple: int = 1
) -> QueryPlan:
    """Plan the statement that gives sums over drawn rows and their covariances as of a sample, group by group."""
    about = [one.columns for one in query.conditions] + [one.columns for one in measures.items]
    used = frozenset(column.place for column in query.groups).union(*about)
    groups = [column.value for column in query.groups]

    def total(*places: int) -> str:
        return f"sum({' * '.join(['CAST(w AS DOUBLE)', *(f'({measures.items[place].sql})' for place in places)])})"

    figures = {f"e{k}": f"{total(k)} / {multiple}" for k in range(len(measures.items))}
    rows = "(SELECT CAST(sum(w) AS DOUBLE) FROM t0)"
    figures |= {
        f"v{k}_{m}": f"({total(k, m)} - {total(k)} * {total(m)} / {rows}) / {multiple}" for k, m in measures.pairs
    }
    source = table_with_values("t0", [columns[place] for place in sorted(used)]) + where(query.conditions)
    return QueryPlan(select(groups, figures, source) + group_by(groups) + order_by(groups))
