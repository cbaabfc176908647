"""Paillier's encryption, in which whoever has the public key adds and scales numbers without seeing them.

P. Paillier, "Public-Key Cryptosystems Based on Composite Degree Residuosity Classes" (EUROCRYPT 1999), by the library
of TNO. A key is of 3,072 bits, as strong as AES-128. Its two primes are drawn by OpenSSL as those of an RSA key: the
key generation of the library draws them by Python's `random`, which anybody can predict. What comes from a peer is
bytes of a fixed length, read as whole numbers and checked; nothing of the library's own messages is used.

Adversary: semi-honest; of two parties the one colluder is the other. Ciphertexts that leave are fresh: each has random
factors of its own, so that two of the same number have nothing in common, and one that was worked out says nothing of
how.

>>> owner = PaillierOwner()
>>> sums = PaillierSums(owner.public_bytes)
>>> sealed = sums.weighted_sum(owner.encrypt([20, 3]), [2, -1], mask=100)
>>> owner.decrypt(sealed)
137
"""

import importlib
import math
import secrets
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa

from sfumato.errors import InputError

KEY_BITS = 3072
KEY_BYTES = KEY_BITS // 8
CIPHERTEXT_BYTES = 2 * KEY_BYTES


def require_paillier() -> None:
    """Load the library, or say that it is missing, before a run begins: loading takes a second or more."""
    _library()


@cache
def _library() -> Any:
    try:
        return importlib.import_module("tno.mpc.encryption_schemes.paillier")
    except ImportError as error:
        raise InputError(
            f'method = "paillier" needs the package {error.name}, which is not installed; install it with '
            "pip install 'sfumato[party]'"
        ) from None


def _scheme(modulus: int, secret_key: Any, factors: Iterator[Any]) -> Any:
    """Make the library's scheme for a key, which takes the random factor of a ciphertext from an iterator."""
    library = _library()
    scheme = library.Paillier(library.PaillierPublicKey(modulus, modulus + 1), secret_key)
    scheme.remove_from_global_list()  # where the library would keep the key for as long as the process lives
    sources = importlib.import_module("tno.mpc.encryption_schemes.templates.random_sources")
    scheme.register_randomness_source(sources.ContextlessSource(factors), priority=100)
    return scheme


def _random_factors(modulus: int) -> Iterator[Any]:
    """Draw random n-th powers modulo n², as many as are asked for."""
    number = importlib.import_module("gmpy2").mpz
    while True:
        yield pow(number(secrets.randbelow(modulus - 1) + 1), modulus, modulus**2)


def _random_factors_by_primes(p: int, q: int) -> Iterator[Any]:
    """Draw the same, four times as fast, by whoever knows the primes.

    Modulo p² the n-th powers are the p-th powers, for q has no factor in common with p - 1; they depend on what is
    raised modulo p only. So two powers of half the length are put together by the Chinese remainder theorem.
    """
    number = importlib.import_module("gmpy2").mpz
    p_squared, q_squared = number(p) ** 2, number(q) ** 2
    inverse = pow(p_squared, -1, q_squared)
    while True:
        one = pow(number(secrets.randbelow(p - 1) + 1), p, p_squared)
        other = pow(number(secrets.randbelow(q - 1) + 1), q, q_squared)
        yield one + p_squared * ((other - one) * inverse % q_squared)


class PaillierOwner:
    """Whoever has the secret key; a new one for every run."""

    def __init__(self) -> None:
        drawn = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS).private_numbers()
        n, order = drawn.p * drawn.q, (drawn.p - 1) * (drawn.q - 1)
        self.modulus = n
        secret_key = _library().PaillierSecretKey(order, pow(order, -1, n), n)
        self._scheme = _scheme(n, secret_key, _random_factors_by_primes(drawn.p, drawn.q))

    @property
    def public_bytes(self) -> bytes:
        """The public key, for a peer."""
        return self.modulus.to_bytes(KEY_BYTES, "big")

    def encrypt(self, numbers: Sequence[int]) -> bytes:
        """Encrypt numbers, `CIPHERTEXT_BYTES` each, one behind the other."""
        return b"".join(
            int(self._scheme.encrypt(number).get_value()).to_bytes(CIPHERTEXT_BYTES, "big") for number in numbers
        )

    def decrypt(self, sealed: bytes) -> int:
        """Decrypt one number modulo the key; a `ValueError` where the bytes are no ciphertext."""
        ciphertext = _library().PaillierCiphertext(_read_unit(sealed, self.modulus), self._scheme)
        return int(self._scheme.decrypt(ciphertext)) % self.modulus


class PaillierSums:
    """Whoever has a peer's public key, and works with what that peer encrypted."""

    def __init__(self, public_bytes: bytes) -> None:
        self.modulus = int.from_bytes(public_bytes, "big")
        if self.modulus.bit_length() != KEY_BITS or not self.modulus % 2:
            raise ValueError("no key of 3,072 bits")
        self._scheme = _scheme(self.modulus, None, _random_factors(self.modulus))

    def weighted_sum(self, sealed: bytes, weights: Sequence[int], *, mask: int) -> bytes:
        """Give a fresh ciphertext of the sum of weights times sealed numbers, and the mask, modulo the key."""
        library, scheme = _library(), self._scheme
        half = self.modulus // 2
        total = scheme.unsafe_encrypt((mask + half) % self.modulus - half)
        for place, weight in enumerate(weights):
            content = sealed[place * CIPHERTEXT_BYTES : (place + 1) * CIPHERTEXT_BYTES]
            number = library.PaillierCiphertext(_read_unit(content, self.modulus), scheme)
            total = scheme.add(total, scheme.mul(number, weight))
        return int(total.randomize().get_value()).to_bytes(CIPHERTEXT_BYTES, "big")


def _read_unit(content: bytes, modulus: int) -> int:
    """Read a ciphertext: a number below the square of the key that has no factor in common with it."""
    number = int.from_bytes(content, "big")
    if len(content) != CIPHERTEXT_BYTES or not 0 < number < modulus**2 or math.gcd(number, modulus) != 1:
        raise ValueError("no ciphertext of this key")
    return number
