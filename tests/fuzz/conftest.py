"""The fuzzer lies beside the package: its folder's parent must be on the path."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT
