"""``sfumato attack link``: a release joined with an outside table that names people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.attack.link import Linked, Match

_LISTED = 20
"""So many persons are listed where nobody says how many."""


def link(
    release: Annotated[
        Path, typer.Argument(help="A release folder, or a file: raw, or published by others.", metavar="RELEASE")
    ],
    known: Annotated[Path, typer.Option(help="The outside table, each row a person, such as a voter roll.")],
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
    from sfumato.attack.link import link as tried
    from sfumato.cli.printing import print_json, progress
    from sfumato.policy import load

    columns = [column.strip() for column in on.split(",") if column.strip()]
    rules, most = None if policy is None else load(policy), _LISTED if listed is None else listed
    with progress("link", quiet=as_json, verb="looking up") as bar:
        found = tried(
            release, known, columns, policy=rules, sensitive=sensitive or (), name=name, most=most, progress=bar
        )
    if as_json:
        print_json(found.as_json(listed or 0))
        return
    _show(found, title=name or "row")


def _show(found: "Linked", *, title: str) -> None:
    """The figures under each assumption, the persons who are exposed most, and what it means."""
    from sfumato.attack.link.words import meaning
    from sfumato.cli.printing import console_of

    console = console_of()
    console.print(_figures(found))
    if found.persons:
        console.print(_persons(found, title))
    for sentence in meaning(found):
        console.print(sentence, soft_wrap=True)
    for key, one in (("everybody", found.everybody), ("in release", found.in_release)):
        if one is not None:
            console.print(f"{key}: {one.assumes}", soft_wrap=True)


def _figures(found: "Linked") -> "Table":
    from rich.table import Table

    from sfumato.page.words import percent

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


def _persons(found: "Linked", title: str) -> "Table":
    """Who is exposed most; of each the likeliest values."""
    from rich.table import Table

    from sfumato.page.words import percent

    table = Table(title, "records", "candidates", "everybody", "in release")
    for one in found.persons:
        cells = [
            "\n".join(_told(one.values[column][key]) for column in one.values) or percent(getattr(one, key))
            for key in ("everybody", "in_release")
        ]
        name = "(no name)" if one.person is None else str(one.person)
        table.add_row(name, f"{one.records:,}", f"{one.candidates:,}", *cells)
    return table


def _told(match: "Match") -> str:
    from sfumato.page.words import label, percent

    return f"{label(match.value)} {percent(match.chance)}"
