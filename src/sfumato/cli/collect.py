"""``sfumato collect``: answers that are perturbed before they are stored."""

import typer

from sfumato.cli.collect_plan import plan

app = typer.Typer(
    help="Collect answers that are perturbed before they leave a person, and recover distributions from them.",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


app.command("plan")(plan)
