"""Population uniqueness from a sample: each estimator by its equations, and on populations whose uniques are known."""

from math import comb, log

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.risk.population_uniqueness import (
    SampleClassSizes,
    chance_of_one_row,
    estimate_population_classes,
    expected_ones_and_twos,
    expected_singles,
    fit_pitman,
    pitman,
    pitman_gradient,
    snb,
    uniqueness,
    zayatz,
)

Ints = NDArray[np.int64]
RANDOM = np.random.default_rng


def sampled(classes: Ints, fraction: float, seed: int = 0) -> tuple[Ints, float, int]:
    """Class sizes of a sample of a population, which is a class for each person; its fraction, and the true uniques."""
    drawn = RANDOM(seed).choice(classes, round(fraction * len(classes)), replace=False)
    truth = int((np.unique(classes, return_counts=True)[1] == 1).sum())
    return np.unique(drawn, return_counts=True)[1], len(drawn) / len(classes), truth


def restaurant(people: int, theta: float, alpha: float, seed: int) -> Ints:
    """A population that grows as Pitman's model says, one person at a time: the class of each."""
    draw, classes, sizes = RANDOM(seed), np.zeros(people, dtype=np.int64), np.zeros(people)
    known, chances = 0, RANDOM(seed + 1).random(people)
    for person in range(people):
        if not person or chances[person] * (theta + person) < theta + known * alpha:
            classes[person], known = known, known + 1
        else:  # a person who was there before, whose class is joined unless alpha stands against it
            classes[person] = classes[draw.integers(person)]
            while draw.random() < alpha / sizes[classes[person]]:
                classes[person] = classes[draw.integers(person)]
        sizes[classes[person]] += 1
    return classes


def slid(classes: int, alpha: float, beta: float, seed: int) -> Ints:
    """A population whose classes have 1 + NB(alpha, beta) people: the class of each person."""
    sizes = 1 + RANDOM(seed).negative_binomial(alpha, beta, classes)
    return np.repeat(np.arange(classes), sizes)


def zipf(seed: int = 3) -> Ints:
    """A population of few large and many small classes, made for none of the models."""
    return RANDOM(seed).zipf(1.3, 200_000) % 100_000


@pytest.mark.parametrize("seed", range(6))
def test_zayatz_by_its_equation(seed: int) -> None:
    """Bayes' rule with binomial coefficients written out, on small random samples."""
    sizes = RANDOM(seed).integers(1, 5, 12)
    rows, people = int(sizes.sum()), 3 * int(sizes.sum())
    shows = {j: j * comb(people - j, rows - 1) / comb(people, rows) for j in range(1, 5)}
    alone = int((sizes == 1).sum())
    stays = alone * shows[1] / sum(shows[int(size)] for size in sizes)
    found = zayatz(SampleClassSizes.from_sizes(sizes, rows / people))
    assert found.uniques == pytest.approx(min(alone * stays * 3, people))
    assert chance_of_one_row(SampleClassSizes.from_sizes(sizes, rows / people))[0] == pytest.approx(1 / 3)


def likelihood(sizes: Ints, theta: float, alpha: float) -> float:
    """The logarithm of Pitman's sampling formula, term by term, without what no parameter changes."""
    opened = sum(log(theta + i * alpha) for i in range(1, len(sizes)))
    joined = sum(log(i - alpha) for size in sizes for i in range(1, int(size)))
    return opened + joined - sum(log(theta + i) for i in range(1, int(sizes.sum())))


@pytest.mark.parametrize(("theta", "alpha"), [(5, 0.5), (40, 0.2), (0.5, 0.8), (-0.3, 0.8)])
def test_pitman_s_fit_is_the_maximum_of_the_likelihood(theta: float, alpha: float) -> None:
    """Both slopes are 0 there, they are those of the likelihood, and no neighbour is likelier."""
    sizes = np.bincount(restaurant(1200, theta, alpha, seed=7))
    sizes = sizes[sizes > 0]
    sample = SampleClassSizes.from_sizes(sizes, 0.1)
    at, by = fit_pitman(sample)
    assert pitman_gradient(sample, at, by) == pytest.approx((0, 0), abs=1e-6)
    best = likelihood(sizes, at, by)
    for step in (1e-3, 1e-2):
        for one, other in ((step, 0), (-step, 0), (0, step), (0, -step), (step, -step), (-step, step)):
            assert likelihood(sizes, at + one, by + other) < best
    for other_theta, other_alpha in ((2.0, 0.3), (30.0, 0.05), (0.4, 0.9), (900.0, 0.2)):
        step = 1e-5
        slope = likelihood(sizes, other_theta + step, other_alpha) - likelihood(sizes, other_theta - step, other_alpha)
        along = likelihood(sizes, other_theta, other_alpha + step) - likelihood(sizes, other_theta, other_alpha - step)
        found = pitman_gradient(sample, other_theta, other_alpha)
        assert found == pytest.approx((slope / 2 / step, along / 2 / step), rel=1e-4, abs=1e-3)


def test_pitman_s_alpha_may_be_0() -> None:
    """Where larger alphas are less likely, the fit is Ewens' model, theta alone, and that is said."""
    sizes = np.bincount(restaurant(3000, 60.0, 0.0, seed=1))
    found = pitman(SampleClassSizes.from_sizes(sizes[sizes > 1], 0.1))
    assert found.parameters["alpha"] == 0
    assert "alpha is 0" in found.reason


def test_singles_are_those_of_the_model_and_of_hoshino() -> None:
    """The expected number of classes of one: by simulation, and for a large population Hoshino's formula."""
    from math import gamma

    many = [int((np.bincount(restaurant(300, 3.0, 0.5, seed)) == 1).sum()) for seed in range(150)]
    assert expected_singles(3.0, 0.5, 300) == pytest.approx(np.mean(many), rel=0.05)
    assert expected_singles(3.0, 0.5, 10**9) == pytest.approx(gamma(4.0) / gamma(3.5) * 10**4.5, rel=1e-6)


@pytest.mark.parametrize(("alpha", "beta"), [(0.1, 0.1), (0.5, 0.3), (2.0, 0.6)])
def test_the_slide_negative_binomial_expects_what_it_says(alpha: float, beta: float) -> None:
    """Ones and twos of a sample: summed over all class sizes of the population, and met by the fit."""
    sample = SampleClassSizes.from_sizes(np.array([1] * 60 + [2] * 25 + [3, 4, 9]), 0.3)
    size = np.arange(1, 4000)
    chance = np.cumprod(np.concatenate([[beta**alpha], (1 - beta) * (alpha + size[:-1] - 1) / size[:-1]]))
    kept = 0.3 * 0.7 ** (size - 1.0)
    ones, twos = size * kept @ chance, (size * (size - 1) / 2 * kept * 0.3 / 0.7) @ chance
    assert expected_ones_and_twos(sample, 100, alpha, beta) == pytest.approx((100 * ones, 100 * twos))
    found = snb(sample).parameters
    assert expected_ones_and_twos(sample, found["classes"], found["alpha"], found["beta"]) == pytest.approx((60, 25))


@pytest.mark.parametrize("q", [0.05, 0.4, 0.9])
def test_classes_of_the_population_by_their_equation(q: float) -> None:
    """Haas and Stokes' estimator, its four sums written out class by class."""
    sizes = [1] * 7 + [2] * 4 + [3, 5, 5, 11]
    drawn = sum(i * q**2 * (1 - q**2) ** (i - 1) for i in sizes)
    shown = sum((1 - q) ** i * ((1 + q) ** i - 1) for i in sizes)
    unseen, single = sum((1 - q) ** i for i in sizes), sum(i * q * (1 - q) ** (i - 1) for i in sizes)
    expected_classes = len(sizes) + 7 * drawn / shown * (unseen / single) ** 2
    assert estimate_population_classes(SampleClassSizes.from_sizes(np.array(sizes), q)) == pytest.approx(
        expected_classes
    )


def test_classes_of_the_population_are_counted_right() -> None:
    """The number of classes of a population that is known, from samples of a third and more, within 10 %."""
    for fraction in (0.35, 0.5, 0.8):
        sizes, share, _ = sampled(slid(30_000, 0.6, 0.1, seed=2), fraction)
        assert estimate_population_classes(SampleClassSizes.from_sizes(sizes, share)) == pytest.approx(30_000, rel=0.1)


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.3, 0.7])
def test_pitman_finds_the_uniques_of_a_population_of_its_kind(fraction: float) -> None:
    """60,000 people who came as the model says; the estimate is within 15 % at every fraction."""
    sizes, share, truth = sampled(restaurant(60_000, 200.0, 0.6, seed=4), fraction)
    assert pitman(SampleClassSizes.from_sizes(sizes, share)).uniques == pytest.approx(truth, rel=0.15)


@pytest.mark.parametrize(("fraction", "within"), [(0.2, 0.25), (0.4, 0.1), (0.6, 0.05), (0.8, 0.05)])
def test_snb_finds_the_uniques_of_a_population_of_its_kind(fraction: float, within: float) -> None:
    """40,000 classes with 1 + NB people; the estimate is within 25 % at a fifth, and closer the more is known."""
    sizes, share, truth = sampled(slid(40_000, 0.4, 0.2, seed=5), fraction)
    assert snb(SampleClassSizes.from_sizes(sizes, share)).uniques == pytest.approx(truth, rel=within)


@pytest.mark.parametrize("fraction", [0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.9])
def test_the_rule_on_a_population_of_no_model(fraction: float) -> None:
    """Few large and many small classes: what the rule takes is within 30 % of the truth, above a tenth within 10 %."""
    sizes, share, truth = sampled(zipf(), fraction, seed=1)
    found = uniqueness(sizes, share)
    assert found.chosen == (
        "pitman" if fraction <= 0.1 else min(("zayatz", "snb"), key=lambda x: getattr(found, x).uniques)
    )
    assert found.estimate.uniques == pytest.approx(truth, rel=0.3 if fraction <= 0.1 else 0.1)


@pytest.mark.parametrize(
    ("sizes", "fraction", "chosen", "missing"),
    [
        ([1] * 30, 0.05, "zayatz", {"pitman": "every row of the sample is alone", "snb": "no class of two rows"}),
        ([1] * 30, 0.5, "zayatz", {"pitman": "every row", "snb": "no class of two rows"}),
        ([1] * 5 + [9] * 3, 0.5, "zayatz", {"snb": "no class of two rows"}),
        ([1, 2], 0.001, "pitman", {}),
        ([1, 1, 2, 2, 2, 2, 2, 2, 2, 2], 0.05, "pitman", {"snb": "no parameters"}),
    ],
)
def test_where_an_estimate_does_not_exist(
    sizes: list[int], fraction: float, chosen: str, missing: dict[str, str]
) -> None:
    """There is no figure but a reason, never an error, and the rule takes Zayatz's in its place."""
    found = uniqueness(np.array(sizes), fraction)
    assert found.chosen == chosen
    assert {name for name in ("pitman", "zayatz", "snb") if getattr(found, name).uniques is None} == set(missing)
    for name, words in missing.items():
        assert getattr(found, name).share is None
        assert words in getattr(found, name).reason


def test_where_there_is_nothing_to_estimate() -> None:
    """Nobody alone in the sample: none; all of the population in it: those that are."""
    assert uniqueness(np.array([2, 3, 5]), 0.1).estimate.uniques == 0
    whole = uniqueness(np.array([1, 1, 5]), 1.0)
    assert (whole.estimate.uniques, whole.people, whole.why) == (2, 7, "the table is the whole population")


@pytest.mark.parametrize("seed", range(40))
def test_no_sample_is_an_error(seed: int) -> None:
    """Random samples, odd ones among them: every estimate is a number of people or is missing with a reason."""
    draw = RANDOM(seed)
    sizes = draw.integers(1, int(draw.integers(2, 40)), int(draw.integers(1, 60)))
    if seed % 4 == 0:
        sizes = np.concatenate([sizes, [10**6]])
    found = uniqueness(sizes, float(draw.choice([1e-6, 0.001, 0.1, 0.3, 0.9, 0.9999])))
    for one in (found.zayatz, found.pitman, found.snb):
        if one.uniques is None:
            assert one.reason
        else:
            assert 0 <= one.uniques <= found.people
            assert np.isfinite(one.uniques)
