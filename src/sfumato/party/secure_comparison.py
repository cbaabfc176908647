"""Secure comparison: which of two numbers is less, where no party knows both.

Numbers are compared bit by bit, all comparisons at once, in a circuit of logarithmic depth (Garay, Schoenmakers and
Villegas, "Practical and Secure Solutions for Integer Comparison", PKC 2007): of every piece of the bits there is a bit
that says that the piece of x is less, and one that says that the pieces are equal; those of two neighbours are

    less = less_high ⊕ (equal_high ∧ less_low),    equal = equal_high ∧ equal_low.

Every bit is shared: the exclusive or of a random bit of each party (Goldreich, Micali and Wigderson, STOC 1987).
Exclusive or is free. An AND takes a random oblivious transfer of bits in either direction, made ahead for all gates
(Asharov, Lindell, Schneider and Zohner, CCS 2013), of which each then sends what its bits differ by; the two products
with the same equal_high share one. Comparing b bits takes b + 2 (b - 1) transfers and log2 b + 1 rounds.

Adversary: semi-honest. A gate's messages are bits hidden by random ones, so a party sees uniform bits until the result
is opened. There are two parties: the one colluder is the other party, and learns what the result tells, and the number
of comparisons and bits.

>>> from sfumato.party.local_parties import run_parties
>>> def part(peer, shares):
...     return lambda session: compare_shares(session, peer, np.array(shares, np.uint64), 10, step="example")
>>> run_parties({"a": part("b", [5, 2**64 - 7]), "b": part("a", [5, 8])})["b"]
array([ True, False])
"""

import os
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.party.oblivious_transfer_extension import BATCH, transfer_receiver, transfer_sender
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.ristretto_group import require_group
from sfumato.party.scalar_product import agree_on_shape, read_bits, read_column_name, require_two_parties
from sfumato.party.whole_number_column import read_whole_numbers
from sfumato.policy.section import Section

_ROWS_AT_ONCE = 1 << 15
"""Numbers that are compared at a time, so that memory is bounded."""
_WORD = 64


def compare_shares(
    session: PartySession,
    peer: str,
    shares: NDArray[np.uint64],
    thresholds: "NDArray[np.int64] | int",
    *,
    step: str,
    bits: int = _WORD,
) -> NDArray[np.bool_]:
    """Say which shared numbers are at least the thresholds; both parties learn these bits and nothing else.

    `shares` is uint64[n]; a number is the sum of both parties' shares modulo 2^64, with its sign. Thresholds are
    public, int64[n] or one for all. What a number is more or less than its threshold must fit into `bits` bits, sign
    included: fewer bits are faster, and 64 do where both are from -2^62 to 2^62 - 1.
    """
    mine = shares - np.asarray(thresholds, dtype=np.int64).astype(np.uint64) if _is_first(session, peer) else shares
    negative = share_signs(session, peer, mine, step=step, bits=bits)
    channel = session.channels[peer]
    channel.send_array(f"{step}/signs", negative)
    negative ^= channel.receive_array(f"{step}/signs", np.uint8, negative.shape)
    return np.logical_not(unpack_bits(negative, len(shares)))


def share_of_least(
    session: PartySession, peer: str, shares: NDArray[np.uint64], *, step: str, bits: int = _WORD
) -> NDArray[np.int64]:
    """Give the place of the least number of every row, the first of them where several are; both parties learn it.

    `shares` is uint64[n, m], this party's of n rows of m numbers, whose differences fit into `bits` bits with their
    sign. Numbers are compared in pairs, the less of two is chosen without anybody's knowing which, and so on: so the
    places, int64[n], are all that is disclosed, and not how any two numbers compare, nor by how much.
    """
    values = shares
    first = _is_first(session, peer)
    places = np.tile(np.arange(shares.shape[1], dtype=np.uint64) if first else np.uint64(0), (len(shares), 1))
    places = np.broadcast_to(places, shares.shape)
    level = 0
    while values.shape[1] > 1:
        here = f"{step}/level{level}"
        pairs = values.shape[1] // 2
        # [n, pairs, 2]: how much more the right one is than the left one, and how much further it stands
        stacked = np.stack([values, places], axis=2)
        left, right = stacked[:, 0 : 2 * pairs : 2], stacked[:, 1 : 2 * pairs : 2]
        difference = (right - left).reshape(-1, 2)
        is_right = share_signs(session, peer, np.ascontiguousarray(difference[:, 0]), step=here, bits=bits)
        chosen = left + _multiply_by_bits(session, peer, is_right, difference, here).reshape(left.shape)
        rest = stacked[:, 2 * pairs :]
        stacked = np.concatenate([chosen, rest], axis=1)
        values, places = stacked[:, :, 0], stacked[:, :, 1]
        level += 1
    channel = session.channels[peer]
    least: NDArray[np.uint64] = np.ascontiguousarray(places[:, 0])
    channel.send_array(f"{step}/places", least)
    least = least + channel.receive_array(f"{step}/places", np.uint64, least.shape)
    if (least >= shares.shape[1]).any():
        raise channel.refuse(f"{step}/places", "a place that cannot be right")
    return least.view(np.int64)


def _multiply_by_bits(
    session: PartySession, peer: str, bits: NDArray[np.uint8], values: NDArray[np.uint64], step: str
) -> NDArray[np.uint64]:
    """Share the products of shared bits, packed, with the k shared words of each: uint64[n, k].

    A party's own words v times the bit s ⊕ s' are s·v + s'·(1 - 2s)·v: the second a transfer by the peer's bit.
    """
    mine = unpack_bits(bits, len(values)).astype(np.uint64)[:, None]
    sent = np.where(mine > 0, np.negative(values), values)
    products = mine * values

    def send() -> NDArray[np.uint64]:
        return transfer_sender(session, peer).share_products(sent, step=f"{step}/chosen")

    def receive() -> NDArray[np.uint64]:
        choices = mine[:, 0] > 0
        return transfer_receiver(session, peer).share_products(choices, values.shape[1], step=f"{step}/chosen")

    for role in (send, receive) if _is_first(session, peer) else (receive, send):
        products += role()
    return products


def share_signs(
    session: PartySession, peer: str, shares: NDArray[np.uint64], *, step: str, bits: int = _WORD
) -> NDArray[np.uint8]:
    """Share, for each shared number, the bit that says that it is negative; packed, uint8[ceil(n / 8)].

    The numbers fit into `bits` bits with their sign. The sign is the exclusive or of the shares' highest bits and of
    the carry from those below, which there is where the one's rest is more than what the other's leaves room for.
    """
    rest = np.uint64((1 << bits - 1) - 1)
    highest = _pack((shares >> np.uint64(bits - 1) & np.uint64(1)).astype(np.uint8))
    below = rest - (shares & rest) if _is_first(session, peer) else shares & rest
    if bits == 1:
        return highest
    carry, _ = share_order(session, peer, below, bits=bits - 1, step=step)
    return highest ^ carry


def share_order(
    session: PartySession, peer: str, values: NDArray[np.uint64], *, bits: int, step: str
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Share whether the first party's numbers are less than the other's, and whether they are equal.

    `values` is uint64[n], this party's own numbers of `bits` bits from 0 on. Gives two arrays of shared bits, packed,
    uint8[ceil(n / 8)]. The first party is the one that is earlier in the consortium's order.
    """
    parts = [
        _share_order_of_some(session, peer, values[start : start + _ROWS_AT_ONCE], bits, step)
        for start in range(0, len(values), _ROWS_AT_ONCE)
    ]
    none = [(np.empty(0, dtype=np.uint8),) * 2]
    less, equal = (np.concatenate(side) for side in zip(*(parts or none), strict=True))
    return less, equal


def _share_order_of_some(
    session: PartySession, peer: str, values: NDArray[np.uint64], bits: int, step: str
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    # planes[i] are the bits of weight 2^i of all numbers, packed: uint8[bits, ceil(n / 8)]
    planes = _pack((values[None] >> np.arange(bits, dtype=np.uint64)[:, None] & np.uint64(1)).astype(np.uint8))
    first = _is_first(session, peer)
    # of one bit, x is less than y if not x and y: the first party's bit times the other's, one transfer
    if first:
        less = _send_product(session, peer, ~planes, step)
        equal = ~planes
    else:
        less = _choose_product(session, peer, planes, step)
        equal = planes
    gates = AndGates(session, peer, (bits - 1) * planes.shape[1], step)
    while len(less) > 1:
        pairs = len(less) // 2
        low, high = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)  # the odd one, if any, is the highest
        products = gates.multiply(equal[high], np.stack([less[low], equal[low]]))
        less = np.concatenate([less[high] ^ products[0], less[2 * pairs :]])
        equal = np.concatenate([products[1], equal[2 * pairs :]])
    return less[0], equal[0]


class AndGates:
    """AND of shared bits: random transfers in both directions, made ahead for so many bytes of bits.

    A gate multiplies one shared bit with two others. Its two transfers are of two bits each.
    """

    def __init__(self, session: PartySession, peer: str, size: int, step: str) -> None:
        self._channel = session.channels[peer]
        self._step = f"{step}/and"
        self._next = 0
        choices = np.frombuffer(os.urandom(size), dtype=np.uint8)

        def send() -> None:
            self._offered = _sender_bits(session, peer, size, 2, self._step)

        def receive() -> None:
            self._chosen = _receiver_bits(session, peer, choices, 2, self._step)

        for role in (send, receive) if _is_first(session, peer) else (receive, send):
            role()
        self._choices = choices

    def multiply(self, one: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Share the products of bits, uint8[...] packed, with two others each, uint8[2, ...]; gives uint8[2, ...]."""
        shape = one.shape
        x, y = one.reshape(-1), others.reshape(2, -1)
        here = slice(self._next, self._next + x.size)
        self._next += x.size
        zero, other = self._offered[:, :, here]
        choices, chosen = self._choices[here], self._chosen[:, here]
        # x differs from the random choice by the first word; zero ^ other ^ y makes zero ^ y of other, which who chose
        # 1 holds
        self._channel.send_array(self._step, np.concatenate([(x ^ choices)[None], zero ^ other ^ y]))
        told = self._channel.receive_array(self._step, np.uint8, (3, x.size))
        products = x & y
        products ^= chosen ^ (x & told[1:])
        products ^= zero ^ (told[0] & (zero ^ other))
        return products.reshape(2, *shape)


def _send_product(session: PartySession, peer: str, bits: NDArray[np.uint8], step: str) -> NDArray[np.uint8]:
    """Share the products of this party's bits, packed, with those that the peer chooses by."""
    zero, one = _sender_bits(session, peer, bits.size, 1, f"{step}/bits")
    session.channels[peer].send_array(f"{step}/bits", zero[0] ^ one[0] ^ bits.reshape(-1))
    share: NDArray[np.uint8] = zero.reshape(bits.shape)
    return share


def _choose_product(session: PartySession, peer: str, bits: NDArray[np.uint8], step: str) -> NDArray[np.uint8]:
    """Share the products of this party's bits, packed, with those that the peer sends by."""
    chosen = _receiver_bits(session, peer, bits.reshape(-1), 1, f"{step}/bits")
    told = session.channels[peer].receive_array(f"{step}/bits", np.uint8, bits.size)
    share: NDArray[np.uint8] = (chosen ^ (bits.reshape(-1) & told)).reshape(bits.shape)
    return share


def _sender_bits(session: PartySession, peer: str, size: int, values: int, step: str) -> NDArray[np.uint8]:
    """Make transfers of so many random bits each, for packed choices of `size` bytes; gives uint8[2, values, size]."""
    offered = np.empty((2, values, size), dtype=np.uint8)
    for start in range(0, size, BATCH // 8):
        count = min(BATCH // 8, size - start)
        keys = transfer_sender(session, peer).make_keys(8 * count, step=step)
        for value in range(values):
            offered[:, value, start : start + count] = _pack(keys[:, :, 0] >> np.uint8(value) & np.uint8(1))
    return offered


def _receiver_bits(
    session: PartySession, peer: str, choices: NDArray[np.uint8], values: int, step: str
) -> NDArray[np.uint8]:
    """Make the other side of `_sender_bits`, with packed choices uint8[size]; gives uint8[values, size]."""
    chosen = np.empty((values, choices.size), dtype=np.uint8)
    for start in range(0, choices.size, BATCH // 8):
        part = choices[start : start + BATCH // 8]
        keys = transfer_receiver(session, peer).make_keys(unpack_bits(part, 8 * part.size) > 0, step=step)
        for value in range(values):
            chosen[value, start : start + part.size] = _pack(keys[:, 0] >> np.uint8(value) & np.uint8(1))
    return chosen


def _pack(bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.packbits(bits, axis=-1, bitorder="little")


def unpack_bits(packed: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Give the first `count` bits of packed ones, a byte each."""
    return np.unpackbits(packed, axis=-1, count=count, bitorder="little")


def _is_first(session: PartySession, peer: str) -> bool:
    return session.place < session.parties.index(peer)


# The task.


@dataclass(frozen=True)
class CompareTask(PartyTask):
    """Compare a column of two parties' files, row by row in the order of the files; one row each for one comparison.

    Of each row the result says whether the first party's number is less than the other's, equal to it or greater.
    """

    kind: ClassVar[str] = "compare"
    keys: ClassVar[tuple[str, ...]] = ("column", "bits")
    result_to: tuple[str, ...]
    column: str
    bits: int = _WORD

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        require_two_parties(section, parties)
        return cls(result_to, read_column_name(section), read_bits(section, default=_WORD, most=_WORD))

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what the comparison protects from whom."""
        del parties
        return ProtocolStatement(
            SEMI_HONEST,
            "there are two parties; each learns of the other what the results tell. A party that is told the results "
            "and compares numbers of its own choosing finds a number of the other's within as many runs as it has "
            "bits: agree on how often this is run.",
            "the number of rows.",
            "Comparison: Garay, Schoenmakers and Villegas, Practical and Secure Solutions for Integer Comparison, PKC "
            "2007, by the protocol of Goldreich, Micali and Wigderson, STOC 1987, over extended oblivious transfers.",
        )

    def prepare(self, me: str, table: PartyTable) -> NDArray[np.int64]:
        """Read the column; numbers beyond the declared bits are refused."""
        del me
        require_group()
        return read_whole_numbers(table, self.column, self.bits)

    def run(self, session: PartySession, prepared: NDArray[np.int64]) -> Any:
        """Compare all rows, and open the results to those who are told."""
        (peer,) = session.others
        channel = session.channels[peer]
        agree_on_shape(session, peer, (len(prepared), 1), "compare")
        # the order of signed numbers is that of the same bits with the highest one flipped
        offset = 0 if self.bits == 1 else 1 << self.bits - 1
        values = (prepared.view(np.uint64) + np.uint64(offset)) & np.uint64((1 << self.bits) - 1)
        shares = np.stack(share_order(session, peer, values, bits=self.bits, step="compare"))
        if peer in self.result_to:
            channel.send_array("compare/result", shares)
        if session.me not in self.result_to:
            return None
        shares ^= channel.receive_array("compare/result", np.uint8, shares.shape)
        less, equal = unpack_bits(shares, len(prepared))
        names = np.where(less, "less", np.where(equal, "equal", "greater"))
        return {"first": session.parties[0], "second": session.parties[1], "comparisons": names.tolist()}

    @classmethod
    def tabulate(cls, result: Any) -> list[dict[str, Any]]:
        """Write a line for each row, which reads as a sentence.

        >>> CompareTask.tabulate({"first": "a", "second": "b", "comparisons": ["less"]})
        [{'row': 1, 'first': 'a', 'comparison': 'less', 'second': 'b'}]
        """
        first, second = result["first"], result["second"]
        return [
            {"row": row, "first": first, "comparison": comparison, "second": second}
            for row, comparison in enumerate(result["comparisons"], start=1)
        ]
