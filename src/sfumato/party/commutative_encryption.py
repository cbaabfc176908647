"""Commutative encryption of lists that go round among parties: what set union and sizes of sets are made of.

Every party has a secret scalar, and encrypts a point of ristretto255 by multiplying it. The order in which several
parties do so does not matter, so that equal items of different parties are equal when all have encrypted them, and
look unrelated before. This is what Pohlig and Hellman's exponentiation does in the protocols of Kantarcioglu and
Clifton (TKDE 16(9), 2004) and of Vaidya and Clifton (Journal of Computer Security 13(4), 2005), in a group where the
decisional Diffie-Hellman assumption holds.

Lists are padded with random points to a size that is public. A random point stays a random point whoever encrypts it,
equals no other but by a chance of one in 2^252, and cannot be told from an item.

Adversary: semi-honest. Whoever passes a list on sees points that it cannot open without the keys of all who encrypted
it. Colluders who bring lists of their own find what these have in common with the others'; what that comes to stands in
the protocols, `secure_union` and `set_cardinality`.

A list is uint8[rows, 32 * width]: each row is an item of `width` points, one after the other. Items of several points
are for `secure_union`, which must get them back; where items are only compared, they are hashed to one point.
"""

import os
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.core.randomness import Randomness
from sfumato.errors import DataError
from sfumato.party.identifiers import LARGEST_UNBOUNDED_SET
from sfumato.party.party_channel import Channel
from sfumato.party.party_session import PartySession
from sfumato.party.ristretto_group import (
    POINT_BYTES,
    invert_scalar,
    map_to_point,
    multiply_points,
    points_array,
    points_list,
    random_scalar,
)

PointLists = NDArray[np.uint8]

_ROWS_AT_ONCE = 1 << 16


class CommutativeKey:
    """A secret scalar for one protocol of one session.

    >>> one, other, items = CommutativeKey(), CommutativeKey(), random_rows(3, 2)
    >>> bool((one.encrypt(other.encrypt(items)) == other.encrypt(one.encrypt(items))).all())
    True
    >>> bool((one.decrypt(one.encrypt(items)) == items).all())
    True
    """

    def __init__(self) -> None:
        self._scalar = random_scalar()

    def encrypt(self, rows: PointLists) -> PointLists:
        """Multiply every point; an invalid one, or the identity, is a `ValueError`."""
        return multiply_points(self._scalar, points_list(rows)).reshape(rows.shape)

    def decrypt(self, rows: PointLists) -> PointLists:
        """Undo `encrypt`."""
        return multiply_points(invert_scalar(self._scalar), points_list(rows)).reshape(rows.shape)

    def encrypt_from(self, channel: Channel, step: str, rows: PointLists) -> PointLists:
        """Encrypt a list that a peer sent; one with an invalid point or an item twice ends the run."""
        return _change_list(self.encrypt, channel, step, rows)

    def decrypt_from(self, channel: Channel, step: str, rows: PointLists) -> PointLists:
        """Decrypt a list that a peer sent; one with an invalid point or an item twice ends the run."""
        return _change_list(self.decrypt, channel, step, rows)


def _change_list(
    change: Callable[[PointLists], PointLists], channel: Channel, step: str, rows: PointLists
) -> PointLists:
    try:
        changed = change(rows)
    except ValueError:
        raise channel.refuse(step, "something that is no point of the group") from None
    require_distinct(rows, channel, step)
    return changed


def swap_rows(after: Channel, before: Channel, rows: PointLists, shape: tuple[int, int], *, step: str) -> PointLists:
    """Send a list to one peer while one of `shape` comes from another, or from the same.

    All parties send first, so lists go in parts, each with one of the other's between: what is under way stays bounded,
    and nobody waits for room that only the other could make.
    """
    received = np.empty(shape, dtype=np.uint8)
    for start in range(0, max(len(rows), shape[0]), _ROWS_AT_ONCE):
        if start < len(rows):
            after.send_array(step, rows[start : start + _ROWS_AT_ONCE])
        part = received[start : start + _ROWS_AT_ONCE]
        if len(part):
            part[:] = before.receive_array(step, np.uint8, part.shape)
    return received


def require_distinct(rows: PointLists, channel: Channel, step: str) -> None:
    """End the run where a peer's list has an item twice, which nobody sends who follows the protocol."""
    if len(set(row_list(rows))) < len(rows):
        raise channel.refuse(step, "a list that has an item twice")


def random_rows(count: int, width: int = 1) -> PointLists:
    """Draw items that are none: uniformly random points, uint8[count, 32 * width]."""
    drawn = points_array(map_to_point(os.urandom(64)) for _ in range(count * width))
    return drawn.reshape(count, width * POINT_BYTES)


def row_list(rows: PointLists) -> list[bytes]:
    """List the rows as bytes, for sets and dictionaries."""
    size, content = rows.shape[1], np.ascontiguousarray(rows).tobytes()
    return [content[start : start + size] for start in range(0, len(content), size)]


def shuffle_rows(rows: PointLists, blocks: int = 1) -> PointLists:
    """Put rows in a random order; those of each of several blocks of one size among themselves.

    >>> rows = random_rows(6)
    >>> set(row_list(shuffle_rows(rows, 2)[:3])) == set(row_list(rows[:3]))
    True
    """
    size = len(rows) // blocks
    order = [block * size + Randomness().permutation(size) for block in range(blocks)]
    return rows[np.concatenate(order)]


def agree_size(session: PartySession, own: int, most_items: int | None, *, step: str) -> int:
    """Settle the size that every list is padded to: the task's bound, or the largest set, rounded up to a power of two.

    Without a bound every party tells the others its size, rounded up to a power of two, and no more.

    >>> from sfumato.party.local_parties import run_parties
    >>> run_parties({"a": lambda s: agree_size(s, 5, None, step="t"), "b": lambda s: agree_size(s, 3, None, step="t")})
    {'a': 8, 'b': 8}
    """
    if most_items is not None:
        return _within(own, most_items)
    return max(_tell_sizes(session, session.others, own, step).values())


def agree_sizes(session: PartySession, peer: str, own: int, most_items: int | None, *, step: str) -> tuple[int, int]:
    """Settle the sizes that this party's list and a peer's are padded to, each by itself, as `agree_size` does.

    >>> from sfumato.party.local_parties import run_parties
    >>> parts = {"a": ("b", 5), "b": ("a", 3)}
    >>> run_parties({me: lambda s, its=its: agree_sizes(s, *its, None, step="t") for me, its in parts.items()})
    {'a': (8, 4), 'b': (4, 8)}
    """
    if most_items is not None:
        return _within(own, most_items), most_items
    told = _tell_sizes(session, (peer,), own, step)
    return told[session.me], told[peer]


def _within(own: int, most_items: int) -> int:
    if own > most_items:
        raise DataError(f"your set has more items than most_items = {most_items:,} of the task; raise it for all")
    return most_items


def _tell_sizes(session: PartySession, peers: Sequence[str], own: int, step: str) -> dict[str, int]:
    """Tell peers the size of a set, rounded up to a power of two; give everybody's, by name."""
    rounded, most = round_size(own), LARGEST_UNBOUNDED_SET
    if rounded > most:
        raise DataError(f"your set has more than {most:,} items; write most_items in the task, for all")
    for peer in peers:
        session.channels[peer].send_json(f"{step}/size", rounded)
    sizes = {session.me: rounded}
    for peer in peers:
        channel = session.channels[peer]
        told = channel.receive_json(f"{step}/size", most=20)
        if not isinstance(told, int) or isinstance(told, bool) or not 0 < told <= most or told & (told - 1):
            raise channel.refuse(f"{step}/size", f"a size that is no power of two up to {most:,}")
        sizes[peer] = told
    return sizes


def round_size(size: int) -> int:
    """Round a size up to a power of two.

    >>> [round_size(size) for size in (0, 1, 5, 8)]
    [1, 1, 8, 8]
    """
    return 1 << max(size - 1, 0).bit_length()


def encrypt_in_ring(
    session: PartySession, ring: Sequence[str], rows: PointLists, key: CommutativeKey, *, step: str, blocks: int = 1
) -> PointLists:
    """Send the list of every party once round the ring, so that all encrypt and shuffle it.

    All lists have one shape. A party ends up with the list of the next one in the ring, encrypted by all. The list of
    the first of the ring is shuffled within each of `blocks` blocks, which stay in their order; all others as a whole.

    Party j sees the list of party i under the keys of i, i + 1, ..., j, round the ring. So no party sees two lists
    under the same keys, but for its own, and cannot compare any; and a party that does not know the key of one that
    encrypted a list cannot test what is in it (decisional Diffie-Hellman).
    """
    place, count = ring.index(session.me), len(ring)
    before, after = session.channels[ring[place - 1]], session.channels[ring[(place + 1) % count]]
    passing = shuffle_rows(key.encrypt(rows), blocks if place == 0 else 1)
    for hop in range(1, count):
        here = f"{step}/ring/{hop}"
        owner = (place - hop) % count
        passing = key.encrypt_from(before, here, swap_rows(after, before, passing, rows.shape, step=here))
        passing = shuffle_rows(passing, blocks if owner == 0 else 1)
        if session.progress is not None:
            session.progress(hop, count)
    return passing
