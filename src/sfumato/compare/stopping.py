"""Being told to stop in the middle of something long, and knowing it afterwards whatever libraries make of it."""

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


def until_stopped(steps: Iterable[T], *, sure: Callable[[T], bool]) -> tuple[list[T], bool]:
    """What the steps come to, as far as they go, and whether somebody stopped them.

    A step that ends while somebody stops it counts only if it is `sure`: else its outcome may be the interruption.

    >>> until_stopped(iter([1, 2]), sure=bool)
    ([1, 2], False)
    """
    done: list[T] = []
    with listening() as told:
        try:
            for step in steps:
                if not told or sure(step):
                    done.append(step)
                if told:
                    time.sleep(_PASS)
                    return done, True
        except KeyboardInterrupt:
            return done, True
        except Exception:
            if told:  # a library's way of saying that it was interrupted
                return done, True
            raise
    return done, False


@contextmanager
def listening() -> Iterator[list[int]]:
    """The signals that came while the block ran; each still does what it did before, as to raise KeyboardInterrupt.

    Libraries turn an interruption into errors of their own: this tells these from real ones. Elsewhere than in the main
    thread no signal arrives, and nothing is listened to.
    """
    told: list[int] = []
    before = _handlers()

    def note(number: int, frame: FrameType | None) -> None:
        told.append(number)
        before[number](number, frame)

    for number in before:
        signal.signal(number, note)
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handlers() -> dict[int, Any]:
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {number: handler for number, handler in found.items() if callable(handler)}
