"""``sfumato reproduce``: the papers' experiments again, ours beside theirs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError, Stopped, did_you_mean

if TYPE_CHECKING:
    from sfumato.papers.paper import Paper
    from sfumato.papers.reproduce import Done
    from sfumato.papers.rows import Rows

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
    from sfumato.cli.reproducing import show_all, show_one, watching
    from sfumato.compare.stopping import listening
    from sfumato.papers.reproduce import check
    from sfumato.papers.reproduce import reproduce as run

    chosen, source = _chosen(paper), _source(adult, rows, synthetic=synthetic)
    check(chosen, out, force=force)
    done: list[Done] = []
    with listening() as told:
        try:
            with watching([one.name for one in chosen], quiet=as_json) as tell:
                for one in run(chosen, source, out, quick=quick, tell=tell):
                    done.append(one)
                    show_one(one, quiet=as_json)
        except BaseException as error:
            if told or isinstance(error, KeyboardInterrupt):
                raise _stopped(chosen, done, out) from None
            raise
    show_all(done, out, about={"quick": quick, "source": source.source}, as_json=as_json)


def _chosen(name: str) -> list["Paper"]:
    from sfumato.papers.shelf import PAPERS

    if name == _ALL:
        return list(PAPERS.values())
    if name not in PAPERS:
        hint = did_you_mean(name, [*PAPERS, _ALL])
        raise InputError(f"there is no paper {name!r}; choose among {', '.join([*PAPERS, _ALL])}{hint}")
    return [PAPERS[name]]


def _source(adult: Path | None, rows: int | None, *, synthetic: bool) -> "Rows":
    """The real rows, unless made-up ones are asked for; no option in vain."""
    from sfumato.papers.rows import ADULT, Rows, real

    if synthetic and adult is not None:
        raise InputError("--adult names the real rows and --synthetic asks for made-up ones; leave one of them out")
    if not synthetic and rows is not None:
        raise InputError("--rows says how many rows are made up, which only --synthetic asks for; leave it out")
    return Rows(None, ADULT if rows is None else rows) if synthetic else real(adult)


def _stopped(chosen: Sequence["Paper"], done: Sequence["Done"], out: Path) -> Stopped:
    """What is kept, and what was not finished."""
    finished = [one.paper.name for one in done]
    rest = [one.name for one in chosen if one.name not in finished]
    kept: Any = f"{', '.join(finished)} kept in {out}" if finished else "no paper was finished, so nothing is kept"
    return Stopped(f"stopped; {kept}; not finished: {', '.join(rest)}" if rest else f"stopped; {kept}")
