"""``sfumato utility``: what a publication cost."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.utility.queries import Workload

_QUERIES, _DIMENSIONS, _SELECTIVITY, _SEED = 100, 4, 0.05, 1


def utility(
    release: Annotated[Path, typer.Argument(help="The release folder.", metavar="RELEASE")],
    original: Annotated[Path, typer.Option(help="The table that the release was made from.")],
    policy: Annotated[Path | None, typer.Option(help="Its policy, where it has moved since.")] = None,
    queries: Annotated[
        int | None, typer.Option(help="Measure the error of so many random COUNT queries: 100; 0 for none.")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option(help="Quasi-identifiers that a query asks of: 4, or all where there are fewer.")
    ] = None,
    selectivity: Annotated[
        float | None, typer.Option(help="The share of rows that a query would match if all values were alike: 0.05.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="The sensitive column that queries ask of, where there are several.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Which queries are asked, of all that could be: 1.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure what a publication cost, from the published files and the original table."""
    from sfumato.cli.folder import opened
    from sfumato.cli.losses import show_utility
    from sfumato.cli.printing import progress
    from sfumato.utility.files import Compared, asked_of

    drawn = {"dimensions": dimensions, "selectivity": selectivity, "seed": seed}
    asked = {name: value for name, value in {**drawn, "sensitive": sensitive}.items() if value is not None}
    _check_asked(queries, asked)
    folder = opened(release, policy)
    # where no column is sensitive there is nothing to ask, unless somebody does
    some = queries is not None or asked or folder.policy.sensitive
    workload = _workload(queries, len(folder.policy.quasi), asked) if some and queries != 0 else None
    column = None if workload is None else asked_of(folder.policy, sensitive)
    compared = Compared.read(folder.public, folder.manifest, original, policy=folder.policy)
    found = compared.utility()
    with progress("queries", quiet=as_json, verb="asking") as bar:
        errors = compared.queries(workload, column, progress=bar) if workload else None
    show_utility(found, errors, as_json=as_json)


def _check_asked(queries: int | None, asked: Mapping[str, object]) -> None:
    """No option in vain."""
    if queries == 0 and asked:
        first = next(iter(asked))
        raise InputError(f"--{first} says how queries are drawn, and --queries 0 asks for none; leave one of them out")


def _workload(queries: int | None, quasi: int, asked: Mapping[str, Any]) -> "Workload":
    """The workload that the options say, with what is left out filled in."""
    from sfumato.utility.queries import Workload

    return Workload(
        _QUERIES if queries is None else queries,
        asked.get("dimensions", min(_DIMENSIONS, quasi)),
        asked.get("selectivity", _SELECTIVITY),
        asked.get("seed", _SEED),
    )
