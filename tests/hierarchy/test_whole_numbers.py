"""Whole numbers that were written as 20.0, as pandas does beside missing values, are whole to every hierarchy."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.hierarchy import Intervals, Ranges

WIDTHS = ([5, 10, 20], [1], [3, 9], [100])


@given(
    st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=10, unique=True),
    st.sampled_from(WIDTHS),
    st.sampled_from(["{}.0", "{}.", "{}.000", " {}.0", "{}e0"]),
    st.none() | st.integers(-50, 50),
)
def test_a_whole_float_has_the_labels_of_its_integer(
    numbers: list[int], widths: list[int], form: str, origin: int | None
) -> None:
    """On every level above the value itself its label is that of the integer, loss and rank included."""
    spec = Intervals(widths, origin=origin or 0, domain=[-20_000, 20_000])
    whole = spec.bind([str(number) for number in numbers], column="age")
    float_like = spec.bind([form.format(number) for number in numbers], column="age")
    assert float_like.labels[1:] == whole.labels[1:]
    assert float_like.matrix[:, 1:].tolist() == whole.matrix[:, 1:].tolist()
    assert [level.tolist() for level in float_like.loss[1:]] == [level.tolist() for level in whole.loss[1:]]
    assert float_like.ranks is not None
    assert whole.ranks is not None
    assert float_like.ranks.tolist() == whole.ranks.tolist()
    steps, scale = Ranges(domain=[-20_000, 20_000]).numbers([form.format(number) for number in numbers], column="age")
    assert (steps, scale) == (numbers, 1)


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_ages_beside_missing_ones_become_bins_of_whole_numbers(kind: str, tmp_path: Path) -> None:
    """A column of ages with NaN in it, as a frame and as the CSV file that pandas writes of it, is published 20-24."""
    frame = pd.DataFrame({"age": [20.0, 23.0, None, 31.0, 33.0, None], "visits": range(6)})
    columns = {"age": sf.quasi(intervals=[5, 10], least=1), "visits": sf.plain()}
    policy = sf.Policy(columns=columns, privacy=[sf.KAnonymity(2)], algorithm="optimal")
    file = tmp_path / "ages.csv"
    frame.to_csv(file, index=False)
    assert "20.0" in file.read_text()
    table = sf.anonymize(frame if kind == "frame" else file, policy).table
    ages = table["age"].tolist() if kind == "frame" else table.column("age").to_pylist()
    assert sorted(str(age) for age in ages if isinstance(age, str)) == ["20-24", "20-24", "30-34", "30-34"]


def test_init_takes_whole_floats_for_whole_numbers(tmp_path: Path) -> None:
    """What it proposes for the ages of such a file publishes bins of whole numbers."""
    frame = pd.DataFrame({"age": [float(20 + place % 50) for place in range(300)] + [None], "visits": range(301)})
    file = tmp_path / "ages.csv"
    frame.to_csv(file, index=False)
    hierarchy = sf.propose(file).policy.document["columns"]["age"]["hierarchy"]  # type: ignore[index]
    assert hierarchy.get("integers") is not False
    labels = sf.anonymize(file, sf.propose(file).policy).table.column("age").to_pylist()
    assert not any(str(label).startswith("[") for label in labels)


def test_a_number_that_is_not_whole_is_still_refused() -> None:
    """Where bins are of whole numbers, 20.5 is an error that says what to declare."""
    with pytest.raises(sf.HierarchyError, match=r"not integers: '20.5'; say integers = false"):
        Intervals([5]).bind(["20.0", "20.5"], column="age")
