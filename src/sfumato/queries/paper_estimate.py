"""The paper's estimates (Wong et al. 2007): every line counts that may be meant.

From two tables, Wong et al. count the lines of SS that meet their own conditions and whose class has a line of NSS that
meets the others. From a generalized table they do not say how a label is matched; here a row counts where some of the
values that its labels cover meet the conditions.
"""

from collections.abc import Sequence

from sfumato.errors import InputError, listing
from sfumato.queries.expected_one_table import plan_expected_one_table
from sfumato.queries.query_plan import (
    Measures,
    QueryPart,
    QueryPlan,
    divide_query,
    group_by,
    order_by,
    select,
    statement,
    table_with_values,
    total,
    where,
)
from sfumato.queries.query_tables import QueryColumn
from sfumato.queries.sql_reader import ParsedQuery

_WAY_OUT = "ask for it with --estimate expected"


def plan_paper_one_table(query: ParsedQuery, measures: Measures, columns: Sequence[QueryColumn]) -> QueryPlan:
    """Plan to count the rows of one table that may meet the conditions."""
    for aggregate in query.aggregates:
        places = aggregate.argument.columns if aggregate.argument else frozenset()
        uncertain = [columns[place].name for place in sorted(places) if columns[place].uncertain]
        if uncertain:
            raise InputError(
                f"{aggregate.name} is about labels of {listing(uncertain)}, and the paper's estimate has no number for "
                f"a label; {_WAY_OUT}"
            )
    return plan_expected_one_table(query, measures, columns, possible=True)


def plan_paper_two_tables(query: ParsedQuery, measures: Measures, columns: Sequence[QueryColumn]) -> QueryPlan:
    """Plan to count the lines of SS whose class has a line of NSS that meets the conditions."""
    parts, rest = divide_query(query, measures, lambda place: columns[place].table)
    _check_formula(query, parts, columns)
    nss = next((part for part in parts if part.pieces == (0,)), QueryPart((0,)))
    ss = next((part for part in parts if part.pieces != (0,)), QueryPart((1,)))
    # the classes with a line of NSS that meets its conditions, for each group that is asked for
    keys = ["class", *(column.value for column in nss.groups)]
    lines = table_with_values("t0", [columns[place] for place in sorted(nss.columns)]) + where(nss.conditions)
    classes = {"classes": f"SELECT DISTINCT {', '.join(keys)} FROM {lines}"}
    rows = table_with_values(f"t{ss.pieces[0]}", [columns[place] for place in sorted(ss.columns)])
    rows += " JOIN classes USING (class)" + where(ss.conditions + rest.conditions)
    groups = [column.value for column in query.groups]
    figures = {f"e{place}": total(measure.sql) for place, measure in enumerate(measures.items)}
    last = select(groups, figures, rows) + group_by(groups) + order_by(groups)
    return QueryPlan(statement(classes, last), has_errors=False)


def _check_formula(query: ParsedQuery, parts: Sequence[QueryPart], columns: Sequence[QueryColumn]) -> None:
    """Refuse what the paper's formula does not say."""
    for part in parts:
        if len(part.pieces) > 1:
            names = listing(columns[place].name for place in sorted(part.columns))
            raise InputError(
                f"{names} stand in different tables and are not asked about apart, joined by AND; the paper's estimate "
                f"cannot tell their rows together; {_WAY_OUT}"
            )
    if len([part for part in parts if part.pieces != (0,)]) > 1:
        raise InputError(f"the paper's estimate is about one table of sensitive values at a time; {_WAY_OUT}")
    for aggregate in query.aggregates:
        places = aggregate.argument.columns if aggregate.argument else ()
        if any(columns[place].table == 0 for place in places):
            raise InputError(f"{aggregate.name} is about NSS, and the paper's estimate counts lines of SS; {_WAY_OUT}")
