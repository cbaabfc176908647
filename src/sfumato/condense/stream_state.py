r"""The state of a condensed stream on disk: the statistics of its groups, whole or not at all.

A state is a folder that only its owner may read. ``groups.state`` has everything. It is written beside, flushed, and
renamed into its place, and the folder is flushed: whoever is killed at any moment leaves the batch before or the batch
after, and a batch that `write` has returned from is there. There is no journal: what a batch changed in a group of
statistics, taken by itself, would be the rows of the batch.

The file, ``sfumato-condensation/1``::

    sfumato-condensation/1\n
    one line of JSON: k, columns with their traits, rows, streams, exponents
    int64[g] sizes, float64[g, d] means, float64[g, d (d + 1) / 2] scatters, float64[d] centre, float64[d] weights
    uint32: the CRC-32 of all bytes before

All numbers are little-endian. See `group_statistics` for what they mean, and `dynamic_condensation` for the last two.

``emitted.json`` says of which number of rows a state was drawn from exactly (see `stream_drawing`).
"""

import fcntl
import json
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.condense.group_statistics import GroupStatistics
from sfumato.condense.stream_columns import StreamColumns
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, OutputError, UnreadableFile, shorten

_MAGIC = b"sfumato-condensation/1\n"
_FILE, _NEW, _EMITTED = "groups.state", ".groups.state.new", "emitted.json"
_WAITING = "rows"
"""Drawn rows wait in hidden files beside this name until they are checked and go to standard output."""
_LARGEST = 1 << 36


@dataclass(frozen=True)
class TakenStream:
    """How many rows were taken from a stream, and whether it was at its end then."""

    rows: int
    finished: bool


@dataclass(frozen=True, eq=False)
class StreamState:
    """All that is kept: k, columns, statistics and measure, and how many rows of which streams are in it.

    `exponents` int[d] are the powers of two that coordinates were divided by. `options` are what the policy says of
    drawing, by name.
    """

    k: int
    columns: StreamColumns
    groups: GroupStatistics
    exponents: IntArray
    centre: FloatArray
    weights: FloatArray
    streams: dict[str, TakenStream] = field(default_factory=dict)
    options: dict[str, float] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows that the groups stand for."""
        return int(self.groups.sizes.sum())

    def as_statement(self) -> dict[str, Any]:
        """What drawn rows can be held against, in plain values and as it is kept, by name."""
        return {
            "k": self.k,
            "sizes": self.groups.sizes,
            "means": self.groups.means,
            "variances": self.groups.variances,
            "exponents": self.exponents.tolist(),
            "columns": self.columns.as_json()["columns"],
        }

    def to_bytes(self) -> bytes:
        """The file of the state."""
        header = {
            "k": self.k,
            "rows": self.rows,
            "groups": self.groups.count,
            "streams": {name: [taken.rows, taken.finished] for name, taken in self.streams.items()},
            "exponents": self.exponents.tolist(),
            "options": self.options,
            **self.columns.as_json(),
        }
        arrays = (self.groups.sizes, self.groups.means, self.groups.scatters, self.centre, self.weights)
        parts = [_MAGIC, json.dumps(header).encode(), b"\n"]
        parts += [np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes() for array in arrays]
        content = b"".join(parts)
        return content + struct.pack("<I", zlib.crc32(content))

    @classmethod
    def from_bytes(cls, content: bytes) -> "StreamState":
        """Read the file of a state; raises `ValueError` for one that is damaged."""
        if not content.startswith(_MAGIC) or zlib.crc32(content[:-4]) != struct.unpack("<I", content[-4:])[0]:
            raise ValueError("not the bytes that were written")
        end = content.index(b"\n", len(_MAGIC))
        header = json.loads(content[len(_MAGIC) : end])
        columns = StreamColumns.from_json(header)
        count, width, place = header["groups"], columns.width, end + 1

        def take(kind: str, *shape: int) -> Any:
            nonlocal place
            size = int(np.prod(shape))
            found = np.frombuffer(content, dtype=kind, count=size, offset=place).reshape(shape)
            place += 8 * size
            return found.astype(kind[1:])

        groups = GroupStatistics.from_arrays(
            take("<i8", count), take("<f8", count, width), take("<f8", count, width * (width + 1) // 2)
        )
        streams = {name: TakenStream(int(rows), bool(finished)) for name, (rows, finished) in header["streams"].items()}
        state = cls(
            int(header["k"]),
            columns,
            groups,
            np.array(header["exponents"], dtype=np.int64),
            take("<f8", width),
            take("<f8", width),
            streams,
            header["options"],
        )
        sizes, numbers = groups.sizes, (groups.means, groups.scatters, state.centre, state.weights)
        sound = count and sizes.min() >= state.k and sizes.max() < 2 * state.k
        if not sound or place + 4 != len(content) or not all(np.isfinite(array).all() for array in numbers):
            raise ValueError("not the statistics of groups")
        return state


class StateFolder:
    """A folder that holds a state, or will; while it is `locked` no other process adds to it.

    >>> import tempfile
    >>> folder = StateFolder(Path(tempfile.mkdtemp()) / "state")
    >>> folder.read() is None
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def waiting_rows(self) -> Path:
        """Where rows wait that go to standard output: nobody else reads there, and the next ones clear it."""
        return self.path / _WAITING

    def read(self) -> StreamState | None:
        """Read the state as it is now; nothing where there is none. Needs no lock."""
        name = shorten(self.path.name)
        try:
            content = read_regular_file(self.path / _FILE, most=_LARGEST, what="a state")
        except UnreadableFile as error:
            if error.fault == "missing":
                self._check_empty()
                return None
            raise InputError(f"the state {name} cannot be read: {_FILE} {error.reason}; name another") from None
        try:
            return StreamState.from_bytes(content)
        except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError):
            way = "put back a copy of the folder, or begin a new state"
            raise InputError(f"the state {name} is damaged, or of another version of sfumato: {way}") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Have the folder for this process alone; one that was made here, and holds nothing at the end, goes again."""
        name = shorten(self.path.name)
        try:
            self._check_empty()
            made = not self.path.exists()
            if made:
                self.path.mkdir(mode=0o700)
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise self._cannot_write(error) from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                way = "wait until it is done, or name another state"
                raise OutputError(f"another process adds rows to the state {name}; {way}") from None
            with suppress(FileNotFoundError):
                (self.path / _NEW).unlink()  # of a process that was killed
            yield
        finally:
            if made and not (self.path / _FILE).exists():
                with suppress(OSError):
                    self.path.rmdir()
            os.close(descriptor)

    def write(self, state: StreamState) -> None:
        """Put a state in the place of the one before; when this returns, it is on the disk."""
        new = self.path / _NEW
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(state.to_bytes())
                file.flush()
                os.fsync(file.fileno())
            new.rename(self.path / _FILE)
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            with suppress(OSError):
                new.unlink()
            raise self._cannot_write(error) from None

    @contextmanager
    def telling(self, rows: int) -> Iterator[bool]:
        """Note that rows are drawn of a state of so many rows; gives whether it may be told exactly.

        It may where no other state was. That is noted before anything is told; one process draws at a time.
        """
        try:
            descriptor = os.open(self.path / _EMITTED, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._cannot_write(error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            noted = os.read(descriptor, 200)
            told = json.dumps({"rows": rows}).encode() + b"\n"
            if not noted:
                os.write(descriptor, told)
                os.fsync(descriptor)
            yield noted in {b"", told}
        finally:
            os.close(descriptor)

    def _check_empty(self) -> None:
        """Refuse a folder that holds something else."""
        try:
            names = [path.name for path in self.path.iterdir() if path.name not in {_FILE, _NEW, _EMITTED}]
            others = [name for name in names if not name.startswith(f".{_WAITING}.sfumato-")]
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._cannot_write(error) from None
        if others:
            name = shorten(self.path.name)
            raise InputError(f"{name} holds {shorten(min(others))}, which no state has; name another folder")

    def _cannot_write(self, error: OSError) -> OutputError:
        reason = error.strerror or type(error).__name__
        return OutputError(f"the state {shorten(str(self.path))} cannot be kept: {reason}; name another folder")
