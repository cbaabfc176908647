"""The command: what it says without its packages, and of files that are not there; and the processes that work."""

import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sfumato.app.work_process import WorkFailed, WorkProcess, WorkStopped
from sfumato.app.workbench import Run


def test_without_the_extra_one_sentence_says_what_to_install(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is served, and nobody sees a traceback."""
    for name in [name for name in sys.modules if name.startswith(("sfumato.app", "sfumato.serving"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("uvicorn", "starlette"):
        monkeypatch.setitem(sys.modules, name, None)
    told = runs("serve", "--no-browser")
    assert told.code == 2
    assert "pip install 'sfumato[app]'" in told.err


@pytest.mark.parametrize("name", ["nothing.csv", "no/policy.toml"])
def test_a_file_that_is_not_there_is_named(runs: Any, name: str) -> None:
    """Before a port is opened."""
    told = runs("serve", name, "--no-browser")
    assert (told.code, told.out) == (2, "")
    assert name in told.err


def test_what_goes_wrong_in_a_process_is_a_sentence() -> None:
    """An error of ours with its nearest values; a bug by its place, without its text."""
    process = WorkProcess("sfumato.models")
    try:
        with pytest.raises(WorkFailed, match="is not a model"):
            process.ask("_find_model", "k-anonimity")
        with pytest.raises(WorkFailed, match=r"this is a bug of sfumato \(TypeError at work_process.py:\d+\)") as bug:
            process.ask("build")
        assert bug.value.kind == "Bug"
        assert process.ask("is_row", "$row") is True
    finally:
        process.stop()
    with pytest.raises(WorkStopped):
        process.ask("is_row", "$row")


def test_a_process_that_is_killed_is_noticed() -> None:
    """Whoever waits for its answer is told, in a sentence."""
    process = WorkProcess("os")
    try:
        with pytest.raises(WorkFailed, match="ended from outside"):
            process.ask("abort")
        assert not process.is_alive
    finally:
        process.stop()


def test_a_process_ends_with_its_server(tmp_path: Path) -> None:
    """Be it by kill -9: nothing goes on working for nobody."""
    script = tmp_path / "server.py"
    script.write_text(
        "import os, threading\n"
        "from sfumato.app.work_process import WorkProcess\n"
        "process = WorkProcess('time')\n"
        "threading.Thread(target=process.ask, args=('sleep', 600), daemon=True).start()\n"
        "print(process._process.pid, flush=True)\n"
        "threading.Event().wait(600)\n"
    )
    import subprocess

    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        server.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while _runs(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(worker)


def _runs(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_time_left_is_told_by_what_is_done() -> None:
    """A third done in ten seconds leaves twenty; what nobody counts leaves none."""
    process: Any = None
    run = Run("p.toml", "", Path("p-release"), process)
    assert run.left is None
    run.tell("looking", 0, 300)
    assert run.left is None
    run.since -= 10
    run.tell("looking", 100, 300)
    assert run.left == pytest.approx(20, abs=0.5)
    run.tell("writing", 0, 0)
    assert run.left is None
