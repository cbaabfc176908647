"""What microaggregation publishes of the values of a class: their mean, median, mode or lowest common ancestor.

A column says it by ``aggregate``, or it is what suits its hierarchy. Means and medians are of numbers and dates; a mode
is of any values; an ancestor needs levels.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sfumato.errors import PolicyError, did_you_mean, quote
from sfumato.hierarchy import Dates, Intervals, Ranges, Sets, Spec, Suppress
from sfumato.policy.columns import Column, Role, columns_with_role
from sfumato.policy.toml_text import dotted_key

if TYPE_CHECKING:
    from sfumato import models

MICROAGGREGATION = "microaggregation"

AGGREGATE_FORMS = {"mean": "means", "median": "medians", "mode": "modes"}
"""How labels are described that are aggregates of a class, and do not say which values they stand for."""


def aggregate_of(column: Column) -> str:
    """Say what is published of a quasi-identifier of each class: as its policy has it, or as suits its hierarchy.

    Numbers and dates have means, values in a tree their lowest common ancestor, others a mode. Where the policy says
    how exactly a column may be told at most, or that extremes share a label, that is a matter of labels: an ancestor.

    >>> aggregate_of(Column("age", Role.QUASI, Intervals([5]))), aggregate_of(Column("town", Role.QUASI, Suppress()))
    ('mean', 'mode')
    >>> aggregate_of(Column("age", Role.QUASI, Intervals([5], top=90)))
    'ancestor'
    """
    if column.aggregate is not None:
        return column.aggregate
    spec = column.hierarchy
    if isinstance(spec, Sets | Suppress) and not column.least:
        return "mode"
    return "mean" if _holds_numbers(spec) and not column.least and not _shares_ends(spec) else "ancestor"


def _holds_numbers(spec: Spec | None) -> bool:
    return isinstance(spec, Intervals | Ranges | Dates)


def _shares_ends(spec: Spec | None) -> bool:
    """Whether the lowest or the highest values of a column share a label."""
    return isinstance(spec, Intervals) and (spec.top is not None or spec.bottom is not None)


def check_microaggregation(
    columns: Mapping[str, Column],
    algorithm: str,
    requirements: "Sequence[models.AnyModel]",
    document: Mapping[str, object],
) -> None:
    """Ask of aggregates that they are of values that have them, and of strata that they are quasi-identifiers.

    Where another algorithm is used, or values are published as they are, aggregates mean nothing, and are refused.

    >>> town = Column("town", Role.QUASI, Sets(), aggregate="mean")
    >>> check_microaggregation({"town": town}, "microaggregation", (), {})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.town.aggregate: there is a mean of numbers and dates, and the hierarchy is of
    neither; write mode, or give ranges, intervals or dates
    """
    options, publish = (_table(document, name) for name in ("algorithm", "publish"))
    form = publish.get("form", "generalized")
    for column in columns_with_role(columns, Role.QUASI):
        key = dotted_key("columns", column.name, "aggregate")
        if column.aggregate is not None and algorithm != MICROAGGREGATION:
            raise PolicyError(f"is for microaggregation, and the algorithm is {algorithm}; leave it out", key=key)
        if column.aggregate is not None and form != "generalized":
            raise PolicyError(f"the form {form} publishes values as they are; leave it out", key=key)
        fault = _find_fault(column) if column.aggregate is not None else None
        if fault:
            raise PolicyError(fault, key=key)
    if algorithm != MICROAGGREGATION:
        return
    if "metric" in options or options.get("improve") is True:
        key = "metric" if "metric" in options else "improve"
        raise PolicyError("microaggregation goes by distances between rows; leave it out", key=f"algorithm.{key}")
    strata = options.get("strata")
    names = strata if isinstance(strata, list) else []
    for name in names:
        _check_stratum(str(name), columns)
        if columns[name].aggregate is not None:
            why = "is one of strata, whose values are published as they are; leave it out"
            raise PolicyError(why, key=dotted_key("columns", name, "aggregate"))
    if names and any(getattr(entry, "linked", 1) > 1 for entry in requirements):
        why = "linked_k brings the rows of a person into one class, whatever their strata"
        raise PolicyError(f"{why}; leave out one of the two", key="algorithm.strata")


def _find_fault(column: Column) -> str | None:
    """Say why the values of a column cannot be published by the aggregate that is written, if they cannot."""
    spec, aggregate = column.hierarchy, column.aggregate
    if aggregate == "ancestor":
        if spec is None or spec.levelled:
            return None
        what, others = ("sets", "mode") if isinstance(spec, Sets) else ("ranges", "mean, median or mode")
        return f"{what} have no levels, and so no ancestors; write {others}, or give the column a tree"
    if aggregate != "mode" and not _holds_numbers(spec):
        way = "write mode" if isinstance(spec, Sets) else "write mode or ancestor"
        way = "write mode, or give ranges, intervals or dates" if isinstance(spec, Sets | Suppress) else way
        return f"there is a {aggregate} of numbers and dates, and the hierarchy is of neither; {way}"
    if column.least:
        why = f"is a {aggregate}, which may be more exact than level {column.least}, the least that may be told"
        return f'{why}; write "ancestor", or leave least out'
    if _shares_ends(spec):
        why = f"is a {aggregate}, which goes by values, and top and bottom of the intervals by labels"
        return f'{why}; write top and bottom as keys of the column, which code its values, or "ancestor"'
    return None


def _check_stratum(name: str, columns: Mapping[str, Column]) -> None:
    """Ask that a stratum is a quasi-identifier: whoever knows the class of a row knows its stratum."""
    if name not in columns:
        quasi = [column.name for column in columns_with_role(columns, Role.QUASI)]
        hint = did_you_mean(name, quasi) or "; name quasi-identifiers"
        raise PolicyError(f"{quote(name)} is not one of [columns]{hint}", key="algorithm.strata")
    if (role := columns[name].role) is not Role.QUASI:
        why = f"{quote(name)} is of role {role}, and all rows of a class would have one value of it"
        raise PolicyError(f'{why}; give it role = "quasi", or name another column', key="algorithm.strata")


def _table(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = document.get(name)
    return table if isinstance(table, Mapping) else {}
