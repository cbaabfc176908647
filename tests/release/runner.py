"""Runs releases in forked children of one warm process and ends them at chosen moments; prints what is left.

Usage: runner.py HOW FOLDER TRIES, where HOW is kill, force, sign (kill, with a key), stream (kill, rows on disk), term
or int. The children
run the real command.
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
from pathlib import Path
from typing import Any, NoReturn

import numpy.ma
import pandas as pd
import rich.table
import typer._adapters

import sfumato as sf
from sfumato.cli import main
from sfumato.engines import stream_engine
from sfumato.publish import csv_writer, parquet_writer
from sfumato.release.key_folder import write_key_folder
from sfumato.report import private_report
from sfumato.verifier.manifest_signature import TrustedKey, require_signature

WARM = (
    sf.anonymize,
    sf.verify,
    stream_engine,
    csv_writer,
    parquet_writer,
    private_report,
    numpy.ma,
    pd,
    rich.table,
    typer._adapters,
)
"""What a release imports is imported before the first fork, so that kills come while it works."""
STARTED = 0.05  # by when a child listens to signals that can be listened to
PATIENCE = 20.0  # seconds until a run has surely begun to write
SIGNALS = {
    "kill": signal.SIGKILL,
    "force": signal.SIGKILL,
    "sign": signal.SIGKILL,
    "stream": signal.SIGKILL,
    "term": signal.SIGTERM,
    "int": signal.SIGINT,
}
FILES = [
    "private/audit.json",
    "private/recoding.json",
    "private/report.html",
    "public/manifest.json",
    "public/summary.html",
    "public/table.csv",
]


def child(how: str, folder: Path) -> NoReturn:
    """The command as a user runs it, without its words."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(os.open(folder / "stderr.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    options = {
        "force": ["--force"],
        "sign": ["--sign", str(folder / "keys" / "private.pem")],
        "stream": ["--engine", "stream"],
    }
    more = options.get(how, [])
    code: Any = 1
    try:
        main(["anonymize", str(folder / "policy.toml"), "--out", str(_out(folder, how)), *more])
    except SystemExit as end:
        code = end.code
    os._exit(code if isinstance(code, int) else 1)


def attempt(how: str, folder: Path, delay: float | None, *, writing: bool = False) -> dict[str, Any]:
    """One run, ended after `delay` seconds or not at all, and what it left; `writing`: so long after it began to."""
    started, before = time.perf_counter(), _hidden(folder)
    process = os.fork()
    if process == 0:
        child(how, folder)
    while writing and not _hidden(folder) - before and time.perf_counter() - started < PATIENCE:
        time.sleep(0.001)
    if delay is not None:
        time.sleep(delay)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, SIGNALS[how])
    _, status = os.waitpid(process, 0)
    out = _out(folder, how)
    return {
        "seconds": time.perf_counter() - started,
        "status": os.waitstatus_to_exitcode(status),
        "exists": out.exists(),
        "whole": _is_whole(out, how),
        "hidden": len(_hidden(folder)),
        "others": sorted(path.name for path in folder.iterdir()),
    }


def _hidden(folder: Path) -> set[str]:
    """The folders that releases are written in before they appear, here or in the folder that is made on the way."""
    places = [place for place in (folder, folder / "made") if place.is_dir()]
    names = {path.name for place in places for path in place.iterdir()}
    return {name for name in names if name.startswith(".release.sfumato-")}


def _out(folder: Path, how: str) -> Path:
    return folder / "release" if SIGNALS[how] == signal.SIGKILL else folder / "made" / "release"


def _is_whole(out: Path, how: str) -> bool:
    files = sorted([*FILES, "public/manifest.json.sig"]) if how == "sign" else FILES
    if sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) != files:
        return False
    if how == "sign":  # not by all of the verifier, whose threads would not live on in the next fork
        key = TrustedKey.read(out.parent / "keys" / "public.pem")
        require_signature(out / "public", (out / "public" / "manifest.json").read_bytes(), key)
    manifest = json.loads((out / "public" / "manifest.json").read_text())
    content = (out / "public" / "table.csv").read_bytes()
    return bool(manifest["privacy"] and manifest["files"]["table.csv"]["sha256"] == hashlib.sha256(content).hexdigest())


def _clear(folder: Path, how: str) -> None:
    out = _out(folder, how)
    if how != "force":
        shutil.rmtree(out if out.parent == folder else out.parent, ignore_errors=True)


def run(how: str, folder: Path, tries: int) -> None:
    """Measure a whole run, end others at moments spread over it, and let a last one finish."""
    draw = random.Random(tries)
    if how == "sign":
        write_key_folder(folder / "keys")
    attempt(how, folder, None)
    _clear(folder, how)
    whole = attempt(how, folder, None)["seconds"]
    found = []
    for number in range(tries):
        _clear(folder, how)
        moment = whole * 1.05 * (number + draw.random()) / tries
        if SIGNALS[how] == signal.SIGKILL and number % 3 == 0:  # whatever the machine's pace, some come while it writes
            found.append(attempt(how, folder, 0.05 * draw.random(), writing=True))
        else:
            found.append(attempt(how, folder, moment if SIGNALS[how] == signal.SIGKILL else max(moment, STARTED)))
    _clear(folder, how)
    print(json.dumps({"tries": found, "last": attempt(how, folder, None)}))  # noqa: T201 - for the test to read


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
