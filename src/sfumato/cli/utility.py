"""``sfumato utility``: what a publication cost, column by column, and how far answers to queries are off."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from sfumato.utility import Utility
    from sfumato.utility.aggregate_comparison import AggregateUtility
    from sfumato.utility.likeness import Likeness
    from sfumato.utility.masked_values import PublishedChanges
    from sfumato.utility.query_error import QueryErrors


def utility(
    release: Annotated[Path, typer.Argument(help="The release folder.", metavar="RELEASE")],
    original: Annotated[str, typer.Option(help="The table that the release was made from.")],
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
    from sfumato.api.commands import utility as measure
    from sfumato.cli.printing import print_json, progress
    from sfumato.utility.aggregate_comparison import AggregateUtility
    from sfumato.utility.likeness import Likeness

    with progress("queries", quiet=as_json, verb="asking") as bar:
        found: Any = measure(
            release,
            original,
            policy=policy,
            queries=queries,
            dimensions=dimensions,
            selectivity=selectivity,
            sensitive=sensitive,
            seed=seed,
            progress=bar,
        )
    if as_json:
        print_json(found.as_json())
    elif isinstance(found, Likeness):
        _print_likeness(found)
    elif isinstance(found, AggregateUtility):
        _print_aggregates(found)
    else:
        _print_utility(found.losses, found.queries)
        if found.masked:
            _print_masked(found.masked)


_NAMES = 14
"""How wide names are: six columns of figures stand beside them in a line of 80 characters."""


def _print_utility(losses: "Utility", errors: "QueryErrors | None") -> None:
    """Print what a publication cost, in total and per column, and the errors of queries, where there are any."""
    from rich.table import Table

    from sfumato.cli.printing import break_name, console_of, name_column

    figures = ("NCP", "levels", "entropy", "labels", "cells\nexact", "cells\nsuppressed")
    table = Table(name_column("lost", losses.attributes, _NAMES), *figures)
    for name, part in losses.attributes.items():
        shares = [f"{x:.1%}" for x in (part.ncp, part.distortion, part.entropy)]
        table.add_row(
            break_name(name, _NAMES),
            *shares,
            *(f"{x:,}" for x in (part.labels, part.exact_cells, part.suppressed_cells)),
        )
    totals = [f"{x:.1%}" for x in (losses.ncp, losses.distortion_ratio, losses.entropy)]
    exact = sum(part.exact_cells for part in losses.attributes.values())
    table.add_row("in total", *totals, "", f"{exact:,}", f"{losses.suppressed_cells:,}")
    console = console_of()
    console.print(table)
    console.print(
        f"{losses.suppressed_rows:,} rows suppressed; {losses.average_class_size:,.1f} rows per class on average; "
        f"precision {losses.precision:.4f}; discernibility {losses.discernibility:,}",
        soft_wrap=True,
    )
    if errors is not None:
        console.print(_error_table(errors))
        console.print(_describe_workload(errors), soft_wrap=True)


def _print_likeness(likeness: "Likeness") -> None:
    """Print how like the original drawn rows are, as a whole and column by column."""
    from rich.table import Table

    from sfumato.cli.printing import break_name, console_of, name_column

    table = Table(name_column("how like the original", [f"  {name}" for name in likeness.columns]), "")
    for line in likeness.lines():
        table.add_row(*line)
    for name, figure in likeness.column_lines():
        table.add_row(break_name(f"  {name}"), figure)
    console = console_of()
    console.print(table)
    if likeness.unlearned:
        console.print(likeness.unlearned, soft_wrap=True)


def _print_aggregates(found: "AggregateUtility") -> None:
    """Print what means, medians and modes cost, and how columns are distributed before and after."""
    from rich.table import Table

    from sfumato.cli.printing import break_name, console_of, name_column

    if found.losses is not None:
        _print_utility(found.losses, None)
    table = Table(name_column("aggregated", [name for name, _ in found.lines()]), "true → published")
    for name, figures in found.lines():
        table.add_row(break_name(name), figures)
    console = console_of()
    console.print(table)
    for sentence in found.sentences():
        console.print(sentence, soft_wrap=True)
    if found.masked:
        _print_masked(found.masked)


def _print_masked(masked: "Mapping[str, PublishedChanges]") -> None:
    """Print how published values of masked columns compare with the true ones."""
    from rich.table import Table

    from sfumato.cli.printing import break_name, console_of, name_column

    table = Table(name_column("masked", masked), "true → published")
    for name, found in masked.items():
        table.add_row(break_name(name), found.in_words())
    console = console_of()
    console.print(table)
    console.print("row by row this was measured when the release was made: see masked in the audit", soft_wrap=True)


def _error_table(errors: "QueryErrors") -> "Table":
    from rich.table import Table

    table = Table("relative error of COUNT queries", "average", "median", "nine in ten within")
    for name, one in (("expected value", errors.expected), ("the paper's estimate", errors.paper)):
        table.add_row(name, *("" if x is None else f"{x:.1%}" for x in (one.average, one.median, one.ninth_decile)))
    return table


def _describe_workload(errors: "QueryErrors") -> str:
    """Say what was asked, and what became of queries that no row matches."""
    few = f"{errors.answered:,} of {errors.asked:,}" if errors.answered < errors.asked else f"{errors.asked:,}"
    columns = f"{errors.dimensions} quasi-identifier{'s' * (errors.dimensions > 1)} and '{errors.sensitive}'"
    asked = f"{few} queries of {columns}, selectivity {errors.selectivity:g}, seed {errors.seed}"
    return f"{asked}; {errors.zero:,} others, which no row of the original matches, were drawn and left out"
