"""Markdown tables, and the lines on a page that say when and on what a run was."""

from collections.abc import Iterable, Sequence

from sfumato.papers.claims import Claim, Run

_CLAIMS = ("figure", "the paper states", "of", "theirs", "ours", "verdict", "read otherwise")
_MADE_UP = """\
**The real Adult rows were not at hand: this ran on made-up rows, and says nothing of the paper's table.**"""
_QUICK = """\
**A quick run: fewer points than the paper has, and times taken less often. A full run is what to quote.**"""


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table without columns that are empty throughout, padded to be read as it is.

    >>> print(table(("k", "loss", "note"), [["2", "0.1", ""]]))
    | k   | loss |
    | --- | ---- |
    | 2   | 0.1  |
    """
    rows = [head, *lines]
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    padded = [_padded(column) for column in columns]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in zip(*padded, strict=True))


def _padded(column: Sequence[str]) -> list[str]:
    width = max(3, *map(len, column))
    return [column[0].ljust(width), "-" * width, *(cell.ljust(width) for cell in column[1:])]


def setting(run: Run) -> str:
    """When a run was, and on what."""
    software = f"sfumato {run['sfumato']}, Python {run['python']}, DuckDB {run['duckdb']}"
    return f"Run of {run['date']}: {software}, {run['cpus']} cores, {run['memory']} GB, load {run['load']}."


def caveats(run: Run) -> list[str]:
    """What a reader has to know of a run before its figures."""
    return [*([_MADE_UP] if run["source"] == "synthetic" else []), *([] if run["full"] else [_QUICK])]


def picture(title: str, stem: str) -> str:
    """A plot, which is drawn into the folder ``figures`` beside the page."""
    return f"![{title}](figures/{stem}.svg)"


def statements(claims: Iterable[Claim]) -> str:
    """The claims of one paper, ours beside theirs."""
    return table(_CLAIMS, map(cells, claims))


def cells(claim: Claim) -> list[str]:
    """A claim as a line of a table."""
    return [claim.figure, claim.says, claim.of, claim.theirs, claim.ours, claim.verdict, claim.other]
