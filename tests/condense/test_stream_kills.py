"""A stream that is killed at any moment: no acknowledged batch is lost, and none is counted twice."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.condense import condensation_stream
from sfumato.condense.condensation_stream import CondensationStream, read_state
from sfumato.condense.stream_state import StateFolder

ROWS, BATCH, K = 60, 4, 5


class Killed(BaseException):
    """What no cleaning up but that of the operating system follows."""


def _source(folder: Path) -> Path:
    draw = np.random.default_rng(1)
    lines = [f"{x:.3f},{y:.3f}" for x, y in draw.normal(size=(ROWS, 2))]
    path = folder / "s.csv"
    path.write_text("x,y\n" + "\n".join(lines) + "\n")
    return path


def _uninterrupted(source: Path) -> bytes:
    stream = CondensationStream(K)
    stream.follow(source, batch=BATCH)
    return stream._state().to_bytes()


@pytest.mark.parametrize("every", [1, 2, 3, 5, 8, 13, 21])
def test_killed_at_each_step_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    """Every open, write, flush and rename of the state is the last thing that a process does, in turn."""
    source, acknowledged = _source(tmp_path), [0]
    kills = before = left = 0

    def dying(name: str) -> Callable[..., Any]:
        true = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed
            return true(*arguments, **options)

        return call

    folder = StateFolder(tmp_path / "state")
    for turn in range(1000):
        left = 1 + (turn * every) % 12
        with monkeypatch.context() as patched:
            patched.setattr(condensation_stream, "SECONDS_BETWEEN_STATES", 0)
            for name in ("open", "fsync", "rename"):
                patched.setattr(os, name, dying(name))
            try:
                with CondensationStream(K, state=folder.path) as stream:
                    stream.follow(source, batch=BATCH, resume=True, acknowledge=acknowledged.append)
                break
            except Killed:
                kills += 1
        kept = folder.read()
        rows = 0 if kept is None else kept.rows
        assert max(acknowledged[-1], before) <= rows <= ROWS
        before = rows
        assert kept is None or (kept.streams["s.csv"].rows, kept.groups.sizes.min() >= K) == (rows, True)
    assert kills > 3
    assert read_state(folder.path)[1].to_bytes() == _uninterrupted(source)
    assert {path.name for path in folder.path.iterdir()} == {"groups.state"}


_KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from sfumato.condense import condensation_stream
from sfumato.condense.condensation_stream import CondensationStream
from sfumato.condense.stream_state import StateFolder

condensation_stream.SECONDS_BETWEEN_STATES = 0
source, state, batch, k = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
random.seed(1)
kills = acknowledged = 0
while True:
    end, begin = os.pipe()
    child = os.fork()
    if not child:
        with CondensationStream(k, state=state) as stream:
            stream.follow(source, batch=batch, resume=True, acknowledge=lambda kept: os.write(begin, b"%d\\n" % kept))
        os._exit(0)
    os.close(begin)
    if kills < 100:
        time.sleep(random.random() * 0.01)
        os.kill(child, signal.SIGKILL)
    killed = os.waitpid(child, 0)[1]
    with os.fdopen(end) as lines:
        acknowledged = max([acknowledged, *map(int, lines)])
    found = StateFolder(state).read()
    assert acknowledged <= (0 if found is None else found.rows)
    if not killed:
        break
    kills += 1
print(kills)
"""


@pytest.mark.slow
def test_killed_a_hundred_times(tmp_path: Path) -> None:
    """By signal 9, at random moments; processes are forked from one that has imported everything."""
    draw = np.random.default_rng(1)
    source = tmp_path / "s.csv"
    lines = [f"{x:.3f},{y:.3f}" for x, y in draw.normal(size=(1500, 2))]
    source.write_text("x,y\n" + "\n".join(lines) + "\n")
    command = [sys.executable, "-c", _KILLER, str(source), str(tmp_path / "state"), "10", str(K)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 30
    stream = CondensationStream(K)
    stream.follow(source, batch=10)
    assert read_state(tmp_path / "state")[1].to_bytes() == stream._state().to_bytes()


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    """A state that was half written is removed by the next process."""
    source = _source(tmp_path)
    with CondensationStream(K, state=tmp_path / "state") as stream:
        stream.follow(source)
        (tmp_path / "state" / ".groups.state.new").write_bytes(b"half of it")
    with CondensationStream(K, state=tmp_path / "state"):
        assert {path.name for path in (tmp_path / "state").iterdir()} == {"groups.state"}
