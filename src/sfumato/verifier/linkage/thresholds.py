"""Thresholds: which values on y are protected, and how large the share of each may be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa

from sfumato.verifier.linkage.groups import Part
from sfumato.verifier.linkage.joined import Joined
from sfumato.verifier.linkage.lines import encoded, run
from sfumato.verifier.linkage.plan import Plan
from sfumato.verifier.sql import exact


@dataclass(frozen=True)
class Thresholds:
    """Table ``thresholds`` of units (t0, t1, ...) with the fraction over / under, where values differ (`each`)."""

    each: bool
    lowest: tuple[int, int]
    largest: int
    """The largest number of all fractions."""
    tables: int

    def join(self, joined: Joined, own: str, others: str) -> str:
        """To be added to a query: the threshold of its units; `own` is the pivot's, `others` goes before u1, ..."""
        if not self.each:
            over, under = self.lowest
            return f"CROSS JOIN (SELECT CAST({over} AS HUGEINT) AS over, CAST({under} AS HUGEINT) AS under)"
        agree = [
            f"h.t{table} = {own if table == joined.pivot else f'{others}u{table}'}" for table in range(self.tables)
        ]
        return f"JOIN thresholds h ON {' AND '.join(agree)}"


def thresholds(plan: Plan, parts: Sequence[Part], rule: Mapping[str, Any]) -> Thresholds:
    """The thresholds of a requirement; makes their table where not all values are protected alike."""
    values, bound = rule.get("values"), rule.get("k")
    given: dict[Any, Any]
    if values is None:
        return Thresholds(False, bounds := exact(rule["k"]), max(bounds), len(parts))
    given = dict(values) if isinstance(values, Mapping) else dict.fromkeys(map(_tuple, values), bound)
    known = {_tuple(value): exact(share) for value, share in given.items()}
    others = exact(bound) if isinstance(values, Mapping) and bound is not None else None
    _make(plan, parts, rule, known)
    if others is not None:
        _make_others(plan, parts, others)
    pairs = [*known.values(), *([others] if others else [])]
    return Thresholds(True, min(pairs, key=lambda pair: Fraction(*pair)), max(map(max, pairs)), len(parts))


def _tuple(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _make(plan: Plan, parts: Sequence[Part], rule: Mapping[str, Any], known: Mapping[tuple[str, ...], Any]) -> None:
    """The units that are named, by their labels: a unit of a table is its columns of y, in their order."""
    columns = {f"v{i}": pa.array([encoded(value[i]) for value in known], pa.string()) for i in range(len(rule["y"]))}
    for place, name in enumerate(("over", "under")):
        columns[name] = pa.array([str(pair[place]) for pair in known.values()], pa.string())
    plan.connection.register("protected", pa.table(columns))
    places = [plan.find(reference) for reference in rule["y"]]
    joins, units = "", ""
    for table, part in enumerate(parts):
        own = [
            f"y{table}.k{part.y.index(place.column)} = p.v{i}" for i, place in enumerate(places) if place.table == table
        ]
        joins += f" JOIN ys_{table} y{table} ON {' AND '.join(own) or 'true'}"
        units += f"y{table}.id AS t{table}, "
    numbers = "CAST(over AS HUGEINT) AS over, CAST(under AS HUGEINT) AS under"
    run(plan.connection, f"CREATE OR REPLACE TABLE thresholds AS SELECT {units}{numbers} FROM protected p{joins}")


def _make_others(plan: Plan, parts: Sequence[Part], bound: tuple[int, int]) -> None:
    """All units that are not named get one bound; only one table has a column in y."""
    units = "".join(f"y{table}.id AS t{table}, " for table in range(len(parts)))
    tables = " CROSS JOIN ".join(f"ys_{table} y{table}" for table in range(len(parts)))
    known = " AND ".join(f"h.t{table} = a.t{table}" for table in range(len(parts)))
    over, under = bound
    run(
        plan.connection,
        f"INSERT INTO thresholds SELECT a.* FROM (SELECT {units}CAST({over} AS HUGEINT), CAST({under} AS HUGEINT) "
        f"FROM {tables}) a ANTI JOIN thresholds h ON {known}",
    )
