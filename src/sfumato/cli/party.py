"""``sfumato party``: several holders of data work something out together, and nobody shows their rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError, quote

if TYPE_CHECKING:
    from sfumato.party.party_run import PartyResult

app = typer.Typer(
    help="Work something out with other holders of data, without showing rows.",
    rich_markup_mode=None,
)

_Consortium = Annotated[
    Path, typer.Argument(help="Who takes part and what is worked out; the same file at all.", metavar="consortium.toml")
]
_Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


@app.command("keys")
def keys(
    name: Annotated[str, typer.Option(help="The name of this party in the consortium file.")],
    out: Annotated[Path, typer.Option(help="The folder for NAME.key and NAME.pem.")],
    days: Annotated[int, typer.Option(help="How long the certificate is good.")] = 730,
    as_json: _Json = False,
) -> None:
    """Make the key of a party, which it keeps, and the certificate, which the others pin."""
    from sfumato.cli.printing import console_of, print_json
    from sfumato.party.party_keys import make_party_keys
    from sfumato.publish.signing_key import PASSPHRASE_VARIABLE

    made = make_party_keys(name, out, days=days)
    if as_json:
        content = {"key": str(made.private), "certificate": str(made.certificate), "fingerprint": made.fingerprint}
        print_json(content | {"valid_until": f"{made.ends:%Y-%m-%d}", "encrypted": made.encrypted})
        return
    locked = f"encrypted under {PASSPHRASE_VARIABLE}" if made.encrypted else "not encrypted"
    console = console_of()
    console.print(f"keep         {made.private} ({locked}): whoever has it speaks in your name", soft_wrap=True)
    console.print(f"give away    {made.certificate}, good until {made.ends:%Y-%m-%d}", soft_wrap=True)
    console.print(f"fingerprint  {made.fingerprint}", soft_wrap=True)
    console.print("Compare the fingerprint with the other parties by telephone.", soft_wrap=True)


@app.command("run")
def run(
    consortium: _Consortium,
    me: Annotated[str, typer.Option("--as", help="Which of the parties this is.", metavar="NAME")],
    data: Annotated[str, typer.Option(help="This party's table: a file, a folder, a pattern, or a database URL.")],
    key: Annotated[Path, typer.Option(help="This party's key, as party keys made it.")],
    listen: Annotated[
        str | None, typer.Option(help="Listen at this host:port, where others reach the address by another way.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for the result: .csv, or else JSON; for anonymize the release folder.")
    ] = None,
    force: _Force = False,
    as_json: _Json = False,
) -> None:
    """Run this party's part of the task, while the others run theirs."""
    from sfumato.cli.printing import print_json, progress, warn
    from sfumato.core.regular_file import check_new_file
    from sfumato.party.consortium import read_address, read_consortium
    from sfumato.party.party_run import run_party, write_party_result
    from sfumato.party.tls_channel import listen_at

    read = read_consortium(consortium)
    read.party(me, "--as")
    if out is not None and not read.task.writes_folder:
        check_new_file(out, "--out", force=force)
    listening = None if listen is None else listen_at(*read_address(listen, "--listen"))
    with progress("", quiet=as_json, verb=read.task.kind) as show:
        found = run_party(
            read, me, data, key, out=out, force=force, listening=listening, say=_say, warn=warn, progress=show
        )
    if out is not None and found.result is not None and not read.task.writes_folder:
        write_party_result(out, found)
    if as_json:
        print_json(found.as_json())
    else:
        _print_result(found, out)


@app.command("simulate")
def simulate(
    consortium: _Consortium,
    data: Annotated[
        list[str], typer.Option(help="NAME=FILE: the table of a party (repeat for each).", metavar="NAME=FILE")
    ],
    out: Annotated[
        Path | None, typer.Option(help="A new folder for the results: NAME.json, or NAME/ of each party.")
    ] = None,
    force: _Force = False,
    as_json: _Json = False,
) -> None:
    """Run all parties on this machine, with keys that are thrown away: a rehearsal."""
    from sfumato.cli.printing import print_json, warn
    from sfumato.party.simulated_parties import check_results_folder, write_results_folder
    from sfumato.party.simulated_parties import simulate as simulate_parties

    tables: dict[str, str] = {}
    for one in data:
        name, sign, file = one.partition("=")
        if not sign or not name or not file:
            raise InputError(f"--data must be NAME=FILE such as a=a.csv, not {quote(one)}")
        if name in tables:
            raise InputError(f"--data has two tables of party {quote(name)}; give each party one")
        tables[name] = file
    if out is not None:
        check_results_folder(out, force=force)
    found = simulate_parties(consortium, tables, out=out, force=force, say=_say, warn=warn)
    suffix = "" if found.writes_folder else ".json"
    if out is not None and not found.writes_folder:
        write_results_folder(out, found)
    if as_json:
        print_json(found.as_json())
        return
    for one_result in found.parties.values():
        _print_result(one_result, None if out is None else out / f"{one_result.party}{suffix}")


def _say(sentence: str) -> None:
    """Say something of the protocol on standard error, before anything moves."""
    import sys
    from contextlib import suppress

    with suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)  # noqa: T201 - what the holders have to know


def _print_result(found: "PartyResult", out: Path | None) -> None:
    from rich.table import Table

    from sfumato.cli.printing import console_of, findings_table, printable
    from sfumato.party.party_run import tabulate_result

    console = console_of()
    cost = f"{found.bytes_sent:,} bytes sent in {found.rounds:,} rounds, {found.seconds:.2f} s"
    console.print(f"party {found.party}: {found.task}, {cost}", soft_wrap=True)
    if found.result is None:
        console.print("this party is told nothing", soft_wrap=True)
        return
    told = found.result if isinstance(found.result, dict) else {}
    lines = tabulate_result(found)
    for name, value in told.items():
        if isinstance(value, dict):
            console.print(f"{name}:", soft_wrap=True)
            for part, number in value.items():
                console.print(f"  {printable(part)}: {_write(number)}", soft_wrap=True)
        elif name == "privacy":  # of a release, as the verifier found it
            console.print(findings_table(value))
        elif lines == [told] or not isinstance(value, list):
            console.print(f"{name}: {_write(value)}", soft_wrap=True)
        elif value and isinstance(value[0], dict):
            console.print(f"{name}: {len(value):,}", soft_wrap=True)
    listed = not told or (lines != [told] and any(isinstance(value, list) for value in told.values()))
    if listed and lines:
        columns = list(dict.fromkeys(name for line in lines for name in line))
        table = Table(*map(printable, columns))
        for line in lines[:_MOST_LINES]:
            table.add_row(*(_write(line.get(name)) for name in columns))
        console.print(table)
        if len(lines) > _MOST_LINES:
            console.print(f"and {len(lines) - _MOST_LINES:,} more", soft_wrap=True)
    elif listed:
        console.print("none", soft_wrap=True)
    if out is not None:
        console.print(f"written to {out}", soft_wrap=True)


_MOST_LINES = 50
_LONGEST_NUMBER = 12
"""Signs of a number with a fraction that are shown; files have all of them."""


def _write(value: Any) -> str:
    """Write a result for people; texts may be another party's, so nothing in them reaches the terminal but signs."""
    import json

    from sfumato.cli.printing import printable

    if value is None:
        return "—"
    if isinstance(value, float) and len(repr(value)) > _LONGEST_NUMBER and abs(value) < 1e6:
        return f"{value:.6g}" if abs(value) < 1 else f"{value:.6f}"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return printable(", ".join(value))
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
