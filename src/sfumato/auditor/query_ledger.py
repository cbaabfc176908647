"""The ledger of an auditor: a table by its cells, every statement that was asked, and what may still be answered.

It is one SQLite file, its owner's alone. Answers of all users count together. A statement is decided, computed and
recorded in one transaction, and its answer is given when that is on the disk: whoever is killed in between has given
no answer that the ledger does not know of. Processes take turns, by the lock of the file.

The file holds sums and extremes by cell, which for a cell of one row are that row's values, and secrets: primes, and
the key under which rows are hashed. It is as private as the table. It holds no other row, and no path to one is needed
to answer; `update` is the only thing that reads a table again.
"""

import io
import json
import os
import secrets
import sqlite3
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.auditor.audited_statement import (
    LONGEST_STATEMENT,
    AuditedStatement,
    Figure,
    StatementRefused,
    read_statement,
)
from sfumato.auditor.audited_table import (
    AuditedTable,
    RowHashes,
    TableChange,
    exact_number,
    number_of_key,
    order_key,
    read_cells,
    update_cells,
)
from sfumato.auditor.column_audit import KINDS, ColumnAudit, SetQuery, SetRules
from sfumato.core.regular_file import open_regular_file
from sfumato.errors import Infeasible, InputError, OutputError, quote, shorten

FORMAT = "sfumato-query-ledger/2"
BOUNDED_SIZE = 5
"""The least size of an answered group of a column with bounds, where nobody says another."""
MOST_ANSWERED = 20_000
"""Figures in one answer, those that LIMIT cuts off among them: whoever asks for more keeps all others waiting."""
_WAIT = 120.0
"""Seconds to wait for another process that decides."""
_LONGEST_USER = 200
_CLOSED = (
    "it was answered about before the table was updated, and without a key nobody can tell who is who since, so that "
    "nothing more of it is answered"
)
_REPLAYED = 32
"""So many answers that change what may be answered are replayed when a ledger is opened; then a snapshot is kept."""
Cells = NDArray[np.bool_]
"""Some cells of the table: bool[cells]."""
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE entry (sequence INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, user TEXT NOT NULL,
  sql TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT, columns TEXT, rows TEXT);
CREATE TABLE answered (sequence INTEGER NOT NULL, "column" TEXT NOT NULL, kind TEXT NOT NULL, blocks BLOB NOT NULL,
  answer INTEGER NOT NULL);
CREATE INDEX answered_sequence ON answered (sequence);
CREATE TABLE snapshot (sequence INTEGER NOT NULL, content BLOB NOT NULL);
"""


@dataclass(frozen=True)
class AuditSettings:
    """What a ledger is about: `protected` columns, columns of `conditions`, and rules.

    `bounds` are those that readers know of a column's values, as low and high, None for none. `interval` is the width
    that no value may be confined to. `alike` is how many rows all answers together leave alike. `figures` are the kinds
    that are answered at all. `key` is a column that tells people apart in updates; without one, an update ends the
    answers about columns that were answered about. `options` say how the table is read, and `name` is what statements
    call it.
    """

    protected: tuple[str, ...]
    conditions: tuple[str, ...]
    bounds: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    interval: float | None = None
    min_size: int | None = None
    max_overlap: int | None = None
    alike: int | None = None
    figures: tuple[str, ...] = KINDS
    key: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = "data"

    def rules(self, column: str) -> SetRules:
        """Give the rules on sets of rows for a column."""
        bounded = column in self.bounds
        size = self.min_size or (BOUNDED_SIZE if bounded else 2)
        return SetRules(max(size, 2), bounded or self.min_size is not None, self.max_overlap, self.alike or 1)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class AuditAnswer:
    """What is said to a statement: lines of figures under the names of `columns`, or a `reason` why there are none.

    `outcome` is answered, denied (these rows, now), or refused (such a statement, ever).
    """

    outcome: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    reason: str | None = None

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.outcome == "answered"

    def as_json(self) -> dict[str, Any]:
        """Plain data, as ``sfumato audit ask --json`` prints it."""
        if not self.answered:
            return {"answered": False, "reason": self.reason}
        return {"answered": True, "columns": list(self.columns), "rows": [list(row) for row in self.rows]}


class QueryLedger:
    """An open ledger. One thread at a time uses it; other processes may use the same file.

    >>> import tempfile, pyarrow
    >>> staff = pyarrow.table({"dept": ["IT", "IT", "Law", "Law", "Law"], "pay": [-3, 50, 60, 55, 70]})
    >>> settings = AuditSettings(("pay",), ("dept",), name="staff")
    >>> ledger = QueryLedger.create(Path(tempfile.mkdtemp(), "audit.db"), staff, settings)
    >>> ledger.ask("select dept, avg(pay) from staff group by dept").rows
    (('IT', 23.5), ('Law', 61.666666666666664))
    >>> ledger.ask("select max(pay) from staff where dept = 'Law'").reason
    "column 'pay': a maximum or a minimum is not answered where sums of the same rows were"
    >>> ledger.close()
    """

    def __init__(self, path: Path) -> None:
        _check_ledger_file(path)
        self._path = path
        self._connection = _connect(path)
        try:
            # it is looked at before anything of it is changed
            self._meta = dict(
                self._connection.execute("SELECT key, value FROM meta WHERE key IN ('format', 'settings')")
            )
        except sqlite3.Error:
            self._meta = {}
        if self._meta.get("format") != FORMAT:
            self._connection.close()
            raise _no_ledger(path)
        self.settings = _read_settings(self._meta["settings"])
        self._sequence = -1
        self._since_snapshot = 0
        self._closed: frozenset[str] = frozenset()
        self.table: AuditedTable
        self._audits: dict[str, ColumnAudit]
        try:
            with self._transaction():
                self._catch_up()
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def create(cls, path: Path, data: Any, settings: AuditSettings) -> "QueryLedger":
        """Begin a ledger about a table; it appears whole, for its owner alone, or not at all."""
        if path.exists() or path.is_symlink():
            raise OutputError(f"{path} is there already; name another ledger, or remove this one and all it knows")
        secret = secrets.token_bytes(32)
        table, hashes = read_cells(
            data, settings.conditions, settings.protected, key=settings.key, secret=secret, options=settings.options
        )
        settings = _settle(settings, table)
        audits = {name: ColumnAudit(values.count, settings.rules(name)) for name, values in table.protected.items()}
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        mask = os.umask(0o077)
        try:
            connection = _connect(draft)
            try:
                connection.executescript(_TABLES)
                connection.execute("BEGIN")
                _store(connection, "format", FORMAT)
                _store(connection, "settings", json.dumps(settings.as_json()))
                _store(connection, "secret", secret)
                _store_table(connection, table, hashes)
                _store_snapshot(connection, 0, audits)
                connection.execute("COMMIT")
                connection.execute("PRAGMA journal_mode = WAL")  # for ever: the file says so
            finally:
                connection.close()
            os.link(draft, path)  # fails where somebody was quicker
        except FileExistsError:
            raise OutputError(f"{path} is there already; name another ledger") from None
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or "it cannot be written"
            raise OutputError(f"{shorten(str(path))} cannot be made ({reason}); name another place") from None
        finally:
            os.umask(mask)
            for file in (draft, draft.with_name(draft.name + "-journal")):
                file.unlink(missing_ok=True)
        return cls(path)

    def ask(self, sql: str, user: str = "") -> AuditAnswer:
        """Answer a statement, or say why not; either is recorded before this returns."""
        if len(user) > _LONGEST_USER:
            raise InputError(f"the name of a user has more than {_LONGEST_USER} characters; name a shorter one")
        sql, user = (text.encode("utf-8", "replace").decode() for text in (sql, user))  # a shell passes on any bytes
        with self._transaction():
            self._catch_up()
            try:
                statement = read_statement(sql, self.table, self.settings.name)
                self._refuse_figures(statement)
                answer, queries = self._decide(statement)
            except StatementRefused as refusal:
                answer, queries = AuditAnswer("refused", reason=str(refusal)), []
            sequence = self._insert_entry(user, sql[:LONGEST_STATEMENT], answer)
            lines = [
                (sequence, query.column, query.kind, np.packbits(query.blocks).tobytes(), key) for query, key in queries
            ]
            self._connection.executemany("INSERT INTO answered VALUES (?, ?, ?, ?, ?)", lines)
        for query, key in queries:  # it is on the disk
            self._replay(query, key)
        self._sequence = sequence
        if self._since_snapshot >= _REPLAYED:
            self._keep_snapshot()
        return answer

    def update(self, data: Any) -> TableChange:
        """Take a new version of the table; what was answered about the old one still counts."""
        from sfumato.table import describe_source  # noqa: PLC0415 - an answer needs no reader of tables

        settings = self.settings
        with self._transaction():
            self._catch_up()
            change = update_cells(
                self.table,
                _load_hashes(self._connection),
                data,
                key=settings.key,
                secret=self._load("secret"),
                options=settings.options,
            )
            _check_bounds(settings, change.table)
            self._sequence = -1  # what follows changes what is in memory: read it anew, whatever happens
            for name, values in change.table.protected.items():
                if change.parted is None:
                    self._audits[name] = ColumnAudit(values.count, settings.rules(name))
                else:
                    self._audits[name].change_blocks(change.parted[name], values.count)
            said = f"{change.stayed:,} rows stayed, {change.left:,} left, {change.came:,} came"
            sequence = self._insert_entry("", describe_source(data), AuditAnswer("updated", reason=said))
            _store_table(self._connection, change.table, change.hashes)
            _store_snapshot(self._connection, sequence, self._audits)
        return change

    def closed_columns(self) -> tuple[str, ...]:
        """List the protected columns of which nothing more is answered.

        Without a key, an update ends the answers about every column that something was answered about before it: the
        people of a new sum may be any, and with those of an earlier one leave a single person.
        """
        with self._transaction():
            self._catch_up()
        return tuple(name for name in self.settings.protected if name in self._closed)

    def history(self, user: str | None = None, last: int | None = None) -> list[dict[str, Any]]:
        """List what was asked and said, oldest first: of one user or of all, the last of them or every one."""
        statement = "SELECT sequence, time, user, sql, outcome, reason, columns, rows FROM entry"
        chosen: tuple[Any, ...] = () if user is None else (user,)
        where = "" if user is None else " WHERE user = ? AND outcome <> 'updated'"
        limit = "" if last is None else f" LIMIT {int(last)}"
        with _report_damage(self._path):
            found = self._connection.execute(f"{statement}{where} ORDER BY sequence DESC{limit}", chosen).fetchall()
        return [_entry(line) for line in reversed(found)]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # What a statement comes to.

    def _decide(self, statement: AuditedStatement) -> tuple[AuditAnswer, list[tuple[SetQuery, int]]]:
        """Decide a statement, all its groups together; gives the queries that are answered, with keys of extremes."""
        groups = self._groups(statement)
        if len(groups) * len(statement.figures) > MOST_ANSWERED:
            raise StatementRefused(
                f"the answer would have {len(groups) * len(statement.figures):,} figures, and at most "
                f"{MOST_ANSWERED:,} are given; ask for fewer, or for larger groups"
            )
        queries: dict[tuple[str, str, bytes], SetQuery] = {}
        for _, cells in groups:
            for column, kind in _asked(statement, self.table.protected):
                values = self.table.protected[column]
                blocks = values.blocks_of(cells)
                if values.count[blocks].any():
                    queries[column, kind, blocks.tobytes()] = SetQuery(column, kind, blocks)
        for name, audit in self._audits.items():
            asked = [query for query in queries.values() if query.column == name]
            if asked and name in self._closed:
                return AuditAnswer("denied", reason=f"column {quote(name)}: {_CLOSED}"), []
            objection = audit.find_objection(asked) if asked else None
            if objection is not None:
                return AuditAnswer("denied", reason=f"column {quote(name)}: {objection}"), []
        rows = [self._compute_line(group, cells, statement) for group, cells in groups[: statement.limit]]
        answer = AuditAnswer("answered", tuple(one.label for one in statement.figures), tuple(rows))
        return answer, [(query, self._key(query)) for query in queries.values()]

    def _refuse_figures(self, statement: AuditedStatement) -> None:
        for column, kind in _asked(statement, self.table.protected):
            if kind not in self.settings.figures:
                said = {"sum": "sums, averages and counts by value", "max": "maxima", "min": "minima"}[kind]
                raise StatementRefused(f"{said} of {quote(column)} are not answered here")

    def _groups(self, statement: AuditedStatement) -> list[tuple[dict[str, Any], Cells]]:
        """Give the groups in their order, each by its values and its cells; without GROUP BY, one."""
        if not statement.groups:
            everything: list[tuple[dict[str, Any], Cells]] = [({}, statement.cells)]
            return [one for one in everything if self._is_kept(statement, one[1])]
        columns = [next(one for one in self.table.columns if one.name == name) for name in statement.groups]
        members: dict[tuple[int, ...], list[int]] = {}
        for cell in np.flatnonzero(statement.cells).tolist():
            members.setdefault(tuple(int(one.places[cell]) for one in columns), []).append(cell)
        # places in the order of values, NULL last
        order = sorted(members, key=lambda places: [(place < 0, place) for place in places])
        for at, descending, nulls_first in reversed(statement.order):
            order.sort(key=lambda places, at=at: (places[at] < 0, places[at]), reverse=descending)  # type: ignore[misc]
            order.sort(key=lambda places, at=at: places[at] < 0, reverse=nulls_first)  # type: ignore[misc]
        groups = []
        for places in order:
            cells = np.zeros(self.table.cells, np.bool_)
            cells[members[places]] = True
            if self._is_kept(statement, cells):
                values = [None if place < 0 else one.ordered[place] for one, place in zip(columns, places, strict=True)]
                shown = [_plain(value) if isinstance(value, Fraction) else value for value in values]
                groups.append((dict(zip(statement.groups, shown, strict=True)), cells))
        return groups

    def _is_kept(self, statement: AuditedStatement, cells: Cells) -> bool:
        rows = int(self.table.rows[cells].sum())
        return all(holds(rows) for holds in statement.kept)

    def _compute_line(self, group: Mapping[str, Any], cells: Cells, statement: AuditedStatement) -> tuple[Any, ...]:
        """Compute the figures of a group, each once however often it is asked for."""
        found: dict[tuple[str, str | None], Any] = {}
        for figure in statement.figures:
            if (figure.kind, figure.column) not in found:
                found[figure.kind, figure.column] = self._compute(figure, group, cells, statement)
        return tuple(found[figure.kind, figure.column] for figure in statement.figures)

    def _compute(self, figure: Figure, group: Mapping[str, Any], cells: Cells, statement: AuditedStatement) -> Any:
        column = figure.column
        if figure.kind == "group":
            return group[str(column)]
        if column is None:
            if statement.counted is None:
                return int(self.table.rows[cells].sum())
            name, chosen = statement.counted
            values = self.table.protected[name]
            blocks = values.blocks_of(cells)
            by_value = values.by_value if values.by_value is not None else np.zeros((len(blocks), 0), np.int64)
            return int(by_value[blocks][:, [text in chosen for text in values.values]].sum())
        if column not in self.table.protected:
            return self._compute_known(figure, cells)
        values = self.table.protected[column]
        blocks = values.blocks_of(cells)
        count = int(values.count[blocks].sum())
        if figure.kind == "count":
            return count
        if count == 0:
            return None
        if figure.kind in {"max", "min"}:
            return _plain(Fraction(number_of_key(self._key(SetQuery(column, figure.kind, blocks)))))
        total = Fraction(sum(values.totals[place] for place in np.flatnonzero(blocks).tolist()), 10**values.decimals)
        return _plain(total) if figure.kind == "sum" else _as_float(total / count)

    def _compute_known(self, figure: Figure, cells: Cells) -> Any:
        """Compute a figure of a column of conditions, which everybody may know."""
        column = next(one for one in self.table.columns if one.name == figure.column)
        codes = column.codes[cells]
        counted = [
            (code, rows)
            for code, rows in zip(codes.tolist(), self.table.rows[cells].tolist(), strict=True)
            if column.texts[code] is not None
        ]
        count = sum(rows for _, rows in counted)
        if figure.kind == "count" or not count:
            return count if figure.kind == "count" else None
        numbers = [(column.numbers[code], rows) for code, rows in counted] if column.numbers else []
        known = [(number, rows) for number, rows in numbers if number is not None]
        if figure.kind in {"max", "min"}:
            return _plain((max if figure.kind == "max" else min)(number for number, _ in known))
        total = sum((number * rows for number, rows in known), Fraction())
        return _plain(total) if figure.kind == "sum" else _as_float(total / count)

    def _key(self, query: SetQuery) -> int:
        values = self.table.protected[query.column]
        there = query.blocks & (values.count > 0)
        if query.kind == "max" and values.highest is not None:
            return int(values.highest[there].max())
        if query.kind == "min" and values.lowest is not None:
            return int(values.lowest[there].min())
        return 0

    # The file, and what is in memory of it.

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _report_damage(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _catch_up(self) -> None:
        """Bring memory up to the file: others may have asked, or updated the table, since."""
        first = "SELECT max(sequence) FROM entry"
        (latest,) = self._connection.execute(first).fetchone()
        (updated,) = self._connection.execute(f"{first} WHERE outcome = 'updated'").fetchone()
        if self._sequence < 0 or (updated or 0) > self._sequence:
            self.table = AuditedTable.from_json(self._load("table").decode())
            sequence, content = self._connection.execute("SELECT sequence, content FROM snapshot").fetchone()
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                loaded = dict(arrays)
            self._audits = {
                name: ColumnAudit.from_arrays(loaded, f"{place}.", self.settings.rules(name))
                for place, name in enumerate(self.table.protected)
            }
            self._sequence, self._since_snapshot = sequence, 0
            before = 'SELECT DISTINCT "column" FROM answered WHERE sequence < ?'
            found = self._connection.execute(before, (updated or 0,)).fetchall() if self.settings.key is None else []
            self._closed = frozenset(name for (name,) in found)
        wanted = 'SELECT "column", kind, blocks, answer FROM answered WHERE sequence > ? ORDER BY sequence, rowid'
        for column, kind, blocks, answer in self._connection.execute(wanted, (self._sequence,)).fetchall():
            count = self.table.protected[column].blocks
            bits = np.unpackbits(np.frombuffer(blocks, np.uint8), count=count).astype(np.bool_)
            self._replay(SetQuery(column, kind, bits), answer)
        self._sequence = max(self._sequence, latest or 0)

    def _replay(self, query: SetQuery, answer: int) -> None:
        audit = self._audits[query.column]
        before = audit.sums.rank
        audit.record(query, answer)
        self._since_snapshot += query.kind != "sum" or audit.sums.rank > before

    def _keep_snapshot(self) -> None:
        """Keep what is in memory, so that nobody has to replay all answers; that it is there matters to no answer."""
        with self._transaction():
            (latest,) = self._connection.execute("SELECT max(sequence) FROM entry").fetchone()
            if latest == self._sequence:
                _store_snapshot(self._connection, self._sequence, self._audits)
        self._since_snapshot = 0

    def _load(self, key: str) -> Any:
        (value,) = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return value

    def _insert_entry(self, user: str, sql: str, answer: AuditAnswer) -> int:
        line = (
            datetime.now(UTC).isoformat(timespec="seconds"),
            user,
            sql,
            answer.outcome,
            answer.reason,
            json.dumps(answer.columns) if answer.answered else None,
            json.dumps(answer.rows) if answer.answered else None,
        )
        statement = "INSERT INTO entry (time, user, sql, outcome, reason, columns, rows) VALUES (?, ?, ?, ?, ?, ?, ?)"
        return int(self._connection.execute(statement, line).lastrowid or 0)


def _asked(statement: AuditedStatement, protected: Container[str]) -> list[tuple[str, str]]:
    """List what a statement asks of each group: protected columns and kinds; an average is a sum."""
    if statement.counted is not None:
        return [(statement.counted[0], "sum")]
    kinds = {"sum": "sum", "avg": "sum", "max": "max", "min": "min"}
    figures = [one for one in statement.figures if one.kind in kinds and one.column in protected]
    return list(dict.fromkeys((str(one.column), kinds[one.kind]) for one in figures))


def _plain(number: Fraction | None) -> int | float | None:
    """Give a number for JSON: a whole one as that."""
    if number is None or number.denominator == 1:
        return None if number is None else number.numerator
    return _as_float(number)


def _as_float(number: Fraction) -> float | int:
    try:
        return float(number)
    except OverflowError:
        return round(number)


def _settle(settings: AuditSettings, table: AuditedTable) -> AuditSettings:
    """Add the bounds that a column has by what it holds, and refuse an interval that no rule can keep to."""
    bounds = dict(settings.bounds)
    for name, values in table.protected.items():
        if name in bounds and not values.is_number:
            raise InputError(f"column {quote(name)} is not of numbers, which --bounds is about; leave it out")
        if values.is_binary or not values.is_number:
            bounds[name] = ("0", "1")
    settled = AuditSettings(**(settings.as_json() | {"bounds": bounds}))
    _check_bounds(settled, table)
    if settled.interval is not None and bounds:
        name = next(iter(bounds))
        low, high = bounds[name]
        raise Infeasible(
            f"values of {quote(name)} have the bounds {low or ''}..{high or ''}, so an answer at a bound confines "
            "everybody, and a denial because of it tells the same: no answer at all would keep to --interval; leave "
            "--interval out, and have groups of a least size with --min-size"
        )
    return settled


def _check_bounds(settings: AuditSettings, table: AuditedTable) -> None:
    for name, (low, high) in settings.bounds.items():
        values = table.protected[name]
        if values.highest is None or values.lowest is None or values.is_binary:
            continue
        there = (values.count > 0) & (values.cell_of >= 0)
        least, most = values.lowest[there].min(), values.highest[there].max()
        below = low is not None and least < order_key(float(exact_number(low)))
        above = high is not None and most > order_key(float(exact_number(high)))
        if below or above:
            raise InputError(
                f"column {quote(name)} has values beyond the bounds {low or ''}..{high or ''}; correct them"
            )


def _entry(line: Sequence[Any]) -> dict[str, Any]:
    sequence, time, user, sql, outcome, reason, columns, rows = line
    said = {"sequence": sequence, "time": time, "user": user, "sql": sql, "outcome": outcome}
    if outcome == "answered":
        return said | {"columns": json.loads(columns), "rows": json.loads(rows)}
    return said | {"reason": reason}


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = FULL")  # a transaction that is done is on the disk
    except sqlite3.Error:
        connection.close()
        raise _no_ledger(path) from None
    return connection


def _check_ledger_file(path: Path) -> None:
    with open_regular_file(path) as file:
        if file.read(16) != b"SQLite format 3\0":
            raise _no_ledger(path)


def _no_ledger(path: Path) -> InputError:
    return InputError(f"{shorten(path.name)} is no ledger of queries; make one with sfumato audit init")


@contextmanager
def _report_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        name, busy = shorten(path.name), "locked" in str(error) or "busy" in str(error)
        said = "is busy, and nothing was answered; ask again" if busy else "cannot be used, and nothing was answered"
        raise InputError(f"{name} {said} ({type(error).__name__})") from None


def _store(connection: sqlite3.Connection, key: str, value: str | bytes) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _store_table(connection: sqlite3.Connection, table: AuditedTable, hashes: Mapping[str, RowHashes]) -> None:
    _store(connection, "table", table.as_json().encode())
    for name, known in hashes.items():
        _store(connection, f"hashes:{name}", known.hashes.tobytes())
        _store(connection, f"blocks:{name}", known.blocks.tobytes())


def _load_hashes(connection: sqlite3.Connection) -> dict[str, RowHashes]:
    found = dict(connection.execute("SELECT key, value FROM meta WHERE key LIKE 'hashes:%' OR key LIKE 'blocks:%'"))
    return {
        key.removeprefix("hashes:"): RowHashes(
            np.frombuffer(hashes, np.uint8).reshape(-1, 16),
            np.frombuffer(found[f"blocks:{key.removeprefix('hashes:')}"], np.int32),
        )
        for key, hashes in found.items()
        if key.startswith("hashes:")
    }


def _store_snapshot(connection: sqlite3.Connection, sequence: int, audits: Mapping[str, ColumnAudit]) -> None:
    content = io.BytesIO()
    arrays: dict[str, Any] = {}
    for place, audit in enumerate(audits.values()):
        arrays |= audit.as_arrays(f"{place}.")
    np.savez(content, allow_pickle=False, **arrays)
    connection.execute("DELETE FROM snapshot")
    connection.execute("INSERT INTO snapshot VALUES (?, ?)", (sequence, content.getvalue()))


def _read_settings(text: str) -> AuditSettings:
    content = json.loads(text)
    bounds = {name: (low, high) for name, (low, high) in content["bounds"].items()}
    return AuditSettings(
        **(
            content
            | {name: tuple(content[name]) for name in ("protected", "conditions", "figures")}
            | {"bounds": bounds}
        )
    )
