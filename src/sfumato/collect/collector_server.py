"""A collector that runs: the application of a form behind a port, until somebody stops it."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn

from sfumato.collect.answer_store import AnswerStore
from sfumato.collect.collection_form import CollectionForm
from sfumato.collect.collector_app import collector_app
from sfumato.errors import InputError, shorten

_MOST_CONNECTIONS = 4000


def run_collector(
    form: CollectionForm, store: Path, *, host: str, port: int, ready: Callable[[str, int], Any]
) -> tuple[int, int]:
    """Serve a form until a signal to stop; gives how many answers there were before, and are now.

    `ready` is told the address and how many answers there are, when requests are taken.
    """
    with contextlib.closing(_listen(host, port)) as listening:
        mask = os.umask(0o077)  # the store is its owner's alone
        try:
            answers = AnswerStore(store, form.noise)
        finally:
            os.umask(mask)
        before = answers.count
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{listening.getsockname()[1]}/", before)
        asyncio.run(_Server(server_options(form, answers)).serve(sockets=[listening]))
        return before, answers.count


def server_options(form: CollectionForm, answers: AnswerStore) -> uvicorn.Config:
    """Say how uvicorn runs the application: without a log of requests, and telling nothing of itself."""
    # of a failure it would print the code around it, and of a broken request where it came from
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return uvicorn.Config(
        collector_app(form, answers),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=10,
    )


class _Server(uvicorn.Server):
    """Ends in order at a signal, and lets nobody else hear of that signal: stopping is how a collector ends well."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError):  # not in the main thread: whoever started it stops it
                loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            listening.listen(2048)
        except BaseException:
            listening.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no such address"
        way = "stop what is there, or choose another with --port and --host"
        raise InputError(f"nothing can be served at {shorten(host)}, port {port} ({reason}); {way}") from None
    return listening
