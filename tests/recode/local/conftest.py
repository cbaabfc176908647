"""What the tests of local recoding share: a small table as a problem."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from sfumato.encode import encode
from sfumato.policy import load
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.start import pose_problem
from sfumato.table import from_frame

Poses = Callable[..., Problem]


@pytest.fixture(scope="session")
def pose() -> Poses:
    """Poses the problem of a table: columns are masked codes, `illness` is sensitive."""

    def make(columns: dict[str, list[str | None]], *rules: dict[str, Any], k: int = 2, **algorithm: Any) -> Problem:
        quasi = {"role": "quasi", "hierarchy": {"mask": "right"}}
        document = {
            "columns": {name: {"role": "sensitive"} if name == "illness" else quasi for name in columns},
            "privacy": [{"model": "k-anonymity", "k": k}, *rules],
            "algorithm": {"name": "top-down", **algorithm},
        }
        policy = load(document)
        table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
        return pose_problem(encode(from_frame(table, policy), policy), policy)

    return make
