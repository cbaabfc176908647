"""Large releases: what is looked at is bounded, drawn so that figures stay right, and said."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sfumato.attack import definetti_data
from sfumato.attack.bound import Bound
from sfumato.attack.definetti import DefinettiEffort, definetti, link_cells
from sfumato.attack.definetti_data import ProfileSample, SampleLimits, draw_sample, merge_rare_values

Makes = Callable[..., Any]


def _people(made: Any, cells: int, links: int = 10**9) -> ProfileSample:
    lines = merge_rare_values(made.tables.bags["illness"]).merged
    return draw_sample(
        made.tables, SampleLimits.from_bag(cells, links, len(made.tables.quasi), lines), np.random.default_rng(1)
    )


def test_a_sample_has_all_lines_of_whom_it_guesses_about(planted: Makes) -> None:
    """Classes are whole, and so are the people that guesses are made about; the rest is there to learn from."""
    made = planted(6000, zips=200)
    found = _people(made, 3000)
    assert len(found.profile) <= 3000
    lines = np.bincount(found.class_of, weights=found.lines, minlength=len(made.tables.sizes))
    assert np.array_equal(lines[lines > 0], made.tables.sizes[lines > 0])
    job, area = (column.codes for column in made.tables.quasi)
    every = np.array([((job == a) & (area == b)).sum() for a, b in zip(*found.codes, strict=True)])
    seen = np.bincount(found.profile, weights=found.lines)
    assert 0 < found.targets.sum() < len(found.targets)
    assert np.array_equal(seen[found.targets], every[found.targets])
    assert (seen < every).any()


def test_a_sample_tells_what_the_whole_does(planted: Makes) -> None:
    """Figures of a sample are close to those of all lines, and the sample is said."""
    made = planted(12_000, follows=0.5, zips=1000)
    whole = definetti(made.tables, made.original, {}, effort=DefinettiEffort()).columns["illness"]
    part = definetti(made.tables, made.original, {}, effort=DefinettiEffort(cells=5000)).columns["illness"]
    assert (whole.sampled.trained, whole.sampled.guessed) == (12_000, 12_000)
    assert 4500 < part.sampled.trained < 5500
    assert 1000 < part.sampled.guessed < part.sampled.trained
    assert part.lines == 12_000
    for key in ("random", "bag", "attack", "without_bag", "outside"):
        assert getattr(part, key) == pytest.approx(getattr(whole, key), abs=0.04)
    assert (part.blind, part.largest_share) == (whole.blind, whole.largest_share)


def test_links_of_huge_classes_are_bounded(makes: Makes) -> None:
    """Of classes whose lines times values are too many, some lines are looked at, with a bag that shrinks in shares."""
    draw = np.random.default_rng(1)
    zips, illness = draw.integers(0, 400, 2000), draw.integers(0, 50, 2000)
    texts = {"zip": [str(one) for one in zips]}, {"illness": [str(one) for one in illness]}
    made = makes(*texts, draw.integers(0, 2, 2000).tolist())
    found = _people(made, 10**6, 4000)
    join = link_cells(found, made.tables.bags["illness"], made.tables.sizes)
    assert 500 < len(join.cell) <= 4000
    assert set(found.class_of.tolist()) == {0, 1}
    assert join.entry_lines.sum() == pytest.approx(found.lines.sum())
    assert join.even.sum() == pytest.approx(found.lines.sum())
    figures = definetti(made.tables, made.original, {}, effort=DefinettiEffort(links=4000)).columns["illness"]
    assert figures.sampled.guessed <= figures.sampled.trained == found.lines.sum() < 2000


def test_lines_that_are_sorted_are_bounded(planted: Makes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a very large table, some classes are picked before anything is sorted, with the same care for whole people."""
    made = planted(6000, zips=200)
    monkeypatch.setattr(definetti_data, "MAX_LINES", 3000)
    found = _people(made, 10**6)
    assert 2900 < found.lines.sum() <= 3000
    job, area = (column.codes for column in made.tables.quasi)
    every = np.array([((job == a) & (area == b)).sum() for a, b in zip(*found.codes, strict=True)])
    seen = np.bincount(found.profile, weights=found.lines)
    assert 100 < found.targets.sum() < len(found.targets)
    assert np.array_equal(seen[found.targets], every[found.targets])


def test_scrambling_keeps_keys_apart() -> None:
    """Equal keys stay equal and different ones different, in another order each time."""
    keys = np.array([*range(10_000), *range(1 << 61, (1 << 61) + 10_000), 0])
    found = [definetti_data.scramble_keys(keys, np.random.default_rng(seed)) for seed in (1, 2)]
    for each in found:
        assert len(np.unique(each)) == 20_000
        assert each[0] == each[-1]
        assert abs(np.corrcoef(np.argsort(np.argsort(each[:10_000])), np.arange(10_000))[0, 1]) < 0.05
    assert (np.argsort(found[0]) != np.argsort(found[1])).any()


def test_one_profile_everywhere_is_guessed_about_all_the_same(makes: Makes) -> None:
    """Where nobody's classes all fit into a sample, guesses are made from what does."""
    draw = np.random.default_rng(1)
    owner = [number for number in range(500) for _ in "12"]
    illness = draw.integers(0, 9, 1000)
    made = makes({"sex": ["f"] * 1000}, {"illness": [str(one) for one in illness]}, owner)
    figures = definetti(made.tables, made.original, {}, effort=DefinettiEffort(cells=100)).columns["illness"]
    assert figures.sampled.guessed == figures.sampled.trained == 200


def test_rare_values_of_many_are_never_guessed(makes: Makes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more values than a learner can hold the rarest are one, which counts as no guess; exact figures stay exact."""
    jobs = ["a", "b", "c", "d"] * 60
    illness = [{"a": "x", "b": "y", "c": f"rare {row}", "d": "x"}[job] for row, job in enumerate(jobs)]
    owner = [number for number in range(80) for _ in "123"]
    made = makes({"job": jobs, "zip": [str(row) for row in range(240)]}, {"illness": illness}, owner)
    whole = definetti(made.tables, made.original, {"illness": Bound(0.5)}).columns["illness"]
    monkeypatch.setattr(definetti_data, "MAX_VALUES", 3)
    part = definetti(made.tables, made.original, {"illness": Bound(0.5)}).columns["illness"]
    assert (whole.values, part.values) == (62, 2)
    assert (part.blind, part.largest_share) == (whole.blind, whole.largest_share)
    assert part.attack == pytest.approx(0.75)
    assert whole.attack > 0.8


def test_bins_keep_neighbours_together() -> None:
    """Numbers are binned in their own order, other values as text, NULL by itself; few values are left alone."""
    texts = [*[str(one) for one in range(999, -1, -1)], None]
    codes = np.arange(1001)
    found, width = definetti_data.bin_values(texts, codes, 1)
    assert width == 100
    assert (np.diff(found[:1000]) <= 0).all()
    assert found[1000] == 99
    assert 99 not in found[:1000]
    assert np.bincount(found)[:99].max() <= 11
    dates = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    found, _ = definetti_data.bin_values(dates, np.arange(len(dates)), 1)
    assert (np.diff(found) >= 0).all()
    assert definetti_data.bin_values(["b", "a"], np.array([0, 1]), 1)[0].tolist() == [0, 1]


def test_bins_shrink_where_values_are_many() -> None:
    """The learner's tables are bounded: with many sensitive values there are fewer bins."""
    texts = [str(one) for one in range(1000)]
    assert definetti_data.bin_values(texts, np.arange(1000), definetti_data.MAX_LEARNER_ENTRIES // 10)[1] == 10
    assert definetti_data.bin_values(texts, np.arange(1000), definetti_data.MAX_LEARNER_ENTRIES)[1] == 2


def test_ages_in_bins_still_tell(makes: Makes) -> None:
    """A column of more values than lines that share one teaches the learner by its neighbours."""
    draw = np.random.default_rng(1)
    income = draw.permutation(3000)
    illness = np.where(income < 1000, "low", np.where(income < 2000, "middle", "high"))
    owner = (np.arange(3000) // 3)[draw.permutation(3000)].tolist()
    made = makes({"income": [str(one) for one in income]}, {"illness": illness.tolist()}, owner)
    figures = definetti(made.tables, made.original, {}).columns["illness"]
    assert figures.attack > 0.97
    assert figures.outside is not None
    assert figures.outside > 0.95
