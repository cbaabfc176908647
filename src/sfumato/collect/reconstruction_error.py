"""How exact a reconstruction will be from so many answers, before any is collected.

For answers and baskets the standard error of a share has a closed form: the estimate that inverts the noise is
unbiased, and its variance is that of the reports' counts, divided by what the noise leaves of a difference. For numbers
there is none, since the shares of fine bins are hardly determined by the reports and the iteration is stopped before it
fits their noise; so samples are simulated and reconstructed, under a distribution that is stated. Simulations have a
fixed seed: they protect nobody.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import UnaryNoise
from sfumato.channels.channel import BinnedChannel
from sfumato.channels.expectation_maximization import MixtureLikelihood, iterate_plainly, iterations_by_held_out
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Unperturbed
from sfumato.collect.prior_knowledge import PriorKnowledge
from sfumato.errors import InputError

Floats = NDArray[np.float64]

HUMPS = "two humps: 60 % around 30 % of the domain, 40 % around 70 % of it"
"""The distribution of numbers for which errors are stated, unless one is given. A uniform one would flatter: it is
where the iteration starts."""
_BINS = 40
_SAMPLES, _ANSWER_SAMPLES = 5, 400


@dataclass(frozen=True)
class ReconstructionError:
    """The error to expect of a reconstruction from `rows` answers.

    `expected_error` is the total variation distance between reconstructed and true shares: the share of people that
    would have to be moved to make them equal (for baskets, where shares do not add up to 1, the mean error of an item's
    share). `standard_error` is that of one share, the root mean square over the values, in closed form; None for
    numbers. `cumulative_error` is the largest error of a share of people below any bound; None for answers.
    """

    rows: int
    expected_error: float
    standard_error: float | None
    cumulative_error: float | None

    def as_json(self) -> dict[str, Any]:
        """Give the figures by their names."""
        return {
            "rows": self.rows,
            "expected_error": self.expected_error,
            "standard_error": self.standard_error,
            "cumulative_error": self.cumulative_error,
        }


def expect_error(noise: ColumnNoise, rows: int, known: PriorKnowledge | None = None) -> ReconstructionError:
    """Say how exact a column is reconstructed from so many rows, where its true distribution is `known`.

    Where nothing is known, answers are taken as equally likely, and numbers as `HUMPS`.

    >>> from sfumato.channels.category_noise import ResponseNoise
    >>> round(expect_error(ResponseNoise(("yes", "no"), 0.5), 10_000).standard_error, 6)  # 0.5 / 0.5 / √n
    0.01
    """
    if isinstance(noise, Unperturbed):
        raise InputError("a column that is sent as it is needs no reconstruction")
    if rows < 1:
        raise InputError("rows must be a whole number of at least 1")
    if isinstance(noise, AdditiveNoise):
        return _expect_number_error(noise, rows, known)
    known = PriorKnowledge.uniform(noise) if known is None else known
    single = share_errors(noise, known.shares, rows)
    off = np.abs(_simulate_shares(noise, known.shares, rows) - known.shares)
    total = off.mean(axis=1) if isinstance(noise, FlipNoise) else off.sum(axis=1) / 2
    return ReconstructionError(rows, float(total.mean()), float(np.sqrt((single**2).mean())), None)


def share_errors(noise: ColumnNoise, shares: Floats, rows: int) -> Floats:
    """Give the standard error of each share that is estimated by inverting the noise, float[k].

    Randomized response reports value i with chance q = keep p + (1 - keep) / k, so its share has the variance
    q (1 - q) / (n keep²). In unary encoding and baskets each value is a bit of its own: q (1 - q) / (n (keep - add)²).
    For a matrix T it is the diagonal of B (diag q - q qᵀ) Bᵀ / n with B the inverse of Tᵀ and q = Tᵀ p.

    >>> from sfumato.channels.category_noise import ResponseNoise
    >>> share_errors(ResponseNoise(("a", "b", "c"), 0.6), np.array([0.5, 0.3, 0.2]), 10_000).round(4).tolist()
    [0.0083, 0.0077, 0.0072]
    """
    if isinstance(noise, UnaryNoise | FlipNoise):
        add = noise.add if isinstance(noise, UnaryNoise) else 1 - noise.keep
        reported = add + (noise.keep - add) * shares
        return np.asarray(np.sqrt(reported * (1 - reported) / rows) / abs(noise.keep - add))
    assert not isinstance(noise, AdditiveNoise | Unperturbed)  # noqa: S101 - numbers have bins and no closed form
    inverse = _inverse(noise.transition)
    reported = noise.transition.T @ shares
    covariance = (np.diag(reported) - np.outer(reported, reported)) / rows
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", inverse, covariance, inverse), 0.0)))


def project_shares(estimates: Floats) -> Floats:
    """Bring estimates to the nearest shares: not negative, and adding up to 1, row by row float[b, k].

    >>> project_shares(np.array([[0.7, 0.5, -0.1]])).tolist()
    [[0.6, 0.4, 0.0]]
    """
    ordered = -np.sort(-estimates, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, estimates.shape[1] + 1)
    last = (ordered > excess).sum(axis=1) - 1  # the largest number of shares that stay above 0
    return np.asarray(np.maximum(estimates - excess[np.arange(len(estimates)), last][:, None], 0.0).round(15))


def _inverse(transition: Floats) -> Floats:
    if np.linalg.cond(transition) > 1e12:
        raise InputError(
            "the matrix makes different distributions look alike, so no number of answers tells them apart"
        )
    return np.asarray(np.linalg.inv(transition.T), np.float64)


def _simulate_shares(noise: ColumnNoise, shares: Floats, rows: int) -> Floats:
    """Estimate shares from simulated reports by inverting the noise, and bring them to shares: float[samples, k]."""
    generator = np.random.default_rng(0)
    if isinstance(noise, FlipNoise):
        reported = 1 - noise.keep + (2 * noise.keep - 1) * shares
        counts = generator.binomial(rows, reported, size=(_ANSWER_SAMPLES, len(shares)))
        return np.clip((counts / rows - (1 - noise.keep)) / (2 * noise.keep - 1), 0.0, 1.0)
    if isinstance(noise, UnaryNoise):
        true = generator.multinomial(rows, shares, size=_ANSWER_SAMPLES)
        counts = generator.binomial(true, noise.keep) + generator.binomial(rows - true, noise.add)
        return project_shares((counts / rows - noise.add) / (noise.keep - noise.add))
    assert not isinstance(noise, AdditiveNoise | Unperturbed)  # noqa: S101 - numbers have bins
    reported = noise.transition.T @ shares
    counts = generator.multinomial(rows, reported / reported.sum(), size=_ANSWER_SAMPLES)
    return project_shares(counts / rows @ _inverse(noise.transition).T)


def reference_shares(noise: AdditiveNoise, bins: int, known: PriorKnowledge | None = None) -> Floats:
    """Give the shares of bins for which errors of numbers are stated: those that are known, else `HUMPS`."""
    bounds = np.linspace(0, 1, bins + 1)
    if known is not None and known.given and known.edges is not None:
        places = noise.domain[0] + bounds * noise.width
        return np.diff(np.interp(places, known.edges, np.append(0.0, np.cumsum(known.shares))))
    middle = (bounds[:-1] + bounds[1:]) / 2
    humps = 0.6 * np.exp(-0.5 * ((middle - 0.3) / 0.1) ** 2) / 0.1
    humps += 0.4 * np.exp(-0.5 * ((middle - 0.7) / 0.08) ** 2) / 0.08
    return np.asarray(humps / humps.sum())


def _expect_number_error(noise: AdditiveNoise, rows: int, known: PriorKnowledge | None) -> ReconstructionError:
    """Simulate counts of reports, so that a million rows cost what a hundred do, and reconstruct from them."""
    channel = BinnedChannel.of(noise, _BINS)
    truth = reference_shares(noise, _BINS, known)
    chances = channel.matrix @ truth
    generator = np.random.default_rng(0)
    distances, bounds = [], []
    for _ in range(_SAMPLES):
        counts = generator.multinomial(rows, chances / chances.sum()).astype(np.float64)
        problem = MixtureLikelihood(channel.matrix, counts[None, None, :])
        shares = iterate_plainly(problem, iterations_by_held_out(problem)).shares[0, 0]
        distances.append(float(np.abs(shares - truth).sum() / 2))
        bounds.append(float(np.abs(np.cumsum(shares - truth)).max()))
    return ReconstructionError(rows, float(np.mean(distances)), None, float(np.mean(bounds)))
