"""What the tests of the papers' experiments share: the head of a run, and plans that take seconds."""

from typing import Any

import pytest

from sfumato.papers import alpha_k, identity, lossy_join, sequential
from sfumato.papers.alpha_k.runs import INCOGNITO, PAPER
from sfumato.papers.identity.points import Grid as IdentityGrid
from sfumato.papers.sequential.points import Grid as SequentialGrid


@pytest.fixture
def about() -> dict[str, Any]:
    """When and on what a run was."""
    machine = {"cpus": 2, "memory": 8, "load": 0.5}
    return {"date": "today", "full": True, "source": "real", "sfumato": "0", "python": "3", "duckdb": "1", **machine}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick runs have so few points that a few hundred rows take seconds, and no enlarged table."""
    shares = IdentityGrid((1.2, 1.4), (2, 10), (2, 10), (0.2, 0.5, 0.9), ())
    links = SequentialGrid((3,), (3,), (40,), (1,), (0.9,))
    monkeypatch.setattr(alpha_k, "QUICK", alpha_k.Plan((0.5,), (2, 8), (INCOGNITO, *PAPER), 1))
    monkeypatch.setattr(lossy_join, "QUICK", lossy_join.Plan(20, ()))
    monkeypatch.setattr(identity, "QUICK", identity.Plan(shares))
    monkeypatch.setattr(sequential, "QUICK", sequential.Plan(links, (), 1))
