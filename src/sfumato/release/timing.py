"""How long each part of the work took."""

import time


class timed:  # noqa: N801 - reads like the verb it is
    """Add the seconds of a block to an entry.

    >>> seconds: dict[str, float] = {}
    >>> with timed(seconds, "read"):
    ...     pass
    >>> list(seconds)
    ['read']
    """

    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self.seconds, self.name = seconds, name

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.name] = self.seconds.get(self.name, 0.0) + time.perf_counter() - self.start
