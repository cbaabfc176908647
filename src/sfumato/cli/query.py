"""``sfumato query``: count, sum and average over a release; a line per group, each figure with its standard error."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import quote

if TYPE_CHECKING:
    from sfumato.queries import Answers

_MEANINGS = {
    "expected": (
        "expected values ± one standard error; on most real tables two of them hold the truth nine times in ten"
    ),
    "paper": "the paper's estimate, where every line counts that may be meant",
}
_OF_DRAWN_ROWS = (
    "sums over drawn rows ± the standard error of a sample of as many rows as the original had; "
    "what groups of at least k rows smooth away is not in it"
)


def query(
    release: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="RELEASE")],
    text: Annotated[str, typer.Argument(help="The query: SQL without FROM.", metavar="QUERY")],
    estimate: Annotated[str, typer.Option(help="expected, with standard errors; or paper.")] = "expected",
    rows: Annotated[
        bool, typer.Option("--rows", help="Count rows, where the release has sampling weights, and not people.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print the SQL that runs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Answer a query from a release: COUNT, SUM and AVG with WHERE and GROUP BY."""
    from sfumato.cli.printing import print_json
    from sfumato.queries import query as answer_query

    answers = answer_query(release, text, estimate=estimate, weighted=not rows)
    if as_json:
        print_json(answers.as_json(explain=explain))
    else:
        _print_answers(answers, explain=explain)


def _print_answers(answers: "Answers", *, explain: bool) -> None:
    """Print a table for people, after the SQL where it is asked for."""
    from rich.table import Column, Table

    from sfumato.cli.printing import console_of, name_column
    from sfumato.queries.answers import format_estimate

    console = console_of()
    if explain:
        console.print(answers.sql, soft_wrap=True)
    if not answers:
        console.print("no group has a row that can meet the conditions", soft_wrap=True)
        return
    figures = [Column(name, justify="right") for name in answers[0].values]
    width = max(console.width // (len(answers.columns) + len(figures)) - 4, 8)
    table = Table(*(name_column(name, [], min(width, 32)) for name in answers.columns), *figures)
    for answer in answers:
        group = ["NULL" if value is None else str(value) for value in answer.group.values()]
        table.add_row(*group, *map(format_estimate, answer.values.values()))
    console.print(table)
    drawn = answers.form == "synthetic"
    console.print(_OF_DRAWN_ROWS if drawn else _MEANINGS[answers.estimate], soft_wrap=True)
    if not drawn and any(
        (one.standard_error or 0) > abs(one.estimate or 0) for answer in answers for one in answer.values.values()
    ):
        console.print("an error above its figure: the labels are too coarse to tell", soft_wrap=True)
    for sentence in (*answers.masked, *answers.aggregated, *answers.lumps):
        console.print(sentence, soft_wrap=True)
    if answers.weighted_by is not None:
        by = f"rows count by their sampling weights in {quote(answers.weighted_by)}; the error of sampling is not in ±"
        console.print(by, soft_wrap=True)
