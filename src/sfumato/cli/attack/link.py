"""``sfumato attack link``: a release joined with an outside table that names people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.attack.link import LinkageResult, PersonValue

_LISTED = 20
"""So many persons are listed where nobody says how many."""


def link(
    release: Annotated[
        Path, typer.Argument(help="A release folder, or a file: raw, or published by others.", metavar="RELEASE")
    ],
    known: Annotated[str, typer.Option(help="The outside table, each row a person, such as a voter roll.")],
    on: Annotated[str, typer.Option(help="The columns that both have, separated by commas.", metavar="A,B,...")],
    policy: Annotated[
        Path | None, typer.Option(help="What labels of a file stand for, and how tables are read.")
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            help="A column to learn of people; again for another. The sensitive ones if left out.", metavar="COLUMN"
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The column of the outside table that names people.", metavar="COLUMN")
    ] = None,
    listed: Annotated[
        int | None,
        typer.Option("--list", help="The most exposed persons to list; 20, or none in JSON.", min=0, metavar="N"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Join a release with an outside table, and count whom and what that tells."""
    from sfumato.attack.link import link as attack
    from sfumato.cli.attack.attack_output import print_findings
    from sfumato.cli.printing import print_json, progress
    from sfumato.policy import load

    columns = [column.strip() for column in on.split(",") if column.strip()]
    rules, most = None if policy is None else load(policy), _LISTED if listed is None else listed
    with progress("link", quiet=as_json, verb="looking up") as bar:
        found = attack(
            release, known, columns, policy=rules, sensitive=sensitive or (), name=name, most=most, progress=bar
        )
    if as_json:
        print_json(found.as_json(listed or 0))
        return
    tables = [_figures(found), *([_persons(found, name or "row")] if found.persons else [])]
    assumptions = (("everybody", found.everybody), ("in release", found.in_release))
    assumed = (f"{key}: {chance.assumes}" for key, chance in assumptions if chance is not None)
    print_findings(*tables, *found.sentences(), *assumed)


def _figures(found: "LinkageResult") -> "Table":
    from rich.table import Table

    from sfumato.page.wording import percent

    table = Table(f"joined on {', '.join(found.on)}", "everybody", "in release")
    both = (found.everybody, found.in_release)
    table.add_row("records with one candidate; persons with one record", *(f"{one.one:,}" for one in both if one))
    for key in ("highest", "average", "baseline"):
        title = "chance without the join" if key == "baseline" else f"{key} chance of a person's record"
        table.add_row(title, *(percent(getattr(one, key)) for one in both if one))
    for column, one in found.columns.items():
        figures = [guess for guess in (one.everybody, one.in_release) if guess]
        table.add_row(f"{column}: persons for whom it is certain", *(f"{guess.certain:,}" for guess in figures))
        for key in ("highest", "average", "baseline"):
            title = "without the join" if key == "baseline" else f"{key} chance"
            table.add_row(f"{column}: {title}", *(percent(getattr(guess, key)) for guess in figures))
    return table


def _persons(found: "LinkageResult", title: str) -> "Table":
    """List who is exposed most, and the likeliest values of each."""
    from rich.table import Table

    from sfumato.page.wording import percent

    table = Table(title, "records", "candidates", "everybody", "in release")
    for person in found.persons:
        cells = [
            "\n".join(_value(values[key]) for values in person.values.values()) or percent(getattr(person, key))
            for key in ("everybody", "in_release")
        ]
        name = "(no name)" if person.person is None else str(person.person)
        table.add_row(name, f"{person.records:,}", f"{person.candidates:,}", *cells)
    return table


def _value(guess: "PersonValue") -> str:
    from sfumato.page.wording import label, percent

    return f"{label(guess.value)} {percent(guess.chance)}"
