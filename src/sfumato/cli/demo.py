"""``sfumato demo``: the main job on built-in data."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("demo-release"),
    force: Annotated[bool, typer.Option("--force", help="Replace a release that is there already.")] = False,
) -> None:
    """Publish a built-in hospital table: from raw rows to a verified release and its report."""
    from sfumato.cli.anonymize import show_release, tell_what_is_out
    from sfumato.cli.printing import progress
    from sfumato.datasets import hospital, hospital_policy
    from sfumato.policy import load
    from sfumato.release import prepare
    from sfumato.release.folder import check_target

    check_target(out, force=force)
    rules = load(hospital_policy())
    with progress(rules.search.name, quiet=False) as bar:
        release = prepare(hospital(), rules, progress=bar)
        with tell_what_is_out(release, out):
            release.save(out, force=force)
    with tell_what_is_out(release, out):
        show_release(release, out, release.warnings, as_json=False)
