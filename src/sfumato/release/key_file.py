"""The file of the key that pseudonyms are made under: found, fit and apart from all that is published, or refused.

It is read when a release is made, before anything else is, and never when a policy is.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from sfumato.encode import CodedColumn
from sfumato.errors import PolicyError
from sfumato.policy import Policy
from sfumato.policy.columns import check_key_file
from sfumato.policy.toml_text import dotted_key
from sfumato.release.pseudonyms import Key

_MOST = 4096
"""Larger files are something else."""
_OTHERS = 0o077
_MAKE = "(umask 077; openssl rand -hex 32 > person.key)"

JOINED = (
    "Pseudonyms are made under a key: a person has the same one in every release under that key, and whoever has "
    "several of these releases can join them. What is protected in each may not be protected in all together."
)
"""What whoever publishes, or reads, should know of such a release."""


def is_keyed(policy: Policy) -> bool:
    """Whether the policy names a key, so that releases can be joined by their pseudonyms."""
    return _named(policy) is not None


def key_of(policy: Policy, data: Path | None) -> Key | None:
    """The key that the policy names, fit for use; None where it names none. `data` is the file of rows, if it is one.

    Raises:
        PolicyError: there is no such file, it may not be read, or what is in it is no key.
    """
    named = _named(policy)
    if named is None:
        return None
    if data is not None:
        check_key_file(policy.columns, data, "the table itself")
    key = Key(_content(*named))  # the bytes themselves are in no frame that an error goes through
    if key.weakness:
        raise _refused(named[0], f"what is in {named[1]} {key.weakness}", f"make another with {_MAKE}")
    return key


def check_names(policy: Policy, person: CodedColumn | None) -> None:
    """Refuse numbers that may be printed in several ways: the same person would get several pseudonyms."""
    named, kind = _named(policy), None if person is None else person.values.type
    if named is not None and (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        why = f"its values are of the type {kind}, of which one number has several spellings"
        raise _refused(named[0], why, "give whole numbers or text (a column of pandas with gaps as Int64)")


def check_apart(policy: Policy, folder: Path) -> None:
    """Refuse to write a release where its key is: it would be replaced with the folder, or given away with it."""
    named = _named(policy)
    if named is None:
        return
    key, path = named
    places = _real(path), _real(path.parent) / path.name  # the key, and a link to it
    if any(place.is_relative_to(_real(folder)) for place in places):
        raise _refused(key, f"{path} lies in the folder of the release", "keep it apart: move it elsewhere")


def key_warnings(policy: Policy) -> Iterator[str]:
    """What the data holder should know of the key file."""
    named = _named(policy)
    if named is None:
        return
    try:
        mode = stat.S_IMODE(named[1].stat().st_mode)
    except OSError:  # gone since the release was made
        return
    if mode & _OTHERS:
        why = f"others on this machine may use the key file {named[1].name} (mode {mode:o})"
        yield f"{why}, and with it find the pseudonym of any person; take that from them with chmod 600"


def _named(policy: Policy) -> tuple[str, Path] | None:
    """The key of the policy that names the file, and the file."""
    column = policy.individual
    return (dotted_key("columns", column.name, "key"), column.key) if column is not None and column.key else None


def _content(key: str, path: Path) -> bytes:
    try:
        _check_file(key, path)
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        way = f"check the path, or make a key with {_MAKE}: under a new one persons get other pseudonyms than before"
        raise _refused(key, f"there is no file {path}", way) from None
    except PermissionError:
        raise _refused(key, f"{path} may not be read", "ask for permission to read it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file can have that name"
        raise _refused(key, f"{str(path)!r} cannot be read: {reason}", "name another") from None


def _check_file(key: str, path: Path) -> None:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # a pipe or a device may never end
        raise _refused(key, f"{path} is not a regular file", "name one that holds the key")
    if status.st_size > _MOST:
        raise _refused(key, f"{path} has more than {_MOST:,} bytes, so it is no key", f"make one with {_MAKE}")


def _refused(key: str, why: str, way: str) -> PolicyError:
    return PolicyError(f"{why}; {way}", key=key)


def _real(path: Path) -> Path:
    """Without links; unlike Path.resolve, this never raises on a loop of them."""
    return Path(os.path.realpath(path))
