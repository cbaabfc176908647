"""What the tests of the papers' experiments share: the head of a run, and plans that take seconds."""

from typing import Any

import pytest

from sfumato.papers import alpha_k_paper, identity_paper, lossy_join_paper, sequential_paper
from sfumato.papers.alpha_k_paper import PLAIN, STATED, AlphaKPlan
from sfumato.papers.experiment import RowSource
from sfumato.papers.identity_paper import IdentityGrid
from sfumato.papers.lossy_join_paper import LossyJoinPlan
from sfumato.papers.sequential_releases import Departments, SequentialGrid


@pytest.fixture
def about() -> dict[str, Any]:
    """When and on what a run was."""
    machine = {"cpus": 2, "memory": 8, "load": 0.5}
    return {"date": "today", "full": True, "source": "real", "sfumato": "0", "python": "3", "duckdb": "1", **machine}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick runs have so few points that a few hundred rows take seconds, and no enlarged table."""
    shares = IdentityGrid((1.2, 1.4), (2, 10), (2, 10), (0.2, 0.5, 0.9), ())
    links = SequentialGrid((3,), (3,), (40,), (1,), (0.9,), (), 1)
    monkeypatch.setattr(alpha_k_paper, "QUICK", AlphaKPlan((0.5,), (2, 8), (*STATED, *PLAIN.values()), 1))
    monkeypatch.setattr(lossy_join_paper, "QUICK", LossyJoinPlan(20, ()))
    monkeypatch.setattr(identity_paper, "QUICK", shares)
    monkeypatch.setattr(sequential_paper, "QUICK", links)


@pytest.fixture
def made_up() -> Departments:
    """A few made-up people."""
    return Departments.from_source(RowSource(made_up=300))
