"""A process that does what takes long, or needs much memory, for the server of pages, which stays small and quick.

It has one module whose functions it is asked for by name, so that the server imports none of what they need. It is a
fresh interpreter, as those of `core.worker_processes` are and for the same reasons, but it is asked one thing
after the other, tells how far it is, and can be stopped at any moment. What goes through the pipes is pickled by one
of the two and read by the other. When the server ends, be it by ``kill -9``, the pipe closes, and the process ends in
order: what was half written is removed.
"""

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import IO, Any, NoReturn

from sfumato.errors import SfumatoError, is_lack_of_memory

Tell = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is; 0 where nobody knows."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from sfumato.app.work_process import work_for_server; work_for_server(sys.argv[2])"
)
_PATIENCE, _LAST_PATIENCE = 1.0, 0.5
"""Seconds that a process has to put things in order when it is told to stop, or when the server is gone."""
_BETWEEN = 0.1
"""Seconds between two words of how far a process is."""


class WorkFailed(SfumatoError):
    """What went wrong in the process, in its sentence; `nearest` as an Infeasible has it, `kind` is its class."""

    def __init__(self, sentence: str, kind: str, nearest: dict[str, float] | None = None) -> None:
        self.kind = kind
        self.nearest = nearest or {}
        super().__init__(sentence)


class WorkStopped(SfumatoError):
    """The process was stopped before it had an answer."""


class WorkProcess:
    """One process with one module; it is asked one thing at a time, by whatever thread.

    >>> process = WorkProcess("operator")
    >>> process.ask("floordiv", 17, 5)
    3
    >>> process.stop()
    """

    def __init__(self, module: str) -> None:
        flags = ["-I"] if sys.flags.isolated else ["-P"]
        path = json.dumps([str(place) for place in sys.path])
        self._process = subprocess.Popen(  # noqa: S603 - this very Python
            [sys.executable, *flags, "-c", _START, path, module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # so that a Ctrl-C is for the server alone, which then ends it
        )
        self._turn = threading.Lock()
        self._stopped = self._gone = False

    @property
    def is_alive(self) -> bool:
        """Whether it can still be asked something."""
        return not self._stopped and not self._gone and self._process.poll() is None

    def ask(self, function: str, *arguments: Any, tell: Tell | None = None) -> Any:
        """Call a function of the module there, and give what it returns.

        A function that takes ``tell`` may say how far it is. What it raises is raised here as a `WorkFailed`.
        """
        to, back = self._pipes()
        with self._turn:
            try:
                pickle.dump((function, arguments, tell is not None), to, pickle.HIGHEST_PROTOCOL)
                to.flush()
                while True:
                    word, said = pickle.load(back)  # noqa: S301 - a child's answer, through a pipe of our own
                    if word == "found":
                        return said
                    if word == "failed":
                        raise WorkFailed(*said)
                    if tell is not None:
                        tell(*said)
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                self._gone = True  # its pipe is closed, be it still on its way out
                raise self._lost() from None

    def stop(self) -> None:
        """End it, and all that it started: in order, or after a second by force."""
        self._stopped = True
        group = self._process.pid
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGTERM)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
            self._process.wait()
        if self._turn.acquire(timeout=_PATIENCE):  # whoever asked has seen the end
            try:
                for pipe in self._pipes():
                    with contextlib.suppress(OSError):
                        pipe.close()
            finally:
                self._turn.release()

    def wait(self) -> None:
        """Wait until it is gone, with all that it held: its end of the pipe may close before its locks do."""
        self._process.wait()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._process.stdin is not None  # noqa: S101 - it was asked for; this tells the type checker
        assert self._process.stdout is not None  # noqa: S101 - same
        return self._process.stdin, self._process.stdout

    def _lost(self) -> SfumatoError:
        """Say why it is gone."""
        if self._stopped:
            return WorkStopped("it was stopped; no part of a release is left behind")
        return WorkFailed(
            "the process that worked on the table was ended from outside, as the system does where memory runs out; "
            "nothing was published: close other programs, or publish fewer columns",
            "WorkerLost",
        )


# What runs in the process


def work_for_server(module: str) -> NoReturn:
    """Import a module and answer one question after the other, until the pipe ends.

    What is printed by the way goes nowhere. A thread reads, so that the end of the pipe ends the work in the middle.
    """
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, _stop_in_order)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox = queue.SimpleQueue[Any]()
    threading.Thread(target=_read_questions, args=(sys.stdin.buffer, inbox.put), daemon=True).start()
    turn = threading.Lock()

    last: list[tuple[str, float]] = [("", 0.0)]

    def say(word: str, said: Any) -> None:
        content = pickle.dumps((word, said), pickle.HIGHEST_PROTOCOL)
        with turn:
            back.write(content)
            back.flush()

    def tell(doing: str, done: int, every: int) -> None:
        before, when = last[0]
        if doing != before or time.monotonic() - when > _BETWEEN:  # an algorithm may tell of every step
            last[0] = (doing, time.monotonic())
            say("told", (doing, done, every))

    try:
        functions = import_module(module)
        while True:
            name, arguments, tells = inbox.get()
            told = {"tell": tell} if tells else {}
            say(*_answer(functions, name, arguments, told))
    except (KeyboardInterrupt, OSError):
        os._exit(0)


def _answer(functions: ModuleType, name: str, arguments: tuple[Any, ...], told: dict[str, Any]) -> tuple[str, Any]:
    try:
        return "found", getattr(functions, name)(*arguments, **told)
    except SfumatoError as error:
        return "failed", (str(error), type(error).__name__, getattr(error, "nearest", None))
    except Exception as error:  # noqa: BLE001 - a bug of ours: its text may quote data, so only its place is told
        if is_lack_of_memory(error):
            sentence = "the table does not fit into memory; run it on a larger machine or publish fewer columns"
            return "failed", (sentence, "MemoryError", None)
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} at {os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
        return "failed", (f"this is a bug of sfumato ({where}); please report it", "Bug", None)


def _stop_in_order(number: int, frame: object) -> NoReturn:
    del number, frame
    raise KeyboardInterrupt


def _read_questions(pipe: IO[bytes], put: Callable[[Any], None]) -> None:
    while True:
        try:
            put(pickle.load(pipe))  # noqa: S301 - the server's word, through a pipe of its own
        except (EOFError, OSError):
            os.kill(os.getpid(), signal.SIGTERM)
            threading.Event().wait(_LAST_PATIENCE)
            os._exit(0)
