"""Re-identification by known values: how many of a person's values somebody must know to find the person's row.

Exercise 16 of the chapter (see docs/papers.md). Any column may be known, a sensitive one as well: whoever was told a
diagnosis, or saw a rating, knows a value of it. Success is measured over B, the number of known values, averaged over
sets of B columns: over all sets where they are few, else over the beginnings of random orders of the columns.

The targets are rows of a raw table, looked for in that table; or rows of the original, looked for in its release.
Which rows fit B values is found one column after the other, by a `RowMatcher`: for a raw table groups of equal rows
are split by each further column (`TableMatcher`); for a release, whose labels overlap, there is a bit for each pair of
a target and a line (`ReleaseMatcher`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import comb
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from sfumato.attack.result import AttackResult, ShownAttack
from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, encode_column
from sfumato.errors import InputError, listing, quote
from sfumato.matching.lookup import BitWords, LookupColumn, PeopleLookup, pack_bits, unexplained_notes
from sfumato.matching.people import KnownPeople, people_from_rows, sample_rows
from sfumato.page.charts import ChartAxis, Series, lines
from sfumato.page.html import Markup
from sfumato.page.wording import percent, plural
from sfumato.policy import Policy
from sfumato.reading.outside_table import (
    check_column_names,
    original_read_options,
    outside_column_names,
    read_outside_table,
)
from sfumato.reading.release_reader import find_release_folder
from sfumato.reading.release_view import (
    LARGE,
    PUBLISHED_ROLES,
    ReleaseLines,
    ReleaseView,
    open_view,
    published_columns,
    published_rows,
)
from sfumato.recode import Recoding

Progress = Callable[[int, int], None]

TARGETS = 1_000
"""So many rows of the original are looked for in a release, where nobody says how many."""

FAMILIES = {
    "quasi-identifiers": PUBLISHED_ROLES[:1],
    "sensitive columns": PUBLISHED_ROLES[1:2],
    "all columns": PUBLISHED_ROLES,
}
"""Sets of columns that may be known, by their roles: success is measured for each."""


@dataclass(frozen=True)
class SearchEffort:
    """How much is tried: at most so many `targets`, `sets` of columns one by one, or else `orders` of all columns.

    Both stop where `work` is reached. The seed decides on targets and orders; it protects nothing.
    """

    targets: int | None = None
    sets: int = 1_024
    orders: int = 64
    work: int = 1 << 26
    seed: int = 1


QUICK = SearchEffort(targets=100, sets=128, orders=10, work=1 << 21)
"""For a report, which nobody should have to wait for."""


@dataclass(frozen=True)
class SuccessPoint:
    """The success of so many known values, averaged over so many `sets` of columns.

    `only` is the share of targets whom one row fits and no other, `chance` the average chance of picking a target's row
    among those that fit, and `none` the share whom no row fits.
    """

    known: int
    only: float
    chance: float
    none: float
    sets: int


@dataclass(frozen=True)
class SuccessSeries:
    """Success over the number of known values, all of them of some `columns`; `exact` says that every set was tried."""

    label: str
    columns: tuple[str, ...]
    exact: bool
    points: tuple[SuccessPoint, ...]

    def sentences(self) -> Iterator[str]:
        """Say what all values together reach, and how many values are enough to be right every other time."""
        last = self.points[-1]
        what = f"{plural(last.known, 'value')} of {self.label}"
        picked = f"{percent(last.chance)} are picked right"
        yield f"By {what}, {percent(last.only)} of people are the only match, and {picked}."
        half = next((point.known for point in self.points if point.chance >= 0.5), None)
        if half is not None and half < last.known:
            enough = "is enough" if half == 1 else "are enough"
            yield f"{plural(half, 'value')} of {self.label} {enough} to pick the right row every other time."
        if last.none:
            yield f"{percent(last.none)} fit no row: theirs is not in it."


@dataclass(frozen=True, repr=False)
class KnownValuesResult(ShownAttack):
    """The attack on a table: its `rows`, how many `targets` were looked for, and success over B.

    `baseline` is the chance of picking the right row without knowing anything. `notes` say what was left out.
    """

    table: str
    rows: int
    targets: int
    released: bool
    seed: int
    baseline: float
    assumes: str
    series: tuple[SuccessSeries, ...]
    notes: tuple[str, ...] = ()

    def results(self) -> tuple[AttackResult, ...]:
        """Summarize the attack: for each series, what all of its values together reach."""
        if not self.series:
            why = " ".join(self.notes) or "No column could be compared."
            counts = "persons whose row is picked"
            return (AttackResult("known", self.assumes, counts, None, self.baseline, says=(why,)),)
        return tuple(
            AttackResult(
                "known",
                self.assumes,
                f"persons whose row is picked by {plural(series.points[-1].known, 'value')} of {series.label}",
                series.points[-1].chance,
                self.baseline,
                says=tuple(series.sentences()),
            )
            for series in self.series
        )

    def sentences(self) -> tuple[str, ...]:
        """Say what the figures mean, for the command."""
        targets = f"{plural(self.targets, 'row')}{' of the original' if self.released else ''}"
        first = (
            f"{targets} {'was' if self.targets == 1 else 'were'} looked for among {plural(self.rows, 'row')}; "
            f"without anything known, the right one is picked 1 time in {self.rows:,}."
        )
        series = (sentence for series in self.series for sentence in series.sentences())
        return (first, *series, *self.notes, self.assumes)

    def chart(self) -> Markup:
        """Draw the average chance over the number of known values, and the chance without any."""
        drawn_series = [
            Series(series.label, [(point.known, point.chance) for point in series.points]) for series in self.series
        ]
        most = max((point.known for series in self.series for point in series.points), default=1)
        nothing = Series("nothing known", [(1, self.baseline), (most, self.baseline)])
        across, up = ChartAxis("known values (B)", whole=True), ChartAxis("rows picked right", percent=True)
        return lines([*drawn_series, nothing], across, up, title="Re-identification by known values")

    def as_json(self) -> dict[str, Any]:
        """Convert to JSON."""
        return asdict(self) | {"tried": [result.as_json() for result in self.results()]}


def known(  # noqa: PLR0913 - as many settings as the question has
    data: Any,
    original: Any = None,
    *,
    policy: Policy | None = None,
    columns: Sequence[str] = (),
    most: int | None = None,
    effort: SearchEffort | None = None,
    progress: Progress | None = None,
) -> KnownValuesResult:
    r"""Count how often B known values of a person lead to the person's row, for B from 1 to all, or to `most`.

    `data` is a raw table, a path or a frame, whose own rows are the targets; or a release, folder or file, whose
    targets are rows of the `original` with their true values. Values are of the `columns` named, or of all that are
    published, by roles: those of the release, or of the `policy` of a file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = file.write_text("bread,milk\n1,0\n1,1\n0,1\n0,1\n")
    >>> [(one.known, one.only, one.chance) for one in known(file, columns=["bread", "milk"]).series[0].points]
    [(1, 0.125, 0.5), (2, 0.5, 0.75)]
    """
    if most is not None and most < 1:
        raise InputError(f"at least 1 value has to be known, not {most}")
    twice = [name for name in columns if list(columns).count(name) > 1]
    if twice:
        raise InputError(f"column {quote(twice[0])} is named twice; name each column once")
    path, effort = Path(data) if isinstance(data, str) else data, effort or SearchEffort()
    names = list(columns) or published_columns(path, policy)
    shown = open_view(path, names, policy)
    if original is None:
        if find_release_folder(path) is not None:
            raise InputError(f"{path} is a release; name the table that it was made from (--original)")
        targets = sample_rows(np.arange(shown.rows), effort.targets or shown.rows, effort.seed)
        matcher = TableMatcher.from_columns([shown.columns[name] for name in names], targets)
        series = _measure_families(shown, matcher, names, most, effort, progress)
        return _summarize(shown, series, len(targets), effort, fits=None)
    options = original_read_options(policy, shown.manifest)
    title = Path(original).name if isinstance(original, str | Path) else "the original"
    check_column_names(names, outside_column_names(original, options), title)
    table = read_outside_table(original, names, options)
    true = {name: encode_column(table, name) for name in names}

    def draw(size: int) -> IntArray:
        return sample_rows(np.arange(table.rows), size, effort.seed)

    return _attack_release(shown, true, draw, most, effort, progress)


def known_in_memory(
    encoded: EncodedTable, recoding: Recoding, shown: ReleaseView, *, effort: SearchEffort = QUICK
) -> KnownValuesResult:
    """Look for published rows of the original in a release in memory, for the report.

    `shown` is the release as `view_recoding` gives it; plain columns, which it does not have, are added here.
    """
    rows, large = published_rows(recoding), encoded.lines > LARGE
    plain = {name: encoded.coded(name) for name in (() if large else encoded.plain)}
    true = {attribute.name: attribute.column for attribute in encoded.quasi} | dict(encoded.sensitive) | plain
    published = {name: replace(column, codes=column.codes.take(rows)) for name, column in plain.items()}
    shown = replace(shown, columns={**shown.columns, **published})
    found = _attack_release(
        shown, true, lambda size: sample_rows(rows, size, effort.seed, encoded.counts), None, effort, None
    )
    left = [name for name in shown.with_role("plain", "weight") if name not in plain]
    if not left:
        return found
    why = "since the table is large" if large else "since rows were not held in memory"
    note = f"Plain columns were left out, {why}: {listing(left)}; sfumato attack known looks at them."
    return replace(found, notes=(*found.notes, note))


def _attack_release(
    shown: ReleaseView,
    true: Mapping[str, CodedColumn],
    draw: Callable[[int], IntArray],
    most: int | None,
    effort: SearchEffort,
    progress: Progress | None,
) -> KnownValuesResult:
    """Look for some rows of the original, by their true values, in a release; `draw` draws so many at most."""
    release = shown.lines(list(true))
    line_bits = LineBits.from_release(release)
    targets = min(effort.targets or TARGETS, line_bits.most_targets(len(true)))
    people = people_from_rows(true, draw(targets))
    fits = PeopleLookup(people, release)
    matcher = ReleaseMatcher.from_fits(people, fits, line_bits)
    series = _measure_families(shown, matcher, list(fits.columns), most, effort, progress)
    return _summarize(shown, series, people.person_count, effort, fits=fits)


def _measure_families(
    shown: ReleaseView,
    matcher: "RowMatcher",
    names: Sequence[str],
    most: int | None,
    effort: SearchEffort,
    progress: Progress | None,
) -> tuple[SuccessSeries, ...]:
    """Measure success for each family of the columns `names`; equal families are measured once."""
    roles = {entry["name"]: entry.get("role") for entry in shown.manifest.columns}
    families: dict[str, list[int]] = {}
    for label, wanted in FAMILIES.items():
        places = [place for place, name in enumerate(names) if roles.get(name, "plain") in wanted]
        if places and places not in families.values():
            families[label] = places
    series = []
    for label, places in families.items():
        points, exact = measure_success(matcher, places, most or len(places), effort=effort, progress=progress)
        series.append(SuccessSeries(label, tuple(names[place] for place in places), exact, points))
    return tuple(series)


def _summarize(
    shown: ReleaseView,
    series: tuple[SuccessSeries, ...],
    targets: int,
    effort: SearchEffort,
    *,
    fits: PeopleLookup | None,
) -> KnownValuesResult:
    """Add assumptions and notes; `fits` is there where a release was attacked."""
    released = fits is not None
    notes = [] if fits is None else [*unexplained_notes(fits)]
    if shown.class_of is not None:
        notes.append(
            "The release is two tables: a row is a line of the first, and a sensitive value fits all lines of a class "
            "that has it."
        )
    if shown.individual is not None:
        notes.append(
            "Rows carry pseudonyms, and rows are counted: who knows of several rows of a person may do better."
        )
    table = "the release" if released else "the table"
    values = "true values, exactly" if released else "values as they stand in the table"
    assumes = (
        f"The adversary has {table}, knows that a person is in it, and knows of the person B {values}, of columns "
        "drawn at random, sensitive ones like any other. Whatever else stands in the row is learned with it."
    )
    return KnownValuesResult(
        shown.name,
        shown.rows,
        targets,
        released,
        effort.seed,
        baseline=1 / shown.rows,
        assumes=assumes,
        series=series,
        notes=tuple(notes),
    )


# Sets of columns


class RowMatcher(Protocol):
    """Knows how many rows fit what is known of each target, while values become known one column after the other."""

    lasting: ClassVar[bool]
    """Whether a target who is the only match stays one when more is known: true where its row is in the table."""

    @property
    def targets(self) -> IntArray:
        """How many targets each count is about."""
        ...

    @property
    def cost(self) -> int:
        """The work of one step."""
        ...

    def start(self) -> Any:
        """Return the state in which nothing is known."""
        ...

    def narrow(self, state: Any, place: int) -> Any:
        """Return the state in which a value of one more column is known."""
        ...

    def matches(self, state: Any) -> IntArray:
        """Count the rows that fit, for each of the `targets`."""
        ...


def measure_success(
    matcher: RowMatcher, places: Sequence[int], most: int, *, effort: SearchEffort, progress: Progress | None = None
) -> tuple[tuple[SuccessPoint, ...], bool]:
    """Measure success over the number of known values up to `most`; say also whether all sets of columns were tried.

    `places` are the matcher's numbers of the columns that may be known.
    """
    tally, most = SuccessTally(matcher.targets), min(most, len(places))
    sets = sum(comb(len(places), size) for size in range(1, most + 1))
    if sets <= effort.sets and sets * matcher.cost <= effort.work:
        _try_all_sets(matcher, places, most, tally)
        return tally.points(), True
    orders = int(np.clip(effort.work // (matcher.cost * most), 4, effort.orders))
    rng = np.random.default_rng(effort.seed)
    for done in range(orders):
        _try_order(matcher, rng.permutation(places)[:most].tolist(), tally)
        if progress is not None:
            progress(done + 1, orders)
    return tally.points(), False


def _try_all_sets(matcher: RowMatcher, places: Sequence[int], most: int, tally: "SuccessTally") -> None:
    """Try every set once: a set is extended by columns that come after all of its own."""
    start = matcher.start()
    stack = [(start, index, 1) for index in range(len(places))]
    while stack:
        before, index, size = stack.pop()
        state = matcher.narrow(before, places[index])
        tally.add(size, matcher.matches(state))
        if size < most:
            stack += [(state, after, size + 1) for after in range(index + 1, len(places))]


def _try_order(matcher: RowMatcher, places: Sequence[int], tally: "SuccessTally") -> None:
    """Try the first, the first two, ... of some columns.

    Once every target is the only match and that is lasting, further columns need no look.
    """
    state, all_alone = matcher.start(), False
    matches: IntArray = np.ones(len(matcher.targets), dtype=np.int64)
    for size, place in enumerate(places, start=1):
        if not all_alone:
            state = matcher.narrow(state, place)
            matches = matcher.matches(state)
        all_alone = tally.add(size, matches) and matcher.lasting


@dataclass(eq=False)
class SuccessTally:
    """Shares of targets by the number of known values, summed over sets of columns; `weights` counts targets."""

    weights: IntArray
    sums: dict[int, Any] = field(default_factory=dict)
    sets: dict[int, int] = field(default_factory=dict)

    def add(self, size: int, matches: IntArray) -> bool:
        """Add a set of so many columns; return whether every target is the only match.

        matches: int[len(weights)], the rows that fit each kind of target
        """
        weights, some = self.weights, matches > 0
        chances = np.divide(1.0, matches, out=np.zeros(len(matches)), where=some)
        shares = np.array([weights[matches == 1].sum(), (weights * chances).sum(), weights[~some].sum()])
        self.sums[size] = self.sums.get(size, 0.0) + shares / weights.sum()
        self.sets[size] = self.sets.get(size, 0) + 1
        return bool((matches[weights > 0] == 1).all())

    def points(self) -> tuple[SuccessPoint, ...]:
        """Average over the sets of each size."""
        points = []
        for size, sets in sorted(self.sets.items()):
            only, chance, none = (self.sums[size] / sets).tolist()
            points.append(SuccessPoint(size, only, chance, none, sets))
        return tuple(points)


# Rows of a raw table, in groups of equal rows


class RowGrouping(NamedTuple):
    """The group of each distinct row, and how many groups there are."""

    group: IntArray
    groups: int


@dataclass(frozen=True, eq=False)
class TableMatcher:
    """Finds rows of a raw table that agree with a target in the known columns.

    columns: codes and width of each column, int[distinct rows]
    rows:    int[distinct rows], the rows that each stands for; targets: how many of these are targets
    """

    columns: tuple[tuple[IntArray, int], ...]
    rows: IntArray
    targets: IntArray

    lasting: ClassVar[bool] = True

    @classmethod
    def from_columns(cls, columns: Sequence[CodedColumn], targets: IntArray) -> "TableMatcher":
        """Take the columns of a table, and the numbers of the rows that are targets."""
        packed_rows = pack_tuples([column.codes for column in columns], [column.width for column in columns])
        _, first, place, rows = np.unique(packed_rows.keys, return_index=True, return_inverse=True, return_counts=True)
        distinct = tuple((narrow_codes(column.codes[first], column.width), column.width) for column in columns)
        return cls(distinct, rows, np.bincount(place[targets], minlength=len(rows)))

    @property
    def cost(self) -> int:
        """The work of splitting groups once."""
        return len(self.rows)

    def start(self) -> RowGrouping:
        """Put all rows into one group: nothing is known."""
        return RowGrouping(np.zeros(len(self.rows), dtype=np.int64), 1)

    def narrow(self, state: RowGrouping, place: int) -> RowGrouping:
        """Split each group by the values of one more column."""
        codes, width = self.columns[place]
        return RowGrouping(*number_tuples(pack_tuples([state.group, codes], [state.groups, width])))

    def matches(self, state: RowGrouping) -> IntArray:
        """Count the rows in the group of each distinct row."""
        sizes = np.bincount(state.group, weights=self.rows, minlength=state.groups).astype(np.int64)
        return sizes[state.group]


# Lines of a release, a bit for each

_WORD = 64

_WORDS = 1 << 25
"""The most words of all columns together: fewer targets are looked for where there are more lines."""

_CELLS = 1 << 23
"""Values times lines that are compared together."""


@dataclass(frozen=True, eq=False)
class LineBits:
    """Which line of a release each bit is about, so that rows can be counted by counting bits.

    Equal rows are one line, which stands for as many rows as it has. So a line has a bit for each power of two that its
    number of rows is the sum of, and bits of one power are together, filled up to whole words.

    place: int[bits], the line of each bit, -1 where it only fills up
    first: int[powers], the word where each power begins; worth: int[powers], the rows that one of its bits stands for
    """

    place: IntArray
    first: IntArray
    worth: IntArray

    @classmethod
    def from_release(cls, release: ReleaseLines) -> "LineBits":
        """Give each line its bits."""
        rows = release.line_rows
        powers = {2**power: np.flatnonzero(rows >> power & 1) for power in range(int(rows.max()).bit_length())}
        padded = {
            worth: np.pad(place, (0, -len(place) % _WORD), constant_values=-1)
            for worth, place in powers.items()
            if len(place)
        }
        words = np.array([len(place) // _WORD for place in padded.values()])
        return cls(np.concatenate(list(padded.values())), np.cumsum(words) - words, np.array(list(padded)))

    def most_targets(self, columns: int) -> int:
        """Return how many targets can be looked for at once, by so many columns."""
        return max(_WORDS * _WORD // (len(self.place) * columns), 1)


@dataclass(frozen=True, eq=False)
class ReleaseMatcher:
    """Finds lines of a release whose labels cover the known values, for all targets at once.

    Targets with equal values are one. A word is 64 bits, as `line_bits` orders them.

    columns: uint64[targets, words] for each column, the lines that fit; every: the same where nothing is known
    targets: int[targets], how many each stands for
    """

    columns: tuple[BitWords, ...]
    every: BitWords
    line_bits: LineBits
    targets: IntArray

    lasting: ClassVar[bool] = False

    @classmethod
    def from_fits(cls, people: KnownPeople, fits: PeopleLookup, line_bits: LineBits) -> "ReleaseMatcher":
        """Compare all targets with all lines, column by column."""
        inside = pack_bits((line_bits.place >= 0)[np.newaxis, :])
        words = tuple(_compare_column(column, line_bits.place) for column in fits.columns.values())
        targets = np.bincount(people.tuple_of, minlength=people.tuple_count)
        return cls(words, np.repeat(inside, people.tuple_count, axis=0), line_bits, targets)

    @property
    def cost(self) -> int:
        """The work of one step; a word is quicker looked at than a row."""
        return self.every.size // 8 + 1

    def start(self) -> BitWords:
        """Return all lines, for every target: nothing is known."""
        return self.every

    def narrow(self, state: BitWords, place: int) -> BitWords:
        """Keep the lines that fit in one more column."""
        return state & self.columns[place]

    def matches(self, state: BitWords) -> IntArray:
        """Count the rows of the lines that fit each target: bits of each power of two, times what they stand for."""
        bits = np.add.reduceat(np.bitwise_count(state), self.line_bits.first, axis=1, dtype=np.int64)
        rows: IntArray = bits @ self.line_bits.worth
        return rows


def _compare_column(column: LookupColumn, place: IntArray) -> BitWords:
    """Find the lines that fit each target in one column, some distinct values at a time.

    place: int[bits], see `LineBits`; bits that only fill up are removed by the `every` of the matcher
    """
    codes = column.lines[np.maximum(place, 0)]
    used, targets = np.unique(column.people, return_inverse=True)
    step = max(_CELLS // max(len(codes), 1), 1)
    blocks = [
        pack_bits(column.overlap.overlaps(used[start : start + step].astype(np.int64))[:, codes])
        for start in range(0, len(used), step)
    ]
    return np.concatenate(blocks)[targets]
