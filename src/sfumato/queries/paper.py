"""The paper's estimates: every line counts that may be meant.

From two tables, Wong et al. count the lines of SS that meet their own conditions and whose class has a line of NSS that
meets the others. From a generalized table they do not say how a label is matched; here a row counts where some of the
values that its labels stand for meet the conditions.
"""

from collections.abc import Sequence

from sfumato.errors import InputError, listing
from sfumato.queries import generalized
from sfumato.queries.column import Column
from sfumato.queries.measures import Measures
from sfumato.queries.parts import Part, divide
from sfumato.queries.question import Question
from sfumato.queries.sql import Plan, grouped, ordered, select, source, statement, total, where

_WAY_OUT = "ask for it with --estimate expected"


def from_labels(question: Question, measures: Measures, columns: Sequence[Column]) -> Plan:
    """Rows of one table that may meet the conditions."""
    for aggregate in question.aggregates:
        places = aggregate.argument.columns if aggregate.argument else frozenset()
        unclear = [columns[place].name for place in sorted(places) if columns[place].uncertain]
        if unclear:
            raise InputError(
                f"{aggregate.name} is about labels of {listing(unclear)}, and the paper's estimate has no number for a "
                f"label; {_WAY_OUT}"
            )
    return generalized.expected(question, measures, columns, possible=True)


def from_tables(question: Question, measures: Measures, columns: Sequence[Column]) -> Plan:
    """Lines of SS whose class has a line of NSS that meets the conditions."""
    parts, rest = divide(question, measures.items, lambda place: columns[place].table)
    _check(question, parts, columns)
    first = next((part for part in parts if part.pieces == (0,)), Part((0,)))
    other = next((part for part in parts if part.pieces != (0,)), Part((1,)))
    groups = [column.value for column in question.groups]
    found = {"classes": _distinct(first, columns)}
    rows = source(f"t{other.pieces[0]}", [columns[place] for place in sorted(other.columns)])
    rows += " JOIN classes USING (class)" + where(other.conditions + rest.conditions)
    figures = {f"e{place}": total(measure.sql) for place, measure in enumerate(measures.items)}
    last = select(groups, figures, rows) + grouped(groups) + ordered(groups)
    return Plan(statement(found, last), spread=False)


def _distinct(part: Part, columns: Sequence[Column]) -> str:
    """The classes with a line of NSS that meets its conditions, for each group that is asked for."""
    keys = ["class", *(column.value for column in part.groups)]
    rows = source("t0", [columns[place] for place in sorted(part.columns)]) + where(part.conditions)
    return f"SELECT DISTINCT {', '.join(keys)} FROM {rows}"


def _check(question: Question, parts: Sequence[Part], columns: Sequence[Column]) -> None:
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
    for aggregate in question.aggregates:
        places = aggregate.argument.columns if aggregate.argument else ()
        if any(columns[place].table == 0 for place in places):
            raise InputError(f"{aggregate.name} is about NSS, and the paper's estimate counts lines of SS; {_WAY_OUT}")
