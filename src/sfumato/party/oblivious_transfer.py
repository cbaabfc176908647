"""Oblivious transfer: the receiver gets one of the sender's messages, who does not learn which (chapter, 20.5).

The protocol is that of Masny and Rindal, "Endemic Oblivious Transfer" (CCS 2019), over ristretto255. To choose message
c of n, the receiver draws a secret a and n - 1 random points, and makes the c-th point such that

    A_c = r_c + H_c(all the other points) = a·G,

where H_i hashes to the group. The sender cannot tell which point was made, since all of them are uniform; and the
receiver cannot know the logarithms of two A_i, since each point goes into the hash of the others. The sender draws b,
sends B = b·G, and its i-th key is a hash of b·A_i; the receiver's is the hash of a·B, which is the c-th.

Adversary: malicious, in the random oracle model, for the keys. What is known to be wrong with plain Chou-Orlandi is
absent: the receiver's points depend on nothing of the sender's, and the sender draws its secret after it has seen them;
keys are bound to session, parties, step, place and every point of the transfer; each transfer has a secret of its own;
points are checked. A malicious party can bend its own keys ("endemic"), which does no harm where they only encrypt
messages, as here, or seed an extension. Messages of a malicious sender may of course be anything.

Two parties only, so that the one colluder is the other party. Beyond the chosen messages, the number of transfers, of
messages and their length are public.

>>> from sfumato.party.local_parties import run_parties
>>> def sender(session):
...     send_one_of(session, "b", [[b"tea", b"rum"], [b"ape", b"cat"]], step="example")
>>> def receiver(session):
...     return receive_one_of(session, "a", [0, 1], among=2, length=3, step="example")
>>> run_parties({"a": sender, "b": receiver})["b"]
[b'tea', b'cat']
"""

import hashlib
import os
from collections.abc import Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.party.party_session import PartySession
from sfumato.party.ristretto_group import (
    add_points,
    hash_to_point,
    map_to_point,
    multiply_generator,
    multiply_point,
    points_array,
    random_scalar,
    receive_points,
    subtract_points,
)

KEY_BYTES = 32


def send_keys(session: PartySession, peer: str, count: int, *, among: int = 2, step: str) -> NDArray[np.uint8]:
    """Agree on `count` times `among` keys of which the peer learns one each time; gives uint8[count, among, 32]."""
    channel = session.channels[peer]
    context = _context(session, session.me, peer, step)
    points = receive_points(channel, f"{step}/ot/points", count * among)
    secrets = [random_scalar() for _ in range(count)]
    answers = [multiply_generator(secret) for secret in secrets]
    channel.send_array(f"{step}/ot/answers", points_array(answers))
    keys = bytearray()
    for place, (secret, answer) in enumerate(zip(secrets, answers, strict=True)):
        offered = points[place * among : (place + 1) * among]
        here = context + place.to_bytes(8, "little")
        for choice in range(among):
            try:
                shared = multiply_point(secret, add_points(offered[choice], _others_point(here, offered, choice)))
            except ValueError:  # A_i is the identity, and the key would be known to everybody
                raise channel.refuse(f"{step}/ot/points", "points that cancel each other") from None
            keys += _key(here, choice, offered, answer, shared)
    return np.frombuffer(bytes(keys), dtype=np.uint8).reshape(count, among, KEY_BYTES)


def receive_keys(
    session: PartySession, peer: str, choices: Sequence[int], *, among: int = 2, step: str
) -> NDArray[np.uint8]:
    """Agree on the chosen one of `among` keys for every choice, which the peer does not learn: uint8[count, 32]."""
    if any(not 0 <= choice < among for choice in choices):
        raise ValueError(f"choices are from 0 to {among - 1}")  # a bug of ours
    channel = session.channels[peer]
    context = _context(session, peer, session.me, step)
    secrets: list[bytes] = []
    offers: list[list[bytes]] = []
    for place, choice in enumerate(choices):
        secret = random_scalar()
        # random points by the one-way map, so that not even the receiver knows their logarithms
        offered = [map_to_point(os.urandom(64)) for _ in range(among)]
        here = context + place.to_bytes(8, "little")
        offered[choice] = subtract_points(multiply_generator(secret), _others_point(here, offered, choice))
        secrets.append(secret)
        offers.append(offered)
    channel.send_array(f"{step}/ot/points", points_array(point for offered in offers for point in offered))
    answers = receive_points(channel, f"{step}/ot/answers", len(choices))
    keys = bytearray()
    for place, (choice, secret, offered, answer) in enumerate(zip(choices, secrets, offers, answers, strict=True)):
        here = context + place.to_bytes(8, "little")
        keys += _key(here, choice, offered, answer, multiply_point(secret, answer))
    return np.frombuffer(bytes(keys), dtype=np.uint8).reshape(len(choices), KEY_BYTES)


def send_one_of(session: PartySession, peer: str, messages: Sequence[Sequence[bytes]], *, step: str) -> None:
    """Send the peer one message of each row, whichever it chose, and never learn which.

    All rows have as many messages, all messages as many bytes; the peer knows both numbers.
    """
    if not messages:
        return
    among, length = len(messages[0]), len(messages[0][0])
    if any(len(row) != among or any(len(message) != length for message in row) for row in messages):
        raise ValueError("rows of messages of one number and length are needed")  # a bug of ours
    keys = send_keys(session, peer, len(messages), among=among, step=step)
    hidden = b"".join(
        _mask(key.tobytes(), message)
        for row, row_keys in zip(messages, keys, strict=True)
        for message, key in zip(row, row_keys, strict=True)
    )
    session.channels[peer].send_array(f"{step}/ot/messages", np.frombuffer(hidden, dtype=np.uint8))


def receive_one_of(
    session: PartySession, peer: str, choices: Sequence[int], *, among: int, length: int, step: str
) -> list[bytes]:
    """Receive the chosen one of `among` messages of `length` bytes, for every choice."""
    if not choices:
        return []
    keys = receive_keys(session, peer, choices, among=among, step=step)
    hidden = session.channels[peer].receive_array(f"{step}/ot/messages", np.uint8, (len(choices), among, length))
    return [_mask(key.tobytes(), row[choice].tobytes()) for choice, key, row in zip(choices, keys, hidden, strict=True)]


def send_several_of(session: PartySession, peer: str, messages: Sequence[bytes], picks: int, *, step: str) -> None:
    """Send the peer `picks` of n messages, whichever it chose: as many transfers of one of n, with the same messages.

    The construction of Naor and Pinkas, "Oblivious Transfer and Polynomial Evaluation" (STOC 1999): the receiver learns
    no more than `picks` messages, even if it is malicious. That a malicious sender gives the same messages in each
    transfer is not shown to the receiver, so a receiver has to hold the sender semi-honest for that.
    """
    send_one_of(session, peer, [messages] * picks, step=step)


def receive_several_of(
    session: PartySession, peer: str, choices: Sequence[int], *, among: int, length: int, step: str
) -> list[bytes]:
    """Receive the chosen ones of `among` messages of `length` bytes; the number of choices is public.

    >>> from sfumato.party.local_parties import run_parties
    >>> letters = [bytes([letter]) for letter in b"abcdef"]
    >>> run_parties({
    ...     "a": lambda session: send_several_of(session, "b", letters, 2, step="example"),
    ...     "b": lambda session: receive_several_of(session, "a", [4, 1], among=6, length=1, step="example"),
    ... })["b"]
    [b'e', b'b']
    """
    return receive_one_of(session, peer, choices, among=among, length=length, step=step)


def _context(session: PartySession, sender: str, receiver: str, step: str) -> bytes:
    words = (session.session_id, sender.encode(), receiver.encode(), step.encode())
    return hashlib.sha256(b"sfumato-ot\0" + b"".join(len(word).to_bytes(8, "little") + word for word in words)).digest()


def _others_point(here: bytes, offered: Sequence[bytes], choice: int) -> bytes:
    """Hash all points of a transfer but one to the group: H_choice of the paper."""
    others = [point for place, point in enumerate(offered) if place != choice]
    return hash_to_point("endemic-ot", here, choice.to_bytes(8, "little"), *others)


def _key(here: bytes, choice: int, offered: Sequence[bytes], answer: bytes, shared: bytes) -> bytes:
    """Derive a key; everything in it has a fixed length, and `here` binds the session, the parties and the place."""
    content = here + choice.to_bytes(8, "little") + b"".join(offered) + answer + shared
    return hashlib.sha256(b"sfumato-ot-key\0" + content).digest()


def _mask(key: bytes, message: bytes) -> bytes:
    """Encrypt or decrypt the one message of a key: AES-256 in counter mode."""
    return Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor().update(message)
