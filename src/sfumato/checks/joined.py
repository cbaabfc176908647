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


@dataclass(frozen=True)
class Plain:
    """A release as rows of texts; the current one has no name. Columns `apart` take no part in matching."""

    name: str
    rows: Sequence[Row]
    apart: frozenset[str] = frozenset()

    @property
    def columns(self) -> list[str]:
        """Its columns, those of the first row."""
        return list(self.rows[0]) if self.rows else []


@dataclass(frozen=True)
class Joined:
    """Releases, the current one first, with what an adversary knows of their columns.

    `taxonomies` has the path from each label of a column to the root; a label that is not there stands under ``*``.
    `inconsistent` has pairs of texts ``column=value``, as a policy does.

    >>> old = Plain("old", [{"sex": "Male", "test": "HIV"}, {"sex": "Female", "test": "HIV"}])
    >>> Joined([Plain("", [{"sex": "*"}, {"sex": "Male"}]), old]).lines
    [(0, 0), (0, 1), (1, 0)]
    >>> Joined([Plain("", [{"sex": "*"}, {"sex": "Male"}]), old], inconsistent=[("sex=Male", "old.test=HIV")]).lines
    [(0, 0), (0, 1)]
    """

    tables: Sequence[Plain]
    taxonomies: Taxonomies = field(default_factory=dict)
    inconsistent: Sequence[Sequence[str]] = ()

    @cached_property
    def lines(self) -> list[tuple[int, ...]]:
        """The join: the rows of each match, one of every table, by their numbers."""
        found: list[tuple[int, ...]] = [()]
        for table in self.tables:
            longer = [(*line, row) for line in found for row in range(len(table.rows))]
            found = [line for line in longer if all(self._match(line, i, len(line) - 1) for i in range(len(line) - 1))]
        return found

    def value(self, line: Sequence[int], column: str) -> Hashable:
        """What a line of the join has in a column: a text, NULL, or the number of a row where the column is a key."""
        table, name = self.place(column)
        return line[table] if name == ROW else self.tables[table].rows[line[table]][name]

    def values(self, line: Sequence[int], columns: Sequence[str]) -> Values:
        """What a line of the join has in several columns."""
        return tuple(self.value(line, column) for column in columns)

    def place(self, column: str) -> tuple[int, str]:
        """The table that a column is of, and its name there."""
        for i, table in enumerate(self.tables):
            if i and column.startswith(f"{table.name}."):
                return i, column.removeprefix(f"{table.name}.")
        return 0, column

    def path(self, column: str, label: Label) -> Path:
        """A label and its ancestors."""
        return self.taxonomies.get(column, {}).get(label, (label, "*"))

    def shared(self, one: int, other: int) -> list[str]:
        """The columns that two tables are matched by."""
        apart = self.tables[one].apart | self.tables[other].apart
        return [name for name in self.tables[one].columns if name in self.tables[other].columns and name not in apart]

    def _match(self, line: Sequence[int], one: int, other: int) -> bool:
        """Whether the rows of two tables may be one person's: by both predicates."""
        first, second = (self.tables[i].rows[line[i]] for i in (one, other))
        if not all(self._consistent(name, first[name], second[name]) for name in self.shared(one, other)):
            return False
        return not any(self._excluded(rule, {one: first, other: second}) for rule in self.inconsistent)

    def _consistent(self, column: str, one: Label, other: Label) -> bool:
        """Whether two labels stand on one path to the root."""
        return one in self.path(column, other) or other in self.path(column, one)

    def _excluded(self, rule: Sequence[str], rows: Mapping[int, Row]) -> bool:
        """Whether both sides of a rule are about these two rows, and each row is at or below what its side says."""
        sides = [(*self.place(text.split("=", 1)[0]), text.split("=", 1)[1]) for text in rule]
        if {table for table, _, _ in sides} != set(rows):
            return False
        return all(value in self.path(name, rows[table][name]) for table, name, value in sides)


def over(rule: Mapping[str, Any], joined: Joined) -> Joined:
    """The join that a rule is about: with the releases that it names, or with all."""
    if rule.get("releases") is None:
        return joined
    current, *earlier = joined.tables
    left = {table.name for table in earlier if table.name not in rule["releases"]}
    rules = [pair for pair in joined.inconsistent if not any(side.partition(".")[0] in left for side in pair)]
    return Joined([current, *(table for table in earlier if table.name not in left)], joined.taxonomies, rules)


def anonymity(joined: Joined, x: Sequence[str], y: Sequence[str]) -> dict[Values, int]:
    """The number of different values on Y that stand beside each value on X.

    >>> table = Plain("", [{"job": "cook", "test": "HIV"}, {"job": "cook", "test": "HIV"}])
    >>> anonymity(Joined([table]), ["job"], ["test"]), anonymity(Joined([table]), ["job"], ["$row"])
    ({('cook',): 1}, {('cook',): 2})
    """
    beside: dict[Values, set[Values]] = {}
    for line in joined.lines:
        beside.setdefault(joined.values(line, x), set()).add(joined.values(line, y))
    return {value: len(others) for value, others in beside.items()}


def linkability(joined: Joined, x: Sequence[str], y: Sequence[str]) -> dict[tuple[Values, Values], Fraction]:
    """Of the lines with a value on X, the share that has a value on Y: for each pair that occurs.

    >>> rows = [{"job": "cook", "test": test} for test in ("HIV", "HIV", "flu")]
    >>> linkability(Joined([Plain("", rows)]), ["job"], ["test"])[("cook",), ("HIV",)]
    Fraction(2, 3)
    """
    pairs = Counter((joined.values(line, x), joined.values(line, y)) for line in joined.lines)
    found = Counter(joined.values(line, x) for line in joined.lines)
    return {(one, other): Fraction(lines, found[one]) for (one, other), lines in pairs.items()}


def holds(rule: Mapping[str, Any], joined: Joined) -> bool:
    """Whether a [[privacy]] table about X and Y is kept by the join.

    >>> rows = [{"job": "cook", "test": test} for test in ("HIV", "HIV", "flu")]
    >>> rule = {"model": "xy-linkability", "x": ["job"], "y": ["test"], "k": 0.6}
    >>> holds(rule, Joined([Plain("", rows)])), holds(rule | {"values": ["flu"]}, Joined([Plain("", rows)]))
    (False, True)
    """
    joined = over(rule, joined)
    if rule["model"] == "xy-anonymity":
        return all(number >= rule["k"] for number in anonymity(joined, rule["x"], rule["y"]).values())
    shares = linkability(joined, rule["x"], rule["y"])
    bounds = {y: bound_of(rule, y) for _, y in shares}
    return all(share <= bound for (_, y), share in shares.items() if (bound := bounds[y]) is not None)


def achieved(rule: Mapping[str, Any], joined: Joined) -> int | Fraction:
    """The smallest number, or the largest share of a protected value, in the join; 0 where there is none.

    >>> rows = [{"job": "cook", "test": test} for test in ("HIV", "HIV", "flu")]
    >>> rule = {"model": "xy-linkability", "x": ["job"], "y": ["test"], "values": {"flu": 0.5}}
    >>> achieved(rule, Joined([Plain("", rows)])), achieved(rule | {"k": 1}, Joined([Plain("", rows)]))
    (Fraction(1, 3), Fraction(2, 3))
    """
    joined = over(rule, joined)
    if rule["model"] == "xy-anonymity":
        return min(anonymity(joined, rule["x"], rule["y"]).values(), default=0)
    shares = linkability(joined, rule["x"], rule["y"])
    return max((share for (_, y), share in shares.items() if bound_of(rule, y) is not None), default=Fraction(0))


def bound_of(rule: Mapping[str, Any], y: Values) -> Fraction | None:
    """The largest share that a value on Y may have, as its digits say; none where the value is not protected.

    >>> bound_of({"k": 0.1}, ("flu",)), bound_of({"k": 0.1, "values": ["HIV"]}, ("flu",))
    (Fraction(1, 10), None)
    """
    values = rule.get("values")
    if isinstance(values, Mapping):
        bound = values.get(y[0], rule.get("k"))
    else:
        protected = values is None or list(y) in [[one] if isinstance(one, str) else list(one) for one in values]
        bound = rule["k"] if protected else None
    return None if bound is None else Fraction(str(bound))


def population_related(joined: Joined) -> bool:
    """Whether every row of every table stands in some line of the join (section 4): none is left dangling.

    >>> population_related(Joined([Plain("", [{"job": "cook"}]), Plain("old", [{"job": "cook"}, {"job": "spy"}])]))
    False
    """
    every = {(i, row) for i, table in enumerate(joined.tables) for row in range(len(table.rows))}
    return {(i, row) for line in joined.lines for i, row in enumerate(line)} == every
