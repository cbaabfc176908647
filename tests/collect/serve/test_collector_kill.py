"""The command: what it prints, what stops it, and what is left after it was killed."""

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sfumato.collect import CollectionForm
from sfumato.collect.collection_form import noise_digest
from sfumato.collect.submission import write_submission

pytestmark = pytest.mark.slow

RUN = [sys.executable, "-c", "from sfumato.cli import main; main()", "collect", "serve"]
FORM = """
title = "T"

[[question]]
name = "age"
text = "How old are you?"
kind = "laplace"
scale = 20.0
domain = [10, 90]
"""
Runs = Callable[..., Any]


@pytest.fixture
def form_file(tmp_path: Path) -> Path:
    """A form in a file."""
    path = tmp_path / "form.toml"
    path.write_text(FORM, encoding="utf-8")
    return path


@contextmanager
def served(form: Path, store: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """Run the command as a process of its own on a free port."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [*RUN, str(form), "--store", str(store), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r":(\d+)/", process.stdout.readline())
            assert found is not None
            yield process, int(found[1])
        finally:
            process.kill()


class Sender(threading.Thread):
    """Sends one submission after the other over a connection, and notes which were acknowledged."""

    def __init__(self, port: int, bodies: list[tuple[str, bytes]]) -> None:
        super().__init__()
        self.port, self.bodies = port, bodies
        self.acknowledged: list[str] = []

    def run(self) -> None:
        """Send until the collector is gone."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with suppress(OSError, http.client.HTTPException):
            for key, body in self.bodies:
                connection.request("POST", "/answers", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                assert key.encode() in reply.read()
                assert reply.status == 200
                self.acknowledged.append(key)
        connection.close()


def read_keys(store: Path) -> list[str]:
    """The keys in a store that nobody has open."""
    with duckdb.connect(str(store), read_only=True) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM answers").fetchall()]


def test_a_kill_loses_and_doubles_nothing_that_was_acknowledged(form_file: Path, tmp_path: Path) -> None:
    """Killed in the midst three times; what was acknowledged is there, and what is sent again is there once."""
    store, digest = tmp_path / "answers.duckdb", noise_digest(CollectionForm.load(form_file).noise)
    left = {
        key: write_submission(key, digest, {"age": place / 1000})
        for place, key in enumerate(os.urandom(16).hex() for _ in range(1200))
    }
    every, acknowledged = set(left), set[str]()
    for enough in (20, 250, 100):
        with served(form_file, store) as (process, port):
            parts = [list(left.items())[place::8] for place in range(8)]
            senders = [Sender(port, part) for part in parts]
            for sender in senders:
                sender.start()
            while sum(len(sender.acknowledged) for sender in senders) < enough:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            for sender in senders:
                sender.join()
        new = {key for sender in senders for key in sender.acknowledged}
        acknowledged |= new
        # a sender sends again whatever it got no acknowledgement of, and a few of the others come twice as well
        left = {key: body for key, body in left.items() if key not in new or key[0] == "0"}
    with served(form_file, store) as (process, port):
        there = Sender(port, list(left.items()))
        there.run()
        assert len(there.acknowledged) == len(left)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "stopped" in out
    kept = read_keys(store)
    assert len(kept) == len(set(kept))
    assert acknowledged <= set(kept)
    assert set(kept) == every
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answers.duckdb", "form.toml"]


def test_nothing_is_said_of_who_asked(form_file: Path, tmp_path: Path) -> None:
    """The process prints its address and how many answers came, and not a word of any request."""
    store = tmp_path / "answers.duckdb"
    with served(form_file, store) as (process, port):
        for path in ("/", "/results", "/secret-path"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", path, headers={"User-Agent": "canary-agent"})
            connection.getresponse().read()
            connection.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines()[-1].startswith("stopped  0 answers came")
    assert "secret" not in out
    assert store.stat().st_mode & 0o077 == 0
    assert b"canary-agent" not in store.read_bytes()


def test_a_store_that_is_open_elsewhere_is_refused(form_file: Path, tmp_path: Path, runs: Runs) -> None:
    """A second collector on the same store ends with one sentence and exit code 2; the first goes on."""
    store = tmp_path / "answers.duckdb"
    with served(form_file, store) as (process, port):
        second = runs("collect", "serve", form_file, "--store", store, "--port", "0")
        assert second.code == 2
        assert second.sentence.startswith("answers.duckdb is open in another program, perhaps another collector; stop")
        third = runs("collect", "serve", form_file, "--store", tmp_path / "other.duckdb", "--port", str(port))
        assert third.code == 2
        assert third.sentence.startswith(f"nothing can be served at 127.0.0.1, port {port} (Address already in use)")
        assert process.poll() is None
    assert not (tmp_path / "other.duckdb").exists()


def test_a_wrong_form_leaves_no_store(tmp_path: Path, runs: Runs) -> None:
    """The form is read first: where it is wrong, nothing is made."""
    (tmp_path / "form.toml").write_text(FORM.replace("20.0", "0.0"), encoding="utf-8")
    ended = runs("collect", "serve", "form.toml", "--store", "answers.duckdb")
    assert ended.code == 2
    assert ended.sentence.startswith("form.toml, line 8: question[0].scale: scale must be a number above 0")
    assert [file.name for file in tmp_path.iterdir()] == ["form.toml"]
    assert runs("collect", "serve", "none.toml", "--store", "answers.duckdb").code == 2
