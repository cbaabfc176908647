"""``sfumato collect serve``: a form for people's browsers, which perturb their answers before they send them."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import InputError

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(
    form: Annotated[Path, typer.Argument(help="The form: a TOML file with questions and their noise.", metavar="FORM")],
    store: Annotated[Path, typer.Option(help="The DuckDB file to keep answers in; made where there is none.")],
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any free one.", min=0, max=65535)] = 8765,
    host: Annotated[str, typer.Option(help="The address to listen on; only this machine if left out.")] = "127.0.0.1",
) -> None:
    """Ask people questions in their browsers, which perturb the answers before they send them."""
    from sfumato.cli.printing import console_of, warn
    from sfumato.collect.collection_form import CollectionForm

    questions = CollectionForm.load(form)
    try:
        from sfumato.collect.collector_server import run_collector
    except ModuleNotFoundError as error:
        raise InputError(
            f"serving a form needs the package {error.name}; install it with pip install 'sfumato[app]'"
        ) from None
    console = console_of()

    def tell(address: str, answers: int) -> None:
        console.print(f"asking   {address}", soft_wrap=True)
        console.print(f"results  {address}results", soft_wrap=True)
        console.print(f"keeping  {store} ({answers:,} answers so far); Ctrl-C stops", soft_wrap=True)
        if host not in _LOOPBACK:
            warn("this address is open to others and speaks plain HTTP; put a server that speaks HTTPS in front of it")

    before, after = run_collector(questions, store, host=host, port=port, ready=tell)
    console.print(f"stopped  {after - before:,} answers came, {after:,} are in {store}", soft_wrap=True)
