"""What ``sfumato utility`` prints: what was lost, column by column, and how far answers to queries are off."""

from rich.table import Table

from sfumato.cli.printing import console_of, print_json
from sfumato.utility import Utility
from sfumato.utility.queries import QueryErrors


def show_utility(utility: Utility, errors: QueryErrors | None = None, *, as_json: bool) -> None:
    """What a publication cost, in total and per column, and how far answers to queries are off, where asked."""
    if as_json:
        print_json(utility.as_json() | ({} if errors is None else {"queries": errors.as_json()}))
        return
    table = Table("lost", "NCP", "levels", "entropy", "labels", "cells exact", "cells suppressed")
    for name, part in utility.attributes.items():
        lost = [f"{x:.1%}" for x in (part.ncp, part.distortion, part.entropy)]
        table.add_row(name, *lost, *(f"{x:,}" for x in (part.labels, part.exact_cells, part.suppressed_cells)))
    totals = [f"{x:.1%}" for x in (utility.ncp, utility.distortion_ratio, utility.entropy)]
    exact = sum(part.exact_cells for part in utility.attributes.values())
    table.add_row("in total", *totals, "", f"{exact:,}", f"{utility.suppressed_cells:,}")
    console = console_of()
    console.print(table)
    console.print(
        f"{utility.suppressed_rows:,} rows suppressed; {utility.average_class_size:,.1f} rows per class on average; "
        f"precision {utility.precision:.4f}; discernibility {utility.discernibility:,}",
        soft_wrap=True,
    )
    if errors is not None:
        console.print(_errors(errors))
        console.print(_asked(errors), soft_wrap=True)


def _errors(errors: QueryErrors) -> Table:
    table = Table("relative error of COUNT queries", "average", "median", "nine in ten within")
    for name, found in (("expected value", errors.expected), ("the paper's estimate", errors.paper)):
        figures = (found.average, found.median, found.ninth_decile)
        table.add_row(name, *("" if x is None else f"{x:.1%}" for x in figures))
    return table


def _asked(errors: QueryErrors) -> str:
    """What was asked, and what became of queries that no row matches."""
    few = f"{errors.answered:,} of {errors.asked:,}" if errors.answered < errors.asked else f"{errors.asked:,}"
    columns = f"{errors.dimensions} quasi-identifier{'s' * (errors.dimensions > 1)} and '{errors.sensitive}'"
    asked = f"{few} queries of {columns}, selectivity {errors.selectivity:g}, seed {errors.seed}"
    return f"{asked}; {errors.zero:,} others, which no row of the original matches, were drawn and left out"
