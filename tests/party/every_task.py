"""Every kind of task with small settings, and tables of two parties that fit all of them."""

from typing import Any

import pyarrow as pa
import pytest

from sfumato.party.party_task import PartyTask
from sfumato.party.task_kinds import task_class
from sfumato.policy.section import Section

_LINKED = {"partition": "vertical", "link_on": "name"}
_BOUNDS = {"beds": [0, 99], "age": [0, 99]}

SETTINGS: dict[str, dict[str, Any]] = {
    "sum": {"columns": ["beds"]},
    "sum by key": {"key": "name", "columns": ["beds"], "min_count": 2},
    "union": {"column": "name"},
    "union-size": {"column": "name"},
    "intersection": {"column": "name", "method": "dh"},
    "intersection by KKRT": {"column": "name", "method": "kkrt"},
    "intersection-size": {"column": "name", "by": "ward", "groups": ["north", "south"], "min_count": 1},
    "scalar-product": {"column": "beds", "bits": 7},
    "scalar-product by Paillier": {"column": "beds", "bits": 7, "method": "paillier"},
    "compare": {"column": "beds", "bits": 7},
    "distance": {"column": "beds", "bits": 7},
    "distance of Hamming": {"column": "beds", "bits": 7, "metric": "hamming"},
    "contingency": {"columns": ["ward"], "min_count": 2},
    "contingency of names": {"columns": ["name"], "min_count": 2},
    "rules": {"min_support": 1, "min_confidence": 0.5, "columns": ["ward", "beds"]},
    "rules over columns": {
        "min_support": 1,
        "min_confidence": 0.5,
        **_LINKED,
        "columns": {"a": ["ward"], "b": ["beds"]},
    },
    "naive-bayes": {"class": "ward", "columns": ["beds"], "bounds": {"beds": [0, 99]}},
    "naive-bayes over columns": {
        "class": "ward",
        **_LINKED,
        "columns": {"a": ["ward"], "b": ["beds"]},
        "bounds": {"beds": [0, 99]},
    },
    "k-means": {"columns": ["beds"], "bounds": {"beds": [0, 99]}, "k": 2, "iterations": 2, "min_count": 1},
    "k-means over columns": {
        **_LINKED,
        "columns": {"a": ["age"], "b": ["beds"]},
        "bounds": _BOUNDS,
        "k": 2,
        "iterations": 2,
    },
}
"""By a name whose first word is the kind."""

_SLOW = "scalar-product by Paillier"
"""A task that draws large primes, and loads a library that is large, too."""
EVERY_TASK = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == _SLOW else name for name in SETTINGS]
)
QUICK_TASKS = pytest.mark.parametrize("name", sorted(set(SETTINGS) - {_SLOW}))

TABLES = {
    who: pa.table({
        "name": [f"canary {who}{place}" if place else "canary of both" for place in range(4)],
        "ward": ["north", "south"] * 2,
        "age": ["20", "30", "40", "50"],
        "beds": ["1", "2", "30", "40"],
    })
    for who in "ab"
}  # fmt: skip


def read_task(name: str, result_to: tuple[str, ...] = ("a", "b")) -> PartyTask:
    """Read one of the tasks, for parties a and b."""
    kind = task_class(name.split(maxsplit=1)[0])
    return kind.read(Section.from_value(SETTINGS[name], "task", kind.keys), ("a", "b"), result_to)
