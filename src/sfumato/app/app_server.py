"""The server of pages that runs: on this machine alone, until somebody stops it.

The address is told as soon as the port is open; what the screens need is imported after that, while a browser starts.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

from sfumato.app.access import ENTRANCE, Access
from sfumato.app.page_frame import address
from sfumato.serving.local_server import listen, quiet_options, serve_until_stopped

HOST = "127.0.0.1"


def run_app(root: Path, start: str, port: int, ready: Callable[[str], object]) -> None:
    """Serve the screens over a folder until a signal to stop; `ready` is told the address with the token.

    `start` is the path that the browser is sent to when it has been let in.
    """
    with contextlib.closing(listen(HOST, port)) as listening:
        access = Access(listening.getsockname()[1])
        ready(f"http://{HOST}:{access.port}" + address(ENTRANCE, token=access.token, to=start))
        from sfumato.app.app_routes import serve_app  # noqa: PLC0415 - heavy, and nobody waits for it yet
        from sfumato.app.workbench import Workbench  # noqa: PLC0415 - same

        serve_until_stopped(quiet_options(serve_app(Workbench(root), access)), listening)
