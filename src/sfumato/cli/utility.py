"""``sfumato utility``: what a publication cost."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import InputError


def utility(
    release: Annotated[Path, typer.Argument(help="The release folder.", metavar="RELEASE")],
    original: Annotated[Path, typer.Option(help="The table that the release was made from.")],
    policy: Annotated[Path | None, typer.Option(help="Its policy, where it has moved since.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure what a publication cost, from the published file and the original table."""
    import json

    from sfumato.cli.show import show_utility
    from sfumato.policy import Policy, load
    from sfumato.utility.files import measure_files

    public, audit = release / "public", release / "private" / "audit.json"
    if not (public / "manifest.json").exists() or not audit.exists():
        raise InputError(f"{release} is not a complete release folder; name the folder that anonymize wrote")
    manifest = json.loads((public / "manifest.json").read_text(encoding="utf-8"))
    record = json.loads(audit.read_text(encoding="utf-8"))
    rules = load(policy) if policy else Policy.read(record["policy"], folder=Path(record["folder"]))
    show_utility(measure_files(public / manifest["table"], manifest, original, rules), as_json=as_json)
