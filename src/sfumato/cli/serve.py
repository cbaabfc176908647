"""``sfumato serve``: the same in a browser, on one's own machine."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import InputError, quote


def serve(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A table or a policy to begin with; its folder is what can be opened. Left out: this folder."
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="The port to listen on; any free one if left out.", min=0, max=65535)] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
) -> None:
    """Work in a browser: from a table to a verified release, with the policy written as you go."""
    from sfumato.cli.printing import console_of

    root, start = _beginning(file)
    try:
        from sfumato.app.app_server import run_app
    except ModuleNotFoundError as error:
        raise InputError(
            f"sfumato serve needs the package {error.name}; install it with pip install 'sfumato[app]'"
        ) from None
    console = console_of()

    def tell(url: str) -> None:
        console.print(f"open     {url}", soft_wrap=True)
        console.print(f"folder   {root}", soft_wrap=True)
        console.print("The address works once, and on this machine only; Ctrl-C stops.", soft_wrap=True)
        if not no_browser:
            import webbrowser

            webbrowser.open(url)

    run_app(root, start, port, tell)
    console.print("stopped  everything that was chosen is in the policy", soft_wrap=True)


def _beginning(file: Path | None) -> tuple[Path, str]:
    """Find the folder that is served, and the page to begin with."""
    from urllib.parse import urlencode

    from sfumato.core.regular_file import open_regular_file

    if file is None:
        return Path.cwd().resolve(), "/open"
    if not file.exists():
        raise InputError(f"there is no {quote(str(file))}; name a table, a policy or a folder that is there")
    if file.is_dir():
        return file.resolve(), "/open"
    open_regular_file(file).close()
    root = file.parent.resolve()
    if file.suffix == ".toml":
        return root, f"/columns?{urlencode({'policy': file.name})}"
    return root, f"/open?{urlencode({'table': file.name})}"
