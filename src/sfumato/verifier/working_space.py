"""The space that verifying may take: so much memory, and a folder on disk for what does not fit.

The database of the verifier counts in memory. Where a limit is set, what exceeds it is moved into files of a folder of
its own, which is removed in the end, however that comes; a killed process leaves its folder behind, and the next one
that works beside it removes it. What is moved there is what the release says, and only its owner may read it.
"""

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from sfumato.errors import InputError, is_lack_of_memory

_NAME = re.compile(r"\.sfumato-verify-[0-9a-f]{16}")
_OWN_USE = 250_000_000
"""Bytes that Python and the libraries take, of which the database knows nothing."""
_LEAST = 64_000_000
_NO_DISK = ("failed to offload", "max_temp_directory_size", "no space left", "disk quota exceeded")


@dataclass(frozen=True)
class WorkingSpace:
    """Bytes of memory and threads, as many as there are where nothing is said, and the folder for what does not fit.

    Without a folder everything has to fit.
    """

    memory: int | None = None
    threads: int | None = None
    folder: Path | None = None

    @property
    def settings(self) -> list[str]:
        """The same as settings of DuckDB, but for the folder."""
        memory = [] if self.memory is None else [f"memory_limit = '{max(self.memory - _OWN_USE, _LEAST)}B'"]
        return memory + ([] if self.threads is None else [f"threads = {self.threads}"])


SPACE: ContextVar[WorkingSpace] = ContextVar("SPACE", default=WorkingSpace())  # noqa: B039 - it is frozen
"""The space of the verification that is under way."""


@contextmanager
def working_space(memory: int | None, threads: int | None, beside: str | Path | None) -> Iterator[None]:
    """Give what is verified in the block so much memory and so many threads, and a folder within `beside`.

    Where that is not said, the folder is where the system keeps temporary files, which ``TMPDIR`` can change.

    Raises:
        InputError: there is too little memory or disk for it.
    """
    place = Path(gettempdir() if beside is None else beside)
    with _spill_folder(place, certain=beside is not None) as folder:
        token = SPACE.set(WorkingSpace(memory, threads, folder))
        try:
            yield
        except Exception as error:
            if is_lack_of_disk(error):
                why = "what did not fit into memory took all the disk space that there is"
                way = "free some, name another place with TMPDIR" if beside is None else "free some"
                raise InputError(f"{why} in {place}; {way}, or allow more memory") from None
            if is_lack_of_memory(error) and memory is not None:
                raise InputError(
                    f"verifying takes more than the {memory / 10**6:,.0f} MB of memory that were allowed, even with "
                    "what can be moved to disk; allow more"
                ) from None
            raise
        finally:
            SPACE.reset(token)


def is_lack_of_disk(error: BaseException) -> bool:
    """Whether an error of the database means that there was no room on disk for what did not fit into memory."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return True
    text = str(error).lower()
    return type(error).__module__.endswith("duckdb") and any(words in text for words in _NO_DISK)


@contextmanager
def _spill_folder(place: Path, *, certain: bool) -> Iterator[Path | None]:
    """Make a locked folder that nobody else may read; none where no folder can be made, since none may be needed.

    Where it has to be gone for `certain`, since it is within what is to be published, a failure to remove it is raised.
    """
    _remove_leftovers(place)
    path = place.absolute() / f".sfumato-verify-{secrets.token_hex(8)}"
    try:
        path.mkdir(mode=0o700)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield None
        return
    try:
        with suppress(OSError):  # a disk that knows no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield path
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    else:
        shutil.rmtree(path, ignore_errors=not certain)
    finally:
        os.close(descriptor)


def _remove_leftovers(place: Path) -> None:
    """Remove the folders that killed processes of the same user left; those of living ones are locked."""
    with suppress(OSError):
        for name in os.listdir(place):  # noqa: PTH208 - names are enough
            if not _NAME.fullmatch(name):
                continue
            path = place / name
            with suppress(OSError):
                found = path.lstat()
                if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                    continue
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
                finally:
                    os.close(descriptor)
