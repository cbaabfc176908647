"""``sfumato utility``: what a publication cost."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.utility.queries import Workload

_DIMENSIONS, _SELECTIVITY = 4, 0.05


def utility(
    release: Annotated[Path, typer.Argument(help="The release folder.", metavar="RELEASE")],
    original: Annotated[Path, typer.Option(help="The table that the release was made from.")],
    policy: Annotated[Path | None, typer.Option(help="Its policy, where it has moved since.")] = None,
    queries: Annotated[int | None, typer.Option(help="Measure the error of so many random COUNT queries.")] = None,
    dimensions: Annotated[
        int | None, typer.Option(help="Quasi-identifiers that a query asks of: 4, or all where there are fewer.")
    ] = None,
    selectivity: Annotated[
        float | None, typer.Option(help="The share of rows that a query would match if all values were alike: 0.05.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="The sensitive column that queries ask of, where there are several.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Ask the same queries again; without it, others each time.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure what a publication cost, from the published files and the original table."""
    from sfumato.cli.folder import opened
    from sfumato.cli.show import progress, show_utility
    from sfumato.utility.files import Compared, asked_of

    asked = {"dimensions": dimensions, "selectivity": selectivity, "sensitive": sensitive, "seed": seed}
    _check_asked(queries, asked)
    folder = opened(release, policy)
    rules = folder.policy
    workload = None if queries is None else _workload(queries, len(rules.quasi), dimensions, selectivity, seed)
    column = None if workload is None else asked_of(rules, sensitive)
    compared = Compared.read(folder.public, folder.manifest, original, policy=rules)
    found = compared.utility()
    with progress("queries", quiet=as_json, verb="asking") as bar:
        errors = compared.queries(workload, column, progress=bar) if workload else None
    show_utility(found, errors, as_json=as_json)


def _check_asked(queries: int | None, asked: Mapping[str, object]) -> None:
    """No option in vain."""
    idle = [name for name, value in asked.items() if value is not None]
    if queries is None and idle:
        raise InputError(f"--{idle[0]} says how queries are drawn, and none are asked for; add --queries 1000")


def _workload(
    queries: int, quasi: int, dimensions: int | None, selectivity: float | None, seed: int | None
) -> "Workload":
    """The workload that the options say, with what is left out filled in."""
    from secrets import randbits

    from sfumato.utility.queries import Workload

    return Workload(
        queries,
        min(_DIMENSIONS, quasi) if dimensions is None else dimensions,
        _SELECTIVITY if selectivity is None else selectivity,
        randbits(32) if seed is None else seed,
    )
