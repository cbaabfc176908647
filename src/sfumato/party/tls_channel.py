"""Channels to parties on other machines: mutual TLS 1.3 with pinned certificates, and how a run begins and ends.

Every two parties have one connection; the one that stands earlier in the consortium file listens, and the other
connects. Both show a certificate, and each must be, byte for byte, the one that the file has for that party. Who shows
another, or none, is no party: a listener goes on waiting for the right one, and whoever connects gives up at once.

A run begins with a greeting to every peer: version, name, digest of the consortium file with its certificates, and 32
random bytes. The session's id is the SHA-256 of all greetings, in the order of the parties. It is in the header of
every frame that follows. A party that greets two others differently leaves them with two ids, and the run ends with
their first frames.

While a party computes, a thread of its own receives, sends, and gives a sign of life every few seconds. So sending
does not wait for the peer, and only so many bytes wait in either direction. A run is ended by a peer from which
nothing at all is heard for `patience` seconds, by one that is not connected within `wait` seconds, by a connection
that breaks, by a frame that is not due, by anybody who says so, and by `time_limit`. Whoever ends it tells the others
why, by a code and the party that it is about, and nothing of the data.

A result counts when everybody is done: each tells all others, waits for all of them, and tells that as well. So what
one party is told, all are, but for one that dies between the two; nobody writes a result before.
"""

import asyncio
import contextlib
import ctypes
import hashlib
import json
import os
import secrets
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

from sfumato._version import __version__
from sfumato.errors import InputError, RunAborted, quote
from sfumato.party.consortium import Consortium, ConsortiumParty
from sfumato.party.party_channel import Channel
from sfumato.party.party_session import PartySession
from sfumato.party.run_ledger import RunLimitReached
from sfumato.party.wire_frame import (
    HEADER_BYTES,
    SESSION_BYTES,
    FrameHeader,
    FrameKind,
    check_header,
    read_header,
    write_header,
)

_MOST_OUTGOING = 1 << 27
_MOST_INCOMING = 1 << 26
"""Bytes that wait to be sent to a peer before sending waits, and that wait to be read before no more are taken."""
_OVERHEAD = 256
"""Bytes that a message costs besides its payload: empty ones are counted, too, so that no number of them fills us."""
_PIECE = 1 << 18
"""Bytes that are written or read at a time."""
_GREETING = "session/greeting"
_LONGEST_GREETING = 1024
_RANDOM_BYTES = 32
_NO_SESSION = bytes(SESSION_BYTES)
_HANDSHAKE_SECONDS = 10.0
_FAREWELL_SECONDS = 2.0
_MOST_STRANGERS = 32
"""Connections at a time of whom we do not know yet who they are."""
_NOBODY = 255
_NOT_VALID = {9, 10}
"""OpenSSL's numbers for a certificate that is not good yet, or not any more."""


class AbortReason(IntEnum):
    """Why a party ends a run: all that it tells the others, beside the party that it is about."""

    OTHER = 0
    STOPPED = 1
    REFUSED = 2
    LOST = 3
    LIMIT = 4
    TASK = 5


_SAID = {
    AbortReason.OTHER: "ended the run",
    AbortReason.STOPPED: "was stopped by its holder",
    AbortReason.REFUSED: "got something that it refused",
    AbortReason.LOST: "had to end the run",
    AbortReason.LIMIT: "has done as many runs with a peer as it allows a day",
    AbortReason.TASK: "has another task than another party",
}


class PeerEndedRun(RunAborted):
    """A word of a peer that it ended the run; why, the peer knows itself."""


class _RunEnded(BaseException):
    """Raised in a thread that computes when the run is over; the mesh knows the error."""


class TlsChannel(Channel):
    """A channel to a party on another machine; `PartyMesh` makes it.

    Frames that wait, both ways, are guarded by the mesh's lock. The mesh's thread does all that concerns the network.
    """

    def __init__(self, peer: ConsortiumParty, mesh: "PartyMesh") -> None:
        super().__init__(peer.name)
        self._mesh = mesh
        self._outgoing: deque[tuple[FrameKind, str, bytes]] = deque()
        self._incoming: deque[tuple[bytes, bytes]] = deque()
        self._bytes_out = self._bytes_in = 0
        self._number_out = self._number_in = 0
        self._bound = False  # whether a frame with the session's id has come
        self._finished = False  # whether a break of the connection is none of our business any more
        self._heard = 0.0
        self._paused = False
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self.certificate = peer.certificate
        self.greeting: bytes | None = None
        self.lost = False
        self.unreached = ""  # why the last attempt to connect to the peer failed
        self._writer: asyncio.StreamWriter | None = None
        self._sending: asyncio.Task[None] | None = None
        self._stopping = self._draining = False  # after the next frame, and when none is left

    def _send_payload(self, step: str, payload: bytes) -> None:
        mesh = self._mesh
        with mesh.lock:
            while self._bytes_out and self._bytes_out + len(payload) > _MOST_OUTGOING:
                mesh.wait_for_change()
            mesh.check()
            self._outgoing.append((FrameKind.MESSAGE, step, payload))
            self._bytes_out += len(payload)
        mesh.call(self._wake.set)

    def _receive_payload(self) -> tuple[bytes, bytes]:
        mesh = self._mesh
        with mesh.lock:
            while not self._incoming:
                mesh.wait_for_change()
            step, payload = self._incoming.popleft()
            self._bytes_in -= len(payload) + _OVERHEAD
        if self._paused:
            mesh.call(self._room.set)
        return step, payload

    # What follows runs in the mesh's thread.

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Exchange greetings, then send and receive until the connection ends."""
        self._writer = writer
        mesh = self._mesh
        await self._write_frame(FrameKind.MESSAGE, _GREETING, mesh.greeting)
        header = read_header(await reader.readexactly(HEADER_BYTES), self.peer)
        if header.kind is FrameKind.ABORT:
            raise self._read_abort(await reader.readexactly(min(header.length, 2)))
        check_header(header, _NO_SESSION, 0, self.peer)
        if header.length > _LONGEST_GREETING:
            raise self.refuse(_GREETING, f"{header.length:,} bytes, which cannot be right")
        self._number_in = 1
        greeting = await reader.readexactly(header.length)
        mesh.check_greeting(self.peer, greeting)
        self._heard = asyncio.get_running_loop().time()
        with mesh.lock:
            self.greeting = greeting
            mesh.changed.notify_all()
        mesh.greeted()
        self._sending = asyncio.create_task(self._send_frames())
        try:
            await self._receive_frames(reader)
        finally:
            if not self._stopping:
                self._sending.cancel()

    async def _receive_frames(self, reader: asyncio.StreamReader) -> None:
        loop = asyncio.get_running_loop()
        mesh = self._mesh
        while True:
            header = read_header(await reader.readexactly(HEADER_BYTES), self.peer)
            self._heard = loop.time()
            if header.kind is FrameKind.MESSAGE and not self._bound:
                self._paused = True  # until all have greeted, and the id is known
                await mesh.session_known.wait()
                self._paused, self._heard = False, loop.time()
            self._check(header)
            payload = bytearray()
            while len(payload) < header.length:
                payload += await reader.readexactly(min(_PIECE, header.length - len(payload)))
                self._heard = loop.time()
            if header.kind is FrameKind.ABORT:
                raise self._read_abort(bytes(payload))
            if header.kind is FrameKind.ALIVE:
                continue
            with mesh.lock:
                self._incoming.append((header.step, bytes(payload)))
                self._bytes_in += len(payload) + _OVERHEAD
                mesh.changed.notify_all()
                full = self._bytes_in > _MOST_INCOMING
            if full:
                await self._wait_for_room()

    async def _wait_for_room(self) -> None:
        """Take nothing more until this party has read what waits; a peer's silence is not judged meanwhile."""
        self._paused = True
        while self._bytes_in > _MOST_INCOMING:
            self._room.clear()
            if self._bytes_in > _MOST_INCOMING:
                await self._room.wait()
        self._paused, self._heard = False, asyncio.get_running_loop().time()

    def _check(self, header: FrameHeader) -> None:
        """Check session and number; frames that are no messages may come before the session is known."""
        if header.kind is not FrameKind.MESSAGE and header.length > 2:
            raise self.refuse("a sign of life", f"{header.length:,} bytes, which cannot be right")
        early = not self._bound and header.kind is not FrameKind.MESSAGE and header.session == _NO_SESSION
        known = self._mesh.session_id
        if not early and known is None:  # an id that we cannot know yet, on a frame that says nothing of the data
            known = header.session
        check_header(header, _NO_SESSION if early or known is None else known, self._number_in, self.peer)
        self._bound = self._bound or header.kind is FrameKind.MESSAGE
        self._number_in += 1

    def _read_abort(self, payload: bytes) -> PeerEndedRun:
        code, place = payload if len(payload) == 2 else (AbortReason.OTHER, _NOBODY)
        reason = AbortReason(code) if code in set(AbortReason) else AbortReason.OTHER
        names = self._mesh.consortium.names
        about = ""
        if place < len(names) and names[place] not in {self.peer, self._mesh.me}:
            about = f", because of party {quote(names[place])}"
        elif place < len(names) and names[place] == self._mesh.me:
            about = ", because of this one"
        return PeerEndedRun(
            f"party {quote(self.peer)} {_SAID[reason]}{about}; nothing is written, so ask its holder, and start all "
            "parties anew",
            peer=self.peer,
        )

    async def _send_frames(self) -> None:
        mesh = self._mesh
        pause = min(5.0, mesh.consortium.patience / 4)
        while True:
            self._wake.clear()
            while self._outgoing and not self._stopping:
                kind, step, payload = self._outgoing[0]
                await self._write_frame(kind, step, payload)
                with mesh.lock:
                    self._outgoing.popleft()
                    self._bytes_out -= len(payload)
                    mesh.changed.notify_all()
            if self._stopping or self._draining:
                return
            try:
                await asyncio.wait_for(self._wake.wait(), pause)
            except TimeoutError:
                await self._write_frame(FrameKind.ALIVE, "", b"")

    async def _write_frame(self, kind: FrameKind, step: str, payload: bytes) -> None:
        writer = self._writer
        if writer is None:
            return
        session = _NO_SESSION if step == _GREETING else self._mesh.session_id or _NO_SESSION
        number, self._number_out = self._number_out, self._number_out + 1
        writer.write(write_header(kind, session, number, step, len(payload)))
        view = memoryview(payload)
        for start in range(0, len(payload), _PIECE):
            writer.write(view[start : start + _PIECE])
            await writer.drain()
        await writer.drain()

    async def say_farewell(self, reason: AbortReason, place: int) -> None:
        """Tell the peer that this party ends the run, if it takes anything at all."""
        if self._writer is None or self.lost:
            return
        self._stopping = True  # behind the frame that is being written, if there is one
        self._wake.set()
        if self._sending is not None:
            await asyncio.wait({self._sending})
        await self._write_frame(FrameKind.ABORT, "", bytes([reason, place]))

    async def flush(self) -> None:
        """Wait until all that was sent is on its way, and close."""
        self._draining = True
        self._wake.set()
        if self._sending is not None:
            await asyncio.wait({self._sending})
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError, ssl.SSLError, TimeoutError):
                await asyncio.wait_for(self._writer.wait_closed(), _FAREWELL_SECONDS)

    def is_silent(self, now: float, patience: float) -> bool:
        """Whether nothing was heard for too long, although we listen."""
        return self.greeting is not None and not self._paused and not self.lost and now - self._heard > patience

    def end_calmly(self) -> None:
        """From now on a connection that breaks is no error: the peer has said that it is done."""
        self._finished = True

    def mark_lost(self, error: RunAborted, *, told: bool) -> None:
        """Note that nothing more comes; that ends the run, unless all are done and the peer did not object."""
        mesh = self._mesh
        with mesh.lock:
            self.lost = True
            mesh.changed.notify_all()
        if told or not self._finished:
            mesh.fail(error)


class PartyMesh:
    """One party's connections to all others, from the first greeting to the end of a run.

    `conduct` does it all. `listening` is a socket that listens already, in place of one for the party's address.
    """

    def __init__(
        self,
        consortium: Consortium,
        me: ConsortiumParty,
        key: Path,
        passphrase: bytes | None,
        listening: socket.socket | None = None,
    ) -> None:
        self.consortium = consortium
        self.me = me.name
        self.session_id: bytes | None = None
        # The lock itself is what `with` takes: an interruption cannot come between it and the block, as it could
        # within the methods of a condition.
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.error: RunAborted | None = None
        self._party = me
        self._place = consortium.names.index(me.name)
        self._contexts = _make_contexts(consortium, me, key, passphrase)
        self._listening = listening
        self._strangers = 0
        self._refused = 0
        self._begin = 0.0
        self._computing: int | None = None
        self._waits = False
        self.greeting = json.dumps(
            {
                "version": __version__,
                "name": me.name,
                "task": consortium.digest.hex(),
                "random": secrets.token_hex(_RANDOM_BYTES),
            }
        ).encode()
        self._loop: asyncio.AbstractEventLoop
        self.session_known = asyncio.Event()
        self.channels = {party.name: TlsChannel(party, self) for party in consortium.parties if party.name != me.name}
        self._thread = threading.Thread(target=self._run_loop, name="sfumato-party", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    # For the thread that computes.

    def conduct(self, work: Callable[[PartySession], Any], progress: Callable[[int, int], None] | None = None) -> Any:
        """Connect to all others, do the work with them, and give its result once everybody is done.

        Raises:
            RunAborted: the run ended without a result; the others know.
        """
        if self._listening is None and self._place < len(self.consortium.parties) - 1:
            self._listening = listen_at(self._party.host, self._party.port)
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        self.call(self._start)
        result: Any = None
        error: BaseException | None = None
        try:
            result = self._conduct(work, progress)
        except _RunEnded:
            error = self.error
        except BaseException as raised:  # noqa: BLE001 - raised again below, when the others know
            error = raised
        try:
            self._disarm()
        except _RunEnded:  # it was on its way, and comes once
            self._disarm()
        self._leave(error)
        if error is not None:
            raise error
        return result

    def _conduct(self, work: Callable[[PartySession], Any], progress: Callable[[int, int], None] | None) -> Any:
        with self.lock:
            while self.session_id is None:
                self.wait_for_change()
            self._computing = threading.get_ident()
        result = work(self._begin_session(progress))
        with self.lock:
            self._computing = None
        self._agree_on_end()
        return result

    def _disarm(self) -> None:
        """Be interrupted no more."""
        with self.lock:
            self._computing = None
            _interrupt(threading.get_ident(), None)

    def _begin_session(self, progress: Callable[[int, int], None] | None) -> PartySession:
        """Begin the session: everybody tells everybody its id, and waits for that."""
        assert self.session_id is not None  # noqa: S101 - all have greeted
        for channel in self.channels.values():
            channel.send("session/ready", self.session_id)
        for channel in self.channels.values():
            if channel.receive("session/ready", exactly=len(self.session_id)) != self.session_id:
                raise channel.refuse("session/ready", "another session's id")
        return PartySession(self.me, self.consortium.names, self.channels, self.session_id, progress)

    def _agree_on_end(self) -> None:
        """Wait until every party is done, and knows that all are; a run counts from here on, and not before."""
        for channel in self.channels.values():
            channel.send("session/done", b"")
        for channel in self.channels.values():
            channel.receive("session/done", exactly=0)
        # All have their results. Who dies now has told us that it is done, so its end takes nothing away.
        for channel in self.channels.values():
            channel.end_calmly()
            channel.send("session/end", b"")
        for channel in self.channels.values():
            with self.lock:
                while not channel.lost and not channel._incoming:  # noqa: SLF001 - its other half
                    self.wait_for_change()
            if channel._incoming:  # noqa: SLF001 - its other half
                channel.receive("session/end", exactly=0)

    def wait_for_change(self) -> None:
        """Wait, with the lock, until something happens; raise what ended the run, if it has."""
        self.check()
        self._waits = True  # so that nobody interrupts
        self.changed.wait()
        self._waits = False
        self.check()

    def check(self) -> None:
        """Raise what ended the run, if it has."""
        if self.error is not None:
            raise self.error

    def _leave(self, error: BaseException | None) -> None:
        """End all connections: with all that was sent, or with a word why this party ends the run."""
        reason, about = _abort_reason(error, noticed=error is self.error)
        place = self.consortium.names.index(about) if about in self.consortium.names else _NOBODY
        ending = asyncio.run_coroutine_threadsafe(self._end(error is None, reason, place), self._loop)
        with contextlib.suppress(TimeoutError, asyncio.CancelledError, OSError):
            ending.result(self.consortium.patience if error is None else 2 * _FAREWELL_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_FAREWELL_SECONDS)

    # For the thread of the network.

    def call(self, function: Callable[[], Any]) -> None:
        """Have a function called by the thread of the network."""
        with contextlib.suppress(RuntimeError):  # its loop is over, and so is the run
            self._loop.call_soon_threadsafe(function)

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.set_exception_handler(lambda *_: None)  # connections that break are told otherwise
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self._loop.close()
            if self._listening is not None:
                self._listening.close()

    def _start(self) -> None:
        self._begin = self._loop.time()
        if self._listening is not None:
            self._spawn(self._listen())
        for party in self.consortium.parties[: self._place]:
            self._spawn(self._connect(party))
        self._spawn(self._watch())

    def _spawn(self, coroutine: Any) -> None:
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._settle)

    def _settle(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(RunAborted(f"this is a bug of sfumato ({type(error).__name__}); please report it"))

    async def _listen(self) -> None:
        """Take connections until all are there."""
        assert self._listening is not None  # noqa: S101 - of who listens
        self._listening.setblocking(False)
        while not self.session_known.is_set():
            try:
                stranger, _ = await self._loop.sock_accept(self._listening)
            except OSError:  # a connection that was gone at once, or too many open files
                await asyncio.sleep(0.1)
                continue
            if self._strangers < _MOST_STRANGERS:
                self._spawn(self._welcome(stranger))
            else:
                stranger.close()

    async def _welcome(self, stranger: socket.socket) -> None:
        """Find out who connects; those who are no party that is due are sent away, and change nothing."""
        self._strangers += 1
        reader = asyncio.StreamReader(limit=_PIECE)
        protocol = asyncio.StreamReaderProtocol(reader)
        channel = None
        try:
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: protocol, stranger, ssl=self._contexts[0], ssl_handshake_timeout=_HANDSHAKE_SECONDS
            )
            writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
            channel = self._known(writer)
            if channel is None:
                writer.close()
        except (OSError, TimeoutError):  # TLS has its own errors, which are of this kind
            stranger.close()
        finally:
            self._strangers -= 1
        if channel is None:
            self._refused += 1
        else:
            await self._converse(channel, reader, writer)

    def _known(self, writer: asyncio.StreamWriter) -> TlsChannel | None:
        """Find the channel whose party has this certificate, and no connection yet."""
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        for channel in self.channels.values():
            if channel.certificate.der == shown and channel._writer is None:  # noqa: SLF001 - its other half
                return channel
        return None

    async def _connect(self, party: ConsortiumParty) -> None:
        """Connect to a party that may not be there yet; one that shows another certificate ends the run."""
        channel = self.channels[party.name]
        where = f"{party.host}:{party.port}"
        channel.unreached = f" at {where} (no answer)"
        while True:
            try:
                reader, writer = await asyncio.open_connection(
                    party.host,
                    party.port,
                    limit=_PIECE,
                    ssl=self._contexts[1],
                    server_hostname="",
                    ssl_handshake_timeout=_HANDSHAKE_SECONDS,
                )
            except ssl.SSLCertVerificationError as error:
                self.fail(_wrong_certificate(party, where, expired=error.verify_code in _NOT_VALID))
                return
            except ssl.SSLError:
                self.fail(
                    RunAborted(
                        f"who answers at {where} does not speak as party {quote(party.name)} does, or what it said was "
                        "changed on the way; check the address, and start all parties anew",
                        peer=party.name,
                    )
                )
                return
            except (OSError, TimeoutError) as error:  # not there yet
                channel.unreached = f" at {where} ({_describe_connection_error(error)})"
                await asyncio.sleep(0.1)
                continue
            channel.unreached = ""
            if writer.get_extra_info("ssl_object").getpeercert(binary_form=True) != party.certificate.der:
                writer.close()
                self.fail(_wrong_certificate(party, where, expired=False))
                return
            await self._converse(channel, reader, writer)
            return

    async def _converse(self, channel: TlsChannel, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Greet a party and exchange frames with it; whatever ends that ends the run, unless all are done."""
        peer, told = channel.peer, False
        try:
            await channel.greet(reader, writer)
        except RunAborted as error:
            found, told = error, True
        except ssl.SSLError as error:
            found = RunAborted(_describe_tls_error(peer, error), peer=peer)
        except (asyncio.IncompleteReadError, OSError):
            found = RunAborted(
                f"the connection to party {quote(peer)} broke; ask its holder what happened, and start all parties anew"
                if channel.greeting is not None
                else f"party {quote(peer)} hung up without a greeting: this party is there already, run by somebody, "
                f"or {quote(peer)} has another certificate for it; compare fingerprints with its holder, and start "
                "all parties anew, each once",
                peer=peer,
            )
        else:
            return
        channel.mark_lost(found, told=told)

    def check_greeting(self, peer: str, content: bytes) -> None:
        """Refuse a greeting by another than `peer`, of another version, or with another task."""
        try:
            said = json.loads(content)
            version, name, task, random = (str(said[key]) for key in ("version", "name", "task", "random"))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self.channels[peer].refuse(_GREETING, "no greeting") from None
        if version != __version__:
            raise RunAborted(
                f"party {quote(peer)} runs sfumato {quote(version)}, and this one {__version__}; install the same "
                "version everywhere",
                peer=peer,
            )
        if name != peer:
            raise self.channels[peer].refuse(_GREETING, "another name than its certificate's")
        if len(random) != 2 * _RANDOM_BYTES:
            raise self.channels[peer].refuse(_GREETING, "a greeting that is not whole")
        if task != self.consortium.digest.hex():
            raise _DifferentTask(
                f"party {quote(peer)} has another consortium file or other certificates than this one (digest "
                f"{self.consortium.digest.hex()[:12]} here, {quote(task[:12])} there); give all parties the same files",
                peer=peer,
            )

    def greeted(self) -> None:
        """Make the session's id of all greetings, once they are there."""
        greetings = {self.me: self.greeting} | {
            name: channel.greeting for name, channel in self.channels.items() if channel.greeting is not None
        }
        if len(greetings) < len(self.consortium.parties):
            return
        digest = hashlib.sha256(b"sfumato-session/1\0")
        for name in self.consortium.names:
            digest.update(hashlib.sha256(greetings[name]).digest())
        with self.lock:
            self.session_id = digest.digest()
            self.changed.notify_all()
        self.session_known.set()

    async def _watch(self) -> None:
        """End the run where somebody is silent, or time is over."""
        limits = self.consortium
        step = min(0.5, limits.patience / 10)
        while self.error is None:
            await asyncio.sleep(step)
            now = self._loop.time()
            if self.session_id is None and now - self._begin > limits.wait:
                self.fail(self._missing_party())
            if now - self._begin > limits.time_limit:
                self.fail(
                    RunAborted(
                        f"the run is not done after {limits.time_limit:g} seconds; raise time_limit in the consortium "
                        "file of all parties, or give less data"
                    )
                )
            for channel in self.channels.values():
                if channel.is_silent(now, limits.patience):
                    channel.mark_lost(
                        RunAborted(
                            f"party {quote(channel.peer)} was silent for {limits.patience:g} seconds; ask its holder "
                            "what happened, and start all parties anew",
                            peer=channel.peer,
                        ),
                        told=False,
                    )

    def _missing_party(self) -> RunAborted:
        missing = next(name for name, channel in self.channels.items() if channel.greeting is None)
        tried = ""
        if self._refused:
            times = "once" if self._refused == 1 else f"{self._refused:,} times"
            tried = f" ({times} somebody tried who could not show a certificate that is pinned here)"
        where = self.channels[missing].unreached
        return RunAborted(
            f"party {quote(missing)} was not there within {self.consortium.wait:g} seconds{where}{tried}; start all "
            "parties within that time, and compare their " + ("addresses and " if where else "") + "certificates",
            peer=missing,
        )

    def fail(self, error: RunAborted) -> None:
        """End the run with an error, the first one; whoever computes is interrupted, and whoever waits is woken."""
        with self.lock:
            if self.error is None:
                self.error = error
                if self._computing is not None and not self._waits:
                    _interrupt(self._computing, _RunEnded)
            self.changed.notify_all()

    async def _end(self, well: bool, reason: AbortReason, place: int) -> None:
        if well:
            await asyncio.gather(*(channel.flush() for channel in self.channels.values()), return_exceptions=True)
            return
        farewells = [channel.say_farewell(reason, place) for channel in self.channels.values()]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*farewells, return_exceptions=True), _FAREWELL_SECONDS)
        await asyncio.gather(*(channel.close() for channel in self.channels.values()), return_exceptions=True)


class _DifferentTask(RunAborted):
    """A peer with another consortium file."""


def _abort_reason(error: BaseException | None, *, noticed: bool) -> tuple[AbortReason, str]:
    """Say in a code why an error ends the run, and name the party that it is about; `noticed` on the network."""
    match error:
        case _DifferentTask():
            return AbortReason.TASK, error.peer
        case RunLimitReached():
            return AbortReason.LIMIT, error.peer
        case RunAborted():
            return AbortReason.LOST if noticed else AbortReason.REFUSED, error.peer
        case KeyboardInterrupt():
            return AbortReason.STOPPED, ""
    return AbortReason.OTHER, ""


def _make_contexts(
    consortium: Consortium, me: ConsortiumParty, key: Path, passphrase: bytes | None
) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Make the contexts of a listener and of who connects: TLS 1.3 alone, both sides with a pinned certificate."""
    pinned = "".join(party.certificate.pem for party in consortium.parties if party.name != me.name)
    contexts = []
    for protocol in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT):
        context = ssl.SSLContext(protocol)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False  # a certificate is compared as a whole, and its name with it
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # a pinned certificate needs nobody above it
        context.load_verify_locations(cadata=pinned)
        contexts.append(context)
    contexts[0].num_tickets = 0  # every run shakes hands anew
    # ssl reads certificates from files alone; this one is in memory, so that it is the one that was checked
    descriptor = os.memfd_create("certificate")
    try:
        os.write(descriptor, me.certificate.pem.encode())
        for context in contexts:
            context.load_cert_chain(f"/proc/self/fd/{descriptor}", key, password=passphrase or b"")
    except OSError:
        raise InputError(f"the key {key} is of no kind that TLS 1.3 knows; make another") from None
    finally:
        os.close(descriptor)
    return contexts[0], contexts[1]


def listen_at(host: str, port: int) -> socket.socket:
    """Listen at an address of this machine."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=_MOST_STRANGERS)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(
            f"cannot listen at {host}:{port}: {why}; name an address of this machine that is free, by --listen where "
            "others reach it by another"
        ) from None


def _wrong_certificate(party: ConsortiumParty, where: str, *, expired: bool) -> RunAborted:
    what = "a certificate that is not good today" if expired else "another certificate than the one that is pinned"
    return RunAborted(
        f"who answers at {where} as party {quote(party.name)} shows {what}; compare the fingerprint with its holder",
        peer=party.name,
    )


def _describe_connection_error(error: OSError) -> str:
    """Say in the system's words why nobody could be connected to.

    >>> _describe_connection_error(ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 7001)"))
    'Connection refused'
    >>> _describe_connection_error(socket.gaierror(-2, "Name or service not known"))
    'Name or service not known'
    """
    if isinstance(error, socket.gaierror) or error.errno is None:
        return error.strerror or "no connection"
    return os.strerror(error.errno)


def _describe_tls_error(peer: str, error: ssl.SSLError) -> str:
    """Say what an error of TLS, after the handshake, means."""
    if "ALERT" in (error.reason or "") and "MAC" not in (error.reason or ""):
        return (
            f"party {quote(peer)} does not take the certificate of this party; compare its fingerprint with the one "
            "that party has, and the clocks of both"
        )
    return (
        f"what came from party {quote(peer)} was changed on the way; somebody or something between the two is not to "
        "be trusted, so find it, and start all parties anew"
    )


def _interrupt(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in another thread, at its next step in Python; with none, take back one that is on its way."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error and ctypes.py_object(error))
