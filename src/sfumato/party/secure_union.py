"""Secure set union: the parties learn which items at least one of them has, and not who (chapter, 20.5).

The protocol of Kantarcioglu and Clifton ("Privacy-preserving distributed mining of association rules on horizontally
partitioned data", TKDE 16(9), 2004), with points of ristretto255 in the place of Pohlig and Hellman's numbers:

1. Every party writes its items into points, pads its list with fake items, which are random points, to the public size,
   and sends it round; all encrypt and shuffle it. Then party j holds the list of party j + 1, encrypted by all.
2. From the last party to the first, each merges its list into those before, drops what is there twice, puts fresh fakes
   in its place, and shuffles. What is sent on always has the same number of rows.
3. From the first party to the last, each takes its encryption off and shuffles. The last one, who reads the result,
   finds items and random points that are none.

How an item becomes points. Its length, its bytes and ten bytes of zero make a block, which goes through a Feistel
network of eight rounds with SHAKE-256, under a key that is public and that no other run has. That is a permutation of
blocks that cannot be told from a random one (Dai and Steinberger, CRYPTO 2016), so that items which begin alike, or are
as long, have no point in common. Each 30 bytes of it stand in the encoding of a point, with a counter that makes the
encoding valid: every fourth is. A random point holds no item but by a chance of one in 2^80.

Adversary: semi-honest. Beyond the union, and who takes part:

- Whoever merges learns how many items its list has in common with those before: for parties 0, ..., n - 1 of the ring,
  party j < n - 1 learns how many items of party j + 1 are among those of parties j + 2, ..., n - 1 and 0. Not which.
  Fake items are never common. The last party, who reads, learns no number.
- Of two parties, each has the other's items that it lacks: they are the union less its own set. That follows from any
  union of two.
- Parties that collude see the lists of all others under the others' keys. They learn how many items any lists, theirs
  and others', have in common; n - 1 of n parties thereby learn how many items of each of theirs the last party has.
  A colluder whose list is a single item learns whether the last one has it.
- Sizes of sets are hidden up to the bound; without a bound every party tells its size, rounded up to a power of two.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.errors import PolicyError
from sfumato.party.commutative_encryption import (
    CommutativeKey,
    PointLists,
    agree_size,
    encrypt_in_ring,
    random_rows,
    require_distinct,
    row_list,
    shuffle_rows,
)
from sfumato.party.identifiers import (
    Identifiers,
    read_identifier_keys,
    read_identifiers,
    require_at_most,
    size_sentence,
)
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.ristretto_group import POINT_BYTES, is_point, points_array
from sfumato.policy.section import Section, join_choices


def secure_union(
    session: PartySession,
    items: Sequence[bytes],
    *,
    step: str,
    longest: int,
    most_items: int | None = None,
    to: Sequence[str] | None = None,
) -> list[bytes] | None:
    """Unite the parties' sets; those of `to` (all, if left out) get the union, sorted, and the others nothing.

    No item has more than `longest` bytes, and no set more than `most_items`; what is sent depends on these two alone.
    `step` names this union among those of a run.

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(*items):
    ...     return lambda session: secure_union(session, items, step="t", longest=8, most_items=3)
    >>> run_parties({"a": part(b"flu", b"cough"), "b": part(b"flu"), "c": part()})["c"]
    [b'cough', b'flu']
    """
    to = session.parties if to is None else tuple(to)
    ring = (*(name for name in session.parties if name != to[0]), to[0])
    place, count = ring.index(session.me), len(ring)
    own = set(items)
    size = agree_size(session, len(own), most_items, step=step)
    code = ItemCode(longest, session.session_id + step.encode())
    key = CommutativeKey()
    mine = np.concatenate([code.write(sorted(own)), random_rows(size - len(own), code.width)])
    merged = encrypt_in_ring(session, ring, mine, key, step=step)

    # 2. From the last of the ring to the first: party j hands on (n - j) lists' worth of rows.
    columns = mine.shape[1]
    if place < count - 1:
        after = session.channels[ring[place + 1]]
        others = after.receive_array(f"{step}/merge", np.uint8, ((count - 1 - place) * size, columns))
        require_distinct(others, after, f"{step}/merge")
        known = set(row_list(others))
        fresh = merged[[row not in known for row in row_list(merged)]]
        merged = shuffle_rows(np.concatenate([others, fresh, random_rows(size - len(fresh), code.width)]))
    if place > 0:
        session.channels[ring[place - 1]].send_array(f"{step}/merge", merged)

    # 3. From the first to the last: each takes its encryption off.
    if place == 0:
        try:
            opened = key.decrypt(merged)
        except ValueError:  # nobody has multiplied what the others merged since, so a wrong point is found here
            raise session.channels[ring[1]].refuse(f"{step}/merge", "something that is no point of the group") from None
    else:
        before = session.channels[ring[place - 1]]
        closed = before.receive_array(f"{step}/open", np.uint8, (count * size, columns))
        opened = key.decrypt_from(before, f"{step}/open", closed)
    if place < count - 1:
        session.channels[ring[place + 1]].send_array(f"{step}/open", shuffle_rows(opened))
        if session.me not in to:
            return None
        union = _receive_items(session, ring[-1], step, longest, count * size)
    else:
        union = sorted({item for row in row_list(opened) if (item := code.read(row)) is not None})
        for peer in to[1:]:
            _send_items(session, peer, step, longest, union)
    if not own <= set(union):
        teller = session.channels[ring[-1] if place < count - 1 else ring[-2]]
        raise teller.refuse(f"{step}/open", "a union that lacks items of yours")
    return union


def _send_items(session: PartySession, peer: str, step: str, longest: int, items: Sequence[bytes]) -> None:
    channel = session.channels[peer]
    channel.send_json(f"{step}/union/size", len(items))
    padded = b"".join(len(item).to_bytes(2, "little") + item.ljust(longest, b"\0") for item in items)
    channel.send_array(f"{step}/union", np.frombuffer(padded, dtype=np.uint8))


def _receive_items(session: PartySession, peer: str, step: str, longest: int, most: int) -> list[bytes]:
    channel = session.channels[peer]
    count = channel.receive_json(f"{step}/union/size", most=20)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= most:
        raise channel.refuse(f"{step}/union/size", "a number of items that cannot be right")
    rows = row_list(channel.receive_array(f"{step}/union", np.uint8, (count, longest + 2)))
    lengths = [int.from_bytes(row[:2], "little") for row in rows]
    items = [row[2 : 2 + length] for row, length in zip(rows, lengths, strict=True)]
    if max(lengths, default=0) > longest or items != sorted(set(items)):
        raise channel.refuse(f"{step}/union", "a list that is no sorted set")
    return items


_BYTES_A_POINT = 30
_ZEROS = 10
_LENGTH_BYTES = 2
_ROUNDS = 8
LONGEST_ITEM = 4096
"""Bytes of the longest item of a union."""


class ItemCode:
    """A code that writes items of at most `longest` bytes into points, and reads them back; `salt` is public.

    >>> code = ItemCode(40, b"salt")
    >>> code.width, code.read(code.write([b"flu"]).tobytes()), code.read(random_rows(1, 2).tobytes())
    (2, b'flu', None)
    """

    def __init__(self, longest: int, salt: bytes) -> None:
        self.longest = longest
        self.width = -(-(_LENGTH_BYTES + longest + _ZEROS) // _BYTES_A_POINT)
        """Points an item."""
        self._size = self.width * _BYTES_A_POINT
        self._keys = [hashlib.sha256(b"sfumato-item" + bytes([turn]) + salt).digest() for turn in range(_ROUNDS)]

    def write(self, items: Sequence[bytes]) -> PointLists:
        """Write items into points; uint8[n, 32 * width]."""
        points = []
        for item in items:
            if len(item) > self.longest:
                raise ValueError(f"an item of more than {self.longest} bytes")  # a bug of ours
            block = self._mix(len(item).to_bytes(_LENGTH_BYTES, "little") + item.ljust(self._size - 2, b"\0"))
            points += [_embed(block[start : start + _BYTES_A_POINT]) for start in range(0, self._size, _BYTES_A_POINT)]
        return points_array(points).reshape(len(items), self.width * POINT_BYTES)

    def read(self, row: bytes) -> bytes | None:
        """Read the item that a row of points holds; ``None`` if it holds none, as a fake does."""
        starts = range(1, len(row), POINT_BYTES)
        block = self._unmix(b"".join(row[start : start + _BYTES_A_POINT] for start in starts))
        length = int.from_bytes(block[:_LENGTH_BYTES], "little")
        end = _LENGTH_BYTES + length
        return None if length > self.longest or any(block[end:]) else block[_LENGTH_BYTES:end]

    def _mix(self, block: bytes) -> bytes:
        """Permute blocks by a Feistel network: each round adds to one half a hash of the other, and swaps them."""
        half = len(block) // 2
        left, right = int.from_bytes(block[:half], "little"), int.from_bytes(block[half:], "little")
        for key in self._keys:
            left, right = right, left ^ _stretch(key, right, half)
        return left.to_bytes(half, "little") + right.to_bytes(half, "little")

    def _unmix(self, block: bytes) -> bytes:
        """Undo `_mix`."""
        half = len(block) // 2
        left, right = int.from_bytes(block[:half], "little"), int.from_bytes(block[half:], "little")
        for key in reversed(self._keys):
            left, right = right ^ _stretch(key, left, half), left
        return left.to_bytes(half, "little") + right.to_bytes(half, "little")


def _stretch(key: bytes, half: int, size: int) -> int:
    return int.from_bytes(hashlib.shake_256(key + half.to_bytes(size, "little")).digest(size), "little")


def _embed(content: bytes) -> bytes:
    """Write 30 bytes into the encoding of a point: the first even counter in the bytes around them that makes it valid.

    One in four does, so that 16,256 tries never fail.
    """
    for high in range(127):
        for low in range(0, 256, 2):
            point = bytes([low]) + content + bytes([high])
            if is_point(point):
                return point
    raise ValueError("no point holds these bytes")  # never


# The task

_LONGEST_VALUE = 78  # three points a value


@dataclass(frozen=True)
class UnionTask(PartyTask):
    """Unite the values of a column: a sorted list, as ``normalize`` writes them; nobody learns who has which."""

    kind: ClassVar[str] = "union"
    keys: ClassVar[tuple[str, ...]] = ("column", "normalize", "most_items", "longest")
    result_to: tuple[str, ...]
    column: str
    normalize: str = "exact"
    most_items: int | None = None
    longest: int = _LONGEST_VALUE

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        del parties
        column, normalize, most_items = read_identifier_keys(section, "exact")
        longest = section.whole_number("longest")
        if longest is not None and not 0 < longest <= LONGEST_ITEM:
            raise PolicyError(f"must be from 1 to {LONGEST_ITEM:,} bytes", key=section.path("longest"))
        return cls(result_to, column, normalize, most_items, longest or _LONGEST_VALUE)

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what a union protects from whom."""
        ring = (*(name for name in parties if name != self.result_to[0]), self.result_to[0])
        learned = [
            f"party {ring[place]} learns how many values of {ring[place + 1]} are among those of "
            f"{join_choices([*ring[place + 2 :], ring[0]])}, and not which"
            for place in range(len(ring) - 1)
        ]
        if len(parties) == 2:
            learned.append("what the union has and a party's own file lacks is the other's, as with any union of two")
        learned.append(size_sentence(self.most_items))
        return ProtocolStatement(
            SEMI_HONEST,
            "there is one other party."
            if len(parties) == 2
            else "they learn how many values each of their lists has in common with the last party's, and a colluder "
            "whose list is one value learns whether the last one has it.",
            "; ".join(learned) + ".",
            "Secure union by commutative encryption with fake items, Kantarcioglu and Clifton, TKDE 16(9), 2004, on "
            "ristretto255.",
        )

    def prepare(self, me: str, table: PartyTable) -> Identifiers:
        """Take the values of this party's column; NULLs are no value, and left out."""
        del me
        found = read_identifiers(table, self.column, normalize=self.normalize, longest=self.longest, drop_empty=True)
        require_at_most(len(found.items), self.most_items, self.column, table.name)
        return found

    def run(self, session: PartySession, prepared: Identifiers) -> Any:
        """Unite the values."""
        union = secure_union(
            session,
            prepared.items,
            step="union",
            longest=self.longest,
            most_items=self.most_items,
            to=self.result_to,
        )
        return None if union is None else [item.decode("utf-8", "replace") for item in union]
