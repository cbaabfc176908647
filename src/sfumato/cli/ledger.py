"""``sfumato ledger``: what was published, kept in one place."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.ledger import Entry, LedgerCheck

app = typer.Typer(
    help="Record each release with its policy, so that the next one can take account of all before it.",
    rich_markup_mode=None,
)

_Folder = Annotated[Path, typer.Argument(help="The folder of the ledger.", metavar="DIR")]
_Population = Annotated[str | None, typer.Option(help="Whom the release is about: a line of text.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


@app.command("init")
def init(folder: _Folder, as_json: _Json = False) -> None:
    """Begin a ledger in a new folder, for its owner alone."""
    from sfumato.ledger import Ledger

    Ledger.create(folder)
    _print({"ledger": str(folder)}, f"{folder} is a ledger now; record releases with sfumato ledger add", as_json)


@app.command("add")
def add(
    folder: _Folder,
    release: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="RELEASE")],
    name: Annotated[
        str | None, typer.Option(help="What later policies call it; its folder's name if left out.")
    ] = None,
    population: _Population = None,
    previous: Annotated[
        list[str] | None, typer.Option(help="NAME=FILE: the table of an earlier release in its promise.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Verify a release and record it, with copies of its public files and its policy."""
    from sfumato.cli.printing import warn
    from sfumato.ledger import Ledger

    entry = Ledger.open(folder).add(release, name=name, population=population, previous=_parse_files(previous or []))
    sentence = f"{entry.title}, of the population '{entry.population}', is recorded: {entry.rows:,} rows"
    _print({"ledger": str(folder)} | entry.as_json(), sentence, as_json)
    if entry.policy is None:
        warn(f"{release} has no private part, so the ledger does not know the policy of this release")


@app.command("list")
def list_(folder: _Folder, population: _Population = None, as_json: _Json = False) -> None:
    """List the releases, of one population or of all."""
    from sfumato.ledger import Ledger

    entries = Ledger.open(folder).entries(population)
    if as_json:
        _print({"ledger": str(folder), "entries": [entry.as_json() for entry in entries]}, "", as_json)
    else:
        _show_entries(entries)


@app.command("check")
def check(folder: _Folder, population: _Population = None, as_json: _Json = False) -> None:
    """Check the chain, every copy and every promise; exit 0 if all is well, 1 if it is not."""
    from sfumato.ledger import Ledger

    result = Ledger.open(folder).check(population)
    if as_json:
        _print(result.as_json(), "", as_json)
    else:
        _show_check(result)
    raise typer.Exit(0 if result.sound else 1)


def _parse_files(given: list[str]) -> dict[str, Path]:
    """Read the files of earlier releases by name."""
    parts = [text.partition("=") for text in given]
    for text, (name, _, file) in zip(given, parts, strict=True):
        if not name or not file:
            raise InputError(f"--previous {text} does not say which file is whose; write --previous NAME=FILE")
    return {name: Path(file) for name, _, file in parts}


def _print(content: dict[str, Any], sentence: str, as_json: bool) -> None:
    from sfumato.cli.printing import console_of, print_json

    if as_json:
        print_json(content)
    else:
        console_of().print(sentence, soft_wrap=True)


def _show_entries(entries: "tuple[Entry, ...]") -> None:
    from rich.table import Column, Table

    from sfumato.cli.printing import console_of

    if not entries:
        console_of().print("no release is recorded")
        return
    number, rows = (Column(title, justify="right") for title in ("number", "rows"))
    name, population, promise = (Column(title, overflow="fold") for title in ("name", "population", "promise"))
    table = Table(number, name, population, "recorded (UTC)", rows, promise, "state")
    for entry in entries:
        recorded = entry.recorded[:19].replace("T", " ")
        promised = "\n".join(map(_requirement_text, entry.promise))
        figures = (recorded, f"{entry.rows:,}", promised, entry.state)
        table.add_row(str(entry.number), entry.name, entry.population, *figures)
    console_of().print(table)
    if any(entry.unfinished for entry in entries):
        console_of().print("publishing: counts as published; sfumato ledger check tells how to finish it")


def _requirement_text(rule: Any) -> str:
    """Write a requirement as its name and its figures.

    >>> _requirement_text({"model": "alpha-k-anonymity", "k": 5, "alpha": 0.5, "column": "illness", "refined": False})
    'alpha-k-anonymity k = 5, alpha = 0.5'
    """
    figures = {key: value for key, value in rule.items() if type(value) in {int, float}}
    return " ".join([rule["model"], ", ".join(f"{key} = {value}" for key, value in figures.items())]).rstrip()


def _show_check(result: "LedgerCheck") -> None:
    from sfumato.cli.printing import console_of

    console = console_of()
    for problem in result.problems:
        console.print(f"✗ {problem}", style="red", soft_wrap=True)
    word = "the ledger is sound" if result.sound else "the ledger is not sound"
    console.print(f"releases checked: {result.entries:,}; {word}; its last hash is {result.head}", soft_wrap=True)
