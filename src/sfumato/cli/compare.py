"""``sfumato compare``: one policy, several algorithms and parameters, and what each costs and leaves open."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import Infeasible, InputError, SfumatoError, Stopped

if TYPE_CHECKING:
    from sfumato.compare import Comparison


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
    data: Annotated[Path | None, typer.Option(help="The table, in place of the policy's [data] source.")] = None,
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
    from sfumato.cli.watching import watching
    from sfumato.compare import compare as run
    from sfumato.compare.chosen import check_written
    from sfumato.compare.saved import check_out
    from sfumato.compare.settings import parsed

    number = _number(choose)
    if write is not None:
        check_written(write, policy, force=force)
    elif done is not None or number is not None:
        raise InputError("a line is chosen to be written; name the file with --write")
    if done is not None:
        _check_alone(algorithms, settings, data, seed, risk != "highest", out)
        _write_earlier(done, number, policy, write or Path(), as_json=as_json)
        return
    out = _free(force=force) if out is None else out
    check_out(out, force=force)
    with watching("comparing", "lines", quiet=as_json) as watch:
        found = run(
            policy,
            data,
            algorithms=None if algorithms is None else [name.strip() for name in algorithms.split(",")],
            settings=_settings([parsed(text) for text in settings or []]),
            seed=seed,
            risk=risk,
            watch=watch,
        )
    if not found.outcomes:
        raise Stopped("stopped before the first line was done; nothing was written")
    refusal = _refusal(found, out, write, number)
    _keep(found, out, policy, data, None if refusal else write, number, as_json=as_json)
    if refusal is not None:
        raise refusal


def _write_earlier(done: Path, number: int | None, policy: Path, write: Path, *, as_json: bool) -> None:
    """Write the policy of a line of a comparison that was made before."""
    from sfumato.cli.compared import show_written
    from sfumato.compare.chosen import write_chosen
    from sfumato.compare.saved import line_of

    kept, table = line_of(done, number, policy)
    write_chosen(policy, kept, write, data=table)
    show_written(kept, write, as_json=as_json)


def _keep(
    found: "Comparison",
    out: Path,
    policy: Path,
    data: Path | None,
    write: Path | None,
    number: int | None,
    *,
    as_json: bool,
) -> None:
    """Keep page and figures, write the chosen policy where one is asked for, and show the lines."""
    from sfumato.cli.compared import show_comparison
    from sfumato.compare.chosen import write_chosen
    from sfumato.compare.saved import save

    save(found, out, policy, data)
    line = None if write is None else found.line(number)
    if line is not None and write is not None:
        write_chosen(policy, line, write, data=data)
    show_comparison(found, out, write, line, as_json=as_json)


def _free(*, force: bool) -> Path:
    """Where a comparison goes that nobody has named: beside those that are there, since each took its time."""
    place, number = Path("comparison"), 1
    while place.exists() and not force:
        number += 1
        place = Path(f"comparison-{number}")
    return place


def _refusal(found: "Comparison", out: Path, write: Path | None, number: int | None) -> SfumatoError | None:
    """What is to be said in the end where not all that was asked for could be done; what was done is kept."""
    if found.stopped:
        had = f"{len(found.outcomes)} of {found.planned} lines are in {out / 'compare.html'} and compare.json"
        return Stopped(f"stopped; {had}{', and no policy was written' if write else ''}")
    if not found.measured:
        return Infeasible(f"no line came to a release, the first because {found.outcomes[0].reason}")
    try:
        if write is not None:
            found.line(number)
    except InputError as error:
        way = f"choose a line with sfumato compare POLICY --from {out} --choose N --write {write}"
        return InputError(f"{write} was not written. {error}: {way}")
    return None


def _check_alone(*given: object) -> None:
    """Refuse what would change what was run already."""
    if any(each is not None and each is not False and each != [] for each in given):
        way = "leave --algorithms, --set, --data, --seed, --risk and --out out"
        raise InputError(f"--from runs nothing, so that nothing can be changed in it; {way}")


def _number(choose: str) -> int | None:
    if choose == "knee":
        return None
    if not choose.isdecimal() or int(choose) < 1:
        raise InputError(f"--choose {choose!r} is no line; give its number, or knee")
    return int(choose)


def _settings(given: list[tuple[str, tuple[object, ...]]]) -> dict[str, Any]:
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--set {name} stands twice; give all its values in one")
    return dict(given)
