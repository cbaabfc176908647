"""A stream that is condensed: rows come in batches, and statistics of groups are all that is kept of them.

`CondensationStream` reads rows as coordinates (`stream_columns`), puts them into groups (`dynamic_condensation`), keeps
the groups on disk (`stream_state`) and draws rows from them (`stream_drawing`).

The first k rows wait in memory for the first group: nothing of fewer than k rows is written anywhere. From then on a
batch is **acknowledged** when the state that has it is on the disk. The state says how many rows of which stream it
has, and is replaced as a whole. So whoever is stopped at any moment begins again after the last acknowledged row, and
no row is counted twice or lost.
"""

import io
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sfumato.condense.dynamic_condensation import DynamicCondensation
from sfumato.condense.group_statistics import GroupStatistics
from sfumato.condense.stream_columns import RowNames, StreamColumns
from sfumato.condense.stream_drawing import draw_stream_rows
from sfumato.condense.stream_state import StateFolder, StreamState, TakenStream
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.arrow import arrow_texts
from sfumato.core.randomness import Randomness
from sfumato.core.regular_file import open_regular_file
from sfumato.core.segments import sort_by_group
from sfumato.errors import DataError, Infeasible, InputError, PolicyError, quote
from sfumato.models import IdentityKAnonymity, KAnonymity
from sfumato.policy import DataSource, Policy, load
from sfumato.policy.database_url import find_place
from sfumato.table import column_names
from sfumato.table.files import read_table
from sfumato.table.frames import frame_column_names, frame_kind, frame_of_kind, frame_to_arrow
from sfumato.table.text_records import TEXT_SUFFIXES, TextRecords

BATCH = 1000
"""Rows of a batch, where nobody says otherwise."""
SECONDS_BETWEEN_STATES = 0.1
"""While rows keep coming the state is written so seldom at most, and several batches are acknowledged together."""
_FEWEST = 2


@dataclass(frozen=True)
class StreamFigures:
    """What a stream has come to: its rows, its groups and their sizes, and the rows that wait for the first group."""

    rows: int
    groups: int
    smallest: int
    largest: int
    held: int

    def as_json(self) -> dict[str, int]:
        """Return one object, as ``sfumato condense --json`` prints it."""
        return dict(vars(self))


class CondensationStream:
    """Condense a stream of rows into groups of k to 2k - 1, of which counts, sums and sums of products are kept.

    With `state`, a folder, they are kept there, and a later stream goes on with them; without one they are kept in
    memory. All columns are numbers, unless a `policy` (of the form synthetic) says what they hold; it may say k as
    well. No other process adds to the folder before the stream is closed, which ``with`` does.

    >>> import pyarrow
    >>> stream = CondensationStream(k=3)
    >>> stream.add(pyarrow.table({"age": [30, 31, 35, 61, 62, 65, 64], "visits": [1, 2, 1, 7, 8, 9, 9]}))
    >>> stream.figures()
    StreamFigures(rows=7, groups=2, smallest=3, largest=4, held=0)
    >>> stream.draw().num_rows
    7
    """

    def __init__(
        self, k: int | None = None, *, state: str | os.PathLike[str] | None = None, policy: Any = None
    ) -> None:
        self._policy = None if policy is None else load(policy)
        if self._policy is not None and self._policy.search.neighbours > 1:
            raise PolicyError(
                "is for rows at rest: a stream draws the rows of each group by its own statistics; leave it out",
                key="algorithm.neighbours",
            )
        self._folder = None if state is None else StateFolder(Path(state))
        self._stack = ExitStack()
        self._held: list[FloatArray] = []
        self._columns: StreamColumns | None = None
        self._exponents: IntArray = np.zeros(0, dtype=np.int64)
        self._dynamic: DynamicCondensation | None = None
        self._streams: dict[str, TakenStream] = {}
        self._options: dict[str, float] = {}
        self._kind, self._told = "arrow", -1
        self._is_behind = False  # whether the state on disk lacks what is in memory
        if self._folder is not None:
            self._stack.enter_context(self._folder.locked())
        try:
            found = None if self._folder is None else self._folder.read()
            self.k = self._choose_k(k, found)
            if found is not None:
                self._go_on_with(found)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """In one line, without a row or a statistic."""
        return f"<CondensationStream of {self.figures().rows:,} rows, k = {self.k}>"

    def close(self) -> None:
        """Let others have the state; rows that still wait for the first group are forgotten."""
        self._held = []
        self._stack.close()

    def figures(self) -> StreamFigures:
        """Count rows and groups."""
        if self._dynamic is None:
            return StreamFigures(0, 0, 0, 0, sum(map(len, self._held)))
        return figures_of(self._state())

    @property
    def streams(self) -> dict[str, TakenStream]:
        """How many rows were taken of the streams that are in the state, by name."""
        return dict(self._streams)

    def add(self, data: Any) -> None:
        """Add the rows of a frame as one batch; where the stream has a state, they are in it when this returns.

        Rows that came before there were k are in no state, and `figures().held` counts them.
        """
        kind = frame_kind(data)
        names = frame_column_names(data)
        columns = self._open(names, "the frame")
        table = frame_to_arrow(data, kind, list(columns.names))
        self._kind = kind
        self._add_batch([table.column(name).combine_chunks() for name in columns.names], RowNames())
        self._save()

    def follow(  # noqa: PLR0913 - as many ways as a stream can be read in
        self,
        source: str | Path,
        *,
        batch: int = BATCH,
        name: str | None = None,
        resume: bool = False,
        again: bool = False,
        separator: str | None = None,
        acknowledge: Callable[[int], None] | None = None,
    ) -> None:
        """Add the rows of a file, or of standard input (``-``), in batches.

        The state is written after a batch, unless it was a moment ago and more rows are there already.

        A stream has a name, that of the file where none is given. Of a stream that the state has rows of, `resume`
        skips as many rows as it has; `again` counts all rows once more. `acknowledge` is called with the rows of the
        stream that are in the state, whenever these have become more.
        """
        called = name or ("-" if str(source) == "-" else Path(source).name)
        taken = self._begin_stream(called, resume=resume, again=again)
        kept = rows = added = 0  # rows of the stream that are in the state, were read, and are in memory
        kept_at = -math.inf

        def keep() -> None:
            nonlocal kept, kept_at
            if added > kept and self._save():
                kept, kept_at = added, monotonic()
                if acknowledge is not None:
                    acknowledge(kept)

        try:
            for names, lines, cells, more in _read_batches(source, batch, separator, self._policy):
                if cells:
                    columns = self._open(names, "the stream")
                    found = dict(zip(names, cells, strict=True))
                    count = len(cells[0])
                    skipped = min(max(taken - rows, 0), count)
                    where = RowNames(None if lines is None else lines[skipped:], rows + skipped + 1)
                    rows += count
                    if skipped < count:
                        self._add_batch([found[one].slice(skipped) for one in columns.names], where)
                        self._streams[called] = TakenStream(rows, finished=False)
                        added = rows
                if not more or monotonic() >= kept_at + SECONDS_BETWEEN_STATES:
                    keep()
        except DataError as error:
            keep()
            so_far = max(kept, taken)
            after = f"; the {so_far:,} rows of the stream up to then are kept, so go on with --resume" if so_far else ""
            raise DataError(f"{error}{after}") from None
        if rows < taken:
            raise DataError(
                f"the stream {quote(called)} has {rows:,} rows, and the state has {taken:,} of it: it is another one; "
                "give it another --name, or add it with --again"
            )
        if not rows:
            raise DataError("the stream has no rows; there is nothing to condense")
        if name is None and str(source) == "-":
            self._streams.pop(called, None)  # the next one that comes through a pipe is another
        else:
            self._streams[called] = TakenStream(rows, finished=True)
        if self._save() and kept < rows and acknowledge is not None:
            acknowledge(rows)

    def start(self, data: Any, *, clustering: str = "mdav", name: str | None = None) -> None:
        """Begin with a table at rest, a frame or a path: its groups are formed with all rows at hand.

        `clustering` is mdav, v-mdav or mondrian, as in a release. Raises `Infeasible` where the table has fewer than k
        rows, and `InputError` where the stream has begun already.
        """
        if self._dynamic is not None or self._held:
            raise InputError("the state has rows already, and only a new one begins with a table; name another state")
        names, table = _read_whole(data, self._policy)
        columns = self._open(names, "the table")
        wanted = [table.column(one).combine_chunks() for one in columns.names]
        points, columns = columns.read(wanted, RowNames())
        if len(points) < self.k:
            nearest = {"k": len(points)}
            raise Infeasible(f"k = {self.k:,}, and the table has {len(points):,} rows; lower k", nearest=nearest)
        self._columns, self._exponents = columns, columns.exponents(points)
        points = columns.scale_down(points, self._exponents, RowNames())
        members = _cluster(columns, points, self.k, clustering)
        order, runs = sort_by_group(members, int(members.max()) + 1)
        groups = GroupStatistics(columns.width)
        groups.append_all(points[order], runs)
        self._dynamic = DynamicCondensation(groups, self.k, columns.fixed_weights)
        if isinstance(data, str | os.PathLike):
            self._streams[name or Path(data).name] = TakenStream(len(points), finished=True)
        else:
            self._kind = frame_kind(data)
        self._save()

    def draw(self, *, multiple: int | None = None, noise: float | None = None, seed: int | None = None) -> Any:
        """Draw rows from the groups: a frame of the kind that was added last, or an Arrow table.

        There are `multiple` for each row. Means are those of the groups where no other state of the stream was drawn
        from; where one was, on average only, so that nobody can subtract one from the other. Raises `Infeasible` where
        there is no group yet.
        """
        if self._dynamic is None:
            held = self.figures().held
            raise Infeasible(f"there are {held:,} rows so far, and the first group has k = {self.k:,}; add more rows")
        state = self._state()
        if self._folder is not None:
            return frame_of_kind(draw_from_state(self._folder, state, multiple, noise, seed=seed), self._kind)
        self._told = state.rows if self._told < 0 else self._told
        drawn = _draw(state, multiple, noise, exact=self._told == state.rows, text=False, seed=seed)
        return frame_of_kind(drawn, self._kind)

    # -----------------------------------------------------------------------------------------------------------------

    def _choose_k(self, k: int | None, found: StreamState | None) -> int:
        """Find the k of the stream: that of the state, the argument and the policy, which have to agree."""
        wanted: dict[str, int | None] = {"the state": None if found is None else found.k, "--k": k, "the policy": None}
        if self._policy is not None:
            asked = [one.k for one in self._policy.privacy if isinstance(one, KAnonymity | IdentityKAnonymity)]
            wanted["the policy"] = max(asked, default=None)
        given = {who: one for who, one in wanted.items() if one is not None}
        if not given:
            raise InputError("say how many rows a group has at least: --k 50")
        (first, chosen), *others = given.items()
        for who, other in others:
            if other != chosen:
                way = "say the same, or name another state" if found is not None else "say the same"
                raise InputError(f"{first} has k = {chosen:,} and {who} has k = {other:,}; {way}")
        if chosen < _FEWEST:
            raise InputError(f"k = {chosen:,} would keep rows as they are; choose {_FEWEST} or more")
        return chosen

    def _go_on_with(self, found: StreamState) -> None:
        self._columns, self._exponents = found.columns, found.exponents
        self._streams, self._options = dict(found.streams), found.options
        measure = (found.centre, found.weights)
        self._dynamic = DynamicCondensation(found.groups, found.k, found.columns.fixed_weights, measure)

    def _open(self, names: Sequence[str], what: str) -> StreamColumns:
        """Settle the columns by the first header, and hold later ones against it."""
        declared = None if self._policy is None else StreamColumns.from_policy(self._policy, list(names))
        if self._columns is None:
            if declared is None and all(map(_is_number, names)):
                raise DataError(f"the first line of {what} holds numbers, where the names of columns belong; add them")
            self._columns = declared or StreamColumns.from_names(names)
            if self._policy is not None:
                search = self._policy.search
                self._options = {"multiple": search.multiple, "noise": search.noise}
        elif declared is not None:
            known = {one.name: one.declared for one in self._columns.columns}
            for column in declared.columns:
                if known.get(column.name) != column.declared:
                    way = "give the policy that it began with, or none, or name another state"
                    raise InputError(f"the policy declares {quote(column.name)} in another way than the state; {way}")
        self._columns.check_header(names, what)
        return self._columns

    def _begin_stream(self, called: str, *, resume: bool, again: bool) -> int:
        """Find how many rows of a stream are in the state; refuses one of which that is not clear."""
        if resume and again:
            raise InputError("--resume goes on and --again begins anew; give one of them")
        known = self._streams.get(called)
        if known is None:
            return 0
        if not resume and not again:
            all_of = "all " if known.finished else ""
            raise InputError(
                f"the state has {all_of}{known.rows:,} rows of {quote(called)} already; go on after them with "
                "--resume, count them once more with --again, or give another stream another --name"
            )
        if resume:
            return known.rows
        self._streams[called] = TakenStream(0, finished=False)
        self._save()
        return 0

    def _add_batch(self, cells: Sequence[Any], where: RowNames) -> None:
        """Take up a batch, one Arrow array for each column."""
        assert self._columns is not None  # noqa: S101 - a header was read; this tells the type checker
        if not len(cells[0]):
            return
        if self._is_behind:
            raise InputError("the last batch could not be kept, and the state on disk is the one before; open it anew")
        points, columns = self._columns.read(cells, where)
        if self._dynamic is not None:
            points = columns.scale_down(points, self._exponents, where)
            self._columns = columns
            self._dynamic.limits = columns.limits(self._exponents)
            self._dynamic.add(points)
            return
        together = np.concatenate([*self._held, points])
        if len(together) < self.k:
            self._columns, self._held = columns, [together]
            return
        exponents = columns.exponents(together[: self.k])
        scaled = columns.scale_down(together, exponents, RowNames())
        self._columns, self._exponents, self._held = columns, exponents, []
        self._dynamic = DynamicCondensation.from_rows(scaled[: self.k], self.k, columns.fixed_weights)
        self._dynamic.limits = columns.limits(exponents)
        self._dynamic.add(scaled[self.k :])

    def _state(self) -> StreamState:
        assert self._dynamic is not None  # noqa: S101 - there is a group; this tells the type checker
        assert self._columns is not None  # noqa: S101 - same
        dynamic = self._dynamic
        return StreamState(
            self.k,
            self._columns,
            dynamic.groups,
            self._exponents,
            dynamic.centre,
            dynamic.weights,
            self._streams,
            self._options,
        )

    def _save(self) -> bool:
        """Put the state on the disk, if there is a group; tells whether there is."""
        if self._dynamic is None:
            return False
        if self._folder is not None:
            self._is_behind = True
            self._folder.write(self._state())
            self._is_behind = False
        return True


def figures_of(state: StreamState) -> StreamFigures:
    """Count the rows and groups of a state."""
    sizes = state.groups.sizes
    return StreamFigures(int(sizes.sum()), len(sizes), int(sizes.min()), int(sizes.max()), 0)


def read_state(path: str | os.PathLike[str]) -> tuple[StateFolder, StreamState]:
    """Open a state to look at it or to draw from it, whether or not a process adds to it."""
    folder = StateFolder(Path(path))
    state = folder.read()
    if state is None:
        raise InputError(f"there is no state in {Path(path).name}; begin one with sfumato condense STREAM --state")
    return folder, state


def draw_from_state(
    folder: StateFolder,
    state: StreamState,
    multiple: int | None = None,
    noise: float | None = None,
    *,
    text: bool = False,
    seed: int | None = None,
) -> Any:
    """Draw rows from a state, an Arrow table; exact where this state, and no other of its stream, was told before."""
    return draw_with_statement(folder, state, multiple, noise, text=text, seed=seed)[0]


def draw_with_statement(
    folder: StateFolder,
    state: StreamState,
    multiple: int | None = None,
    noise: float | None = None,
    *,
    text: bool = False,
    seed: int | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Draw rows from a state, and say in plain values what they have to be like, for the verifier."""
    many, much = _drawing_options(state, multiple, noise)
    with folder.telling(state.rows) as exact:
        statement = state.as_statement() | {"multiple": many, "noise": much, "exact": exact}
        return _draw(state, many, much, exact=exact, text=text, seed=seed), statement


def _drawing_options(state: StreamState, multiple: int | None, noise: float | None) -> tuple[int, float]:
    """Find how many rows are drawn for each, and with how much noise: as asked for, or as the policy says."""
    many = int(state.options.get("multiple", 1)) if multiple is None else multiple
    much = float(state.options.get("noise", 0.0)) if noise is None else noise
    if many < 1:
        raise InputError(f"there is at least 1 row for each; --multiple cannot be {many}")
    if not 0 <= much <= 1:
        raise InputError(f"--noise is from 0 to 1, in standard deviations, and cannot be {much:g}")
    return many, much


def _draw(
    state: StreamState, multiple: int | None, noise: float | None, *, exact: bool, text: bool, seed: int | None
) -> Any:
    many, much = _drawing_options(state, multiple, noise)
    return draw_stream_rows(
        state.columns,
        state.groups,
        state.exponents,
        state.k,
        multiple=many,
        noise=much,
        exact=exact,
        text=text,
        randomness=Randomness(seed, "condensation"),
    )


def _cluster(columns: StreamColumns, points: FloatArray, k: int, clustering: str) -> IntArray:
    """Put the rows of a table at rest into groups of k to 2k - 1: int[n] of float[n, d]."""
    from sfumato.cluster.mdav import mdav, v_mdav  # noqa: PLC0415 - only for a table at rest
    from sfumato.cluster.median_cuts import median_cuts  # noqa: PLC0415 - same
    from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints  # noqa: PLC0415 - same
    from sfumato.condense.mixed_columns import standardize  # noqa: PLC0415 - same

    ways: dict[str, Callable[[MixedPoints, int], IntArray]] = {"mdav": mdav, "v-mdav": v_mdav, "mondrian": median_cuts}
    if clustering not in ways:
        raise InputError(f"--clustering is one of {', '.join(ways)}, and not {quote(clustering)}")
    numbers, categories = [], []
    for column, place in zip(columns.columns, columns.places, strict=True):
        if column.kind == "category":
            categories.append(CategoryColumn(points[:, place].argmax(axis=1), column.width, 1.0))
        else:
            numbers.append(standardize(points[:, place.start])[0])
    together = np.column_stack(numbers) if numbers else np.zeros((len(points), 0))
    return ways[clustering](MixedPoints(together, tuple(categories)), k)


def _read_whole(data: Any, policy: Policy | None) -> tuple[list[str], Any]:
    """Read a table at rest: the names of its columns, and those that are condensed as Arrow."""
    if not isinstance(data, str | os.PathLike):
        names = frame_column_names(data)
        wanted = [one for one in names if policy is None or one not in {c.name for c in policy.identifiers}]
        return names, frame_to_arrow(data, frame_kind(data), wanted)
    place = find_place(str(data))
    source = DataSource() if policy is None else policy.source
    names = column_names(place, source)
    return names, read_table(place, _reading_policy(names, policy)).arrow


def _reading_policy(names: Sequence[str], policy: Policy | None) -> Policy:
    """The policy by which a table file is read: the given one, or one that reads all columns."""
    if policy is not None:
        return policy
    columns = {one: {"role": "plain"} for one in names}
    return load({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "publish": {"form": "synthetic"}})


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_Batch = tuple[Sequence[str], Sequence[int] | None, list[Any], bool]
"""The names of columns, the line of each row where it is of a text, an Arrow array for each column, and whether more
rows are there already. Where there are none amid a batch, one without columns says so."""


def _read_batches(source: str | Path, batch: int, separator: str | None, policy: Policy | None) -> Iterator[_Batch]:
    """Read a stream in batches of so many rows: text as it comes, other files as a whole."""
    if batch < 1:
        raise InputError(f"a batch has at least 1 row; --batch cannot be {batch}")
    path = Path(source)
    mark = separator or (None if policy is None else policy.source.separator)
    if str(source) == "-":
        yield from _read_text_batches(io.FileIO(0, "rb", closefd=False), "standard input", batch, mark)
    elif path.suffix.lower() in TEXT_SUFFIXES:
        with open_regular_file(path) as file:
            yield from _read_text_batches(file, path.name, batch, mark)
    else:
        names, table = _read_whole(source, policy)
        for part in table.to_batches(max_chunksize=batch):
            found = dict(zip(part.schema.names, part.columns, strict=True))
            yield names, None, [found.get(one, pa.nulls(part.num_rows)) for one in names], True


def _read_text_batches(file: Any, name: str, batch: int, separator: str | None) -> Iterator[_Batch]:
    records = TextRecords(file, name, separator)
    rows: list[list[str]] = []
    lines: list[int] = []
    for record in records:
        rows.append(record)
        lines.append(records.line)
        if len(rows) == batch:
            cells = [arrow_texts(column) for column in zip(*rows, strict=True)]
            yield records.names, lines, cells, not records.waits()
            rows, lines = [], []
        elif records.waits():
            yield records.names, [], [], False
    if rows:
        yield records.names, lines, [arrow_texts(column) for column in zip(*rows, strict=True)], False
