"""The release folder: it appears whole or not at all.

Everything is written into a hidden folder beside the target, which is renamed when it is complete and verified.
The hidden folder is locked while its writer lives, so that the next run can tell what a killed one left behind
and clear it away. A run that fails, or is told to stop, removes it itself, and the folders it made on the way to
the target.
"""

import ctypes
import errno
import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.core.regular_file import LARGEST_MANIFEST, read_regular_file
from sfumato.errors import OutputError, UnreadableFile
from sfumato.reading.release_reader import MANIFEST

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100
_NO_EXCHANGE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


@contextmanager
def staged(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A hidden folder to write into, which becomes `target` if the block ends well and vanishes if it does not."""
    check_target(target, force=force)
    try:
        target = target.resolve()
        with _parents(target.parent), _stage(target) as stage:
            yield stage
            _appear(stage, target, force=force)
    except OSError as error:
        raise _cannot_write(error, target) from None


def check_target(target: Path, *, force: bool) -> None:
    """Refuse what exists, and never replace a folder that is not a release."""
    try:
        if not target.exists() and not target.is_symlink():
            return
        if not force:
            raise OutputError(f"{target} exists already; choose another --out, or replace it with --force")
        if not _is_release(target):
            raise OutputError(f"{target} is not a release, so --force does not replace it; choose another --out")
    except OSError as error:
        raise _cannot_write(error, target) from None


def clear_leftovers(target: Path) -> None:
    """Remove hidden folders that a killed run left beside the target."""
    ours = re.compile(re.escape(f".{target.name}.sfumato-") + "[0-9a-f]{16}")
    for stage in target.parent.iterdir():
        if not ours.fullmatch(stage.name):
            continue
        with suppress(OSError):  # locked: its writer lives
            descriptor = os.open(stage, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(stage, ignore_errors=True)
            finally:
                os.close(descriptor)


def _is_release(target: Path) -> bool:
    """Whether a folder is empty, or holds the two parts of a release and nothing else."""
    if not target.is_dir() or {part.name for part in target.iterdir()} - {"public", "private"}:
        return False
    manifest = target / "public" / MANIFEST
    try:
        if not manifest.exists():
            return not any(target.iterdir())
        return "sfumato" in json.loads(read_regular_file(manifest, most=LARGEST_MANIFEST, what="a manifest"))
    except (UnreadableFile, ValueError, TypeError, RecursionError):
        return False


@contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """Make the folders on the way, and unmake them if the block does not end well."""
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    if not missing and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for made in missing:
            with suppress(OSError):  # not ours alone any more
                made.rmdir()
        raise


@contextmanager
def _stage(target: Path) -> Iterator[Path]:
    """A new hidden folder beside the target, locked; whatever has its name is removed in the end."""
    clear_leftovers(target)
    stage = _hidden(target)
    try:
        descriptor = _lock(stage)
        try:
            yield stage
        finally:
            os.close(descriptor)
    finally:
        _remove(stage)


def _hidden(target: Path) -> Path:
    return target.parent / f".{target.name}.sfumato-{secrets.token_hex(8)}"


def _lock(stage: Path) -> int:
    """Make a folder and lock it; once more if another run took it for a leftover before it was locked."""
    while True:
        stage.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            descriptor = os.open(stage, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if stage.exists():
                return descriptor
            os.close(descriptor)


def _remove(stage: Path) -> None:
    try:
        shutil.rmtree(stage, ignore_errors=True)
    except KeyboardInterrupt:  # told to stop while cleaning up: finish that first
        shutil.rmtree(stage, ignore_errors=True)
        raise


def _appear(stage: Path, target: Path, *, force: bool) -> None:
    """Rename into place; an old release is exchanged in one step, so that there is always a whole one."""
    for folder, _, files in os.walk(stage):
        for part in (*files, "."):
            flush_to_disk(Path(folder) / part)
    if force and target.exists():
        _exchange(stage, target)
    else:
        stage.rename(target)
    flush_to_disk(target.parent)


def flush_to_disk(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(stage: Path, target: Path) -> None:
    """Swap two folders atomically (Linux); what was the target is removed with the stage afterwards."""
    library = ctypes.CDLL(None, use_errno=True)
    done = library.renameat2(
        _AT_FDCWD, os.fsencode(stage), _AT_FDCWD, os.fsencode(target), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    code = ctypes.get_errno() if done != 0 else 0
    if code in _NO_EXCHANGE:  # a disk that cannot: two steps, between which there is no release
        _swap(stage, target)
    elif code:
        raise OSError(code, os.strerror(code))


def _swap(stage: Path, target: Path) -> None:
    old = _hidden(target)
    target.rename(old)
    try:
        stage.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old)


def _cannot_write(error: OSError, target: Path) -> OutputError:
    reasons = {
        errno.ENOSPC: "there is no space left on its disk; free some or choose another --out",
        errno.EDQUOT: "your disk quota is used up; free some space or choose another --out",
        errno.EACCES: "you have no permission there; choose another --out",
        errno.EPERM: "you have no permission there; choose another --out",
        errno.EROFS: "its disk is read-only; choose another --out",
        errno.ENOTDIR: "a part of its path is a file; choose another --out",
        errno.EEXIST: "something appeared there meanwhile; choose another --out",
        errno.ENOTEMPTY: "something appeared there meanwhile; choose another --out",
        errno.ENAMETOOLONG: "its name is too long; choose another --out",
    }
    reason = reasons.get(error.errno or 0, f"{error.strerror or type(error).__name__}; choose another --out")
    return OutputError(f"cannot write {target}: {reason}")
