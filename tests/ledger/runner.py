"""Runs processes that write to one ledger, in forked children of one warm process; prints what is left.

Usage: runner.py HOW FOLDER NUMBER. The folder has a release, and gets a ledger and copies of the release to record.
"""

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from sfumato.cli import main, printing
from sfumato.errors import InputError
from sfumato.ledger import Ledger, candidate_release
from sfumato.ledger import ledger as inside

WARM = (printing,)  # imported before the first fork
WRITING = {"open", "os.mkdir", "os.rename", "os.listdir", "shutil.rmtree", "sqlite3.connect", "fcntl.flock"}


def alike(folder: Path, name: str) -> Path:
    """Another release: a copy whose manifest says so."""
    target = folder / name
    if not target.exists():
        shutil.copytree(folder / "original", target)
        manifest, audit = target / "public" / "manifest.json", target / "private" / "audit.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"title": name}))
        sha256 = hashlib.sha256(manifest.read_bytes()).hexdigest()
        audit.write_text(json.dumps(json.loads(audit.read_text()) | {"manifest_sha256": sha256}))
    return target


def forked(work: Callable[[], int]) -> int:
    """A child that does some work and ends with its code; its words go nowhere."""
    process = os.fork()
    if process:
        return process
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    code = 70
    with contextlib.suppress(BaseException):
        code = work()
    os._exit(code)


def ended(process: int) -> int:
    """How a child ended; below 0 for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def is_over(process: int) -> bool:
    """Whether a child has ended; it is still there to be waited for."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def add(folder: Path, name: str) -> int:
    """The real command, in a child; gives its exit code."""

    def command() -> int:
        try:
            main(["ledger", "add", str(folder / "ledger"), str(folder / name)])
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 1

    return forked(command)


def many(folder: Path, number: int) -> dict[str, Any]:
    """So many processes at once, each with a release of its own, and all with one that they share."""
    names = [alike(folder, f"own-{place}").name for place in range(number)]
    alike(folder, "shared")
    own = {name: add(folder, name) for name in names}
    shared = [add(folder, "shared") for _ in range(number)]
    return {"own": {name: ended(one) for name, one in own.items()}, "shared": [ended(one) for one in shared]}


def unlocked(folder: Path, number: int) -> dict[str, Any]:
    """So many processes at once on a disk that knows no locks of folders; each records and publishes some."""
    names = [[alike(folder, f"one-{place}-{turn}").name for turn in range(5)] for place in range(number)]
    at = time.monotonic() + 0.2

    def work(place: int) -> int:
        vars(inside)["writer_lock"] = contextlib.nullcontext
        one = Ledger.open(folder / "ledger")
        time.sleep(max(at - time.monotonic(), 0))
        for name in names[place]:
            one.finish(one.reserve(folder / name, one.snapshot(name), name=name).number)
        return 0

    children = [forked(partial(work, place)) for place in range(number)]
    return {"codes": [ended(one) for one in children], "names": [name for some in names for name in some]}


def race(folder: Path, number: int) -> dict[str, Any]:
    """So many processes that saw the same ledger, and reserve at once; tells who was let in."""
    stages = [alike(folder, f"stage-{place}") for place in range(number)]
    ledger = Ledger.open(folder / "ledger")
    seen = ledger.snapshot("p")

    def reserve(stage: Path) -> int:
        try:
            ledger.reserve(stage, seen, name=stage.name)
        except InputError as error:
            return 2 if "recorded meanwhile" in str(error) else 3
        return 0

    children = [forked(partial(reserve, stage)) for stage in stages]
    return {"codes": [ended(one) for one in children]}


def kill(folder: Path, number: int) -> dict[str, Any]:
    """So many commands that are killed at moments spread over a run, a third of them while they write."""
    draw = random.Random(number)
    for place in range(number + 3):
        alike(folder, f"try-{place}")
    warm = [ended(add(folder, f"try-{place}")) for place in range(2)]
    started = time.perf_counter()
    done = {f"try-{place}": code for place, code in enumerate(warm)}
    done["try-2"] = ended(add(folder, "try-2"))
    whole = time.perf_counter() - started
    tries = []
    for place in range(3, number + 3):
        process = add(folder, f"try-{place}")
        if place % 3 == 0:
            while not hidden(folder) and not is_over(process):
                pass
            time.sleep(0.005 * draw.random())
        else:
            time.sleep(whole * 1.05 * (place - 3 + draw.random()) / number)
        os.kill(process, signal.SIGKILL)
        done[f"try-{place}"] = ended(process)
        tries.append(look(folder))
    return {"done": done, "tries": tries, "last": finish(folder, list(done))}


def steps(folder: Path, number: int) -> dict[str, Any]:
    """A command that is killed at its first step of writing, another at its second, and so on until one ends."""
    codes, tries = dict[str, int](), []
    for place in range(number):
        name = alike(folder, f"step-{place}").name
        codes[name] = ended(forked(partial(stepped, folder, name, place)))
        tries.append(look(folder))
        if codes[name] == 0:
            break
    return {"done": codes, "tries": tries, "last": finish(folder, list(codes))}


def stepped(folder: Path, name: str, last: int) -> int:
    """Record a release; the process is killed at the step of that number after the release was verified."""
    left = last

    def watch(event: str, _: Any) -> None:
        nonlocal left
        if event in WRITING:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    candidate_release.CandidateRelease.check = lambda self: sys.addaudithook(watch)  # type: ignore[method-assign]
    Ledger.open(folder / "ledger").add(folder / name)
    return 0


def look(folder: Path) -> dict[str, Any]:
    """The ledger as the next one finds it."""
    entries = Ledger.open(folder / "ledger").entries()
    whole = all(path.is_file() for entry in entries for path in entry.paths)
    return {"names": [entry.name for entry in entries], "whole": whole, "hidden": hidden(folder)}


def finish(folder: Path, names: list[str]) -> dict[str, Any]:
    """Every release once more, in a process that is left alone."""

    def again() -> int:
        ledger = Ledger.open(folder / "ledger")
        for name in names:
            try:
                ledger.add(folder / name)
            except InputError as error:
                if "recorded already" not in str(error):
                    return 3
        return 0

    return {"code": ended(forked(again))} | look(folder)


def hidden(folder: Path) -> int:
    """What is not complete."""
    return len(list((folder / "ledger" / "objects").glob(".new-*")))


def run(how: str, folder: Path, number: int) -> NoReturn:
    """Begin a ledger and write to it."""
    Ledger.create(folder / "ledger")
    found = {"many": many, "race": race, "unlocked": unlocked, "kill": kill, "steps": steps}[how](folder, number)
    print(json.dumps(found))  # noqa: T201 - for the test to read
    sys.exit(0)


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
