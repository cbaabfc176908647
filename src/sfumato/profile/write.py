"""Writing a proposal: the policy and its hierarchy files appear whole or not at all.

They are written into a hidden folder beside the policy and renamed from there, the policy last: a policy that is there
has its files. What a killed run leaves behind, the next one clears away.
"""

import errno
import fcntl
import os
import secrets
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.errors import OutputError
from sfumato.profile.propose import Proposal
from sfumato.release.folder import clear_leftovers

_FILES, _OLD = "files", "old"


def write(proposal: Proposal, path: Path, *, force: bool = False) -> list[Path]:
    """Write the policy to `path` and its hierarchies into the folder beside it; gives all files, the policy first.

    Nothing is overwritten unless `force` says so, and even then only a policy, and a folder of CSV files.
    """
    check_place(path, force=force, source=proposal.draft.profile.path)
    try:
        with _stage(path) as stage:
            (stage / _FILES).mkdir(mode=0o700)  # it holds values of the table
            for name, text in proposal.files.items():
                _write(stage / _FILES / Path(name).name, text)
            _write(stage / path.name, proposal.text)
            _appear(stage, path, files=bool(proposal.files))
    except OSError as error:
        raise _cannot_write(error, path) from None
    return [path, *(path.parent / name for name in proposal.files)]


def check_place(path: Path, *, force: bool, source: Path | None = None) -> None:
    """Refuse what exists; with `force`, what is not a policy or holds more than hierarchies."""
    folder = folder_of(path)
    try:
        there = [part for part in (path, folder) if part.exists() or part.is_symlink()]
        if there and not force:
            raise OutputError(f"{there[0]} exists already; choose another --out, or replace it with --force")
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise OutputError(f"{path} is the table itself; choose another --out")
        if path in there and not _is_policy(path):
            raise OutputError(f"{path} is not a policy, so --force does not replace it; choose another --out")
        if folder in there and not _is_ours(folder):
            raise OutputError(f"{folder} holds more than hierarchies, so --force does not replace it; move it away")
    except OSError as error:
        raise _cannot_write(error, path) from None


def _cannot_write(error: OSError, path: Path) -> OutputError:
    blocked = error.errno in {errno.ENOTDIR, errno.EEXIST}
    reason = "a part of its path is a file" if blocked else error.strerror or type(error).__name__
    return OutputError(f"cannot write {path}: {reason}; choose another --out")


def folder_of(path: Path) -> Path:
    """The folder of a policy's hierarchies, beside it."""
    return path.parent / f"{path.stem}-hierarchies"


def _is_policy(path: Path) -> bool:
    try:
        return path.is_file() and "columns" in tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        return False


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and all(part.is_file() and part.suffix == ".csv" for part in folder.iterdir())


@contextmanager
def _stage(path: Path) -> Iterator[Path]:
    """A hidden folder beside the policy, locked while we live; folders made on the way are unmade on failure."""
    missing = [part for part in (path.parent, *path.parent.parents) if not part.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(path.resolve())
        stage = path.parent / f".{path.name}.sfumato-{secrets.token_hex(8)}"
        stage.mkdir()
        descriptor = os.open(stage, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield stage
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            os.close(descriptor)
    except BaseException:
        for made in missing:
            with suppress(OSError):  # not ours alone any more
                made.rmdir()
        raise


def _write(path: Path, text: str) -> None:
    with path.open("wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _appear(stage: Path, path: Path, *, files: bool) -> None:
    """Move the files into place and then the policy; what was there before comes back where that fails."""
    folder = folder_of(path)
    replaced, placed = folder.exists(), False
    if replaced:
        folder.rename(stage / _OLD)
    try:
        if files:
            (stage / _FILES).rename(folder)
            placed = True
        (stage / path.name).replace(path)
    except BaseException:
        if placed:
            folder.rename(stage / _FILES)
        if replaced:
            (stage / _OLD).rename(folder)
        raise
