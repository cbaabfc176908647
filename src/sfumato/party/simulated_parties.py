"""A rehearsal: all parties of a consortium as processes on this machine, over TLS, with keys that are thrown away.

It is the run itself, but for the addresses and certificates of the file, which need not be there yet. Each process
reads its own table alone. Started as a program, this module is one of these processes: what it is to do comes on its
standard input, and what it found goes to its standard output, as JSON.
"""

import contextlib
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import open_regular_file
from sfumato.errors import InputError, OutputError, RunAborted, SfumatoError, did_you_mean, quote
from sfumato.party.consortium import Consortium, StandIn, read_consortium
from sfumato.party.party_keys import make_party_keys, parse_certificate
from sfumato.party.party_run import PartyResult, run_party, write_party_result
from sfumato.party.tls_channel import PeerEndedRun
from sfumato.reading.outside_table import outside_column_names
from sfumato.rules.basket_files import LINE_SUFFIXES

_HOST = "127.0.0.1"
_GRACE = 5.0
"""Seconds that the others have to end by themselves, when one has."""


@dataclass(frozen=True)
class Simulation:
    """What each party was told in a simulation, by its name; `writes_folder` where each has written a folder."""

    parties: Mapping[str, PartyResult]
    writes_folder: bool = False

    @property
    def result(self) -> Any:
        """What the first of those was told who are told anything."""
        return next((found.result for found in self.parties.values() if found.result is not None), None)

    def as_json(self) -> dict[str, Any]:
        """Make what ``--json`` prints: the common result and cost, and what each party has."""
        every = list(self.parties.values())
        return {
            "task": every[0].task,
            "result": self.result,
            "seconds": max(found.seconds for found in every),
            "bytes_sent": sum(found.bytes_sent for found in every),
            "rounds": max(found.rounds for found in every),
            "adversary": every[0].adversary,
            "learned": every[0].learned,
            "parties": {name: found.as_json() for name, found in self.parties.items()},
        }


def simulate(
    consortium: str | Path,
    data: Mapping[str, str | Path],
    *,
    say: Callable[[str], None] | None = None,
    out: Path | None = None,
    force: bool = False,
    warn: Callable[[str], None] | None = None,
) -> Simulation:
    """Run all parties of a consortium on this machine, each as a process of its own.

    `data` has the table's file of each party, by its name. The addresses and certificates of the file are not looked
    at, and runs do not count. `say` is given what is said of the protocol before anything moves, `warn` what each
    party should know of its table. `out` is a folder for tasks that write one for each party, ``OUT/NAME``.

    Raises:
        InputError: the file or a table is at fault.
        RunAborted: the run ended without a result.
    """
    path = Path(consortium)
    folder = Path(tempfile.mkdtemp(prefix="sfumato-parties-"))
    sockets: dict[str, socket.socket] = {}

    def stand_in(name: str) -> StandIn:
        sockets[name] = socket.create_server((_HOST, 0))
        made = make_party_keys(name, folder, days=1)
        return StandIn(
            _HOST,
            sockets[name].getsockname()[1],
            parse_certificate(made.certificate.read_bytes(), str(made.certificate)),
        )

    try:
        read = read_consortium(path, stand_in)
        _check_data(read, data)
        if say is not None:
            for sentence in read.task.statement(read.names).sentences():
                say(sentence)
        new = out is not None and not out.exists()
        answers = _run_processes(path, read, data, sockets, folder, out, force=force)
        if new and out is not None:
            with contextlib.suppress(OSError):  # where all failed it is empty, and where none did it is not
                out.rmdir()
    finally:
        for listening in sockets.values():
            listening.close()
        shutil.rmtree(folder, ignore_errors=True)
    if warn is not None:
        for name, answer in answers.items():
            for sentence in answer.warnings:
                warn(f"party {name}: {sentence}")
    failed = {name: answer for name, answer in answers.items() if answer.result is None}
    if failed:
        # what is wrong with a table is the cause, and what others were told by a peer that ended is not
        name = min(failed, key=lambda name: (-failed[name].code, failed[name].told))
        kind = InputError if failed[name].code == InputError.exit_code else RunAborted
        raise kind(f"party {quote(name)}: {failed[name].error}")
    found = {name: answer.result for name, answer in answers.items() if answer.result is not None}
    return Simulation(found, read.task.writes_folder)


def check_results_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that is there already, unless `force` replaces results in it."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(f"{folder} is not a folder; choose another --out")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise OutputError(f"{folder} exists already; choose another --out, or replace results in it with --force")
    if not folder.parent.is_dir():
        raise OutputError(f"there is no folder {folder.parent}; make it, or choose another --out")


def write_results_folder(folder: Path, found: Simulation) -> None:
    """Write the result of each party who is told one, as ``NAME.json``, into a folder that may be there."""
    new = not folder.exists()
    written: list[Path] = []
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        for name, one in found.parties.items():
            if one.result is not None:
                write_party_result(folder / f"{name}.json", one)
                written.append(folder / f"{name}.json")
    except BaseException as error:
        for path in written if new else ():
            path.unlink(missing_ok=True)
        if new:
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            raise OutputError(f"cannot write {folder}: {error.strerror}; choose another --out") from None
        raise


def _check_data(consortium: Consortium, data: Mapping[str, str | Path]) -> None:
    for name in data:
        if name not in consortium.names:
            hint = did_you_mean(name, consortium.names)
            raise InputError(f"--data: the consortium has no party {quote(name)}{hint}")
    for name in consortium.names:
        if name not in data:
            raise InputError(f"--data: party {quote(name)} has none; write --data {name}=FILE")
        try:  # before anything is said; the rest of it is for its own process to read
            if consortium.task.reads_baskets and str(data[name]).lower().endswith(LINE_SUFFIXES):
                open_regular_file(Path(data[name])).close()
            else:
                outside_column_names(data[name], {})
        except InputError as error:
            raise InputError(f"party {quote(name)}: {error}") from None


def _run_processes(  # noqa: PLR0913 - what `simulate` has put together
    path: Path,
    consortium: Consortium,
    data: Mapping[str, str | Path],
    sockets: Mapping[str, socket.socket],
    folder: Path,
    out: Path | None,
    *,
    force: bool,
) -> "dict[str, _Answer]":
    """Start a process for each party, and wait until all have ended; where one fails, the others have little time."""
    stand_ins = {party.name: [party.port, party.certificate.pem] for party in consortium.parties}
    processes: dict[str, _PartyProcess] = {}
    try:
        for name in consortium.names:
            told: dict[str, Any] = {
                "consortium": str(path),
                "me": name,
                "data": str(data[name]),
                "key": str(folder / f"{name}.key"),
            }
            told |= {"out": None if out is None else str(out / name), "force": force, "stand_ins": stand_ins}
            processes[name] = _PartyProcess(told, sockets[name])
        deadline = math.inf
        while any(process.is_running() for process in processes.values()) and time.monotonic() < deadline:
            time.sleep(0.02)
            failed = [process for process in processes.values() if process.has_failed()]
            if failed and deadline == math.inf:
                deadline = time.monotonic() + _GRACE
            if any(process.answer.code == InputError.exit_code for process in failed):
                break  # before it was connected, so that the others would wait for it
    finally:
        for process in processes.values():
            process.end()
    return {name: process.answer for name, process in processes.items()}


@dataclass
class _Answer:
    """What a process said: a result, or an error and its exit code; and what it warned of.

    `told` is whether the error is a peer's word that it ended the run.
    """

    result: PartyResult | None = None
    error: str = ""
    code: int = 0
    warnings: tuple[str, ...] = ()
    told: bool = False


class _PartyProcess:
    """A process that is one party."""

    def __init__(self, told: Mapping[str, Any], listening: socket.socket) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sfumato.party.simulated_parties"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[listening.fileno()],
        )
        task = json.dumps({**told, "listening": listening.fileno()}).encode()
        self.answer = _Answer(error="it ended without a word", code=RunAborted.exit_code)
        self._thread = threading.Thread(target=self._listen, args=(task,), daemon=True)
        self._thread.start()

    def _listen(self, task: bytes) -> None:
        said = self._process.communicate(task)[0]
        with contextlib.suppress(ValueError):
            given = json.loads(said)
            found = PartyResult(**given["result"]) if given["result"] is not None else None
            self.answer = _Answer(found, given["error"], given["code"], tuple(given["warnings"]), given["told"])

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def has_failed(self) -> bool:
        return not self.is_running() and self.answer.result is None

    def end(self) -> None:
        """End the process, if it has not."""
        if self._process.poll() is None:
            self._process.terminate()
        self._thread.join()


def _play(task: Mapping[str, Any]) -> dict[str, Any]:
    """Be one of the processes: run a party, and give what it found, or what went wrong."""
    certificates = {
        name: (port, parse_certificate(pem.encode(), name)) for name, (port, pem) in task["stand_ins"].items()
    }
    warnings: list[str] = []
    try:
        consortium = read_consortium(Path(task["consortium"]), lambda name: StandIn(_HOST, *certificates[name]))
        found = run_party(
            consortium,
            task["me"],
            task["data"],
            Path(task["key"]),
            out=None if task["out"] is None else Path(task["out"]),
            force=task["force"],
            listening=socket.socket(fileno=task["listening"]),
            warn=warnings.append,
        )
    except SfumatoError as error:
        told = isinstance(error, PeerEndedRun)
        return {"result": None, "error": str(error), "code": error.exit_code, "warnings": warnings, "told": told}
    except Exception as error:  # noqa: BLE001 - its text may quote data, so only its place is told
        if os.environ.get("SFUMATO_DEBUG"):
            traceback.print_exception(error)
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
        said = f"this is a bug of sfumato ({where}); please report it, with SFUMATO_DEBUG=1 for details"
        return {"result": None, "error": said, "code": RunAborted.exit_code, "warnings": warnings, "told": False}
    return {"result": found.as_json(), "error": "", "code": 0, "warnings": warnings, "told": False}


if __name__ == "__main__":
    print(json.dumps(_play(json.load(sys.stdin)), allow_nan=False))  # noqa: T201 - to the process that started this one
