"""``sfumato init``: a table in, a commented policy out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.profile import Proposal


def init(
    data: Annotated[str, typer.Argument(help="The table: a file, a folder, a pattern, or a database URL.")],
    out: Annotated[
        Path, typer.Option(help="The policy file to write; its hierarchies go into a folder beside it.")
    ] = Path("policy.toml"),
    preset: Annotated[
        str | None,
        typer.Option(help="Roles and thresholds after hipaa-safe-harbor, ema-0070, cms, statistics-office or gdpr."),
    ] = None,
    query: Annotated[str | None, typer.Option(help="What to read of a database: a SELECT.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of a database to read, in place of a query.")] = None,
    sheet: Annotated[str | None, typer.Option(help="The sheet of a workbook to read: the first if left out.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a policy that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Look at a table and write a commented policy to start from."""
    from sfumato.cli.printing import print_json, warn
    from sfumato.policy.database_url import find_place
    from sfumato.profile import propose, write
    from sfumato.profile.write_proposal import check_destination

    place = find_place(data)
    check_destination(out, force=force, source=place if isinstance(place, Path) else None)
    options = {"query": query, "table": table, "sheet": sheet}
    proposal = propose(
        data, preset, policy=out, chosen={key: text for key, text in options.items() if text is not None}
    )
    files = write(proposal, out, force=force)
    if as_json:
        print_json({"policy": str(out), "files": [str(file) for file in files[1:]], **proposal.as_json()})
    else:
        _show(proposal, files)
    for sentence in proposal.draft.profile.table.warnings:
        warn(sentence)


_MOST_PROMISES, _SHOWN_PROMISES = 20, 8
"""Of more requirements than that, so many are printed: the policy has them all."""


def _show(proposal: "Proposal", files: list[Path]) -> None:
    """Print the profile, what was written, and what to do next."""
    import shlex

    from sfumato.cli.printing import console_of
    from sfumato.page.wording import percent, plural

    console, draft = console_of(), proposal.draft
    console.print(_column_table(proposal))
    quasi = sum(column.entry["role"] == "quasi" for column in draft.columns)
    share = percent(draft.unique / draft.profile.rows)
    rows = plural(draft.profile.rows, "row")
    console.print(f"{rows}; {plural(quasi, 'quasi-identifier')} single out {share} of them as they are")
    shown = draft.requirements if len(draft.requirements) <= _MOST_PROMISES else draft.requirements[:_SHOWN_PROMISES]
    for entry in shown:
        keys = ", ".join(f"{key} = {value}" for key, value in entry.content.items() if key != "model")
        console.print(f"promise  {entry.content['model']} ({keys})", soft_wrap=True)
    if left := len(draft.requirements) - len(shown):
        console.print(f"         and {left} more, one for each sensitive column", soft_wrap=True)
    beside = f" and {plural(len(files) - 1, 'hierarchy', 'hierarchies')} beside it" if len(files) > 1 else ""
    console.print(f"wrote    {files[0]}{beside}", soft_wrap=True)
    console.print(f"look at  {plural(proposal.decisions, 'decision')} marked 'check:' in it", soft_wrap=True)
    for sentence in draft.sentences():
        console.print(f"         {sentence}", soft_wrap=True, markup=False)
    console.print(f"next     sfumato anonymize {shlex.quote(str(files[0]))}", soft_wrap=True)


def _column_table(proposal: "Proposal") -> "Table":
    from rich.table import Table

    from sfumato.cli.printing import break_name, printable

    table = Table("column", "type", "values", "missing", "role", "why")
    table.columns[2].justify = table.columns[3].justify = "right"
    table.columns[0].overflow = table.columns[5].overflow = "fold"
    table.columns[0].max_width = 22
    for column in proposal.draft.columns:
        values, mark = column.facts.values, f" ({column.caution.grade})" if column.caution else ""
        cells = (str(column.facts.kind), f"{values.distinct:,}", f"{values.missing:,}", column.entry["role"])
        table.add_row(break_name(printable(column.facts.name), 22), *cells, column.guess.reason + mark)
    return table
