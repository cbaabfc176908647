"""From matches to figures, and to the persons who are exposed most."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.attack.link.found import Chance, Guessed, LinkedColumn, Match, Person
from sfumato.attack.link.joined import Joined
from sfumato.attack.link.values import Posterior, Top
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.encode import CodedColumn


def everybody(found: Joined, assumes: str) -> Chance:
    """Each record is one of the persons who match it."""
    some = found.candidates > 0
    chances = 1 / found.candidates[some]
    own = found.own[some]
    return Chance(
        assumes,
        highest=float(chances.max(initial=0.0)),
        average=float((chances * own).sum() / found.own.sum()),
        baseline=1 / int(found.persons.sum()),
        one=int(own[found.candidates[some] == 1].sum()),
    )


def in_release(found: Joined, assumes: str) -> Chance:
    """One of the records that match a person is theirs."""
    some = found.records > 0
    chances, persons = 1 / found.records[some], found.persons[some]
    return Chance(
        assumes,
        highest=float(chances.max(initial=0.0)),
        average=mean(chances, persons),
        baseline=1 / found.every,
        one=int(persons[found.records[some] == 1].sum()),
    )


def column(found: Joined, told: Posterior, truth: IntArray | None, tuples: IntArray) -> LinkedColumn:
    """The figures of a sensitive column; `truth` has the code of each person's true value, -1 where it is none."""
    some, blind = found.records > 0, told.values.blind
    inside = min(1.0, found.every / int(found.persons.sum()))
    both = (guessed(told.everybody, found, blind * inside), guessed(told.in_release, found, blind))
    matched = some[tuples]
    if truth is None or not matched.any():
        return LinkedColumn(*both)
    right = told.in_release.value[tuples] == truth
    frequent = truth == told.values.order[0]
    return LinkedColumn(*both, float(right[matched].mean()), float(frequent[matched].mean()))


def guessed(top: Top, found: Joined, baseline: float) -> Guessed:
    """The figures of one assumption."""
    some = found.records > 0
    return Guessed(
        certain=int(found.persons[some & top.only].sum()),
        highest=float(top.chance[some].max(initial=0.0)),
        average=mean(top.chance[some], found.persons[some]),
        baseline=baseline,
    )


def mean(chances: FloatArray, persons: IntArray) -> float:
    """The average over persons; 0 where there are none."""
    return float((chances * persons).sum() / max(int(persons.sum()), 1))


def true_codes(truth: CodedColumn | None, told: Posterior) -> IntArray | None:
    """The true value of each person as a code of the release, -1 where the release has no such value."""
    if truth is None:
        return None
    codes = {text: code for code, text in enumerate(told.values.bag.domain.values)}
    return np.array([codes.get(text, -1) for text in truth.texts], dtype=np.int64)[truth.codes]


def exposed(found: Joined, told: Mapping[str, Posterior], tuples: IntArray, most: int) -> IntArray:
    """The persons of whom most is known, first those who are tied to one record for certain."""
    chances = [_most(told, key, len(found.persons)) for key in ("in_release", "everybody")]
    some: BoolArray = found.records > 0
    keys = [1 / np.maximum(found.records, 1), 1 / np.maximum(found.fewest, 1), *chances, found.certain, some]
    order = np.lexsort([-np.round(key.astype(np.float64), 12)[tuples] for key in keys])[:most]
    chosen: IntArray = order[some[tuples[order]]]
    return chosen


def persons(
    found: Joined, told: Mapping[str, Posterior], tuples: IntArray, chosen: IntArray, names: Sequence[str | None] | None
) -> tuple[Person, ...]:
    """What is known of the persons chosen."""
    return tuple(
        _person(found, told, int(tuples[row]), row + 1 if names is None else names[row]) for row in chosen.tolist()
    )


def _person(found: Joined, told: Mapping[str, Posterior], place: int, name: str | int | None) -> Person:
    def match(one: Posterior, top: Top) -> Match:
        return Match(one.values.text(int(top.value[place])), float(top.chance[place]))

    return Person(
        name,
        int(found.records[place]),
        int(found.fewest[place]),
        certain=bool(found.certain[place]),
        everybody=1 / int(found.fewest[place]),
        inside=min(1.0, float(found.inside[place])),
        in_release=1 / int(found.records[place]),
        values={
            column: {"everybody": match(one, one.everybody), "in_release": match(one, one.in_release)}
            for column, one in told.items()
        },
    )


def _most(told: Mapping[str, Posterior], key: str, people: int) -> FloatArray:
    """The largest chance of any column."""
    chances = [getattr(one, key).chance for one in told.values()]
    return np.max(chances, axis=0) if chances else np.zeros(people)
