"""Small random tables with random hierarchies and a policy for them, to try algorithms on.

The randomness comes from outside: a seeded one for checks that must fail twice, Hypothesis's for tests. Every draw and
its order is part of a case: the same seed gives the same case.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from sfumato.policy import Policy
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.policy.options import CLUSTERINGS, CUTS, RANGES, UNLEVELLED
from sfumato.testing.model_definitions import TableContext

Paths = dict[str | None, tuple[str | None, ...]]

METRICS = ("ncp", "distortion", "height", "precision", "discernibility", "average-class-size", "entropy")
_ILLNESSES = ["a", "b", "c", "d"]
_ILLNESS_TREE: Paths = {
    "a": ("a", "ab", "*"),
    "b": ("b", "ab", "*"),
    "c": ("c", "cd", "*"),
    "d": ("d", "cd", "*"),
    None: (None, None, "*"),
}
_COSTS: dict[tuple[str, str], float] = {
    pair: float(1 + 3 * i % 7) for i, pair in enumerate(itertools.permutations([*_ILLNESSES, ""], 2))
}
_SCORES: list[dict[str, str | bool]] = [
    {"score": "distortion"},
    {"score": "discernibility"},
    {"class": "income"},
    {"class": "income", "score": "conditional"},
    {"class": "income", "next_cut": True},
    {"class": "income", "score": "conditional", "next_cut": True},
]


@dataclass(frozen=True)
class TableCase:
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
    def context(self) -> TableContext:
        """What a definition of a model may look at."""
        person = "person" if "person" in self.columns else None
        tree = _occurring(_ILLNESS_TREE, self.columns["illness"])
        incomes = sorted({value for value in self.columns["income"] if value is not None}, key=int)
        orders: dict[str, Sequence[str | None]] = {"illness": list(tree), "income": incomes}
        return TableContext(self.rows, person, orders, {"illness": tree}, _COSTS)

    def with_algorithm(self, **keys: Any) -> "TableCase":
        """Make the same case with other keys of [algorithm]."""
        document = self.document | {"algorithm": self.document["algorithm"] | keys}
        return TableCase(self.columns, self.trees, document)

    def weight(self, name: str) -> float:
        """Return the weight of a quasi-identifier."""
        return float(self.document["columns"][name].get("weight", 1))

    def path(self, name: str, value: str | None) -> tuple[str | None, ...]:
        """Return a value of a quasi-identifier and its ancestors; without levels there is only the root."""
        return self.trees[name][value] if name in self.trees else (value, "*")

    def height(self, name: str) -> int:
        """Count the steps from leaf to root."""
        return len(next(iter(self.trees[name].values()))) - 1

    def arrow(self) -> Any:
        """Return the table as Arrow."""
        return pa.table({name: pa.array(values, pa.string()) for name, values in self.columns.items()})

    def policy(self, folder: Path) -> Policy:
        """Read the policy, after writing its hierarchies and costs into a folder."""
        for name, paths in {**self.trees, "illness": _ILLNESS_TREE}.items():
            lines = (",".join(str(label) for label in path) for leaf, path in paths.items() if leaf is not None)
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        costs = "".join(f"{source},{target},{cost}\n" for (source, target), cost in _COSTS.items())
        (folder / "costs.csv").write_text(costs, encoding="utf-8")
        return Policy.read(self.document, folder=folder)


def random_case(random: Random, model: str | None = None, algorithm: str = "optimal") -> TableCase:
    """Draw a table of 5 to 40 rows with 2 to 4 quasi-identifiers, and one to three requirements on it.

    The first requirement is of the model, if one is named.

    >>> case = random_case(Random(1), "k-anonymity")
    >>> case.document["privacy"][0]["model"], 5 <= len(case.rows) <= 40
    ('k-anonymity', True)
    """
    rows = random.randint(5, 40)
    trees = {f"q{i}": _random_tree(random, f"q{i}") for i in range(random.choice([2, 2, 3, 3, 4]))}
    columns: dict[str, list[str | None]] = {name: _cells(random, list(tree), rows) for name, tree in trees.items()}
    columns["illness"] = _cells(random, random.choice([_ILLNESSES, [*_ILLNESSES, None]]), rows)
    columns["income"] = _cells(random, ["9", "10", "20"], rows)
    # every row has its own, so that a published row can be held against the one that it came from
    columns["visits"] = [f"{cell}{row:02}" for row, cell in enumerate(_cells(random, ["1", "2"], rows))]
    persons = random.random() < 0.25 or (model or "").startswith("identity-")
    if persons:
        columns |= _random_persons(random, {name: columns[name] for name in trees})
    trees = {name: _occurring(tree, columns[name]) for name, tree in trees.items()}
    more = random.choice([0, 0, 1, 2])
    rules = [random_rule(random, name, persons=persons) for name in (model, *itertools.repeat(None, more))]
    case = TableCase(columns, trees, _random_document(random, columns, rules, algorithm))
    if algorithm in CUTS:
        return _open_columns(random, case, ("tree", "tree", "ranges"), ("partition", "boxes"))
    if algorithm == MICROAGGREGATION:
        return _aggregated_columns(random, _open_columns(random, case, ("tree", "tree", "sets", "ranges", "dates")))
    return _open_columns(random, case) if algorithm in UNLEVELLED else case


def _random_tree(random: Random, name: str) -> Paths:
    """Draw two to five leaves, NULL sometimes among them, united at random on up to two levels below the root."""
    leaves = [f"{name}{i}" for i in range(random.randint(2, 5))]
    paths: dict[str | None, list[str | None]] = {leaf: [leaf] for leaf in leaves}
    for level in range(1, random.randint(1, 3)):
        labels = dict.fromkeys(path[-1] for path in paths.values())  # in order, unlike a set: a case must come again
        groups = {label: f"{name}-{level}-{random.randint(0, 2)}" for label in labels}
        for path in paths.values():
            path.append(groups[path[-1]])
    height = len(paths[leaves[0]])
    tree: Paths = {leaf: (*path, "*") for leaf, path in paths.items()}
    return tree | {None: (*[None] * height, "*")} if random.random() < 0.2 else tree


def _cells(random: Random, values: Sequence[str | None], rows: int, *, even: bool = False) -> list[str | None]:
    """Draw values, skewed so that some are rare unless they are to be even."""
    weights = [1.0 if even else random.choice([1.0, 1.0, 4.0, 12.0]) for _ in values]
    return random.choices(values, weights, k=rows)


def _occurring(tree: Paths, cells: list[str | None]) -> Paths:
    """Leave NULL out where no row has it: NULL is a leaf of the domain only if it occurs."""
    return {leaf: path for leaf, path in tree.items() if leaf is not None or None in cells}


def _random_persons(random: Random, quasi: Mapping[str, list[str | None]]) -> dict[str, list[str | None]]:
    """Draw persons for the rows; often their rows agree in the quasi-identifiers, as those of one visitor do."""
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


def _random_document(
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
            **(
                random.choice(_SCORES)
                if algorithm in CUTS
                else {"clustering": random.choice(CLUSTERINGS)}
                if algorithm == MICROAGGREGATION
                else {"metric": random.choice(METRICS)}
            ),
            "seed": 1,
        },
    }


def _open_columns(
    random: Random,
    case: TableCase,
    kinds: Sequence[str] = ("tree", "tree", "sets", "ranges"),
    ranges: Sequence[str] = RANGES,
) -> TableCase:
    """Turn some quasi-identifiers into ranges or sets, where the algorithm does without levels."""
    columns, trees, roles = dict(case.columns), dict(case.trees), dict(case.document["columns"])
    for name in case.quasi:
        kind = random.choice(kinds)
        if kind == "tree":
            continue
        roles[name] = roles[name] | {"hierarchy": _UNLEVELLED_KINDS[kind]}
        if kind in {"ranges", "dates"}:
            draw = _random_numbers if kind == "ranges" else _random_dates
            drawn = draw(random, list(trees[name]))
            columns[name] = [drawn[cell] for cell in columns[name]]
        del trees[name]
    some = any(isinstance(roles[name]["hierarchy"], dict) for name in case.quasi)
    publish = {"ranges": random.choice(ranges)} if some else {}
    return TableCase(columns, trees, case.document | {"columns": roles, "publish": publish})


_UNLEVELLED_KINDS: dict[str, Any] = {"sets": "sets", "ranges": {"ranges": True}, "dates": {"dates": ["month", "year"]}}


def _aggregated_columns(random: Random, case: TableCase) -> TableCase:
    """Say of some quasi-identifiers how microaggregation publishes them; dates have means or medians here."""
    roles = dict(case.document["columns"])
    for name in case.quasi:
        kind: Any = roles[name]["hierarchy"]
        allowed = (
            ["mode"] if kind == "sets" else ["ancestor", "mode"] if name in case.trees else ["mean", "median", "mode"]
        )
        aggregate = random.choice([None, *allowed])
        roles[name] = roles[name] | ({"aggregate": aggregate} if aggregate else {})
    return TableCase(case.columns, case.trees, case.document | {"columns": roles, "publish": {}})


def _random_dates(random: Random, leaves: list[str | None]) -> dict[str | None, str | None]:
    """Draw a day for each leaf; none for NULL."""
    days = random.sample(range(400), len(leaves))
    texts = [(date(1999, 12, 1) + timedelta(days=day)).isoformat() for day in days]
    return {leaf: None if leaf is None else text for leaf, text in zip(leaves, texts, strict=True)}


def _random_numbers(random: Random, leaves: list[str | None]) -> dict[str | None, str | None]:
    """Draw a number for each leaf: whole or not, negative or not; none for NULL."""
    scale = random.choice([1, 1, 10])
    whole = random.sample(range(-3 * scale, 12 * scale), len(leaves))
    numbers = [str(number) if scale == 1 else f"{number / scale:.1f}" for number in whole]
    return {leaf: None if leaf is None else number for leaf, number in zip(leaves, numbers, strict=True)}


# Requirements of every model, for the sensitive columns `illness` and `income`


def random_rule(random: Random, model: str | None = None, *, persons: bool = False) -> dict[str, Any]:
    """Draw a [[privacy]] table of a model, or of any that does without `persons` where there are none.

    >>> random_rule(Random(1), "distinct-l-diversity")["model"]
    'distinct-l-diversity'
    """
    name = model or random.choice([name for name in _RULES if persons or not name.startswith("identity-")])
    return {"model": name, **_RULES[name](random)}


def _k(random: Random) -> dict[str, Any]:
    return {"k": random.choice([1, 2, 2, 3, 4, 6])}


def _alpha(random: Random) -> dict[str, Any]:
    rule: dict[str, Any] = {"alpha": random.choice([0.1, 0.25, 1 / 3, 0.5, 0.6, 0.75, 0.9])}
    rule |= random.choice([{"column": "illness"}, {"column": "income"}, {"columns": ["illness", "income"]}])
    if random.random() < 0.5:
        rule["values"] = random.choice([["a"], ["a", "9"], ["d", "c"]])
    if random.random() < 0.5:
        rule["refined"] = True
    return rule


def _column(random: Random) -> str:
    return random.choice(["illness", "income"])


_LARGEST_T = {"variational": 1.0, "kl": 2.0, "emd-equal": 1.0, "emd-ordered": 1.0, "emd-hierarchical": 1.0, "emd": 3.0}


def _t(random: Random) -> dict[str, Any]:
    distance = random.choice(list(_LARGEST_T))
    share = random.choice([0.05, 0.2, 0.3, 0.4, 0.6, 0.8])
    rule = {"distance": distance, "t": round(share * _LARGEST_T[distance], 3)}
    if distance == "emd":
        rule["costs"] = "costs.csv"
    on_income = distance not in {"emd", "emd-hierarchical"} and random.random() < 0.5
    return rule | {"column": "income" if on_income else "illness"}


def _linked_k(random: Random) -> dict[str, Any]:
    """Draw a bound on what pseudonyms link, or often none."""
    return {"linked_k": random.choice([1, 2, 2, 3])} if random.random() < 0.3 else {}


_RULES: dict[str, Callable[[Random], dict[str, Any]]] = {
    "k-anonymity": _k,
    "alpha-deassociation": _alpha,
    "alpha-k-anonymity": lambda random: _alpha(random) | _k(random),
    "distinct-l-diversity": lambda random: {"column": _column(random), "l": random.choice([1, 2, 2, 3, 4])},
    "entropy-l-diversity": lambda random: {"column": _column(random), "l": random.choice([1, 1.3, 1.8, 2, 2.5, 3])},
    "recursive-l-diversity": lambda random: {
        "column": _column(random),
        "c": random.choice([0.5, 1, 1.5, 2, 4]),
        "l": random.choice([1, 2, 2, 3]),
    },
    "t-closeness": _t,
    "identity-k-anonymity": lambda random: _k(random) | _linked_k(random),
    "identity-kl-diversity": lambda random: {
        "column": _column(random),
        "l": random.choice([1, 2, 2, 3]),
        **_k(random),
        **_linked_k(random),
    },
    "identity-alpha-beta": lambda random: {
        "column": _column(random),
        "alpha": random.choice([0.2, 1 / 3, 0.5, 0.5, 0.75]),
        "beta": random.choice([0.3, 0.5, 0.5, 0.75, 0.9]),
        **_linked_k(random),
    },
}
