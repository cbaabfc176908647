"""``sfumato risk``: how easily rows can be tied to persons."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import InputError


def risk(
    data: Annotated[Path, typer.Argument(help="A raw or published table.")],
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure the re-identification risk of a table, for an adversary who knows who is in it."""
    from sfumato.cli.show import show_risk
    from sfumato.policy import load
    from sfumato.risk.table import risk_by_columns, risk_by_policy

    if (policy is None) == (quasi is None):
        raise InputError("give either --policy or --quasi a,b,c")
    if policy is not None:
        if individual is not None:
            raise InputError("--individual goes with --quasi; a policy names its individual column itself")
        found = risk_by_policy(data, load(policy), k=k)
    else:
        names = [name.strip() for name in str(quasi).split(",") if name.strip()]
        found = risk_by_columns(data, names, individual=individual, k=k)
    show_risk(found, as_json=as_json)
