"""The streaming engine makes the releases that memory makes."""

from pathlib import Path

import pytest

from sfumato.engines.choice import EngineOptions
from sfumato.testing.engine_contract import ALGORITHMS, assert_same_release, engine_case, make_release, write_case


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(3))
def test_release_is_that_of_memory(tmp_path: Path, algorithm: str, seed: int) -> None:
    """For every algorithm, random tables and random requirements."""
    policy = write_case(engine_case(seed, algorithm), tmp_path, repeated=1 + seed % 2)
    in_memory = make_release(policy, None, tmp_path / "memory")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    streamed = make_release(policy, EngineOptions("stream", scratch=scratch), tmp_path / "stream")
    assert_same_release(in_memory, streamed)
