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
    from sfumato.cli.show import show_utility
    from sfumato.policy import Policy, load
    from sfumato.utility.files import measure_files
    from sfumato.verifier.accounts import check_manifest
    from sfumato.verifier.files import read_json, table_path

    public, audit = release / "public", release / "private" / "audit.json"
    if not (public / "manifest.json").exists() or not audit.exists():
        raise InputError(f"{release} is not a complete release folder; name the folder that anonymize wrote")
    manifest, record = read_json(public / "manifest.json"), read_json(audit)
    check_manifest(manifest)
    if policy is None and not {"policy", "folder"} <= record.keys():
        raise InputError("audit.json does not say what the policy was; give it with --policy")
    rules = load(policy) if policy else Policy.read(record["policy"], folder=Path(record["folder"]))
    found = measure_files(table_path(public, manifest["table"]), manifest, original, rules)
    show_utility(found, as_json=as_json)
