"""Population uniqueness: how many people of the population are alone with their values, judged by a sample of it.

Three estimators go by the class sizes of the sample alone: Zayatz's, Pitman's model and the slide negative binomial
model (SNB). `uniqueness` takes one of them by the rule of Dankar, El Emam, Neisa and Roffey (2012), from simulations
on clinical data: up to a sampling fraction of 0.1 Pitman's, above it the smaller of Zayatz's and the SNB's. Where the
one of the rule does not exist, it takes Zayatz's, which always does.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray

_SMALL = 0.1
"""The sampling fraction up to which Pitman's estimate is taken."""

_LEAST_ALPHA, _MOST_ALPHA = 1e-4, 1 - 1e-9
"""Between these Pitman's alpha is looked for; one that is smaller makes no difference and is taken as 0."""

_STEPS = 4000
"""Values of the SNB's beta between which a change of sign is looked for."""


@dataclass(frozen=True, eq=False)
class SampleClassSizes:
    """Class sizes of a sample: the different `sizes` in order, how many classes have each, and the sampling fraction.

    >>> sample = SampleClassSizes.from_sizes(np.array([1, 3, 1]), 0.1)
    >>> sample.sizes, sample.counts, sample.rows, sample.classes, sample.people
    (array([1, 3]), array([2, 1]), 5, 3, 50)
    """

    sizes: IntArray
    counts: IntArray
    fraction: float

    @classmethod
    def from_sizes(cls, sizes: IntArray, fraction: float) -> Self:
        """Count the classes of each size."""
        return cls(*np.unique(sizes, return_counts=True), fraction)

    @property
    def rows(self) -> int:
        """Rows of the sample."""
        return int(self.sizes @ self.counts)

    @property
    def classes(self) -> int:
        """Classes of the sample."""
        return int(self.counts.sum())

    @property
    def people(self) -> int:
        """The population's size."""
        return round(self.rows / self.fraction)

    def count(self, size: int) -> int:
        """Count the classes of this size."""
        return int(self.counts[self.sizes == size].sum())


@dataclass(frozen=True)
class UniquenessEstimate:
    """How many of the population are alone in their class, and their share of it; none where no estimate exists.

    `reason` says why there is none, or what is special about it; `parameters` are those of the fitted model.
    """

    uniques: float | None
    share: float | None
    reason: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``."""
        return asdict(self)

    def scale(self, people: int) -> "UniquenessEstimate":
        """Take the same share of a population of so many people."""
        return self if self.share is None else replace(self, uniques=self.share * people)


@dataclass(frozen=True)
class Uniqueness:
    """All three estimates, which of them the rule takes, and why."""

    people: int
    fraction: float
    zayatz: UniquenessEstimate
    pitman: UniquenessEstimate
    snb: UniquenessEstimate
    chosen: str
    why: str

    @property
    def estimate(self) -> UniquenessEstimate:
        """The estimate that the rule takes."""
        estimate: UniquenessEstimate = getattr(self, self.chosen)
        return estimate

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``, those of the chosen estimate first."""
        return {"uniques": self.estimate.uniques, "share": self.estimate.share} | asdict(self)


def uniqueness(sizes: IntArray, fraction: float, *, people: int | None = None) -> Uniqueness:
    """Estimate the population's uniques from class sizes of a sample that is this share of it.

    `people` is the size of the population where a person may be in several classes of the sample: the estimated share
    is then of them.

    >>> import numpy as np
    >>> estimates = uniqueness(np.array([1] * 50 + [2] * 10 + [5] * 6 + [20] * 2), 0.1)
    >>> estimates.chosen, round(estimates.estimate.share, 3)
    ('pitman', 0.178)
    """
    sample = SampleClassSizes.from_sizes(sizes, fraction)
    people = sample.people if people is None else people
    if fraction >= 1 or not sample.count(1):  # nothing to estimate
        why = (
            "the table is the whole population"
            if fraction >= 1
            else "nobody is alone in the table, and so none is estimated"
        )
        exact = _estimate(sample, float(sample.count(1)), why).scale(people)
        return Uniqueness(people, fraction, exact, exact, exact, "zayatz", why)
    estimates = {"zayatz": zayatz(sample), "pitman": pitman(sample), "snb": snb(sample)}
    chosen, why = _choose(fraction, **{name: estimate.uniques for name, estimate in estimates.items()})
    scaled = {name: estimate.scale(people) for name, estimate in estimates.items()}
    return Uniqueness(people, fraction, **scaled, chosen=chosen, why=why)


def _choose(fraction: float, zayatz: float | None, pitman: float | None, snb: float | None) -> tuple[str, str]:
    """Choose an estimator by the rule, given what each estimates; and say why."""
    if fraction <= _SMALL:
        if pitman is not None:
            return "pitman", f"the sampling fraction is at most {_SMALL}"
        return "zayatz", f"the sampling fraction is at most {_SMALL}, and Pitman's model has no estimate"
    if zayatz is None or snb is None:
        return "zayatz", f"the sampling fraction is above {_SMALL}, and the SNB model has no estimate"
    why = f"the sampling fraction is above {_SMALL}, and it is the smaller of Zayatz's and the SNB's"
    return ("zayatz" if zayatz < snb else "snb"), why


def _estimate(sample: SampleClassSizes, uniques: float, reason: str = "", **parameters: float) -> UniquenessEstimate:
    """Make an estimate of so many uniques, of whom there are no more than people."""
    bounded = min(max(float(uniques), 0.0), float(sample.people))
    return UniquenessEstimate(bounded, bounded / sample.people, reason, parameters)


def _no_estimate(reason: str) -> UniquenessEstimate:
    return UniquenessEstimate(None, None, reason)


# Zayatz's estimator


def zayatz(sample: SampleClassSizes) -> UniquenessEstimate:
    """Estimate by Zayatz (1991): the chance that a row which is alone in the sample is alone in the population.

    The shares of class sizes in the population are taken from the sample, and a class of the population shows one row
    in the sample as often as drawing without replacement says. Bayes' rule then turns the chance around: `stays` is
    the chance that a sample unique is a population unique.

    >>> zayatz(SampleClassSizes.from_sizes(np.array([1, 1, 2]), 0.5)).parameters["stays"].__round__(4)
    0.6364
    """
    one_row = chance_of_one_row(sample)
    weighed = float(sample.counts @ one_row)
    alone = sample.count(1)
    stays = alone * one_row[0] / weighed if alone else 0.0
    return _estimate(sample, alone * stays * sample.people / sample.rows, stays=float(stays))


def chance_of_one_row(sample: SampleClassSizes) -> FloatArray:
    """Compute for each size the chance that a class of so many people has one row in the sample (hypergeometric).

    Returns float[sizes]: size * C(people - size, rows - 1) / C(people, rows), by logarithms of the factorials.
    """
    from scipy.special import gammaln  # noqa: PLC0415 - slow to import, and most never come here

    size, people, rows = sample.sizes.astype(np.float64), sample.people, sample.rows
    possible = size - 1 <= people - rows
    left = np.where(possible, people - rows - size + 1, 0.0)
    log = np.log(size) + gammaln(people - size + 1) - gammaln(rows) - gammaln(left + 1)
    samples = gammaln(people + 1) - gammaln(rows + 1) - gammaln(people - rows + 1)
    return np.where(possible, np.exp(log - samples), 0.0)


# Pitman's model


def pitman(sample: SampleClassSizes) -> UniquenessEstimate:
    """Estimate by Pitman's sampling formula, fitted by maximum likelihood (Hoshino 2001).

    Of i rows so far in u classes, the next is a new class with chance (theta + u alpha) / (theta + i), and joins a
    class of j rows with chance (j - alpha) / (theta + i), with 0 <= alpha < 1 and theta > -alpha. The estimate is the
    expected number of classes of one in the population.

    >>> estimate = pitman(SampleClassSizes.from_sizes(np.array([1] * 50 + [2] * 10 + [5] * 6 + [20] * 2), 0.1))
    >>> round(estimate.parameters["alpha"], 2), round(estimate.uniques)
    (0.69, 249)
    """
    if sample.classes == sample.rows:
        return _no_estimate(
            "every row of the sample is alone, so that no size of the classes fits better than a larger one"
        )
    if sample.classes == 1:
        return _no_estimate("the sample has one class, which says nothing about how classes come about")
    try:
        theta, alpha = fit_pitman(sample)
    except (ArithmeticError, ValueError, RuntimeError):
        return _no_estimate("the likelihood has no maximum that could be found")
    reason = "alpha is 0, the smallest that the model allows" if alpha == 0 else ""
    return _estimate(sample, expected_singles(theta, alpha, sample.people), reason, theta=theta, alpha=alpha)


def expected_singles(theta: float, alpha: float, people: int) -> float:
    """Compute the expected number of classes of one among so many people.

    A person is alone where none of the others joins, N times the product of (theta + alpha + i - 1) / (theta + i). For
    a large population this is Hoshino's Gamma(theta + 1) / Gamma(theta + alpha) N^alpha.

    >>> expected_singles(2.0, 0.5, 1)
    1.0
    """
    log = math.lgamma(theta + alpha + people - 1) - math.lgamma(theta + people)
    return people * math.exp(log + math.lgamma(theta + 1) - math.lgamma(theta + alpha))


def fit_pitman(sample: SampleClassSizes) -> tuple[float, float]:
    """Find theta and alpha of the highest likelihood: the best theta for each alpha, and where the slope along it is 0.

    For an alpha the slope along theta falls from infinity, near -alpha, to below 0.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, and most never come here

    def best_theta(alpha: float) -> float:
        low, high = -alpha + 1e-12, 1.0
        while pitman_gradient(sample, high, alpha)[0] > 0:
            high *= 4
        return float(brentq(lambda theta: pitman_gradient(sample, theta, alpha)[0], low, high, xtol=1e-12, rtol=1e-12))

    def slope(alpha: float) -> float:
        return pitman_gradient(sample, best_theta(alpha), alpha)[1]

    if slope(0.0) <= 0 or slope(_LEAST_ALPHA) <= 0:
        return best_theta(0.0), 0.0
    alpha = float(brentq(slope, _LEAST_ALPHA, _MOST_ALPHA, xtol=1e-12, rtol=1e-12))
    return best_theta(alpha), alpha


def pitman_gradient(sample: SampleClassSizes, theta: float, alpha: float) -> tuple[float, float]:
    """Compute the slopes of the log-likelihood along theta and alpha.

    It is the sum of log(theta + i alpha) over i below the number of classes, minus that of log(theta + i) over i below
    the number of rows, plus for each class that of log(i - alpha) over i below its size.
    """
    from scipy.special import digamma  # noqa: PLC0415 - slow to import, and most never come here

    more, rows = sample.classes - 1, float(digamma(theta + sample.rows) - digamma(theta + 1))
    joining = float(sample.counts @ (digamma(sample.sizes - alpha) - digamma(1 - alpha)))
    if alpha == 0:
        return more / theta - rows, more * (more + 1) / 2 / theta - joining
    beginning = _harmonic_sum(theta / alpha + 1, more) / alpha
    return beginning - rows, (more - theta * beginning) / alpha - joining


def _harmonic_sum(start: float, length: int) -> float:
    """Sum 1 / start + 1 / (start + 1) + ... of so many terms, even if they are too alike for a digamma difference.

    >>> round(_harmonic_sum(4.0, 3), 12) == round(1 / 4 + 1 / 5 + 1 / 6, 12)
    True
    """
    from scipy.special import digamma  # noqa: PLC0415 - slow to import, and most never come here

    end = start + length
    if start < 1000:
        return float(digamma(end) - digamma(start))
    far, near = 1 / end, 1 / start  # the asymptotic series of digamma, term by term
    return math.log1p(length / start) - (far - near) / 2 - (far**2 - near**2) / 12 + (far**4 - near**4) / 120


# The slide negative binomial model


def snb(sample: SampleClassSizes) -> UniquenessEstimate:
    """Estimate by the slide negative binomial model (Chen and McNulty 1998), as K beta^alpha.

    A class of the population has 1 + NB(alpha, beta) persons, and so is alone with chance beta^alpha. The number K of
    classes of the population is estimated first. Alpha and beta are then such that as many classes of one row and of
    two rows are expected in the sample as there are.

    >>> estimate = snb(SampleClassSizes.from_sizes(np.array([1] * 50 + [2] * 20 + [5] * 6 + [20] * 2), 0.3))
    >>> round(estimate.parameters["classes"]), round(estimate.uniques)
    (159, 58)
    """
    one, two = sample.count(1), sample.count(2)
    if not one or not two:
        return _no_estimate(
            f"the sample has no class of {'two rows' if one else 'one row'}, which the model is fitted to"
        )
    classes = estimate_population_classes(sample)
    roots = _snb_roots(sample, classes)
    if not roots:
        return _no_estimate("no parameters lead to as many classes of one and of two rows as the sample has")

    def error(root: tuple[float, float]) -> float:
        """How far the size of the population that the model implies is from the true one."""
        alpha, beta = root
        return float(abs(np.log(classes * (1 + alpha * (1 - beta) / beta) / sample.people)))

    alpha, beta = min(roots, key=error)
    return _estimate(sample, classes * beta**alpha, alpha=alpha, beta=beta, classes=classes)


def estimate_population_classes(sample: SampleClassSizes) -> float:
    """Estimate the number of classes of the population by Haas and Stokes (1998), the third of their Shlosser variants.

    Where all of the population is in the sample, there are none besides the sample's.

    >>> estimate_population_classes(SampleClassSizes.from_sizes(np.array([1, 2, 2]), 1.0))
    3.0
    """
    if sample.fraction == 1:
        return float(sample.classes)
    q, i, count = sample.fraction, sample.sizes.astype(np.float64), sample.counts.astype(np.float64)
    numerator = count @ (i * q**2 * (1 - q**2) ** (i - 1))
    denominator = count @ ((1 - q**2) ** i - (1 - q) ** i)
    unseen, single = count @ (1 - q) ** i, count @ (i * q * (1 - q) ** (i - 1))
    return float(sample.classes + sample.count(1) * numerator / denominator * (unseen / single) ** 2)


def expected_ones_and_twos(sample: SampleClassSizes, classes: float, alpha: Any, beta: Any) -> tuple[Any, Any]:
    """Compute how many classes of one and of two rows the model expects in the sample.

    alpha, beta: numbers, or arrays of one shape, which the results have then.
    """
    q, away = sample.fraction, (1 - sample.fraction) * (1 - beta)
    left = 1 - away
    whole = classes * (beta / left) ** alpha
    one = whole * q * (1 + alpha * away / left)
    two = whole * q**2 * alpha * (1 - beta) * (2 - (1 - alpha) * away) / (2 * left**2)
    return one, two


def _snb_roots(sample: SampleClassSizes, classes: float) -> list[tuple[float, float]]:
    """Find all alpha and beta that meet both numbers: one alpha for each beta by their ratio, then signs along beta."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, and most never come here

    q, ratio = sample.fraction, sample.count(2) / sample.count(1)

    def best_alpha(beta: Any) -> Any:
        """Solve for the alpha by which twos and ones have the sample's ratio: a quadratic's one positive root."""
        away = (1 - q) * (1 - beta)
        left = 1 - away
        square, free = q * (1 - beta) * away, 2 * ratio * left**2
        linear = q * (1 - beta) * (2 - away) - 2 * ratio * left * away
        root = np.sqrt(linear**2 + 4 * square * free)
        return np.where(linear > 0, 2 * free / (linear + root), (root - linear) / (2 * square))

    def surplus(beta: Any) -> Any:
        return expected_ones_and_twos(sample, classes, best_alpha(beta), beta)[0] - sample.count(1)

    betas = 1 / (1 + np.exp(-np.linspace(-30, 30, _STEPS)))
    with np.errstate(all="ignore"):
        signs = np.sign(surplus(betas))
        turns = np.flatnonzero(signs[1:] * signs[:-1] < 0)
        roots = [float(brentq(surplus, betas[i], betas[i + 1], xtol=1e-300, rtol=1e-13)) for i in turns]
    return [(float(best_alpha(beta)), beta) for beta in roots]
