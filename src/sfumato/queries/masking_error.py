"""What masked columns add to the error of an answer, and what a reader has to know of them.

Noise is published as a share s of a column's standard deviation, and makes its variance 1 + s² times as large. So the
variance of the noise is s² / (1 + s²) of that of the published values: anybody can work it out, and no figure of the
true values has to be published for it. Rounding to a step adds the variance of an even distribution over the step,
step² / 12. Both err in each row by itself, so that a sum errs by their sum over its rows: an amount f(x) of a row whose
x is off by σ is off by (f(x + σ) - f(x - σ)) / 2. Of several columns with noise, which may be correlated, the largest
error that this can come to is taken.

Swapping, drawing anew and coding, and conditions on masked values, err in ways that depend on what was asked; these are
said in words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import Any

from sfumato.errors import quote
from sfumato.labels.data_dictionary import Entry
from sfumato.queries.query_plan import Measure, Measures
from sfumato.queries.query_tables import QueryColumn
from sfumato.queries.sql_reader import ParsedQuery

Methods = Mapping[str, Mapping[str, Any]]
"""The masks of a column by the name of their method."""


def read_methods(entry: Entry) -> Methods:
    """Read the masks in a column's entry of the data dictionary; what is none is passed over.

    >>> read_methods({"masked": [{"method": "rounding", "step": 100}, "?"]})
    {'rounding': {'method': 'rounding', 'step': 100}}
    """
    masked = entry.get("masked", [])
    lines = [one for one in masked if isinstance(one, dict)] if isinstance(masked, list) else []
    return {one["method"]: one for one in lines if isinstance(one.get("method"), str)}


def mask_deviations(
    connection: Any, columns: Sequence[QueryColumn], masks: Mapping[str, Methods], *, split: bool
) -> dict[int, float]:
    """Work out how far a published number is off by noise and rounding: a standard deviation, by place of column."""
    found = {}
    for column in columns:
        methods = masks.get(column.name, {})
        if not methods.keys() & {"noise", "rounding"} or not column.number or column.unclear is not None:
            continue
        share, step = (_number(methods, *key) for key in (("noise", "share"), ("rounding", "step")))
        variance = step**2 / 12
        if share:
            published = _published_variance(connection, column, split=split)
            variance += published * share**2 / (1 + share**2)
        if variance > 0 and isfinite(variance):
            found[column.place] = sqrt(variance)
    return found


def add_mask_measures(measures: Measures, deviations: Mapping[int, float]) -> Measures:
    """Add to the amounts of a query the squares of what masks may have them off by, as measures of their own.

    >>> added = add_mask_measures(Measures((Measure("c2", frozenset({2}), amount=True),), ((0,),)), {2: 0.5})
    >>> added.items[1].sql, added.mask_errors
    ('pow(abs(((c2 + 0.5) - (c2 - 0.5)) / 2), 2)', {0: 1})
    """
    items, errors = list(measures.items), dict[int, int]()
    for place, measure in enumerate(measures.items):
        noisy = sorted(measure.columns & deviations.keys())
        if not measure.amount or not noisy:
            continue
        parts = []
        for column in noisy:
            up, down = (_shift(measure.sql, column, sign * deviations[column]) for sign in (1, -1))
            parts.append(f"abs(({up} - {down}) / 2)")
        errors[place] = len(items)
        items.append(Measure(f"pow({' + '.join(parts)}, 2)", measure.columns))
    return replace(measures, items=tuple(items), mask_errors=errors)


_TOKEN = re.compile(r"'(?:[^']|'')*'|\bc(\d+)\b")


def _shift(sql: str, place: int, by: float) -> str:
    """Put a column's value plus something in place of the value, outside of texts.

    >>> _shift("c2 * c12 + length('c2')", 2, -0.5)
    "((c2 - 0.5) * c12 + length('c2'))"
    """
    shifted = f"(c{place} {'+' if by >= 0 else '-'} {abs(by)!s})"
    changed = _TOKEN.sub(lambda match: shifted if match[1] == str(place) else match[0], sql)
    return changed if sql == f"c{place}" else f"({changed})"


def _number(methods: Methods, method: str, key: str) -> float:
    value = methods.get(method, {}).get(key, 0)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
    return float(value) if is_number else 0.0


def _published_variance(connection: Any, column: QueryColumn, *, split: bool) -> float:
    """The variance of the published values of a column; of a label, its values are equally likely."""
    rows = f"t{column.table}" + (f" JOIN {column.dictionary} USING ({column.code})" if column.coded else "")
    weight = "1.0" if split else "CAST(w AS DOUBLE)"
    weight = f"{weight} / {column.size}" if column.uncertain else weight
    value = f"CAST({column.value} AS DOUBLE)"
    ((mean,),) = connection.execute(
        f"SELECT sum({weight} * {value}) / sum({weight}) FROM {rows} WHERE {column.value} IS NOT NULL"
    ).fetchall()
    if mean is None or not isfinite(mean):
        return 0.0
    ((variance,),) = connection.execute(
        f"SELECT sum({weight} * pow({value} - {mean!s}, 2)) / sum({weight}) FROM {rows} "
        f"WHERE {column.value} IS NOT NULL"
    ).fetchall()
    return float(variance or 0.0)


def mask_sentences(
    query: ParsedQuery, columns: Sequence[QueryColumn], masks: Mapping[str, Methods], published: Mapping[str, int]
) -> tuple[str, ...]:
    """Say of each masked column that a query is about how it is masked, and what ± has of that.

    `published` has how many different values there are of columns with post-randomization.
    """
    asked = {column.place for column in query.groups}.union(*(one.columns for one in query.conditions))
    amounts = frozenset[int]().union(*(one.argument.columns for one in query.aggregates if one.argument))
    said = []
    for column in columns:
        methods = masks.get(column.name)
        if not methods or column.place not in asked | amounts:
            continue
        parts = [part for method in methods.values() for part in _say(method, published.get(column.name, 0))]
        if column.place in asked and methods.keys() & {"noise", "rank swapping", "post-randomization"}:
            parts.append("± has nothing of what that does to conditions and groups")
        said.append(f"{quote(column.name)} is masked: {'; '.join(parts)}")
    return tuple(said)


def _say(method: Mapping[str, Any], values: int) -> list[str]:
    match method:
        case {"method": "noise", "share": share}:
            return [f"it has noise of {share} of its standard deviation, whose variance is in ± of sums and averages"]
        case {"method": "rounding", "step": step}:
            return [f"it is rounded to multiples of {step}, which is in ± of sums and averages"]
        case {"method": "rank swapping", "share": share}:
            return [f"values changed places within {share} of the ranks, so that only figures of all rows are exact"]
        case {"method": "post-randomization", "invariant": True, "keep": keep}:
            return [
                f"values were kept with chance {keep} or drawn by frequency; counts of all rows are right on average"
            ]
        case {"method": "post-randomization", "keep": float(keep) | int(keep)}:
            undo = f"(count - rows * {1 - keep:.4g} / {values}) / {keep:.4g}" if values > 1 and keep > 0 else None
            kept = f"values were kept with chance {keep} or drawn, each as likely"
            return [kept if undo is None else f"{kept}; for a count of one value, {undo} takes that back"]
        case {"method": "top coding", "top": top}:
            return [f"values above {top} are published as {top}"]
        case {"method": "bottom coding", "bottom": bottom}:
            return [f"values below {bottom} are published as {bottom}"]
    return []
