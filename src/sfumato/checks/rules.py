"""Random requirements of every model, for a table with sensitive columns `illness` and `income`."""

import itertools
from collections.abc import Callable
from random import Random
from typing import Any

ILLNESSES = ["a", "b", "c", "d"]
COSTS: dict[tuple[str, str], float] = {
    pair: float(1 + 3 * i % 7) for i, pair in enumerate(itertools.permutations([*ILLNESSES, ""], 2))
}
_FARTHEST = {"variational": 1.0, "kl": 2.0, "emd-equal": 1.0, "emd-ordered": 1.0, "emd-hierarchical": 1.0, "emd": 3.0}


def random_rule(random: Random, model: str | None = None, *, persons: bool = False) -> dict[str, Any]:
    """A [[privacy]] table of a model, or of any that does without `persons` where there are none.

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


def _close(random: Random) -> dict[str, Any]:
    distance = random.choice(list(_FARTHEST))
    share = random.choice([0.05, 0.2, 0.3, 0.4, 0.6, 0.8])
    rule = {"distance": distance, "t": round(share * _FARTHEST[distance], 3)}
    if distance == "emd":
        rule["costs"] = "costs.csv"
    on_income = distance not in {"emd", "emd-hierarchical"} and random.random() < 0.5
    return rule | {"column": "income" if on_income else "illness"}


def _identity(random: Random) -> dict[str, Any]:
    """Often with a bound on what pseudonyms link."""
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
    "t-closeness": _close,
    "identity-k-anonymity": lambda random: _k(random) | _identity(random),
    "identity-kl-diversity": lambda random: {
        "column": _column(random),
        "l": random.choice([1, 2, 2, 3]),
        **_k(random),
        **_identity(random),
    },
    "identity-alpha-beta": lambda random: {
        "column": _column(random),
        "alpha": random.choice([0.2, 1 / 3, 0.5, 0.5, 0.75]),
        "beta": random.choice([0.3, 0.5, 0.5, 0.75, 0.9]),
        **_identity(random),
    },
}
