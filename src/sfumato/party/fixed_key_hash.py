"""Hashing and stretching by AES: the two things that oblivious transfer does a million times.

`TweakableHash` is TMMO of Guo, Katz, Wang and Yu, "Efficient and Secure Multiparty Computation from Fixed-Key Block
Ciphers" (S&P 2020): H(x, i) = π(π(x) ⊕ i) ⊕ π(x), where π is AES-128 under a key that everybody may know. With π a
random permutation it is a tweakable circular correlation-robust hash: H(x ⊕ Δ, i) looks random to whoever knows x and
not Δ, for as many x and tweaks i as one likes. The key is drawn from the session, so that nobody can compute ahead.

`AesStream` is a pseudo-random generator: AES-128 in counter mode, from a key that is used for nothing else.
"""

import hashlib

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

BLOCK_BYTES = 16
"""Bytes of a block of AES: of what is hashed, of a hash, and of a key."""

_SPARE = BLOCK_BYTES - 1
"""Bytes that `update_into` wants to have behind its result."""


class TweakableHash:
    """TMMO under a key that is derived from public words, such as the session's id and the names of two parties.

    >>> hashed = TweakableHash(b"a session", b"a", b"b")
    >>> blocks = np.zeros((2, 16), dtype=np.uint8)
    >>> one, other = hashed.digest(blocks, first=0)
    >>> (one == other).all(), (hashed.digest(blocks, first=1)[0] == other).all()
    (np.False_, np.True_)
    """

    def __init__(self, *words: bytes) -> None:
        digest = hashlib.sha256(b"sfumato-fixed-key\0")
        for word in words:
            digest.update(len(word).to_bytes(8, "little") + word)
        key = digest.digest()[:BLOCK_BYTES]
        # the block cipher itself is meant, as a permutation: nothing is encrypted, and everybody may know the key
        self._permutation = Cipher(algorithms.AES128(key), modes.ECB()).encryptor()  # noqa: S305

    def digest(self, blocks: NDArray[np.uint8], *, first: int, part: int = 0) -> NDArray[np.uint8]:
        """Hash uint8[n, 16], row j with the tweak (first + j, part), each half of it a word; gives uint8[n, 16].

        No two blocks that depend on one secret may be hashed with one tweak.
        """
        once = self._permute(blocks)
        twice = once.copy()
        tweaked = twice.view("<u8")
        tweaked[:, 0] ^= np.arange(first, first + len(blocks), dtype=np.uint64)
        tweaked[:, 1] ^= np.uint64(part)
        twice = self._permute(twice)
        twice.view(np.uint64)[...] ^= once.view(np.uint64)
        return twice

    def _permute(self, blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
        content = np.ascontiguousarray(blocks).reshape(-1)
        result = np.empty(content.size + _SPARE, dtype=np.uint8)
        self._permutation.update_into(content.data, result.data)
        return result[: content.size].reshape(-1, BLOCK_BYTES)


class AesStream:
    """The pseudo-random bytes that a key of 16 bytes stands for, a part at a time.

    >>> stream, again = AesStream(bytes(16)), AesStream(bytes(16))
    >>> stream.read(3) + stream.read(30) == again.read(33)
    True
    """

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(algorithms.AES128(key), modes.CTR(bytes(BLOCK_BYTES))).encryptor()

    def read(self, count: int) -> bytes:
        """Give the next so many bytes."""
        return self._cipher.update(bytes(count))

    def fill(self, zeros: memoryview, into: memoryview) -> None:
        """Write the next bytes, as many as there are `zeros`; `into` has 15 more, which stay undefined."""
        self._cipher.update_into(zeros, into)
