"""Worker processes: a function is called on many values, in as many processes as the machine has processors for.

A worker is a fresh interpreter, neither a fork nor a child of `multiprocessing`. A fork copies what threads of this
process hold in the middle of things (DuckDB, Arrow and numpy's BLAS all have threads), and may wait for ever for a lock
that nobody will release. The ways of `multiprocessing` that do not fork import the caller's main script anew in each
child, so that a script which calls us at its top level would start itself over and over. A fresh interpreter imports
what it is told to, once: 0.4 s of a processor for local recoding, while this process has other things to do.

What goes in and what comes out is pickled, through pipes that only the two processes hold: nothing is on disk, and no
pickle comes from elsewhere. A worker sees its pipe close when this process ends, be it by ``kill -9``, and ends at
once; this process sees the pipe of a worker close, says so in a sentence, and ends the others. A Ctrl-C reaches this
process alone. Workers keep to one thread each.
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
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, Generic, TypeVar

from sfumato.core.memory import find_memory_allowed
from sfumato.errors import InputError, SfumatoError, WorkerLost, quote

Item = TypeVar("Item")
Found = TypeVar("Found")

VARIABLE = "SFUMATO_PROCESSES"
"""The environment variable that says how many processes may work at a time, in place of the number of processors."""

_MEGABYTES = 250
"""Memory that a worker should find, for the interpreter and for what it works on."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from importlib import import_module; "
    "import_module(sys.argv[2]); from sfumato.core.worker_processes import work_for_parent; work_for_parent()"
)
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "ARROW_IO")
}


def count_processes(most: int) -> int:
    """Say how many processes may work at a time, `most` at most: by the environment, or by processors and memory.

    >>> count_processes(1)
    1
    """
    stated = os.environ.get(VARIABLE, "").strip()
    if stated:
        if not (stated.isascii() and stated.isdigit() and int(stated)):
            raise InputError(f"{VARIABLE} is {quote(stated)}; write how many processes may work at a time, as in 4")
        return min(int(stated), most)
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(min(processors, most, find_memory_allowed() // (_MEGABYTES * 10**6)), 1)


class WorkerProcesses(Generic[Item, Found]):
    """So many processes, each with a module imported; use it in a ``with``, at whose end none is left.

    With one process, or where the system gives no more, everything is done in this one: the same is found.

    >>> with WorkerProcesses(1, "math") as workers:
    ...     workers.apply(abs, [-3, 4], lambda place: None)
    [3, 4]
    """

    def __init__(self, count: int, module: str) -> None:
        self._workers = _start_workers(count if count > 1 else 0, module)
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "WorkerProcesses[Item, Found]":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._workers:
            process.kill()  # it has nothing to put in order
        for process in self._workers:
            process.wait()
        for thread in self._threads:
            thread.join()
        for process in self._workers:
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):  # what was not sent any more
                    pipe.close()  # type: ignore[union-attr]

    def apply(
        self, function: Callable[[Item], Found], items: Sequence[Item], finished: Callable[[int], None]
    ) -> list[Found]:
        """Call a function on each item, and give what it returns in the order of the items.

        Items are begun in their order; `finished` is called with the place of each that is done. What the function
        raises is raised here, a `WorkerLost` where a process ended before its time.
        """
        try:
            told = pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
        except (AttributeError, TypeError, pickle.PicklingError):  # of a caller's own making
            told = None
        if not self._workers or told is None:
            return _apply_here(function, items, finished)
        todo, said = iter(enumerate(items)), queue.SimpleQueue[_Word]()
        turn = threading.Lock()

        def take() -> tuple[int, Item] | None:
            with turn:
                return next(todo, None)

        self._threads = [
            threading.Thread(target=_direct, args=(process, told, take, said.put), daemon=True)
            for process in self._workers[: len(items)]
        ]
        for thread in self._threads:
            thread.start()
        found: dict[int, Found] = {}
        while len(found) < len(items):
            word = said.get()
            if isinstance(word.failure, _CannotLoad):
                return _apply_here(function, items, finished)
            if word.failure is not None:
                raise word.failure
            found[word.place] = word.found
            finished(word.place)
        return [found[place] for place in range(len(items))]


class _CannotLoad(Exception):
    """A worker cannot import what a function is made of, such as a class of the caller's main script."""


@dataclass
class _Word:
    """What a worker has to say of an item: what was found, or what went wrong."""

    place: int
    found: Any = None
    failure: BaseException | None = None


def _apply_here(
    function: Callable[[Item], Found], items: Sequence[Item], finished: Callable[[int], None]
) -> list[Found]:
    found = []
    for place, item in enumerate(items):
        found.append(function(item))
        finished(place)
    return found


def _start_workers(count: int, module: str) -> list[subprocess.Popen[bytes]]:
    """Start so many processes, or as many as the system gives."""
    if not sys.executable or getattr(sys, "frozen", False):  # then it is some program with Python inside
        return []
    flags = ["-I"] if sys.flags.isolated else ["-P"]
    path = json.dumps([str(place) for place in sys.path])
    workers: list[subprocess.Popen[bytes]] = []
    with contextlib.suppress(OSError):  # no more processes, or no memory for them
        for _ in range(count):
            process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, *flags, "-c", _START, path, module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | _ONE_THREAD,
                process_group=0,  # so that a Ctrl-C is for this process alone, which then ends them
            )
            workers.append(process)
    return workers


def _direct(
    process: subprocess.Popen[bytes],
    told: bytes,
    take: Callable[[], tuple[int, Any] | None],
    say: Callable[[_Word], None],
) -> None:
    """Give a worker one item after the other, as long as there are any, and say what came of each."""
    place = -1
    try:
        to, back = _pipes(process)
        to.write(told)
        while (item := take()) is not None:
            place = item[0]
            pickle.dump(item[1], to, pickle.HIGHEST_PROTOCOL)
            to.flush()
            found, failure = pickle.load(back)  # noqa: S301 - a child's answer, through a pipe of our own
            say(_Word(place, found, failure))
            if failure is not None:
                return
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # the other end is gone, in the middle of a word
        say(_Word(place, failure=_lost(process.wait())))
    except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for the result
        say(_Word(place, failure=error))


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None  # noqa: S101 - it was asked for; this tells the type checker
    assert process.stdout is not None  # noqa: S101 - same
    return process.stdin, process.stdout


def _lost(code: int) -> WorkerLost:
    """Say in a sentence that a process ended, and how."""
    how = "ended before its time"
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        how = f"was ended from outside ({name}), as the system does where memory runs out,"
    return WorkerLost(
        f"a process that worked on a part of the table {how} and nothing was published; run it again where more memory "
        f"is free, or with {VARIABLE}=1, which keeps everything in one process"
    )


# What runs in a worker


def work_for_parent() -> None:
    """Be a worker: read a function, then items, and answer each with what it returns or raises, until the pipe ends.

    A thread reads, so that the end of the pipe, which is that of the parent, ends the worker in the middle of its work.
    What is printed by the way goes nowhere: standard output is for answers.
    """
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    inbox = queue.SimpleQueue[Any]()
    threading.Thread(target=_read_items, args=(sys.stdin.buffer, inbox.put), daemon=True).start()
    function = inbox.get()
    while True:
        item = inbox.get()
        answer = _call(function, item)
        try:
            told = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # noqa: BLE001 - whatever cannot be told
            told = pickle.dumps((None, RuntimeError(f"an answer cannot be pickled: {type(error).__name__}")))
        back.write(told)
        back.flush()


def _read_items(pipe: IO[bytes], put: Callable[[Any], None]) -> None:
    while True:
        try:
            put(pickle.load(pipe))  # noqa: S301 - the parent's word, through a pipe of its own
        except (EOFError, OSError):
            os._exit(0)
        except MemoryError as error:
            put(error)
        except Exception as error:  # noqa: BLE001 - a class or a module that is not here
            put(_CannotLoad(type(error).__name__))


def _call(function: Callable[[Any], Any], item: Any) -> tuple[Any, BaseException | None]:
    for told in (function, item):
        if isinstance(told, _CannotLoad | MemoryError):  # it could not be read
            return None, told
    try:
        return function(item), None
    except SfumatoError as error:
        return None, error
    except MemoryError:
        return None, MemoryError()
    except Exception as error:  # noqa: BLE001 - a bug of ours, to be reported as one where somebody sees it
        error.add_note("".join(traceback.format_exception(error)))
        return None, error
