"""Distributions from perturbed answers: the chapter's exercises, every method and kind, classes, weights, intervals."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.collect import Noise, perturb, reconstruct
from sfumato.errors import DataError, InputError

EDGES = np.linspace(0, 100, 61)


def noise_of(**columns: dict[str, Any]) -> Noise:
    """A noise of these columns."""
    return Noise.read({"format": "sfumato-noise/1", "columns": columns})


GAUSSIAN: dict[str, Any] = {"kind": "gaussian", "sigma": 10.0, "domain": [0, 100]}
UNIFORM: dict[str, Any] = {"kind": "uniform", "half_width": 30.0, "domain": [0, 100]}
LAPLACE: dict[str, Any] = {"kind": "laplace", "scale": 8.0, "domain": [0, 100]}


def bumps(rows: int, seed: int = 1) -> np.ndarray:
    """Two bumps within the domain."""
    draw = np.random.default_rng(seed)
    values = np.where(draw.random(rows) < 0.4, draw.normal(30, 7, rows), draw.normal(65, 9, rows))
    return np.clip(values, 0, 100)


def distance(shares: np.ndarray, true: np.ndarray) -> float:
    """How far two distributions are apart, from 0 to 2."""
    return float(np.abs(shares - true).sum())


def test_exercise_1_the_sum_of_two_uniform_numbers() -> None:
    """Values and noise both uniform on a unit give a triangle; the channel's own prediction is that triangle.

    The exercise adds noise from (0, 1); noise from (-1/2, 1/2) is the same, moved by a half.
    """
    from sfumato.channels.additive_noise import UniformNoise
    from sfumato.channels.channel import BinnedChannel

    channel = BinnedChannel.of(UniformNoise(0.5, (0.0, 1.0)), 40)
    predicted = channel.matrix @ np.full(40, 1 / 40)
    edges = channel.reports

    def below(z: np.ndarray) -> np.ndarray:
        """The cumulative distribution of the triangle on (-1/2, 3/2)."""
        t = np.clip(z + 0.5, 0, 2)
        return np.where(t <= 1, t**2 / 2, 1 - (2 - t) ** 2 / 2)

    assert predicted == pytest.approx(np.diff(below(edges)), abs=1e-9)


def test_exercise_2_a_constant_behind_uniform_noise() -> None:
    """Reports and noise uniform on the same width: the values are all one number, here the middle of the domain.

    From infinitely many reports it is recovered; from a finite sample not exactly: the mass lies around it, nearer with
    more reports, and never all of it in the one bin.
    """
    entry = {"kind": "uniform", "half_width": 0.5, "domain": [0, 1]}
    noise = noise_of(x=entry)
    spread = []
    for rows in (300, 30_000):
        reports = perturb(pa.table({"x": np.full(rows, 0.525)}), noise, seed=rows)
        found = reconstruct(reports, noise, "x", bins=20, method="em", intervals=False)
        centres = (np.arange(20) + 0.5) / 20
        spread.append(float((found.shares * np.abs(centres - 0.525)).sum()))
        assert found.shares[10] < 1 - 1e-6
        assert found.shares[8:13].sum() > 0.9
    assert spread[1] < spread[0]


@pytest.mark.parametrize("entry", [GAUSSIAN, UNIFORM, LAPLACE], ids=lambda entry: entry["kind"])
def test_exercise_3_the_distribution_is_recovered(entry: dict[str, Any]) -> None:
    """By the chapter's iteration within a tenth of all mass, far nearer than the reports are themselves."""
    values, noise = bumps(50_000), noise_of(x=entry)
    reports = perturb(pa.table({"x": values}), noise, seed=3)
    found = reconstruct(reports, noise, "x", intervals=False)
    true = np.histogram(values, EDGES)[0] / len(values)
    naive = np.histogram(np.clip(reports["x"].to_numpy(), 0, 100), EDGES)[0] / len(values)
    assert distance(found.shares, true) < 0.15
    assert distance(found.shares, true) < distance(naive, true) / 2
    assert found.stopped == "held-out"


def test_the_iteration_is_equation_20_5() -> None:
    """On reports at midpoints of cells, three steps are what the equation gives, summed report by report."""
    from sfumato.channels.additive_noise import GaussianNoise
    from sfumato.channels.channel import BinnedChannel

    noise = GaussianNoise(10.0, (0.0, 100.0))
    channel = BinnedChannel.of(noise, 60)
    middle = (channel.reports[:-1] + channel.reports[1:]) / 2
    z = middle[np.random.default_rng(1).integers(40, len(middle) - 40, 200)]
    centres, width = (EDGES[:-1] + EDGES[1:]) / 2, EDGES[1] - EDGES[0]
    density = np.full(60, 1 / 100)
    for _ in range(3):
        new = np.zeros(60)
        for one in z:
            weight = noise.density(one - centres) * density
            new += weight / (weight.sum() * width)
        density = new / len(z)
    found = reconstruct(pa.table({"x": z}), noise_of(x=GAUSSIAN), "x", iterations=3, intervals=False)
    assert found.shares == pytest.approx(density * width)


def test_deconvolution_recovers_a_smooth_distribution() -> None:
    """The chapter's first way, with noise that is not much."""
    values, noise = bumps(50_000), noise_of(x={"kind": "laplace", "scale": 4.0, "domain": [0, 100]})
    reports = perturb(pa.table({"x": values}), noise, seed=3)
    found = reconstruct(reports, noise, "x", bins=20, method="deconvolution", intervals=False)
    assert distance(found.shares, np.histogram(values, np.linspace(0, 100, 21))[0] / len(values)) < 0.1
    assert found.gap is None


def test_fewer_bins_are_sums_of_finer_ones() -> None:
    """Four bins tell the same as sixty, added up: within a wide bin values are not taken for uniform."""
    values, noise = bumps(30_000), noise_of(x=GAUSSIAN)
    reports = perturb(pa.table({"x": values}), noise, seed=3)
    fine = reconstruct(reports, noise, "x", intervals=False).shares
    coarse = reconstruct(reports, noise, "x", bins=4, intervals=False).shares
    assert coarse == pytest.approx(fine.reshape(4, 15).sum(axis=1))


CATEGORIES: list[dict[str, Any]] = [
    {"kind": "response", "values": ["a", "b", "c"], "keep": 0.5},
    {"kind": "matrix", "values": ["a", "b", "c"], "matrix": [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]},
    {"kind": "unary", "values": ["a", "b", "c"], "keep": 0.5, "add": 0.2},
]


@pytest.mark.parametrize("entry", CATEGORIES, ids=lambda entry: entry["kind"])
@pytest.mark.parametrize("method", ["em", "inversion"])
def test_answers_are_recovered(entry: dict[str, Any], method: str) -> None:
    """Shares within two points, and their intervals hold the truth."""
    values = np.repeat(["a", "b", "c"], [24_000, 12_000, 4_000])
    noise = noise_of(x=entry)
    found = reconstruct(perturb(pa.table({"x": values}), noise, seed=2), noise, "x", method=method)
    one = found.distributions[0]
    assert found.shares == pytest.approx([0.6, 0.3, 0.1], abs=0.02)
    assert (one.low95 <= one.shares).all()
    assert (one.shares <= one.high95).all()
    assert sum((one.low95 <= [0.6, 0.3, 0.1]) & (one.high95 >= [0.6, 0.3, 0.1])) >= 2


def test_em_of_answers_is_inversion_inside_the_simplex() -> None:
    """Where the inverse has no share below zero, it is the maximum of the likelihood, to the last digits."""
    values, noise = np.repeat(["a", "b", "c"], [600, 300, 100]), noise_of(x=CATEGORIES[1])
    reports = perturb(pa.table({"x": values}), noise, seed=2)
    shares = [reconstruct(reports, noise, "x", method=method, intervals=False).shares for method in ("em", "inversion")]
    assert shares[0] == pytest.approx(shares[1], abs=1e-7)


def test_em_of_answers_is_where_plain_steps_end() -> None:
    """Iterated until no share changes by 1e-12, the plain rule comes to the same shares, zeros among them, to 1e-6."""
    names = [f"v{place}" for place in range(8)]
    noise = noise_of(x={"kind": "response", "values": names, "keep": 0.2})
    true = np.random.default_rng(9).choice(names, 20_000, p=[0.5, 0.3, 0.1, 0.06, 0.03, 0.01, 0.0, 0.0])
    reports = perturb(pa.table({"x": true}), noise, seed=7)
    found = reconstruct(reports, noise, "x", method="em", intervals=False).shares
    observed = np.array([reports["x"].to_pylist().count(name) for name in names]) / 20_000
    chances = np.full((8, 8), 0.1) + 0.2 * np.eye(8)
    shares, change = np.full(8, 1 / 8), 1.0
    while change > 1e-12:
        after = shares * (chances @ (observed / (chances @ shares)))
        change, shares = float(np.abs(after - shares).max()), after
    assert (found < 1e-9).any()
    assert found == pytest.approx(shares, abs=1e-6)


def test_baskets_are_recovered() -> None:
    """The share of each item among the baskets."""
    draw = np.random.default_rng(4)
    bread, milk = draw.random(20_000) < 0.3, draw.random(20_000) < 0.05
    cells = [
        "|".join(name for name, there in zip(("bread", "milk"), one, strict=True) if there)
        for one in zip(bread, milk, strict=True)
    ]
    noise = noise_of(basket={"kind": "flip", "items": ["bread", "milk"], "keep": 0.8})
    found = reconstruct(perturb(pa.table({"basket": cells}), noise, seed=2), noise, "basket")
    assert found.shares == pytest.approx([bread.mean(), milk.mean()], abs=0.02)


def test_classes_that_are_known() -> None:
    """A class is recovered as it is alone."""
    draw = np.random.default_rng(5)
    arm = draw.choice(["new", "old"], 20_000)
    values = np.clip(np.where(arm == "new", draw.normal(30, 8, 20_000), draw.normal(60, 8, 20_000)), 0, 100)
    noise = noise_of(x=GAUSSIAN, arm={"kind": "plain"})
    reports = perturb(pa.table({"x": values, "arm": arm}), noise, seed=1)
    found = reconstruct(reports, noise, "x", by="arm", intervals=False)
    alone = reconstruct(reports.filter(pa.array(arm == "old")), noise, "x", intervals=False)
    assert found.shares[1] == pytest.approx(alone.shares)
    assert list(found.as_json()["classes"]) == ["new", "old"]
    assert found.as_json()["class_rows"]["new"] == (arm == "new").sum()


@pytest.mark.slow
def test_classes_that_are_perturbed_as_well() -> None:
    """Which features are used at which age, where nobody told either: both are recovered together."""
    draw = np.random.default_rng(6)
    rows = 60_000
    age = draw.uniform(0, 100, rows)
    vim = draw.random(rows) < np.where(age < 50, 0.2, 0.7)
    sex = draw.choice(["f", "m"], rows, p=[0.3, 0.7])
    vote = np.where(draw.random(rows) < np.where(sex == "f", 0.8, 0.4), "a", "b")
    noise = noise_of(
        age={"kind": "laplace", "scale": 20.0, "domain": [0, 100]},
        features={"kind": "flip", "items": ["vim"], "keep": 0.8},
        sex={"kind": "response", "values": ["f", "m"], "keep": 0.6},
        vote={"kind": "response", "values": ["a", "b"], "keep": 0.6},
    )
    raw = pa.table({"age": age, "features": np.where(vim, "vim", ""), "sex": sex, "vote": vote})
    reports = perturb(raw, noise, seed=1)
    by_age = reconstruct(reports, noise, "features", by="age", by_bins=2)
    assert by_age.shares[:, 0] == pytest.approx([0.2, 0.7], abs=0.07)
    assert list(by_age.as_json()["classes"]) == ["0 to 50", "50 to 100"]
    by_sex = reconstruct(reports, noise, "vote", by="sex")
    assert by_sex.shares[:, 0] == pytest.approx([0.8, 0.4], abs=0.04)
    assert [one.share for one in by_sex.distributions] == pytest.approx([0.3, 0.7], abs=0.04)


def test_weights_count() -> None:
    """A row of weight 3 counts as three rows."""
    noise = noise_of(x=CATEGORIES[0])
    once = pa.table({"x": ["a", "b", "c", "b"], "w": [3.0, 1.0, 1.0, 2.0]})
    often = pa.table({"x": ["a"] * 3 + ["b"] * 3 + ["c"]})
    weighted = reconstruct(once, noise, "x", weights="w", intervals=False)
    assert weighted.shares == pytest.approx(reconstruct(often, noise, "x", intervals=False).shares)


def test_answers_left_out_count_for_nothing() -> None:
    """NULL and empty cells are no answers; a column of them alone is refused."""
    noise = noise_of(x=CATEGORIES[0], y=GAUSSIAN)
    some = pa.table({"x": ["a", None, "b", ""], "y": [10.0, None, 30.0, None]})
    assert reconstruct(some, noise, "x", intervals=False).distributions[0].rows == 2
    assert reconstruct(some, noise, "y", intervals=False).distributions[0].rows == 2
    with pytest.raises(DataError, match="no answer to count"):
        reconstruct(pa.table({"y": pa.array([None, None], pa.float64())}), noise, "y")


@pytest.mark.slow
def test_intervals_cover() -> None:
    """Over four shapes and three kinds of noise at least nine of ten bins lie within their 95 % interval."""
    covered = []
    for number, entry in enumerate((GAUSSIAN, UNIFORM, LAPLACE)):
        noise = noise_of(x=entry)
        for seed in range(4):
            draw = np.random.default_rng(100 * number + seed)
            rows = 8_000
            values = [
                bumps(rows, seed),
                draw.triangular(0, 50, 100, rows),
                np.minimum(draw.exponential(20, rows), 100),
                100 * draw.beta(2, 5, rows),
            ][seed]
            found = reconstruct(perturb(pa.table({"x": values}), noise, seed=1000 + seed), noise, "x", bins=20)
            true = np.histogram(values, np.linspace(0, 100, 21))[0] / rows
            one = found.distributions[0]
            covered.append(((one.low95 <= true) & (true <= one.high95)).mean())
            assert (one.high95 - one.low95).mean() < 0.1
    assert np.mean(covered) >= 0.9
    assert min(covered) >= 0.7


@pytest.mark.slow
def test_the_same_reports_give_the_same_shares() -> None:
    """Steps and intervals are drawn by fixed seeds, and the order of the rows does not matter."""
    noise = noise_of(x=GAUSSIAN)
    reports = perturb(pa.table({"x": bumps(2_000)}), noise, seed=1)
    turned = pa.table({"x": reports["x"].to_numpy()[::-1]})
    assert reconstruct(reports, noise, "x").as_json() == reconstruct(turned, noise, "x").as_json()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "inversion"}, "inversion is for categories"),
        ({"method": "guess"}, "is not a method"),
        ({"stop": "later"}, "is not a rule to stop by"),
        ({"stop": "held-out", "method": "em"}, "only the method bayes has rules"),
        ({"bins": 0}, "from 1 to 1,000"),
        ({"iterations": 0}, "at least 1"),
        ({"by": "basket"}, "reported as sets"),
        ({"method": "deconvolution", "by": "vote"}, "one column at a time"),
    ],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    """One sentence each."""
    noise = noise_of(x=GAUSSIAN, vote=CATEGORIES[0], basket={"kind": "flip", "items": ["m"], "keep": 0.9})
    table = pa.table({"x": [1.0, 2.0], "vote": ["a", "b"], "basket": ["m", ""]})
    with pytest.raises(InputError, match=words):
        reconstruct(table, noise, "x", **options)


def test_reports_of_another_noise_are_refused(tmp_path: Path) -> None:
    """Beyond the reach of uniform noise, and answers that are none of its values; the cell is not told."""
    noise = noise_of(x=UNIFORM, vote=CATEGORIES[0])
    with pytest.raises(DataError, match="row 2 is one that this noise cannot produce"):
        reconstruct(pa.table({"x": [10.0, 500.0]}), noise, "x")
    file = tmp_path / "p.csv"
    file.write_text("vote\na\nsecret\n", encoding="utf-8")
    with pytest.raises(DataError, match="row 2 is none of the values") as caught:
        reconstruct(file, noise, "vote")
    assert "secret" not in str(caught.value)


def test_a_matrix_that_tells_nothing() -> None:
    """Rows that are alike cannot be inverted, and no method pretends to."""
    noise = noise_of(x={"kind": "matrix", "values": ["a", "b"], "matrix": [[0.5, 0.5], [0.5, 0.5]]})
    with pytest.raises(InputError, match="cannot be inverted"):
        reconstruct(pa.table({"x": ["a", "b"]}), noise, "x")


def test_it_shows_itself() -> None:
    """As a table on a terminal, and as escaped HTML."""
    noise = noise_of(x={"kind": "response", "values": ["<b>", "c"], "keep": 0.5})
    found = reconstruct(pa.table({"x": ["<b>", "c", "c"]}), noise, "x")
    assert "95 % interval" in str(found)
    assert "&lt;b&gt;" in found._repr_html_()
    early = reconstruct(pa.table({"x": bumps(500)}), noise_of(x=GAUSSIAN), "x", stop="mean-change", intervals=False)
    assert "ended early by the rule of the mean-change" in str(early)
