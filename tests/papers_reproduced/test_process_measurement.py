"""Commands are measured in processes of their own."""

import sys

import pytest

from sfumato.papers.process_measurement import Measurement, measure_process, median_run

pytestmark = pytest.mark.slow


def test_peak_memory_and_streams() -> None:
    """Memory that a command fills shows in its peak, and what it says is kept."""
    code = "import sys; x = b'x' * 200_000_000; print(len(x)); print('oh', file=sys.stderr); sys.exit(3)"
    done = measure_process([sys.executable, "-c", code])
    assert (done.code, done.output, done.errors) == (3, "200000000\n", "oh\n")
    assert done.failed
    assert 200 < done.megabytes < 400
    assert done.seconds > 0
    assert done.cpu > 0


def test_our_own_memory_does_not_count() -> None:
    """What the measuring process holds is not counted into the command's peak."""
    held = b"x" * 200_000_000
    assert measure_process([sys.executable, "-S", "-c", "pass"]).megabytes < 100
    assert held


def test_stopped() -> None:
    """A command that takes too long is stopped, and that is no exit code."""
    stopped = measure_process([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.5)
    assert stopped.code is None
    assert stopped.failed


@pytest.mark.parametrize(("seconds", "median"), [([3, 1, 2], 2), ([4, 1], 1), ([5], 5)])
def test_middle(seconds: list[float], median: float) -> None:
    """Of several runs the one of median time stands for all."""
    runs = iter(Measurement(one, 0, 0, 0) for one in seconds)
    assert median_run(lambda: next(runs), len(seconds)).seconds == median


def test_middle_of_failures() -> None:
    """A failure is not repeated."""
    runs = iter([Measurement(1, 0, 0, 0), Measurement(9, 0, 0, 2)])
    assert median_run(lambda: next(runs), 3).code == 2
