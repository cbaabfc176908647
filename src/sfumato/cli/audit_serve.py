"""``sfumato audit serve``: a gateway that answers queries of users with tokens."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import InputError

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(
    ledger: Annotated[Path, typer.Argument(help="The ledger that audit init made.", metavar="LEDGER")],
    tokens: Annotated[Path, typer.Option(help="A TOML file with the users and their tokens.")],
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any free one.", min=0, max=65535)] = 8766,
    host: Annotated[str, typer.Option(help="The address to listen on; only this machine if left out.")] = "127.0.0.1",
) -> None:
    """Answer queries over HTTP, for users with tokens, and on a page."""
    from sfumato.auditor.gateway_tokens import GatewayTokens
    from sfumato.cli.printing import console_of, warn
    from sfumato.page.wording import plural

    users = GatewayTokens.load(tokens)
    try:
        from sfumato.auditor.gateway_server import run_gateway
    except ModuleNotFoundError as error:
        raise InputError(
            f"serving queries needs the package {error.name}; install it with pip install 'sfumato[app]'"
        ) from None
    console = console_of()

    def tell(address: str) -> None:
        console.print(f"answering  {address}", soft_wrap=True)
        known = f"{plural(len(users.users), 'user has a token', 'users have tokens')}; Ctrl-C stops"
        console.print(f"recording  {ledger}; {known}", soft_wrap=True)
        if tokens.stat().st_mode & 0o077:
            warn(f"{tokens} can be read by others on this machine; take that away with chmod 600")
        if host not in _LOOPBACK:
            warn("this address is open to others and speaks plain HTTP; put a server that speaks HTTPS in front of it")

    run_gateway(ledger, users, host=host, port=port, ready=tell)
    console.print(f"stopped  all that was answered is in {ledger}", soft_wrap=True)
