"""The extension of oblivious transfers: what arrives, what either side sees, and who cheats."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.errors import RunAborted
from sfumato.party import oblivious_transfer_extension
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.oblivious_transfer_extension import (
    ColumnStreams,
    hash_columns,
    transfer_receiver,
    transfer_sender,
    transpose_bits,
)
from sfumato.party.party_session import PartySession
from sfumato.party.wire_frame import HEADER_BYTES, step_digest

RunPair = Callable[..., dict[str, Any]]


def _uniform(*shape: int) -> NDArray[np.uint8]:
    return np.frombuffer(os.urandom(int(np.prod(shape))), dtype=np.uint8).reshape(shape)


def _bits(count: int) -> NDArray[np.bool_]:
    return (_uniform(count) & 1).astype(np.bool_)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a batch have 1,000 transfers, so that small tests have several, of which the last is not whole."""
    monkeypatch.setattr(oblivious_transfer_extension, "BATCH", 1000)


@pytest.mark.parametrize(("width", "rows"), [(128, 8), (128, 40_000), (512, 1000), (8, 16)])
def test_bits_are_transposed(width: int, rows: int) -> None:
    """Transposed by words, the matrix is what it is when every bit is moved by itself."""
    columns = _uniform(width, rows // 8)
    bits = np.unpackbits(columns, axis=1, bitorder="little")
    expected = np.packbits(bits.T, axis=1, bitorder="little")
    assert np.array_equal(transpose_bits(columns), expected)
    assert np.array_equal(transpose_bits(transpose_bits(columns)), columns)


def test_streams_of_columns_go_on() -> None:
    """A column's bits are those of its seed, however many are read at a time, and no two columns have the same."""
    seeds = _uniform(256, 16)
    whole = ColumnStreams(seeds).read(1280)
    streams = ColumnStreams(seeds)
    assert np.array_equal(whole, np.concatenate([streams.read(8), streams.read(1272)], axis=1))
    assert len({column.tobytes() for column in whole}) == 256


def test_the_hash_of_columns_is_that_of_gcm() -> None:
    """The hash is GHASH: a column of one block is the block times H squared, in the field of GCM's specification.

    The product is worked out bit by bit, as NIST SP 800-38D has it in 6.3.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    def times(one: int, other: int) -> int:
        product = 0
        for place in range(128):
            if one >> (127 - place) & 1:
                product ^= other
            other = other >> 1 ^ (0xE1 << 120) * (other & 1)
        return product

    key = os.urandom(16)
    cipher = Cipher(algorithms.AES128(key), modes.ECB()).encryptor()  # noqa: S305 - H is the cipher of zeros
    h = int.from_bytes(cipher.update(bytes(16)), "big")
    column = _uniform(1, 48)
    expected = 0
    for start in range(0, 48, 16):
        expected = times(expected ^ int.from_bytes(column[0, start : start + 16].tobytes(), "big"), h)
    assert hash_columns(key, column).tobytes() == times(expected, h).to_bytes(16, "big")


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2300), st.integers(1, 5), st.integers(1, 8), st.integers(1, 40))
def test_keys_products_and_messages_arrive(run_pair: RunPair, count: int, values: int, word: int, length: int) -> None:
    """The receiver has the chosen keys, both sides share the products, and the chosen messages arrive."""
    choices = _bits(count)
    factors = np.frombuffer(os.urandom(8 * count * values), dtype=np.uint64).reshape(count, values)
    messages = _uniform(2, count, length)

    def sender(session: PartySession) -> Any:
        transfers = transfer_sender(session, "b")
        keys = transfers.make_keys(count, step="keys")
        shares = transfers.share_products(factors, word=word, step="products")
        transfers.send_messages(messages, step="messages")
        return keys, shares

    def receiver(session: PartySession) -> Any:
        transfers = transfer_receiver(session, "a")
        keys = transfers.make_keys(choices, step="keys")
        shares = transfers.share_products(choices, values, word=word, step="products")
        return keys, shares, transfers.receive_messages(choices, length, step="messages")

    results = run_pair({"a": sender, "b": receiver})
    (keys, mine), (chosen, theirs, received) = results["a"], results["b"]
    at = np.arange(count)
    assert np.array_equal(chosen, keys[choices.astype(int), at])
    assert not (count and (chosen == keys[1 - choices.astype(int), at]).all(axis=1).any())
    assert len({key.tobytes() for key in keys.reshape(-1, 16)}) == 2 * count
    modulus = 1 << 8 * word
    total = (mine + theirs).astype(object) % modulus
    assert np.array_equal(total, (factors * choices[:, None]).astype(object) % modulus)
    assert np.array_equal(received, messages[choices.astype(int), at])


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.booleans()), min_size=1, max_size=9), st.integers(1, 16))
def test_wide_products_are_exact(run_pair: RunPair, pairs: list[tuple[int, bool]], word: int) -> None:
    """The receiver's share less the sender's is the product, modulo the words' 8 to 128 bits."""
    values = np.array([value for value, _ in pairs], dtype=np.int64)
    choices = np.array([choice for _, choice in pairs])
    results = run_pair(
        {
            "a": lambda session: transfer_sender(session, "b").share_wide_products(values, word=word, step="t"),
            "b": lambda session: transfer_receiver(session, "a").share_wide_products(choices, word=word, step="t"),
        }
    )
    mine, theirs = (results[name].astype(object) @ [1, 1 << 64] for name in "ab")
    expected = [value * choice % (1 << 8 * word) for value, choice in pairs]
    assert ((theirs - mine) % (1 << 8 * word)).tolist() == expected


def _transfer(
    choices: NDArray[np.bool_], change: Callable[[str, bytes], bytes] | None = None
) -> tuple[list[tuple[str, bytes]], list[tuple[str, bytes]]]:
    """Share products of fives with choices; give what each side was sent, by step, and let `change` bend it."""
    sessions = local_sessions("a", "b")
    steps = ["extension/ot/points", "extension/ot/answers"] + [
        f"t/ot/{name}" for name in ("columns", "check", "checked", "corrections")
    ]
    names = {step_digest(step): step.rsplit("/", 1)[-1] for step in steps}
    seen: dict[str, list[tuple[str, bytes]]] = {"a": [], "b": []}

    def tap(to: str) -> Callable[[bytes], bytes]:
        def keep(frame: bytes) -> bytes:
            name = names[frame[HEADER_BYTES - 12 : HEADER_BYTES - 4]]
            content = frame[HEADER_BYTES:]
            content = content if change is None else change(name, content)
            seen[to].append((name, content))
            return frame[:HEADER_BYTES] + content

        return keep

    for one, other in (("a", "b"), ("b", "a")):
        channel: Any = sessions[one].channels[other]
        channel.tap = tap(other)
    fives = np.full((len(choices), 1), 5, dtype=np.uint64)
    run_parties(
        {
            "a": lambda session: transfer_sender(session, "b").share_products(fives, word=2, step="t"),
            "b": lambda session: transfer_receiver(session, "a").share_products(choices, word=2, step="t"),
        },
        sessions,
    )
    return seen["a"], seen["b"]


def _cheat(columns: list[int]) -> Callable[[str, bytes], bytes]:
    """Flip the choice of one transfer in some columns, as a receiver would to learn bits of Δ."""

    def change(name: str, content: bytes) -> bytes:
        if name != "columns":
            return content
        bits = np.frombuffer(content, dtype=np.uint8).reshape(128, -1).copy()
        bits[columns, 1] ^= 16
        return bits.tobytes()

    return change


def test_a_receiver_that_cheats_in_columns_is_caught() -> None:
    """Other choices in 40 columns are caught, but for a probability of 2^-40."""
    with pytest.raises(RunAborted, match="columns of bits that are not of one row of choices"):
        _transfer(_bits(500), _cheat(list(range(50, 90))))


@pytest.mark.parametrize("column", [0, 5, 77, 127])
def test_a_receiver_that_cheats_in_one_column_is_caught_unless_it_guesses(column: int) -> None:
    """Another choice in one column is caught exactly where that bit of Δ is one, in which case q_j would be wrong."""
    sessions = local_sessions("a", "b")
    one = np.ones((20, 1), dtype=np.uint64)
    channel: Any = sessions["b"].channels["a"]
    columns, cheat = step_digest("t/ot/columns"), _cheat([column])

    def change(frame: bytes) -> bytes:
        is_due = frame[HEADER_BYTES - 12 : HEADER_BYTES - 4] == columns
        return frame[:HEADER_BYTES] + cheat("columns" if is_due else "", frame[HEADER_BYTES:])

    channel.tap = change
    try:
        run_parties(
            {
                "a": lambda session: transfer_sender(session, "b").share_products(one, step="t"),
                "b": lambda session: transfer_receiver(session, "a").share_products(_bits(20), step="t"),
            },
            sessions,
        )
        caught = False
    except RunAborted:
        caught = True
    assert caught == transfer_sender(sessions["a"], "b")._delta_bits[column]


@pytest.mark.parametrize("row", [0, 127, 128])
def test_a_receiver_that_lies_in_the_check_is_caught(row: int) -> None:
    """A wrong hash of any column, or of the choices, ends the run, the last but for the Δ that has no bit."""

    def change(name: str, content: bytes) -> bytes:
        if name != "checked":
            return content
        return content[: 16 * row] + bytes([content[16 * row] ^ 1]) + content[16 * row + 1 :]

    with pytest.raises(RunAborted, match="not of one row of choices"):
        _transfer(_bits(10), change)


def _looks_uniform(content: NDArray[np.uint8]) -> bool:
    counts = np.bincount(content.reshape(-1), minlength=256)
    expected = content.size / 256
    return bool(((counts - expected) ** 2 / expected).sum() < 400)  # chi-square of 255 degrees of freedom: 1e-8


def test_the_senders_view_does_not_depend_on_choices() -> None:
    """Choices of all zeros, all ones and any give the sender messages of the same lengths, with uniform bytes.

    A simulator sends random columns, and hashes that fit them: R(t_i) = R(q_i) ⊕ Δ_i R(x) is determined by R(x), which
    therefore is what has to be uniform.
    """
    lengths = set()
    for choices in (np.zeros(4000, dtype=np.bool_), np.ones(4000, dtype=np.bool_), _bits(4000)):
        view, _ = _transfer(choices)
        lengths.add(tuple((name, len(content)) for name, content in view))
        for name in ("columns", "checked"):
            content = np.concatenate([np.frombuffer(part, np.uint8) for step, part in view if step == name])
            assert _looks_uniform(content)
    assert len(lengths) == 1
    told = [
        part[-16:] for _ in range(8) for name, part in _transfer(np.zeros(10, dtype=np.bool_))[0] if name == "checked"
    ]
    assert len(set(told)) == 8  # R(x) of the same choices is another each time


def test_the_receivers_view_does_not_depend_on_values() -> None:
    """What the receiver is sent of the products is uniform words, and no word of the key of its check is repeated."""
    _, view = _transfer(_bits(20_000))
    corrections = np.concatenate([np.frombuffer(part, np.uint8) for name, part in view if name == "corrections"])
    assert corrections.size == 40_000
    assert _looks_uniform(corrections)
    keys = [part for name, part in view if name == "check"]
    assert len(keys) == len(set(keys)) == 20


@pytest.mark.parametrize("name", ["columns", "checked", "corrections", "check"])
def test_messages_of_another_length_end_the_run(name: str) -> None:
    """A message that is a byte short ends the run, whichever it is."""
    with pytest.raises(RunAborted, match="which cannot be right"):
        _transfer(_bits(100), lambda step, content: content[:-1] if step == name else content)
