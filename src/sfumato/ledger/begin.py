"""The beginning of a ledger: a folder for its owner alone, whose database appears when it is complete."""

import os
import secrets
from pathlib import Path

from sfumato.errors import OutputError
from sfumato.ledger import database
from sfumato.ledger.clock import now
from sfumato.ledger.lock import FOLDER, HIDDEN, cannot_write, locked
from sfumato.ledger.objects import flush


def begin(folder: Path) -> None:
    """Make a ledger where there is nothing, an empty folder, or what a killed beginning left."""
    try:
        if folder.is_symlink() or (folder.exists() and not _is_free(folder)):
            raise _taken(folder)
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        for part in (folder, folder / FOLDER):
            part.chmod(0o700)
        with locked(folder / FOLDER):
            _write(folder)
    except OSError as error:
        raise cannot_write(folder, error) from None


def _write(folder: Path) -> None:
    """The database under another name, and then under its own."""
    if not _is_free(folder):  # somebody else was quicker
        raise _taken(folder)
    for left in folder.glob(f"{HIDDEN}*"):
        left.unlink()
    new = folder / f"{HIDDEN}{secrets.token_hex(8)}"
    try:
        database.create(new, secrets.token_hex(16), now())
        new.chmod(0o600)
        new.rename(folder / database.FILE)
    finally:
        new.unlink(missing_ok=True)
    flush(folder)


def _is_free(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir() if not path.name.startswith(HIDDEN)}
    return names <= {FOLDER} and not any(os.scandir(folder / FOLDER) if names else ())


def _taken(folder: Path) -> OutputError:
    return OutputError(f"{folder} exists already; a ledger begins in a new folder, so name another")
