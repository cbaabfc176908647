"""Runs of lines: every operation against a loop over the groups."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.segments import Segments, sort_by_group, stable_order

GROUPS = 6
groups = st.lists(st.integers(0, GROUPS - 1), max_size=30).map(lambda drawn: np.array(drawn, dtype=np.int64))


@given(groups)
def test_lines_are_sorted_by_group_and_stay_in_order(group: np.ndarray) -> None:
    """Each group's run lists its lines as they came, and empty groups have an empty run."""
    order, runs = sort_by_group(group, GROUPS)
    for number in range(GROUPS):
        start, length = runs.starts[number], runs.lengths[number]
        assert order[start : start + length].tolist() == np.flatnonzero(group == number).tolist()
    assert runs.group.tolist() == sorted(group.tolist())


@given(groups)
def test_sums_within_runs(group: np.ndarray) -> None:
    """Sums of runs, and of what is before each line in its run, are those of a loop."""
    ordered, amounts = np.sort(group), np.arange(len(group)) % 5 + 1
    runs = Segments.from_sorted(ordered)
    assert runs.sum(amounts).tolist() == [int(amounts[ordered == number].sum()) for number in np.unique(ordered)]
    before = [int(amounts[:i][ordered[:i] == number].sum()) for i, number in enumerate(ordered)]
    assert runs.sum_before(amounts).tolist() == before


@given(groups, st.lists(st.integers(0, GROUPS - 1), max_size=8))
def test_chosen_runs_are_listed_one_after_the_other(group: np.ndarray, chosen: list[int]) -> None:
    """Runs may be chosen in any order and more than once, empty ones too."""
    ordered = np.sort(group)
    runs, numbers = Segments.from_groups(ordered, GROUPS), np.array(chosen, dtype=np.int64)
    expected = [place for number in chosen for place in np.flatnonzero(ordered == number).tolist()]
    assert runs.places(numbers).tolist() == expected
    assert runs.select(numbers).lengths.sum() == len(expected)


@given(st.lists(st.integers(0, 1 << 40), max_size=40))
def test_keys_of_any_width_are_sorted_stably(keys: list[int]) -> None:
    """Equal keys stay as they come, however wide they are."""
    assert stable_order(np.array(keys, dtype=np.int64)).tolist() == sorted(range(len(keys)), key=keys.__getitem__)
