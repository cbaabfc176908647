"""What the join of a release with an outside table found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sfumato.attack.tried import Tried
from sfumato.core.arrays import IntArray


@dataclass(frozen=True)
class Chance:
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
class Guessed:
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

    everybody: Guessed | None
    in_release: Guessed
    right: float | None = None
    right_baseline: float | None = None


@dataclass(frozen=True)
class Match:
    """The likeliest value of one person, and its chance."""

    value: str | None
    chance: float


@dataclass(frozen=True)
class Person:
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
    values: Mapping[str, Mapping[str, Match]]


@dataclass(frozen=True, eq=False)
class Linked:
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
    everybody: Chance | None
    in_release: Chance
    columns: Mapping[str, LinkedColumn]
    persons: tuple[Person, ...] = ()
    notes: tuple[str, ...] = ()
    bound: float | None = None
    matches: IntArray | None = field(default=None, repr=False)

    def tried(self) -> tuple[Tried, ...]:
        """The attack in lines for reports: identities, then each sensitive column."""
        from sfumato.attack.link.words import tried  # noqa: PLC0415 - it builds on this module

        return tried(self)

    def as_json(self, persons: int = 0) -> dict[str, Any]:
        """Fit for JSON, with so many of the most exposed persons."""
        plain = ("release", "known", "records", "people", "matched_records", "matched_people", "certain")
        return {
            **{key: getattr(self, key) for key in plain},
            "on": list(self.on),
            "everybody": None if self.everybody is None else asdict(self.everybody),
            "in_release": asdict(self.in_release),
            "columns": {name: asdict(one) for name, one in self.columns.items()},
            "tried": [one.as_json() for one in self.tried()],
            "notes": list(self.notes),
            **({"persons": [asdict(one) for one in self.persons[:persons]]} if persons else {}),
        }
