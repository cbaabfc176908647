"""``sfumato audit table``: a cross-table with marginals, in which cells are suppressed that give somebody away."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.core.listed_names import split_names
from sfumato.errors import InputError, quote


def table(
    data: Annotated[str, typer.Argument(help="The table, or a database URL.", metavar="DATA")],
    rows: Annotated[
        str, typer.Option(help="Columns of the data whose values are rows of the table, with commas: the outer first.")
    ],
    columns: Annotated[str | None, typer.Option(help="Those whose values are its columns, with commas.")] = None,
    sum_: Annotated[
        str | None, typer.Option("--sum", help="Add up the amounts of this column; rows are counted if left out.")
    ] = None,
    min_count: Annotated[int, typer.Option(help="Cells of fewer contributors are suppressed.")] = 5,
    p: Annotated[
        float, typer.Option(help="Nobody may estimate a contributor's amount, or a suppressed cell, within p %.")
    ] = 10.0,
    dominance: Annotated[
        str, typer.Option(help="N,K: suppress cells in which the N largest have more than K %; or none.")
    ] = "1,75",
    individual: Annotated[
        str | None, typer.Option(help="The column that names contributors; each row is one if left out.")
    ] = None,
    marginals: Annotated[
        str, typer.Option(help="nested: subtotals of outer columns; all: of every combination of columns.")
    ] = "nested",
    cost: Annotated[str, typer.Option(help="What to suppress little of: value (amounts) or cells.")] = "value",
    total: Annotated[str, typer.Option(help="The word that stands for totals.")] = "Total",
    out: Annotated[
        Path | None, typer.Option(help="The folder to write; the table is only printed if left out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that holds a release.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Publish a table of counts or sums with marginals; no suppressed cell can be worked out from the others."""
    from sfumato.cli.printing import console_of, print_json, progress
    from sfumato.cross_tables import cross_table
    from sfumato.release.folder import check_target

    if out is not None:
        check_target(out, force=force)
    with progress("cells", quiet=as_json, verb="suppressing") as show:
        found = cross_table(
            data,
            _parse_names(rows, "--rows"),
            [] if columns is None else _parse_names(columns, "--columns"),
            sum=sum_,
            min_count=min_count,
            p=p,
            dominance=_parse_dominance(dominance),
            individual=individual,
            marginals=marginals,
            cost=cost,
            total=total,
            out=out,
            force=force,
            progress=show,
        )
    if as_json:
        print_json({"table": None if out is None else str(out)} | found.as_json())
        return
    console = console_of()
    console.print(str(found), soft_wrap=True)
    if out is not None:
        console.print(f"wrote  {out}", soft_wrap=True)


def _parse_names(text: str, option: str) -> list[str]:
    names = split_names(text)
    if not names or not all(names):
        raise InputError(f"{option} {quote(text)} has an empty name; write it as {option} region,branch")
    return names


def _parse_dominance(text: str) -> tuple[int, float] | None:
    """Read N,K, or none.

    >>> _parse_dominance("2,85"), _parse_dominance("none")
    ((2, 85.0), None)
    """
    if text.strip() == "none":
        return None
    try:
        n, k = text.split(",")
        return int(n), float(k)
    except ValueError:
        raise InputError(
            f"--dominance {quote(text)} is not a number of contributors and a percentage; write it as --dominance 1,75"
        ) from None
