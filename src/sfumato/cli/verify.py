"""``sfumato verify``: does a release keep its promise?"""

from pathlib import Path
from typing import Annotated

import typer


def verify(
    folder: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="DIR")],
    policy: Annotated[Path | None, typer.Option(help="Check against this policy's requirements instead.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Re-check a published release from its files alone; exit 0 if it holds, 1 if it does not."""
    from sfumato.cli.show import show_verdict
    from sfumato.verifier import verify as check

    asked = None
    if policy is not None:
        from sfumato.policy import load
        from sfumato.release.promised import asked as asked_by

        asked = asked_by(load(policy))
    verdict = check(folder, asked=asked)
    show_verdict(verdict, as_json=as_json)
    raise typer.Exit(0 if verdict.satisfied else 1)
