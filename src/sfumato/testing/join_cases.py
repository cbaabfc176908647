"""Small random tables with one or two earlier releases about the same people, and a policy, to try algorithms on.

Every draw and its order is part of a case: the same seed gives the same case. Taxonomies are written out as paths by
hand, of every kind of hierarchy that has levels.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sfumato.policy import Policy
from sfumato.testing.join_definition import ROW, Label, PlainJoin, PlainRelease, Row, holds
from sfumato.testing.join_definition import Path as LabelPath

Cells = Mapping[str, Sequence[Label]]

XY = ("xy-anonymity", "xy-linkability")


@dataclass(frozen=True)
class PlainTaxonomy:
    """The leaves of a column with their paths, NULL last where it is one, and the hierarchy as a policy names it.

    A hierarchy without levels has leaves alone.
    """

    leaves: dict[Label, LabelPath]
    hierarchy: Any
    levelled: bool = True

    @property
    def paths(self) -> dict[Label, LabelPath]:
        """The path of every label, leaf or not.

        >>> PlainTaxonomy({"a": ("a", "ab", "*")}, "q.csv").paths["ab"]
        ('ab', '*')
        """
        return {path[i]: path[i:] for path in self.leaves.values() for i in reversed(range(len(path)))}


_ILLNESSES = PlainTaxonomy(
    {"flu": ("flu", "mild", "*"), "cold": ("cold", "mild", "*"), "HIV": ("HIV", "grave", "*"), None: (None, "*")},
    "illness.csv",
)


@dataclass(frozen=True)
class JoinCase:
    """A table and earlier ones as lists of texts, the columns' taxonomies, and a policy as a document."""

    columns: Cells
    previous: Mapping[str, Cells]
    trees: Mapping[str, PlainTaxonomy]
    document: dict[str, Any]

    @cached_property
    def rows(self) -> list[Row]:
        """The current table as rows."""
        return _rows(self.columns)

    @cached_property
    def quasi(self) -> list[str]:
        """Names of the quasi-identifiers."""
        return [name for name, column in self.document["columns"].items() if column["role"] == "quasi"]

    @property
    def requirements(self) -> list[dict[str, Any]]:
        """Those about X and Y."""
        return [rule for rule in self.document["privacy"] if rule["model"] in XY]

    def join(self, published: Sequence[Row]) -> PlainJoin:
        """Join rows that are, or might be, published with the earlier releases."""
        open_ended = frozenset(name for name, tree in self.trees.items() if not tree.levelled)
        earlier = [PlainRelease(name, _rows(cells), open_ended) for name, cells in self.previous.items()]
        previous = self.document.get("previous", [])
        rules = [rule for release in previous for rule in release.get("inconsistent", [])]
        paths = {name: tree.paths for name, tree in self.trees.items() if tree.levelled}
        return PlainJoin([PlainRelease("", published, open_ended | {"person"}), *earlier], paths, rules)

    def passes(self, published: Sequence[Row]) -> bool:
        """Tell whether published rows keep all requirements about X and Y."""
        join = self.join(published)
        return all(holds(rule, join) for rule in self.requirements)

    def arrow(self) -> Any:
        """Return the current table as Arrow."""
        return _arrow(self.columns)

    def policy(self, folder: Path) -> Policy:
        """Read the policy, after writing its hierarchies and the earlier releases into a folder."""
        for name, tree in self.trees.items():
            if tree.hierarchy == f"{name}.csv":
                _write(folder / f"{name}.csv", tree.leaves.values())
        for release in self.document.get("previous", []):
            cells, path = self.previous[release["name"]], folder / release["table"]
            if path.suffix == ".parquet":
                parquet.write_table(_arrow(cells), path)
            else:
                _write(path, [tuple(cells), *zip(*cells.values(), strict=True)])
        return Policy.read(self.document, folder=folder)


def _rows(cells: Cells) -> list[Row]:
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _arrow(cells: Cells) -> Any:
    return pa.table({name: pa.array(values, pa.string()) for name, values in cells.items()})


def _write(path: Path, lines: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["" if cell is None else cell for cell in line] for line in lines])


def random_join_case(seed: int) -> JoinCase:
    """Draw a table of 4 to 14 rows, none to two earlier releases of the same people, and one or two requirements.

    Earlier releases are generalized at random; some lack people, and some have others.

    >>> case = random_join_case(5)
    >>> list(case.previous), [rule["model"] for rule in case.requirements]
    (['old'], ['xy-anonymity', 'xy-linkability'])
    """
    random = Random(seed)  # noqa: S311 - protects nobody, and a failure must come again
    trees = {name: random_taxonomy(random, name) for name in random.choice([["q0", "q1"], ["q0", "q1", "q2"], ["q0"]])}
    if random.random() < 0.5:
        trees["illness"] = _ILLNESSES
    people = _random_people(random, trees)
    previous = {
        name: _random_release(random, people, trees) for name in random.choice([["old"], ["old"], ["old", "older"], []])
    }
    current = {name: cells for name, cells in people.items() if name not in {"race", "test"}}
    current["visits"] = [f"v{row}" for row in range(len(people["race"]))]  # tells rows apart once they are published
    return JoinCase(current, previous, trees, _random_document(random, current, previous, trees))


def _random_people(random: Random, trees: Mapping[str, PlainTaxonomy]) -> dict[str, list[Label]]:
    """Draw what there is to know of each person."""
    number = random.randint(4, 14)
    domains: dict[str, list[Label]] = {
        **{name: list(tree.leaves) for name, tree in trees.items()},
        "illness": list(_ILLNESSES.leaves)[: random.randint(2, 4)],
        "income": ["low", "high"],
        "race": ["r1", "r2", None][: random.choice([2, 2, 3])],
        "test": ["t1", "t2"],
    }
    if random.random() < 0.25:
        domains["person"] = [f"p{i}" for i in range(number * 2 // 3 + 1)]
    return {
        name: random.choices(values, [random.choice([1, 1, 4]) for _ in values], k=number)
        for name, values in domains.items()
    }


def _random_release(random: Random, people: Cells, trees: Mapping[str, PlainTaxonomy]) -> dict[str, list[Label]]:
    """Draw a projection of the people, each column generalized in its own way, without some of them and with others."""
    likely = {"race": 1.0, "test": 0.5, "illness": 0.3, "income": 0.2, "person": 0.1}
    names = [name for name in people if random.random() < likely.get(name, 0.65)]
    names += [name for name in ("test",) if len(names) < 2]  # a line of a file with one cell may be an empty line
    rows = list(range(len(people["race"])))
    random.shuffle(rows)
    kept = rows[: max(1, len(rows) - random.choice([0, 0, 0, 1, 3]))]
    cells = {name: _generalize(random, [people[name][row] for row in kept], trees.get(name)) for name in names}
    for _ in range(random.choice([0, 0, 0, 1, 2])):
        for name in names:
            tree = trees.get(name)
            labels = people[name] if tree is None else tree.paths if tree.levelled else tree.leaves
            cells[name].append(random.choice(list(labels)))
    return cells


def _generalize(random: Random, cells: Sequence[Label], tree: PlainTaxonomy | None) -> list[Label]:
    """Leave a column as it is, or generalize all cells to one level or each to its own."""
    if tree is not None and not tree.levelled:
        return list(cells)
    paths = [tree.leaves[cell] if tree else (cell, "*") for cell in cells]
    how, level = random.choice(["as it is", "as it is", "level", "each"]), random.randint(0, 2)
    if how == "each":
        return [random.choice(path) for path in paths]
    return [path[min(level, len(path) - 1)] if how == "level" else path[0] for path in paths]


def _random_document(
    random: Random, current: Cells, previous: Mapping[str, Cells], trees: Mapping[str, PlainTaxonomy]
) -> dict[str, Any]:
    roles: dict[str, dict[str, Any]] = {
        "illness": {"role": "sensitive"},
        "income": {"role": random.choice(["plain", "sensitive"])},
        "visits": {"role": "plain"},
        "person": {"role": "individual"},
    }
    columns = {name: roles.get(name, {"role": "quasi"}) for name in current}
    for name, tree in trees.items():
        columns[name] = columns[name] | {"hierarchy": tree.hierarchy}
    tables = JoinTables(
        current,
        previous,
        quasi=[name for name in trees if name != "illness"],
        unmatched=[name for name, tree in trees.items() if not tree.levelled],
        labels={name: list(tree.paths) for name, tree in trees.items() if tree.levelled},
    )
    rules = [random_requirement(random, tables) for _ in range(random.choice([1, 1, 2]))]
    if random.random() < 0.2:
        rules.append({"model": "k-anonymity", "k": 2})
    entries = [_random_previous(random, tables, name) for name in previous]
    score = random.choice(["distortion", "distortion", "discernibility", "classification"])
    algorithm = {"name": "tds", "seed": 1, "score": score} | ({"class": "income"} if score == "classification" else {})
    earlier = {"previous": entries} if entries else {}
    return {"columns": columns, **earlier, "privacy": rules, "algorithm": algorithm}


# Requirements about X and Y, and rules of what cannot match


@dataclass(frozen=True)
class JoinTables:
    """The current table and the earlier ones as columns; which of its columns are generalized, and which not matched.

    `labels` are the labels of the columns that have a taxonomy.
    """

    current: Cells
    previous: Mapping[str, Cells]
    quasi: Sequence[str]
    unmatched: Sequence[str]
    labels: Mapping[str, Sequence[Label]]

    def sides(self, column: str) -> list[str]:
        """List a column as it is written for every table that has it.

        >>> tables = JoinTables({"sex": []}, {"old": {"sex": [], "race": []}}, ["sex"], [], {})
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
        """List the different values of a column as it is written in a rule, without NULL."""
        table, _, name = written.rpartition(".")
        cells = self.previous[table][name] if table else self.current[name]
        return sorted({cell for cell in cells if cell is not None})


def random_requirement(random: Random, tables: JoinTables) -> dict[str, Any]:
    """Draw a [[privacy]] table of one of the two models.

    >>> tables = JoinTables({"sex": ["m", "f"], "illness": ["flu", "HIV"]}, {}, ["sex"], [], {})
    >>> rule = random_requirement(Random(1), tables)
    >>> rule["x"], rule["y"]
    (['sex'], ['illness'])
    """
    if len(tables.previous) > 1 and random.random() < 0.3:  # on the join with one of the releases
        name = random.choice(list(tables.previous))
        alone = replace(tables, previous={name: tables.previous[name]})
        return random_requirement(random, alone) | {"releases": [name]}
    every = _random_x(random, tables)
    moved = [random.choice(every)] if random.random() < 0.1 else []  # one side of a column in X, another in Y
    moved = [name for name in moved if name not in tables.quasi]
    x = [name for name in every if name not in moved]
    # Y may have columns that are not generalized: keys of rows and persons, and others.
    persons = ["person"] if "person" in tables.current else []
    keys = [ROW, *(f"{name}.{ROW}" for name in tables.previous), *persons]
    written = [side for name in tables.names for side in tables.sides(name)]
    values = [name for name in written if name not in x and name not in tables.quasi]
    if random.random() < 0.5 or not values:
        y = moved or _one_or_two(random, [*keys, *values])
        return {"model": "xy-anonymity", "x": x, "y": y, "k": random.choice([1, 2, 2, 2, 3, 5])}
    y = moved or _one_or_two(random, [*values, *persons])  # the share of a row is nothing to bound
    return {"model": "xy-linkability", "x": x, "y": y} | _random_bounds(random, tables, y)


def _one_or_two(random: Random, names: Sequence[str]) -> list[str]:
    return random.sample(names, min(random.choice([1, 1, 2]), len(names)))


def _random_x(random: Random, tables: JoinTables) -> list[str]:
    """Draw X: at least one column that is generalized; of half of them all that tables are matched by."""
    first = random.choice(tables.quasi)
    all_shared = random.random() < 0.5

    def is_in_x(name: str) -> bool:
        shared = len(tables.sides(name)) > 1
        return (shared and all_shared) or random.random() < (0.6 if name in tables.quasi else 0.12)

    names = [name for name in tables.names if name == first or is_in_x(name)]
    return [written for name in names for written in tables.sides(name)]


def _random_bounds(random: Random, tables: JoinTables, y: Sequence[str]) -> dict[str, Any]:
    """Draw one bound for all values, or for some, or one for each of some."""
    k = {"k": random.choice([0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9])}
    domains = [[] if name.endswith(ROW) or name == "person" else tables.cells(name) for name in y]
    if random.random() < 0.5 or not all(domains):
        return k
    if len(y) > 1:
        return k | {"values": [[random.choice(cells) for cells in domains]]}
    some = random.sample(domains[0], random.randint(1, len(domains[0])))
    if random.random() < 0.5:
        return k | {"values": some}
    bounds = {value: random.choice([0.4, 0.6, 0.8]) for value in some}
    return {"values": bounds} | random.choice([{}, k])


def _random_previous(random: Random, tables: JoinTables, name: str) -> dict[str, Any]:
    """Draw the entry of an earlier release in [[previous]]: its file, and sometimes rules of what cannot match."""
    entry = {"name": name, "table": f"{name}.{random.choice(['csv', 'csv', 'parquet'])}"}
    drawn = [random_exclusion(random, tables, name) for _ in range(random.choice([0, 0, 1, 2]))]
    rules = [rule for rule in drawn if rule]
    return entry | ({"inconsistent": rules} if rules else {})


def random_exclusion(random: Random, tables: JoinTables, name: str) -> list[str] | None:
    """Draw a pair of values that cannot match, one of them of the named earlier release; none if there is no such pair.

    >>> tables = JoinTables({"sex": ["m"]}, {"old": {"test": ["birth"]}}, ["sex"], [], {})
    >>> random_exclusion(Random(1), tables, "old")
    ['sex=m', 'old.test=birth']
    """
    written = [side for column in tables.names if column not in tables.unmatched for side in tables.sides(column)]
    here = [side for side in written if side.startswith(f"{name}.")]
    there = [side for side in written if side not in here]
    if not here or not there:
        return None
    pair = []
    for side in (random.choice(there), random.choice(here)):
        every = tables.labels.get(side.rpartition(".")[2]) or tables.cells(side)
        labels = [label for label in every if label not in {None, "*"}]  # those below the root
        pair += [f"{side}={random.choice(labels)}"] if labels else []
    return pair if len(pair) == 2 else None


# Taxonomies


def random_taxonomy(random: Random, column: str) -> PlainTaxonomy:
    """Draw a taxonomy with two to four leaves, sometimes with NULL as one more.

    >>> random_taxonomy(Random(1), "q0").leaves
    {'q00': ('q00', '*'), 'q01': ('q01', '*'), 'q02': ('q02', '*'), 'q03': ('q03', '*')}
    """
    kind = random.choice(["file", "file", "file", "suppress", "intervals", "mask", "masked", "ranges"])
    return _KINDS[kind](random, column)


def _file_taxonomy(random: Random, column: str) -> PlainTaxonomy:
    """Up to two levels between leaves and root; where NULL has a line, it may be under a group as others are."""
    leaves: list[Label] = [f"{column}{i}" for i in range(random.randint(2, 4))]
    leaves += [None] * (random.random() < 0.3)
    paths: dict[Label, LabelPath] = {leaf: (leaf,) for leaf in leaves}
    for level in range(1, random.randint(1, 3)):
        groups = {path[-1]: f"{column}-{level}-{random.randint(0, 1)}" for path in paths.values()}
        paths = {leaf: (*path, groups[path[-1]]) for leaf, path in paths.items()}
    return PlainTaxonomy({leaf: (*path, "*") for leaf, path in paths.items()}, f"{column}.csv")


def _suppress_taxonomy(random: Random, column: str) -> PlainTaxonomy:
    return _with_null(random, {f"{column}{i}": (f"{column}{i}", "*") for i in range(random.randint(2, 4))}, "suppress")


def _intervals_taxonomy(random: Random, _: str) -> PlainTaxonomy:
    widths = random.choice([[5], [5, 10], [2, 4, 12]])
    numbers = random.sample(range(24), random.randint(2, 4))

    def interval(number: int, width: int) -> str:
        first = number - number % width
        return f"{first}-{first + width - 1}"

    paths: dict[Label, LabelPath] = {str(n): (str(n), *(interval(n, width) for width in widths), "*") for n in numbers}
    return _with_null(random, paths, {"intervals": widths})


def _mask_taxonomy(random: Random, _: str) -> PlainTaxonomy:
    """Codes of one to three characters: the last one that is masked leaves nothing."""
    codes = random.sample(["431", "432", "45", "4", "51", "512"], random.randint(2, 4))
    paths: dict[Label, LabelPath] = {
        code: (code, *(code[:kept] + "*" * (len(code) - kept) for kept in range(len(code) - 1, 0, -1)), "*")
        for code in codes
    }
    return _with_null(random, paths, {"mask": "right"})


def _masked_taxonomy(random: Random, _: str) -> PlainTaxonomy:
    """Codes of one length or shorter, as long as the longest: the masked characters say how far they were masked."""
    codes = random.sample(["abc", "abd", "ab", "xbc", "x"], random.randint(2, 4))
    paths: dict[Label, LabelPath] = {
        code: (code, *(code[: 3 - stars] + "*" * stars for stars in (1, 2)), "*") for code in codes
    }
    return _with_null(random, paths, {"mask": "right", "length": 3})


def _ranges_taxonomy(random: Random, _: str) -> PlainTaxonomy:
    numbers = [str(n) for n in random.sample(range(20), random.randint(2, 4))]
    return PlainTaxonomy({n: (n, "*") for n in numbers}, {"ranges": True}, levelled=False)


def _with_null(random: Random, paths: dict[Label, LabelPath], hierarchy: Any) -> PlainTaxonomy:
    """Add NULL as a leaf under the root, sometimes."""
    return PlainTaxonomy(paths | ({None: (None, "*")} if random.random() < 0.2 else {}), hierarchy)


_KINDS: dict[str, Callable[[Random, str], PlainTaxonomy]] = {
    "file": _file_taxonomy,
    "suppress": _suppress_taxonomy,
    "intervals": _intervals_taxonomy,
    "mask": _mask_taxonomy,
    "masked": _masked_taxonomy,
    "ranges": _ranges_taxonomy,
}
