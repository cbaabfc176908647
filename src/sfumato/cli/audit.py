"""``sfumato audit``: answers to queries, and tables of them, that give no person away."""

import typer

from sfumato.cli.audit_table import table

app = typer.Typer(
    help="Answer queries about protected columns, unless the answers together would give a person away.",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


# Commands that stand in files of their own, one line each: app.command("table")(table)
app.command("table")(table)
