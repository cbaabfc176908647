"""Pseudonyms of persons: random, or HMAC under a key that is kept apart. Never a hash that anybody could compute."""

import hmac
from collections.abc import Iterable, Sequence
from typing import NoReturn

from sfumato.core.randomness import Randomness

LEAST = 32
"""Bytes of a key: the size of what HMAC-SHA256 gives, below which guessing the key gets easier."""
DIFFERENT = 8
"""Different bytes in a key: of 32 random hexadecimal digits, one in twenty million has fewer."""
_BYTES = 16
_TEXT = frozenset(bytes(range(0x20, 0x7F)) + b"\t\n\v\f\r")


class Key:
    """The secret that pseudonyms are made under. It is not printed and not pickled.

    Of a text, white space around it does not count, so that a line end more or less is the same key; what is no ASCII
    text is the key byte by byte.

    >>> Key(b"0123456789abcdef0123456789abcdef" + bytes([10]))
    Key(…)
    """

    __slots__ = ("_secret",)

    def __init__(self, content: bytes) -> None:
        self._secret = content.strip() if _TEXT.issuperset(content) else content

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key stays in memory; it is not pickled or copied")

    @property
    def weakness(self) -> str | None:
        """Why this cannot be a key, in words that say nothing of what is in it.

        >>> Key(b"secret").weakness
        'has fewer than 32 bytes'
        >>> Key(b"0" * 64).weakness
        'is not random, since it has fewer than 8 different bytes'
        """
        if len(self._secret) < LEAST:
            return f"has fewer than {LEAST} bytes"
        if len(set(self._secret)) < DIFFERENT:
            return f"is not random, since it has fewer than {DIFFERENT} different bytes"
        return None

    def pseudonyms(self, texts: Iterable[str]) -> list[str]:
        """HMAC-SHA256 of each text, its first 128 bits: whoever lacks the key learns nothing from it, and cannot try.

        Two of a million persons have one pseudonym with a chance of less than one in 10 ** 26. The letter in front
        keeps a spreadsheet from reading one as a number.

        >>> Key(b"0123456789abcdef0123456789abcdef").pseudonyms(["7"])
        ['p9657f4db0378a439d0a338d5b736d0ce']
        """
        digest, secret = hmac.digest, self._secret
        return [f"p{digest(secret, text.encode(), 'sha256')[:_BYTES].hex()}" for text in texts]


def pseudonyms(texts: Sequence[str | None], randomness: Randomness, key: Key | None = None) -> list[str]:
    """A pseudonym for each person, named by a text or by none.

    Rows without a name are one person to the models, since nothing tells them apart. Under a key that person has a
    random pseudonym still: the nameless of two releases need not be the same, and NULL is no text that HMAC could take
    for another.

    >>> key = Key(b"0123456789abcdef0123456789abcdef")
    >>> first, second = (pseudonyms(["7", None, ""], Randomness(), key) for _ in range(2))
    >>> [one == other for one, other in zip(first, second)]
    [True, False, True]
    """
    if key is None:
        return randomness.pseudonyms(len(texts))
    named = iter(key.pseudonyms(text for text in texts if text is not None))
    return [_nameless(randomness) if text is None else next(named) for text in texts]


def _nameless(randomness: Randomness) -> str:
    """A random pseudonym of the form of the others, so that it does not stand out."""
    return "p" + "".join(f"{word:016x}" for word in randomness.words(_BYTES // 8).tolist())
