"""A folder with a pair of keys to sign releases with: it appears whole or not at all, and never replaces another."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import InputError, OutputError
from sfumato.publish.signing_key import PASSPHRASE_VARIABLE, SigningKey, read_passphrase
from sfumato.release.folder import staged

PRIVATE_KEY, PUBLIC_KEY = "private.pem", "public.pem"


@dataclass(frozen=True)
class KeyFolder:
    """A pair of keys on disk: their files, the fingerprint, and whether the private one is encrypted.

    `mishaps` are what went wrong after the folder had appeared, a sentence each.
    """

    private: Path
    public: Path
    fingerprint: str
    encrypted: bool
    mishaps: tuple[str, ...] = ()


def write_key_folder(folder: Path) -> KeyFolder:
    """Make a pair of keys and write it into a new or empty folder, for its owner alone.

    The private key is encrypted where the environment variable SFUMATO_KEY_PASSPHRASE has a passphrase.

    Raises:
        OutputError: there is something already, or the folder cannot be written.
    """
    passphrase, key = read_passphrase(), SigningKey.generate()
    try:
        private = key.private_pem(passphrase)
    except ValueError:  # of a thousand characters and more
        raise InputError(f"the passphrase in {PASSPHRASE_VARIABLE} is too long; give a shorter one") from None
    with _no_folder(folder), staged(folder) as stage:
        stage.path.chmod(0o700)
        _write_new(stage.path / PRIVATE_KEY, private, 0o600)
        _write_new(stage.path / PUBLIC_KEY, key.public_pem, 0o644)
    mishaps = tuple(f"the keys are there, but {mishap}" for mishap in stage.mishaps)
    return KeyFolder(
        folder / PRIVATE_KEY, folder / PUBLIC_KEY, key.fingerprint, encrypted=passphrase is not None, mishaps=mishaps
    )


@contextmanager
def _no_folder(folder: Path) -> Iterator[None]:
    """Take an empty folder away for what is to appear in its place, and put it back if nothing does."""
    try:
        empty = folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir())
        if (folder.exists() or folder.is_symlink()) and not empty:
            raise OutputError(f"{folder} exists already, and a key is never replaced; choose another --out")
        if empty:
            folder.rmdir()
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}; choose another --out") from None
    try:
        yield
    except BaseException:
        if empty:
            with suppress(OSError):
                folder.mkdir()
        raise


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that was never readable for more than it is to be."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
        stream.write(content)
