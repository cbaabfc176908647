"""The release folder: it appears whole or not at all.

Everything is written into a hidden folder beside the target, which is renamed when it is complete and verified.
The hidden folder is locked while its writer lives, so that the next run can tell what a killed one left behind
and clear it away. A run that fails, or is told to stop, removes it itself, and the folders it made on the way to
the target.

From the rename on the release is out, whatever happens: what goes wrong afterwards is told beside it and stops nothing.
"""

import ctypes
import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.core.regular_file import LARGEST_MANIFEST, read_regular_file
from sfumato.errors import OutputError, UnreadableFile, is_lack_of_memory
from sfumato.reading.release_reader import AUDIT, MANIFEST

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100
_NO_EXCHANGE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}

_TABLE = re.compile(r"(table|nss|ss|ss-[^/]*|synthetic|uncertain)(/part-[0-9]{5,})?\.(csv|csv\.gz|parquet)")
"""How the files of tables are called; the manifest says which of them there are."""

_WRITTEN_FILES = {
    "public": frozenset({MANIFEST, f"{MANIFEST}.sig", "summary.html"}),
    "private": frozenset(
        {
            *(AUDIT, "report.html", "recoding.json", "groups.parquet", "group_statistics.parquet"),
            *("true_values.parquet", "cells.parquet"),
        }
    ),
}
"""What a release holds besides its tables, by part: ``--force`` removes nothing of another name."""


@dataclass(frozen=True)
class Stage:
    """A hidden folder that becomes the `target` when it is complete.

    `device` and `inode` are those of the folder, which it keeps under its new name. `mishaps` are what went wrong after
    it had appeared, a sentence each. `last_steps` are done when it has appeared: where one fails, it is taken back.
    """

    path: Path
    target: Path
    device: int
    inode: int
    mishaps: list[str] = field(default_factory=list)
    last_steps: list[Callable[[], None]] = field(default_factory=list)

    @property
    def is_out(self) -> bool:
        """Whether it is to be found under the name of the target, or may be: only what is certainly not is not."""
        try:
            found = self.target.stat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return (found.st_dev, found.st_ino) == (self.device, self.inode)


@contextmanager
def staged(target: Path, *, force: bool = False) -> Iterator[Stage]:
    """A hidden folder to write into, which becomes `target` if the block ends well and vanishes if it does not."""
    check_target(target, force=force)
    try:
        target = target.resolve()
        with _parents(target.parent):
            clear_leftovers(target)
            check_target(target, force=force)  # an old release may have been put back
            with _stage(target) as stage:
                yield stage
                _appear(stage, force=force)
                _finish(stage)
    except OSError as error:
        raise MemoryError if is_lack_of_memory(error) else _cannot_write(error, target) from None


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target for what is needed on the way, which is gone when the block ends.

    It is locked as a stage is, so that the next run clears away what a killed one left; nobody else may look into it.
    """
    try:
        target = target.resolve()
        with _parents(target.parent):
            clear_leftovers(target)
            with _stage(target) as stage:
                stage.path.chmod(0o700)
                yield stage.path
    except OSError as error:
        raise MemoryError if is_lack_of_memory(error) else _cannot_write(error, target) from None


def check_target(target: Path, *, force: bool) -> None:
    """Refuse what exists, and never replace a folder that holds anything but a release."""
    try:
        if not target.exists() and not target.is_symlink():
            return
        if not force:
            raise OutputError(f"{target} exists already; choose another --out, or replace it with --force")
        if not _is_release(target):
            raise OutputError(f"{target} is not a release, so --force does not replace it; choose another --out")
        strange = _strange_files(target)
    except OSError as error:
        raise _cannot_write(error, target) from None
    if strange:
        more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
        raise OutputError(
            f"{target} holds {strange[0]}{more}, which no release has, so --force does not replace it; "
            "move that elsewhere, or choose another --out"
        )


def clear_leftovers(target: Path) -> None:
    """Remove hidden folders that a killed run left beside the target.

    Where it was killed while the release was neither the old nor the new one, the old one is put back.
    """
    ours = re.compile(re.escape(f".{target.name}.sfumato-") + "(old-)?[0-9a-f]{16}")
    for path in target.parent.iterdir():
        if not (found := ours.fullmatch(path.name)):
            continue
        with suppress(OSError):  # locked: its writer lives
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if found[1] and not target.exists():
                    path.rename(target)
                else:
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)


def _is_release(target: Path) -> bool:
    """Whether a folder is empty, or has the manifest of a release."""
    if not target.is_dir():
        return False
    try:
        if not any(target.iterdir()):
            return True
        manifest = target / "public" / MANIFEST
        content = json.loads(read_regular_file(manifest, most=LARGEST_MANIFEST, what="a manifest"))
    except (UnreadableFile, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "sfumato" in content


def _strange_files(target: Path) -> list[str]:
    """Name what stands in the folder of a release and is not a part of it, by its path there.

    Parts are folders with plain files in them; a link is a part of nothing.
    """
    strange: list[str] = []
    for part in sorted(target.iterdir()):
        if part.name not in _WRITTEN_FILES or not stat.S_ISDIR(part.lstat().st_mode):
            strange.append(part.name)
            continue
        names = _WRITTEN_FILES[part.name] | (_stated_tables(part) if part.name == "public" else set())
        folders = {name.partition("/")[0] for name in names if "/" in name}
        for path in sorted(part.iterdir()):
            inside = [path]
            if path.name in folders and stat.S_ISDIR(path.lstat().st_mode):
                inside = sorted(path.iterdir())
            for file in inside:
                name = str(file.relative_to(part))
                if name not in names or not stat.S_ISREG(file.lstat().st_mode):
                    strange.append(f"{part.name}/{name}")
    return strange


def _stated_tables(public: Path) -> set[str]:
    """The tables that a manifest names, as far as they are called as tables are."""
    files = json.loads((public / MANIFEST).read_bytes()).get("files")
    return {name for name in files if _TABLE.fullmatch(name)} if isinstance(files, dict) else set()


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
def _stage(target: Path) -> Iterator[Stage]:
    """A new hidden folder beside the target, locked; whatever has its name is removed in the end."""
    path = _hidden(target)
    try:
        descriptor = _lock(path)
        try:
            found = os.fstat(descriptor)
            yield (stage := Stage(path, target, found.st_dev, found.st_ino))
        finally:
            os.close(descriptor)
    finally:
        _remove(path)
    if os.path.lexists(path):
        stage.mishaps.append(f"what it replaced could not be removed, and is still there as {path}; remove it")


def _hidden(target: Path, kind: str = "") -> Path:
    return target.parent / f".{target.name}.sfumato-{kind}{secrets.token_hex(8)}"


def _lock(path: Path) -> int:
    """Make a folder and lock it; once more if another run took it for a leftover before it was locked."""
    while True:
        path.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists():
                return descriptor
            os.close(descriptor)


def _remove(path: Path) -> None:
    try:
        shutil.rmtree(path, ignore_errors=True)
    except KeyboardInterrupt:  # told to stop while cleaning up: finish that first
        shutil.rmtree(path, ignore_errors=True)
        raise


def _appear(stage: Stage, *, force: bool) -> None:
    """Rename into place; an old release is exchanged in one step, so that there is always a whole one."""
    for folder, _, files in os.walk(stage.path):
        for part in (*files, "."):
            flush_to_disk(Path(folder) / part)
    try:
        if force and stage.target.exists():
            check_target(stage.target, force=True)  # once more: somebody may have put something there meanwhile
            _exchange(stage.path, stage.target)
        else:
            stage.path.rename(stage.target)
        flush_to_disk(stage.target.parent)
    except OSError as error:
        if not stage.is_out:
            raise
        stage.mishaps.append(
            f"its disk does not confirm that it keeps it ({error.strerror or type(error).__name__}): see to the disk, "
            f"and look whether {stage.target} is there and whole after the next start of the machine"
        )


def _finish(stage: Stage) -> None:
    """Do what belongs to the release besides its folder; where that fails, what was there before is there again."""
    try:
        for step in stage.last_steps:
            step()
    except BaseException:
        if stage.is_out:
            if os.path.lexists(stage.path):  # the old release, in exchange
                _exchange(stage.path, stage.target)
            else:
                stage.target.rename(stage.path)
        raise


def flush_to_disk(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(path: Path, target: Path) -> None:
    """Swap two folders atomically (Linux); what was the target is removed with the stage afterwards."""
    library = ctypes.CDLL(None, use_errno=True)
    done = library.renameat2(
        _AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(target), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    code = ctypes.get_errno() if done != 0 else 0
    if code in _NO_EXCHANGE:  # a disk that cannot: two steps, between which there is no release
        _swap(path, target)
    elif code:
        raise OSError(code, os.strerror(code))


def _swap(path: Path, target: Path) -> None:
    """Move the old release aside, locked, and the new one into its place; the next run mends what a kill leaves."""
    old = _hidden(target, "old-")
    descriptor = os.open(target, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        target.rename(old)
        try:
            path.rename(target)
        except BaseException:
            if path.exists():  # it has not gone into its place
                old.rename(target)
            raise
        _remove(old)
    finally:
        os.close(descriptor)


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
