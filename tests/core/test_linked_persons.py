"""Who shares whose classes, held against sets; and why uniting classes never narrows it."""

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import link_pairs, linked_persons

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=40)


def sharing(pairs: list[tuple[int, int]]) -> dict[int, int]:
    """For each person, how many have exactly the same set of classes."""
    where: dict[int, set[int]] = {}
    for person, owner in pairs:
        where.setdefault(person, set()).add(owner)
    alike = Counter(frozenset(owners) for owners in where.values())
    return {person: alike[frozenset(owners)] for person, owners in where.items()}


def found_for(pairs: list[tuple[int, int]]) -> dict[int, int]:
    """The same by our code."""
    known = sorted(set(pairs))
    found = link_pairs(*(np.array([pair[i] for pair in known], dtype=np.int64) for i in range(2)))
    return dict(zip(found.persons.tolist(), found.sharing.tolist(), strict=True))


@given(PAIRS)
def test_sets_are_compared_as_sets(pairs: list[tuple[int, int]]) -> None:
    """The count of each person is that of a dict of sets."""
    assert found_for(pairs) == sharing(pairs)


@given(PAIRS, st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_uniting_classes_never_makes_fewer(pairs: list[tuple[int, int]], into: list[int]) -> None:
    """Who shared a person's classes still does after any classes have been united: linked_k is monotone."""
    before, after = found_for(pairs), found_for([(person, into[owner]) for person, owner in pairs])
    assert all(after[person] >= number for person, number in before.items())


@given(PAIRS, st.integers(0, 4))
def test_dropping_a_class_never_makes_fewer(pairs: list[tuple[int, int]], gone: int) -> None:
    """Without all rows of a class, as full-domain algorithms suppress, whoever is still there is shared no less."""
    before, after = found_for(pairs), found_for([(person, owner) for person, owner in pairs if owner != gone])
    assert all(number >= before[person] for person, number in after.items())


def test_dropping_rows_may_make_fewer() -> None:
    """Without one person's rows in a class, that person and those who were like them stand alone."""
    whole = [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert (min(found_for(whole).values()), min(found_for(whole[1:]).values())) == (2, 1)


def test_without_persons_a_class_is_shared_by_its_rows() -> None:
    """Where rows name nobody each row is a person's."""
    found = linked_persons(EquivalenceClasses(np.array([2, 3])))
    assert found.sharing.tolist() == [2, 2, 3, 3, 3]
    assert (found.fewest, found.count_below(3)) == (2, 2)


def test_nobody_is_shared_by_nobody() -> None:
    """A table without rows has no fewest."""
    assert linked_persons(EquivalenceClasses(np.array([]))).fewest == 0


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=6))
def test_no_division_and_suppression_loses_fewer_rows(rows: list[tuple[int, int]]) -> None:
    """Every division of the classes in two, and every choice of parts that go: where k persons share, enough rows went.

    Rows of a person may be several in a class.
    """
    fewest = {k: len(rows) for k in (2, 3, 4)}  # all rows may go
    for sides in product(range(2), repeat=len(rows)):
        parts = [(person, (owner, side)) for (person, owner), side in zip(rows, sides, strict=True)]
        every = sorted({part for _, part in parts})
        for kept in product((False, True), repeat=len(every)):
            left = [pair for pair in parts if dict(zip(every, kept, strict=True))[pair[1]]]
            numbers = [(person, every.index(part)) for person, part in left]
            shared = min(sharing(numbers).values(), default=len(rows))
            fewest |= {k: min(gone, len(rows) - len(left)) for k, gone in fewest.items() if shared >= k or not left}
    known = sorted(set(rows))
    found = link_pairs(*(np.array([pair[i] for pair in known], dtype=np.int64) for i in range(2)))
    assert all(found.least_suppressed(k) <= fewest[k] for k in fewest)


def test_as_many_rows_are_suppressed_as_persons_stand_alone() -> None:
    """Of six persons with a class each, nobody can help anybody: all six rows go; of those in two classes three may."""
    assert link_pairs(np.arange(6), np.arange(6)).least_suppressed(2) == 6
    persons, classes = np.array([0, 0, 1, 2, 2, 3]), np.array([0, 1, 0, 2, 3, 2])
    assert link_pairs(persons, classes).least_suppressed(2) == 2  # one row of 0 and of 2, which leaves two pairs
    assert link_pairs(persons, classes).least_suppressed(1) == 0
