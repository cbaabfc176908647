"""A run of one party: its table is checked, the others are met, the task is done, and its result is written."""

import csv
import io
import json
import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.party.consortium import Consortium, read_consortium
from sfumato.party.party_keys import check_private_key
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.protocol_statement import ProtocolStatement
from sfumato.party.run_ledger import count_run
from sfumato.party.task_kinds import task_class
from sfumato.party.tls_channel import PartyMesh
from sfumato.reading.outside_table import outside_column_names, read_outside_table
from sfumato.rules.basket_files import LINE_SUFFIXES, appearing, read_baskets
from sfumato.table.formula_guard import guard_formula

Say = Callable[[str], None]
"""What is given sentences for the holder of the data."""


@dataclass(frozen=True)
class PartyResult:
    """What a party was told, what it cost, and what was said of the protocol before.

    `result` is as the task gives it, ``None`` where this party is told nothing. `seconds` are those from the first
    greeting on, `bytes_sent` the bytes of messages, `rounds` the most messages waited for with one peer.
    """

    task: str
    party: str
    result: Any
    seconds: float
    bytes_sent: int
    rounds: int
    adversary: str
    learned: str

    def as_json(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        return dict(vars(self))


def run(  # noqa: PLR0913 - the options of the command
    consortium: str | Path,
    me: str,
    data: Any,
    key: str | Path,
    *,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> PartyResult:
    """Run this party's part of a consortium's task, with the others, who run theirs elsewhere at the same time.

    `data` is a table of this party: a file, a frame, or the URL of a database; `key` is its private key, made by
    ``sfumato party keys``. `out` is the folder of a task that publishes one, and `force` replaces it.

    Raises:
        InputError: this party's file, key or table is at fault; nothing was sent.
        RunAborted: the run ended without a result.
    """
    folder = None if out is None else Path(out)
    return run_party(read_consortium(Path(consortium)), me, data, Path(key), out=folder, force=force, progress=progress)


def run_party(  # noqa: PLR0913 - who, with what, and how it is told
    consortium: Consortium,
    me: str,
    data: Any,
    key: Path,
    *,
    out: Path | None = None,
    force: bool = False,
    listening: socket.socket | None = None,
    say: Say | None = None,
    warn: Say | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PartyResult:
    """Run this party's part of a task; `say` is given what is said of the protocol before, `warn` of the table.

    `out` is for tasks that write a folder themselves; `force` replaces it.
    """
    party = consortium.party(me, "--as")
    for one in consortium.parties:
        one.certificate.check_validity(one.name)
    passphrase = check_private_key(key, party.certificate, me)
    task = consortium.task
    if task.writes_folder and out is None and me in task.result_to:
        raise InputError(f"--out is missing; name the folder that {task.kind} publishes into")
    statement = task.statement(consortium.names)
    prepared = task.direct(task.prepare(me, read_party_table(data, baskets=task.reads_baskets)), out, force=force)
    if warn is not None:
        for sentence in task.cautions(prepared):
            warn(sentence)
    if say is not None:
        for sentence in statement.sentences():
            say(sentence)
    mesh = PartyMesh(consortium, party, key, passphrase, listening)
    return _conduct(consortium, me, key, prepared, mesh, statement, progress)


def _conduct(  # noqa: PLR0913, PLR0917 - what `run_party` has put together
    consortium: Consortium,
    me: str,
    key: Path,
    prepared: Any,
    mesh: PartyMesh,
    statement: ProtocolStatement,
    progress: Callable[[int, int], None] | None,
) -> PartyResult:
    def work(session: PartySession) -> PartyResult:
        ending.enter_context(session.until_end)
        begin = time.monotonic()
        peers = [party for party in consortium.parties if party.name != me]
        count_run(key, consortium.task.kind, peers, consortium.runs_per_day)
        result = consortium.task.run(session, prepared)
        return PartyResult(
            consortium.task.kind,
            me,
            result,
            round(time.monotonic() - begin, 3),
            session.bytes_sent,
            session.rounds,
            statement.adversary,
            statement.learned,
        )

    with ExitStack() as ending:  # what the task has written appears when everybody is done, and not before
        found: PartyResult = mesh.conduct(work, progress)
    return found


def read_party_table(data: Any, *, baskets: bool = False) -> PartyTable:
    """Read the table of a party, all columns of it: cells of a file are text; or its `baskets` from a file of lines."""
    name = data.name if isinstance(data, Path) else (Path(data).name if isinstance(data, str) else "the table")
    if baskets and name.lower().endswith(LINE_SUFFIXES):
        return PartyTable(read_baskets(data), name)
    table = read_outside_table(data, outside_column_names(data, {}), {}).arrow
    coded = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    for column in coded:
        place = table.column_names.index(column)
        table = table.set_column(place, column, table[column].cast(table.schema.field(column).type.value_type))
    return PartyTable(table, name)


def write_party_result(path: Path, found: PartyResult) -> None:
    """Write a result: a file that ends in .csv has the lines of the result, any other all that ``--json`` has.

    The file is for its owner alone, and appears whole or not at all.
    """
    lines = path.suffix.lower() == ".csv"
    text = _as_csv(found) if lines else json.dumps(found.as_json(), allow_nan=False, indent=2) + "\n"
    with (
        appearing(path) as stage,
        os.fdopen(os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file,
    ):
        file.write(text)


def _as_csv(found: PartyResult) -> str:
    """Write a result as the lines that its task makes of it.

    >>> found = PartyResult("sum", "a", [{"ward": "=1", "beds": 3}, {"ward": None, "beds": 4.5}], 0.1, 9, 1, "", "")
    >>> print(_as_csv(found), end="")
    ward,beds
    '=1,3
    ,4.5
    """
    tables = tabulate_result(found)
    columns = list(dict.fromkeys(name for table in tables for name in table)) or [found.task]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([guard_formula(name) for name in columns])
    writer.writerows([_csv_cell(table.get(name)) for name in columns] for table in tables)
    return text.getvalue()


def tabulate_result(found: PartyResult) -> list[dict[str, Any]]:
    """Write what a party was told as lines of named cells, as its kind of task has them."""
    return task_class(found.task).tabulate(found.result)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, str):
        return guard_formula(value)
    return json.dumps(value, allow_nan=False) if isinstance(value, list | dict) else value
