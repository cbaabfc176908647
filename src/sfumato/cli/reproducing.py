"""What ``sfumato reproduce`` shows: where it is while it runs, and what came out."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from sfumato.cli.printing import console_of, print_json
from sfumato.papers.claims import OUTCOMES, counted
from sfumato.papers.index import INDEX
from sfumato.papers.reproduce import Done, TellPaper


@contextmanager
def watching(papers: Sequence[str], *, quiet: bool) -> Iterator[TellPaper]:
    """A bar on a terminal: which paper, points done, time taken and left, what the last point gave; none in a pipe.

    There is no bar between two papers, so that lines of output can be printed there.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import Progress

    bar = Progress(*_columns(), console=console_of(stderr=True), transient=True, expand=True)

    def tell(paper: str, done: int, every: int, words: str) -> None:
        if done == 0:
            for task in bar.task_ids:
                bar.remove_task(task)
            bar.add_task("", total=every, paper=f"{paper} ({papers.index(paper) + 1} of {len(papers)})")
            bar.start()
        bar.update(bar.task_ids[-1], completed=done, description=words)
        if done == every:
            bar.stop()

    try:
        yield tell
    finally:
        bar.stop()


def _columns() -> list[Any]:
    """What stands in the bar; the words are cut where there is no room for them."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    words = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    last = TextColumn("{task.description}", table_column=words)
    return [TextColumn("{task.fields[paper]}"), BarColumn(8), MofNCompleteColumn(), *times, last]


def show_one(done: Done, *, quiet: bool) -> None:
    """A line when a paper is finished, since the next may take long."""
    if not quiet:
        found = counted(done.claims)
        held = f"{found['holds']} of {len(done.claims)} claims hold"
        console_of().print(f"{done.paper.name}: {held}, {done.seconds:.0f} s: {done.page}", soft_wrap=True)


def show_all(done: Sequence[Done], out: Path, *, about: Mapping[str, Any], as_json: bool) -> None:
    """How many claims came out which way, and where to read on."""
    every = [claim for one in done for claim in one.claims]
    if as_json:
        papers = [_as_json(one) for one in done]
        print_json({"out": str(out), **about, "index": INDEX, "papers": papers, "claims": counted(every)})
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("paper")
    for head in ("claims", *OUTCOMES):
        table.add_column(head, justify="right")
    for one in done:
        table.add_row(one.paper.name, str(len(one.claims)), *map(str, counted(one.claims).values()))
    if len(done) > 1:
        table.add_row("all", str(len(every)), *map(str, counted(every).values()))
    console = console_of()
    console.print(table)
    console.print(f"every claim, ours beside theirs: {out / INDEX}", soft_wrap=True)


def _as_json(one: Done) -> dict[str, Any]:
    claims = [asdict(claim) | {"outcome": claim.outcome} for claim in one.claims]
    counts = counted(one.claims)
    return {"paper": one.paper.name, "page": one.page.name, "seconds": one.seconds, "counts": counts, "claims": claims}
