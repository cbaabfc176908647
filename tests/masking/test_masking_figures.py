"""What masking changed, against brute force; and what of noise can be recovered, against the truth."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, pearsonr, rankdata

from sfumato.masking import MaskedTable, measure_masking
from sfumato.masking.masking_figures import compare_numbers, ks_distance
from sfumato.masking.noise_recovery import RecoveredColumn, recovery_warnings

Masks = Callable[..., MaskedTable]
SIZES = st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=30)


@settings(max_examples=40, deadline=None)
@given(SIZES, st.randoms(use_true_random=False))
def test_figures_are_those_of_the_textbooks(before: list[float], draw: Any) -> None:
    """Correlation, Kolmogorov and Smirnov's distance and ranks, as scipy has them."""
    after = [value + draw.randint(-5, 5) for value in before]
    first, second = np.array(before), np.array(after)
    found = compare_numbers(first, second)
    assert found.mean == pytest.approx((first.mean(), second.mean()))
    assert found.deviation == pytest.approx((first.std(), second.std()))
    assert found.distance == pytest.approx(ks_2samp(first, second, method="asymp").statistic)
    assert found.displacement == pytest.approx(np.abs(rankdata(first) - rankdata(second)).mean() / len(first))
    if len(set(before)) > 1 and len(set(after)) > 1:
        assert found.correlation == pytest.approx(pearsonr(first, second).statistic)
    else:
        assert found.correlation is None


@settings(max_examples=40, deadline=None)
@given(SIZES, SIZES)
def test_the_distance_of_samples_of_any_sizes(first: list[float], second: list[float]) -> None:
    """As scipy has it."""
    assert ks_distance(np.array(first), np.array(second)) == pytest.approx(
        ks_2samp(first, second, method="asymp").statistic
    )


def test_huge_numbers_have_figures() -> None:
    """Squares of them would overflow."""
    found = compare_numbers(np.array([1e300, -1e300, 2e300]), np.array([1e300, -2e300, 2e300]))
    figures = [*found.mean, *found.deviation, found.correlation]
    assert all(isinstance(one, float) and np.isfinite(one) for one in figures)


def test_the_account_of_a_table(masks: Masks, staff: Any) -> None:
    """Shares of changed cells, counted by hand; dates have dates for means."""
    masked = masks(staff, job={"pram": 0.5}, age={"top": 60}, since={"noise": 0.1}, hours={"swap": 0.1})
    figures = measure_masking(masked)
    for name, found in figures.columns.items():
        cells = [table.arrow[name].to_pylist() for table in (masked.original, masked.table)]
        assert found.changed == sum(a != b for a, b in zip(*cells, strict=True)) / 600
        counts = [{value: cell.count(value) for value in {*cells[0], *cells[1]}} for cell in cells]
        moved = sum(abs(counts[0][value] - counts[1][value]) for value in counts[0]) / 1200
        assert found.frequencies == pytest.approx(moved)
    assert figures.columns["job"].numbers is None
    assert str(figures.columns["since"].as_json()["mean"][0]).count("-") == 2
    assert figures.columns["hours"].as_json()["ranks"] == 60
    assert figures.columns["hours"].frequencies == 0
    assert figures.as_json()["since"]["recovery"]["recovered"] > 0.9


def _correlated(rows: int = 4000) -> Any:
    """Three columns that hang on one hidden quantity."""
    draw = np.random.default_rng(1)
    hidden = draw.normal(size=rows)
    return pa.table({name: np.round(100 * (hidden + 0.2 * draw.normal(size=rows)), 2) for name in "abc"})


def test_a_filter_sees_through_independent_noise_and_not_through_correlated(masks: Masks) -> None:
    """With independent noise most of the error goes; shaped as the data, the filter is no better than one report."""
    table = _correlated()
    apart = {name: {"noise": {"share": 1.0, "correlated": False}} for name in "abc"}
    together = {name: {"noise": 1.0} for name in "abc"}
    found = [measure_masking(masks(table, **entries)) for entries in (apart, together)]
    for first, second in zip(found[0].recovery, found[1].recovery, strict=True):
        assert first.filtered is not None
        assert first.filtered < 0.6 * first.masked
        assert second.filtered == pytest.approx(0.5, abs=0.03)  # 1 · 1 / (1 + 1)
    assert any("a filter over the columns removes" in one for one in found[0].warnings())


def test_bayes_sees_a_value_that_many_share(masks: Masks) -> None:
    """Nine of ten have nothing, and noise of a fifth of the spread does not hide it."""
    draw = np.random.default_rng(2)
    gain = np.where(draw.random(5000) < 0.9, 0, draw.integers(1000, 20_000, 5000))
    found = measure_masking(masks(pa.table({"gain": gain}), gain={"noise": 0.2}))
    (one,) = found.recovery
    assert one.filtered is None
    assert one.bayes < 0.3 * one.masked
    assert any("Bayes' rule removes" in sentence for sentence in found.warnings())


def test_what_noise_hides_little_is_said() -> None:
    """A guess that is right but for a tenth of the variance is worth a warning; one that leaves most is not."""
    assert (
        "hides exact values and little else" in recovery_warnings([RecoveredColumn("a", 0.01, None, 0.0099, None)])[0]
    )
    assert recovery_warnings([RecoveredColumn("a", 1.0, 0.8, 0.9, 0.7)]) == []


def test_masks_that_do_nothing_are_named(masks: Masks) -> None:
    """A constant column, one value to draw among, and noise below the steps of whole numbers."""
    table = pa.table({"same": [7] * 50, "word": ["x"] * 50, "few": [row % 3 for row in range(50)]})
    said = measure_masking(masks(table, same={"noise": 0.1}, word={"pram": 0.5}, few={"noise": 0.1})).warnings()
    assert any("which is 0 in 'same': there is one value" in one for one in said)
    assert any("there is one in 'word'" in one for one in said)
    assert any("noise on 'few' is smaller than the steps" in one for one in said)


def test_noise_that_vanishes_beside_coded_values(masks: Masks) -> None:
    """Coded from ±1e300 to a few units, noise is nothing beside the variance of the truth, and figures are numbers."""
    values = pa.array([1e300 * (row - 20) for row in range(40)])
    figures = measure_masking(masks(pa.table({"x": values}), x={"top": 10, "bottom": 0, "noise": 1.0}))
    (found,) = figures.recovery
    assert all(np.isfinite(error) for error in (found.masked, found.bayes, found.recovered))
