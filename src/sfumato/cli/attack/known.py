"""``sfumato attack known``: rows found by B known values, sensitive ones too."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.attack.known import Known

_LINES = 20
"""So many lines are printed of a longer table."""


def known(
    data: Annotated[
        Path, typer.Argument(help="A raw table, or a release: its folder, or a file.", metavar="DATA|RELEASE")
    ],
    original: Annotated[
        Path | None, typer.Option(help="With a release: the table that it was made from.", metavar="DATA")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Roles of the columns of a file, and what its labels stand for.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The columns that may be known, separated by commas.", metavar="A,B,...")
    ] = None,
    most: Annotated[
        int | None, typer.Option("--known", help="The most values known; all if left out.", min=1, metavar="B")
    ] = None,
    targets: Annotated[
        int | None,
        typer.Option(help="How many rows to look for; all of a raw table, 1,000 in a release.", min=1, metavar="N"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which rows and columns are drawn.", min=0)] = 1,
    plot: Annotated[Path | None, typer.Option(help="Draw success over B into this file.", metavar="FILE.svg")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Find the rows of people by values that are known of them, and count success over how many are."""
    from sfumato.attack.known import known as tried
    from sfumato.attack.known.walk import Effort
    from sfumato.cli.printing import print_json, progress
    from sfumato.policy import load

    if plot is not None and plot.suffix != ".svg":
        raise InputError(f"charts are drawn as SVG; name a file that ends in .svg, not {plot.name}")
    names = [] if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    rules = None if policy is None else load(policy)
    with progress("known", quiet=as_json, verb="looking for rows") as bar:
        effort = Effort(targets=targets, seed=seed)
        found = tried(data, original, policy=rules, columns=names, most=most, effort=effort, progress=bar)
    if plot is not None:
        _draw(found, plot)
    if as_json:
        print_json(found.as_json())
        return
    _show(found)


def _draw(found: "Known", path: Path) -> None:
    from sfumato.errors import OutputError
    from sfumato.page.charts import standalone

    try:
        path.write_text(standalone(found.chart()), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}") from None


def _show(found: "Known") -> None:
    from sfumato.attack.known.words import meaning
    from sfumato.cli.printing import console_of

    console = console_of()
    if found.series:
        console.print(_figures(found))
    for sentence in meaning(found):
        console.print(sentence, soft_wrap=True)


def _figures(found: "Known") -> "Table":
    """A line for each B: the share of people who are the only match, and of those picked right on average."""
    from rich.table import Table

    from sfumato.page.words import percent

    table = Table("B")
    for one in found.series:
        table.add_column(f"{one.label}\nonly / picked", justify="right")
    for place in _shown(max(len(one.points) for one in found.series)):
        points = [one.points[place] if place < len(one.points) else None for one in found.series]
        cells = ("" if one is None else f"{percent(one.only)} / {percent(one.chance)}" for one in points)
        table.add_row(f"{place + 1:,}", *cells)
    return table


def _shown(longest: int) -> list[int]:
    """The places of the lines that are printed: all, or some from the first to the last."""
    if longest <= _LINES:
        return list(range(longest))
    return sorted({round(place * (longest - 1) / (_LINES - 1)) for place in range(_LINES)})
