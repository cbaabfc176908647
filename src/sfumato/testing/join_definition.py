"""(X, Y)-privacy over the join of several releases, word for word, on plain rows.

Slow, and without one line in common with the code that it is held against: the join is written out, line by line.
Source: Wang and Fung, Anonymizing Sequential Releases, sections 3 and 7.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

Label = str | None
Row = Mapping[str, Label]
Path = tuple[Label, ...]
Taxonomies = Mapping[str, Mapping[Label, Path]]
Values = tuple[Hashable, ...]

ROW = "$row"
"""The column that is the key of a row."""


@dataclass(frozen=True)
class PlainRelease:
    """A release as rows of texts; the current one has no name. Columns `apart` take no part in matching."""

    name: str
    rows: Sequence[Row]
    apart: frozenset[str] = frozenset()

    @property
    def columns(self) -> list[str]:
        """Its columns, those of the first row."""
        return list(self.rows[0]) if self.rows else []


@dataclass(frozen=True)
class PlainJoin:
    """Releases, the current one first, with what an adversary knows of their columns.

    `taxonomies` has the path from each label of a column to the root; a label that is not there is under ``*``.
    `inconsistent` has pairs of texts ``column=value``, as a policy does.

    >>> old = PlainRelease("old", [{"sex": "Male", "test": "HIV"}, {"sex": "Female", "test": "HIV"}])
    >>> new = PlainRelease("", [{"sex": "*"}, {"sex": "Male"}])
    >>> PlainJoin([new, old]).lines
    [(0, 0), (0, 1), (1, 0)]
    >>> PlainJoin([new, old], inconsistent=[("sex=Male", "old.test=HIV")]).lines
    [(0, 0), (0, 1)]
    """

    tables: Sequence[PlainRelease]
    taxonomies: Taxonomies = field(default_factory=dict)
    inconsistent: Sequence[Sequence[str]] = ()

    @cached_property
    def lines(self) -> list[tuple[int, ...]]:
        """The join: the rows of each match, one of every table, by their numbers."""
        lines: list[tuple[int, ...]] = [()]
        for table in self.tables:
            longer = [(*line, row) for line in lines for row in range(len(table.rows))]
            lines = [line for line in longer if all(self._match(line, i, len(line) - 1) for i in range(len(line) - 1))]
        return lines

    def value(self, line: Sequence[int], column: str) -> Hashable:
        """Return what a line of the join has in a column: a text, NULL, or the number of a row for a key."""
        table, name = self.place(column)
        return line[table] if name == ROW else self.tables[table].rows[line[table]][name]

    def values(self, line: Sequence[int], columns: Sequence[str]) -> Values:
        """Return what a line of the join has in several columns."""
        return tuple(self.value(line, column) for column in columns)

    def place(self, column: str) -> tuple[int, str]:
        """Find the table that a column is of, and its name there."""
        for i, table in enumerate(self.tables):
            if i and column.startswith(f"{table.name}."):
                return i, column.removeprefix(f"{table.name}.")
        return 0, column

    def path(self, column: str, label: Label) -> Path:
        """Return a label and its ancestors."""
        return self.taxonomies.get(column, {}).get(label, (label, "*"))

    def shared(self, first: int, second: int) -> list[str]:
        """List the columns that two tables are matched by."""
        one, other = self.tables[first], self.tables[second]
        return [name for name in one.columns if name in other.columns and name not in one.apart | other.apart]

    def _match(self, line: Sequence[int], first: int, second: int) -> bool:
        """Tell whether the rows of two tables may be one person's: by both predicates."""
        rows = {table: self.tables[table].rows[line[table]] for table in (first, second)}
        for name in self.shared(first, second):
            label, other = rows[first][name], rows[second][name]
            if label not in self.path(name, other) and other not in self.path(name, label):
                return False  # consistent labels are on one path to the root
        return not any(self._excludes(rule, rows) for rule in self.inconsistent)

    def _excludes(self, rule: Sequence[str], rows: Mapping[int, Row]) -> bool:
        """Tell whether the rule is about the tables of two rows, and each row is at or below what its side says."""
        sides = [(*self.place(text.split("=", 1)[0]), text.split("=", 1)[1]) for text in rule]
        if {table for table, _, _ in sides} != set(rows):
            return False
        return all(value in self.path(name, rows[table][name]) for table, name, value in sides)


def join_of_rule(rule: Mapping[str, Any], join: PlainJoin) -> PlainJoin:
    """Return the join that a rule is about: with the releases that it names, or with all."""
    if rule.get("releases") is None:
        return join
    current, *earlier = join.tables
    left_out = {table.name for table in earlier if table.name not in rule["releases"]}
    rules = [pair for pair in join.inconsistent if not any(side.partition(".")[0] in left_out for side in pair)]
    return PlainJoin([current, *(table for table in earlier if table.name not in left_out)], join.taxonomies, rules)


def anonymity(join: PlainJoin, x: Sequence[str], y: Sequence[str]) -> dict[Values, int]:
    """Count the different values on Y that occur beside each value on X.

    >>> table = PlainRelease("", [{"job": "cook", "test": "HIV"}, {"job": "cook", "test": "HIV"}])
    >>> anonymity(PlainJoin([table]), ["job"], ["test"]), anonymity(PlainJoin([table]), ["job"], ["$row"])
    ({('cook',): 1}, {('cook',): 2})
    """
    beside: dict[Values, set[Values]] = {}
    for line in join.lines:
        beside.setdefault(join.values(line, x), set()).add(join.values(line, y))
    return {value: len(others) for value, others in beside.items()}


def linkability(join: PlainJoin, x: Sequence[str], y: Sequence[str]) -> dict[tuple[Values, Values], Fraction]:
    """Of the lines with a value on X, compute the share that has a value on Y: for each pair that occurs.

    >>> rows = [{"job": "cook", "test": test} for test in ("HIV", "HIV", "flu")]
    >>> linkability(PlainJoin([PlainRelease("", rows)]), ["job"], ["test"])[("cook",), ("HIV",)]
    Fraction(2, 3)
    """
    pairs = Counter((join.values(line, x), join.values(line, y)) for line in join.lines)
    on_x = Counter(join.values(line, x) for line in join.lines)
    return {(value, other): Fraction(lines, on_x[value]) for (value, other), lines in pairs.items()}


def holds(rule: Mapping[str, Any], join: PlainJoin) -> bool:
    """Tell whether a [[privacy]] table about X and Y is kept by the join.

    >>> rows = [{"job": "cook", "test": test} for test in ("HIV", "HIV", "flu")]
    >>> join = PlainJoin([PlainRelease("", rows)])
    >>> rule = {"model": "xy-linkability", "x": ["job"], "y": ["test"], "k": 0.6}
    >>> holds(rule, join), holds(rule | {"values": ["flu"]}, join)
    (False, True)
    """
    join = join_of_rule(rule, join)
    if rule["model"] == "xy-anonymity":
        return all(number >= rule["k"] for number in anonymity(join, rule["x"], rule["y"]).values())
    shares = linkability(join, rule["x"], rule["y"])
    bounds = {y: largest_share(rule, y) for _, y in shares}
    return all(share <= bound for (_, y), share in shares.items() if (bound := bounds[y]) is not None)


def achieved(rule: Mapping[str, Any], join: PlainJoin) -> int | Fraction:
    """Find the smallest number, or the largest share of a protected value, in the join; 0 where there is none.

    >>> rows = [{"job": "cook", "test": test} for test in ("HIV", "HIV", "flu")]
    >>> join = PlainJoin([PlainRelease("", rows)])
    >>> rule = {"model": "xy-linkability", "x": ["job"], "y": ["test"], "values": {"flu": 0.5}}
    >>> achieved(rule, join), achieved(rule | {"k": 1}, join)
    (Fraction(1, 3), Fraction(2, 3))
    """
    join = join_of_rule(rule, join)
    if rule["model"] == "xy-anonymity":
        return min(anonymity(join, rule["x"], rule["y"]).values(), default=0)
    shares = linkability(join, rule["x"], rule["y"])
    return max((share for (_, y), share in shares.items() if largest_share(rule, y) is not None), default=Fraction(0))


def largest_share(rule: Mapping[str, Any], y: Values) -> Fraction | None:
    """Return the largest share that a value on Y may have, as its digits say; none where it is not protected.

    >>> largest_share({"k": 0.1}, ("flu",)), largest_share({"k": 0.1, "values": ["HIV"]}, ("flu",))
    (Fraction(1, 10), None)
    """
    values = rule.get("values")
    if isinstance(values, Mapping):
        bound = values.get(y[0], rule.get("k"))
    else:
        protected = values is None or list(y) in [
            [value] if isinstance(value, str) else list(value) for value in values
        ]
        bound = rule["k"] if protected else None
    return None if bound is None else Fraction(str(bound))


def population_related(join: PlainJoin) -> bool:
    """Tell whether every row of every table is in some line of the join (section 4): none is left dangling.

    >>> new, old = PlainRelease("", [{"job": "cook"}]), PlainRelease("old", [{"job": "cook"}, {"job": "spy"}])
    >>> population_related(PlainJoin([new, old]))
    False
    """
    every = {(i, row) for i, table in enumerate(join.tables) for row in range(len(table.rows))}
    return {(i, row) for line in join.lines for i, row in enumerate(line)} == every
