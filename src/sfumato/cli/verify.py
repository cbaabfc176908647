"""``sfumato verify``: does a release keep its promise?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import InputError


def verify(
    folder: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="DIR")],
    policy: Annotated[Path | None, typer.Option(help="Check against this policy's requirements instead.")] = None,
    previous: Annotated[
        list[str] | None,
        typer.Option(help="The table of an earlier release, if it is not where it was.", metavar="NAME=FILE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Re-check a published release from its files alone; exit 0 if it holds, 1 if it does not."""
    from sfumato.cli.show import show_verdict
    from sfumato.verifier import verify as check

    asked, files = None, named_files(previous or ())
    if policy is not None:
        from sfumato.policy import load
        from sfumato.release.promised import asked as asked_by

        asked = asked_by(load(policy))
    verdict = check(folder, asked=asked, previous=files)
    show_verdict(verdict, as_json=as_json)
    raise typer.Exit(0 if verdict.satisfied else 1)


def named_files(texts: Sequence[str]) -> dict[str, str]:
    """Files by the name of the earlier release they are of.

    >>> named_files(["tax=data/tax.csv"])
    {'tax': 'data/tax.csv'}
    """
    files: dict[str, str] = {}
    for text in texts:
        name, sign, file = text.partition("=")
        if not (name and sign and file):
            raise InputError(f"--previous {text} does not say which file is whose; write --previous NAME=FILE")
        if name in files:
            raise InputError(f"--previous names the table of '{name}' twice; name it once")
        files[name] = file
    return files
