"""A channel: what protocols send their messages to a peer by, in order, each under the name of its step.

Protocols are written once, over this class, as the papers write them: send, receive, compute. `TlsChannel` carries them
to another machine, `QueueChannel` (in `local_parties`) to another thread for tests and examples. Whoever receives says
which step is due, what is due (bytes of a largest length, an array of a type and shape, JSON of a largest length), and
gets exactly that, or the run ends.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sfumato.errors import RunAborted, quote
from sfumato.party.wire_frame import HEADER_BYTES, LARGEST_PAYLOAD, step_digest

_LARGEST_JSON = 1 << 20


class Channel(ABC):
    """An ordered, authenticated connection with one peer.

    `bytes_sent`, `bytes_received` and `rounds` are counted: a round is a message waited for after one was sent.
    Sending does not wait for the peer to receive, so that two parties may send to each other first; memory for what
    is under way is bounded, and a peer that takes nothing for too long ends the run.
    """

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.bytes_sent = 0
        self.bytes_received = 0
        self.rounds = 0
        self._sent_since = False

    @abstractmethod
    def _send_payload(self, step: str, payload: bytes) -> None:
        """Send one frame."""

    @abstractmethod
    def _receive_payload(self) -> tuple[bytes, bytes]:
        """Wait for the next message; give the digest of its step, and its payload."""

    def send(self, step: str, payload: "bytes | bytearray | memoryview") -> None:
        """Send bytes under the name of a step; at most `LARGEST_PAYLOAD`."""
        self._send_payload(step, bytes(payload))
        self.bytes_sent += len(payload) + HEADER_BYTES
        self._sent_since = True

    def receive(self, step: str, *, most: int = LARGEST_PAYLOAD, exactly: int | None = None) -> bytes:
        """Wait for the message of a step, of at most `most` bytes, or `exactly` so many."""
        self.rounds += self._sent_since
        self._sent_since = False
        digest, payload = self._receive_payload()
        self.bytes_received += len(payload) + HEADER_BYTES
        if digest != step_digest(step):
            raise RunAborted(
                f"party {quote(self.peer)} is at another step than {step}; both sides need the same task and the same "
                "version of sfumato",
                peer=self.peer,
            )
        if len(payload) > most or (exactly is not None and len(payload) != exactly):
            raise self.refuse(step, f"{len(payload):,} bytes, which cannot be right")
        return payload

    def send_array(self, step: str, array: NDArray[Any]) -> None:
        """Send an array of numbers, little end first; however large, in as many messages as it takes."""
        content = np.ascontiguousarray(_in_wire_order(array)).reshape(-1).view(np.uint8).data
        for start in range(0, max(len(content), 1), LARGEST_PAYLOAD):
            self.send(step, content[start : start + LARGEST_PAYLOAD])

    def receive_array(self, step: str, dtype: DTypeLike, shape: Sequence[int] | int) -> NDArray[Any]:
        """Wait for an array of a type and a shape that the receiver knows; anything else ends the run."""
        kind = np.dtype(dtype)
        if kind.kind not in "iufb":
            raise ValueError(f"arrays of {kind} are not sent")  # a bug of ours
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        array = np.empty(shape, dtype=kind.newbyteorder("<"))
        content = array.reshape(-1).view(np.uint8)
        for start in range(0, max(len(content), 1), LARGEST_PAYLOAD):
            part = content[start : start + LARGEST_PAYLOAD]
            part[:] = np.frombuffer(self.receive(step, exactly=len(part)), dtype=np.uint8)
        if kind.kind == "b" and (content > 1).any():  # numpy takes any byte for a truth value, and adds up what it is
            raise self.refuse(step, "a truth value that is none")
        return array.astype(kind, copy=False)

    def send_json(self, step: str, value: Any) -> None:
        """Send a small value as JSON."""
        self.send(step, json.dumps(value, separators=(",", ":"), allow_nan=False).encode())

    def receive_json(self, step: str, *, most: int = _LARGEST_JSON) -> Any:
        """Wait for a value in JSON; the caller checks what it is."""
        try:
            return json.loads(self.receive(step, most=most))
        except (ValueError, RecursionError):
            raise self.refuse(step, "no JSON") from None

    def refuse(self, step: str, what: str) -> RunAborted:
        """Make the error for a message that holds what it must not; `what` ends the sentence, and quotes no value."""
        return RunAborted(
            f"party {quote(self.peer)} sent, at {step}, {what}; ask its holder what it runs, and start anew",
            peer=self.peer,
        )


def _in_wire_order(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
