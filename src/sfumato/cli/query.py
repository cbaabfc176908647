"""``sfumato query``: count, sum and average over a release."""

from pathlib import Path
from typing import Annotated

import typer


def query(
    release: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="RELEASE")],
    text: Annotated[str, typer.Argument(help="The query: SQL without FROM.", metavar="QUERY")],
    estimate: Annotated[str, typer.Option(help="expected, with standard errors; or paper.")] = "expected",
    explain: Annotated[bool, typer.Option("--explain", help="Print the SQL that runs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Answer a query from a release: COUNT, SUM and AVG with WHERE and GROUP BY."""
    from sfumato.cli.answers import show_answers
    from sfumato.queries import query as ask

    show_answers(ask(release, text, estimate=estimate), explain=explain, as_json=as_json)
