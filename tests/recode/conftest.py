"""What the tests of algorithms share: a random case, encoded and ready to be searched."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.encode import EncodedTable, encode
from sfumato.policy import Policy
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.metrics import METRICS
from sfumato.recode.requirement import Requirement
from sfumato.table import from_frame
from sfumato.testing.random_tables import TableCase

Opened = tuple[EncodedTable, Policy]


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[TableCase], Opened]:
    """Encodes the table of a case under its policy."""
    folder: Path = tmp_path_factory.mktemp("policy")

    def opener(case: TableCase) -> Opened:
        policy = case.policy(folder)
        return encode(from_frame(case.arrow(), policy), policy), policy

    return opener


@pytest.fixture(scope="session")
def evaluator(opened: Callable[[TableCase], Opened]) -> Callable[[TableCase], Evaluator]:
    """An evaluator that has seen nothing yet, for a case."""

    def make(case: TableCase) -> Evaluator:
        encoded, policy = opened(case)
        requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
        return Evaluator(encoded, requirement, METRICS[policy.search.metric](encoded))

    return make
