"""A web application behind a port until somebody stops it, without a log of requests and telling nothing of itself."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from sfumato.errors import InputError, shorten

_MOST_CONNECTIONS = 4000


def listen(host: str, port: int) -> socket.socket:
    """Open a port; one that is taken, or no address, is refused in a sentence."""
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


def address_of(host: str, listening: socket.socket) -> str:
    """Write the address that a browser opens."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}/"


def quiet_options(app: Any) -> uvicorn.Config:
    """Say how uvicorn runs an application: without a log of requests, and telling nothing of itself."""
    # of a failure it would print the code around it, and of a broken request where it came from
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=10,
    )


def serve_until_stopped(options: uvicorn.Config, listening: socket.socket) -> None:
    """Take requests until a signal to stop."""
    asyncio.run(_StoppableServer(options).serve(sockets=[listening]))


class _StoppableServer(uvicorn.Server):
    """Ends in order at a signal, and lets nobody else hear of that signal: stopping is how a server ends well."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError):  # not in the main thread: whoever started it stops it
                loop.add_signal_handler(number, self.handle_exit, number, None)
        yield
