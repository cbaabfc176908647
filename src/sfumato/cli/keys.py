"""``sfumato keys``: a pair of keys to sign releases with."""

from pathlib import Path
from typing import Annotated

import typer


def keys(
    out: Annotated[Path, typer.Option(help="The folder to write: new, or empty.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make a pair of keys: a private one to sign releases with, and a public one for those who verify them."""
    from sfumato.cli.printing import console_of, print_json, warn
    from sfumato.publish.signing_key import PASSPHRASE_VARIABLE
    from sfumato.release.key_folder import write_key_folder

    pair = write_key_folder(out)
    for sentence in pair.mishaps:
        warn(sentence)
    if as_json:
        content = {"private": str(pair.private), "public": str(pair.public), "fingerprint": pair.fingerprint}
        print_json(content | {"encrypted": pair.encrypted})
        return
    locked = f"encrypted under {PASSPHRASE_VARIABLE}" if pair.encrypted else "not encrypted"
    console = console_of()
    console.print(f"keep         {pair.private} ({locked}): whoever has it signs in your name", soft_wrap=True)
    console.print(f"give away    {pair.public}, by another way than the releases", soft_wrap=True)
    console.print(f"fingerprint  {pair.fingerprint}", soft_wrap=True)
