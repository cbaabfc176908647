"""Random requirements about X and Y, and rules of what cannot match, for a table and its earlier releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sfumato.checks.joined import ROW, Label

Cells = Mapping[str, Sequence[Label]]


@dataclass(frozen=True)
class Tables:
    """The current table and the earlier ones as columns; which of its columns are generalized, and which not matched.

    `labels` are the labels of the columns that have a taxonomy.
    """

    current: Cells
    previous: Mapping[str, Cells]
    quasi: Sequence[str]
    unmatched: Sequence[str]
    labels: Mapping[str, Sequence[Label]]

    def sides(self, column: str) -> list[str]:
        """A column as it is written for every table that has it.

        >>> tables = Tables({"sex": []}, {"old": {"sex": [], "race": []}}, ["sex"], [], {})
        >>> tables.sides("sex"), tables.sides("race")
        (['sex', 'old.sex'], ['old.race'])
        """
        own = [column] if column in self.current else []
        return own + [f"{name}.{column}" for name, cells in self.previous.items() if column in cells]

    @property
    def names(self) -> list[str]:
        """Every column of any table once; neither persons nor the cell that tells rows apart."""
        names = dict.fromkeys(name for cells in (self.current, *self.previous.values()) for name in cells)
        return [name for name in names if name not in {"person", "visits"}]

    def cells(self, written: str) -> list[str]:
        """The different values of a column as it is written in a rule, without NULL."""
        table, _, name = written.rpartition(".")
        cells = self.previous[table][name] if table else self.current[name]
        return sorted({cell for cell in cells if cell is not None})


def random_requirement(random: Random, tables: Tables) -> dict[str, Any]:
    """A [[privacy]] table of one of the two models.

    >>> tables = Tables({"sex": ["m", "f"], "illness": ["flu", "HIV"]}, {}, ["sex"], [], {})
    >>> rule = random_requirement(Random(1), tables)
    >>> rule["x"], rule["y"]
    (['sex'], ['illness'])
    """
    if len(tables.previous) > 1 and random.random() < 0.3:  # on the join with one of the releases
        name = random.choice(list(tables.previous))
        alone = replace(tables, previous={name: tables.previous[name]})
        return random_requirement(random, alone) | {"releases": [name]}
    every = _x(random, tables)
    moved = [random.choice(every)] if random.random() < 0.1 else []  # one side of a column in X, another in Y
    moved = [name for name in moved if name not in tables.quasi]
    x = [name for name in every if name not in moved]
    keys, values = _fixed(tables, x)
    if random.random() < 0.5 or not values:
        y = _some(random, [*keys, *values], moved)
        return {"model": "xy-anonymity", "x": x, "y": y, "k": random.choice([1, 2, 2, 2, 3, 5])}
    persons = [key for key in keys if not key.endswith(ROW)]  # the share of a row is nothing to bound
    y = _some(random, [*values, *persons], moved)
    return {"model": "xy-linkability", "x": x, "y": y} | _bounds(random, tables, y)


def _some(random: Random, names: Sequence[str], some: Sequence[str]) -> list[str]:
    """One or two of them, or those that are given."""
    return list(some) or random.sample(names, min(random.choice([1, 1, 2]), len(names)))


def _x(random: Random, tables: Tables) -> list[str]:
    """At least one column that is generalized; of half of them all that tables are matched by."""
    first = random.choice(tables.quasi)
    all_shared = random.random() < 0.5
    names = [name for name in tables.names if name == first or _in_x(random, tables, name, all_shared)]
    return [written for name in names for written in tables.sides(name)]


def _in_x(random: Random, tables: Tables, name: str, all_shared: bool) -> bool:
    shared = len(tables.sides(name)) > 1
    return (shared and all_shared) or random.random() < (0.6 if name in tables.quasi else 0.12)


def _fixed(tables: Tables, x: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns that may stand in Y, since they are not generalized: keys of rows and persons, and others."""
    keys = [ROW, *(f"{name}.{ROW}" for name in tables.previous), *(["person"] if "person" in tables.current else [])]
    written = [side for name in tables.names for side in tables.sides(name)]
    return keys, [name for name in written if name not in x and name not in tables.quasi]


def _bounds(random: Random, tables: Tables, y: Sequence[str]) -> dict[str, Any]:
    """One bound for all values, or for some, or one for each of some."""
    k = {"k": random.choice([0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9])}
    found = [[] if name.endswith(ROW) or name == "person" else tables.cells(name) for name in y]
    if random.random() < 0.5 or not all(found):
        return k
    if len(y) > 1:
        return k | {"values": [[random.choice(cells) for cells in found]]}
    some = random.sample(found[0], random.randint(1, len(found[0])))
    if random.random() < 0.5:
        return k | {"values": some}
    bounds = {value: random.choice([0.4, 0.6, 0.8]) for value in some}
    return {"values": bounds} | random.choice([{}, k])


def random_exclusion(random: Random, tables: Tables, name: str) -> list[str] | None:
    """A pair of values that cannot match, one of them of the earlier release of this name; none where none is at hand.

    >>> tables = Tables({"sex": ["m"]}, {"old": {"test": ["birth"]}}, ["sex"], [], {})
    >>> random_exclusion(Random(1), tables, "old")
    ['sex=m', 'old.test=birth']
    """
    written = [side for column in tables.names if column not in tables.unmatched for side in tables.sides(column)]
    here = [side for side in written if side.startswith(f"{name}.")]
    there = [side for side in written if side not in here]
    if not here or not there:
        return None
    pair = [_label(random, tables, side) for side in (random.choice(there), random.choice(here))]
    return [side for side in pair if side] if all(pair) else None


def _label(random: Random, tables: Tables, written: str) -> str | None:
    """A label below the root that the column may have."""
    known = tables.labels.get(written.rpartition(".")[2]) or tables.cells(written)
    labels = [label for label in known if label not in {None, "*"}]
    return f"{written}={random.choice(labels)}" if labels else None
