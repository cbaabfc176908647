"""Parties for tests: keys, consortium files, and processes that start at once."""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession

Parts = Mapping[str, Callable[[PartySession], Any]]


@dataclass(frozen=True)
class Ended:
    """How a party's process ended: its exit code, what it printed, the seconds it took, its memory in megabytes."""

    code: int
    out: str
    err: str
    seconds: float
    memory: float

    @property
    def sentence(self) -> str:
        """The error, the one line of its kind."""
        errors = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, self.err
        assert "bug of sfumato" not in self.err
        assert "Traceback" not in self.err
        return errors[0].removeprefix("error: ")


@dataclass
class Parties:
    """A consortium in a folder, with keys, and its parties as processes.

    `ports` are those of the addresses in the file; `listens` has, for a party that is reached through a proxy, the
    port that it really listens at.
    """

    folder: Path
    server: "subprocess.Popen[bytes]"
    names: tuple[str, ...]
    ports: dict[str, int] = field(default_factory=dict)
    listens: dict[str, int] = field(default_factory=dict)
    started: dict[str, tuple[int, float]] = field(default_factory=dict)

    def write(self, name: str = "consortium.toml", *, task: str = 'kind = "sum"', more: str = "", **keys: Any) -> Path:
        """Write the consortium file; `keys` are those of [consortium], and short times if they are left out."""
        settings = {"patience": 2, "wait": 6, "time_limit": 30} | keys
        lines = [
            "[consortium]",
            'name = "tests"',
            *(f"{key} = {value}" for key, value in settings.items()),
            "parties = [",
        ]
        lines += [
            f'  {{ name = "{party}", address = "127.0.0.1:{self.ports[party]}", certificate = "{party}.pem" }},'
            for party in self.names
        ]
        path = self.folder / name
        path.write_text("\n".join([*lines, "]", "[task]", task, more, ""]))
        return path

    def start(
        self, party: str, *, file: str = "consortium.toml", at: tuple[int, str] | None = None, **other: Any
    ) -> None:
        """Start a party; it hurts itself `at` its n-th use of a channel, or dies `at_step`, its n-th step."""
        out = other.pop("out", f"{party}.json")
        arguments = ["party", "run", file, "--as", party, "--data", f"{party}.csv", "--key", f"{party}.key"]
        arguments += ["--out", out, *other.pop("more", [])]
        if party in self.listens:
            arguments += ["--listen", f"127.0.0.1:{self.listens[party]}"]
        request = {"do": "start", "folder": str(self.folder), "arguments": arguments, "at": at}
        request["at_step"] = other.pop("at_step", None)
        request |= {"out": f"{party}.out", "err": f"{party}.err"}
        self.started[party] = (self._ask(request), time.monotonic())

    def wait(self, party: str, seconds: float = 12) -> Ended:
        """Wait for a party's process, which must end within some seconds."""
        process, begin = self.started[party]
        answer = self._ask({"do": "wait", "process": process, "seconds": seconds})
        assert answer is not None, f"party {party} did not end: {(self.folder / f'{party}.err').read_text()}"
        out, err = ((self.folder / f"{party}.{kind}").read_text() for kind in ("out", "err"))
        return Ended(answer[0], out, err, time.monotonic() - begin, answer[1])

    def run(self, **other: Any) -> dict[str, Ended]:
        """Start all parties, and wait for all."""
        for party in self.names:
            self.start(party, **other)
        return {party: self.wait(party) for party in self.names}

    def result(self, party: str) -> Any:
        """What a party wrote."""
        return json.loads((self.folder / f"{party}.json").read_text())["result"]

    def check_failed(self, *parties: str, seconds: float = 12) -> dict[str, str]:
        """Wait for parties that must fail: exit code 1, one sentence, no output, nothing half-written."""
        sentences = {}
        for party in parties:
            ended = self.wait(party, seconds)
            assert ended.code == 1, ended
            assert ended.out == ""
            assert not (self.folder / f"{party}.json").exists()
            assert not list(self.folder.glob(f".{party}*"))
            sentences[party] = ended.sentence
        return sentences

    def kill(self, party: str) -> None:
        """Kill a party's process, which may be stopped."""
        process, _ = self.started[party]
        os.kill(process, signal.SIGKILL)
        self._ask({"do": "wait", "process": process, "seconds": 5})

    def _ask(self, request: Mapping[str, Any]) -> Any:
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(request).encode() + b"\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())


@pytest.fixture(scope="session")
def party_server() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that forks parties."""
    command = [sys.executable, str(Path(__file__).with_name("party_server.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process


@pytest.fixture(scope="session")
def party_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys of three parties."""
    from sfumato.party.party_keys import make_party_keys

    folder = tmp_path_factory.mktemp("keys")
    for name in "abc":
        make_party_keys(name, folder)
    return folder


@pytest.fixture
def parties(tmp_path: Path, party_server: "subprocess.Popen[bytes]", party_keys: Path) -> Callable[..., Parties]:
    """Makes a consortium of some parties with tables of their own, and its file, in a folder of its own."""
    numbers = itertools.count()

    def make(names: str = "ab", **keys: Any) -> Parties:
        folder = tmp_path / f"run{next(numbers)}"
        folder.mkdir()
        made = Parties(folder, party_server, tuple(names))
        for place, name in enumerate(names):
            for suffix in ("key", "pem"):
                content = (party_keys / f"{name}.{suffix}").read_bytes()
                (folder / f"{name}.{suffix}").write_bytes(content)
                (folder / f"{name}.{suffix}").chmod(0o600)
            (folder / f"{name}.csv").write_text(f"ward,beds\nnorth,{place + 1}\nsouth,{10 * (place + 1)}\n")
            made.ports[name] = free_port()
        made.write(**keys)
        return made

    return make


def _take_turns() -> Iterator[int]:
    """Ports of this process, none twice before all have had their turn.

    They lie below those that the system gives to outgoing connections, so that no connection takes one between the
    moment it is found free and the moment a party listens at it; and each worker of the tests has some of its own.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 10
    block = range(10_000 + 2_000 * worker, 12_000 + 2_000 * worker)
    begin = os.getpid() % len(block)
    return itertools.cycle([*block[begin:], *block[:begin]])


_TURNS = _take_turns()


def free_port() -> int:
    """A port that nobody listens at, and that was not given lately."""
    for port in itertools.islice(_TURNS, 2_000):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:  # somebody is there
            continue
        return port
    raise AssertionError("none of two thousand ports is free")


class Proxy:
    """Something between two parties: it passes on what they say, keeps a copy, and may spoil it.

    `spoil` is given the direction ("in" is to the party that listens), how many bytes went that way before, and the
    next ones; it gives what to pass on in their place, or nothing to cut the connection.
    """

    def __init__(self, target: int, spoil: Callable[[str, int, bytes], bytes | None] | None = None) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.said: dict[str, bytes] = {"in": b"", "out": b""}
        self._target, self._spoil = target, spoil
        self._sockets = [self._listening]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return
            try:
                callee = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # not there yet
                caller.close()
                continue
            self._sockets += [caller, callee]
            for direction, source, sink in (("in", caller, callee), ("out", callee, caller)):
                threading.Thread(target=self._pass_on, args=(direction, source, sink), daemon=True).start()

    def _pass_on(self, direction: str, source: socket.socket, sink: socket.socket) -> None:
        before = 0
        with contextlib.suppress(OSError):
            while content := source.recv(1 << 16):
                self.said[direction] += content
                passed = content if self._spoil is None else self._spoil(direction, before, content)
                before += len(content)
                if passed is None:
                    break
                sink.sendall(passed)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no more connections, and end those that there are."""
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.fixture
def proxy() -> Iterator[Callable[..., Proxy]]:
    """Puts a proxy before a party of a consortium, and gives it."""
    made: list[Proxy] = []

    def put(parties: Parties, party: str, spoil: Any = None, **keys: Any) -> Proxy:
        parties.listens[party] = free_port()
        made.append(Proxy(parties.listens[party], spoil))
        parties.ports[party] = made[-1].port
        parties.write(**keys)
        return made[-1]

    yield put
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def run_pair() -> Callable[[Parts], dict[str, Any]]:
    """Give a function that runs the parts of a and b, in the sessions of the run before unless it failed."""
    kept: list[dict[str, PartySession]] = []

    def run(parts: Parts) -> dict[str, Any]:
        sessions = kept.pop() if kept else local_sessions("a", "b")
        results = run_parties(parts, sessions)
        kept.append(sessions)
        return results

    return run
