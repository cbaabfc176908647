"""Group commit: what arrives while one transaction is being flushed goes into the next one together.

A flush takes the disk milliseconds, however much it flushes. So submissions wait, those who sent them as well, until a
single writer has taken all that wait and the flush is done; only then are they acknowledged. Under load groups grow by
themselves, and nobody chooses a size or an interval.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from sfumato.collect.submission import Submission
from sfumato.serving.refused_request import Refused

Keep = Callable[[Sequence[Submission]], list[bool]]
Result = TypeVar("Result")

_LOG = logging.getLogger(__name__)

MOST_WAITING = 20_000
_LARGEST_GROUP = 2_000


class GroupCommit:
    """The one writer of a store. All that touches the store goes through its one thread (`run`).

    >>> async def example() -> list[bool]:
    ...     groups = GroupCommit(lambda group: [True] * len(group))
    ...     groups.start()
    ...     kept = await asyncio.gather(*(groups.keep(Submission(f"{n:032}", ())) for n in range(3)))
    ...     await groups.stop()
    ...     return list(kept)
    >>> asyncio.run(example())
    [True, True, True]
    """

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._waiting: list[tuple[Submission, asyncio.Future[bool]]] = []
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "answer-store")
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.get_running_loop().create_task(self._write())

    async def keep(self, submission: Submission) -> bool:
        """Wait until a submission is on the disk; False where its key is that of another one."""
        if self._stopping or len(self._waiting) >= MOST_WAITING:
            raise Refused("the collector has too much to do just now; send the same again in a minute", 503)
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((submission, done))
        self._arrived.set()
        return await done

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do something else with the store, between two groups."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def stop(self) -> None:
        """Take nothing more, write what waits, and end."""
        self._stopping = True
        self._arrived.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()

    async def _write(self) -> None:
        while True:
            await self._arrived.wait()
            group, self._waiting = self._waiting[:_LARGEST_GROUP], self._waiting[_LARGEST_GROUP:]
            if not self._waiting and not self._stopping:
                self._arrived.clear()
            if not group:
                return
            try:
                kept = await self.run(partial(self._keep, [submission for submission, _ in group]))
            except Exception as error:  # noqa: BLE001 - a full disk: nobody here is acknowledged, and all are told
                _LOG.error("answers could not be kept (%s); look at the disk of the store", type(error).__name__)
                for _, done in group:
                    if not done.done():
                        done.set_exception(Refused("the answer could not be kept; send the same again later", 503))
                continue
            for (_, done), one in zip(group, kept, strict=True):
                if not done.done():
                    done.set_result(one)
