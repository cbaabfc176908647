"""``sfumato collect``: answers that are perturbed before they are stored, and what can be told from them."""

import typer

from sfumato.cli.collect_serve import serve

app = typer.Typer(
    help="Collect answers that are perturbed before they leave a person, and recover distributions from them.",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


app.command("serve")(serve)
