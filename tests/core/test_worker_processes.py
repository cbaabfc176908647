"""Worker processes: results in order, failures as they are, and nobody left behind however it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.core.worker_processes import VARIABLE, WorkerProcesses, count_processes
from sfumato.errors import InputError, WorkerLost

SLEEP = "import time; time.sleep(60)"


def ignore(_: int) -> None:
    """Tells nobody."""


def apply(function: Callable[[Any], Any], items: list[Any], count: int = 2) -> list[Any]:
    """What comes of each item, in so many processes."""
    with WorkerProcesses[Any, Any](count, "math") as workers:
        return workers.apply(function, items, ignore)


def children() -> set[int]:
    """The processes that this one has started and that are still there."""
    return {int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


@pytest.fixture(autouse=True)
def leaves_nobody() -> Any:
    """No process is left when a test is over."""
    before = children()
    yield
    assert children() <= before


def test_results_are_in_the_order_of_the_items() -> None:
    """However many work, and in whatever order they end; each item is reported once."""
    done = list[int]()
    with WorkerProcesses[Any, Any](3, "time") as workers:
        items = [f"(__import__('time').sleep({seconds}), {place})[1]" for place, seconds in enumerate((0.3, 0, 0.1, 0))]
        assert workers.apply(eval, items, done.append) == [0, 1, 2, 3]
    assert sorted(done) == [0, 1, 2, 3]


def test_they_work_in_processes_of_their_own() -> None:
    """Each item by another process than this one, of one thread for BLAS, which does not die of a Ctrl-C here."""
    found = apply(eval, ["(__import__('os').getpid(), __import__('os').environ['OMP_NUM_THREADS'])"] * 2)
    assert os.getpid() not in {process for process, _ in found}
    assert {threads for _, threads in found} == {"1"}


def test_one_process_is_this_one() -> None:
    """Nothing is started for it."""
    assert apply(eval, ["__import__('os').getpid()"], count=1) == [os.getpid()]


def test_what_no_other_process_can_load_is_done_here() -> None:
    """A function without a name, and one of the caller's main script, which workers never import."""
    assert apply(lambda number: -number, [1, 2]) == [-1, -2]
    program = (
        "from sfumato.core.worker_processes import WorkerProcesses\n"
        "def negative(number): return -number\n"
        "with WorkerProcesses(2, 'math') as workers: print(workers.apply(negative, [1, 2], print))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["0", "1", "[-1, -2]"]


def test_an_error_comes_as_it_is() -> None:
    """With what the worker was doing as a note, for those who debug."""
    with pytest.raises(ZeroDivisionError) as raised:
        apply(eval, ["1 + 1", "1 / 0"])
    assert "Traceback" in raised.value.__notes__[0]


def test_lack_of_memory_comes_as_such() -> None:
    """Whoever calls says it in a sentence, as of its own."""
    with pytest.raises(MemoryError):
        apply(eval, ["bytearray(1 << 60)", "2"])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_is_killed_ends_all_in_a_sentence(number: signal.Signals) -> None:
    """The others are ended at once, and the sentence says what to do."""
    start = time.monotonic()
    with pytest.raises(WorkerLost, match=rf"ended from outside \({number.name}\).*{VARIABLE}=1"):
        apply(exec, [f"import os; os.kill(os.getpid(), {number.value})", SLEEP])
    assert time.monotonic() - start < 30


def test_a_ctrl_c_ends_all() -> None:
    """In the middle of the work."""
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            apply(exec, [SLEEP, SLEEP])
    finally:
        signal.signal(signal.SIGALRM, old)


def test_workers_end_with_whoever_started_them() -> None:
    """Also where that is killed and can put nothing in order, and also in the middle of their work."""
    program = (
        "from sfumato.core.worker_processes import WorkerProcesses\n"
        "with WorkerProcesses(2, 'math') as workers:\n"
        "    print(*(process.pid for process in workers._workers), flush=True)\n"
        f"    workers.apply(exec, [{SLEEP!r}] * 2, print)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        started = [int(word) for word in parent.stdout.readline().split()]
        time.sleep(0.5)
        parent.kill()
    deadline = time.monotonic() + 30
    while (alive := [process for process in started if _is_alive(process)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert started
    assert not alive


def _is_alive(process: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_no_process_to_be_had_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system gives none, or where Python is part of another program, everything is done here."""

    def refuse(*_: Any, **__: Any) -> None:
        raise BlockingIOError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert apply(abs, [-1, -2]) == [1, 2]
    monkeypatch.setattr(sys, "executable", "")
    assert apply(abs, [-1, -2]) == [1, 2]


def test_how_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are asked for, as the environment says, and never none."""
    monkeypatch.setenv(VARIABLE, "3")
    assert [count_processes(most) for most in (1, 2, 9)] == [1, 2, 3]
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("SFUMATO_MEMORY", "1MB")
    assert count_processes(9) == 1
    monkeypatch.setenv(VARIABLE, "many")
    with pytest.raises(InputError, match=f"{VARIABLE} is 'many'; write how many"):
        count_processes(9)
