"""Pseudonyms of persons: random, or HMAC under a key that is kept apart. Never a hash that anybody could compute.

The key is in a file that the policy names. It is read when a release is made, before anything else is, and never when a
policy is; a file that is missing, unfit or among what is published is refused.
"""

import hmac
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from sfumato.core.randomness import Randomness
from sfumato.core.regular_file import read_regular_file
from sfumato.encode import CodedColumn
from sfumato.errors import PolicyError, UnreadableFile, quote
from sfumato.policy import Policy
from sfumato.policy.columns import check_key_file
from sfumato.policy.toml_text import dotted_key
from sfumato.publish.key_places import lies_within

LEAST_BYTES = 32
"""Bytes of a key: the size of what HMAC-SHA256 gives, below which guessing the key gets easier."""
LEAST_DIFFERENT = 8
"""Different bytes in a key: of 32 random hexadecimal digits, one in twenty million has fewer."""
KEYED_WARNING = (
    "Pseudonyms are made under a key: a person has the same one in every release under that key, and whoever has "
    "several of these releases can join them. What is protected in each may not be protected in all together."
)
"""What whoever publishes, or reads, should know of such a release."""

_BYTES = 16
_TEXT = frozenset(bytes(range(0x20, 0x7F)) + b"\t\n\v\f\r")
_LARGEST_FILE = 4096
_OTHERS = 0o077
_MAKE = "(umask 077; openssl rand -hex 32 > person.key)"


class PseudonymKey:
    """The secret that pseudonyms are made under. It is not printed and not pickled.

    Of a text, white space around it does not count, so that a line end more or less is the same key; what is no ASCII
    text is the key byte by byte.

    >>> PseudonymKey(b"0123456789abcdef0123456789abcdef" + bytes([10]))
    PseudonymKey(…)
    """

    __slots__ = ("_secret",)

    def __init__(self, content: bytes) -> None:
        self._secret = content.strip() if _TEXT.issuperset(content) else content

    def __repr__(self) -> str:
        return "PseudonymKey(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key stays in memory; it is not pickled or copied")

    @property
    def weakness(self) -> str | None:
        """Why this cannot be a key, in words that say nothing of what is in it.

        >>> PseudonymKey(b"secret").weakness
        'has fewer than 32 bytes'
        >>> PseudonymKey(b"0" * 64).weakness
        'is not random, since it has fewer than 8 different bytes'
        """
        if len(self._secret) < LEAST_BYTES:
            return f"has fewer than {LEAST_BYTES} bytes"
        if len(set(self._secret)) < LEAST_DIFFERENT:
            return f"is not random, since it has fewer than {LEAST_DIFFERENT} different bytes"
        return None

    def pseudonyms(self, texts: Iterable[str]) -> list[str]:
        """HMAC-SHA256 of each text, its first 128 bits: whoever lacks the key learns nothing from it, and cannot try.

        Two of a million persons have one pseudonym with a chance of less than one in 10 ** 26. The letter in front
        keeps a spreadsheet from reading one as a number.

        >>> PseudonymKey(b"0123456789abcdef0123456789abcdef").pseudonyms(["7"])
        ['p9657f4db0378a439d0a338d5b736d0ce']
        """
        digest, secret = hmac.digest, self._secret
        return [f"p{digest(secret, text.encode(), 'sha256')[:_BYTES].hex()}" for text in texts]


def make_pseudonyms(texts: Sequence[str | None], randomness: Randomness, key: PseudonymKey | None = None) -> list[str]:
    """Make a pseudonym for each person, named by a text or by none.

    Rows without a name are one person to the models, since nothing tells them apart. Under a key that person has a
    random pseudonym still: the nameless of two releases need not be the same, and NULL is no text that HMAC could take
    for another.

    >>> key = PseudonymKey(b"0123456789abcdef0123456789abcdef")
    >>> first, second = (make_pseudonyms(["7", None, ""], Randomness(), key) for _ in range(2))
    >>> [a == b for a, b in zip(first, second)]
    [True, False, True]
    """
    if key is None:
        return randomness.pseudonyms(len(texts))
    keyed = iter(key.pseudonyms(text for text in texts if text is not None))
    return [_random_pseudonym(randomness) if text is None else next(keyed) for text in texts]


def _random_pseudonym(randomness: Randomness) -> str:
    """A random pseudonym of the form of the keyed ones, so that it does not differ from them to the eye."""
    return "p" + "".join(f"{word:016x}" for word in randomness.words(_BYTES // 8).tolist())


def is_keyed(policy: Policy) -> bool:
    """Whether the policy names a key, so that releases can be joined by their pseudonyms."""
    return _key_file(policy) is not None


def read_key(policy: Policy, data: Path | None) -> PseudonymKey | None:
    """Read the key that the policy names; None where it names none. `data` is the file of rows, if it is one.

    Raises:
        PolicyError: there is no such file, it may not be read, or what is in it is no key.
    """
    named = _key_file(policy)
    if named is None:
        return None
    if data is not None:
        check_key_file(policy.columns, data, "the table itself")
    key = PseudonymKey(_read_file(*named))  # the bytes themselves are in no frame that an error goes through
    if key.weakness:
        raise _refusal(named[0], f"what is in {named[1]} {key.weakness}", f"make another with {_MAKE}")
    return key


def check_person_names(policy: Policy, person: CodedColumn | None) -> None:
    """Refuse numbers that may be printed in several ways: the same person would get several pseudonyms."""
    named, kind = _key_file(policy), None if person is None else person.values.type
    if named is not None and (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        why = f"its values are of the type {kind}, of which one number has several spellings"
        raise _refusal(named[0], why, "give whole numbers or text (a column of pandas with gaps as Int64)")


def check_key_apart(policy: Policy, folder: Path) -> None:
    """Refuse to write a release where its key is: it would be replaced with the folder, or given away with it."""
    named = _key_file(policy)
    if named is None:
        return
    key, path = named
    if lies_within(path, folder):
        raise _refusal(key, f"{path} lies in the folder of the release", "keep it apart: move it elsewhere")


def key_warnings(policy: Policy) -> Iterator[str]:
    """What the data holder should know of the key file."""
    named = _key_file(policy)
    if named is None:
        return
    try:
        mode = stat.S_IMODE(named[1].stat().st_mode)
    except OSError:  # gone since the release was made
        return
    if mode & _OTHERS:
        why = f"others on this machine may use the key file {named[1].name} (mode {mode:o})"
        yield f"{why}, and with it find the pseudonym of any person; take that from them with chmod 600"


def _key_file(policy: Policy) -> tuple[str, Path] | None:
    """The policy's key (in TOML) that names the file, and the file."""
    column = policy.individual
    return (dotted_key("columns", column.name, "key"), column.key) if column is not None and column.key else None


def _read_file(key: str, path: Path) -> bytes:
    try:
        return read_regular_file(path, most=_LARGEST_FILE, what="a key")
    except UnreadableFile as error:
        match error.fault:
            case "missing":
                way = f"check the path, or make a key with {_MAKE}"
                raise _refusal(
                    key, f"there is no file {path}", f"{way}: under a new one persons get other pseudonyms than before"
                ) from None
            case "forbidden":
                raise _refusal(key, f"{path} may not be read", "ask for permission to read it") from None
            case "large":
                why = f"{path} has more than {_LARGEST_FILE:,} bytes, so it is no key"
                raise _refusal(key, why, f"make one with {_MAKE}") from None
            case "failed":
                raise _refusal(key, f"{quote(str(path))} {error.reason}", "name another") from None
        raise _refusal(key, f"{path} {error.reason}", "name a file that holds the key") from None


def _refusal(key: str, why: str, way: str) -> PolicyError:
    return PolicyError(f"{why}; {way}", key=key)
