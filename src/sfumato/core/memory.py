"""Memory: how much of it this process may use, and the refusal of tables that cannot fit into it.

A file says how many rows it has, and of which types, before any of them is read, and a few megabytes can hold hundreds
of millions of rows. So what the columns take at the very least is compared with what is free: what is refused could
never have been read, and what passes may still turn out to be too large.
"""

import ctypes
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.errors import DataError, InputError, quote

VARIABLE = "SFUMATO_MEMORY"
"""The environment variable that says how much memory may be used, in place of what is free."""

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_FREE = ("MemAvailable:", "SwapFree:")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?B?)", re.IGNORECASE | re.ASCII)


def keep_freed_memory() -> None:
    """Let Arrow take its memory by jemalloc, where its build has it; for programs of ours, and for nobody's notebook.

    What one step has freed, jemalloc hands to the next, where the usual allocator gives it back to the system, which
    clears each page before it hands it out again: some 4 % of the time of ten million rows. Under a limit on addresses
    (``ulimit -v``) it would complain of it on standard error, in words of its own, and is left alone.
    """
    import pyarrow as pa  # noqa: PLC0415 - reading how much memory there is needs no Arrow

    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        with suppress(NotImplementedError):
            pa.set_memory_pool(pa.jemalloc_memory_pool())


def give_back_memory() -> None:
    """Give memory that was freed back to the system, where the C library kept it for what comes next."""
    with suppress(AttributeError, OSError):  # of another C library
        ctypes.CDLL(None).malloc_trim(0)


def check_memory(needed: int, what: str) -> None:
    """Refuse `what` needs at least so many bytes of memory, where no more than fewer may be used.

    >>> check_memory(1, "a small table")
    >>> check_memory(10**15, "t.parquet, with 300,000,000 rows,")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sfumato.errors.DataError: t.parquet, with 300,000,000 rows, takes at least 1,000,000.0 GB of memory, ...
    """
    allowed = find_memory_allowed()
    if needed > allowed:
        raise DataError(
            f"{what} takes at least {_describe_size(needed)} of memory, and {_describe_size(allowed)} may be used; "
            f"take fewer columns or rows, use a larger machine, or allow more with {VARIABLE}, as in {VARIABLE}=64GB"
        )


def _describe_size(size: int) -> str:
    """Write a number of bytes for a sentence.

    >>> _describe_size(46_000_000), _describe_size(12_600_000_000)
    ('46.0 MB', '12.6 GB')
    """
    return f"{size / 10**9:,.1f} GB" if size >= 10**9 else f"{size / 10**6:,.1f} MB"


def find_memory_allowed() -> int:
    """Find how many more bytes this process may use: by the environment, or the least that any limit leaves."""
    stated = os.environ.get(VARIABLE, "").strip()
    return read_size(stated) if stated else min(_find_limits())


def find_memory_left() -> int:
    """Find how many more bytes a `memory_goal` leaves to this process; without a goal, more than there are."""
    if not _GOALS:
        return 1 << 62
    held = [int(line.split()[1]) for line in _read_lines(Path("/proc/self/statm"))] or [0]
    return max(min(_GOALS) - held[0] * resource.getpagesize(), 0)


_GOALS: list[int] = []


@contextmanager
def memory_goal(size: int | None) -> Iterator[None]:
    """Within the block, have what may be kept or not for speed alone kept only as far as so many bytes are enough.

    It changes how long things take, and no result. ``None`` is no goal.

    >>> with memory_goal(0):
    ...     find_memory_left()
    0
    """
    if size is None:
        yield
        return
    _GOALS.append(size)
    try:
        yield
    finally:
        _GOALS.remove(size)


def read_size(text: str, name: str = VARIABLE) -> int:
    """Read a number of bytes as people write it; a sentence names where it was written.

    >>> read_size("4GB"), read_size("1.5 gb"), read_size("500M"), read_size("1000")
    (4000000000, 1500000000, 500000000, 1000)
    >>> read_size("much")
    Traceback (most recent call last):
    sfumato.errors.InputError: SFUMATO_MEMORY is 'much'; write how much memory may be used, as in 4GB or 500MB
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise InputError(f"{name} is {quote(text)}; write how much memory may be used, as in 4GB or 500MB")
    unit = match[2].upper().removesuffix("B")
    return int(float(match[1]) * _UNITS[f"{unit}B" if unit else ""])


def _find_limits() -> Iterator[int]:
    """Find what each limit leaves: of the machine, of the control groups, and of the process."""
    yield 1 << 62
    free = [int(line.split()[1]) << 10 for line in _read_lines(Path("/proc/meminfo")) if line.startswith(_FREE)]
    if free:
        yield sum(free)
    for line in _read_lines(Path("/proc/self/cgroup")):
        _, controllers, group = line.split(":", 2)
        if not controllers:  # version 2
            yield from _find_group_limits(Path("/sys/fs/cgroup"), group, ("memory.max", "memory.current"))
        elif "memory" in controllers.split(","):
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            yield from _find_group_limits(Path("/sys/fs/cgroup/memory"), group, files, prefix="total_")
    for kind, used in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        limit = resource.getrlimit(kind)[0]
        pages = _read_lines(Path("/proc/self/statm"))
        if limit != resource.RLIM_INFINITY and pages:
            yield max(limit - int(pages[0].split()[used]) * resource.getpagesize(), 0)


def _find_group_limits(root: Path, group: str, files: tuple[str, str], *, prefix: str = "") -> Iterator[int]:
    """Find what a control group and those above it leave; in a container its path may be that of the host.

    What the group holds of files that were read is given back when it is needed, and counts as free.
    """
    place = root / group.strip().lstrip("/")
    for folder in (place, *place.parents):
        most, used = (_read_lines(folder / name) for name in files)
        if most and used and most[0].isdigit():
            parts = dict(line.split(" ", 1) for line in _read_lines(folder / "memory.stat"))
            cached = sum(int(parts.get(f"{prefix}{name}", 0)) for name in ("inactive_file", "active_file"))
            yield max(int(most[0]) - int(used[0]) + cached, 0)
        if folder == root:
            return


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
