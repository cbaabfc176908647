"""``sfumato reproduce``: the papers' experiments again, ours beside theirs."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError, Stopped, did_you_mean, quote

if TYPE_CHECKING:
    from sfumato.papers.experiment import Paper, RowSource
    from sfumato.papers.reproduction import Reproduction, TellPaper

_ALL = "all"


def reproduce(
    paper: Annotated[str, typer.Argument(help="alpha-k, lossy-join, identity, sequential, or all of them.")],
    adult: Annotated[
        Path | None, typer.Option(help="The folder with adult.csv and hierarchies; found by itself if left out.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for pages, plots and figures.")] = Path("papers"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer points: all papers within five minutes.")] = False,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Run on made-up rows in place of Adult.")] = False,
    rows: Annotated[int | None, typer.Option(help="How many made-up rows: 45222.", min=300)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace pages that are there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run the experiments of the papers again: every figure, and every claim with ours beside it, holds or not."""
    from sfumato.compare.interruption import note_signals
    from sfumato.papers.reproduction import check_before_running
    from sfumato.papers.reproduction import reproduce as run

    chosen, source = _choose_papers(paper), _choose_rows(adult, rows, synthetic=synthetic)
    check_before_running(chosen, out, force=force)
    done: list[Reproduction] = []
    with note_signals() as signals:
        try:
            with _progress_bar([member.name for member in chosen], quiet=as_json) as tell:
                for reproduction in run(chosen, source, out, quick=quick, tell=tell):
                    done.append(reproduction)
                    if not as_json:
                        _show_paper(reproduction)
        except BaseException as error:
            if not signals and not isinstance(error, KeyboardInterrupt):
                raise
            finished = [reproduction.paper.name for reproduction in done]
            rest = [member.name for member in chosen if member.name not in finished]
            kept = f"{', '.join(finished)} kept in {out}" if finished else "no paper was finished, so nothing is kept"
            raise Stopped(f"stopped; {kept}; not finished: {', '.join(rest)}" if rest else f"stopped; {kept}") from None
    if as_json:
        _print_json(done, {"out": str(out), "quick": quick, "source": source.kind})
    else:
        _show_outcome(done, out)


def _choose_papers(name: str) -> list["Paper"]:
    from sfumato.papers.reproduction import PAPERS

    if name == _ALL:
        return list(PAPERS.values())
    if name not in PAPERS:
        hint = did_you_mean(name, [*PAPERS, _ALL])
        raise InputError(f"there is no paper {quote(name)}; choose among {', '.join([*PAPERS, _ALL])}{hint}")
    return [PAPERS[name]]


def _choose_rows(adult: Path | None, rows: int | None, *, synthetic: bool) -> "RowSource":
    """Take the real rows, unless made-up ones are asked for; refuse an option that would be in vain."""
    from sfumato.papers.experiment import ADULT_ROWS, RowSource, find_real_rows

    if synthetic and adult is not None:
        raise InputError("--adult names the real rows and --synthetic asks for made-up ones; leave one of them out")
    if not synthetic and rows is not None:
        raise InputError("--rows says how many rows are made up, which only --synthetic asks for; leave it out")
    return RowSource(None, ADULT_ROWS if rows is None else rows) if synthetic else find_real_rows(adult)


@contextmanager
def _progress_bar(papers: Sequence[str], *, quiet: bool) -> Iterator["TellPaper"]:
    """Show a bar on a terminal, none in a pipe: which paper, points done, time taken and left, what the last one gave.

    There is no bar between two papers, so that lines of output can be printed there.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich import progress
    from rich.table import Column

    from sfumato.cli.printing import console_of

    bar = progress.Progress(
        progress.TextColumn("{task.fields[paper]}"),
        progress.BarColumn(8),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        # the words are cut where there is no room for them
        progress.TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        console=console_of(stderr=True),
        transient=True,
        expand=True,
    )

    def tell(paper: str, done: int, total: int, words: str) -> None:
        if done == 0:
            for task in bar.task_ids:
                bar.remove_task(task)
            bar.add_task("", total=total, paper=f"{paper} ({papers.index(paper) + 1} of {len(papers)})")
            bar.start()
        bar.update(bar.task_ids[-1], completed=done, description=words)
        if done == total:
            bar.stop()

    try:
        yield tell
    finally:
        bar.stop()


def _show_paper(done: "Reproduction") -> None:
    """Print a line when a paper is finished, since the next may take long."""
    from sfumato.cli.printing import console_of
    from sfumato.papers.claims import HOLDS, count_claims, count_outcomes

    held = f"{count_outcomes(done.claims)[HOLDS]} of {count_claims(done.claims)} claims hold"
    console_of().print(f"{done.paper.name}: {held}, {done.seconds:.0f} s: {done.page}", soft_wrap=True)


def _show_outcome(done: Sequence["Reproduction"], out: Path) -> None:
    """Print how many claims came out which way, and where to read on."""
    from rich.table import Table

    from sfumato.cli.printing import console_of
    from sfumato.papers.claims import OUTCOMES, count_claims, count_outcomes
    from sfumato.papers.reproduction import INDEX

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("paper")
    for head in ("claims", *OUTCOMES):
        table.add_column(head, justify="right")
    lines = {reproduction.paper.name: reproduction.claims for reproduction in done}
    if len(done) > 1:
        lines["all"] = [claim for reproduction in done for claim in reproduction.claims]
    for name, claims in lines.items():
        table.add_row(name, str(count_claims(claims)), *map(str, count_outcomes(claims).values()))
    console = console_of()
    console.print(table)
    console.print(f"every claim, ours beside theirs: {out / INDEX}", soft_wrap=True)


def _print_json(done: Sequence["Reproduction"], about: dict[str, Any]) -> None:
    from sfumato.cli.printing import print_json
    from sfumato.papers.claims import count_outcomes
    from sfumato.papers.reproduction import INDEX

    papers = [
        {
            "paper": reproduction.paper.name,
            "page": reproduction.page.name,
            "seconds": reproduction.seconds,
            "counts": count_outcomes(reproduction.claims),
            "claims": [asdict(claim) | {"outcome": claim.outcome} for claim in reproduction.claims],
        }
        for reproduction in done
    ]
    counts = count_outcomes(claim for reproduction in done for claim in reproduction.claims)
    print_json({**about, "index": INDEX, "papers": papers, "claims": counts})
