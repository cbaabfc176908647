"""``sfumato compare``: one policy, several algorithms and parameters, and what each costs and leaves open."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import Infeasible, InputError, SfumatoError, Stopped, quote

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.compare import Comparison, RunFigures, RunOutcome


def compare(
    policy: Annotated[Path, typer.Argument(help="The policy file (TOML).")],
    algorithms: Annotated[
        str | None, typer.Option(help="Algorithms with commas; left out, all that the policy can be met with.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A key and the values to try, as k=2,5,10 or algorithm.suppression=0,0.02; several times."
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="The table, or a database URL, in place of the policy's [data] source.")
    ] = None,
    risk: Annotated[str, typer.Option(help="The risk that front and knee go by: highest or average.")] = "highest",
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for compare.html and compare.json, private; comparison, or comparison-2 and on."),
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write the policy of the chosen line to this file.")] = None,
    choose: Annotated[str, typer.Option(help="The line to write by its number, or knee.")] = "knee",
    done: Annotated[
        Path | None, typer.Option("--from", help="Choose from this comparison that was made before, and run nothing.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For tests and papers: makes random choices repeatable.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a comparison or a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run a policy with several algorithms and parameters; draw loss against risk and time, and name the knee."""
    from sfumato.cli.line_progress import line_progress
    from sfumato.compare import compare as run
    from sfumato.compare.comparison_folder import check_comparison_folder, read_line, save_comparison
    from sfumato.compare.policy_writer import check_policy_target, write_chosen_policy

    number = _line_number(choose)
    if write is not None:
        check_policy_target(write, policy, force=force)
    elif done is not None or number is not None:
        raise InputError("a line is chosen to be written; name the file with --write")
    if done is not None and write is not None:
        _check_nothing_varies(algorithms, settings, data, seed, risk != "highest", out)
        line, table = read_line(done, number, policy)
        write_chosen_policy(policy, line, write, data=table)
        _show_written(line, write, as_json=as_json)
        return
    out = _free_folder(force=force) if out is None else out
    check_comparison_folder(out, force=force)
    with line_progress("comparing", "lines", quiet=as_json) as watch:
        comparison = run(
            policy,
            data,
            algorithms=None if algorithms is None else [name.strip() for name in algorithms.split(",")],
            settings=_parse_settings(settings or []),
            seed=seed,
            risk=risk,
            watch=watch,
        )
    if not comparison.outcomes:
        raise Stopped("stopped before the first line was done; nothing was written")
    refusal = _refusal(comparison, out, write, number)
    save_comparison(comparison, out, policy, data)
    chosen = None
    if write is not None and refusal is None:
        line = comparison.line(number)
        write_chosen_policy(policy, line, write, data=data)
        chosen = (line, write)
    _show(comparison, out, chosen, as_json=as_json)
    if refusal is not None:
        raise refusal


def _line_number(choose: str) -> int | None:
    if choose == "knee":
        return None
    if not choose.isdecimal() or int(choose) < 1:
        raise InputError(f"--choose {quote(choose)} is no line; give its number, or knee")
    return int(choose)


def _check_nothing_varies(*given: object) -> None:
    """Refuse options that would change what was run already."""
    if any(option is not None and option is not False and option != [] for option in given):
        way = "leave --algorithms, --set, --data, --seed, --risk and --out out"
        raise InputError(f"--from runs nothing, so that nothing can be changed in it; {way}")


def _parse_settings(texts: list[str]) -> dict[str, Any]:
    from sfumato.compare.settings import parse_setting

    settings = [parse_setting(text) for text in texts]
    names = [name for name, _ in settings]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--set {name} stands twice; give all its values in one")
    return dict(settings)


def _free_folder(*, force: bool) -> Path:
    """Find a folder for a comparison that nobody has named: beside those that are there, since each took its time."""
    place, number = Path("comparison"), 1
    while place.exists() and not force:
        number += 1
        place = Path(f"comparison-{number}")
    return place


def _refusal(comparison: "Comparison", out: Path, write: Path | None, number: int | None) -> SfumatoError | None:
    """Say in the end what could not be done of what was asked for; what was done is kept."""
    if comparison.stopped:
        had = f"{len(comparison.outcomes)} of {comparison.planned} lines are in {out / 'compare.html'} and compare.json"
        return Stopped(f"stopped; {had}{', and no policy was written' if write else ''}")
    if not comparison.measured:
        return Infeasible(f"no line came to a release, the first because {comparison.outcomes[0].reason}")
    try:
        if write is not None:
            comparison.line(number)
    except InputError as error:
        way = f"choose a line with sfumato compare POLICY --from {out} --choose N --write {write}"
        return InputError(f"{write} was not written. {error}: {way}")
    return None


def _show(comparison: "Comparison", folder: Path, chosen: "tuple[RunOutcome, Path] | None", *, as_json: bool) -> None:
    """Print the lines, the front, where the page is, and which line was written where."""
    from sfumato.cli.printing import console_of, print_json

    if as_json:
        print_json({"comparison": str(folder), **comparison.as_json(), **(_chosen_json(*chosen) if chosen else {})})
        return
    console = console_of()
    console.print(_line_table(comparison))
    for reason, lines in comparison.failures.items():
        console.print(f"no release: {', '.join(map(str, lines))}: {reason}", soft_wrap=True)
    for sentence in (*(front.summary for front in comparison.fronts), *comparison.notes.values()):
        console.print(sentence, soft_wrap=True)
    console.print(f"open  {folder / 'compare.html'} (private: it tells of rows that are not published)", soft_wrap=True)
    if chosen is not None:
        _show_written(*chosen, as_json=False)


def _show_written(line: "RunOutcome", path: Path, *, as_json: bool) -> None:
    """Print which line was written, and where."""
    from sfumato.cli.printing import console_of, print_json

    if as_json:
        print_json(_chosen_json(line, path))
        return
    settings = ", ".join(part for part in (line.algorithm, line.settings_text) if part)
    console_of().print(f"wrote {path}: line {line.number} ({settings})", soft_wrap=True)


def _chosen_json(line: "RunOutcome", path: Path) -> dict[str, Any]:
    return {"chosen": {"line": line.number, "policy": str(path)}}


def _line_table(comparison: "Comparison") -> "Table":
    """List loss, risk and time of each line; front and knee are marked."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table

    from sfumato.cli.printing import name_column
    from sfumato.compare.comparison import setting_text

    split = any(line.figures and line.figures.tie_lost is not None for line in comparison.outcomes)
    names = list(comparison.outcomes[0].settings)
    figures = ("loss", "highest", "average", "out", "s")
    table = Table(
        "",
        name_column("algorithm", [line.algorithm for line in comparison.outcomes]),
        *[name_column(name, []) for name in names],
        *[Column(name, justify="right") for name in figures],
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    on_front = {line.number for front in comparison.fronts for line in front.lines}
    knees = {front.knee for front in comparison.fronts}
    for line in comparison.outcomes:
        mark = "◆" if line.number in knees else "•" if line.number in on_front else ""
        settings = map(setting_text, line.settings.values())
        table.add_row(f"{line.number}{mark}", line.algorithm, *settings, *_cells(line.figures))
    table.caption = f"loss: {'NCP, or the tie lost where two tables are published' if split else 'NCP'}; "
    table.caption += "highest and average prosecutor risk; rows left out; seconds; • front, ◆ knee"
    return table


def _cells(figures: "RunFigures | None") -> list[str]:
    if figures is None:
        return ["–"] * 5
    return [
        f"{figures.loss:.1%}",
        f"{figures.highest:.2%}",
        f"{figures.average:.2%}",
        f"{figures.suppressed:,}",
        f"{figures.total:.2f}",
    ]
