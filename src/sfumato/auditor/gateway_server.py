"""A gateway that runs: the application of a ledger behind a port, until somebody stops it."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.auditor.gateway_app import gateway_app
from sfumato.auditor.gateway_tokens import GatewayTokens
from sfumato.auditor.query_ledger import QueryLedger
from sfumato.serving.local_server import address_of, listen, quiet_options, serve_until_stopped


def run_gateway(ledger: Path, tokens: GatewayTokens, *, host: str, port: int, ready: Callable[[str], Any]) -> None:
    """Answer queries until a signal to stop; `ready` is told the address when requests are taken."""
    with contextlib.closing(listen(host, port)) as listening:
        opened = QueryLedger(ledger)
        ready(address_of(host, listening))
        serve_until_stopped(quiet_options(gateway_app(opened, tokens)), listening)
