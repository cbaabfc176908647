"""``sfumato collect``: answers that are perturbed before they are stored, and what can be recovered of them."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.collect_plan import plan
from sfumato.cli.collect_serve import serve
from sfumato.errors import InputError

app = typer.Typer(
    help="Perturb answers before they leave a person, and recover distributions, never answers.",
    rich_markup_mode=None,
)

_Noise = Annotated[Path, typer.Option("--noise", help="The published noise of the collection.", metavar="noise.json")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


@app.command("perturb")
def perturb(
    data: Annotated[str, typer.Argument(help="The table, or - for CSV on standard input.", metavar="DATA")],
    noise: _Noise,
    out: Annotated[Path, typer.Option("--out", help="The CSV file to write, or - for standard output.")],
    separator: Annotated[str | None, typer.Option(help="Between cells; found by itself if left out.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="For tests: the same noise each time, which protects nobody.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    as_json: _Json = False,
) -> None:
    """Perturb every row as the noise says, one after the other, however many there are."""
    from sfumato.cli.printing import console_of, print_json, warn
    from sfumato.collect.noise import Noise
    from sfumato.collect.perturbation import perturb_stream

    known = Noise.load(noise)
    if str(out) == "-" and as_json:
        raise InputError(
            "standard output cannot hold both the rows and JSON; name a file for --out, or leave --json out"
        )
    if str(out) != "-":
        from sfumato.core.regular_file import check_new_file

        check_new_file(out, "--out", force=force)
    if seed is not None:
        warn(
            "with a seed the noise can be taken away again by anybody who knows it; leave it out where answers are real"
        )
    rows = perturb_stream(data, known, out, seed=seed, separator=separator)
    if as_json:
        print_json({"rows": rows, "out": str(out)})
    elif str(out) != "-":
        console_of().print(f"{rows:,} rows perturbed into {out}", soft_wrap=True)


@app.command("reconstruct")
def reconstruct(
    file: Annotated[Path, typer.Argument(help="The perturbed rows.", metavar="FILE")],
    noise: _Noise,
    column: Annotated[str, typer.Option(help="The column to recover.")],
    bins: Annotated[int, typer.Option(help="Into how many intervals the domain of numbers is cut.")] = 60,
    by: Annotated[
        str | None, typer.Option(help="A column of classes, perturbed or not: one distribution each.")
    ] = None,
    by_bins: Annotated[int, typer.Option(help="Into how many intervals numbers of --by are cut.")] = 5,
    method: Annotated[
        str | None, typer.Option(help="bayes (default for numbers), em (for categories), deconvolution or inversion.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option(help="What ends bayes: held-out (default), converged, mean-change or chi-square.")
    ] = None,
    limit: Annotated[float, typer.Option(help="The limit of mean-change and chi-square.")] = 0.01,
    iterations: Annotated[int | None, typer.Option(help="So many steps of bayes or em, and no more.")] = None,
    weights: Annotated[str | None, typer.Option(help="A column of sampling weights.")] = None,
    as_json: _Json = False,
) -> None:
    """Recover the distribution of a column from perturbed rows."""
    from sfumato.cli.printing import console_of, print_json, warn
    from sfumato.collect.noise_filter import filter_warnings
    from sfumato.collect.reconstruction import reconstruct as recover

    found = recover(
        file,
        noise,
        column,
        bins=bins,
        by=by,
        by_bins=by_bins,
        method=method,
        stop=stop,
        limit=limit,
        iterations=iterations,
        weights=weights,
    )
    warnings = filter_warnings(file, noise)
    if as_json:
        print_json(found.as_json() | {"warnings": list(warnings)})
    else:
        console_of().print(str(found), soft_wrap=True)
    for sentence in warnings:
        warn(sentence)


app.command("plan")(plan)
app.command("serve")(serve)
