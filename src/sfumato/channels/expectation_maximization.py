"""Shares of true cells from counts of reports: the iterative rule of the chapter, accelerated.

Equation 20.5, with true values in k cells and reports in m cells, is one step of expectation maximization for the
likelihood of a mixture: with A[j, i] the chance of report j for the true cell i, n[j] the reports and f the shares,

    f[i]  <-  f[i] / n · Σ_j n[j] A[j, i] / Σ_l A[j, l] f[l]

A step costs m · k, however many reports there are, and the likelihood never falls. Plain steps are slow: SQUAREM
(Varadhan and Roland 2008) extrapolates from two of them, and is kept only where the likelihood has not fallen.

How far the maximum still is, nobody needs to guess. The likelihood is concave, so with g[i] the factor of f[i] in the
step above, no shares at all have a log-likelihood above the present one by more than n (max g - 1): the `gap`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import chdtri

Floats = NDArray[np.float64]

_TINY, _LONGEST_LEAP = 1e-300, 1e6
_HARDLY_BETTER = 0.1
"""A difference in log-likelihood that says nothing."""


@dataclass(frozen=True)
class MixtureLikelihood:
    """Counts of reports in b problems of one kind, and the chances of reports for true cells.

    column: float[m, k], the chance (or density) of each of m reports for each of k true cells
    counts: float[b, d, m], reports by problem and reported class (d = 1 where there are no classes)
    by:     float[d, c] where the class of a report is itself perturbed: the chance of each of d reported classes for
            each of c true ones; None where d = c = 1

    Shares are float[b, c, k]; those of a problem add up to 1.
    """

    column: Floats
    counts: Floats
    by: Floats | None = None

    @property
    def totals(self) -> Floats:
        """The reports of each problem, float[b]."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    def uniform_shares(self) -> Floats:
        """Shares that are all alike: where the chapter starts."""
        classes = 1 if self.by is None else self.by.shape[1]
        cells = self.column.shape[1]
        return np.full((len(self.counts), classes, cells), 1.0 / (classes * cells))

    def step(self, shares: Floats) -> tuple[Floats, Floats, Floats]:
        """Take one step; give the new shares, the log-likelihood of the old ones, and their gap."""
        expected = self.expected(shares)
        log_likelihood = (self.counts * np.log(expected)).sum(axis=(1, 2))
        ratio = np.divide(self.counts, expected, out=expected)
        if self.by is not None:
            ratio = self.by.T @ ratio
        factors = self._times(ratio, self.column)
        factors /= np.maximum(self.totals, _TINY)[:, None, None]
        gap = self.totals * np.maximum(factors.max(axis=(1, 2)) - 1, 0.0)
        factors *= shares
        return factors, log_likelihood, gap

    def expected(self, shares: Floats) -> Floats:
        """Give the chance of each report, float[b, d, m], kept above zero."""
        chances = self._times(shares, self.column.T)
        if self.by is not None:
            chances = self.by @ chances
        return np.maximum(chances, _TINY, out=chances)

    @staticmethod
    def _times(left: Floats, right: Floats) -> Floats:
        """Multiply float[b, c, x] by float[x, y] as one product of matrices."""
        return (left.reshape(-1, left.shape[2]) @ right).reshape(*left.shape[:2], right.shape[1])


@dataclass(frozen=True)
class FittedShares:
    """Shares per problem, what they reach, and why the iteration ended.

    `iterations` counts evaluations of the step; `stopped` is ``converged``, ``limit``, or the rule that ended it.
    """

    shares: Floats
    log_likelihood: Floats
    gap: Floats
    iterations: int
    stopped: str


def maximize_likelihood(
    problem: MixtureLikelihood, *, start: Floats | None = None, evaluations: int = 2000, tolerance: float = 0.02
) -> FittedShares:
    """Iterate until no shares are better by more than `tolerance` in log-likelihood, accelerated by SQUAREM.

    Two plain steps give f1 and f2; with r = f1 - f0 and v = f2 - f1 - r the extrapolation is f0 + 2 a r + a² v,
    a = |r| / |v|. Where it has a lower likelihood than f1, its problem goes on from f2, so no problem ever falls.

    >>> noisy = MixtureLikelihood(np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[[55.0, 45.0]]]))
    >>> maximize_likelihood(noisy).shares.round(3).tolist()
    [[[0.5, 0.5]]]
    """
    shares = problem.uniform_shares() if start is None else start
    used = 0
    while True:
        first, _, gap = problem.step(shares)
        used += 1
        if used + 3 > evaluations or (gap <= tolerance).all():
            break
        second, before, _ = problem.step(first)
        change = first - shares
        bend = second - first - change
        norm = np.sqrt((bend**2).sum(axis=(1, 2)))
        length = np.sqrt((change**2).sum(axis=(1, 2))) / np.maximum(norm, _TINY)
        length = np.clip(length, 1.0, _LONGEST_LEAP)[:, None, None]
        leap = shares + 2 * length * change + length**2 * bend
        # a share that would fall below zero keeps a little of what two plain steps gave it, so that it can come back
        leap = np.where(leap > 0, leap, 1e-3 * second)
        leap /= leap.sum(axis=(1, 2), keepdims=True)
        landed, after, _ = problem.step(leap)
        used += 2
        shares = np.where((after >= before)[:, None, None], landed, second)
    _, log_likelihood, gap = problem.step(first)
    stopped = "converged" if (gap <= tolerance).all() else "limit"
    return FittedShares(first, log_likelihood, gap, used, stopped)


def polish(
    problem: MixtureLikelihood, fitted: FittedShares, *, steps: int = 40, tolerance: float = 0.02
) -> FittedShares:
    """Go on from fitted shares by constrained Newton steps (Wang 2007), which end at the maximum itself.

    Near f the log-likelihood is, but for a constant, minus half of Σ_j n[j] (S[j] f' - 2)² with S[j, i] = A[j, i] /
    (A f)[j]: a least-squares problem over shares that are not negative, which `scipy.optimize.nnls` solves; a heavy
    line more makes them add up to 1. Steps are halved until the likelihood does not fall. For one problem at a time.
    """
    shares, evaluations = fitted.shares.copy(), fitted.iterations
    for number in np.flatnonzero(fitted.gap > tolerance).tolist():
        counts = problem.counts[number : number + 1]
        alone = MixtureLikelihood(problem.column, counts, problem.by)
        design = problem.column if problem.by is None else np.kron(problem.by, problem.column)  # float[d m, c k]
        seen = counts.ravel() > 0
        weights = np.sqrt(counts.ravel()[seen])
        heavy = 1e3 * np.sqrt(counts.sum())
        current = shares[number : number + 1]
        for _ in range(steps):
            _, reached, gap = alone.step(current)
            evaluations += 1
            if gap[0] <= tolerance:
                break
            ratios = design[seen] / alone.expected(current).ravel()[seen, None]
            matrix = np.vstack([weights[:, None] * ratios, np.full(design.shape[1], heavy)])
            target, _ = nnls(matrix, np.append(2 * weights, heavy))
            direction = (target / target.sum()).reshape(current.shape) - current
            length = 1.0
            while length > 1e-6 and alone.step(current + length * direction)[1][0] < reached[0]:
                length /= 2
                evaluations += 1
            if length <= 1e-6:
                break
            current = current + length * direction
        shares[number] = current[0]
    _, log_likelihood, gap = problem.step(shares)
    stopped = "converged" if (gap <= tolerance).all() else "limit"
    return FittedShares(shares, log_likelihood, gap, evaluations, stopped)


def iterate_plainly(
    problem: MixtureLikelihood,
    iterations: int,
    *,
    start: Floats | None = None,
    ends: Callable[[Floats, Floats], bool] | None = None,
    rule: str = "limit",
) -> FittedShares:
    """Take plain steps, so many or until `ends` says so of the shares before and after one; `rule` is its name."""
    shares = problem.uniform_shares() if start is None else start
    stopped, used = "limit", 0
    while used < iterations:
        after = problem.step(shares)[0]
        used += 1
        done = ends is not None and ends(shares, after)
        shares = after
        if done:
            stopped = rule
            break
    _, log_likelihood, gap = problem.step(shares)
    return FittedShares(shares, log_likelihood, gap, used, stopped)


def mean_change_below(limit: float) -> Callable[[Floats, Floats], bool]:
    """The chapter's simplest rule: stop where the mean change of a share is below `limit` of the mean share."""
    return lambda before, after: bool((np.abs(after - before).sum(axis=(1, 2)) < limit).all())


def chi_square_below(limit: float, rows: Floats) -> Callable[[Floats, Floats], bool]:
    """The chapter's other rule: stop where χ² between two steps is below `limit` of what a test at 5 % would reject."""

    def ends(before: Floats, after: Floats) -> bool:
        statistic = rows * ((after - before) ** 2 / np.maximum(before, _TINY)).sum(axis=(1, 2))
        return bool((statistic < limit * chdtri(before[0].size - 1, 0.05)).all())

    return ends


def iterations_by_held_out(problem: MixtureLikelihood, *, folds: int = 5, most: int = 3000, seed: int = 0) -> int:
    """Choose how many plain steps are best for reports that were not used, over `folds` parts of the counts.

    Steps beyond that fit the noise of the sample: the shares become spikes. Where other numbers of steps are hardly
    worse than the best, as with few reports and much noise, the smallest of them is taken. Counts are
    dealt out at random, by a fixed seed, since this protects nobody and the same reports should give the same shares.
    """
    parts = deal_out(problem.counts, folds, seed)
    held = np.concatenate(parts)
    training = MixtureLikelihood(problem.column, np.concatenate([problem.counts - part for part in parts]), problem.by)
    training = MixtureLikelihood(training.column, np.maximum(training.counts, 0.0), training.by)
    shares = training.uniform_shares()
    reached: list[float] = []
    best = 0
    while len(reached) < most and len(reached) <= 1.5 * best + 25:
        shares = training.step(shares)[0]
        reached.append(float((held * np.log(training.expected(shares))).sum()))
        best = len(reached) if reached[-1] >= max(reached) else best
    return next(done for done, value in enumerate(reached, start=1) if value >= reached[best - 1] - _HARDLY_BETTER)


def deal_out(counts: Floats, parts: int, seed: int) -> list[Floats]:
    """Deal counts out into parts at random, each report into one; fractions of weights go to all parts alike."""
    generator = np.random.default_rng(seed)
    left = np.floor(counts).astype(np.int64)
    fraction = (counts - left) / parts
    dealt = []
    for number in range(parts):
        part = generator.binomial(left, 1 / (parts - number))
        left = left - part
        dealt.append(part + fraction)
    return dealt
