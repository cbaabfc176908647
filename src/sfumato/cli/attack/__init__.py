"""``sfumato attack``: what an adversary can do with releases, tried out; one attack per file."""

import typer

from sfumato.cli.attack import definetti, homogeneity, intersect, known, link, minimality

app = typer.Typer(
    help="Try an attack on a release, as an adversary would, and count what it gets right.", rich_markup_mode=None
)


@app.callback(invoke_without_command=True)
def _attacks(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


app.command("definetti")(definetti.definetti)
app.command("intersect")(intersect.intersect)
app.command("link")(link.link)
app.command("known")(known.known)
app.command("homogeneity")(homogeneity.homogeneity)
app.command("skewness")(homogeneity.skewness)
app.command("minimality")(minimality.minimality)
