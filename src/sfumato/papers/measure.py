"""Wall seconds and peak memory of a command in a fresh process."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SFUMATO = (sys.executable, "-P", "-c", "from sfumato.cli import main; main()")
"""The command, wherever its script was installed."""
COPY = (sys.executable, "-P", str(Path(__file__).with_name("copy_file.py")))
"""The yardstick: a fresh interpreter that finds installed packages only reads a file and writes it again."""
_WATCH = Path(__file__).with_name("watch.py")


@dataclass(frozen=True)
class Measured:
    """What a command took, and what it said; `code` is None where it was stopped for taking too long."""

    seconds: float
    cpu: float
    megabytes: float
    code: int | None
    output: str = ""
    errors: str = ""

    @property
    def failed(self) -> bool:
        """Whether it did not end well."""
        return self.code != 0


def measure(command: Sequence[str | Path], *, timeout: float = 900) -> Measured:
    """Run `command` from cold start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder, "output"), Path(folder, "errors")
        said = _watched([str(output), str(errors), *map(str, command)], timeout)
        if said is None:
            return Measured(timeout, 0.0, 0.0, None, errors=f"stopped after {timeout:g} s")
        return Measured(**json.loads(said), output=_text(output), errors=_text(errors))


def middle(run: Callable[[], Measured], times: int) -> Measured:
    """The run of median time out of several; the first that fails ends them."""
    runs: list[Measured] = []
    while len(runs) < times:
        runs.append(run())
        if runs[-1].failed:
            return runs[-1]
    median = statistics.median_low(one.seconds for one in runs)
    return next(one for one in runs if one.seconds == median)


def _watched(arguments: list[str], timeout: float) -> str | None:
    command = [sys.executable, "-I", "-S", str(_WATCH), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:  # noqa: S603 - our own script
        try:
            return process.communicate(timeout=timeout)[0]
        except BaseException as stop:
            os.killpg(process.pid, signal.SIGKILL)  # the watcher and what it watches, a session of their own
            if isinstance(stop, subprocess.TimeoutExpired):
                return None
            raise


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
