"""The three l-diversities against their definitions, and the chapter's table and exercises."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.models import DistinctLDiversity, EntropyLDiversity, Model, RecursiveLDiversity

Counts = list[list[int]]
# One list of counts per class; a value per place.
many_counts = st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), min_size=1, max_size=6)


def as_classes(counts: Counts) -> EquivalenceClasses:
    """Classes with these counts of the values a to d."""
    rows = [(i, "abcd"[j]) for i, line in enumerate(counts) for j, n in enumerate(line) for _ in range(n)]
    return EquivalenceClasses.of([label for label, _ in rows], illness=[value for _, value in rows])


def entropy(line: list[int]) -> float:
    """The entropy of one class."""
    return -sum(n / sum(line) * math.log(n / sum(line)) for n in line if n)


@given(many_counts, st.integers(1, 5))
def test_distinct_is_its_definition(counts: Counts, l: int) -> None:  # noqa: E741  the field's own name
    """A class has at least l different values."""
    values = [sum(n > 0 for n in line) for line in counts]
    model = DistinctLDiversity("illness", l=l)
    assert model.holds(as_classes(counts)).tolist() == [each >= l for each in values]
    assert model.achieved(as_classes(counts)) == {"l": min(values)}


@given(many_counts, st.floats(1, 4))
def test_entropy_is_its_definition(counts: Counts, l: float) -> None:  # noqa: E741  the field's own name
    """The entropy of a class is at least log l."""
    model, entropies = EntropyLDiversity("illness", l=l), [entropy(line) for line in counts]
    sure = [abs(each - math.log(l)) > 1e-8 for each in entropies]
    expected = np.array([each >= math.log(l) for each in entropies])
    assert (model.holds(as_classes(counts)) == expected)[sure].all()
    assert model.achieved(as_classes(counts))["l"] == pytest.approx(math.exp(min(entropies)))


@given(many_counts, st.sampled_from([0.1, 0.5, 1, 1.5, 3, 1234567.123456789, 1e12]), st.integers(1, 5))
def test_recursive_is_its_definition(counts: Counts, c: float, l: int) -> None:  # noqa: E741  its own name
    """The top value has fewer rows than c times the tail, strictly and exactly."""
    sorted_counts = [sorted(line, reverse=True) for line in counts]
    expected = [line[0] < Fraction(str(c)) * sum(line[l - 1 :]) for line in sorted_counts]
    model = RecursiveLDiversity("illness", c=c, l=l)
    assert model.holds(as_classes(counts)).tolist() == expected


def test_table_20_3_has_a_class_of_hiv_only() -> None:
    """The chapter's 3-anonymous table is 1-diverse: rows 1, 3 and 6 share HIV."""
    age = ["[20, 30]", "[30, 40]", "[20, 30]", "[30, 40]", "[30, 40]", "[20, 30]"]
    classes = EquivalenceClasses.of(age, disease=["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"])
    assert classes.sizes.tolist() == [3, 3]
    assert DistinctLDiversity("disease", l=2).holds(classes).tolist() == [False, True]
    assert DistinctLDiversity("disease", l=2).achieved(classes) == {"l": 1}
    assert EntropyLDiversity("disease", l=2).achieved(classes) == {"l": 1.0}
    assert RecursiveLDiversity("disease", c=3, l=2).achieved(classes) == {"l": 1}


@given(many_counts, st.integers(1, 4))
def test_exercise_7_needs_l_values(counts: Counts, l: int) -> None:  # noqa: E741  the field's own name
    """A class that is entropy or recursive l-diverse has l different values."""
    classes = as_classes(counts)
    enough = DistinctLDiversity("illness", l=l).holds(classes)
    assert enough[EntropyLDiversity("illness", l=l).holds(classes)].all()
    assert enough[RecursiveLDiversity("illness", c=1000, l=l).holds(classes)].all()


@given(many_counts)
def test_exercise_8_the_table_bounds_its_classes(counts: Counts) -> None:
    """The entropy of the table is at least the least entropy of a class."""
    classes, model = as_classes(counts), EntropyLDiversity("illness", l=1)
    whole = classes.merge(np.zeros(len(classes)))
    assert model.achieved(whole)["l"] >= model.achieved(classes)["l"] - 1e-9


@given(many_counts, st.sampled_from([1.5, 2, 3]), st.integers(1, 3))
def test_exercise_9_is_monotone(counts: Counts, c: float, l: int) -> None:  # noqa: E741  its own name
    """Classes that pass unite to one that passes, for both diversities."""
    classes = as_classes(counts)
    models: list[Model] = [EntropyLDiversity("illness", l=c), RecursiveLDiversity("illness", c=c, l=l)]
    for model in models:
        whole = classes.merge(np.zeros(len(classes)))
        assert model.holds(whole).all() or not model.holds(classes).all()


def test_a_person_is_no_crowd() -> None:
    """One person with three illnesses is not 3-diverse."""
    classes = EquivalenceClasses.of([0, 0, 0], individuals=["ann"] * 3, illness=["a", "b", "c"])
    assert DistinctLDiversity("illness", l=2).achieved(classes) == {"l": 1}
    assert DistinctLDiversity("illness", l=2).hint(classes) == "the table has 1 people, so l can be at most 1"


def test_uniform_values_reach_their_number() -> None:
    """Rounding of logarithms does not fail three equal values at l = 3."""
    classes = as_classes([[7, 7, 7, 0]])
    assert EntropyLDiversity("illness", l=3).holds(classes).all()
    assert EntropyLDiversity("illness", l=4).hint(classes) == "l can be at most 3"


def test_recursive_says_which_c() -> None:
    """The achieved c is not enough, a little more is; the hint says so."""
    classes = as_classes([[6, 2, 1, 0]])
    assert RecursiveLDiversity("illness", c=1, l=2).achieved(classes) == {"c": 2.0, "l": 2}
    assert not RecursiveLDiversity("illness", c=2, l=2).holds(classes).any()
    assert RecursiveLDiversity("illness", c=2.001, l=2).holds(classes).all()
    assert RecursiveLDiversity("illness", c=1, l=2).hint(classes) == "c must be above 2 with l = 2"
    hint = RecursiveLDiversity("illness", c=1, l=4).hint(classes)
    assert hint == "illness has 3 values, so l can be at most 3"
    assert DistinctLDiversity("illness", l=4).hint(classes) == hint


def test_doomed_shares() -> None:
    """A class with too few values is lost whole, another in part, a passing one not at all."""
    classes = as_classes([[8, 0, 0, 0], [7, 1, 0, 0], [4, 4, 0, 0]])
    for model in (EntropyLDiversity("illness", l=2), RecursiveLDiversity("illness", c=1.5, l=2)):
        doomed = model.doomed(classes)
        assert doomed[0] == 1.0
        assert 0.3 < doomed[1] < 1
        assert doomed[2] == 0.0


def test_no_classes() -> None:
    """Without classes nothing fails, and zeros are achieved."""
    full = as_classes([[1, 1, 0, 0]])
    none = np.array([], dtype=np.int64)
    lines = Histogram(none, none, none, full.sensitive["illness"].domain)
    nothing = EquivalenceClasses(none, {"illness": lines})
    assert EntropyLDiversity("illness", l=2).achieved(nothing) == {"l": 0}
    assert DistinctLDiversity("illness", l=2).achieved(nothing) == {"l": 0}
    assert RecursiveLDiversity("illness", c=2, l=2).achieved(nothing) == {"c": 0.0, "l": 2}
    assert Counter(RecursiveLDiversity("illness", c=2, l=2).doomed(nothing)) == Counter()
