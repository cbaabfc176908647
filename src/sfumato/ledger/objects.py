"""The copies that a ledger keeps: folders named by a SHA-256, each there whole or not at all.

A copy is written into a hidden folder, flushed to the disk and renamed.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from sfumato.errors import InputError
from sfumato.ledger.lock import HIDDEN, cannot_write


@dataclass(frozen=True)
class Source:
    """A file to keep: its content, or where it is to be copied from; and the SHA-256 it must have."""

    content: bytes | Path
    sha256: str


def store(objects: Path, name: str, files: Mapping[str, Source]) -> None:
    """Keep files, by their path within it, as the folder `name`; on the disk when this returns."""
    target, stage = objects / name, objects / f"{HIDDEN}{secrets.token_hex(8)}"
    if all(digest(target / path) == source.sha256 for path, source in files.items()):
        return  # of a writer that was killed before it could say so
    try:
        stage.mkdir(mode=0o700)
        for path, source in files.items():
            _write(stage / path, source)
        _flush_folders(stage)
        _place(stage, target)
        flush(objects)
    except OSError as error:
        raise cannot_write(objects.parent, error) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def digest(path: Path) -> str | None:
    """The SHA-256 of a plain file; none where there is none that can be read."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _write(path: Path, source: Source) -> None:
    """One file, readable by its owner alone and flushed; refused where it is not what it should be."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        with _opened(source.content) as original:
            shutil.copyfileobj(original, stream, 1 << 20)
        stream.flush()
        os.fsync(stream.fileno())
    if digest(path) != source.sha256:
        raise InputError(f"{path.name} was changed while it was being recorded; run it again")


def _opened(content: bytes | Path) -> BinaryIO:
    if isinstance(content, bytes):
        return BytesIO(content)
    try:
        return content.open("rb")
    except OSError as error:
        raise InputError(f"{content.name} cannot be read: {error.strerror}; run it again") from None


def _place(stage: Path, target: Path) -> None:
    """Rename into place; what is there under that name is damaged, and makes room."""
    if target.exists():
        target.rename(target.with_name(f"{HIDDEN}{secrets.token_hex(8)}"))
    stage.rename(target)


def _flush_folders(stage: Path) -> None:
    for folder, _, _ in os.walk(stage):
        flush(Path(folder))


def flush(path: Path) -> None:
    """What a folder holds is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
