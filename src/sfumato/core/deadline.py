"""A deadline for a search: it travels where progress is reported, and whoever searches asks whether it is over.

An algorithm that is told of its time keeps what it has found and ends. Without a deadline nothing asks a clock, so that
results are the same on every machine. The clock is the time of day, which means the same to the processes and machines
that a large table is shared among.
"""

import time
from collections.abc import Callable
from copy import copy
from typing import Any, Self


class Deadline:
    """A moment at which a search ends, called as progress is: with what is done, and all there is to do.

    `early` tells whether a search was over before it was through: whether any that asked was told so.

    >>> ticks = iter([100.0, 104.0, 105.0])
    >>> deadline = Deadline(5, clock=lambda: next(ticks))
    >>> is_over(deadline), deadline.early, is_over(deadline), deadline.early, is_over(None)
    (False, False, True, True, False)
    """

    def __init__(
        self,
        seconds: float,
        show: Callable[[int, int], None] | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.clock, self.ends = clock, clock() + seconds
        self.show, self._asked = show, dict[str, bool]()

    def __call__(self, done: int, total: int) -> None:
        """Pass on what is done of what there is to do."""
        if self.show is not None:
            self.show(done, total)

    def over(self) -> bool:
        """Ask whether the time is over; whoever is told so has to end."""
        if not self.early and self.clock() >= self.ends:
            self._asked["over"] = True
        return self.early

    @property
    def early(self) -> bool:
        """Whether somebody was told that the time is over."""
        return "over" in self._asked

    def showing(self, show: Callable[[int, int], None] | None) -> Self:
        """Give the same deadline with another way of telling progress."""
        other = copy(self)
        other.show = show
        return other


def is_over(progress: Any) -> bool:
    """Tell whether what progress is reported to is a deadline, and over."""
    return isinstance(progress, Deadline) and progress.over()


def report_through(progress: Any, show: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Report progress through a function, under the deadline that there may be."""
    return progress.showing(show) if isinstance(progress, Deadline) else show
