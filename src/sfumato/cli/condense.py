"""``sfumato condense``: a stream of rows as statistics of groups, and rows drawn from them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import Infeasible, InputError, NotVerified, OutputError, Stopped

if TYPE_CHECKING:
    from sfumato.condense.condensation_stream import CondensationStream, StreamFigures


def condense(
    stream: Annotated[
        str | None, typer.Argument(help="The rows: a file, or - for CSV on standard input.", metavar="STREAM")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="The folder that keeps the statistics of the groups, and no row.", metavar="DIR")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="Rows that a group has at least; at most 2k - 1.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="What the columns hold; left out, all are numbers.", metavar="POLICY")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Rows that are taken up at a time; 1000 if left out.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Draw rows into this file when the stream has ended.", metavar="FILE")
    ] = None,
    emit: Annotated[
        Path | None, typer.Option(help="Without a stream: draw rows of the state into this file.", metavar="FILE")
    ] = None,
    multiple: Annotated[int | None, typer.Option(help="Rows that are drawn for each; 1 if left out.")] = None,
    noise: Annotated[
        float | None, typer.Option(help="Noise besides, in standard deviations of a column; 0 if left out.")
    ] = None,
    at_rest: Annotated[
        bool, typer.Option("--at-rest", help="Begin the state with a whole table, grouped with all rows at hand.")
    ] = False,
    clustering: Annotated[
        str | None, typer.Option(help="How a table at rest is grouped: mdav (if left out), v-mdav or mondrian.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What the stream is called in the state; the file's name if left out.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Skip the rows of this stream that the state has already.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Count all rows of a stream that the state has already once more.")
    ] = False,
    acknowledge: Annotated[
        bool, typer.Option("--acknowledge", help="Print on standard error how many rows are kept, whenever more are.")
    ] = False,
    separator: Annotated[str | None, typer.Option(help="Between cells; found by itself if left out.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of drawn rows if it is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Condense a stream into groups of k to 2k - 1 rows, of which statistics alone are kept; draw rows from them."""
    from sfumato.condense.condensation_stream import BATCH, CondensationStream, figures_of, read_state
    from sfumato.page.wording import plural
    from sfumato.publish.drawn_rows_file import check_rows_target

    if state is None:
        raise InputError("say where the statistics are kept: --state DIR")
    target, option = (emit, "--emit") if stream is None else (out, "--out")
    _check_targets(stream, out, emit, as_json=as_json)
    following = {
        "resume": resume,
        "again": again,
        "acknowledge": acknowledge,
        "batch": batch is not None,
        "separator": separator is not None,
    }
    _check_options(
        stream,
        following,
        {"at-rest": at_rest, "clustering": clustering is not None},
        {"k": k is not None, "policy": policy is not None, "name": name is not None},
        {"multiple": multiple is not None, "noise": noise is not None, "force": force} if target is None else {},
    )
    if target is not None:
        check_rows_target(target, force=force, option=option)
        if str(target) != "-" and target.parent.resolve() == state.resolve():
            raise OutputError(f"a state holds nothing but itself; name a file outside of {state} for {option}")
    if stream is None:
        folder, found = read_state(state)
        drawn = None if emit is None else _draw(folder, found, emit, multiple, noise)
        _show(figures_of(found), state, drawn, emit, found.streams, as_json=as_json)
        return
    with CondensationStream(k, state=state, policy=policy) as opened:
        if at_rest:
            opened.start(stream, clustering=clustering or "mdav", name=name)
        else:
            _follow(
                opened,
                stream,
                state,
                batch=BATCH if batch is None else batch,
                name=name,
                resume=resume,
                again=again,
                separator=separator,
                acknowledge=_acknowledge if acknowledge else None,
            )
        figures = opened.figures()
        came = plural(figures.held, "row")
        if figures.held and out is not None:
            held = f"{came} came, and the first group has k = {opened.k:,}"
            raise Infeasible(f"{held}: nothing is kept, and nothing can be drawn; send more rows at once, or lower k")
        drawn = None if out is None else _draw(*read_state(state), out, multiple, noise)
        _show(figures, state, drawn, out, opened.streams, as_json=as_json)
        if figures.held:
            from sfumato.cli.printing import warn

            warn(
                f"{came} came, and the first group has k = {opened.k:,}: they were held in memory, and "
                "nothing is kept of them; send them again together with more"
            )


def _check_targets(stream: str | None, out: Path | None, emit: Path | None, *, as_json: bool) -> None:
    """Refuse a place for rows that says nothing."""
    if stream is None and out is not None:
        raise InputError("--out is for the end of a stream; name one, or draw from the state with --emit")
    if stream is not None and emit is not None:
        raise InputError("--emit draws from a state without a stream; write --out, or leave the stream out")
    if as_json and "-" in {str(out), str(emit)}:
        raise InputError("standard output cannot hold both rows and JSON; name a file, or leave --json out")


def _check_options(
    stream: str | None,
    following: Mapping[str, bool],
    resting: Mapping[str, bool],
    opening: Mapping[str, bool],
    drawing: Mapping[str, bool],
) -> None:
    """Refuse options that say nothing together: none is passed over.

    They are about a stream that is followed, about a table at rest, about both, and about rows that nobody draws; each
    says whether it was given.
    """
    idle = {**following, **resting, **opening} if stream is None else {}
    if given := [name for name, value in idle.items() if value]:
        raise InputError(f"--{given[0]} is about a stream, and there is none; name one")
    if resting["at-rest"] and (following["resume"] or following["again"]):
        raise InputError("--at-rest begins a new state, in which no stream is; leave --resume and --again out")
    if resting["at-rest"] and stream == "-":
        raise InputError("--at-rest takes all rows at once, from a file; save them in one, and name it")
    if resting["at-rest"] and (given := [name for name, value in following.items() if value]):
        raise InputError(f"--at-rest takes all rows at once, and --{given[0]} is about rows as they come; leave it out")
    if resting["clustering"] and not resting["at-rest"]:
        raise InputError("--clustering is about a table at rest; say --at-rest, or leave it out")
    if given := [name for name, value in drawing.items() if value]:
        option = "--emit" if stream is None else "--out"
        raise InputError(f"--{given[0]} is about drawn rows, and none are drawn; say where with {option}")


def _follow(opened: "CondensationStream", stream: str, state: Path, **options: Any) -> None:
    """Take up the rows of a stream until it ends, or until somebody stops it."""
    try:
        opened.follow(stream, **options)
    except KeyboardInterrupt:
        from sfumato.condense.stream_state import StateFolder

        kept = StateFolder(state).read()
        if kept is None:
            raise
        raise Stopped(f"stopped; the state has {kept.rows:,} rows; go on after them with --resume") from None


def _acknowledge(rows: int) -> None:
    print(f"kept {rows}", file=sys.stderr, flush=True)  # noqa: T201 - for the program that sends the rows


def _draw(folder: Any, found: Any, target: Path, multiple: int | None, noise: float | None) -> int:
    """Draw rows of a state into a file, which gets its name when the verifier has passed it; gives how many."""
    from sfumato.condense.condensation_stream import draw_with_statement
    from sfumato.publish.drawn_rows_file import is_parquet, write_drawn_rows
    from sfumato.verifier.emitted_rows import EmittedStatement, verify_emitted_rows

    parquet = is_parquet(target)
    table, said = draw_with_statement(folder, found, multiple, noise, text=not parquet)

    def check(stage: Path) -> None:
        verdict = verify_emitted_rows(stage, EmittedStatement(**said), parquet=parquet)
        if not verdict.satisfied:
            why = "; ".join(verdict.complaints)
            raise NotVerified(f"the verifier does not pass the drawn rows, so nothing was written: {why}")

    write_drawn_rows(table, target, check, waiting=folder.waiting_rows)
    return int(table.num_rows)


def _show(
    figures: "StreamFigures", state: Path, drawn: int | None, target: Path | None, streams: Any, *, as_json: bool
) -> None:
    from sfumato.cli.printing import console_of, print_json

    if as_json:
        print_json(figures.as_json() | ({} if drawn is None else {"drawn": drawn, "out": str(target)}))
        return
    if str(target) == "-":
        return
    console = console_of()
    if figures.groups:
        sizes = f"{figures.smallest:,} to {figures.largest:,}"
        console.print(
            f"{figures.rows:,} rows in {figures.groups:,} groups of {sizes}; their statistics are in {state}",
            soft_wrap=True,
        )
    for name, taken in streams.items():
        how = "all of them" if taken.finished else "and it had not ended"
        console.print(f"  {taken.rows:,} rows of {name}, {how}", soft_wrap=True, markup=False)
    if drawn is not None:
        console.print(f"{drawn:,} rows drawn into {target}", soft_wrap=True, markup=False)
