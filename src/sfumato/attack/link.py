"""The linkage attack: a release joined with an outside table that names people, as an adversary would do it.

Sweeney joined a hospital's discharge records with a voter roll on birth date, sex and ZIP code, and found the governor
(Sweeney 2002, "k-anonymity"). Which records a person matches, and which persons match a record, is what the two tables
tell together (`attack.record_linkage` counts it). What follows for one person depends on what else is assumed:

- `everybody`: the outside table has everybody whom the release may be about. Each record is then one of the persons who
  match it, as likely one as the other.
- `in_release`: the person is known to be in the release. One of the records that match is then theirs. k-anonymity
  bounds this chance by 1/k for somebody who knows quasi-identifiers alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attack.record_linkage import (
    LikeliestValues,
    MatchCounts,
    MatchingPairs,
    Progress,
    ValuePosterior,
    count_matches,
    find_likeliest_values,
)
from sfumato.attack.result import AttackResult, ShownAttack
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import CodedColumn, EncodedTable, encode_column
from sfumato.errors import InputError, did_you_mean, listing, quote
from sfumato.matching.lookup import PeopleLookup, text_comparison_notes, unexplained_notes
from sfumato.matching.people import KnownPeople, people_from_rows, people_from_table, sample_rows
from sfumato.page.wording import percent, plural
from sfumato.policy import Policy
from sfumato.reading.outside_table import (
    check_column_names,
    outside_column_names,
    outside_read_options,
    read_outside_table,
)
from sfumato.reading.release_reader import find_release_folder
from sfumato.reading.release_view import ReleaseView, open_view, published_rows
from sfumato.recode import Recoding

IN_RELEASE = (
    "The adversary has the release, knows of a person {on}, exactly, and knows that the person is in the release: each "
    "record that matches is as likely as any other to be theirs."
)
EVERYBODY = (
    "The adversary has the release and {known}, with {on} of each person, exactly, and takes the persons in it for all "
    "whom the release may be about: each record is one of the persons who match it, as likely one as the other."
)

_PERSONS = 2_000
_CELLS = 1 << 26
_FEWEST = 100
"""A report looks up so many persons; fewer where there are more pairs with lines than `_CELLS`, but `_FEWEST`."""


@dataclass(frozen=True)
class LinkageChance:
    """The chance that a record and a person belong together, under one assumption.

    `everybody`: a record is one of its candidates, and `average` is over all records (0 where nobody matches one),
    `one` the records with one candidate. `in_release`: one of the matching records is the person's, `average` is over
    the persons who match any, `one` those who match one record. `baseline` is the chance without the join.
    """

    assumes: str
    highest: float
    average: float
    baseline: float
    one: int


@dataclass(frozen=True)
class ValueGuess:
    """The likeliest value of each person who matches a record, under one assumption.

    `certain` are the persons for whom no other value is possible. `highest` and `average` are chances of the likeliest
    value; `baseline` is the chance of the most frequent value of the release, for anybody.
    """

    certain: int
    highest: float
    average: float
    baseline: float


@dataclass(frozen=True)
class LinkedColumn:
    """What the join tells of one sensitive column.

    `right` is the share of matched persons whose likeliest value, if they are in the release, is the true one, and
    `right_baseline` that of persons who hold the most frequent value; ``None`` where the outside table does not say.
    """

    everybody: ValueGuess | None
    in_release: ValueGuess
    right: float | None = None
    right_baseline: float | None = None


@dataclass(frozen=True)
class PersonValue:
    """The likeliest value of one person, and its chance."""

    value: str | None
    chance: float


@dataclass(frozen=True)
class ExposedPerson:
    """One person who matches: a name or the number of a row, from 1 on.

    `records` match the person, and `candidates` the record that fewest persons match. `everybody` and `in_release` are
    the chances of that record and of any of the records to be the person's; `inside` is the chance to be in the release
    at all where the outside table is everybody. `values` has the likeliest value of each column under each assumption.
    """

    person: str | int | None
    records: int
    candidates: int
    certain: bool
    everybody: float
    inside: float
    in_release: float
    values: Mapping[str, Mapping[str, PersonValue]]


@dataclass(frozen=True, eq=False, repr=False)
class LinkageResult(ShownAttack):
    """A release joined with an outside table.

    `records` of the release and `people` of the outside table, those that are `matched_people` and `matched_records`,
    and `certain`: persons who match one record that nobody else matches. `persons` are the most exposed ones. `matches`
    has for each person, in the order of their rows, how many records they match.
    """

    release: str
    known: str
    on: tuple[str, ...]
    records: int
    people: int
    matched_records: int | None
    matched_people: int
    certain: int | None
    everybody: LinkageChance | None
    in_release: LinkageChance
    columns: Mapping[str, LinkedColumn]
    persons: tuple[ExposedPerson, ...] = ()
    notes: tuple[str, ...] = ()
    bound: float | None = None
    matches: IntArray | None = field(default=None, repr=False)

    def results(self) -> tuple[AttackResult, ...]:
        """Summarize the attack: identities under each assumption, then each sensitive column."""
        columns = (result for name, column in self.columns.items() for result in self._value_results(name, column))
        return (*self._identity_results(), *columns)

    def sentences(self) -> tuple[str, ...]:
        """Say what the figures mean, for the command."""
        first = (
            f"{_persons_match(self.matched_people)} records of the release, of {self.people:,} in the outside table."
        )
        right = [
            f"The likeliest value of '{name}' is the true one for {percent(column.right or 0.0)} of the persons who "
            "match; the most frequent value of the release would be right for "
            f"{percent(column.right_baseline or 0.0)}."
            for name, column in self.columns.items()
            if column.right is not None
        ]
        return (first, self._certain_persons(), *right, *self.notes)

    def as_json(self, persons: int = 0) -> dict[str, Any]:
        """Convert to JSON, with so many of the most exposed persons."""
        plain = ("release", "known", "records", "people", "matched_records", "matched_people", "certain")
        return {
            **{key: getattr(self, key) for key in plain},
            "on": list(self.on),
            "everybody": None if self.everybody is None else asdict(self.everybody),
            "in_release": asdict(self.in_release),
            "columns": {name: asdict(column) for name, column in self.columns.items()},
            "tried": [result.as_json() for result in self.results()],
            "notes": list(self.notes),
            **({"persons": [asdict(person) for person in self.persons[:persons]]} if persons else {}),
        }

    def _identity_results(self) -> Iterator[AttackResult]:
        if self.everybody is not None:
            chance, counts = self.everybody, "records tied to the right person"
            one = f"{plural(chance.one, 'record')} of {self.records:,} can be one person's only."
            sure = (_highest(chance), one, self._certain_persons())
            yield AttackResult("link", chance.assumes, counts, chance.average, chance.baseline, says=sure)
        chance, counts = self.in_release, "persons whose record is picked"
        one = f"{_persons_match(chance.one)} one record only, of {self.matched_people:,} who match any."
        says = (_highest(chance), one, *self.notes)
        yield AttackResult("link", chance.assumes, counts, chance.average, chance.baseline, self.bound, says)

    def _value_results(self, name: str, column: LinkedColumn) -> Iterator[AttackResult]:
        counts = f"persons whose '{name}' is guessed right"
        if self.everybody is not None and column.everybody is not None:
            guess, says = column.everybody, (self._certain_values(name, column.everybody),)
            yield AttackResult("link", self.everybody.assumes, counts, guess.average, guess.baseline, says=says)
        guess, says = column.in_release, (self._certain_values(name, column.in_release),)
        success = guess.average if column.right is None else column.right
        baseline = guess.baseline if column.right_baseline is None else column.right_baseline
        yield AttackResult("link", self.in_release.assumes, counts, success, baseline, says=says)

    def _certain_persons(self) -> str:
        if self.certain is None:
            return ""
        if not self.certain:
            return "Nobody is tied to one record: no one matches a single record that nobody else matches."
        tied = "is tied" if self.certain == 1 else "are tied"
        return f"{_persons_match(self.certain)} one record that nobody else matches, and so {tied} to it."

    def _certain_values(self, name: str, guess: ValueGuess) -> str:
        surest = f"{percent(guess.highest)} at the most"
        return f"'{name}' is certain for {guess.certain:,} of {self.matched_people:,} persons who match ({surest})."


def _highest(chance: LinkageChance) -> str:
    return f"The highest chance is {percent(chance.highest)}."


def _persons_match(count: int) -> str:
    return "Nobody matches" if not count else "1 person matches" if count == 1 else f"{count:,} persons match"


def link(  # noqa: PLR0913 - as many settings as the question has
    release: Any,
    known: Any,
    on: Sequence[str],
    *,
    policy: Policy | None = None,
    sensitive: Sequence[str] = (),
    name: str | None = None,
    most: int = 20,
    progress: Progress | None = None,
) -> LinkageResult:
    r"""Join a release with an outside table on some columns, and say what that tells of the persons in the table.

    `release` is a folder that anonymize wrote, its public part, or a file or frame: raw, or published by anybody, whose
    labels are explained by the `policy`; without one a label is a value and ``*`` stands for all.
    `known` is the outside table, each row a person: a path or a frame. `sensitive` are the columns to learn of people,
    those of the release or of the policy if none is named. `name` is the column of the outside table that names people,
    and `most` how many of the most exposed are listed.

    >>> import pyarrow, tempfile
    >>> file = Path(tempfile.mkdtemp()) / "hospital.csv"
    >>> _ = file.write_text("age,zip,disease\n26,10547,HIV\n37,90210,Hepatitis C\n")
    >>> roll = pyarrow.table({"name": ["Joy", "William", "Sue"], "age": [26, 37, 26]})
    >>> found = link(file, roll, ["age"], sensitive=["disease"], name="name")
    >>> [(one.person, one.values["disease"]["everybody"].chance) for one in found.persons]
    [('William', 1.0), ('Joy', 0.5), ('Sue', 0.5)]
    """
    _check_columns(on, sensitive)
    path = Path(release) if isinstance(release, str) else release
    shown = open_view(path, [*on, *sensitive], policy)
    policy = policy and policy.for_table([entry["name"] for entry in shown.manifest.columns], whole=False)
    learned, quasi = _columns_to_learn(shown, on, sensitive, policy), shown.with_role("quasi")

    # The outside table: the columns to join on, the sensitive ones that it has, and the names
    options = outside_read_options(policy, shown.manifest)
    title = Path(known).name if isinstance(known, str | Path) else "the outside table"
    in_outside, name_column = outside_column_names(known, options), [name] if name else []
    check_column_names([*on, *name_column], in_outside, title)
    truth = [column for column in learned if column in in_outside]
    table = read_outside_table(known, list(dict.fromkeys([*on, *truth, *name_column])), options)
    names = _texts(encode_column(table, name)) if name else None
    people = people_from_table(table, on, truth)

    released = shown.lines(on, learned)
    fits = PeopleLookup(people, released)
    matching = MatchingPairs(fits, progress)
    counts = count_matches(matching, people)
    posteriors = {column: find_likeliest_values(column, matching, counts) for column in released.bags}
    notes = [*unexplained_notes(fits)]
    if find_release_folder(path) is None and policy is None:  # neither a data dictionary nor a policy explains labels
        notes += text_comparison_notes(fits)
    # The promise is about all quasi-identifiers of one table, and bounds whoever knows some of these and nothing else
    whole = bool(quasi) and shown.class_of is None and set(on) <= set(quasi)
    return LinkageResult(
        released.name,
        title,
        tuple(on),
        records=counts.total_records,
        people=people.person_count,
        matched_records=int(counts.own[counts.candidates > 0].sum()),
        matched_people=int(counts.persons[counts.matched].sum()),
        certain=int(counts.persons[counts.certain].sum()),
        everybody=_chance_of_records(counts, EVERYBODY.format(known=title, on=listing(people.columns))),
        in_release=_chance_of_persons(counts, IN_RELEASE.format(on=listing(people.columns))),
        columns={column: _guess_values(counts, one, people, column) for column, one in posteriors.items()},
        persons=_most_exposed(counts, posteriors, people.tuple_of, names, most),
        notes=(*notes, *_notes_on_release(shown), *_notes_on_names(names, title), *_notes_on_strangers(counts)),
        bound=1 / released.k if released.k and whole else None,
        matches=counts.records[people.tuple_of],
    )


def link_in_memory(
    encoded: EncodedTable, recoding: Recoding, shown: ReleaseView, *, persons: int = _PERSONS, seed: int = 1
) -> LinkageResult:
    """Look up people of the original in their own release in memory, by all quasi-identifiers, for the report.

    `shown` is the release as `view_recoding` gives it. The adversary knows that they are in it, and nothing is assumed
    of others. At most so many `persons` are looked up, drawn at random; the figures are about them.
    """
    released = shown.lines(encoded.names, list(encoded.sensitive))
    sample = min(persons, max(_CELLS // max(len(released.class_of), 1), _FEWEST))
    rows = sample_rows(published_rows(recoding), sample, seed, encoded.counts)
    people = people_from_rows(
        {attribute.name: attribute.column for attribute in encoded.quasi}, rows, encoded.sensitive
    )
    fits = PeopleLookup(people, released)
    matching = MatchingPairs(fits)
    counts = count_matches(matching, people)
    columns = {}
    for column in released.bags:
        guesses = _guess_values(counts, find_likeliest_values(column, matching, counts), people, column)
        columns[column] = replace(guesses, everybody=None)
    return LinkageResult(
        released.name,
        "the original table",
        fits.comparable,
        records=counts.total_records,
        people=people.person_count,
        matched_records=None,
        matched_people=int(counts.persons[counts.matched].sum()),
        certain=None,
        everybody=None,
        in_release=_chance_of_persons(counts, IN_RELEASE.format(on=listing(encoded.names))),
        columns=columns,
        notes=tuple(unexplained_notes(fits)),
        bound=1 / released.k if released.k and recoding.group is None else None,
        matches=counts.records[people.tuple_of],
    )


# What is joined


def _check_columns(on: Sequence[str], sensitive: Sequence[str]) -> None:
    if not on:
        raise InputError("no column to join on; name columns that the release and the outside table share")
    twice = [column for column in on if list(on).count(column) > 1 or column in sensitive]
    if twice:
        way = "name it once, either to join on or as a sensitive one"
        raise InputError(f"column {quote(twice[0])} is named twice; {way}")


def _columns_to_learn(
    shown: ReleaseView, on: Sequence[str], sensitive: Sequence[str], policy: Policy | None
) -> list[str]:
    """List the columns to learn of people: those named, or all sensitive ones that it is not joined on."""
    if not sensitive:
        columns = [column.name for column in policy.sensitive] if policy else shown.with_role("sensitive")
        return [column for column in columns if column not in on and (column in shown.columns or column in shown.bags)]
    wrong = [column for column in sensitive if shown.class_of is not None and column not in shown.bags]
    if wrong:
        hint = did_you_mean(wrong[0], shown.bags) or f"; it has {listing(shown.bags)}"
        raise InputError(f"{quote(wrong[0])} is no sensitive column of the release{hint}")
    return list(sensitive)


def _texts(column: CodedColumn) -> list[str | None]:
    return [column.texts[code] for code in column.codes.tolist()]


# What was not made use of, and what does not go with an assumption


def _notes_on_release(shown: ReleaseView) -> Iterator[str]:
    if shown.manifest.is_split:
        yield (
            "The release is two tables: records are lines of the first, which shows values as they are and hides "
            "nobody. What it keeps back is which sensitive values of a class are whose."
        )
    if shown.individual is not None:
        yield (
            "Rows of the release carry pseudonyms: records are persons, and who knows several rows of a person may do "
            "better."
        )


def _notes_on_names(names: Sequence[str | None] | None, title: str) -> Iterator[str]:
    """Say where rows may be of one person, and each is taken for another."""
    named = [name for name in names or () if name is not None]
    repeated = len(named) - len(set(named))
    if repeated:
        rows = f"{plural(repeated, 'row')} of {title} {'repeats' if repeated == 1 else 'repeat'} a name"
        yield f"{rows}: each row is taken for another person, and where it is the same one, chances are too low."


def _notes_on_strangers(counts: MatchCounts) -> Iterator[str]:
    """Say which records show that the outside table is not everybody."""
    unmatched = int(counts.own[counts.candidates == 0].sum())
    if unmatched:
        verb = "matches" if unmatched == 1 else "match"
        yield (
            f"{plural(unmatched, 'record')} {verb} nobody in the outside table: it is not everybody, and chances that "
            "take it for that are too high."
        )
    crowded = counts.own > counts.candidates
    surplus = int((counts.own - counts.candidates)[crowded & (counts.candidates > 0)].sum())
    if surplus:
        yield f"There are {surplus:,} records more than persons who match them: the outside table lacks somebody."


# Figures


def _chance_of_records(counts: MatchCounts, assumes: str) -> LinkageChance:
    """Measure the chances where each record is one of the persons who match it."""
    some = counts.candidates > 0
    chances, own = 1 / counts.candidates[some], counts.own[some]
    return LinkageChance(
        assumes,
        highest=float(chances.max(initial=0.0)),
        average=float((chances * own).sum() / counts.own.sum()),
        baseline=1 / int(counts.persons.sum()),
        one=int(own[counts.candidates[some] == 1].sum()),
    )


def _chance_of_persons(counts: MatchCounts, assumes: str) -> LinkageChance:
    """Measure the chances where one of the records that match a person is theirs."""
    matched = counts.matched
    chances, persons = 1 / counts.records[matched], counts.persons[matched]
    return LinkageChance(
        assumes,
        highest=float(chances.max(initial=0.0)),
        average=_average(chances, persons),
        baseline=1 / counts.total_records,
        one=int(persons[counts.records[matched] == 1].sum()),
    )


def _guess_values(counts: MatchCounts, posterior: ValuePosterior, people: KnownPeople, column: str) -> LinkedColumn:
    """Measure how sure of a sensitive column one is, and how often rightly so where the truth is known.

    truth: int[people], each person's true value as a code of the release, -1 where the release has no such value
    """
    blind = posterior.values.blind
    inside = min(1.0, counts.total_records / int(counts.persons.sum()))
    everybody = _summarize_guesses(posterior.everybody, counts, blind * inside)
    in_release = _summarize_guesses(posterior.in_release, counts, blind)
    known, matched = people.true_values.get(column), counts.matched[people.tuple_of]
    if known is None or not matched.any():
        return LinkedColumn(everybody, in_release)
    codes = {text: code for code, text in enumerate(posterior.values.bag.domain.values)}
    truth = np.array([codes.get(text, -1) for text in known.texts], dtype=np.int64)[known.codes]
    right = posterior.in_release.value[people.tuple_of] == truth
    frequent = truth == posterior.values.order[0]
    return LinkedColumn(everybody, in_release, float(right[matched].mean()), float(frequent[matched].mean()))


def _summarize_guesses(top: LikeliestValues, counts: MatchCounts, baseline: float) -> ValueGuess:
    matched = counts.matched
    return ValueGuess(
        certain=int(counts.persons[matched & top.only].sum()),
        highest=float(top.chance[matched].max(initial=0.0)),
        average=_average(top.chance[matched], counts.persons[matched]),
        baseline=baseline,
    )


def _average(chances: FloatArray, persons: IntArray) -> float:
    """Average over persons; 0 where there are none. Both arrays are of the tuples that match."""
    return float((chances * persons).sum() / max(int(persons.sum()), 1))


def _most_exposed(
    counts: MatchCounts,
    posteriors: Mapping[str, ValuePosterior],
    tuples: IntArray,
    names: Sequence[str | None] | None,
    most: int,
) -> tuple[ExposedPerson, ...]:
    """List the persons of whom most is known, first those who are tied to one record for certain.

    tuples: int[people], the tuple of each person. They are sorted by (last key first): whether they match, whether
    certainly, the surest of their values under each assumption, the fewest candidates of a record, and their records.
    """
    none = np.zeros(len(counts.persons))
    in_release = [posterior.in_release.chance for posterior in posteriors.values()]
    everybody = [posterior.everybody.chance for posterior in posteriors.values()]
    keys = [
        1 / np.maximum(counts.records, 1),
        1 / np.maximum(counts.fewest, 1),
        np.max(in_release, axis=0) if in_release else none,
        np.max(everybody, axis=0) if everybody else none,
        counts.certain,
        counts.matched,
    ]
    order = np.lexsort([-np.round(key.astype(np.float64), 12)[tuples] for key in keys])[:most]
    chosen = order[counts.matched[tuples[order]]]

    def likeliest(posterior: ValuePosterior, top: LikeliestValues, place: int) -> PersonValue:
        return PersonValue(posterior.values.text(int(top.value[place])), float(top.chance[place]))

    persons = []
    for row in chosen.tolist():
        place = int(tuples[row])
        values = {
            column: {
                "everybody": likeliest(posterior, posterior.everybody, place),
                "in_release": likeliest(posterior, posterior.in_release, place),
            }
            for column, posterior in posteriors.items()
        }
        person = ExposedPerson(
            row + 1 if names is None else names[row],
            int(counts.records[place]),
            int(counts.fewest[place]),
            certain=bool(counts.certain[place]),
            everybody=1 / int(counts.fewest[place]),
            inside=min(1.0, float(counts.inside[place])),
            in_release=1 / int(counts.records[place]),
            values=values,
        )
        persons.append(person)
    return tuple(persons)
