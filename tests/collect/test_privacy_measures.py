"""How private a perturbed answer is, held against numerical integration, enumeration and simulation."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import Unperturbed
from sfumato.collect.prior_knowledge import PriorKnowledge
from sfumato.collect.privacy_measures import (
    edge_chance,
    explain_no_epsilon,
    gaussian_epsilon,
    measure_privacy,
    noise_entropy,
    noise_interval,
)
from sfumato.errors import InputError

Floats = NDArray[np.float64]
DOMAIN = (10.0, 90.0)
SHARES = [0.1, 0.4, 0.0, 0.3, 0.2]
NOISES = [GaussianNoise(15.0, DOMAIN), UniformNoise(30.0, DOMAIN), LaplaceNoise(12.0, DOMAIN)]
BY_KIND = {noise.kind: noise for noise in NOISES}


def _cells(noise: AdditiveNoise, shares: list[float]) -> tuple[Floats, Floats]:
    """The middles of 2000 cells of the domain, and the share of each."""
    per_bin = 2000 // len(shares)
    middles = noise.domain[0] + noise.width * (np.arange(2000) + 0.5) / 2000
    return middles, np.repeat(np.array(shares) / per_bin, per_bin)


@pytest.mark.parametrize("kind", BY_KIND)
def test_entropy_and_interval_of_the_noise(kind: str) -> None:
    """2^h and the 95 % interval are those that numerical integration of the density gives."""
    noise = BY_KIND[kind]

    def term(y: float) -> float:
        density = float(noise.density(np.array([y]))[0])
        return -density * math.log2(density) if density > 0 else 0.0

    reach = noise.spread * (1 if kind == "uniform" else 40)
    assert noise_entropy(noise) == pytest.approx(quad(term, -reach, reach, points=[0.0], limit=200)[0], rel=1e-6)
    half = noise_interval(noise) / 2
    inside, _ = quad(lambda y: float(noise.density(np.array([y]))[0]), -half, half, points=[0.0])
    assert inside == pytest.approx(0.95, abs=1e-9)


@pytest.mark.parametrize("shares", [[1.0], SHARES], ids=["uniform", "given"])
@pytest.mark.parametrize("kind", BY_KIND)
def test_mutual_information(kind: str, shares: list[float]) -> None:
    """I(X;Z) is what a plain sum over a fine grid of values and reports gives, whatever is known beforehand."""
    noise = BY_KIND[kind]
    middles, mass = _cells(noise, shares)
    middles, mass = middles.reshape(-1, 4).mean(axis=1), mass.reshape(-1, 4).sum(axis=1)  # 500 cells will do
    step = noise.width / 1000
    reports = np.arange(noise.domain[0] - 12 * noise.spread, noise.domain[1] + 12 * noise.spread, step)
    total = 0.0
    for block in np.array_split(reports, 20):
        density = noise.density(block[:, None] - middles[None, :])
        mixed = density @ mass
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(density > 0, density * np.log2(density / mixed[:, None]), 0.0)
        total += float((terms @ mass).sum() * step)
    private = measure_privacy(noise, shares)
    assert private.mutual_information == pytest.approx(total, abs=2e-3)
    assert private.privacy_loss == pytest.approx(1 - 2**-total, abs=2e-3)
    assert private.conditional_privacy == pytest.approx(private.inherent_privacy * 2**-total, rel=2e-3)


def test_mutual_information_in_closed_form() -> None:
    """Uniform noise on a uniform value gives the entropy of a trapezoid, whose formula is known."""
    width, spread = 200.0, 50.0
    private = measure_privacy(UniformNoise(spread, (0.0, width)))
    # h(Z) = log2 a + b / (2 a ln 2) with a the longer and b the shorter of the two widths; h(Y) = log2 of its width
    assert private.mutual_information == pytest.approx(math.log2(width / (2 * spread)) + 0.25 / math.log(2), abs=1e-6)
    assert private.inherent_privacy == pytest.approx(width)


@pytest.mark.parametrize("ratio", [1e-8, 1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("kind", [GaussianNoise, UniformNoise, LaplaceNoise])
def test_any_size_of_noise(kind: type[AdditiveNoise], ratio: float) -> None:
    """Noise that is tiny or huge beside the domain takes away all privacy but the noise, or none."""
    private = measure_privacy(kind(100.0 * ratio, (0.0, 100.0)), [0.5, 0.25, 0.25])
    if ratio < 0.01:
        assert private.conditional_privacy == pytest.approx(private.entropy_privacy, rel=0.01)
        assert private.posterior95 == pytest.approx(noise_interval(kind(100.0 * ratio, (0.0, 100.0))), rel=0.01)
        assert private.best_guess > 0.99
    elif ratio > 100:
        assert private.mutual_information < 1e-3
        assert private.best_guess == pytest.approx(private.blind_guess, abs=1e-3)
    else:
        assert 0 < private.mutual_information < 2


@pytest.mark.slow
@pytest.mark.parametrize("shares", [[1.0], SHARES], ids=["uniform", "given"])
@pytest.mark.parametrize("kind", BY_KIND)
def test_what_is_left_after_a_report(kind: str, shares: list[float]) -> None:
    """Sets and guesses are those of posteriors that are worked out one by one for simulated reports."""
    noise = BY_KIND[kind]
    middles, mass = _cells(noise, shares)
    generator = np.random.default_rng(7)
    truth = generator.choice(middles, 3000, p=mass)
    reports = truth + noise.quantile(generator.random(3000))
    sizes, right = [], 0
    for value, report in zip(truth, reports, strict=True):
        posterior = mass * noise.density(report - middles)
        posterior /= posterior.sum()
        likeliest = np.sort(posterior)[::-1]
        sizes.append((np.searchsorted(np.cumsum(likeliest), 0.95) + 1) * noise.width / 2000)
        parts = posterior.reshape(20, 100).sum(axis=1)
        right += int((value - noise.domain[0]) / noise.width * 20) == int(parts.argmax())
    private = measure_privacy(noise, shares)
    assert private.posterior95 == pytest.approx(np.mean(sizes), rel=0.02)
    assert private.narrow95 == pytest.approx(np.quantile(sizes, 0.05), rel=0.1)
    assert private.best_guess == pytest.approx(right / 3000, abs=0.03)


def test_public_knowledge_leaves_less() -> None:
    """Who knows the distribution is left with a smaller set and guesses better than who knows the domain alone."""
    noise = GaussianNoise(25.5, (0.0, 100.0))
    blind, known = measure_privacy(noise), measure_privacy(noise, [0.05, 0.05, 0.7, 0.1, 0.1])
    assert known.posterior95 < 0.9 * blind.posterior95
    assert known.best_guess > blind.best_guess
    assert (known.known, blind.known) == (True, False)


@pytest.mark.parametrize(
    "noise",
    [
        ResponseNoise(("a", "b", "c"), 0.6),
        MatrixNoise(("a", "b", "c"), ((0.8, 0.2, 0.0), (0.1, 0.7, 0.2), (0.3, 0.3, 0.4))),
        UnaryNoise(("a", "b", "c"), 0.7, 0.2),
    ],
    ids=lambda noise: noise.kind,
)
def test_answers_by_enumeration(noise: MatrixNoise | ResponseNoise | UnaryNoise) -> None:
    """Information and best guess are sums over every answer and every report, sets of answers included."""
    shares = [0.5, 0.2, 0.3]
    joint: dict[object, list[float]] = {}
    if isinstance(noise, UnaryNoise):
        for report in itertools.product([0, 1], repeat=3):
            joint[report] = [
                shares[true]
                * math.prod(
                    (noise.keep if i == true else noise.add) if bit else 1 - (noise.keep if i == true else noise.add)
                    for i, bit in enumerate(report)
                )
                for true in range(3)
            ]
    else:
        joint = {j: [shares[i] * noise.transition[i][j] for i in range(3)] for j in range(3)}
    bits = sum(
        cell * math.log2(cell / shares[true] / sum(cells))
        for cells in joint.values()
        for true, cell in enumerate(cells)
        if cell > 0
    )
    private = measure_privacy(noise, shares)
    assert private.mutual_information == pytest.approx(bits)
    assert private.best_guess == pytest.approx(sum(max(cells) for cells in joint.values()))
    assert private.blind_guess == 0.5
    assert private.entropy_privacy == private.conditional_privacy


def test_large_unary_encoding() -> None:
    """The binomial sum for equally likely answers agrees with going through every set, and with simulated sets."""
    values = tuple(map(str, range(12)))
    listed = measure_privacy(UnaryNoise(values, 0.6, 0.2))
    values13 = tuple(map(str, range(13)))
    summed = measure_privacy(UnaryNoise(values13, 0.6, 0.2))
    even = [1 / 13] * 13
    even[0] += 1e-9  # not quite even: simulated
    simulated = measure_privacy(UnaryNoise(values13, 0.6, 0.2), [share / sum(even) for share in even])
    assert summed.mutual_information == pytest.approx(simulated.mutual_information, abs=0.02)
    assert summed.best_guess == pytest.approx(simulated.best_guess, abs=0.01)
    assert summed.posterior95 == pytest.approx(simulated.posterior95, rel=0.02)
    assert listed.mutual_information < summed.mutual_information < listed.mutual_information + 0.05


def test_binomial_sum_is_the_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many answers as can be gone through, both ways give the same figures."""
    noise = UnaryNoise(tuple("abcdefgh"), 0.5, 0.3)
    listed = measure_privacy(noise)
    monkeypatch.setattr("sfumato.collect.privacy_measures._ENUMERATED", 2)
    summed = measure_privacy(noise)
    for key, figure in listed.as_json().items():
        if isinstance(figure, float):
            assert summed.as_json()[key] == pytest.approx(figure), key


def test_baskets_are_measured_by_item() -> None:
    """An item that is in half of the baskets tells 1 - H(keep) bits of itself, and the best guess is the report."""
    keep = 0.9
    entropy = -keep * math.log2(keep) - (1 - keep) * math.log2(1 - keep)
    private = measure_privacy(FlipNoise(("bread", "milk"), keep))
    assert private.mutual_information == pytest.approx(1 - entropy)
    assert private.best_guess == pytest.approx(keep)
    assert private.epsilon == pytest.approx(2 * math.log(9))
    known = measure_privacy(FlipNoise(("bread", "milk"), keep), {"bread": 0.02, "milk": 0.5})
    assert known.best_guess == pytest.approx((0.98 + 0.9) / 2)


def test_the_edge_of_uniform_noise() -> None:
    """The chance that a report leaves an interval of no more than a width is what simulated reports show."""
    noise, generator = UniformNoise(30.0, DOMAIN), np.random.default_rng(2)
    for shares in ([1.0], SHARES):
        middles, mass = _cells(noise, shares)
        truth = generator.choice(middles, 400_000, p=mass)
        reports = truth + noise.quantile(generator.random(len(truth)))
        left = np.minimum(90.0, reports + 30) - np.maximum(10.0, reports - 30)
        known = PriorKnowledge.read(shares, noise, "age")
        assert edge_chance(noise, 12.0, known) == pytest.approx((left <= 12.0).mean(), rel=0.05)


def test_rare_epsilon_of_gaussian_noise() -> None:
    """For the ε that its sentence names, the mass of reports beyond e^ε is one in a million (by integration)."""
    noise = GaussianNoise(40.0, (0.0, 100.0))
    epsilon = gaussian_epsilon(noise)

    def excess(z: float) -> float:
        return max(float(norm.pdf(z, 100, 40)) - math.exp(epsilon) * float(norm.pdf(z, 0, 40)), 0.0)

    assert quad(excess, 100, 500, limit=400)[0] == pytest.approx(1e-6, rel=1e-3)
    assert gaussian_epsilon(GaussianNoise(1e9, (0.0, 100.0))) == 0.0


def test_why_there_is_no_epsilon() -> None:
    """Where ε is infinite a sentence says why; where it is finite there is the figure and no sentence."""
    assert measure_privacy(LaplaceNoise(20.0, (0.0, 60.0))).epsilon == 3.0
    assert measure_privacy(LaplaceNoise(20.0, (0.0, 60.0))).no_epsilon is None
    assert "far out" in explain_no_epsilon(GaussianNoise(20.0, (0.0, 100.0)))
    assert "One report in 400 leaves no more than 5" in explain_no_epsilon(UniformNoise(50.0, (0.0, 100.0)))
    impossible = explain_no_epsilon(MatrixNoise(("x", "y"), ((0.8, 0.2), (0.0, 1.0))))
    assert "the report 'x' is impossible for somebody whose answer is 'y'" in impossible
    assert "no protection" in explain_no_epsilon(Unperturbed())
    assert measure_privacy(UniformNoise(50.0, (0.0, 100.0))).epsilon is None


def test_a_reconstruction_is_a_prior(tmp_path: Path) -> None:
    """What collect reconstruct prints, as a mapping or a file, is what an adversary may know."""
    noise = GaussianNoise(20.0, (0.0, 100.0))
    bins = [{"low": 0.0, "high": 50.0, "share": 0.75}, {"low": 50.0, "high": 100.0, "share": 0.25}]
    plain = measure_privacy(noise, [0.75, 0.25])
    assert measure_privacy(noise, {"column": "age", "bins": bins}) == plain
    (tmp_path / "age.json").write_text(
        '{"bins": [{"low": 0, "high": 50, "share": 0.75}, {"low": 50, "high": 100, "share": 0.25}]}', encoding="utf-8"
    )
    assert measure_privacy(noise, tmp_path / "age.json") == plain
    vote = ResponseNoise(("a", "b"), 0.5)
    listed = {"values": [{"value": "b", "share": 0.1}, {"value": "a", "share": 0.9}]}
    assert (
        measure_privacy(vote, listed)
        == measure_privacy(vote, [0.9, 0.1])
        == measure_privacy(vote, {"a": 0.9, "b": 0.1})
    )


@pytest.mark.parametrize(
    ("noise", "prior", "sentence"),
    [
        (NOISES[0], [0.5, 0.6], "add up to 1.1 and not to 1"),
        (NOISES[0], [0.0, 0.0], "add up to 0"),
        (NOISES[0], [math.nan, 1.0], "from 0 to 1"),
        (NOISES[0], [], "no shares"),
        (NOISES[0], {"bins": [{"low": 20, "high": 90, "share": 1}]}, "span the domain from 10 to 90"),
        (NOISES[0], {"bins": [{"low": 10, "high": 90}]}, "must be numbers"),
        (NOISES[0], {"values": []}, 'list "bins"'),
        (ResponseNoise(("a", "b"), 0.5), [1.0], "must be 2 shares"),
        (ResponseNoise(("a", "b"), 0.5), {"a": 1.0}, "no share of 'b'"),
        (FlipNoise(("a", "b"), 0.9), [0.5, 1.5], "from 0 to 1"),
    ],
)
def test_wrong_priors(noise: AdditiveNoise, prior: object, sentence: str) -> None:
    """A prior that means nothing is refused in a sentence that names the column."""
    with pytest.raises(InputError, match="'age'") as raised:
        measure_privacy(noise, prior, "age")  # type: ignore[arg-type]
    assert sentence in str(raised.value)


def test_it_shows_itself() -> None:
    """As text and in a notebook, with the sentence on ε."""
    private = measure_privacy(UniformNoise(50.0, (0.0, 100.0)), column="<age>")
    assert "entropy privacy 2^h" in str(private) == repr(private)
    assert "&lt;age&gt;" in private._repr_html_()
    assert "gives a value away" in private._repr_html_()
