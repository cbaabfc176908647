"""Small random tables with random hierarchies and a policy for them, to try algorithms on.

The randomness comes from outside: a seeded one for checks that must fail twice, Hypothesis's for tests.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from sfumato.checks.naive import World
from sfumato.checks.rules import COSTS, ILLNESSES, random_rule
from sfumato.policy import Policy
from sfumato.policy.options import CUTS, RANGES, UNLEVELLED

Paths = dict[str | None, tuple[str | None, ...]]

ILLNESS_TREE: Paths = {
    "a": ("a", "ab", "*"),
    "b": ("b", "ab", "*"),
    "c": ("c", "cd", "*"),
    "d": ("d", "cd", "*"),
    None: (None, None, "*"),
}
METRICS = ("ncp", "distortion", "height", "precision", "discernibility", "average-class-size", "entropy")


_SCORES: list[dict[str, str]] = [
    {"score": "distortion"},
    {"score": "discernibility"},
    {"class": "income"},
    {"class": "income", "score": "conditional"},
]


@dataclass(frozen=True)
class Case:
    """A table as lists of texts, hierarchies as paths from leaf to root, and a policy as a document."""

    columns: dict[str, list[str | None]]
    trees: Mapping[str, Paths]
    document: dict[str, Any]

    @cached_property
    def rows(self) -> list[dict[str, str | None]]:
        """The table as rows."""
        return [dict(zip(self.columns, cells, strict=True)) for cells in zip(*self.columns.values(), strict=True)]

    @cached_property
    def quasi(self) -> list[str]:
        """Names of the quasi-identifiers, in the table's order."""
        return [name for name in self.columns if self.document["columns"][name]["role"] == "quasi"]

    @cached_property
    def world(self) -> World:
        """What a naive definition may look at."""
        person = "person" if "person" in self.columns else None
        known = _used(ILLNESS_TREE, self.columns["illness"])
        incomes = sorted({value for value in self.columns["income"] if value is not None}, key=int)
        orders: dict[str, Sequence[str | None]] = {"illness": list(known), "income": incomes}
        return World(self.rows, person, orders, {"illness": known}, COSTS)

    def but(self, **algorithm: Any) -> "Case":
        """The same with other keys of [algorithm]."""
        document = self.document | {"algorithm": self.document["algorithm"] | algorithm}
        return Case(self.columns, self.trees, document)

    def weight(self, name: str) -> float:
        """The weight of a quasi-identifier."""
        return float(self.document["columns"][name].get("weight", 1))

    def path(self, name: str, value: str | None) -> tuple[str | None, ...]:
        """A value of a quasi-identifier and its ancestors; without levels there is only the root."""
        return self.trees[name][value] if name in self.trees else (value, "*")

    def height(self, name: str) -> int:
        """Steps from leaf to root."""
        return len(next(iter(self.trees[name].values()))) - 1

    def arrow(self) -> Any:
        """The table as Arrow."""
        return pa.table({name: pa.array(values, pa.string()) for name, values in self.columns.items()})

    def policy(self, folder: Path) -> Policy:
        """The policy, its hierarchies and costs written into a folder first."""
        for name, paths in {**self.trees, "illness": ILLNESS_TREE}.items():
            lines = (",".join(str(label) for label in path) for leaf, path in paths.items() if leaf is not None)
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        costs = "".join(f"{one},{other},{cost}\n" for (one, other), cost in COSTS.items())
        (folder / "costs.csv").write_text(costs, encoding="utf-8")
        return Policy.read(self.document, folder=folder)


def random_case(random: Random, model: str | None = None, algorithm: str = "optimal") -> Case:
    """A table of 5 to 40 rows with 2 to 4 quasi-identifiers, and one to three requirements on it.

    >>> case = random_case(Random(1), "k-anonymity")
    >>> case.document["privacy"][0]["model"], 5 <= len(case.rows) <= 40
    ('k-anonymity', True)
    """
    rows = random.randint(5, 40)
    trees = {f"q{i}": _tree(random, f"q{i}") for i in range(random.choice([2, 2, 3, 3, 4]))}
    columns: dict[str, list[str | None]] = {name: _cells(random, list(tree), rows) for name, tree in trees.items()}
    columns["illness"] = _cells(random, random.choice([ILLNESSES, [*ILLNESSES, None]]), rows)
    columns["income"] = _cells(random, ["9", "10", "20"], rows)
    # every row has its own, so that a published row can be held against the one that it came from
    columns["visits"] = [f"{cell}{row:02}" for row, cell in enumerate(_cells(random, ["1", "2"], rows))]
    persons = random.random() < 0.25 or (model or "").startswith("identity-")
    if persons:
        columns |= _visiting(random, {name: columns[name] for name in trees})
    used = {name: _used(tree, columns[name]) for name, tree in trees.items()}
    rules = random_rules(random, model, persons=persons)
    case = Case(columns, used, _document(random, columns, rules, algorithm))
    if algorithm in CUTS:
        return _opened(random, case, ("tree", "tree", "ranges"), ("partition", "boxes"))
    return _opened(random, case) if algorithm in UNLEVELLED else case


def _visiting(random: Random, quasi: Mapping[str, list[str | None]]) -> dict[str, list[str | None]]:
    """Persons for the rows; often their rows agree in the quasi-identifiers, as those of one visitor do."""
    rows = len(next(iter(quasi.values())))
    persons = _cells(random, [str(i) for i in range(max(rows // 2, 2))], rows, even=True)
    first = {person: row for row, person in reversed(list(enumerate(persons)))}
    same = [random.random() < 0.6 for _ in persons]
    agreeing = {
        name: [
            cells[first[person]] if again else cell for cell, person, again in zip(cells, persons, same, strict=True)
        ]
        for name, cells in quasi.items()
    }
    return {**agreeing, "person": persons}


def _opened(
    random: Random,
    case: Case,
    kinds: Sequence[str] = ("tree", "tree", "sets", "ranges"),
    ranges: Sequence[str] = RANGES,
) -> Case:
    """The same with some quasi-identifiers as ranges or sets, where the algorithm does without levels."""
    columns, trees, roles = dict(case.columns), dict(case.trees), dict(case.document["columns"])
    for name in case.quasi:
        kind = random.choice(kinds)
        if kind == "tree":
            continue
        roles[name] = roles[name] | {"hierarchy": "sets" if kind == "sets" else {"ranges": True}}
        if kind == "ranges":
            numbers = _numbers(random, list(trees[name]))
            columns[name] = [numbers[cell] for cell in columns[name]]
        del trees[name]
    some = any(isinstance(roles[name]["hierarchy"], dict) for name in case.quasi)
    publish = {"ranges": random.choice(ranges)} if some else {}
    return Case(columns, trees, case.document | {"columns": roles, "publish": publish})


def _numbers(random: Random, leaves: list[str | None]) -> dict[str | None, str | None]:
    """A number for each leaf: whole or not, negative or not; none for NULL."""
    scale = random.choice([1, 1, 10])
    drawn = random.sample(range(-3 * scale, 12 * scale), len(leaves))
    numbers = [str(number) if scale == 1 else f"{number / scale:.1f}" for number in drawn]
    return {leaf: None if leaf is None else number for leaf, number in zip(leaves, numbers, strict=True)}


def random_rules(random: Random, model: str | None, *, persons: bool = False) -> list[dict[str, Any]]:
    """A rule of the model asked for, or of any, and often one or two more that must hold as well."""
    more = random.choice([0, 0, 1, 2])
    return [random_rule(random, name, persons=persons) for name in (model, *itertools.repeat(None, more))]


def _tree(random: Random, name: str) -> Paths:
    """Two to five leaves, NULL sometimes among them, united at random on up to two levels below the root."""
    leaves = [f"{name}{i}" for i in range(random.randint(2, 5))]
    paths: dict[str | None, list[str | None]] = {leaf: [leaf] for leaf in leaves}
    for level in range(1, random.randint(1, 3)):
        known = dict.fromkeys(path[-1] for path in paths.values())  # in order, unlike a set, so that a case comes again
        groups = {label: f"{name}-{level}-{random.randint(0, 2)}" for label in known}
        for path in paths.values():
            path.append(groups[path[-1]])
    height = len(paths[leaves[0]])
    tree: Paths = {leaf: (*path, "*") for leaf, path in paths.items()}
    return tree | {None: (*[None] * height, "*")} if random.random() < 0.2 else tree


def _cells(random: Random, values: Sequence[str | None], rows: int, *, even: bool = False) -> list[str | None]:
    """Values at random, skewed so that some are rare."""
    weights = [1.0 if even else random.choice([1.0, 1.0, 4.0, 12.0]) for _ in values]
    return random.choices(values, weights, k=rows)


def _used(tree: Paths, cells: list[str | None]) -> Paths:
    """The tree without NULL where no row has it: NULL is a leaf of the domain only if it occurs."""
    return {leaf: path for leaf, path in tree.items() if leaf is not None or None in cells}


def _document(
    random: Random, columns: Mapping[str, Any], rules: list[dict[str, Any]], algorithm: str
) -> dict[str, Any]:
    roles: dict[str, dict[str, Any]] = {
        "illness": {"role": "sensitive", "hierarchy": "illness.csv"},
        "income": {"role": "sensitive"},
        "visits": {"role": "plain"},
        "person": {"role": "individual"},
    }
    for name in columns.keys() - roles.keys():
        roles[name] = {"role": "quasi", "hierarchy": f"{name}.csv"}
    for name in [name for name in columns if name.startswith("q") and name != "q0"]:
        roles[name]["weight"] = random.choice([0, 0.5, 1, 1, 3])
    return {
        "columns": {name: roles[name] for name in columns},
        "privacy": rules,
        "algorithm": {
            "name": algorithm,
            "suppression": random.choice([0, 0.1, 0.3, 1]),
            **(random.choice(_SCORES) if algorithm in CUTS else {"metric": random.choice(METRICS)}),
            "seed": 1,
        },
    }
