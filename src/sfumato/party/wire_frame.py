"""Frames: how a message of a protocol is written on a channel, and what is checked of one before it is believed.

A frame is a header of fixed size and a payload of bytes. The header has

- four bytes that say what this is, and the version of it;
- what kind of frame it is: a message, a word that somebody ends the run, a sign of life;
- the first 16 bytes of the session's id, so that a message of another run is none of this one;
- its number among the frames of this direction, so that none can be repeated, left out or put elsewhere;
- the first eight bytes of the SHA-256 of its step's name, so that both sides are at the same place of the protocol;
- the length of the payload, which is never more than `LARGEST_PAYLOAD`, whatever four bytes can say.

A payload is bytes, an array of numbers or JSON, and which of them is for the receiver to say: nothing in a frame
chooses how it is read, and nothing is ever unpickled. TLS keeps frames secret and whole; these checks are against peers
that are wrong, stale or at another step, and they hold on channels within one process as well.
"""

import hashlib
import struct
from dataclasses import dataclass
from enum import IntEnum

from sfumato.errors import RunAborted, quote

MAGIC = b"sfp1"
LARGEST_PAYLOAD = 1 << 26
"""Bytes of the largest payload, 64 MiB: whoever has more to say sends several messages."""
SESSION_BYTES = 16
"""Bytes of the session's id that every frame carries."""

_HEADER = struct.Struct("!4sB16sQ8sI")
HEADER_BYTES = _HEADER.size


class FrameKind(IntEnum):
    """What a frame is."""

    MESSAGE = 0
    ABORT = 1
    ALIVE = 2


@dataclass(frozen=True)
class FrameHeader:
    """The header of a frame, as it was read."""

    kind: FrameKind
    session: bytes
    number: int
    step: bytes
    length: int


def step_digest(step: str) -> bytes:
    """Name a step of a protocol in eight bytes.

    >>> len(step_digest("sum/masked")), step_digest("sum/masked") == step_digest("sum/total")
    (8, False)
    """
    return hashlib.sha256(b"sfumato-step\0" + step.encode()).digest()[:8]


def write_header(kind: FrameKind, session: bytes, number: int, step: str, length: int) -> bytes:
    """Write the header of a frame."""
    if length > LARGEST_PAYLOAD:
        raise ValueError(f"a payload of {length:,} bytes at {step}; send it in parts")  # a bug of ours
    return _HEADER.pack(MAGIC, kind, session[:SESSION_BYTES], number, step_digest(step), length)


def read_header(content: bytes, peer: str) -> FrameHeader:
    """Read the header of a frame from `peer`; what is none ends the run.

    >>> read_header(write_header(FrameKind.MESSAGE, bytes(16), 3, "sum/masked", 80), "b").number
    3
    >>> read_header(b"GET / HTTP/1.1" + bytes(27), "b")
    Traceback (most recent call last):
    sfumato.errors.RunAborted: party 'b' sent something that is no message of this protocol; both sides need the same
    version of sfumato
    """
    magic, kind, session, number, step, length = _HEADER.unpack(content)
    if magic != MAGIC or kind not in set(FrameKind):
        raise RunAborted(
            f"party {quote(peer)} sent something that is no message of this protocol; both sides need the same version "
            "of sfumato",
            peer=peer,
        )
    if length > LARGEST_PAYLOAD:
        raise RunAborted(
            f"party {quote(peer)} announced a message of {length:,} bytes, and the largest has {LARGEST_PAYLOAD:,}; "
            "ask its holder what it runs",
            peer=peer,
        )
    return FrameHeader(FrameKind(kind), session, number, step, length)


def check_header(header: FrameHeader, session: bytes, number: int, peer: str) -> None:
    """Refuse a frame of another session, one that comes again, and one behind which another is missing."""
    if header.session != session[:SESSION_BYTES]:
        raise RunAborted(
            f"party {quote(peer)} sent a message of another session; start all parties of this run anew", peer=peer
        )
    if header.number != number:
        raise RunAborted(
            f"party {quote(peer)} sent message {header.number:,} where {number:,} was due, so that one was repeated or "
            "lost; start all parties of this run anew",
            peer=peer,
        )
