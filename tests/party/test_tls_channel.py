"""Channels over TLS between threads of one process: what waits is bounded, and who computes is interrupted."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.errors import RunAborted
from sfumato.party import tls_channel
from sfumato.party.consortium import Consortium, StandIn, read_consortium
from sfumato.party.party_keys import make_party_keys, parse_certificate
from sfumato.party.party_session import PartySession
from sfumato.party.tls_channel import PartyMesh, TlsChannel

Part = Callable[[PartySession], Any]
Play = Callable[..., dict[str, Any]]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Runs parts of parties over TLS, each in a thread; gives what each returned, or the error that ended it."""
    sockets: list[socket.socket] = []

    def run(**parts: Part) -> dict[str, Any]:
        listening: dict[str, socket.socket] = {}

        def stand_in(name: str) -> StandIn:
            listening[name] = socket.create_server(("127.0.0.1", 0))
            sockets.append(listening[name])
            pem = make_party_keys(name, tmp_path).certificate.read_bytes()
            return StandIn("127.0.0.1", listening[name].getsockname()[1], parse_certificate(pem, name))

        names = ", ".join(f'{{ name = "{name}" }}' for name in parts)
        file = tmp_path / "consortium.toml"
        times = "patience = 1.5\nwait = 10\ntime_limit = 6"
        file.write_text(f'[consortium]\nparties = [{names}]\n{times}\n[task]\nkind = "sum"\n')
        consortium: Consortium = read_consortium(file, stand_in)
        found: dict[str, Any] = {}

        def conduct(name: str) -> None:
            party = consortium.party(name, "")
            mesh = PartyMesh(consortium, party, tmp_path / f"{name}.key", None, listening[name])
            try:
                found[name] = mesh.conduct(parts[name])
            except RunAborted as error:
                found[name] = error

        threads = [threading.Thread(target=conduct, args=(name,), daemon=True) for name in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        return found

    yield run
    for one in sockets:
        one.close()


def test_what_is_sent_comes_whole_and_in_order(play: Play) -> None:
    """Arrays and JSON arrive as they were sent, both ways at once, and bytes are counted the same at both ends."""
    array = np.arange(300_000, dtype=np.int64)
    counts = {}

    def part(session: PartySession) -> Any:
        (peer,) = session.others
        channel = session.channels[peer]
        channel.send_array("x", array)
        channel.send_json("y", {"me": session.me})
        got = channel.receive_array("x", np.int64, 300_000)
        said = channel.receive_json("y")
        counts[session.me] = (channel.bytes_sent, channel.bytes_received)
        return bool((got == array).all()), said

    assert play(a=part, b=part) == {"a": (True, {"me": "b"}), "b": (True, {"me": "a"})}
    assert counts["a"] == counts["b"][::-1]


def test_bytes_that_wait_are_bounded(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A party that sends much to one that computes for long waits, and neither holds more than it may, nor gives up."""
    monkeypatch.setattr(tls_channel, "_MOST_OUTGOING", 1 << 20)
    monkeypatch.setattr(tls_channel, "_MOST_INCOMING", 1 << 20)
    most = {"a": 0, "b": 0}
    done = threading.Event()

    def sender(session: PartySession) -> int:
        channel = session.channels["b"]
        assert isinstance(channel, TlsChannel)
        for _ in range(200):  # more than the system's own buffers take
            channel.send("x", bytes(1 << 18))
            most["a"] = max(most["a"], channel._bytes_out)
        waited = done.is_set()
        return int(waited)

    def receiver(session: PartySession) -> int:
        channel = session.channels["a"]
        assert isinstance(channel, TlsChannel)
        end = time.monotonic() + 2  # longer than the patience
        while time.monotonic() < end:
            most["b"] = max(most["b"], channel._bytes_in)
            time.sleep(0.01)
        done.set()
        return sum(len(channel.receive("x")) for _ in range(200))

    assert play(a=sender, b=receiver) == {"a": 1, "b": 200 << 18}
    assert most["a"] <= 1 << 20
    assert 0 < most["b"] <= (1 << 20) + (1 << 18)


def test_empty_messages_that_wait_are_bounded(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer cannot fill the memory of a party that computes by messages without a payload."""
    monkeypatch.setattr(tls_channel, "_MOST_INCOMING", 1 << 14)

    def sender(session: PartySession) -> None:
        for _ in range(2000):
            session.channels["b"].send("x", b"")

    def receiver(session: PartySession) -> int:
        channel = session.channels["a"]
        assert isinstance(channel, TlsChannel)
        time.sleep(0.5)
        waiting = len(channel._incoming)
        for _ in range(2000):
            channel.receive("x", exactly=0)
        return waiting

    assert 0 < play(a=sender, b=receiver)["b"] <= 100


def test_who_computes_for_long_is_not_taken_for_dead(play: Play) -> None:
    """A party that is busy for longer than the patience gives signs of life meanwhile."""

    def busy(session: PartySession) -> str:
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            np.sort(np.arange(200_000)[::-1])
        session.channels["b"].send("x", b"late")
        return "done"

    def waiting(session: PartySession) -> str:
        return session.channels["a"].receive("x").decode()

    assert play(a=busy, b=waiting) == {"a": "done", "b": "late"}


def test_who_computes_is_interrupted_when_another_ends_the_run(play: Play) -> None:
    """A party that refuses a message ends a peer in the middle of its work, which says who it was."""

    def busy(session: PartySession) -> None:
        session.channels["b"].send("x", b"wrong")
        end = time.monotonic() + 20
        while time.monotonic() < end:
            sum(range(1000))

    def strict(session: PartySession) -> None:
        session.channels["a"].receive("x", exactly=3)

    begin = time.monotonic()
    found = play(a=busy, b=strict)
    assert "party 'b' got something that it refused, because of this one" in str(found["a"])
    assert "party 'a' sent, at x, 5 bytes, which cannot be right" in str(found["b"])
    assert time.monotonic() - begin < 15


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_ended(play: Play) -> None:
    """Parties that are alive and get nowhere end with the time that the consortium has set."""

    def waiting(session: PartySession) -> None:
        session.channels[session.others[0]].receive("x")

    found = play(a=waiting, b=waiting)
    assert any("the run is not done after 6 seconds; raise time_limit" in str(error) for error in found.values())
    assert all(isinstance(error, RunAborted) for error in found.values())


def test_an_error_of_a_party_ends_all_and_is_raised_as_it_is(play: Play) -> None:
    """An error within a party's own work ends the run of the others with a word that says nothing of it."""

    def faulty(session: PartySession) -> None:
        raise RunAborted("a secret sentence")

    def waiting(session: PartySession) -> None:
        session.channels["a"].receive("x")

    found = play(a=faulty, b=waiting, c=waiting)
    assert str(found["a"]) == "a secret sentence"
    assert all("party 'a'" in str(found[name]) and "secret" not in str(found[name]) for name in "bc")
