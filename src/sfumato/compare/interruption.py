"""Interruption: stop in the middle of something long, keep what is done, and know afterwards that it was stopped.

Libraries turn an interruption into errors of their own. So the signals are noted when they arrive, and an error counts
as an interruption if a signal came before it.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

_PASS = 0.05
"""Seconds in which an interruption that was lost for a moment comes once more."""


def run_until_stopped(steps: Iterable[T], *, sure: Callable[[T], bool]) -> tuple[list[T], bool]:
    """Run steps as far as they go; return what they came to, and whether somebody stopped them.

    A step that ends while somebody stops it counts only if it is `sure`: else its outcome may be the interruption.

    >>> run_until_stopped(iter([1, 2]), sure=bool)
    ([1, 2], False)
    """
    done: list[T] = []
    with note_signals() as signals:
        try:
            for step in steps:
                if not signals or sure(step):
                    done.append(step)
                if signals:
                    time.sleep(_PASS)
                    return done, True
        except KeyboardInterrupt:
            return done, True
        except Exception:
            if signals:  # a library's way of saying that it was interrupted
                return done, True
            raise
    return done, False


@contextmanager
def note_signals() -> Iterator[list[int]]:
    """List the signals that come while the block runs; each still does what it did before.

    Elsewhere than in the main thread no signal arrives, and the list stays empty.
    """
    signals: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        before = {number: handler for number, handler in handlers.items() if callable(handler)}

    def note(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        before[number](number, frame)

    for number in before:
        signal.signal(number, note)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
