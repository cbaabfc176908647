"""``sfumato risk``: how easily rows can be tied to persons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.risk import Asked, TableRisk


def risk(
    data: Annotated[Path, typer.Argument(help="A raw or published table, or a release folder.")],
    policy: Annotated[
        Path | None,
        typer.Option(help="A policy that says which columns are quasi-identifiers, and which names persons."),
    ] = None,
    quasi: Annotated[str | None, typer.Option(help="The quasi-identifiers, separated by commas.")] = None,
    individual: Annotated[
        str | None, typer.Option(help="With --quasi: the column that names persons, where one may have several rows.")
    ] = None,
    k: Annotated[
        int | None, typer.Option(help="Persons that a group should have: the policy's k if left out, else 5.", min=1)
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="The chance above which a row is counted as at risk.", metavar="SHARE")
    ] = 0.2,
    population: Annotated[
        Path | None,
        typer.Option(help="A table of the whole population, with the quasi-identifiers as others know them."),
    ] = None,
    population_size: Annotated[
        int | None, typer.Option(help="How many people the table was drawn from, where there is no table of them.")
    ] = None,
    sampling_fraction: Annotated[
        float | None, typer.Option(help="The share of the population that is in the table, in place of its size.")
    ] = None,
    sets: Annotated[int, typer.Option(help="Look at every set of up to so many columns; 0 for none.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure the re-identification risk of a table: who could be found in it, by whom, and by which columns."""
    from sfumato.cli.risk_shown import show_risk
    from sfumato.risk import Asked

    asked = Asked(threshold, population, population_size, sampling_fraction, sets)
    if data.is_dir():
        found = _release(data, policy or quasi or individual, k, asked)
    elif (policy is None) == (quasi is None):
        raise InputError("give either --policy or --quasi a,b,c; only a release folder needs neither")
    elif policy is not None:
        if individual is not None:
            raise InputError("--individual goes with --quasi; a policy names its individual column itself")
        found = _by_policy(data, policy, k, asked)
    else:
        found = _by_columns(data, (str(quasi), individual), k, asked)
    show_risk(found, as_json=as_json)


def _release(folder: Path, other: object, k: int | None, asked: "Asked") -> "TableRisk":
    from sfumato.risk import risk_by_release

    if other:
        raise InputError(
            "a release folder names its quasi-identifiers and persons itself; leave --policy, --quasi and --individual "
            "out, or name a table of its public part"
        )
    return risk_by_release(folder, k=k, asked=asked)


def _by_policy(data: Path, policy: Path, k: int | None, asked: "Asked") -> "TableRisk":
    from sfumato.policy import load
    from sfumato.risk import risk_by_policy

    return risk_by_policy(data, load(policy), k=k, asked=asked)


def _by_columns(data: Path, columns: tuple[str, str | None], k: int | None, asked: "Asked") -> "TableRisk":
    from sfumato.risk import risk_by_columns

    names = [name.strip() for name in columns[0].split(",") if name.strip()]
    return risk_by_columns(data, names, individual=columns[1], k=k, asked=asked)
