"""``sfumato attack known``: rows found by B known values, sensitive ones too."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.attack.known import KnownValuesResult

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
    from sfumato.attack.known import SearchEffort
    from sfumato.attack.known import known as attack
    from sfumato.cli.attack.attack_output import print_findings
    from sfumato.cli.printing import print_json, progress
    from sfumato.policy import load

    if plot is not None and plot.suffix != ".svg":
        raise InputError(f"charts are drawn as SVG; name a file that ends in .svg, not {plot.name}")
    if plot is not None and plot.exists() and not plot.is_file():  # a pipe would wait for a reader
        raise InputError(f"{plot.name} is a folder, a pipe or a device; name a file for --plot")
    names = [] if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    rules = None if policy is None else load(policy)
    with progress("known", quiet=as_json, verb="looking for rows") as bar:
        effort = SearchEffort(targets=targets, seed=seed)
        found = attack(data, original, policy=rules, columns=names, most=most, effort=effort, progress=bar)
    if plot is not None:
        _draw(found, plot)
    if as_json:
        print_json(found.as_json())
        return
    tables = [_figures(found)] if found.series else []
    print_findings(*tables, *found.sentences())


def _draw(found: "KnownValuesResult", path: Path) -> None:
    from sfumato.errors import OutputError
    from sfumato.page.charts import standalone

    try:
        path.write_text(standalone(found.chart()), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}") from None


def _figures(found: "KnownValuesResult") -> "Table":
    """Lay out a line for each B: the share of people who are the only match, and of those picked right on average.

    Of a long table some lines are printed, evenly spaced from the first to the last.
    """
    from rich.table import Table

    from sfumato.page.wording import percent

    table = Table("B")
    for series in found.series:
        table.add_column(f"{series.label}\nonly / picked", justify="right")
    longest = max(len(series.points) for series in found.series)
    places = list(range(longest))
    if longest > _LINES:
        places = sorted({round(line * (longest - 1) / (_LINES - 1)) for line in range(_LINES)})
    for place in places:
        points = [series.points[place] if place < len(series.points) else None for series in found.series]
        cells = ("" if point is None else f"{percent(point.only)} / {percent(point.chance)}" for point in points)
        table.add_row(f"{place + 1:,}", *cells)
    return table
