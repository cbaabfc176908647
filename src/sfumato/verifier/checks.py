"""Each requirement once more, in SQL over the classes of the published table.

Two tables are made first: ``classes`` (an id and the rows of each class, and its persons) and, per sensitive
column that is looked at, ``pairs_i`` (class id, value, rows). Every check returns one line per class with the
figure that the requirement is about, and whether it is satisfied.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.verifier import distances
from sfumato.verifier.promise import Promise
from sfumato.verifier.sql import name, names, text, unguarded_sql

_TOLERANCE = 1e-9
_SHOWN = 3


@dataclass(frozen=True)
class Check:
    """Per class ``id``: is it ``ok``, and the figures named in `achieved`, aggregated over all classes.

    `query` selects id, ok, and the figures; `achieved` maps a key of the model to an SQL aggregate over them;
    `words` is an SQL text expression that says what is wrong with a class.
    """

    query: str
    achieved: Mapping[str, str]
    words: str


class Counts:
    """The published table, counted: the classes, and the pairs of class and sensitive value."""

    def __init__(self, connection: Any, promise: Promise, *, guarded: bool) -> None:
        self.connection, self.promise, self.guarded = connection, promise, guarded
        persons = f"count(DISTINCT {name(promise.individual)})" if promise.individual else "count(*)"
        quasi = names(promise.quasi)
        connection.execute(
            f"CREATE TABLE classes AS SELECT row_number() OVER () AS id, {quasi}, count(*) AS n, {persons} AS persons "
            f"FROM published GROUP BY {quasi}"
        )
        self._pairs: dict[str, str] = {}

    def pairs(self, column: str) -> str:
        """The name of the table of (class, value, rows) for a sensitive column."""
        if column not in self._pairs:
            table = f"pairs_{len(self._pairs)}"
            same = " AND ".join(f"c.{name(q)} IS NOT DISTINCT FROM p.{name(q)}" for q in self.promise.quasi)
            quasi, value = names(self.promise.quasi), unguarded_sql("v") if self.guarded else "v"
            self.connection.execute(
                f"CREATE TABLE {table} AS SELECT c.id, c.n, {value} AS v, p.r FROM "
                f"(SELECT {quasi}, CAST({name(column)} AS VARCHAR) AS v, count(*) AS r FROM published "
                f"GROUP BY {quasi}, v) p JOIN classes c ON {same}"
            )
            self._pairs[column] = table
        return self._pairs[column]

    def describe(self, identifier: int) -> str:
        """A class in words: its published labels."""
        row = self.connection.execute(
            f"SELECT {names(self.promise.quasi)} FROM classes WHERE id = ?", [identifier]
        ).fetchone()
        return ", ".join(
            f"{column} = {'NULL' if value is None else value}"
            for column, value in zip(self.promise.quasi, row, strict=True)
        )


def k_anonymity(counts: Counts, rule: Mapping[str, Any]) -> Check:
    """At least k rows, or persons where rows name them."""
    unit = "persons" if counts.promise.individual else "rows"
    return Check(
        f"SELECT id, persons >= {int(rule['k'])} AS ok, persons AS figure FROM classes",
        {"k": "min(figure)"},
        f"'has ' || figure || ' {unit}, fewer than {int(rule['k'])}'",
    )


def alpha(counts: Counts, rule: Mapping[str, Any]) -> Check:
    """The share of each protected value, in exact decimals."""
    bound = f"CAST({text(str(rule['alpha']))} AS DECIMAL(18, 9))"
    allowed = f"ceil({bound} * p.n)" if rule.get("refined") else f"{bound} * p.n"
    parts = [
        f"SELECT id, n, v, r FROM {counts.pairs(column)}{_protected(rule.get('values'))}"
        for column in alpha_columns(rule)
    ]
    return Check(
        f"SELECT c.id, coalesce(bool_and(p.r <= {allowed}), true) AS ok, "
        f"coalesce(max(p.r / p.n), 0) AS figure, max_by(p.v, p.r) AS worst "
        f"FROM classes c LEFT JOIN ({' UNION ALL '.join(parts)}) p ON p.id = c.id GROUP BY c.id",
        {"alpha": "max(figure)"},
        f"'has a share of ' || round(figure, 4) || ' of ' || coalesce(worst, 'NULL') || ', above {rule['alpha']}'",
    )


def alpha_columns(rule: Mapping[str, Any]) -> list[str]:
    """The sensitive columns of an α requirement."""
    return list(rule["columns"]) if rule.get("columns") else [rule["column"]]


def distinct(counts: Counts, rule: Mapping[str, Any]) -> Check:
    """At least l different values, and persons where rows name them."""
    figure = "least(count(*), any_value(c.persons))" if counts.promise.individual else "count(*)"
    return Check(
        f"SELECT p.id, {figure} >= {int(rule['l'])} AS ok, {figure} AS figure "
        f"FROM {counts.pairs(rule['column'])} p JOIN classes c ON c.id = p.id GROUP BY p.id",
        {"l": "min(figure)"},
        f"'has ' || figure || ' different sensitive values, fewer than {int(rule['l'])}'",
    )


def entropy(counts: Counts, rule: Mapping[str, Any]) -> Check:
    """Entropy at least log l."""
    return Check(
        f"SELECT id, -sum(r / n * ln(r / n)) >= ln({float(rule['l'])}) - {_TOLERANCE} AS ok, "
        f"exp(-sum(r / n * ln(r / n))) AS figure FROM {counts.pairs(rule['column'])} GROUP BY id",
        {"l": "min(figure)"},
        f"'has the entropy of ' || round(figure, 4) || ' equally frequent values, fewer than {rule['l']}'",
    )


def recursive(counts: Counts, rule: Mapping[str, Any]) -> Check:
    """The most frequent value less than c times those from the l-th on."""
    bound = f"CAST({text(str(rule['c']))} AS DECIMAL(18, 9))"
    pairs = counts.pairs(rule["column"])
    ranked = f"SELECT id, r, row_number() OVER (PARTITION BY id ORDER BY r DESC) AS place FROM {pairs}"
    return Check(
        f"SELECT id, max(r) < {bound} * coalesce(sum(r) FILTER (place >= {int(rule['l'])}), 0) AS ok, "
        f"max(r) / sum(r) FILTER (place >= {int(rule['l'])}) AS figure FROM ({ranked}) GROUP BY id",
        {"c": "CASE WHEN count(*) = count(figure) THEN max(figure) END"},
        f"'has a most frequent value that is not below {rule['c']} times the rest from the {rule['l']}th on'",
    )


def t_closeness(counts: Counts, rule: Mapping[str, Any]) -> Check:
    """The distance of each class to the whole input table."""
    query = distances.query(counts, rule)
    return Check(
        f"SELECT id, figure <= {float(rule['t'])} + {_TOLERANCE} AS ok, figure FROM ({query})",
        {"t": "max(figure)"},
        f"'is at a distance of ' || round(figure, 4) || ' from the whole table, above {rule['t']}'",
    )


CHECKS: dict[str, tuple[Callable[[Counts, Mapping[str, Any]], Check], ...]] = {
    "k-anonymity": (k_anonymity,),
    "alpha-deassociation": (alpha,),
    "alpha-k-anonymity": (alpha, k_anonymity),
    "distinct-l-diversity": (distinct,),
    "entropy-l-diversity": (entropy,),
    "recursive-l-diversity": (recursive,),
    "t-closeness": (t_closeness,),
}


def _protected(values: Any) -> str:
    return f" WHERE v IN ({', '.join(text(str(value)) for value in values)})" if values else ""
