"""Small random tables with one or two earlier releases about the same people, and a policy, to try algorithms on."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sfumato.checks.joined import Joined, Label, Plain, Row, holds
from sfumato.checks.joined_rules import Cells, Tables, random_exclusion, random_requirement
from sfumato.checks.joined_trees import Tree, random_tree
from sfumato.policy import Policy

_ILLNESSES = Tree(
    {"flu": ("flu", "mild", "*"), "cold": ("cold", "mild", "*"), "HIV": ("HIV", "grave", "*"), None: (None, "*")},
    "illness.csv",
)
XY = ("xy-anonymity", "xy-linkability")


@dataclass(frozen=True)
class JoinedCase:
    """A table and earlier ones as lists of texts, the columns' taxonomies, and a policy as a document."""

    columns: Cells
    previous: Mapping[str, Cells]
    trees: Mapping[str, Tree]
    document: dict[str, Any]

    @cached_property
    def rows(self) -> list[Row]:
        """The current table as rows."""
        return _rows(self.columns)

    @cached_property
    def quasi(self) -> list[str]:
        """Names of the quasi-identifiers."""
        return [name for name, said in self.document["columns"].items() if said["role"] == "quasi"]

    @property
    def requirements(self) -> list[dict[str, Any]]:
        """Those about X and Y."""
        return [rule for rule in self.document["privacy"] if rule["model"] in XY]

    def joined(self, published: Sequence[Row]) -> Joined:
        """The join with rows that are, or might be, published."""
        open_ended = frozenset(name for name, tree in self.trees.items() if not tree.levelled)
        earlier = [Plain(name, _rows(cells), open_ended) for name, cells in self.previous.items()]
        rules = [rule for said in self.document.get("previous", []) for rule in said.get("inconsistent", [])]
        paths = {name: tree.paths for name, tree in self.trees.items() if tree.levelled}
        return Joined([Plain("", published, open_ended | {"person"}), *earlier], paths, rules)

    def passes(self, published: Sequence[Row]) -> bool:
        """Whether published rows keep all that is asked about X and Y."""
        joined = self.joined(published)
        return all(holds(rule, joined) for rule in self.requirements)

    def arrow(self) -> Any:
        """The current table as Arrow."""
        return _arrow(self.columns)

    def policy(self, folder: Path) -> Policy:
        """The policy, with its hierarchies and the earlier releases written into a folder first."""
        for name, tree in self.trees.items():
            if tree.hierarchy == f"{name}.csv":
                _write(folder / f"{name}.csv", tree.leaves.values())
        for said in self.document.get("previous", []):
            cells, path = self.previous[said["name"]], folder / said["table"]
            if path.suffix == ".parquet":
                parquet.write_table(_arrow(cells), path)
            else:
                _write(path, [tuple(cells), *zip(*cells.values(), strict=True)])
        return Policy.read(self.document, folder=folder)


def random_joined_case(seed: int) -> JoinedCase:
    """A table of 4 to 14 rows, none to two earlier releases of the same people, and one or two requirements.

    Earlier releases are generalized at random; some lack people, and some have others.

    >>> case = random_joined_case(5)
    >>> list(case.previous), [rule["model"] for rule in case.requirements]
    (['old'], ['xy-anonymity', 'xy-linkability'])
    """
    random = Random(seed)  # noqa: S311 - protects nobody, and a failure must come again
    trees = {name: random_tree(random, name) for name in random.choice([["q0", "q1"], ["q0", "q1", "q2"], ["q0"]])}
    if random.random() < 0.5:
        trees["illness"] = _ILLNESSES
    people = _people(random, trees)
    previous = {
        name: _earlier(random, people, trees) for name in random.choice([["old"], ["old"], ["old", "older"], []])
    }
    current = {name: cells for name, cells in people.items() if name not in {"race", "test"}}
    current["visits"] = [f"v{row}" for row in range(len(people["race"]))]  # tells rows apart once they are published
    return JoinedCase(current, previous, trees, _document(random, current, previous, trees))


def _people(random: Random, trees: Mapping[str, Tree]) -> dict[str, list[Label]]:
    """What there is to know of each person."""
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


def _earlier(random: Random, people: Cells, trees: Mapping[str, Tree]) -> dict[str, list[Label]]:
    """A projection of the people, each column generalized in its own way, without some of them and with others."""
    likely = {"race": 1.0, "test": 0.5, "illness": 0.3, "income": 0.2, "person": 0.1}
    names = [name for name in people if random.random() < likely.get(name, 0.65)]
    names += [name for name in ("test",) if len(names) < 2]  # a line of a file with one cell may be an empty line
    rows = list(range(len(people["race"])))
    random.shuffle(rows)
    kept = rows[: max(1, len(rows) - random.choice([0, 0, 0, 1, 3]))]
    cells = {name: _generalized(random, [people[name][row] for row in kept], trees.get(name)) for name in names}
    for _ in range(random.choice([0, 0, 0, 1, 2])):
        for name in names:
            cells[name].append(random.choice([*_known(trees.get(name), people[name])]))
    return cells


def _known(tree: Tree | None, cells: Sequence[Label]) -> Sequence[Label]:
    if tree is None:
        return cells
    return list(tree.paths if tree.levelled else tree.leaves)


def _generalized(random: Random, cells: Sequence[Label], tree: Tree | None) -> list[Label]:
    """As it is, all cells at one level, or each at its own."""
    if tree is not None and not tree.levelled:
        return list(cells)
    paths = [tree.leaves[cell] if tree else (cell, "*") for cell in cells]
    how, level = random.choice(["as it is", "as it is", "level", "each"]), random.randint(0, 2)
    if how == "each":
        return [random.choice(path) for path in paths]
    return [path[min(level, len(path) - 1)] if how == "level" else path[0] for path in paths]


def _document(
    random: Random, current: Cells, previous: Mapping[str, Cells], trees: Mapping[str, Tree]
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
    tables = Tables(
        current,
        previous,
        quasi=[name for name in trees if name != "illness"],
        unmatched=[name for name, tree in trees.items() if not tree.levelled],
        labels={name: list(tree.paths) for name, tree in trees.items() if tree.levelled},
    )
    rules = [random_requirement(random, tables) for _ in range(random.choice([1, 1, 2]))]
    if random.random() < 0.2:
        rules.append({"model": "k-anonymity", "k": 2})
    said = {"previous": [_previous(random, tables, name) for name in previous]} if previous else {}
    return {"columns": columns, **said, "privacy": rules, "algorithm": {"name": "tds", "seed": 1, **_score(random)}}


def _previous(random: Random, tables: Tables, name: str) -> dict[str, Any]:
    said = {"name": name, "table": f"{name}.{random.choice(['csv', 'csv', 'parquet'])}"}
    found = [random_exclusion(random, tables, name) for _ in range(random.choice([0, 0, 1, 2]))]
    rules = [rule for rule in found if rule]
    return said | ({"inconsistent": rules} if rules else {})


def _score(random: Random) -> dict[str, str]:
    score = random.choice(["distortion", "distortion", "discernibility", "classification"])
    return {"score": score} | ({"class": "income"} if score == "classification" else {})


def _rows(cells: Cells) -> list[Row]:
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _arrow(cells: Cells) -> Any:
    return pa.table({name: pa.array(values, pa.string()) for name, values in cells.items()})


def _write(path: Path, lines: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["" if cell is None else cell for cell in line] for line in lines])
