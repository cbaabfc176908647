"""Private intersection by a batched oblivious pseudo-random function (KKRT), for sets of millions.

Kolesnikov, Kumaresan, Rosulek and Trieu, "Efficient Batched Oblivious PRF with Applications to Private Set
Intersection" (CCS 2016). One party, the receiver, puts its items into bins by cuckoo hashing: each item has three bins
by three public hash functions, and stands in one of them; a bin holds one item at most. For every bin the two parties
have a pseudo-random function whose key the sender knows; the receiver gets its value at the item in the bin, and the
sender does not learn which. The sender evaluates the function at each of its items, for each of the item's three bins,
and sends the values, shuffled and padded with random ones. The receiver looks for its own among them.

The function is made by extending 512 oblivious transfers. The receiver has two matrices of pseudo-random bits, T and
T', a row a bin, and sends U = T ⊕ T' ⊕ C, where row i of C is the codeword C(x) of the item in bin i. For every column
the sender has chosen T or T' by a bit of its secret s, so that it knows Q = T ⊕ (C ∧ s) after it has added what it was
sent. The value at y in bin i is then H(i, Q_i ⊕ (C(y) ∧ s)): for y = x that is H(i, T_i), which the receiver knows;
for any other y the two codewords differ in about 256 bits, so that the value hides behind as many bits of s. Codewords
are four blocks of AES under public keys, a pseudo-random code: two of them differ in fewer than 128 bits by a chance of
less than 2^-102, and there are three pairs for every item of the sender. H is BLAKE2b.

Adversary: semi-honest. Of two parties the receiver learns which of its items the sender has; the sender learns
nothing, unless the receiver tells it the result. Beyond it, both know the public sizes. Two parties only, so that no
others can collude.

Wrong matches: values are long enough that any two different items of the two sets have equal ones with probability at
most 2^-40. Cuckoo hashing with 1.27 bins an item and no place for leftovers fails with probability below 2^-40 for sets
of thousands and more (Pinkas, Schneider and Zohner, ACM TOPS 21(2), 2018, by experiments), and a little more often for
small ones; then the receiver draws other hash functions before anything is sent. The hash functions that the sender
sees are thus drawn from those that fit the receiver's items, which is all but that share.
"""

import hashlib
import math
import os
from collections.abc import Iterator, Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.core.randomness import Randomness
from sfumato.party.oblivious_transfer import receive_keys, send_keys
from sfumato.party.oblivious_transfer_extension import ColumnStreams, transpose_bits
from sfumato.party.party_session import PartySession

CODE_BITS = 512
HASHES = 3
BINS_AN_ITEM = 1.27

_CODE_BYTES = CODE_BITS // 8
_SEED_BYTES = 16
_BLOCK = 1 << 15
"""Bins at a time: 2 MiB of each matrix."""
_MOST_ROUNDS = 2000


def tag_bytes(one: int, other: int) -> int:
    """Give the length of values that are to differ for all pairs of items of two sets, but for a chance of 2^-40.

    >>> tag_bytes(2**20, 2**20), tag_bytes(100, 100)
    (10, 7)
    """
    return math.ceil((40 + math.log2(one) + math.log2(other)) / 8)


def receive_matches(
    session: PartySession, peer: str, items: Sequence[bytes], sizes: tuple[int, int], *, step: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Be the receiver: find which of `items` the sender has too.

    `sizes` are the public sizes of the receiver's and the sender's set. Gives the places of the items that both have,
    and the slots of the sender's shuffled list where they are, in the order of the slots.
    """
    size, others = sizes
    channel = session.channels[peer]
    length = tag_bytes(size, others)
    digests = _digest_items(session, items, step)
    bins = count_bins(size)
    while True:
        seeds = os.urandom(HASHES * _SEED_BYTES)
        placed = place_in_bins(find_bins(digests, seeds, bins), bins)
        if placed is not None:
            break
    owner, choice = placed
    channel.send(f"{step}/seeds", seeds)
    keys = send_keys(session, peer, CODE_BITS, step=f"{step}/base")
    ones, twos = ColumnStreams(keys[:, 0]), ColumnStreams(keys[:, 1])

    tags = np.empty((len(items), length), dtype=np.uint8)
    code = _PseudoRandomCode(session, step)
    for start, stop in _blocks(bins):
        holder = owner[start:stop]
        full = np.flatnonzero(holder >= 0)
        mine = holder[full]
        words = np.frombuffer(os.urandom((stop - start) * _SEED_BYTES), dtype=np.uint8).reshape(-1, _SEED_BYTES).copy()
        words[full] = digests[mine]
        words[full, -1] = choice[mine]
        one = ones.read(_padded(stop - start))
        sent = transpose_bits(one ^ twos.read(_padded(stop - start)))[: stop - start]
        sent ^= code.words(words)
        channel.send_array(f"{step}/columns", sent)
        tags[mine] = _hash_rows(start + full, transpose_bits(one)[full], length)
        if session.progress is not None:
            session.progress(stop, bins)

    places, slots = [], []
    for function in range(HASHES):
        told = channel.receive_array(f"{step}/tags", np.uint8, (others, length))
        mine = np.flatnonzero(choice == function)
        found, where = match_tags(tags[mine], told)
        places.append(mine[found])
        slots.append(where)
    order = np.argsort(np.concatenate(slots))
    return np.concatenate(places)[order], np.concatenate(slots)[order]


def send_matches(
    session: PartySession, peer: str, items: Sequence[bytes], sizes: tuple[int, int], *, step: str
) -> NDArray[np.int64]:
    """Be the sender: let the receiver find which of its items are among `items`.

    `sizes` are the public sizes of the receiver's and the sender's set. Gives the place of the item in every slot of
    the list that was sent, -1 where the slot is padding: int64[size of the sender's set].
    """
    others, size = sizes
    channel = session.channels[peer]
    length = tag_bytes(others, size)
    digests = _digest_items(session, items, step)
    bins = count_bins(others)
    wanted = find_bins(digests, channel.receive(f"{step}/seeds", exactly=HASHES * _SEED_BYTES), bins)
    secret = np.frombuffer(os.urandom(_CODE_BYTES), dtype=np.uint8)
    choices = np.unpackbits(secret, bitorder="little").tolist()
    streams = ColumnStreams(receive_keys(session, peer, choices, step=f"{step}/base"))

    order = Randomness().permutation(size)  # the item of each slot, where it is below len(items)
    slots = np.empty(size, dtype=np.int64)
    slots[order] = np.arange(size)
    tags = np.frombuffer(os.urandom(HASHES * size * length), dtype=np.uint8).reshape(HASHES, size, length).copy()
    # All (function, item) pairs in the order of their bins, so that every bin is needed once, as it arrives.
    pairs = np.argsort(wanted.reshape(-1), kind="stable")
    sorted_bins = wanted.reshape(-1)[pairs]
    code = _PseudoRandomCode(session, step)
    for start, stop in _blocks(bins):
        sent = channel.receive_array(f"{step}/columns", np.uint8, (stop - start, _CODE_BYTES))
        low, high = np.searchsorted(sorted_bins, [start, stop]).tolist()
        function, item = np.divmod(pairs[low:high], max(len(items), 1))
        place = sorted_bins[low:high] - start
        words = digests[item]
        words[:, -1] = function
        rows = code.words(words)
        rows ^= sent[place]
        rows &= secret
        rows ^= transpose_bits(streams.read(_padded(stop - start)))[place]
        tags[function, slots[item]] = _hash_rows(sorted_bins[low:high], rows, length)
        if session.progress is not None:
            session.progress(stop, bins)
    for values in tags:
        channel.send_array(f"{step}/tags", values)
    return np.where(order < len(items), order, -1)


def count_bins(size: int) -> int:
    """Give the number of bins for a set of this public size; small ones get some more, so that few seeds fail.

    >>> count_bins(1000), count_bins(1_000_000)
    (1302, 1270032)
    """
    return math.ceil(BINS_AN_ITEM * size) + 32


def find_bins(digests: NDArray[np.uint8], seeds: bytes, bins: int) -> NDArray[np.int64]:
    """Hash digests, uint8[n, 16], to their bins by three functions: the block that AES makes of each, modulo `bins`.

    Gives int64[3, n].
    """
    found = np.empty((HASHES, len(digests)), dtype=np.int64)
    for function in range(HASHES):
        key = seeds[function * _SEED_BYTES : (function + 1) * _SEED_BYTES]
        found[function] = _encrypt_blocks(key, digests).view("<u8")[:, 0] % np.uint64(bins)
    return found


def place_in_bins(wanted: NDArray[np.int64], bins: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]] | None:
    """Put every item into one of its three bins, `wanted` int64[3, n], so that no bin has two; ``None`` where it fails.

    Gives the item of each bin, int64[bins], -1 for none, and which of its functions each item stands by, uint8[n].
    Cuckoo hashing, for all items that have no place at once: each takes the bin of its current function from whoever
    is there; of several that want the same bin one gets it; who got none, or lost theirs, turns to another function at
    random.

    >>> owner, choice = place_in_bins(np.array([[0, 0, 0], [1, 0, 2], [1, 1, 3]]), 5)
    >>> sorted(owner.tolist()), len(choice)
    ([-1, -1, 0, 1, 2], 3)
    """
    count = wanted.shape[1]
    owner = np.full(bins, -1, dtype=np.int64)
    choice = np.zeros(count, dtype=np.uint8)
    pending = np.arange(count)
    for _ in range(_MOST_ROUNDS):
        if not len(pending):
            return owner, choice
        target = wanted[choice[pending], pending]
        before = owner[target]
        owner[target] = pending  # the last of several wins
        won = owner[target] == pending
        losers, evicted = pending[~won], before[won]
        pending = np.concatenate([losers, evicted[evicted >= 0]])
        turns = np.frombuffer(os.urandom(len(pending)), dtype=np.uint8) & 1
        choice[pending] = (choice[pending] + 1 + turns) % HASHES
    return None


def match_tags(mine: NDArray[np.uint8], told: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the rows of `mine`, uint8[m, l], among those of `told`, uint8[n, l]: places in both, of equal rows.

    Rows are compared by their first eight bytes as words, and then in full.

    >>> match_tags(np.array([[1] * 9, [2] * 9], np.uint8), np.array([[3] * 9, [2] * 8 + [7], [2] * 9], np.uint8))
    (array([1]), array([2]))
    """
    keys, known = _first_words(mine), _first_words(told)
    order = np.argsort(known, kind="stable")
    known = known[order]
    first = np.searchsorted(known, keys, side="left")
    among = np.searchsorted(known, keys, side="right") - first
    places, slots = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for turn in range(int(among.max(initial=0))):  # once, but for words that are equal by chance
        candidates = np.flatnonzero(among > turn)
        where = order[first[candidates] + turn]
        equal = (mine[candidates] == told[where]).all(axis=1)
        places.append(candidates[equal])
        slots.append(where[equal])
    return np.concatenate(places), np.concatenate(slots)


def _first_words(tags: NDArray[np.uint8]) -> NDArray[np.uint64]:
    words = np.zeros((len(tags), 8), dtype=np.uint8)
    words[:, : tags.shape[1]] = tags[:, :8]
    return words.view("<u8")[:, 0]


class _PseudoRandomCode:
    """The code of KKRT: four blocks of AES under keys that are public and that no other run has."""

    def __init__(self, session: PartySession, step: str) -> None:
        seed = hashlib.sha512(b"sfumato-code\0" + session.session_id + step.encode()).digest()
        self._keys = [seed[start : start + _SEED_BYTES] for start in range(0, _CODE_BYTES, _SEED_BYTES)]

    def words(self, blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Give the codewords of blocks, uint8[n, 16]: uint8[n, 64]."""
        return np.concatenate([_encrypt_blocks(key, blocks) for key in self._keys], axis=1)


def _encrypt_blocks(key: bytes, blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Apply AES-128 to every block of uint8[n, 16]."""
    cipher = Cipher(algorithms.AES128(key), modes.ECB()).encryptor()  # noqa: S305 - single blocks, as a pseudo-random function
    return np.frombuffer(cipher.update(np.ascontiguousarray(blocks).data), dtype=np.uint8).reshape(-1, _SEED_BYTES)


def _digest_items(session: PartySession, items: Sequence[bytes], step: str) -> NDArray[np.uint8]:
    """Hash items of any length to blocks, uint8[n, 16], differently in every run."""
    start = hashlib.blake2b(digest_size=_SEED_BYTES, key=session.session_id, person=b"sfumato-item")
    start.update(step.encode() + b"\0")
    digests = bytearray()
    for item in items:
        digest = start.copy()
        digest.update(item)
        digests += digest.digest()
    return np.frombuffer(bytes(digests), dtype=np.uint8).reshape(-1, _SEED_BYTES)


def _hash_rows(bins: NDArray[np.int64], rows: NDArray[np.uint8], length: int) -> NDArray[np.uint8]:
    """Hash rows, uint8[n, 64], each with the number of its bin, to values: uint8[n, length]."""
    width = 8 + _CODE_BYTES
    whole = np.empty((len(rows), width), dtype=np.uint8)
    whole[:, :8] = bins.astype("<i8")[:, None].view(np.uint8)
    whole[:, 8:] = rows
    content, blake = whole.tobytes(), hashlib.blake2b
    values = [
        blake(content[start : start + width], digest_size=length).digest() for start in range(0, len(content), width)
    ]
    return np.frombuffer(b"".join(values), dtype=np.uint8).reshape(-1, length)


def _blocks(bins: int) -> Iterator[tuple[int, int]]:
    for start in range(0, bins, _BLOCK):
        yield start, min(start + _BLOCK, bins)


def _padded(count: int) -> int:
    return -(-count // 8) * 8
