"""The hash of a fixed-key cipher, against its formula, and streams of a key."""

import hashlib

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.party.fixed_key_hash import AesStream, TweakableHash


@settings(max_examples=20, deadline=None)
@given(st.lists(st.binary(min_size=16, max_size=16), max_size=5), st.integers(0, 2**63), st.integers(0, 2**64 - 1))
def test_the_hash_is_its_formula(blocks: list[bytes], first: int, part: int) -> None:
    """Each row is π(π(x) ⊕ i) ⊕ π(x), where π is AES-128 under the key that the words give."""
    key = hashlib.sha256(b"sfumato-fixed-key\0" + (3).to_bytes(8, "little") + b"abc").digest()[:16]
    permutation = Cipher(algorithms.AES128(key), modes.ECB()).encryptor()  # noqa: S305 - the formula has the cipher itself
    array = np.frombuffer(b"".join(blocks), dtype=np.uint8).reshape(-1, 16)
    for place, (block, row) in enumerate(
        zip(blocks, TweakableHash(b"abc").digest(array, first=first, part=part), strict=True)
    ):
        once = int.from_bytes(permutation.update(block), "little")
        twice = permutation.update((once ^ (first + place) ^ part << 64).to_bytes(16, "little"))
        assert int.from_bytes(row.tobytes(), "little") == int.from_bytes(twice, "little") ^ once


def test_words_are_cut_where_they_end() -> None:
    """Words of the same letters that are cut elsewhere give another permutation."""
    blocks = np.zeros((1, 16), dtype=np.uint8)
    digests = {
        TweakableHash(*words).digest(blocks, first=0).tobytes() for words in ([b"ab"], [b"a", b"b"], [b"", b"ab"])
    }
    assert len(digests) == 3


def test_a_stream_is_counter_mode() -> None:
    """A stream's blocks are the cipher's of 0, 1, 2 and on, however it is read."""
    cipher = Cipher(algorithms.AES128(bytes(range(16))), modes.ECB()).encryptor()  # noqa: S305 - what a counter mode is
    expected = b"".join(cipher.update(place.to_bytes(16, "big")) for place in range(4))
    stream = AesStream(bytes(range(16)))
    into = bytearray(24 + 15)
    first = stream.read(40)
    stream.fill(memoryview(bytes(24)), memoryview(into))
    assert first + into[:24] == expected
