"""Random tables with labels of every kind: figures are those of a loop over persons and records."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from sfumato.attack.link import LinkageResult, link
from sfumato.matching import lookup
from sfumato.policy import load

Draws = Callable[..., Any]
Publishes = Callable[..., Any]
Knows = Callable[..., Any]

COLUMNS = ("illness", "pay")
WAYS = (["age", "zip", "job", "sex"], ["age"], ["zip", "sex"], ["age", "pay"], ["job", "visits"])


@dataclass
class Group:
    """Lines that look alike to somebody who joins: what they stand for, whose they are, the values they may hold."""

    covers: Mapping[str, Any]
    records: set[Any] = field(default_factory=set)
    bags: dict[str, Counter[Any]] = field(default_factory=lambda: defaultdict(Counter))


@dataclass
class Naive:
    """The join, pair by pair, in exact fractions."""

    people: Sequence[Mapping[str, Any]]
    groups: Sequence[Group]
    rows: int

    def matches(self, person: Mapping[str, Any]) -> list[Group]:
        """The groups that a person may be in."""
        return [one for one in self.groups if all(person[name] in known for name, known in one.covers.items())]

    def candidates(self, group: Group) -> int:
        """How many persons may be in a group."""
        return sum(any(one is group for one in self.matches(person)) for person in self.people)

    def values(self, person: Mapping[str, Any], column: str, *, everybody: bool) -> dict[Any, Fraction]:
        """The chance of each value."""
        found: dict[Any, Fraction] = defaultdict(Fraction)
        every = Fraction(0)
        for group in self.matches(person):
            part = Fraction(len(group.records), self.candidates(group) if everybody else 1)
            every += part
            for value, count in group.bags[column].items():
                found[value] += part * Fraction(count, sum(group.bags[column].values()))
        every = max(every, Fraction(1)) if everybody else every
        return {value: chance / every for value, chance in found.items()}


def _naive(people: Sequence[Any], lines: Sequence[Any], on: Sequence[str], *, split: bool, named: bool) -> Naive:
    bags: dict[Any, dict[str, Counter[Any]]] = defaultdict(lambda: defaultdict(Counter))
    for line in lines:
        for column in COLUMNS:
            bags[line.number if split else _key(line, on)][column][line.others[column]] += 1
    groups: dict[Any, Group] = {}
    for place, line in enumerate(lines):
        own = bags[line.number if split else _key(line, on)]
        key = (_key(line, on, split=split), line.number if split else 0)
        covers = {name: _covers(line, name, own, split=split) for name in on}
        group = groups.setdefault(key, Group(covers, bags=own))
        group.records.add(line.who if named else place)
    return Naive(people, list(groups.values()), len(lines))


def _key(line: Any, on: Sequence[str], *, split: bool = False) -> tuple[Any, ...]:
    apart = COLUMNS if split else ()
    return tuple(line.labels[name][0] if name in line.labels else line.others[name] for name in on if name not in apart)


def _covers(line: Any, name: str, bag: Mapping[str, Counter[Any]], *, split: bool) -> Any:
    if name in line.labels:
        return line.labels[name][1]
    return set(bag[name]) if split and name in COLUMNS else {line.others[name]}


def _check(found: LinkageResult, naive: Naive) -> None:
    """All figures, and what is said of each person."""
    matches = [naive.matches(person) for person in naive.people]
    records = [len(set().union(*(group.records for group in groups))) for groups in matches]
    candidates = {id(group): naive.candidates(group) for group in naive.groups}
    matched = [person for person, number in zip(naive.people, records, strict=True) if number]
    assert found.matches is not None
    assert found.matches.tolist() == records
    assert found.matched_people == len(matched)
    assert found.matched_records == sum(len(one.records) for one in naive.groups if candidates[id(one)])
    fewest = [min((candidates[id(one)] for one in groups), default=0) for groups in matches]
    certain = [few == number == 1 for few, number in zip(fewest, records, strict=True)]
    assert found.certain == sum(certain)
    every = sum(len(one.records) for one in naive.groups)
    chances = [Fraction(len(one.records), candidates[id(one)]) for one in naive.groups if candidates[id(one)]]
    assert found.everybody is not None
    assert found.everybody.average == pytest.approx(float(sum(chances) / every))
    assert found.everybody.baseline == pytest.approx(1 / len(naive.people))
    assert found.everybody.one == sum(len(one.records) for one in naive.groups if candidates[id(one)] == 1)
    own = [Fraction(1, number) for number in records if number]
    assert found.in_release.average == pytest.approx(float(sum(own) / len(own)) if own else 0)
    assert found.in_release.highest == max(map(float, own), default=0)
    assert len(found.persons) == len(matched)
    for person in found.persons:
        place = int(str(person.person)[1:])
        assert (person.records, person.candidates, person.certain) == (records[place], fewest[place], certain[place])
        inside = sum(Fraction(len(one.records), candidates[id(one)]) for one in matches[place])
        assert person.inside == pytest.approx(min(1.0, float(inside)))
    for column, figures in found.columns.items():
        _check_column(found, naive, column, figures, matched)


def _check_column(found: LinkageResult, naive: Naive, column: str, figures: Any, matched: Sequence[Any]) -> None:
    for assumption in ("everybody", "in_release"):
        told = [naive.values(person, column, everybody=assumption == "everybody") for person in matched]
        tops = [max(one.values()) for one in told]
        guessed = getattr(figures, assumption)
        assert guessed.certain == sum(max(one.values()) == 1 for one in told)
        assert guessed.highest == pytest.approx(float(max(tops, default=0)))
        assert guessed.average == pytest.approx(float(sum(tops) / len(tops)) if tops else 0)
        for one in found.persons:
            person = naive.people[int(str(one.person)[1:])]
            chances, match = naive.values(person, column, everybody=assumption == "everybody"), one.values[column]
            assert match[assumption].chance == pytest.approx(float(max(chances.values())))
            assert chances[match[assumption].value] == max(chances.values())
    guesses = {one.person: one.values[column]["in_release"].value for one in found.persons}
    right = [naive.people[int(str(name)[1:])][column] == value for name, value in guesses.items()]
    assert figures.right == (pytest.approx(sum(right) / len(right)) if right else None)


@pytest.mark.slow
@pytest.mark.parametrize("way", [0, 1 << 40], ids=["by key", "by bits"])
@pytest.mark.parametrize("form", ["generalized", "split", "file"])
@pytest.mark.parametrize("seed", range(6))
def test_figures(  # noqa: PLR0913, PLR0917 - fixtures
    seed: int,
    form: str,
    way: int,
    draws: Draws,
    publishes: Publishes,
    knows: Knows,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of one table, of two and of a file with a policy: NULL, ranges, masks, groups, stars, either way."""
    monkeypatch.setattr(lookup, "_KEY_PAIR_COST", way)
    people, lines = draws(seed, split=form == "split")
    path, known, on = publishes(lines, form), knows(people), WAYS[seed % len(WAYS)]
    policy = load(path.parent / "policy.toml") if form == "file" else None
    found = link(path, known, on, policy=policy, name="name", most=1_000)
    assert set(found.columns) == set(COLUMNS) - set(on)
    _check(found, _naive(people, lines, on, split=form == "split", named=False))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["generalized", "split", "file"])
@pytest.mark.parametrize("seed", range(4))
def test_persons_with_several_rows(seed: int, form: str, draws: Draws, publishes: Publishes, knows: Knows) -> None:
    """Where rows carry pseudonyms, records are persons: one person's three rows hide nobody."""
    people, lines = draws(100 + seed, split=form == "split")
    path, known = publishes(lines, form, pseudonyms=True), knows(people)
    policy = load(path.parent / "policy.toml") if form == "file" else None
    found = link(path, known, ["age", "sex"], policy=policy, name="name", most=1_000)
    assert found.records == len({line.who for line in lines})
    assert any("pseudonyms" in note for note in found.notes)
    _check(found, _naive(people, lines, ["age", "sex"], split=form == "split", named=True))
