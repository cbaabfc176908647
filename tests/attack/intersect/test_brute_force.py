"""Random releases with labels of every kind: figures are those of a loop over persons and rows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from sfumato.attack.intersect import IntersectionResult, intersect

Draws = Callable[..., Any]
Publishes = Callable[..., Any]
Rows = list[Any]

K = 3


@dataclass(frozen=True)
class Person:
    """Somebody by the values that each known column may have, the class they are known to be in, and the truth."""

    known: Mapping[str, frozenset[Any]]
    home: Any = None
    truth: Mapping[str, Any] | None = None


def _class(line: Any, *, split: bool) -> Any:
    return line.number if split else tuple(label for label, _ in line.labels.values())


def _rows(person: Person, case: Any, place: int) -> Rows:
    """The rows of a release that may be a person's: of classes with a line that fits, or of the person's own."""
    lines, split = case.releases[place].lines, case.releases[place].split
    if person.home is not None and place == 0:
        return [line for line in lines if _class(line, split=split) == person.home]
    fit = [line for line in lines if all(person.known[name] & meant for name, (_, meant) in _shared(line, person))]
    classes = {_class(line, split=split) for line in fit}
    return [line for line in lines if _class(line, split=split) in classes]


def _shared(line: Any, person: Person) -> Sequence[Any]:
    return [(name, label) for name, label in line.labels.items() if name in person.known]


@dataclass
class Naive:
    """The figures, one person after the other."""

    column: str
    threshold: int
    left: list[int]
    figures: Counter[str]
    alone: Counter[int]
    shares: list[float]

    def add(self, person: Person, found: Sequence[Rows]) -> list[int]:
        """Count a person; the rows left in each release that is fit; none where no value is left."""
        held = [Counter(line.sensitive[self.column] for line in rows) for rows in found]
        known = person.truth is not None
        true = person.truth[self.column] if person.truth else None
        alone = [0 < len(one) < self.threshold and (not known or true in one) for one in held]
        self.alone.update(place for place, one in enumerate(alone) if one)
        there = [one for one in held if one]
        if len(there) < 2:
            self.left.append(-1)
            return []
        values = set.intersection(*map(set, there))
        self.left.append(len(values))
        contradicted = known and true not in values
        few = 0 < len(values) < self.threshold
        self.figures["below"] += few
        self.figures["exposed"] += few and not contradicted
        self.figures["added"] += few and not contradicted and not any(alone)
        self.figures["right"] += known and values == {true}
        self.figures["contradicted"] += contradicted
        if contradicted or not values:
            return []
        rows = [{value: one[value] for value in values} for one in there]
        self.shares.append(max(max(one.values()) / sum(one.values()) for one in rows))
        return [sum(one.values()) for one in rows]


def _check(found: IntersectionResult, case: Any, people: Sequence[Person], threshold: int) -> None:
    rows = [[_rows(person, case, place) for place in range(len(case.releases))] for person in people]
    left: list[list[list[int]]] = [[] for _ in people]
    for column, figures in found.columns.items():
        naive = Naive(column, threshold, [], Counter(), Counter(), [])
        for place, (person, each) in enumerate(zip(people, rows, strict=True)):
            left[place].append(naive.add(person, each))
        counted = [left for left in naive.left if left >= 0]
        assert found.left[column].tolist() == naive.left
        assert figures.histogram == Counter(counted)
        assert (figures.persons, figures.apart) == (len(counted), len(people) - len(counted))
        assert figures.empty == counted.count(0)
        truth = people[0].truth is not None
        for key in ("below", "exposed", "added", *(("right", "contradicted") if truth else ())):
            assert getattr(figures, key) == naive.figures[key], key
        assert figures.alone == tuple(naive.alone[place] for place in range(len(case.releases)))
        assert figures.share.largest == pytest.approx(max(naive.shares, default=None))
        assert figures.share.average == pytest.approx(sum(naive.shares) / len(naive.shares) if naive.shares else None)
    fewest = [min(map(min, one)) for one in left if all(one)]
    assert found.rows.smallest == min(fewest, default=None)
    assert found.rows.below == sum(size < K for size in fewest)
    absent = [sum(not each[place] for each in rows) for place in range(len(case.releases))]
    assert [one.absent for one in found.releases] == absent
    few = [sum(0 < len(each[place]) < K for each in rows) for place in range(len(case.releases))]
    assert list(found.rows.alone) == few


def _published(case: Any, publishes: Publishes) -> list[Any]:
    return [publishes(drawn, K) for drawn in case.releases]


SPLITS = [(False, False), (False, False, False), (False, True), (True, False, True), (True, True)]


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("seed", range(15))
def test_known_persons(draws: Draws, publishes: Publishes, seed: int, split: Sequence[bool]) -> None:
    """What is left to each person whose values are known is what a loop over all rows leaves."""
    case = draws(seed, split)
    columns = list(case.people[0])[seed % 3 :]
    table = pa.table({name: [person[name] for person in case.people] for name in columns})
    quasi = [name for name in columns if name not in {"illness", "pay"}]
    people = [Person({name: frozenset([one[name]]) for name in quasi}, truth=one) for one in case.people]
    threshold = 2 + seed % 3
    only = None if seed % 2 else "illness"
    _check(intersect(_published(case, publishes), table, threshold=threshold, column=only), case, people, threshold)


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("seed", range(15))
def test_rows_of_the_first_release(draws: Draws, publishes: Publishes, seed: int, split: Sequence[bool]) -> None:
    """Without known persons, a row of the first release fits rows of others where a value lies under both labels."""
    case = draws(seed, split)
    threshold = 2 + seed % 3
    found = intersect(_published(case, publishes), threshold=threshold, column="illness" if seed % 2 else None)
    first = [
        Person({name: meant for name, (_, meant) in line.labels.items()}, _class(line, split=split[0]))
        for line in case.releases[0].lines
    ]
    _check(found, case, first, threshold)
