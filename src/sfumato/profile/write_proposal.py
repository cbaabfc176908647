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

from sfumato.errors import OutputError, PolicyError
from sfumato.policy.policy import read_policy_file
from sfumato.policy.policy_file import hierarchies_folder
from sfumato.profile.proposal import Proposal
from sfumato.release.folder import clear_leftovers

_FILES, _OLD = "files", "old"


def write(proposal: Proposal, path: Path, *, force: bool = False) -> list[Path]:
    """Write the policy to `path` and its hierarchies into the folder beside it; gives all files, the policy first.

    Nothing is overwritten unless `force` says so, and even then only a policy, and a folder of CSV files.
    """
    check_destination(path, force=force, source=proposal.draft.profile.table.path)
    try:
        with _stage(path) as stage:
            (stage / _FILES).mkdir(mode=0o700)  # it holds values of the table
            for name, text in proposal.files.items():
                _write_file(stage / _FILES / Path(name).name, text)
            _write_file(stage / path.name, proposal.text)
            _appear(stage, path, has_files=bool(proposal.files))
    except OSError as error:
        raise _cannot_write(error, path) from None
    return [path, *(path.parent / name for name in proposal.files)]


def check_destination(path: Path, *, force: bool, source: Path | None = None) -> None:
    """Refuse to overwrite what exists; with `force`, what is not a policy or holds more than hierarchies."""
    folder = hierarchies_folder(path)
    try:
        existing = [part for part in (path, folder) if part.exists() or part.is_symlink()]
        if existing and not force:
            raise OutputError(f"{existing[0]} exists already; choose another --out, or replace it with --force")
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise OutputError(f"{path} is the table itself; choose another --out")
        if path in existing and not _is_policy(path):
            raise OutputError(f"{path} is not a policy, so --force does not replace it; choose another --out")
        if folder in existing and not _has_only_hierarchies(folder):
            raise OutputError(f"{folder} holds more than hierarchies, so --force does not replace it; move it away")
    except OSError as error:
        raise _cannot_write(error, path) from None


def _is_policy(path: Path) -> bool:
    try:
        return "columns" in tomllib.loads(read_policy_file(path).decode("utf-8-sig"))
    except (PolicyError, ValueError, RecursionError):
        return False


def _has_only_hierarchies(folder: Path) -> bool:
    return folder.is_dir() and all(part.is_file() and part.suffix == ".csv" for part in folder.iterdir())


def _cannot_write(error: OSError, path: Path) -> OutputError:
    blocked = error.errno in {errno.ENOTDIR, errno.EEXIST}
    reason = "a part of its path is a file" if blocked else error.strerror or type(error).__name__
    return OutputError(f"cannot write {path}: {reason}; choose another --out")


@contextmanager
def _stage(path: Path) -> Iterator[Path]:
    """Make a hidden folder beside the policy, locked while we live; folders made on the way are unmade on failure."""
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
        for folder in missing:
            with suppress(OSError):  # not ours alone any more
                folder.rmdir()
        raise


def _write_file(path: Path, text: str) -> None:
    with path.open("wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _appear(stage: Path, path: Path, *, has_files: bool) -> None:
    """Move the files into place and then the policy; what was there before comes back where that fails."""
    folder = hierarchies_folder(path)
    replaced, placed = folder.exists(), False
    if replaced:
        folder.rename(stage / _OLD)
    try:
        if has_files:
            (stage / _FILES).rename(folder)
            placed = True
        (stage / path.name).replace(path)
    except BaseException:
        if placed:
            folder.rename(stage / _FILES)
        if replaced:
            (stage / _OLD).rename(folder)
        raise
