"""One writer at a time keeps copies in a ledger.

So whatever hidden folder the next one finds was left by a writer that was killed, and is removed.
"""

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import OutputError
from sfumato.ledger.database import PATIENCE

FOLDER = "objects"
HIDDEN = ".new-"
"""How the names begin of what is not complete."""

_WAIT = 0.01


@contextmanager
def locked(objects: Path) -> Iterator[None]:
    """Be the one writer; the lock goes with the process that holds it."""
    try:
        descriptor = os.open(objects, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise cannot_write(objects.parent, error) from None
    try:
        _wait(descriptor, objects.parent)
        for left in objects.glob(f"{HIDDEN}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(descriptor)


def cannot_write(folder: Path, error: OSError) -> OutputError:
    """Why nothing can be written to a ledger."""
    reasons = {
        errno.EACCES: "you may not write there; ask for permission",
        errno.EPERM: "you may not write there; ask for permission",
        errno.EROFS: "its disk is read-only; copy it to another",
        errno.ENOSPC: "there is no space left on its disk; free some and run it again",
        errno.EDQUOT: "your disk quota is used up; free some space and run it again",
        errno.ENOENT: f"it has no folder {FOLDER}; restore it from a copy",
    }
    reason = reasons.get(error.errno or 0, f"{error.strerror or type(error).__name__}; name another folder")
    return OutputError(f"cannot write to the ledger {folder}: {reason}")


def _wait(descriptor: int, folder: Path) -> None:
    """Take the lock when it is free, and not wait for ever."""
    until = time.monotonic() + PATIENCE
    while not _is_taken(descriptor, folder):
        if time.monotonic() > until:
            busy = f"others have kept it busy for {PATIENCE:.0f} seconds; run it again"
            raise OutputError(f"cannot write to the ledger {folder}: {busy}")
        time.sleep(_WAIT)


def _is_taken(descriptor: int, folder: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # a disk that knows no locks
        raise cannot_write(folder, error) from None
    return True
