"""The copies of releases that a ledger stores: folders named by a SHA-256, each there whole or not at all.

A copy is written into a hidden folder, flushed to the disk and renamed. One writer at a time does so, under a lock, so
that whatever hidden folder the next writer finds was left by one that was killed, and is removed.
"""

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from sfumato.core.regular_file import open_regular_file
from sfumato.errors import InputError, OutputError, UnreadableFile
from sfumato.ledger.event_chain import PATIENCE
from sfumato.release.folder import flush_to_disk
from sfumato.table.several_files import find_parts, list_digest

COPIES = "objects"
"""The folder of the copies within a ledger."""
HIDDEN = ".new-"
"""How the names begin of what is not complete."""

_INTERVAL = 0.01  # seconds between two attempts to get the lock


@dataclass(frozen=True)
class CopySource:
    """A file to store: its content, or where it is to be copied from; and the SHA-256 it must have."""

    content: bytes | Path
    sha256: str


def store_copy(copies: Path, name: str, files: Mapping[str, CopySource]) -> None:
    """Store files, by their path within it, as the folder `name`; on the disk when this returns."""
    target, stage = copies / name, copies / f"{HIDDEN}{secrets.token_hex(8)}"
    if all(file_sha256(target / path) == source.sha256 for path, source in files.items()):
        return  # of a writer that was killed before it could append its event
    try:
        stage.mkdir(mode=0o700)
        for path, source in files.items():
            _write_file(stage / path, source)
        for folder, _, _ in os.walk(stage):
            flush_to_disk(Path(folder))
        if target.exists():  # damaged, or it would have been taken as it is
            target.rename(target.with_name(f"{HIDDEN}{secrets.token_hex(8)}"))
        stage.rename(target)
        flush_to_disk(copies)
    except OSError as error:
        raise cannot_write(copies.parent, error) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def file_sha256(path: Path) -> str | None:
    """Hash a plain file, or the list of files that are one table in a folder; ``None`` where none can be read."""
    try:
        if path.is_symlink():
            return None
        if parts := find_parts(path):
            hashes = {part.name: file_sha256(part) for part in parts}
            return (
                list_digest([(name, sha256) for name, sha256 in hashes.items() if sha256])
                if all(hashes.values())
                else None
            )
        with open_regular_file(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, UnreadableFile):
        return None


def _write_file(path: Path, source: CopySource) -> None:
    """Write one file, readable by its owner alone, and flush it; refuse a content that has changed."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        with _open_source(source.content) as original:
            shutil.copyfileobj(original, stream, 1 << 20)
        stream.flush()
        os.fsync(stream.fileno())
    if file_sha256(path) != source.sha256:
        raise InputError(f"{path.name} was changed while it was being recorded; run it again")


def _open_source(content: bytes | Path) -> BinaryIO:
    if isinstance(content, bytes):
        return BytesIO(content)
    try:
        return open_regular_file(content)
    except UnreadableFile as error:
        raise InputError(f"{content.name} {error.reason}; run it again") from None


@contextmanager
def writer_lock(copies: Path) -> Iterator[None]:
    """Be the only writer of copies; the lock ends with the process that has it."""
    try:
        descriptor = os.open(copies, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise cannot_write(copies.parent, error) from None
    try:
        deadline = time.monotonic() + PATIENCE
        while not _try_lock(descriptor, copies.parent):
            if time.monotonic() > deadline:
                busy = f"others have kept it busy for {PATIENCE:.0f} seconds; run it again"
                raise OutputError(f"cannot write to the ledger {copies.parent}: {busy}")
            time.sleep(_INTERVAL)
        for incomplete in copies.glob(f"{HIDDEN}*"):
            shutil.rmtree(incomplete, ignore_errors=True)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, folder: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # a disk that knows no locks
        raise cannot_write(folder, error) from None
    return True


def cannot_write(folder: Path, error: OSError) -> OutputError:
    """Say why nothing can be written to a ledger."""
    reasons = {
        errno.EACCES: "you may not write there; ask for permission",
        errno.EPERM: "you may not write there; ask for permission",
        errno.EROFS: "its disk is read-only; copy it to another",
        errno.ENOSPC: "there is no space left on its disk; free some and run it again",
        errno.EDQUOT: "your disk quota is used up; free some space and run it again",
        errno.ENOENT: f"it has no folder {COPIES}; restore it from a copy",
    }
    reason = reasons.get(error.errno or 0, f"{error.strerror or type(error).__name__}; name another folder")
    return OutputError(f"cannot write to the ledger {folder}: {reason}")
