"""Wall seconds, processor seconds and peak memory of a command, run from cold start in a fresh process.

Linux counts the memory of whoever starts a program into the peak of the program. So a command is started by
`watch_process.py`, a script that imports next to nothing, and not by the process that asks.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SFUMATO = (sys.executable, "-P", "-c", "from sfumato.cli import main; main()")
"""Our command, wherever its script was installed."""
COPY = (sys.executable, "-P", str(Path(__file__).with_name("copy_file.py")))
"""The yardstick: a fresh interpreter, which finds installed packages only, reads a file and writes it again."""
_WATCH = (sys.executable, "-I", "-S", str(Path(__file__).with_name("watch_process.py")))


@dataclass(frozen=True)
class Measurement:
    """What a command took, and what it printed; `code` is None where it was stopped for taking too long."""

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


def measure_process(command: Sequence[str | Path], *, timeout: float = 900) -> Measurement:
    """Run a command to its end, or for `timeout` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        streams = Path(folder, "output"), Path(folder, "errors")
        arguments = [*_WATCH, *map(str, (*streams, *command))]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:  # noqa: S603 - our own script
            try:
                printed = process.communicate(timeout=timeout)[0]
            except BaseException as stop:
                os.killpg(process.pid, signal.SIGKILL)  # the watcher and what it watches, a session of their own
                if isinstance(stop, subprocess.TimeoutExpired):
                    return Measurement(timeout, 0.0, 0.0, None, errors=f"stopped after {timeout:g} s")
                raise
        output, errors = (path.read_text(encoding="utf-8", errors="replace") for path in streams)
    return Measurement(**json.loads(printed), output=output, errors=errors)


def measure_anonymize(policy: Path, *, timeout: float) -> Measurement:
    """Measure ``sfumato anonymize`` with a policy file; the release is written beside it, in place of one before."""
    release = policy.with_name("release")
    shutil.rmtree(release, ignore_errors=True)  # replacing it would be measured as well
    command: list[str | Path] = [*SFUMATO, "anonymize", policy, "--out", release, "--json"]
    return measure_process(command, timeout=timeout)


def median_run(run: Callable[[], Measurement], times: int) -> Measurement:
    """Give the run of median time out of several; the first that fails ends them."""
    runs: list[Measurement] = []
    while len(runs) < times:
        runs.append(run())
        if runs[-1].failed:
            return runs[-1]
    median = statistics.median_low(measured.seconds for measured in runs)
    return next(measured for measured in runs if measured.seconds == median)
