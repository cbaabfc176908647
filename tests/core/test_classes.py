"""Classes as counts: uniting and choosing them is what it would be on rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.classes import EquivalenceClasses, Histogram

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["flu", "HIV", None]), st.sampled_from(["ann", "bob", "eve"])),
    min_size=1,
    max_size=25,
)
Rows = list[tuple[int, str | None, str]]


def of(rows: Rows) -> EquivalenceClasses:
    """Classes of (class, illness, person) rows."""
    labels, illness, person = zip(*rows, strict=True)
    return EquivalenceClasses.of(list(labels), individuals=list(person), illness=list(illness))


def lines(histogram: Histogram | None) -> list[tuple[int, str | None, int]]:
    """A histogram in words."""
    assert histogram is not None
    names = [histogram.domain.values[value] for value in histogram.value]
    return list(zip(histogram.class_of.tolist(), names, histogram.count.tolist(), strict=True))


def same(one: EquivalenceClasses, other: EquivalenceClasses) -> bool:
    """Whether two classes hold the same counts (their domains' totals aside)."""
    pairs = [(one.sensitive["illness"], other.sensitive["illness"]), (one.individuals, other.individuals)]
    return one.sizes.tolist() == other.sizes.tolist() and all(lines(a) == lines(b) for a, b in pairs)


@given(ROWS)
def test_counts(rows: Rows) -> None:
    """Sizes, persons and histograms are those of the rows."""
    classes = of(rows)
    for number, label in enumerate(sorted({label for label, _, _ in rows})):
        members = [row for row in rows if row[0] == label]
        assert classes.sizes[number] == len(members)
        assert classes.persons[number] == len({person for _, _, person in members})
        counted = {value: n for owner, value, n in lines(classes.sensitive["illness"]) if owner == number}
        assert counted == {value: [v for _, v, _ in members].count(value) for value in {v for _, v, _ in members}}
    assert classes.rows == len(rows)


@given(ROWS, st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_merging_is_relabelling_the_rows(rows: Rows, targets: list[int]) -> None:
    """Uniting classes gives the classes of rows with united labels."""
    present = sorted({label for label, _, _ in rows})
    dense = np.unique([targets[label] for label in present], return_inverse=True)[1]
    relabelled = [(int(dense[present.index(label)]), illness, person) for label, illness, person in rows]
    assert same(of(rows).merge(dense), of(relabelled))


@given(ROWS, st.sets(st.integers(0, 4)))
def test_choosing_is_leaving_rows_out(rows: Rows, labels: set[int]) -> None:
    """The chosen classes alone have the counts of their rows, over the domain of all."""
    present = sorted({label for label, _, _ in rows})
    chosen = np.array([label in labels for label in present])
    kept = of(rows).select(chosen)
    left = [row for row in rows if row[0] in labels]
    assert kept.rows == len(left)
    if left:
        assert same(kept, of(left))
    assert kept.sensitive["illness"].domain.totals.sum() == len(rows)


def test_shares_are_those_of_the_whole_table() -> None:
    """A domain counts the rows of all classes."""
    domain = EquivalenceClasses.of([0, 0, 1, 1], illness=["flu", "HIV", "flu", None]).sensitive["illness"].domain
    assert domain.values == ("HIV", "flu", None)
    assert domain.shares.tolist() == [0.25, 0.5, 0.25]
