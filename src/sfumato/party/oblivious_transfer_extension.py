"""Millions of oblivious transfers from 128: the extension of Ishai, Kilian, Nissim and Petrank, checked as by KOS.

The 128 transfers of `oblivious_transfer` are done once for a pair of parties, with the roles swapped: the sender to be
chooses by the bits of its secret Δ, and holds one seed of each pair; the receiver holds both. For n transfers with
choices x the receiver stretches its seeds to columns t_i and t'_i of n bits, and sends u_i = t_i ⊕ t'_i ⊕ x. The sender
gets q_i = t_i ⊕ Δ_i·x of what it holds. Read by rows, q_j = t_j ⊕ x_j·Δ: so H(q_j, j) and H(q_j ⊕ Δ, j) are two keys of
which the receiver knows one, H(t_j, j), and the sender does not know which (Ishai et al., CRYPTO 2003; Asharov et al.,
CCS 2013; H is that of `fixed_key_hash`).

Adversary: malicious, by a check of what the receiver sent (Keller, Orsini and Scholl, "Actively Secure OT Extension
with Optimal Overhead", CRYPTO 2015), in the form whose proof stands: Roy, "SoftSpokenOT" (CRYPTO 2022), found a gap in
the proof of the original, and proves the check by a universal hash of every column. After the columns have arrived, the
sender draws the key of a linear universal hash R; the receiver sends R(x) and every R(t_i); the sender asks whether
R(q_i) = R(t_i) ⊕ Δ_i·R(x) for every column. Say the receiver used x_i in column i. Where R(x_i) differs from the R(x)
that it sent, its word is right for one value of Δ_i only, so with g such columns it passes with probability 2^-g, and
then knows those g bits of Δ, as it may by guessing; the other 128 - g it does not. Where it is equal for two columns,
so are the x_i, but for a collision. R is GHASH, where two different columns of m blocks collide with probability at
most m/2^128; with m below 2^12 and 2^13 pairs of columns, all that pass unguessed are equal but with probability 2^-103
in a batch. The sender learns R(x) and nothing else of x, and R(x) is uniform whatever x is: each batch has 128 more
transfers, of random choices, which are thrown away, and R of them is a bijection of their bits.

Two parties only, so that the one colluder is the other party. Beyond the chosen keys, that n transfers took place is
public. Work is in batches of 2^18 transfers, so that memory is bounded.

>>> from sfumato.party.local_parties import run_parties
>>> choices = np.array([False, True, True])
>>> results = run_parties({
...     "a": lambda session: transfer_sender(session, "b").make_keys(3, step="example"),
...     "b": lambda session: transfer_receiver(session, "a").make_keys(choices, step="example"),
... })
>>> [[(key == mine).all().item() for mine in pair] for key, pair in zip(results["b"], results["a"].swapaxes(0, 1))]
[[True, False], [False, True], [False, True]]
"""

import os
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray

from sfumato.party.fixed_key_hash import BLOCK_BYTES, AesStream, TweakableHash
from sfumato.party.oblivious_transfer import receive_keys, send_keys
from sfumato.party.party_session import PartySession

WIDTH = 128
"""Columns of the matrix, and bits of a row and of Δ."""
BATCH = 1 << 18
"""Transfers that are checked at once."""

_TRANSPOSED_AT_ONCE = 1 << 11
"""Bytes of each column that are transposed at a time, so that they stay in the processor's cache."""


class ColumnStreams:
    """A stream of pseudo-random bits for each column of a matrix; seeds are uint8[w, 16 or more].

    The width is any number of columns, so that other extensions (KKRT) are built on it as well.
    """

    def __init__(self, seeds: NDArray[np.uint8]) -> None:
        self._streams = [AesStream(seed[:BLOCK_BYTES].tobytes()) for seed in seeds]

    def read(self, rows: int) -> NDArray[np.uint8]:
        """Give the next bits of every column, uint8[w, rows / 8]; `rows` is a multiple of 8."""
        size = rows // 8
        columns = np.empty((len(self._streams), size + BLOCK_BYTES), dtype=np.uint8)
        zeros = memoryview(bytes(size))
        for stream, column in zip(self._streams, columns, strict=True):
            stream.fill(zeros, column.data)
        return columns[:, :size]


def transpose_bits(columns: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn a matrix of bits by columns, uint8[w, n / 8], into one by rows, uint8[n, w / 8]; w and n multiples of 8.

    Bit j of a row or column is bit j % 8 of its byte j // 8. Blocks of 8 x 8 bits are words, and are transposed by
    three swaps (Warren, "Hacker's Delight", 7-3): of bits, of pairs of bits, of fours.

    >>> transpose_bits(np.array([[1], [1], [0], [0], [0], [0], [0], [128]], dtype=np.uint8)).ravel().tolist()
    [3, 0, 0, 0, 0, 0, 0, 128]
    """
    width, size = columns.shape
    rows = np.empty((size, 8, width // 8), dtype=np.uint8)
    for start in range(0, size, _TRANSPOSED_AT_ONCE):
        part = columns[:, start : start + _TRANSPOSED_AT_ONCE]
        words = part.T.copy().view("<u8")  # [bytes, w / 8]: byte c of word g is of column 8 g + c
        swapped = np.empty_like(words)
        for shift, mask in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0)):
            np.right_shift(words, np.uint64(shift), out=swapped)
            swapped ^= words
            swapped &= np.uint64(mask)
            words ^= swapped
            swapped <<= np.uint64(shift)
            words ^= swapped
        # now byte r of a word is of row r, and has the bits of the columns 8 g to 8 g + 7
        rows[start : start + _TRANSPOSED_AT_ONCE] = words.view(np.uint8).reshape(-1, width // 8, 8).transpose(0, 2, 1)
    return rows.reshape(size * 8, width // 8)


def hash_columns(key: bytes, columns: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Hash columns of whole blocks, uint8[w, b], by GHASH under a key; linear in the columns; gives uint8[w, 16].

    The tag of AES-GCM for a column as associated data is its GHASH, and something that depends on the length only,
    which the tag of zeros takes off. Nothing is encrypted, so one nonce does; and the key is public once it is drawn.

    >>> one, other = np.frombuffer(os.urandom(96), dtype=np.uint8).reshape(2, 1, 48)
    >>> key = os.urandom(16)
    >>> (hash_columns(key, one) ^ hash_columns(key, other) == hash_columns(key, one ^ other)).all().item()
    True
    """
    tagger, nonce = AESGCM(key), bytes(12)
    zero = tagger.encrypt(nonce, b"", bytes(columns.shape[1]))
    tags = b"".join(tagger.encrypt(nonce, b"", column.data) for column in columns)
    return np.frombuffer(tags, dtype=np.uint8).reshape(-1, BLOCK_BYTES) ^ np.frombuffer(zero, dtype=np.uint8)


class OtSender:
    """The sender of any number of transfers to one peer; both sides make theirs at the same time.

    Every transfer has a number, which goes into its hash; what is made of one is never made again.
    """

    def __init__(self, session: PartySession, peer: str) -> None:
        self._channel = session.channels[peer]
        self._hash = TweakableHash(session.session_id, session.me.encode(), peer.encode())
        self._delta = np.frombuffer(os.urandom(WIDTH // 8), dtype=np.uint8)
        self._delta_bits = np.unpackbits(self._delta, bitorder="little")
        self._streams = ColumnStreams(receive_keys(session, peer, self._delta_bits.tolist(), step="extension"))
        self._count = 0

    def _batches(self, count: int, step: str) -> Iterator[tuple[slice, int, NDArray[np.uint8]]]:
        """Extend by `count` transfers; give, for each batch, its place, the number of its first, and its rows q_j."""
        every = np.where(self._delta_bits, np.uint8(255), np.uint8(0))[:, None]
        for start in range(0, count, BATCH):
            size = min(BATCH, count - start)
            columns = self._streams.read(_padded(size))
            sent = self._channel.receive_array(f"{step}/ot/columns", np.uint8, columns.shape)
            sent &= every
            columns ^= sent
            key = os.urandom(BLOCK_BYTES)
            self._channel.send(f"{step}/ot/check", key)
            told = self._channel.receive_array(f"{step}/ot/checked", np.uint8, (WIDTH + 1, BLOCK_BYTES))
            if not np.array_equal(hash_columns(key, columns), told[:-1] ^ (told[-1] & every)):
                raise self._channel.refuse(f"{step}/ot/checked", "columns of bits that are not of one row of choices")
            first, self._count = self._count, self._count + size
            yield slice(start, start + size), first, transpose_bits(columns)[:size]

    def make_keys(self, count: int, *, step: str) -> NDArray[np.uint8]:
        """Make two random keys for each transfer, of which the peer learns the one it chose: uint8[2, count, 16]."""
        keys = np.empty((2, count, BLOCK_BYTES), dtype=np.uint8)
        for place, first, rows in self._batches(count, step):
            keys[0, place] = self._hash.digest(rows, first=first)
            keys[1, place] = self._hash.digest(rows ^ self._delta, first=first)
        return keys

    def share_products(self, values: NDArray[np.uint64], *, word: int = 8, step: str) -> NDArray[np.uint64]:
        """Share the products of values with the bits that the peer chooses: correlated transfers.

        `values` is uint64[n, k], the k values that bit j of n multiplies. The result is this side's share, uint64[n,
        k]: its sum with the peer's is the product modulo 2^(8·word), for words of 1 to 8 bytes. Of each product a word
        is sent.
        """
        shares = np.empty(values.shape, dtype=np.uint64)
        for place, first, rows in self._batches(len(values), step):
            zero = _mask_words(self._hash, rows, first, values.shape[1], word)
            one = _mask_words(self._hash, rows ^ self._delta, first, values.shape[1], word)
            # the peer holds zero or one; to whoever holds one this makes zero + value of it
            self._channel.send_array(f"{step}/ot/corrections", _cut_words(zero - one + values[place], word))
            np.negative(zero, out=shares[place])
        return shares

    def share_wide_products(self, values: NDArray[np.int64], *, word: int, step: str) -> NDArray[np.uint64]:
        """Share the products of values with the bits that the peer chooses, in words of 1 to 16 bytes.

        `values` is int64[n], this side's share uint64[n, 2], the lower word first: the product, modulo 2^(8·word), is
        the peer's share less this one.
        """
        shares = np.empty((len(values), 2), dtype=np.uint64)
        for place, first, rows in self._batches(len(values), step):
            zero, one = (_wide_words(self._hash, keys, first, word) for keys in (rows, rows ^ self._delta))
            wide = np.stack([values[place], values[place] >> 63], axis=1).view(np.uint64)
            # zero - one + value, where - one is one's complement and 1
            corrections = _add_wide(_add_wide(zero, ~one), _add_wide(wide, np.array([[1, 0]], dtype=np.uint64)))
            self._channel.send_array(f"{step}/ot/corrections", corrections.view(np.uint8)[:, :word])
            shares[place] = zero
        return shares

    def send_messages(self, messages: NDArray[np.uint8], *, step: str) -> None:
        """Send the chosen one of two messages in each transfer; messages are uint8[2, n, bytes]."""
        _, count, length = messages.shape
        for place, first, rows in self._batches(count, step):
            hidden = messages[:, place] ^ np.stack(
                [_mask_bytes(self._hash, keys, first, length) for keys in (rows, rows ^ self._delta)]
            )
            self._channel.send_array(f"{step}/ot/messages", hidden)


class OtReceiver:
    """The receiver of any number of transfers from one peer; the other side of `OtSender`."""

    def __init__(self, session: PartySession, peer: str) -> None:
        self._channel = session.channels[peer]
        self._hash = TweakableHash(session.session_id, peer.encode(), session.me.encode())
        seeds = send_keys(session, peer, WIDTH, step="extension")
        self._streams = (ColumnStreams(seeds[:, 0]), ColumnStreams(seeds[:, 1]))
        self._count = 0

    def _batches(self, choices: NDArray[np.bool_], step: str) -> Iterator[tuple[slice, int, NDArray[np.uint8]]]:
        """Extend by as many transfers as there are choices; give place, number of the first, and rows t_j."""
        for start in range(0, len(choices), BATCH):
            batch = choices[start : start + BATCH]
            total = _padded(len(batch))
            # behind the choices, random ones: to the next byte and block, and 128 more that hide R(x)
            noise = np.unpackbits(np.frombuffer(os.urandom(2 * WIDTH // 8), dtype=np.uint8))
            packed = np.packbits(np.append(batch, noise[: total - len(batch)]), bitorder="little")
            columns, other = (streams.read(total) for streams in self._streams)
            other ^= columns
            other ^= packed
            self._channel.send_array(f"{step}/ot/columns", other)
            key = self._channel.receive(f"{step}/ot/check", exactly=BLOCK_BYTES)
            told = np.concatenate([hash_columns(key, columns), hash_columns(key, packed[None])])
            self._channel.send_array(f"{step}/ot/checked", told)
            first, self._count = self._count, self._count + len(batch)
            yield slice(start, start + len(batch)), first, transpose_bits(columns)[: len(batch)]

    def make_keys(self, choices: NDArray[np.bool_], *, step: str) -> NDArray[np.uint8]:
        """Make the key of each transfer that is chosen; gives uint8[n, 16]."""
        keys = np.empty((len(choices), BLOCK_BYTES), dtype=np.uint8)
        for place, first, rows in self._batches(choices, step):
            keys[place] = self._hash.digest(rows, first=first)
        return keys

    def share_products(
        self, choices: NDArray[np.bool_], values: int = 1, *, word: int = 8, step: str
    ) -> NDArray[np.uint64]:
        """Share the products of these bits with the peer's values, so many for each bit; gives uint64[n, values]."""
        shares = np.empty((len(choices), values), dtype=np.uint64)
        for place, first, rows in self._batches(choices, step):
            mask = _mask_words(self._hash, rows, first, values, word)
            sent = self._channel.receive_array(f"{step}/ot/corrections", np.uint8, (len(rows), values, word))
            corrections = _widen_words(sent)
            corrections *= choices[place, None]
            np.add(mask, corrections, out=shares[place])
        return shares

    def share_wide_products(self, choices: NDArray[np.bool_], *, word: int, step: str) -> NDArray[np.uint64]:
        """Share the products of these bits with the peer's values, in words of 1 to 16 bytes; gives uint64[n, 2]."""
        shares = np.empty((len(choices), 2), dtype=np.uint64)
        for place, first, rows in self._batches(choices, step):
            mask = _wide_words(self._hash, rows, first, word)
            corrections = np.zeros_like(mask)
            sent = self._channel.receive_array(f"{step}/ot/corrections", np.uint8, (len(rows), word))
            corrections.view(np.uint8)[:, :word] = sent
            corrections *= choices[place, None]
            shares[place] = _add_wide(mask, corrections)
        return shares

    def receive_messages(self, choices: NDArray[np.bool_], length: int, *, step: str) -> NDArray[np.uint8]:
        """Receive the chosen one of two messages of `length` bytes in each transfer; gives uint8[n, length]."""
        messages = np.empty((len(choices), length), dtype=np.uint8)
        for place, first, rows in self._batches(choices, step):
            hidden = self._channel.receive_array(f"{step}/ot/messages", np.uint8, (2, len(rows), length))
            chosen = np.where(choices[place, None], hidden[1], hidden[0])
            messages[place] = chosen ^ _mask_bytes(self._hash, rows, first, length)
        return messages


_SENDERS: WeakKeyDictionary[PartySession, dict[str, OtSender]] = WeakKeyDictionary()
_RECEIVERS: WeakKeyDictionary[PartySession, dict[str, OtReceiver]] = WeakKeyDictionary()


def transfer_sender(session: PartySession, peer: str) -> OtSender:
    """Give the sender of this session's transfers to a peer; the first call does the 128 base transfers with it."""
    senders = _SENDERS.setdefault(session, {})
    if peer not in senders:
        senders[peer] = OtSender(session, peer)
    return senders[peer]


def transfer_receiver(session: PartySession, peer: str) -> OtReceiver:
    """Give the receiver of this session's transfers from a peer; the first call does the 128 base transfers with it."""
    receivers = _RECEIVERS.setdefault(session, {})
    if peer not in receivers:
        receivers[peer] = OtReceiver(session, peer)
    return receivers[peer]


def _padded(count: int) -> int:
    """Give the rows of a batch: whole blocks of 128, and one more whose random choices hide R(x)."""
    return -(-count // WIDTH) * WIDTH + WIDTH


def _mask_bytes(hashed: TweakableHash, rows: NDArray[np.uint8], first: int, length: int) -> NDArray[np.uint8]:
    """Stretch the key of each row to `length` bytes: as many hashes as it takes, each with a part of its own."""
    if length <= BLOCK_BYTES:
        return hashed.digest(rows, first=first)[:, :length]
    parts = range(-(-length // BLOCK_BYTES))
    return np.concatenate([hashed.digest(rows, first=first, part=part) for part in parts], axis=1)[:, :length]


def _mask_words(
    hashed: TweakableHash, rows: NDArray[np.uint8], first: int, values: int, word: int
) -> NDArray[np.uint64]:
    """Stretch the key of each row to words of so many bytes; uint64[n, values]."""
    return _widen_words(_mask_bytes(hashed, rows, first, values * word).reshape(len(rows), values, word))


def _wide_words(hashed: TweakableHash, rows: NDArray[np.uint8], first: int, word: int) -> NDArray[np.uint64]:
    """Make a word of 1 to 16 bytes of each row; uint64[n, 2], the lower word first."""
    words = hashed.digest(rows, first=first)
    words[:, word:] = 0
    return words.view("<u8")


def _add_wide(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Add numbers of two words, uint64[n, 2], the lower word first, modulo 2^128."""
    total = one + other
    total[:, 1] += total[:, 0] < one[:, 0]
    return total


def _widen_words(content: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Read words of 1 to 8 bytes, uint8[n, k, word], as uint64[n, k]."""
    wide = np.zeros((*content.shape[:2], 8), dtype=np.uint8)
    wide[:, :, : content.shape[2]] = content
    return wide.view("<u8")[:, :, 0]


def _cut_words(words: NDArray[np.uint64], word: int) -> NDArray[np.uint8]:
    """Write words, uint64[n, k], by their lowest bytes; uint8[n, k, word]."""
    return np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 8)[:, :, :word]
