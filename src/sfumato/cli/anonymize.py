"""``sfumato anonymize``: a policy in, a verified release out."""

from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from sfumato.errors import InputError


def anonymize(
    policy: Annotated[Path, typer.Argument(help="The policy file (TOML).")],
    data: Annotated[Path | None, typer.Option(help="The table, in place of the policy's [data] source.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("release"),
    algorithm: Annotated[str | None, typer.Option(help="In place of the policy's [algorithm] name.")] = None,
    engine: Annotated[str, typer.Option(help="What counts and verifies; this version has duckdb.")] = "duckdb",
    seed: Annotated[int | None, typer.Option(help="For tests and papers: makes the order of rows repeatable.")] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Reckon with the releases of this ledger, and record it there.")
    ] = None,
    population: Annotated[str | None, typer.Option(help="Whom the release is about, for the ledger.")] = None,
    name: Annotated[str | None, typer.Option(help="Its name in the ledger; that of --out if left out.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a release that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make a release: the table of the policy, private by its requirements, verified, in a folder."""
    from sfumato.cli.printing import progress, warn
    from sfumato.cli.show import show_release
    from sfumato.policy import load
    from sfumato.release import prepare
    from sfumato.release.concluding import get_ready
    from sfumato.release.folder import check_target
    from sfumato.release.key_file import check_apart

    if engine != "duckdb":
        raise InputError(f"--engine {engine} is not in this version; use duckdb")
    check_target(out, force=force)
    rules = load(policy).replace(source=data, algorithm=algorithm, seed=seed)
    check_apart(rules, out)
    _check_ledger(ledger, population, name)
    Thread(target=get_ready, daemon=True).start()
    with progress(rules.recoder, quiet=as_json) as bar:
        if ledger is None:
            made = prepare(None, rules, progress=bar)
            made.save(out, force=force)
            release, told = made, made.warnings
        else:
            from sfumato.ledger import Ledger, make_recorded_release

            called = out.resolve().name if name is None else name
            recorded = make_recorded_release(
                Ledger.open(ledger), rules, population=population, name=called, progress=bar
            )
            recorded.save(out, force=force)
            release, told = recorded.release, recorded.warnings
    show_release(release, out, as_json=as_json)
    for sentence in told:
        warn(sentence)


def _check_ledger(ledger: Path | None, population: str | None, name: str | None) -> None:
    if ledger is None and (population is not None or name is not None):
        raise InputError("--population and --name are for a ledger; give --ledger, or leave them out")
