"""Regular files: the one way in which a file that somebody names is opened, and the check before one is written.

A path may lead to anything: to nothing, a folder, a pipe nobody writes into, a device that never ends, a file of a
terabyte. Opening a pipe waits for a writer, and reading a device fills the memory. So a path is opened without waiting,
what was opened has to be a regular file (a link to one will do), and what is read as a whole has a largest size. The
verifier, which shares nothing with the rest, has a guard of its own.
"""

import os
import stat
from io import BufferedReader
from pathlib import Path

from sfumato.errors import OutputError, UnreadableFile

LARGEST_MANIFEST = 1 << 27
"""Bytes of a manifest or an audit: a million labels take less."""

_CHUNK = 1 << 22

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_regular_file(path: Path) -> BufferedReader:
    """Open a regular file to read its bytes; whatever else the path leads to is refused at once.

    >>> open_regular_file(Path("/dev/zero"))
    Traceback (most recent call last):
    sfumato.errors.UnreadableFile: zero is a device and not a regular file; save what it gives in a file, and name that
    """
    name = path.name or str(path)
    try:
        _check_kind(path.stat(), name)  # to open a device may already do something
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _check_kind(os.fstat(descriptor), name)  # another may be there by now
        except BaseException:
            os.close(descriptor)
            raise
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableFile(name, "missing", "does not exist", "check the path") from None
    except PermissionError:
        raise UnreadableFile(name, "forbidden", "may not be read", "ask for permission to read it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file can have that name"
        raise UnreadableFile(name, "failed", f"cannot be read: {reason}", "name another file") from None
    return os.fdopen(descriptor, "rb")


def read_regular_file(path: Path, *, most: int, what: str) -> bytes:
    """Read a regular file as a whole, unless it has more than `most` bytes; `what` a file of that kind is called.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "policy.toml")
    >>> _ = file.write_bytes(bytes(9))
    >>> read_regular_file(file, most=8, what="a policy")
    Traceback (most recent call last):
    sfumato.errors.UnreadableFile: policy.toml has more than 8 bytes, which no policy has; name another file
    """
    name = path.name or str(path)
    with open_regular_file(path) as file:
        try:
            # Bit by bit, since its size may be wrong (files of /proc have none) and room for `most` may be too much.
            content = bytearray()
            while len(content) <= most and (part := file.read(min(_CHUNK, most + 1 - len(content)))):
                content += part
        except OSError as error:
            way = "name another file"
            raise UnreadableFile(name, "failed", f"cannot be read: {error.strerror}", way) from None
    if len(content) > most:
        kind = what.removeprefix("a ").removeprefix("an ")
        size = f"{most >> 20:,} MB" if most >= 1 << 20 else f"{most:,} bytes"
        reason = f"has more than {size}, which no {kind} has"
        raise UnreadableFile(name, "large", reason, "name another file")
    return bytes(content)


def _check_kind(status: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableFile(name, "folder", "is a folder", "name a file")
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        reason = f"is {kind} and not a regular file"
        raise UnreadableFile(name, "special", reason, "save what it gives in a file, and name that")


def check_new_file(path: Path, option: str, *, force: bool) -> None:
    """Refuse to write a file that is there already, unless `force` replaces it, and where there can be none.

    A file is written beside its place and then renamed. So a device or a pipe would be replaced by it, and for a
    superuser that is everybody's ``/dev/null``: nothing but a regular file is ever replaced.

    >>> check_new_file(Path("/dev/null"), "--out", force=True)
    Traceback (most recent call last):
    sfumato.errors.OutputError: /dev/null is no plain file, and nothing is put in its place; choose another name
    for --out
    """
    if path.is_dir():
        raise OutputError(f"{path} is a folder; name a file for {option}")
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} is no plain file, and nothing is put in its place; choose another name for {option}")
    if path.exists() and not force:
        raise OutputError(f"{path} exists already; choose another name for {option}, or replace it with --force")
    if not path.parent.is_dir():
        raise OutputError(f"there is no folder {path.parent}; make it, or choose another name for {option}")
