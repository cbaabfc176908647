"""The store of a collector: perturbed answers in a DuckDB file, each kept once, and flushed before it is acknowledged.

The table ``answers`` has a column for each question, the random key of the submission, and the day it came. It knows no
address and no finer time. Rows are laid out by their random keys when the store is opened and when it is closed, so
that whoever opens a file at rest finds no order of arrival. The comment of the table is the noise, so that answers
under one noise are never mixed with those under another.
"""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.collect.noise import Noise
from sfumato.collect.submission import Submission
from sfumato.core.regular_file import open_regular_file
from sfumato.errors import InputError, OutputError, shorten
from sfumato.table.table import cast_text_views

_OPTIONS = {"autoload_known_extensions": "false", "autoinstall_known_extensions": "false", "threads": "1"}
"""Nothing is fetched from anywhere; and a group is too small to be worth more than one thread."""


class AnswerStore:
    """An open store, with `count` answers. One process has it; within it, one thread at a time.

    >>> import tempfile
    >>> noise = Noise.read({"format": "sfumato-noise/1", "columns": {
    ...     "vote": {"kind": "response", "values": ["a", "b"], "keep": 0.5}}})
    >>> store = AnswerStore(Path(tempfile.mkdtemp(), "answers.duckdb"), noise)
    >>> store.keep([Submission("0" * 32, ("a",)), Submission("1" * 32, ("b",))])  # both are on the disk now
    [True, True]
    >>> store.keep([Submission("1" * 32, ("b",)), Submission("0" * 32, ("b",))])  # once more; and another of its key
    [True, False]
    >>> store.count, store.read("vote").column("vote").to_pylist()
    (2, ['a', 'b'])
    >>> store.close()
    """

    def __init__(self, path: Path, noise: Noise) -> None:
        self._path, self._noise = path, noise
        self._types = ["DOUBLE" if isinstance(one, AdditiveNoise) else "VARCHAR" for one in noise.columns.values()]
        self._columns = [_quote_name(name) for name in noise.columns]
        new = not path.exists()
        self._connection = self._connect()
        try:
            self._begin()
            self._lay_out_by_key()
            self.count = int(self._connection.execute("SELECT count(*) FROM answers").fetchall()[0][0])
        except BaseException:
            self._connection.close()
            if new:
                path.unlink(missing_ok=True)
            raise

    def keep(self, group: Sequence[Submission]) -> list[bool]:
        """Keep a group of submissions in one transaction; when this returns, they are on the disk.

        A submission whose key is there already, with the same reports, is kept; with other reports it is not, and
        False stands in its place.
        """
        first: dict[str, Submission] = {}
        for submission in group:
            first.setdefault(submission.key, submission)
        known = self._known(list(first))
        fresh = [submission for key, submission in first.items() if key not in known]
        if fresh:
            today = datetime.now(UTC).date()
            columns: dict[str, Any] = {"key": [one.key for one in fresh], "day": pa.array([today] * len(fresh))}
            for place, kind in enumerate(self._types):
                cells = [one.cells[place] for one in fresh]
                columns[f"c{place}"] = pa.array(cells, pa.float64() if kind == "DOUBLE" else pa.string())
            self._connection.register("arrived", pa.table(columns))
            try:
                # one statement is one transaction; its end is the flush
                self._connection.execute("INSERT INTO answers SELECT * FROM arrived ORDER BY key")
            finally:
                self._connection.unregister("arrived")
            self.count += len(fresh)
        return [known.get(one.key, first[one.key].cells) == one.cells for one in group]

    def read(self, *columns: str) -> pa.Table:
        """Read the answers to questions as they were sent, in the order of their random keys."""
        wanted = ", ".join(_quote_name(name) for name in (columns or self._noise.columns))
        statement = f"SELECT {wanted} FROM answers ORDER BY key"  # noqa: S608 - names are quoted
        return cast_text_views(self._connection.sql(statement).to_arrow_table())

    def days(self) -> list[tuple[date, int]]:
        """Count the answers of each day."""
        found = self._connection.execute("SELECT day, count(*) FROM answers GROUP BY day ORDER BY day").fetchall()
        return [(day, int(count)) for day, count in found]

    def close(self) -> None:
        """Lay the answers out by their keys, and leave a single file."""
        try:
            self._lay_out_by_key()
        finally:
            self._connection.close()

    def _connect(self) -> Any:
        name = shorten(self._path.name)
        if self._path.is_dir():
            raise OutputError(f"{name} is a folder; name a file to keep the answers in")
        if not self._path.parent.is_dir():
            raise OutputError(f"{name} cannot be made, since its folder does not exist; make that first")
        if self._path.exists():
            open_regular_file(self._path).close()  # DuckDB would wait for whoever writes into a pipe
        try:
            return duckdb.connect(str(self._path.absolute()), config=dict(_OPTIONS))
        except duckdb.Error as error:
            if "lock on file" in str(error):
                way = "stop that, or name another store"
                raise OutputError(f"{name} is open in another program, perhaps another collector; {way}") from None
            if "ermission" in str(error) or not os.access(self._path.parent, os.W_OK):
                raise OutputError(f"{name} may not be written; ask for permission, or name another store") from None
            raise OutputError(f"{name} is no DuckDB file of a version that can be opened; name another store") from None

    def _begin(self) -> None:
        """Make the table of a new store; of an old one, see that it is for these questions and this noise."""
        name = shorten(self._path.name)
        found = self._connection.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall()
        if not found:
            self._connection.execute("BEGIN")
            self._create("answers")
            self._connection.execute("COMMIT")
            self._connection.execute("CHECKPOINT")
            return
        try:
            ((table, comment),) = found
            stored = Noise.read(json.loads(comment)) if table == "answers" else None
        except (ValueError, TypeError, InputError):
            stored = None
        if stored is None:
            raise InputError(f"{name} holds other tables than the answers of a collection; name another store")
        if stored != self._noise or list(stored.columns) != list(self._noise.columns):
            way = "name another store for this form, since answers under different noise cannot be read together"
            raise InputError(f"{name} holds answers to other questions or under other noise; {way}")

    def _create(self, table: str) -> None:
        columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in zip(self._columns, self._types, strict=True))
        self._connection.execute(f"CREATE TABLE {table} (key VARCHAR PRIMARY KEY, day DATE NOT NULL, {columns})")
        comment = json.dumps(self._noise.as_json()).replace("'", "''")
        self._connection.execute(f"COMMENT ON TABLE {table} IS '{comment}'")

    def _lay_out_by_key(self) -> None:
        """Write the rows anew in the order of their random keys, in one transaction, and forget the old place."""
        try:
            self._connection.execute("BEGIN")
            self._create("laid_out")
            self._connection.execute("INSERT INTO laid_out SELECT * FROM answers ORDER BY key")
            self._connection.execute("DROP TABLE answers")
            self._connection.execute("ALTER TABLE laid_out RENAME TO answers")
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("CHECKPOINT")

    def _known(self, keys: list[str]) -> dict[str, tuple[Any, ...]]:
        """Find the cells of those keys that are there already."""
        marks = ", ".join("?" * len(keys))
        columns = ", ".join(self._columns)
        statement = f"SELECT key, {columns} FROM answers WHERE key IN ({marks})"  # noqa: S608 - names are quoted
        found = self._connection.execute(statement, keys).fetchall()
        return {key: tuple(cells) for key, *cells in found}


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
