"""k-anonymity against its definition and the papers' tables."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.classes import EquivalenceClasses
from sfumato.models import KAnonymity


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1), st.integers(1, 5))
def test_counts_rows_or_people(rows: list[tuple[int, int]], k: int) -> None:
    """A class passes when it has k rows, and where rows name people, k of them."""
    labels, people = [label for label, _ in rows], [str(person) for _, person in rows]
    members = {label: [p for each, p in zip(labels, people, strict=True) if each == label] for label in labels}
    groups = [members[label] for label in sorted(members)]
    assert KAnonymity(k).holds(EquivalenceClasses.of(labels)).tolist() == [len(group) >= k for group in groups]
    counted = KAnonymity(k).holds(EquivalenceClasses.of(labels, individuals=people))
    assert counted.tolist() == [len(set(group)) >= k for group in groups]


def test_a_failing_class_is_lost_whole() -> None:
    """Every part of a class that is too small is too small."""
    assert KAnonymity(3).doomed(EquivalenceClasses(sizes=np.array([5, 2]))).tolist() == [0.0, 1.0]


def test_hint_names_the_largest_k() -> None:
    """The table as one class is the largest class there is, in people where rows name them."""
    assert KAnonymity(9).hint(EquivalenceClasses(sizes=np.array([6]))) == "k can be at most 6"
    assert KAnonymity(9).hint(EquivalenceClasses.of([0, 0], individuals=["ann", "ann"])) == "k can be at most 1"


def test_nothing_published_is_no_class() -> None:
    """Without classes there is nothing that fails."""
    nothing = EquivalenceClasses(sizes=np.array([], dtype=np.int64))
    assert KAnonymity(2).achieved(nothing) == {"k": 0}
    assert KAnonymity(2).holds(nothing).tolist() == []
