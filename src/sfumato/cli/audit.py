"""``sfumato audit``: answers to queries, and tables of them, that give no person away."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.audit_serve import serve
from sfumato.cli.audit_table import table as publish_table
from sfumato.core.listed_names import split_names
from sfumato.errors import InputError, quote

if TYPE_CHECKING:
    from sfumato.auditor.query_ledger import AuditAnswer, QueryLedger

app = typer.Typer(
    help="Answer queries, and publish cross-tables, that give nobody away.",
    rich_markup_mode=None,
)

_Ledger = Annotated[Path, typer.Argument(help="The ledger that audit init made.", metavar="LEDGER")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


@app.command("init")
def init(
    data: Annotated[str, typer.Argument(help="The table: a file, a folder, a pattern, or a database URL.")],
    protect: Annotated[str, typer.Option(help="The columns that nobody may learn of a person: pay,illness.")],
    on: Annotated[str, typer.Option(help="The columns that conditions and groups may be about: age,dept.")],
    ledger: Annotated[Path, typer.Option(help="The ledger to make, one file.")],
    interval: Annotated[
        float | None, typer.Option(help="No protected value may be confined to an interval narrower than this.")
    ] = None,
    min_size: Annotated[
        int | None, typer.Option(help="Least rows of an answered set, and of a difference of two.", min=1)
    ] = None,
    max_overlap: Annotated[
        int | None, typer.Option(help="Most rows that two answered sets may have in common.", min=0)
    ] = None,
    alike: Annotated[
        int | None, typer.Option(help="Least rows that all answers together leave alike, whatever is asked.", min=2)
    ] = None,
    figures: Annotated[
        str, typer.Option(help="Which figures are answered at all: a maximum costs sums of the same rows.")
    ] = "sum,max,min",
    bounds: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=LOW..HIGH: values that readers know to be bounded, such as pay=0.. (repeatable)."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="A column that says who it is, to go on answering when the table is updated.")
    ] = None,
    query: Annotated[str | None, typer.Option(help="What to read of a database: a SELECT.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of a database to read, in place of a query.")] = None,
    sheet: Annotated[str | None, typer.Option(help="The sheet of a workbook to read: the first if left out.")] = None,
    separator: Annotated[str | None, typer.Option(help="Between cells of a CSV; found by itself if left out.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of a CSV that is not UTF-8, such as latin-1.")] = None,
    as_json: _Json = False,
) -> None:
    """Begin a ledger about a table, from which queries are answered."""
    from sfumato.auditor.query_ledger import AuditSettings, QueryLedger
    from sfumato.cli.printing import console_of, print_json, warn

    if interval is not None and not 0 < interval < float("inf"):
        raise InputError("--interval must be a number above 0; name the width that protects a value")
    kinds = _names(figures, "--figures")
    unknown = [kind for kind in kinds if kind not in {"sum", "max", "min"}]
    if unknown:
        raise InputError(f"--figures knows sum, max and min, and not {quote(unknown[0])}; name some of these")
    given = {"query": query, "table": table, "sheet": sheet, "separator": separator, "encoding": encoding}
    settings = AuditSettings(
        _names(protect, "--protect"),
        _names(on, "--on"),
        bounds=dict(_read_bounds(one, _names(protect, "--protect")) for one in bounds or []),
        interval=interval,
        min_size=min_size,
        max_overlap=max_overlap,
        alike=alike,
        figures=kinds,
        key=key,
        options={name: value for name, value in given.items() if value is not None},
        name=table or (Path(data).name.split(".")[0] if "://" not in data else "data"),
    )
    made = QueryLedger.create(ledger, data, settings)
    try:
        said, warnings = _describe(made), _warnings(made)
    finally:
        made.close()
    if as_json:
        print_json({"ledger": str(ledger), "warnings": warnings} | said)
    else:
        rows, cells = said["rows"], said["cells"]
        console = console_of()
        console.print(f"{ledger} answers for {rows:,} rows in {cells:,} cells of {', '.join(settings.conditions)}")
        for one in said["protected"]:
            sizes = f"groups of at least {one['min_size']} rows"
            known = f", with the bounds {one['bounds']}" if one["bounds"] else ""
            console.print(f"protected: {one['column']}{known}; {sizes}", soft_wrap=True)
        if key is None:
            said_of_updates = (
                "no --key: an update of the table will end the answers about columns that were asked about"
            )
            console.print(said_of_updates, soft_wrap=True)
    for sentence in warnings:
        warn(sentence)


@app.command("ask")
def ask(
    ledger: _Ledger,
    sql: Annotated[str, typer.Argument(help="A SELECT of count, sum, avg, max and min.", metavar="SQL")],
    user: Annotated[str, typer.Option(help="Who asks, for the history.")] = "",
    as_json: _Json = False,
) -> None:
    """Answer a query, or say why it is not answered; the exit code is 1 then."""
    from sfumato.auditor.query_ledger import QueryLedger
    from sfumato.cli.printing import print_json

    opened = QueryLedger(ledger)
    try:
        answer = opened.ask(sql, user)
    finally:
        opened.close()
    if as_json:
        print_json(answer.as_json())
    else:
        _print_answer(answer)
    if not answer.answered:
        raise typer.Exit(1)


@app.command("history")
def history(
    ledger: _Ledger,
    user: Annotated[str | None, typer.Option(help="What this user asked alone.")] = None,
    last: Annotated[int | None, typer.Option(help="The last so many alone.", min=1)] = None,
    as_json: _Json = False,
) -> None:
    """List what was asked and what was said, of all users, oldest first."""
    from rich.table import Table

    from sfumato.auditor.query_ledger import QueryLedger
    from sfumato.cli.printing import console_of, print_json, printable

    opened = QueryLedger(ledger)
    try:
        entries = opened.history(user, last)
    finally:
        opened.close()
    if as_json:
        print_json({"ledger": str(ledger), "entries": entries})
        return
    shown = Table("", "when", "who", "asked", "said")
    for one in entries:
        said = one["outcome"] if one["outcome"] == "answered" else f"{one['outcome']}: {one['reason']}"
        # what users wrote: no statement is to hide, or to look like another one
        wrote = [printable(text) for text in (one["user"], " ".join(one["sql"].split()), said)]
        shown.add_row(str(one["sequence"]), one["time"].replace("T", " ")[:16], *wrote)
    console_of().print(shown if entries else "nothing was asked so far")


@app.command("update")
def update(
    ledger: _Ledger,
    data: Annotated[str, typer.Option(help="The table as it is now: a file or a database URL.")],
    as_json: _Json = False,
) -> None:
    """Go on with a new version of the table; all earlier answers still count."""
    from sfumato.auditor.query_ledger import QueryLedger
    from sfumato.cli.printing import console_of, print_json, warn
    from sfumato.errors import listing

    opened = QueryLedger(ledger)
    try:
        change = opened.update(data)
        closed = opened.closed_columns()
    finally:
        opened.close()
    if closed:
        warn(
            f"this ledger has no key, so that nobody can tell who is who in the new table: of {listing(closed)}, which "
            "was answered about before, nothing more is answered; begin ledgers of tables that change with --key"
        )
    for name, rows in change.changed.items():
        if 2 * rows > change.known:
            warn(
                f"of {change.known:,} rows that were there before, {rows:,} have another value of {quote(name)}; each "
                "counts as new, so if only the way of writing changed, write them as before and update again before "
                "anybody asks"
            )
    if as_json:
        found = {"stayed": change.stayed, "left": change.left, "came": change.came, "cells": change.table.cells}
        print_json({"ledger": str(ledger)} | found)
        return
    said = f"{change.stayed:,} rows stayed, {change.left:,} left, {change.came:,} came"
    console_of().print(f"{said}; there are {change.table.cells:,} cells now", soft_wrap=True)


def _names(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name for name in split_names(text) if name)
    if not names:
        raise InputError(f"{option} names no column; name one, or several with commas")
    return names


def _read_bounds(text: str, protected: tuple[str, ...]) -> tuple[str, tuple[str | None, str | None]]:
    from sfumato.auditor.audited_table import exact_number
    from sfumato.core.numbers import read_decimal

    column, _, spread = text.rpartition("=")
    low, dots, high = (part.strip() for part in spread.partition(".."))
    ends = [end for end in (low, high) if end]
    if not column or not dots or not ends or any(read_decimal(end) is None for end in ends):
        raise InputError(f"--bounds {quote(text)} is not written as COLUMN=LOW..HIGH; write pay=0.. or share=0..1")
    if column not in protected:
        raise InputError(
            f"--bounds is of a protected column, and {quote(column)} is not in --protect; name one that is"
        )
    if low and high and exact_number(low) >= exact_number(high):
        raise InputError(f"--bounds {quote(text)} has the higher bound first; write the lower one first")
    return column, (low or None, high or None)


def _describe(ledger: "QueryLedger") -> dict[str, Any]:
    """Say what a new ledger answers for."""
    protected = []
    for name in ledger.settings.protected:
        rules, bounds = ledger.settings.rules(name), ledger.settings.bounds.get(name)
        shown = None if bounds is None else f"{bounds[0] or ''}..{bounds[1] or ''}"
        protected.append({"column": name, "bounds": shown, "min_size": rules.least_size})
    return {"rows": int(ledger.table.rows.sum()), "cells": ledger.table.cells, "protected": protected}


def _warnings(ledger: "QueryLedger") -> list[str]:
    """Say what whoever begins a ledger may not have thought of."""
    from sfumato.auditor.audited_table import columns_that_follow
    from sfumato.core.numbers import read_decimal
    from sfumato.page.wording import plural

    said = [
        f"the values of {quote(one)} follow from those of {quote(other)}, or nearly, and each column is audited by "
        "itself: answers about one and about the other may together give a value away, so protect one of the two alone"
        for one, other in columns_that_follow(ledger.table)
    ]
    for name, values in ledger.table.protected.items():
        missing = int(ledger.table.rows.sum() - values.count.sum())
        if missing:
            said.append(
                f"column {quote(name)} has {plural(missing, 'missing value')}, and where is taken as known; where it "
                "is not, fill them in first"
            )
        numbers = sum(read_decimal(text) is not None for text in values.values)
        if numbers and not values.is_number:
            said.append(
                f"column {quote(name)} holds texts besides numbers, so that it is counted by value, and has no sums; "
                "correct these cells, and begin anew, where it should"
            )
        bounded = name in ledger.settings.bounds
        if not bounded and values.lowest is not None and int(values.lowest[values.count > 0].min()) >= 0:
            said.append(
                f"no value of {quote(name)} is below 0: where readers know that of all values, a low sum tells much, "
                f"so declare it with --bounds {name}=0.. and small groups are not answered"
            )
    return said


def _print_answer(answer: "AuditAnswer") -> None:
    from rich.table import Column, Table

    from sfumato.cli.printing import console_of, printable

    console = console_of()
    if not answer.answered:
        console.print(printable(f"{answer.outcome}: {answer.reason}"), soft_wrap=True)
        return
    table = Table(*(Column(printable(name), justify="right") for name in answer.columns))
    for row in answer.rows:
        table.add_row(*("NULL" if cell is None else printable(str(cell)) for cell in row))
    console.print(table)


app.command("serve")(serve)
app.command("table")(publish_table)
