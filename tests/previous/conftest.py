"""The paper's Table 1: what was released before, and what is to be released now."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.release import Release, prepare

NOW = {
    "name": ["Alice", "Alice", "Bob", "Bob", "Cathy"],
    "job": ["Banker", "Banker", "Clerk", "Driver", "Engineer"],
    "class": ["c1", "c1", "c2", "c3", "c4"],
}
BEFORE = "job,disease\nBanker,Cancer\nBanker,Cancer\nClerk,HIV\nDriver,Cancer\nEngineer,HIV\n"
JOBS = "Banker,Office,*\nClerk,Office,*\nDriver,Field,*\nEngineer,Field,*\n"

Makes = Callable[..., Release]


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    """A policy for Table 1, with the earlier release and the hierarchy as files."""
    (tmp_path / "t2.csv").write_text(BEFORE)
    (tmp_path / "job.csv").write_text(JOBS)
    return {
        "columns": {
            "name": {"role": "quasi", "hierarchy": "suppress"},
            "job": {"role": "quasi", "hierarchy": str(tmp_path / "job.csv")},
            "class": {"role": "plain"},
        },
        "previous": [{"name": "t2", "table": str(tmp_path / "t2.csv")}],
        "privacy": [{"model": "xy-anonymity", "x": ["name", "job", "t2.job"], "y": ["$row"], "k": 2}],
    }


@pytest.fixture
def now() -> dict[str, list[str]]:
    """What is to be released now, by column."""
    return NOW


@pytest.fixture
def makes(document: dict[str, Any]) -> Makes:
    """Makes the release of Table 1, with other tables of the policy."""

    def make(**tables: Any) -> Release:
        return prepare(pa.table(NOW), document | tables)

    return make
