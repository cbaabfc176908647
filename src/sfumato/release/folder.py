"""The release folder: it appears whole or not at all.

Everything is written into a hidden folder beside the target, which is renamed when it is complete and verified.
The hidden folder is locked while its writer lives, so that the next run can tell what a killed one left behind
and clear it away.
"""

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.errors import OutputError

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


@contextmanager
def staged(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A hidden folder to write into, which becomes `target` if the block ends well and vanishes if it does not."""
    target = target.resolve()
    check_target(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(target)
        stage = target.parent / f".{target.name}.sfumato-{secrets.token_hex(8)}"
        stage.mkdir()
    except OSError as error:
        raise _cannot_write(error, target) from None
    with _locked(stage):
        try:
            yield stage
            _appear(stage, target, force=force)
        except OSError as error:
            raise _cannot_write(error, target) from None
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def clear_leftovers(target: Path) -> None:
    """Remove hidden folders that a killed run left beside the target."""
    for stage in target.parent.glob(f".{target.name}.sfumato-*"):
        with suppress(OSError):  # locked: its writer lives
            descriptor = os.open(stage, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(stage, ignore_errors=True)
            finally:
                os.close(descriptor)


@contextmanager
def _locked(stage: Path) -> Iterator[None]:
    descriptor = os.open(stage, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def check_target(target: Path, *, force: bool) -> None:
    """Refuse what exists, and never replace a folder that is not a release."""
    if not target.exists() and not target.is_symlink():
        return
    if not force:
        raise OutputError(f"{target} exists already; choose another --out, or replace it with --force")
    if not (target / "public" / "manifest.json").exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target} is not a release, so --force does not replace it; choose another --out")


def _appear(stage: Path, target: Path, *, force: bool) -> None:
    """Rename into place; an old release is exchanged in one step, so that there is always a whole one."""
    for folder, _, files in os.walk(stage):
        for file in files:
            _flush(Path(folder) / file)
    _flush(stage)
    if force and target.exists():
        _exchange(stage, target)
    else:
        stage.rename(target)
    _flush(target.parent)


def _flush(path: Path) -> None:
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
    if done != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


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
    reason = reasons.get(error.errno or 0, f"{error.strerror}; choose another --out")
    return OutputError(f"cannot write {target}: {reason}")
