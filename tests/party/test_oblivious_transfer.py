"""Oblivious transfer: the chosen message arrives, nothing else does, and the sender cannot tell."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import RunAborted
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.oblivious_transfer import (
    receive_keys,
    receive_one_of,
    receive_several_of,
    send_keys,
    send_one_of,
    send_several_of,
)
from sfumato.party.party_session import PartySession
from sfumato.party.ristretto_group import hash_to_point, is_point, points_list, subtract_points
from sfumato.party.wire_frame import HEADER_BYTES


def _tap(sessions: dict[str, PartySession], sender: str, to: str, change: Callable[[bytes], bytes]) -> None:
    channel: Any = sessions[sender].channels[to]
    channel.tap = change


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_the_chosen_messages_arrive(data: st.DataObject) -> None:
    """Whatever the messages and the choices are, the receiver gets the chosen ones."""
    count, among, length = (data.draw(st.integers(1, most)) for most in (4, 5, 40))
    messages = [[data.draw(st.binary(min_size=length, max_size=length)) for _ in range(among)] for _ in range(count)]
    choices = [data.draw(st.integers(0, among - 1)) for _ in range(count)]
    results = run_parties(
        {
            "a": lambda session: send_one_of(session, "b", messages, step="t"),
            "b": lambda session: receive_one_of(session, "a", choices, among=among, length=length, step="t"),
        }
    )
    assert results["b"] == [row[choice] for row, choice in zip(messages, choices, strict=True)]


def test_several_of_many() -> None:
    """A receiver gets as many of the messages as were agreed, in the order of its choices."""
    messages = [bytes([place] * 5) for place in range(9)]
    results = run_parties(
        {
            "a": lambda session: send_several_of(session, "b", messages, 3, step="t"),
            "b": lambda session: receive_several_of(session, "a", [8, 0, 5], among=9, length=5, step="t"),
        }
    )
    assert results["b"] == [messages[8], messages[0], messages[5]]


def test_the_receiver_has_one_key_of_each_transfer() -> None:
    """The receiver's key is the chosen one of the sender's, all keys are different, and steps have other keys."""
    choices = [0, 1, 1, 0, 1]

    def sender(session: PartySession) -> list[bytes]:
        both = [send_keys(session, "b", 5, step=step) for step in ("one", "two")]
        return [key.tobytes() for keys in both for row in keys for key in row]

    def receiver(session: PartySession) -> list[bytes]:
        return [key.tobytes() for step in ("one", "two") for key in receive_keys(session, "a", choices, step=step)]

    results = run_parties({"a": sender, "b": receiver})
    assert len(set(results["a"])) == 20
    assert results["b"] == [results["a"][2 * place + choice] for place, choice in enumerate(choices * 2)]


def test_the_senders_view_is_uniform_points_whatever_is_chosen() -> None:
    """What the sender receives is valid points, all different, of which each is chosen or drawn alike: bits are even.

    A simulator without the choices draws points by the one-way map; the test compares the bytes of both points with
    such points, for receivers that always choose the first and for those that always choose the second.
    """
    for choice in (0, 1):
        sessions = local_sessions("a", "b")
        frames: list[bytes] = []

        def keep(frame: bytes, frames: list[bytes] = frames) -> bytes:
            frames.append(frame[HEADER_BYTES:])
            return frame

        _tap(sessions, "b", "a", keep)
        receiver = partial(receive_keys, peer="a", choices=[choice] * 600, step="t")
        run_parties({"a": lambda session: send_keys(session, "b", 600, step="t"), "b": receiver}, sessions)
        points = np.frombuffer(frames[0], dtype=np.uint8).reshape(600, 2, 32)
        assert len(frames) == 1
        assert len(set(points_list(points))) == 1200
        assert all(map(is_point, points_list(points)))
        drawn = np.frombuffer(b"".join(hash_to_point("view", bytes([i % 256, i // 256])) for i in range(600)), np.uint8)
        for offered in (points[:, 0], points[:, 1], drawn.reshape(600, 32)):
            ones = np.unpackbits(np.ascontiguousarray(offered), axis=1).sum(axis=0, dtype=np.int64)
            # the encoding is of a field element below 2^255 - 19 that is not negative: two of the 256 bits are zero
            free = np.sort(ones)[2:]
            assert np.sort(ones)[:2].tolist() == [0, 0]
            assert (abs(free - 300) < 75).all()  # six standard deviations of a fair coin


def test_other_messages_stay_hidden() -> None:
    """The messages that were not chosen do not appear in what the receiver is sent, and look random."""
    sessions = local_sessions("a", "b")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame[HEADER_BYTES:])
        return frame

    _tap(sessions, "a", "b", keep)
    zeros = [[bytes(20_000), bytes(20_000)]]
    run_parties(
        {
            "a": lambda session: send_one_of(session, "b", zeros, step="t"),
            "b": lambda session: receive_one_of(session, "a", [1], among=2, length=20_000, step="t"),
        },
        sessions,
    )
    hidden = np.frombuffer(frames[-1], dtype=np.uint8)
    counts = np.bincount(hidden, minlength=256)
    expected = 40_000 / 256
    assert ((counts - expected) ** 2 / expected).sum() < 400
    assert (hidden[:20_000] != hidden[20_000:]).mean() > 0.99


def test_points_that_cancel_the_hash_end_the_run() -> None:
    """A receiver that makes A_0 the identity, so that the key would be known to all, is refused."""
    sessions = local_sessions("a", "b")

    def cheat(session: PartySession) -> None:
        import sfumato.party.oblivious_transfer as module  # the receiver's own hash, to know what cancels

        here = module._context(session, "a", "b", "t") + bytes(8)
        other = hash_to_point("cheat", b"")
        hashed = module._others_point(here, [b"", other], 0)
        generator = hash_to_point("cheat", b"g")
        negative = subtract_points(subtract_points(generator, hashed), generator)  # -H, so that A_0 = 0
        session.channels["a"].send("t/ot/points", negative + other)
        session.channels["a"].receive("t/ot/answers")

    with pytest.raises(RunAborted, match="points that cancel each other"):
        run_parties({"a": lambda session: send_keys(session, "b", 1, step="t"), "b": cheat}, sessions)


@pytest.mark.parametrize("content", [bytes(64), b"\xff" * 64, bytes(63)], ids=["identity", "no point", "short"])
def test_wrong_points_end_the_run(content: bytes) -> None:
    """The identity, bytes that are no point and a message of another length end the run at both roles."""

    def stranger(step: str) -> Callable[[PartySession], None]:
        return lambda session: session.channels[session.others[0]].send(f"t/ot/{step}", content)

    with pytest.raises(RunAborted, match="party 'b' sent, at t/ot/points"):
        run_parties({"a": lambda session: send_keys(session, "b", 1, step="t"), "b": stranger("points")})
    with pytest.raises(RunAborted, match="party 'a' sent, at t/ot/answers"):
        run_parties({"a": stranger("answers"), "b": lambda session: receive_keys(session, "a", [0, 1], step="t")})
