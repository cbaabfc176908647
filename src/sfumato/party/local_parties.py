"""Parties as threads of one process, for tests and for examples: the same protocols over queues in place of TLS."""

import os
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from sfumato.errors import RunAborted, quote
from sfumato.party.party_channel import Channel
from sfumato.party.party_session import PartySession
from sfumato.party.wire_frame import HEADER_BYTES, FrameKind, check_header, read_header, write_header

_PATIENCE = 60.0
"""Seconds that a party waits for a message. Tests of what stalls are those of TLS."""


class QueueChannel(Channel):
    """A channel to another thread: whole frames in a queue, checked as those on a network are.

    `tap`, where there is one, is given every frame that is sent; tests look at it, or send another in its place.
    """

    def __init__(
        self, peer: str, session: bytes, outgoing: "queue.Queue[bytes]", incoming: "queue.Queue[bytes]"
    ) -> None:
        super().__init__(peer)
        self.tap: Callable[[bytes], bytes] | None = None
        self._session, self._outgoing, self._incoming = session, outgoing, incoming
        self._numbers = [0, 0]  # of the next frame out, and of the next one in

    def _send_payload(self, step: str, payload: bytes) -> None:
        frame = write_header(FrameKind.MESSAGE, self._session, self._numbers[0], step, len(payload)) + payload
        self._numbers[0] += 1
        self._outgoing.put(frame if self.tap is None else self.tap(frame))

    def _receive_payload(self) -> tuple[bytes, bytes]:
        try:
            frame = self._incoming.get(timeout=_PATIENCE)
        except queue.Empty:
            raise RunAborted(f"party {quote(self.peer)} is silent; start anew", peer=self.peer) from None
        if not frame:
            raise RunAborted(f"party {quote(self.peer)} ended the run; its holder knows why", peer=self.peer)
        header = read_header(frame[:HEADER_BYTES], self.peer)
        check_header(header, self._session, self._numbers[1], self.peer)
        self._numbers[1] += 1
        return header.step, frame[HEADER_BYTES:]

    def end(self) -> None:
        """Tell the peer that this side ended."""
        self._outgoing.put(b"")


def local_sessions(*names: str) -> dict[str, PartySession]:
    """Connect parties of these names by queues; give the session of each."""
    session_id = os.urandom(32)
    queues = {(one, other): queue.Queue[bytes]() for one in names for other in names if one != other}
    return {
        name: PartySession(
            name,
            names,
            {
                peer: QueueChannel(peer, session_id, queues[name, peer], queues[peer, name])
                for peer in names
                if peer != name
            },
            session_id,
        )
        for name in names
    }


def run_parties(
    parts: Mapping[str, Callable[[PartySession], Any]], sessions: Mapping[str, PartySession] | None = None
) -> dict[str, Any]:
    """Run each party's part in a thread, and give what each returned; the first error of any is raised.

    What is in `PartySession.until_end` ends when all of them are done, with that error if there is one.

    >>> def greet(session):
    ...     for peer in session.others:
    ...         session.channels[peer].send("greeting", session.me.encode())
    ...     return [session.channels[peer].receive("greeting", most=9).decode() for peer in session.others]
    >>> run_parties({"a": greet, "b": greet, "c": greet})
    {'a': ['b', 'c'], 'b': ['a', 'c'], 'c': ['a', 'b']}
    """
    sessions = local_sessions(*parts) if sessions is None else sessions
    results: dict[str, Any] = {}
    errors: list[BaseException] = []

    def play(name: str) -> None:
        try:
            results[name] = parts[name](sessions[name])
        except BaseException as error:  # noqa: BLE001 - raised again below, by the thread that waits
            errors.append(error)
            for channel in sessions[name].channels.values():
                if isinstance(channel, QueueChannel):
                    channel.end()

    threads = [threading.Thread(target=play, args=(name,), daemon=True) for name in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ExitStack() as ending:
        for name in parts:
            ending.enter_context(sessions[name].until_end)
        if errors:
            raise errors[0]
    return {name: results[name] for name in parts}
