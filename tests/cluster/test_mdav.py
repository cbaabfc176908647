"""MDAV and V-MDAV against their definitions, the best groups on a line, and the bounds on sizes."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sfumato.cluster.mdav as module
from sfumato.cluster.mdav import mdav, v_mdav
from sfumato.cluster.median_cuts import median_cuts
from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints
from sfumato.core.arrays import IntArray
from sfumato.errors import Infeasible
from tests.cluster.groups_by_definition import Row, best_on_a_line, mdav_by_definition, v_mdav_by_definition

Clustering = Callable[..., IntArray]
ALL: list[Clustering] = [mdav, v_mdav, median_cuts]
GRIDS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=28) | st.lists(
    st.tuples(st.integers(0, 40)), min_size=1, max_size=28
)
"""Small tables of whole numbers, full of ties and equal rows."""


def contents(rows: list[Row], group: IntArray) -> list[list[Row]]:
    """What each group holds, whichever of equal rows it is."""
    return [
        sorted(row for row, of in zip(rows, group.tolist(), strict=True) if of == one) for one in range(max(group) + 1)
    ]


@given(GRIDS, st.integers(1, 5))
def test_mdav_is_its_definition(rows: list[Row], k: int) -> None:
    """Group by group, ties and equal rows included."""
    if len(rows) < k:
        return
    group = mdav(MixedPoints(np.array(rows, dtype=np.float64)), k)
    assert contents(rows, group) == [sorted(one) for one in mdav_by_definition(rows, k)]


@given(GRIDS, st.integers(1, 5), st.sampled_from([0.0, 0.2, 0.5, 1.0, 1.5]))
@example([(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (4, 1)], 1, 0.0)  # a tie that the rounding of the centroid hides
def test_v_mdav_is_its_definition(rows: list[Row], k: int, gamma: float) -> None:
    """Group by group, with groups that grow."""
    if len(rows) < k:
        return
    group = v_mdav(MixedPoints(np.array(rows, dtype=np.float64)), k, gamma)
    assert contents(rows, group) == [sorted(one) for one in v_mdav_by_definition(rows, k, Fraction(gamma))]


@pytest.mark.parametrize("columns", [1, 3])
def test_larger_tables_without_ties(columns: int) -> None:
    """The same with so many rows that points are looked for among a sample of them."""
    rows = [tuple(row) for row in np.random.default_rng(columns).integers(0, 10**6, (120, columns)).tolist()]
    points = MixedPoints(np.array(rows, dtype=np.float64))
    assert contents(rows, mdav(points, 3)) == [sorted(one) for one in mdav_by_definition(rows, 3)]
    slow = v_mdav_by_definition(rows, 3, Fraction(1.1))
    assert contents(rows, v_mdav(points, 3, 1.1)) == [sorted(one) for one in slow]


@pytest.mark.parametrize("cluster", ALL)
@given(seed=st.integers(0, 100_000), rows=st.integers(1, 60), k=st.integers(1, 7))
@settings(max_examples=40)
def test_groups_have_k_to_2k_less_one_rows(cluster: Clustering, seed: int, rows: int, k: int) -> None:
    """And do not depend on the order of rows; also with categories, in a tree or not, and constant columns."""
    random = np.random.default_rng(seed)
    tree = np.array([[0, 0], [1, 0], [2, 1]])
    points = MixedPoints(
        random.integers(0, 4, (rows, 3)) * np.array([1.0, 0.1, 0.0]),
        (CategoryColumn(random.integers(0, 2, rows), 2), CategoryColumn(random.integers(0, 3, rows), 3, 2.0, tree)),
    )
    if rows < k:
        with pytest.raises(Infeasible, match=f"{rows} rows, and every group has at least {k}"):
            cluster(points, k)
        return
    group = cluster(points, k)
    sizes = np.bincount(group)
    assert k <= sizes.min()
    assert sizes.max() <= max(2 * k - 1, 1)
    keys = [
        (*map(float, numbers), *codes)
        for numbers, *codes in zip(points.numbers, *(c.codes for c in points.categories), strict=True)
    ]
    order = random.permutation(rows)
    assert contents([keys[i] for i in order], cluster(points.select(order), k)) == contents(keys, group)


@pytest.mark.parametrize("cluster", ALL)
@given(seed=st.integers(0, 100_000), k=st.integers(1, 5))
@settings(max_examples=40)
def test_groups_are_of_k_persons(cluster: Clustering, seed: int, k: int) -> None:
    """However many rows a person has; a person's equal rows are in one group of MDAV."""
    random = np.random.default_rng(seed)
    persons = random.integers(0, 12, 70) ** 2  # some have many rows
    rows = random.integers(0, 4, (70, 2))
    group = cluster(MixedPoints(rows.astype(np.float64)), k, persons=persons)
    assert all(len(set(persons[group == one])) >= k for one in range(group.max() + 1))
    if cluster is not median_cuts:
        together: dict[tuple[int, ...], set[int]] = {}
        for row, person, one in zip(rows.tolist(), persons.tolist(), group.tolist(), strict=True):
            together.setdefault((*row, person), set()).add(one)
        assert max(map(len, together.values())) == 1


@pytest.mark.parametrize("cluster", ALL)
def test_one_person_is_not_a_group(cluster: Clustering) -> None:
    """Nor are two, where three are asked for; whoever they are is not said."""
    with pytest.raises(Infeasible, match="2 persons, and every group has at least 3; lower k"):
        cluster(MixedPoints(np.arange(6.0)[:, None]), 3, persons=np.array([7, 7, 7, 9, 9, 9]))


@pytest.mark.parametrize("cluster", ALL)
def test_persons_of_a_row_each_change_nothing(cluster: Clustering) -> None:
    """Rows and persons are the same then."""
    points = MixedPoints(np.random.default_rng(3).normal(size=(60, 2)))
    assert cluster(points, 4, persons=np.arange(60)).tolist() == cluster(points, 4).tolist()


@pytest.mark.parametrize("cluster", ALL)
@pytest.mark.parametrize(("rows", "sizes"), [(5, [5]), (9, [9]), (10, [5, 5]), (15, [5, 5, 5]), (1, None)])
def test_sizes_at_the_limits(cluster: Clustering, rows: int, sizes: list[int] | None) -> None:
    """With k, 2k - 1, 2k and 3k rows."""
    points = MixedPoints(np.arange(float(rows))[:, None])
    if sizes is None:
        assert cluster(points, 1).tolist() == [0]
        return
    assert sorted(np.bincount(cluster(points, 5)).tolist()) == sizes


@pytest.mark.parametrize("cluster", ALL)
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_rows_that_are_all_equal(cluster: Clustering, columns: int) -> None:
    """They fill groups like others, also where there is no column to tell them by."""
    sizes = np.bincount(cluster(MixedPoints(np.zeros((23, columns))), 4))
    assert (sizes.min() >= 4, sizes.max() <= 7, sizes.sum()) == (True, True, 23)


def test_an_outlier_does_not_stretch_other_groups() -> None:
    """The five around 0 and the five around 10 are groups, whatever lies far away."""
    numbers = [0.0, 0.1, 0.2, 0.3, 0.4, 10.0, 10.1, 10.2, 10.3, 10.4, 99.0, 98.0, 97.0, 96.0, 95.0]
    for cluster in (mdav, v_mdav):
        group = cluster(MixedPoints(np.array(numbers)[:, None]), 5)
        assert [len(set(group[first : first + 5])) for first in (0, 5, 10)] == [1, 1, 1]


def test_a_cluster_of_2k_less_one_stays_whole() -> None:
    """V-MDAV lets the group grow; MDAV parts it."""
    numbers = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 7.0, 7.1, 7.2, 7.3, 7.4])[:, None]
    points = MixedPoints(numbers)
    assert sorted(np.bincount(v_mdav(points, 3, gamma=1.1)).tolist()) == [5, 5]
    assert sorted(np.bincount(mdav(points, 3)).tolist()) == [3, 3, 4]
    assert points.sum_of_squares(v_mdav(points, 3, gamma=1.1)) < points.sum_of_squares(mdav(points, 3))


@pytest.mark.parametrize("draw", ["normal", "uniform", "lognormal"])
@pytest.mark.parametrize("k", [3, 5, 10])
def test_on_a_line_it_is_not_far_from_the_best(draw: str, k: int) -> None:
    """The best groups on a line are known; none of the three loses more than twice as much on these tables."""
    numbers = getattr(np.random.default_rng(k), draw)(size=300)
    points = MixedPoints(numbers[:, None])
    best = best_on_a_line(numbers.tolist(), k)
    for cluster in ALL:
        assert best * (1 - 1e-9) <= points.sum_of_squares(cluster(points, k)) <= 2 * best


def test_large_tables_are_cut_into_blocks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are as large as they should be, lose a little more, and progress counts all rows."""
    points = MixedPoints(np.random.default_rng(5).normal(size=(900, 2)))
    whole = points.sum_of_squares(mdav(points, 4))
    monkeypatch.setattr(module, "_BLOCK", 200)
    steps: list[tuple[int, int]] = []
    for cluster in (mdav, v_mdav):
        group = cluster(points, 4, progress=lambda done, total: steps.append((done, total)))
        sizes = np.bincount(group)
        assert (sizes.min() >= 4, sizes.max() <= 7) == (True, True)
        assert points.sum_of_squares(group) < 1.2 * whole
    persons = np.arange(900) // 2
    group = mdav(points, 4, persons)
    assert all(len(set(persons[group == one])) >= 4 for one in range(group.max() + 1))


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that have a group, of all rows, never fewer than before."""
    steps: list[tuple[int, int]] = []
    mdav(MixedPoints(np.random.default_rng(5).normal(size=(900, 2))), 2, progress=lambda *step: steps.append(step))
    assert len(steps) > 3
    assert steps == sorted(steps)
    assert {total for _, total in steps} == {900}
