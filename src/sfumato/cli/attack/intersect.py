"""``sfumato attack intersect``: what several releases leave open when they are taken together."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sfumato.attack.intersect import RemainingValues

_FIGURES = (
    ("persons in two releases or more", "persons"),
    ("fewest values left to somebody", "smallest"),
    ("persons with fewer values left than the threshold", "below"),
    ("of them exposed, as far as is known", "exposed"),
    ("exposed by no release alone", "added"),
    ("the true value is the only one left", "right"),
    ("the true value is not left", "contradicted"),
)


def intersect(
    releases: Annotated[
        list[Path], typer.Argument(help="Two or more release folders about the same people.", metavar="RELEASE")
    ],
    known: Annotated[
        Path | None,
        typer.Option(
            help="A table of persons, with quasi-identifiers as the adversary knows them, such as the original; "
            "without it, persons are the rows of the first release.",
            metavar="DATA",
        ),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="What columns of DATA are, in place of the first release's policy.")
    ] = None,
    threshold: Annotated[
        int, typer.Option(help="Who has fewer values left than these is exposed.", min=2, metavar="N")
    ] = 2,
    column: Annotated[str | None, typer.Option(help="The sensitive column, where they share several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Count, for each person, the sensitive values that are consistent with all releases taken together."""
    from sfumato.attack.intersect import describe_persons_and_rows, describe_remaining_values
    from sfumato.attack.intersect import intersect as attack
    from sfumato.cli.attack.attack_output import figure_tables, print_findings
    from sfumato.cli.printing import print_json, progress
    from sfumato.policy import load

    rules = None if policy is None else load(policy)
    with progress("intersect", quiet=as_json, verb="looking up") as bar:
        found = attack(releases, known, policy=rules, threshold=threshold, column=column, progress=bar)
    if as_json:
        print_json(found.as_json())
        return
    names = [one.release for one in found.releases]
    figures = {name: _figures(column, names) for name, column in found.columns.items()}
    sentences = (" ".join(describe_remaining_values(name, column, names)) for name, column in found.columns.items())
    tables = figure_tables("all releases together", figures)
    print_findings(*tables, *sentences, *describe_persons_and_rows(found), *found.notes, found.assumes)


def _figures(found: "RemainingValues", releases: list[str]) -> dict[str, str]:
    from sfumato.cli.attack.attack_output import text_or_blank

    figures = {title: getattr(found, key) for title, key in _FIGURES}
    figures |= {f"exposed by {name} alone": alone for name, alone in zip(releases, found.alone, strict=True)}
    return {title: text_or_blank(figure, "{:,}".format) for title, figure in figures.items()}
