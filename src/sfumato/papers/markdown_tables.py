"""Markdown of result pages: tables, plots, and the lines that say when and on what a run was."""

from collections.abc import Iterable, Sequence

from sfumato.papers.claims import Claim, Run
from sfumato.papers.plots import PlotLine

CLAIM_HEAD = ("figure", "the paper states", "of", "theirs", "ours", "verdict", "why", "read otherwise")
_MADE_UP = """\
**The real Adult rows were not at hand: this ran on made-up rows, and says nothing of the paper's table.**"""
_QUICK = """\
**A quick run: fewer points than the paper has, and times taken less often. A full run is what to quote.**"""


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a table without the columns that are empty throughout, padded to be read as it is.

    >>> print(markdown_table(("k", "loss", "note"), [["2", "0.1", ""]]))
    | k   | loss |
    | --- | ---- |
    | 2   | 0.1  |
    """
    padded = []
    for name, *cells in zip(head, *lines, strict=True):
        if any(cells):
            width = max(3, len(name), *map(len, cells))
            padded.append([name.ljust(width), "-" * width, *(cell.ljust(width) for cell in cells)])
    return "\n".join("| " + " | ".join(line) + " |" for line in zip(*padded, strict=True))


def lines_table(head: str, lines: Sequence[PlotLine], *, across: str = "{:g}", up: str = "{:.3f}") -> str:
    """Write the figures of a plot: a column per line of it, a line per place across, under `head`.

    >>> print(lines_table("k", [PlotLine("local", [2, 5], [0.1, 0.2]), PlotLine("global", [2, 5], [0.5, 0.6])]))
    | k   | local | global |
    | --- | ----- | ------ |
    | 2   | 0.100 | 0.500  |
    | 5   | 0.200 | 0.600  |
    """
    rows = zip(lines[0].across, *(line.up for line in lines), strict=True)
    cells = [[across.format(x), *(up.format(y) for y in ys)] for x, *ys in rows]
    return markdown_table((head, *(line.label for line in lines)), cells)


def claim_cells(claim: Claim) -> list[str]:
    """Give the cells of a claim under `CLAIM_HEAD`."""
    return [claim.figure, claim.says, claim.of, claim.theirs, claim.ours, claim.verdict, claim.why, claim.other]


def claims_table(claims: Iterable[Claim]) -> str:
    """Write the claims of one paper, ours beside theirs."""
    return markdown_table(CLAIM_HEAD, map(claim_cells, claims))


def setting_line(run: Run) -> str:
    """Say when a run was, and with which software on which machine."""
    software = f"sfumato {run['sfumato']}, Python {run['python']}, DuckDB {run['duckdb']}"
    return f"Run of {run['date']}: {software}, {run['cpus']} cores, {run['memory']} GB, load {run['load']}."


def caveats(run: Run) -> list[str]:
    """Say what a reader has to know of a run before its figures: made-up rows, a quick run, parts of other runs."""
    said = [_MADE_UP if run["source"] == "synthetic" else "", "" if run["full"] else _QUICK, run.get("note", "")]
    return list(filter(None, said))


def picture(title: str, stem: str) -> str:
    """Show a plot, which is in the folder ``figures`` beside the page."""
    return f"![{title}](figures/{stem}.svg)"
