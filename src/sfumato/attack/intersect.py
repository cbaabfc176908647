"""The intersection attack: what several releases about the same people leave open when they are taken together.

Each release alone may leave somebody a class of many sensitive values. In another release the same person is in another
class, with other values; the person's true value is in both, and there may be only one such value. For each person the
attack looks up the classes that match their quasi-identifiers, release by release, and intersects the sets of values
that occur in these classes.

Reference: Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.attack.result import AttackResult, ShownAttack
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.segments import run_starts
from sfumato.errors import DataError, InputError, did_you_mean, listing, quote
from sfumato.matching.lookup import CandidatePairs, PeopleLookup, unexplained_notes
from sfumato.matching.people import KnownPeople, people_from_release, people_from_table
from sfumato.policy import Policy
from sfumato.reading.outside_table import outside_column_names, read_outside_table
from sfumato.reading.release_reader import promised_k, read_audited_policy
from sfumato.reading.release_view import ReleaseLines, read_release_lines

_PAIRS_OF_BLOCK = 1 << 22
"""Pairs of a person and a line of a release that are looked at together."""

_APART = -1
"""In place of a number of values: the person matches fewer than two releases."""

_ONE_VALUE = (
    "Each person is taken to hold one value of a sensitive column, the same in all releases; whoever knows more than "
    "that, or learns from how values go with quasi-identifiers, may do better."
)


@dataclass(frozen=True)
class IntersectedRelease:
    """One of the releases: its folder as it was named, and what could be looked up in it.

    `by` are the quasi-identifiers that persons were looked up by. `absent` counts the persons who match no row, so that
    they are not in it. `k` is the largest that its promise has, ``None`` where it has none.
    """

    release: str
    form: str
    rows: int
    classes: int
    by: tuple[str, ...]
    absent: int
    k: int | None


@dataclass(frozen=True)
class LargestShare:
    """The largest share that a value has of the rows left to a person, in the release where that is most.

    `largest` is that of the person of whom one can be surest, `average` that of all; `alone` the averages over the rows
    that match in each release by itself. As a probability it holds for somebody to whom all rows left are equally
    likely.
    """

    largest: float | None
    average: float | None
    alone: tuple[float | None, ...]


@dataclass(frozen=True)
class RemainingValues:
    """What the releases leave of one sensitive column, in persons.

    `persons` match rows of two releases or more that have the column; the others are counted as `apart`. `smallest` is
    the fewest values that anybody has left, `below` how many persons have fewer than `threshold`. `exposed` are these
    without the persons of whom it is known that the true value is not among those left, and `alone` is the same for
    each release by itself, ``None`` where it lacks the column; `added` are exposed by the releases together and by none
    alone. `empty` are persons who have no value left. Where true values are known, `right` are the persons whose true
    value is the only one left, and `contradicted` those of whom it is not left. `histogram` counts persons by the
    number of values that they have left.
    """

    persons: int
    apart: int
    smallest: int | None
    threshold: int
    below: int
    exposed: int
    alone: tuple[int | None, ...]
    added: int
    empty: int
    right: int | None
    contradicted: int | None
    histogram: Mapping[int, int]
    share: LargestShare


@dataclass(frozen=True)
class RemainingRows:
    """Rows left to persons: those that match and have a value that is left, in the release that has the fewest.

    `below` counts the persons with fewer rows than the release has promised as k, and `alone` those with fewer matching
    rows in each release by itself; ``None`` where no k is promised.
    """

    smallest: int | None
    below: int | None
    alone: tuple[int | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class IntersectionResult(ShownAttack):
    """What several releases leave open when they are taken together.

    `left` has for each person, in the order of their rows, how many values of a column are left; -1 for those who match
    fewer than two releases. `notes` say what was not made use of.
    """

    persons: int
    releases: tuple[IntersectedRelease, ...]
    columns: Mapping[str, RemainingValues]
    rows: RemainingRows
    assumes: str
    notes: tuple[str, ...] = ()
    left: Mapping[str, IntArray] = field(default_factory=dict, repr=False)

    def as_json(self) -> dict[str, Any]:
        """Convert to what ``--json`` prints, without what is known of single persons."""
        return {
            "persons": self.persons,
            "releases": [asdict(release) for release in self.releases],
            "columns": {name: asdict(figures) for name, figures in self.columns.items()},
            "rows": asdict(self.rows),
            "assumes": self.assumes,
            "notes": list(self.notes),
        }

    def results(self) -> tuple[AttackResult, ...]:
        """Reduce to one line for each sensitive column; the baseline is the worst that one release does by itself."""
        names = [release.release for release in self.releases]
        return tuple(
            AttackResult(
                "intersect",
                self.assumes,
                f"persons with fewer than {figures.threshold} values of '{column}' left",
                figures.exposed / max(figures.persons, 1),
                max([0, *(alone for alone in figures.alone if alone is not None)]) / max(figures.persons, 1),
                says=describe_remaining_values(column, figures, names),
            )
            for column, figures in self.columns.items()
        )


def intersect(
    releases: Sequence[str | Path],
    known: Any = None,
    *,
    policy: Policy | None = None,
    threshold: int = 2,
    column: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> IntersectionResult:
    """Count, for each person, the sensitive values that are consistent with all releases taken together.

    `releases` are folders that anonymize wrote, or their public parts. `known` is a table with quasi-identifiers as the
    adversary knows them, such as the original: a `Table`, a path or a frame; without one persons are the rows of the
    first release. A `policy` says which columns are quasi-identifiers and how a file is read, in place of the first
    release's own. Who has fewer than `threshold` values left is exposed. `column` is one sensitive column, or all that
    two releases share.

    >>> import tempfile, sfumato as sf
    >>> from sfumato.datasets import hospital, hospital_policy
    >>> folder, rows = Path(tempfile.mkdtemp()), hospital(400)
    >>> both = [sf.anonymize(rows, hospital_policy()).save(folder / name) for name in ("may", "june")]
    >>> intersect(both, rows).columns["illness"].added
    0
    """
    if threshold < 2:
        raise InputError(
            f"the threshold is the fewest values that somebody should have left, 2 at least, not {threshold}"
        )
    if len(releases) < 2:
        raise InputError("one release has nothing to be intersected with; name two or more about the same people")
    published = [read_release_lines(Path(release)) for release in releases]
    names = [entry["name"] for release in published for entry in release.manifest.columns]
    policy = policy and policy.for_table(list(dict.fromkeys(names)), whole=False)
    document = read_audited_policy(published[0].manifest) if policy is None else policy.document
    quasi = _quasi_identifiers(published, document, listed_only=policy is not None)
    promised = [release.k if policy is None else promised_k(_rules(policy)) for release in published]
    sensitive = _shared_sensitive_columns(published, column)
    people = _find_people(published[0], known, quasi, sensitive, _section(document, "data"))

    fits = [
        PeopleLookup(people, release, own_lines=people.are_release_rows and place == 0)
        for place, release in enumerate(published)
    ]
    columns = [_ColumnIntersection(name, published, people) for name in sensitive]
    present = _look_up(people, fits, columns, progress)
    return IntersectionResult(
        people.person_count,
        tuple(
            IntersectedRelease(
                release=release.name,
                form=release.manifest.form,
                rows=release.rows,
                classes=len(release.sizes),
                by=fit.comparable,
                absent=int((~present[place][people.tuple_of]).sum()),
                k=release.k,
            )
            for place, (release, fit) in enumerate(zip(published, fits, strict=True))
        ),
        {shared.name: _count_values_left(shared, threshold) for shared in columns},
        _count_rows_left(columns, promised),
        _describe_assumptions(people, published),
        (*(note for fit in fits for note in unexplained_notes(fit)), *_note_pseudonyms(published)),
        {shared.name: shared.left[people.tuple_of] for shared in columns},
    )


# What is asked: roles of columns, and the persons


def _quasi_identifiers(
    releases: Sequence[ReleaseLines], document: Mapping[str, Any], *, listed_only: bool
) -> list[str]:
    """List the quasi-identifiers of any release, by the policy that is given or that the first release was made with.

    A quasi-identifier of another release that the first release's policy does not mention is one all the same; one that
    a given policy does not mention is not (`listed_only`).
    """
    columns = _section(document, "columns")
    roles = {name: options.get("role") for name, options in columns.items() if isinstance(options, dict)}
    published = dict.fromkeys(name for release in releases for name in release.quasi)
    return [name for name in published if roles.get(name, "" if listed_only else "quasi") == "quasi"]


def _shared_sensitive_columns(releases: Sequence[ReleaseLines], column: str | None) -> list[str]:
    """List the sensitive columns that two releases share, or check the one that is asked for."""
    names = [name for release in releases for name in release.bags]
    shared = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if column is not None and column not in shared:
        hint = did_you_mean(column, shared) or (f"; they share {listing(shared)}" if shared else "")
        raise InputError(f"{quote(column)} is no sensitive column of two of the releases{hint}")
    if not shared:
        what = "; ".join(f"{release.name} has {listing(release.bags) or 'none'}" for release in releases)
        raise InputError(f"the releases share no sensitive column, so that there is nothing to intersect: {what}")
    return shared if column is None else [column]


def _find_people(
    first: ReleaseLines, known: Any, quasi: Sequence[str], sensitive: Sequence[str], data: Mapping[str, Any]
) -> KnownPeople:
    """Take the rows of the table `known` as persons, or the rows of the first release where there is none.

    A file is read as the policy says in `data`, or else with the text for NULL that the first release has.
    """
    if known is None:
        return people_from_release(first, [name for name in quasi if name in first.quasi] or list(first.quasi))
    options = {key: value for key, value in data.items() if key != "source"}
    options = options or {"null": list(dict.fromkeys([first.manifest.null, ""]))}
    names = outside_column_names(known, options)
    known_quasi = [name for name in quasi if name in names]
    if not known_quasi:
        raise DataError(
            f"the table of known persons has no quasi-identifier of the releases, which are {listing(quasi)}; "
            "name one with columns that somebody may know"
        )
    known_sensitive = [name for name in sensitive if name in names]
    table = read_outside_table(known, [*known_quasi, *known_sensitive], options)
    return people_from_table(table, known_quasi, known_sensitive)


def _section(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Take a section of a policy document; empty where it is missing, since an audit may have been changed."""
    section = document.get(key)
    return section if isinstance(section, dict) else {}


def _rules(policy: Policy) -> list[Any]:
    rules = policy.document.get("privacy")
    return rules if isinstance(rules, list) else []


# The intersection, block by block


def _look_up(
    people: KnownPeople,
    fits: Sequence[PeopleLookup],
    columns: Sequence["_ColumnIntersection"],
    progress: Callable[[int, int], None] | None,
) -> BoolArray:
    """Look all people up in all releases, a block at a time, and add what is found to each column.

    Returns bool[r, t]: whether each of t different tuples occurs in each of r releases.
    """
    present = np.zeros((len(fits), people.tuple_count), dtype=np.bool_)
    step = max(_PAIRS_OF_BLOCK // max(len(fit.release.class_of) for fit in fits), 1)
    order = np.argsort(people.tuple_of, kind="stable")
    bounds = np.searchsorted(people.tuple_of[order], np.arange(people.tuple_count + 1))
    for start in range(0, people.tuple_count, step):
        end = min(start + step, people.tuple_count)
        pairs = [fit.candidate_classes(start, end) for fit in fits]
        present[:, start:end] = [matches.any_candidate for matches in pairs]
        persons = order[bounds[start] : bounds[end]]
        for column in columns:
            column.add_block(pairs, start, persons, people.tuple_of[persons] - start)
        if progress is not None:
            progress(end, people.tuple_count)
    return present


class _ColumnIntersection:
    """One sensitive column in all releases that have it, and what they leave of it to each person.

    Values are numbered alike in all releases; NULL is one. `places` says which of the releases have the column, and
    `true` has the true value of each person, -1 where no release has it, ``None`` where truth is not known. The other
    arrays are filled block by block, for r releases, t different tuples of quasi-identifiers and n persons:

    left:                     int[t], the number of values left, `_APART` where fewer than two releases match
    alone:                    int[r, t], the number of values in each release, 0 where none match or it lacks the column
    rows, rows_alone:         int[r, t], the rows with a value that is left; all rows that match
    share, share_alone:       float[r, t], the largest share that a value has of these
    true_left, true_alone:    bool[n], bool[r, n], whether the true value is among those left
    """

    def __init__(self, name: str, releases: Sequence[ReleaseLines], people: KnownPeople) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and only needed where releases are compared

        self.name, self.people = name, people
        self.places = tuple(place for place, release in enumerate(releases) if name in release.bags)
        domains = [releases[place].bags[name].domain.values for place in self.places]
        self.codes = {text: code for code, text in enumerate(dict.fromkeys(text for one in domains for text in one))}
        self.true: IntArray | None = None
        if (truth := people.true_values.get(name)) is not None:
            self.true = np.array([self.codes.get(text, -1) for text in truth.texts], dtype=np.int64)[truth.codes]
        self._bags: dict[int, Any] = {}  # by release: the rows of each class and value, as a sparse matrix
        for place in self.places:
            bag, shape = releases[place].bags[name], (len(releases[place].sizes), len(self.codes))
            value = np.array([self.codes[text] for text in bag.domain.values], dtype=np.int64)[bag.value]
            self._bags[place] = csr_array((bag.count, (bag.class_of, value)), shape=shape)
        by_tuple, by_person = (len(releases), people.tuple_count), (len(releases), people.person_count)
        self.left: IntArray = np.full(people.tuple_count, _APART)
        self.alone: IntArray = np.zeros(by_tuple, dtype=np.int64)
        self.rows: IntArray = np.zeros(by_tuple, dtype=np.int64)
        self.rows_alone: IntArray = np.zeros(by_tuple, dtype=np.int64)
        self.share, self.share_alone = np.zeros(by_tuple), np.zeros(by_tuple)
        self.true_left = np.zeros(people.person_count, dtype=np.bool_)
        self.true_alone = np.zeros(by_person, dtype=np.bool_)

    def add_block(self, pairs: Sequence[CandidatePairs], start: int, persons: IntArray, tuples: IntArray) -> None:
        """Fill in a block of b tuples from `start` on.

        pairs:            for each release the classes that each tuple of the block matches
        persons, tuples:  int[m], the persons who have a tuple of the block, and which of the block each has

        A pair of a tuple of the block and a value is packed as one key, so that sets of values of all tuples are
        intersected at once.
        """
        width = len(self.codes)
        counts = {place: self._count_values(place, pairs[place]) for place in self.places}
        matches = [pairs[place].any_candidate for place in self.places]
        size = len(matches[0])
        block = slice(start, start + size)
        common = intersect_keys([count.keys for count in counts.values()], matches, width)
        several = np.sum(matches, axis=0) >= 2
        self.left[block] = np.where(several, np.bincount(common // width, minlength=size), _APART)
        for place, (keys, rows) in counts.items():
            of_tuple, left = keys // width, is_among(keys, common)
            self.alone[place, block] = np.bincount(of_tuple, minlength=size)
            self.rows_alone[place, block], self.share_alone[place, block] = _sum_rows(of_tuple, rows, size)
            self.rows[place, block], self.share[place, block] = _sum_rows(of_tuple[left], rows[left], size)
        if self.true is not None:
            true = self.true[persons]
            true_keys = np.where(true < 0, -2, tuples * width + true)
            self.true_left[persons] = is_among(true_keys, common)
            for place, count in counts.items():
                self.true_alone[place, persons] = is_among(true_keys, count.keys)

    def _count_values(self, place: int, pairs: CandidatePairs) -> "_ValueCounts":
        """Count the rows of each value in the classes of a release that each tuple of a block matches."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - as above

        tuples = len(pairs.first) - 1
        ones = np.ones(len(pairs.candidates), dtype=np.int64)
        matches = csr_array((ones, pairs.candidates, pairs.first), shape=(tuples, self._bags[place].shape[0]))
        counts = matches @ self._bags[place]
        counts.sort_indices()
        of_tuple = np.repeat(np.arange(tuples, dtype=np.int64), np.diff(counts.indptr))
        return _ValueCounts(of_tuple * len(self.codes) + counts.indices, counts.data.astype(np.int64))

    def possible(self) -> BoolArray:
        """Tell which persons have a value left, and the true one among them where it is known."""
        some: BoolArray = self.left[self.people.tuple_of] > 0
        return some if self.true is None else some & self.true_left

    def exposed_by(self, place: int, threshold: int) -> BoolArray | None:
        """Tell which persons have fewer values than the threshold in one release; ``None`` if it lacks the column."""
        if place not in self.places:
            return None
        values = self.alone[place, self.people.tuple_of]
        few: BoolArray = (values > 0) & (values < threshold)
        return few if self.true is None else few & self.true_alone[place]


class _ValueCounts(NamedTuple):
    """Keys of a tuple and a value, in order, and the rows of each."""

    keys: IntArray
    rows: IntArray


def intersect_keys(keys: Sequence[IntArray], matches: Sequence[BoolArray], values: int) -> IntArray:
    """Find the keys of tuple and value that all releases have which the tuple matches; in order.

    keys:     for each release its different keys, tuple times `values` plus value
    matches:  for each release bool[b], whether a tuple matches any of its rows

    >>> matches = [np.array([True, True]), np.array([True, False])]
    >>> intersect_keys([np.array([0, 1, 3]), np.array([1])], matches, 3).tolist()
    [1, 3]
    """
    every = np.sort(np.concatenate(keys))
    if not len(every):
        return every
    first = run_starts(every)
    releases = np.diff(first, append=len(every))
    different = every[first]
    common: IntArray = different[releases == np.sum(matches, axis=0)[different // values]]
    return common


def is_among(keys: IntArray, ordered: IntArray) -> BoolArray:
    """Tell which keys are among some that are in order.

    >>> is_among(np.array([4, 2]), np.array([2, 3])).tolist()
    [False, True]
    >>> is_among(np.array([4]), np.array([], dtype=int)).tolist()
    [False]
    """
    place = np.searchsorted(ordered, keys)
    among: BoolArray = np.append(ordered, -1)[np.minimum(place, len(ordered))] == keys
    return among


def _sum_rows(of_tuple: IntArray, rows: IntArray, tuples: int) -> tuple[IntArray, FloatArray]:
    """Sum the rows of each tuple, and find the largest share of them that a value has."""
    total = np.bincount(of_tuple, weights=rows, minlength=tuples).astype(np.int64)
    most = np.zeros(tuples, dtype=np.int64)
    np.maximum.at(most, of_tuple, rows)
    return total, most / np.maximum(total, 1)


# Figures


def _count_values_left(column: _ColumnIntersection, threshold: int) -> RemainingValues:
    """Count persons by what is left of a column."""
    left = column.left[column.people.tuple_of]
    counted = left >= 0
    possible = column.possible()
    exposed = possible & (left < threshold)
    alone = [column.exposed_by(place, threshold) for place in range(len(column.alone))]
    truth = column.true is not None
    sizes, persons = np.unique(left[counted], return_counts=True)
    return RemainingValues(
        persons=int(counted.sum()),
        apart=int((~counted).sum()),
        smallest=int(left[possible].min()) if possible.any() else None,
        threshold=threshold,
        below=int(((left > 0) & (left < threshold)).sum()),
        exposed=int(exposed.sum()),
        alone=tuple(None if few is None else int(few.sum()) for few in alone),
        added=int((exposed & ~np.any([few for few in alone if few is not None], axis=0)).sum()),
        empty=int((left == 0).sum()),
        right=int((possible & (left == 1)).sum()) if truth else None,
        contradicted=int((counted & ~column.true_left).sum()) if truth else None,
        histogram=dict(zip(sizes.tolist(), persons.tolist(), strict=True)),
        share=_largest_share(column, possible),
    )


def _largest_share(column: _ColumnIntersection, possible: BoolArray) -> LargestShare:
    """Find how sure somebody may be who counts the rows that are left."""
    tuples = column.people.tuple_of
    best = column.share.max(axis=0)[tuples][possible]
    alone = [column.share_alone[place, tuples] for place in range(len(column.alone))]
    averages = tuple(float(share[share > 0].mean()) if (share > 0).any() else None for share in alone)
    if not len(best):
        return LargestShare(None, None, averages)
    return LargestShare(float(best.max()), float(best.mean()), averages)


def _count_rows_left(columns: Sequence[_ColumnIntersection], promised: Sequence[int | None]) -> RemainingRows:
    """Count the rows left to persons who have a value left of every column; `promised` is the k of each release."""
    tuples, places = columns[0].people.tuple_of, range(len(promised))
    possible = np.all([column.possible() for column in columns], axis=0)
    left = np.array([_fewest([column.rows[place] for column in columns]) for place in places])[:, tuples]
    matching = np.array([_fewest([column.rows_alone[place] for column in columns]) for place in places])
    few = [left[place] < k for place, k in enumerate(promised) if k is not None]
    return RemainingRows(
        int(left[:, possible].min()) if possible.any() else None,
        int((possible & np.any(few, axis=0)).sum()) if few else None,
        tuple(None if k is None else int((matching[place] < k)[tuples].sum()) for place, k in enumerate(promised)),
    )


def _fewest(rows: Sequence[IntArray]) -> IntArray:
    """Find the fewest rows by any column; the largest number where a release does not match, or lacks all columns."""
    fewest: IntArray = np.where(np.array(rows) > 0, rows, np.iinfo(np.int64).max).min(axis=0)
    return fewest


# Sentences: what an adversary is assumed to know, and what they learn; never that somebody is safe


def _describe_assumptions(people: KnownPeople, releases: Sequence[ReleaseLines]) -> str:
    every = "both" if len(releases) == 2 else f"all {len(releases)}"
    have = f"The adversary has the public files of {every} releases"
    if people.are_release_rows:
        who = f"and nothing else: a person is a row of the first one, known by its labels of {listing(people.columns)}"
        return f"{have} {who}, and may be in any row of the others under whose labels a common value lies. {_ONE_VALUE}"
    who = f"and knows of each person {listing(people.columns)}, exactly, and which releases the person is in"
    return f"{have} {who}. {_ONE_VALUE}"


def _note_pseudonyms(releases: Sequence[ReleaseLines]) -> Iterator[str]:
    """Warn of releases whose rows can be joined by pseudonyms, which the attack makes no use of."""
    keyed = [
        release.name
        for release in releases
        for entry in release.manifest.columns
        if entry.get("role") == "individual" and entry.get("pseudonyms") == "keyed"
    ]
    if len(keyed) > 1:
        yield f"{listing(keyed)} carry pseudonyms made with a key: who joins rows by these learns more than is counted."


def describe_remaining_values(column: str, figures: RemainingValues, releases: Sequence[str]) -> tuple[str, ...]:
    """Say what the figures of a column mean: together, each release alone, the true values, and contradictions."""
    if figures.persons:
        few = "only one value" if figures.threshold == 2 else f"fewer than {figures.threshold} values"
        persons = f"of {figures.persons:,} who are in two or more"
        together = f"Of '{column}', {_persons_have(figures.below)} {few} left in all releases together, {persons}."
    else:
        together = f"Nobody fits rows of two releases that have '{column}', so that there is nothing to intersect."
    by = [f"{count:,} by {name}" for count, name in zip(figures.alone, releases, strict=True) if count is not None]
    added = f"{figures.added:,} are exposed by the releases together and by none alone"
    sentences = [together, f"Each release alone exposes {', '.join(by)}; {added}."]
    if figures.right is not None:
        sentences.append(f"For {figures.right:,} persons the one value that is left is the true one.")
    why = "they are not in all releases, or their value has changed; they are not counted as exposed"
    if figures.contradicted:
        sentences.append(f"For {figures.contradicted:,} persons the true value is not among those left: {why}.")
    elif figures.empty:
        sentences.append(f"For {figures.empty:,} persons no value is left: {why}.")
    return tuple(sentences)


def describe_persons_and_rows(result: IntersectionResult) -> tuple[str, ...]:
    """Say which persons are not in all releases, and how few rows are left to somebody."""
    absent = [f"{release.absent:,} fit no row of {release.release}" for release in result.releases if release.absent]
    sentences = [f"Of {result.persons:,} persons, {', '.join(absent)}: they are not in it."] if absent else []
    rows = result.rows
    if rows.smallest is not None:
        few = "" if rows.below is None else f"; {_persons_have(rows.below)} fewer than the k that the release promises"
        sentences.append(f"The fewest rows that fit somebody and hold a value that is left are {rows.smallest:,}{few}.")
    return tuple(sentences)


def _persons_have(count: int) -> str:
    return "nobody has" if not count else "1 person has" if count == 1 else f"{count:,} persons have"
