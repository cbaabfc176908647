"""What protocols say of themselves: in their docstrings, and to the holders of data before a run."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import sfumato.party
from sfumato.party.task_kinds import TASKS, task_class
from sfumato.policy.section import Section

_FOLDER = Path(sfumato.party.__file__).parent
_CARRIERS = {"party_channel", "party_session", "tls_channel", "local_parties"}
"""Modules that carry messages of others."""
_SENDS = re.compile(
    r"\.send(_array|_json)?\(|\b(secure_sum|secure_union|open_large_sums|shared_products|intersect)\(|\.add_up\("
)


def _protocols() -> list[str]:
    return sorted(
        path.stem for path in _FOLDER.glob("*.py") if path.stem not in _CARRIERS and _SENDS.search(path.read_text())
    )


@pytest.mark.parametrize("module", _protocols())
def test_a_protocol_states_its_adversary(module: str) -> None:
    """Whatever sends says against whom it protects, what colluders learn, and which paper it follows."""
    said = ast.get_docstring(ast.parse((_FOLDER / f"{module}.py").read_text())) or ""
    _, adversary, stated = said.partition("Adversary: ")
    assert adversary
    assert stated.startswith(("semi-honest", "malicious"))
    assert re.search(r"collu|n - 1", stated, re.IGNORECASE)
    assert re.search(r"(19|20)\d\d", said)


SETTINGS: dict[str, dict[str, Any]] = {
    "sum": {},
    "union": {"column": "x"},
    "union-size": {"column": "x"},
    "intersection": {"column": "x"},
    "intersection-size": {"column": "x"},
    "scalar-product": {"column": "x"},
    "compare": {"column": "x"},
    "distance": {"column": "x"},
    "contingency": {"columns": ["x"]},
    "rules": {"min_support": 1, "min_confidence": 0.5},
    "naive-bayes": {"class": "y", "columns": ["x"]},
    "k-means": {"k": 2, "columns": ["x"], "bounds": {"x": [0, 9]}},
}


@pytest.mark.parametrize("kind", sorted(set(TASKS) - {"anonymize"}))
def test_a_task_says_all_four_things(kind: str) -> None:
    """Before a run a task says adversary, colluders, what is learned beyond the result, and its paper with the year."""
    task = task_class(kind)
    statement = task.read(Section.from_value(SETTINGS[kind], "task", task.keys), ("a", "b"), ("a", "b")).statement(
        ("a", "b")
    )
    assert statement.adversary == "semi-honest"
    assert all(len(sentence) > len("Protocol: ") for sentence in statement.sentences())
    assert re.search(r"(19|20)\d\d", statement.paper)
    assert statement.learned
    assert statement.colluders
