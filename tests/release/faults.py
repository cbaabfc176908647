"""Publishes on a disk that fails once, at every step in turn, or is killed there; prints what is left each time.

Usage: faults.py SCENARIO FOLDER. A step is one call that changes the disk: making a folder, opening a file
for writing, writing to it, flushing, renaming, changing rights, removing, committing to a database. A good run is
watched first, and gives the list of steps; each is known by its kind and place, since threads come in any order. Every
run is a child of one warm process, and uses the real command.
"""

import builtins
import errno
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy.ma
import pandas as pd
import rich.table

from sfumato.cli.main import _run
from sfumato.ledger import Ledger
from sfumato.ledger.stored_copies import writer_lock
from sfumato.publish import csv_writer
from sfumato.recode import full_domain, optimal
from sfumato.release import folder as folders
from sfumato.report import private_report, public_summary
from sfumato.verifier import verify

WARM = (csv_writer, full_domain, optimal, private_report, public_summary, numpy.ma, pd, rich.table)
"""Imported before the first fork."""
SCENARIOS = {"new": [], "force": ["--force"], "ledger": ["--ledger", "books"]}
KILLED = "kill"
SAMPLED = 3
"""Of the steps at which a run is killed, or shares with another way, one in so many is tried; all where it appears."""
APPEARS = ("rename", "exchange", "commit")


class FailingDisk:
    """Counts the steps of this process on the disk; fails at one of them, or ends the process there."""

    def __init__(self, root: Path, step: str | None = None, fault: str = "") -> None:
        self.root, self.step, self.fault = root, step, fault
        self.steps: list[str] = []
        self._seen = Counter[str]()

    def take(self, kind: str, place: Any, *, fail: Callable[[int], Exception] | None = None) -> None:
        """Take a step on a file, known by its path or its number; raise where it is the one that fails."""
        path = Path(f"/proc/self/fd/{place}").readlink() if isinstance(place, int) else Path.cwd() / os.fsdecode(place)
        if not path.is_relative_to(self.root):
            return
        name = re.sub("[0-9a-f]{16,}", "x", str(path.relative_to(self.root)))
        self._seen[f"{kind} {name}"] += 1
        step = f"{kind} {name} {self._seen[f'{kind} {name}']}"
        self.steps.append(step)
        if step == self.step:
            if self.fault == KILLED:
                os.kill(os.getpid(), signal.SIGKILL)
            code = int(getattr(errno, self.fault))
            raise fail(code) if fail else OSError(code, os.strerror(code))

    def watch(self) -> None:
        """Put every call that changes the disk under watch, for as long as this process lives."""
        for name in ("mkdir", "rename", "chmod", "unlink", "rmdir", "fsync"):
            setattr(os, name, self._watched(name, getattr(os, name)))
        real_open = os.open

        def open_descriptor(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
            if flags & (os.O_WRONLY | os.O_RDWR):
                self.take("open", path)
            return real_open(path, flags, *arguments, **options)

        vars(os)["open"] = open_descriptor
        vars(io)["open"] = self._open_file
        exchange = vars(folders)["_exchange"]

        def watched_exchange(path: Path, target: Path) -> None:
            self.take("exchange", target)
            exchange(path, target)
            self.take("exchanged", target)  # as where the disk has done it, and says that it has not

        vars(folders)["_exchange"] = watched_exchange
        connect, disk = sqlite3.connect, self

        class WatchedConnection(sqlite3.Connection):
            def execute(self, statement: str, *arguments: Any) -> Any:
                path = str(super().execute("PRAGMA database_list").fetchone()[2])
                if statement == "COMMIT":
                    disk.take("commit", path, fail=_database_error)
                cursor = super().execute(statement, *arguments)
                if statement == "COMMIT":
                    disk.take("committed", path, fail=_database_error)
                return cursor

        def watched_connect(*arguments: Any, **options: Any) -> Any:
            return connect(*arguments, **options, factory=WatchedConnection)

        vars(sqlite3)["connect"] = watched_connect

    def _watched(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            at = options.get("dir_fd")
            place = path if at is None else Path(f"/proc/self/fd/{at}").readlink() / os.fsdecode(path)
            self.take(kind, place)
            done = real(path, *arguments, **options)
            if kind == "rename":
                self.take("renamed", arguments[0])
            return done

        return call

    def _open_file(self, file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        """Open a file as `io.open` does; one that is written has steps for opening and for every write."""
        if not set(mode) & set("wax+"):
            return builtins.open(file, mode, *arguments, **options)  # noqa: PTH123 - the real one
        disk = self
        disk.take("open", file)

        class WatchedFile(io.FileIO):
            def write(self, data: Any, /) -> int:
                disk.take("write", self.fileno())
                return super().write(data)

        buffered = io.BufferedWriter(WatchedFile(file, mode.replace("b", "").replace("t", "")))
        encoding = options.get("encoding")
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, write_through=False)


def _database_error(code: int) -> Exception:
    return sqlite3.OperationalError(os.strerror(code))


def publish(root: Path, scenario: str, step: str | None, fault: str) -> int:
    """Run the command in this process, on a disk that fails at a step; leave the steps that were taken."""
    os.chdir(root)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(os.open(root.parent / "stderr.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    disk = FailingDisk(root, step, fault)
    disk.watch()
    code = _run(["anonymize", "../policy.toml", "--out", "made/release", *SCENARIOS[scenario]])
    disk.root = Path("/nowhere")
    (root.parent / "steps.json").write_text(json.dumps(disk.steps))
    return code


def look(root: Path, scenario: str, old: bytes) -> int:
    """Write down what a run left: which release, whether it holds, what the ledger lists, and what nobody clears."""
    target, books = root / "made" / "release", root / "books"
    state, holds, listed = "nothing", True, []
    if target.exists():
        state = "old" if (target / "public" / "manifest.json").read_bytes() == old else "new"
        holds = verify(target).satisfied
    if scenario == "ledger":
        listed = [entry.state for entry in Ledger.open(books).entries()]
        with writer_lock(books / "objects"):
            pass
    if target.parent.exists():
        folders.clear_leftovers(target)
    hidden = sorted(str(path.relative_to(root)) for path in root.rglob(".*"))
    found = {"state": state, "holds": holds, "listed": listed, "hidden": hidden}
    (root.parent / "found.json").write_text(json.dumps(found))
    return 0


def forked(work: Callable[..., int], *arguments: Any) -> int:
    """Do some work in a child; give its exit code, or minus the signal that ended it."""
    process = os.fork()
    if process == 0:
        code = 70
        try:
            code = work(*arguments)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def run(scenario: str, folder: Path) -> None:
    """Watch a good run, and let others fail or be killed at each of its steps; print what each came to."""
    root, start = folder / "root", folder / "start"
    start.mkdir()
    _run(["anonymize", str(folder / "nothing.toml")])  # imports what reads a command
    old = b""
    if scenario == "force":
        forked(publish, start, "new", None, "")
        old = (start / "made" / "release" / "public" / "manifest.json").read_bytes()
    if scenario == "ledger":
        Ledger.create(start / "books")
    cases: list[tuple[str | None, str]] = [(None, "")]
    results: list[dict[str, Any]] = []
    while cases:
        step, fault = cases.pop(0)
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(start, root)
        code = forked(publish, root, scenario, step, fault)
        looked = forked(look, root, scenario, old)
        found = json.loads((folder / "found.json").read_text()) if looked == 0 else {"looked": looked}
        said = (folder / "stderr.txt").read_text()
        results.append({"step": step, "fault": fault, "code": code, "said": said, **found})
        if step is None:
            steps, seen = json.loads((folder / "steps.json").read_text()), set[str]()
            for number, each in enumerate(steps):
                kind, appears = each.split()[0], each.startswith(APPEARS)
                # a new release fails at every step; the other ways share most steps with it
                tried = scenario == "new" or number % SAMPLED == 0 or appears or " books" in each or kind not in seen
                killed = number % SAMPLED == 0 or appears
                kinds = [*([("ENOSPC", "EIO")[number % 2]] if tried else []), *([KILLED] if killed else [])]
                cases += [(each, fault) for fault in kinds]
                seen.add(kind)
    print(json.dumps(results))  # noqa: T201 - for the test to read


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]))
