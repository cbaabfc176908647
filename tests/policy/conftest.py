"""A policy to change one thing of, as a file and as a dict."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import load

GOOD = {
    "data": {"source": "adult.csv"},
    "columns": {
        "ssn": {"role": "identifier"},
        "person": {"role": "individual"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
        "sex": {"role": "quasi", "hierarchy": "suppress", "weight": 2},
        "illness": {"role": "sensitive"},
        "visits": {"role": "plain"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 5},
        {"model": "distinct-l-diversity", "column": "illness", "l": 2},
    ],
    "algorithm": {"name": "optimal", "suppression": 0.1, "seed": 1, "metric": "entropy"},
    "publish": {"form": "generalized", "format": "parquet"},
}


@pytest.fixture
def good() -> dict[str, Any]:
    """A policy that loads, fresh for every test."""
    return deepcopy(GOOD)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Writes a policy file and gives its path."""

    def writer(content: str | bytes) -> Path:
        path = tmp_path / "policy.toml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return writer


@pytest.fixture
def refused(good: dict[str, Any]) -> Callable[..., str]:
    """Changes one value of the good policy, `None` to drop it, and gives the message of the refusal."""

    def refusal(*path: str | int, to: object, key: str) -> str:
        *outer, last = path
        table: Any = good
        for step in outer:
            table = table.setdefault(step, {}) if isinstance(table, dict) else table[step]
        table[last] = to
        if to is None:
            del table[last]
        with pytest.raises(PolicyError) as caught:
            load(good)
        assert caught.value.key == key
        assert str(caught.value) == f"{key}: {caught.value.message}"
        return caught.value.message

    return refusal
