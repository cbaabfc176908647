"""How long each part of the work took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the seconds of a block to an entry.

    >>> seconds: dict[str, float] = {}
    >>> with timed(seconds, "read"):
    ...     pass
    >>> list(seconds)
    ['read']
    """
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - start
