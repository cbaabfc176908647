"""Parties as processes of one machine, connected by sockets without TLS: what a protocol itself costs each party.

Seconds are those of the processor, of one party: its process, with the thread that writes to the socket.
"""

import multiprocessing
import os
import queue
import resource
import socket
import threading
import time
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

from sfumato.party.party_channel import Channel
from sfumato.party.party_session import PartySession
from sfumato.party.wire_frame import HEADER_BYTES, FrameKind, check_header, read_header, write_header

Part = Callable[[PartySession], Any]


class SocketChannel(Channel):
    """A channel over a connected socket; a thread writes, so that sending waits for nobody."""

    def __init__(self, peer: str, session: bytes, connection: socket.socket) -> None:
        super().__init__(peer)
        self._session, self._connection = session, connection
        self._numbers = [0, 0]
        self._outgoing: queue.Queue[bytes | None] = queue.Queue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def _write(self) -> None:
        while (content := self._outgoing.get()) is not None:
            self._connection.sendall(content)

    def _send_payload(self, step: str, payload: bytes) -> None:
        self._outgoing.put(write_header(FrameKind.MESSAGE, self._session, self._numbers[0], step, len(payload)))
        self._outgoing.put(payload)
        self._numbers[0] += 1

    def _receive_payload(self) -> tuple[bytes, bytes]:
        header = read_header(self._read(HEADER_BYTES), self.peer)
        check_header(header, self._session, self._numbers[1], self.peer)
        self._numbers[1] += 1
        return header.step, self._read(header.length)

    def _read(self, count: int) -> bytes:
        content = bytearray(count)
        view = memoryview(content)
        while view:
            got = self._connection.recv_into(view)
            if not got:
                raise ConnectionError(self.peer)
            view = view[got:]
        return bytes(content)

    def close(self) -> None:
        """Wait until all is written."""
        self._outgoing.put(None)
        self._writer.join()


def measure_parties(parts: Mapping[str, Part]) -> dict[str, dict[str, Any]]:
    """Run each part in a process; give its result, seconds of its processor, bytes, rounds and largest memory in MB."""
    names, session_id = list(parts), os.urandom(32)
    ends: dict[tuple[str, str], socket.socket] = {}
    for one, other in combinations(names, 2):
        ends[one, other], ends[other, one] = socket.socketpair()
    context = multiprocessing.get_context("fork")
    answers: Any = context.SimpleQueue()

    def play(me: str) -> None:
        for way, connection in ends.items():
            if way[0] != me:
                connection.close()  # so that the end of a party is noticed by its peers
        channels = {peer: SocketChannel(peer, session_id, ends[me, peer]) for peer in names if peer != me}
        session = PartySession(me, names, channels, session_id)
        before, start = time.process_time(), time.monotonic()
        result = parts[me](session)
        measured = {
            "result": result,
            "cpu": time.process_time() - before,
            "seconds": time.monotonic() - start,
            "bytes": session.bytes_sent,
            "rounds": session.rounds,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        for channel in channels.values():
            channel.close()
        answers.put((me, measured))

    processes = [context.Process(target=play, args=(name,)) for name in names]
    for process in processes:
        process.start()
    for connection in ends.values():
        connection.close()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a party failed; its traceback is above")
    found = dict(answers.get() for _ in names)
    answers.close()
    return {name: found[name] for name in names}
