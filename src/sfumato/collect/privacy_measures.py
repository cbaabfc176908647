"""How private a perturbed answer is: interval widths, entropies, mutual information, ε, and the adversary's best guess.

Noise alone says how far a report lies from its value (Agrawal and Srikant 2000: the width of the 95 % interval). What
an adversary learns depends on what they knew before, too. Agrawal and Aggarwal (2001) measure privacy by 2^h, the
width of a uniform distribution of the same entropy: 2^h(X) of a value before its report is seen, 2^h(X|Z) after, and
the share that is lost in between is 1 - 2^-I with I the mutual information of value and report, in bits.

All of these are averages. What a report may tell at worst, whatever is known beforehand, is said by ε alone; where
there is none, `no_epsilon` says why, and how much is given away how often.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.category_noise import MatrixNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Unperturbed
from sfumato.collect.prior_knowledge import Prior, PriorKnowledge
from sfumato.errors import InputError, quote
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent

Floats = NDArray[np.float64]

GUESSED_PARTS = 20
"""Numbers are guessed among so many equal parts of the domain."""
_RARE = 1e-6
"""The chance for which Gaussian noise may exceed the ε that its sentence names."""
_ENUMERATED = 12
_SIMULATED = 20_000
_REPORTS, _CELLS = 1200, 400


@dataclass(frozen=True, repr=False)
class ColumnPrivacy(Shown):
    """How private one column is, given what an adversary knows beforehand.

    Numbers are in the unit of the column. For answers a "width" is a number of answers: 2^H is 3 where it is as hard to
    tell as among three equally likely ones. For baskets all figures are those of one item, the mean over the items.

    `interval95` is the width of the interval that holds the noise with 95 % chance (None where there is none, as for
    answers) and `entropy_privacy` is 2^h of the noise; for answers, where noise has no size of its own, it is
    `conditional_privacy`. `inherent_privacy` is 2^h(X), `conditional_privacy` 2^h(X|Z). `posterior95` is the mean size
    of the smallest set that holds the value with 95 % chance, for who knows prior and report; one report in twenty
    leaves less than `narrow95`. `best_guess` is how often the adversary's best guess is right (of a number: among
    twenty equal parts of the domain), and `blind_guess` how often without the report.
    """

    column: str
    kind: str
    interval95: float | None
    entropy_privacy: float
    inherent_privacy: float
    conditional_privacy: float
    mutual_information: float
    privacy_loss: float
    epsilon: float | None
    no_epsilon: str | None
    posterior95: float
    narrow95: float
    best_guess: float
    blind_guess: float
    known: bool

    def as_json(self) -> dict[str, Any]:
        """Give the figures by their names."""
        figures = asdict(self)
        figures.pop("column")
        figures["prior"] = "given" if figures.pop("known") else "uniform"
        return figures

    def display(self) -> Display:
        """Show each figure with what it means."""
        lines = [(name, "–" if figure is None else f"{figure:.4g}") for name, figure in self._figures()]
        return Display(
            f"Privacy of {quote(self.column)} ({self.kind})", (FigureTable(("", ""), lines),), self.sentences()
        )

    def sentences(self) -> tuple[str, ...]:
        """Say what the figures come to."""
        before = "what is known beforehand" if self.known else "the domain alone"
        guess = (
            f"From {before} a guess is right with chance {percent(self.blind_guess)}, with the report "
            f"{percent(self.best_guess)}."
        )
        return (guess,) if self.no_epsilon is None else (guess, self.no_epsilon)

    def _figures(self) -> tuple[tuple[str, float | None], ...]:
        return (
            ("95% interval of the noise", self.interval95),
            ("entropy privacy 2^h", self.entropy_privacy),
            ("before a report, 2^h(X)", self.inherent_privacy),
            ("after a report, 2^h(X|Z)", self.conditional_privacy),
            ("mutual information, bits", self.mutual_information),
            ("privacy loss", self.privacy_loss),
            ("ε", self.epsilon),
            ("95% set after a report, mean", self.posterior95),
            ("95% set, one report in twenty", self.narrow95),
            ("best guess right", self.best_guess),
            ("without the report", self.blind_guess),
        )


def measure_privacy(
    noise: ColumnNoise, prior: Prior | PriorKnowledge | None = None, column: str = "column"
) -> ColumnPrivacy:
    """Measure how private a column's noise keeps it, against somebody who knows `prior` of its distribution.

    >>> private = measure_privacy(GaussianNoise(20.0, (0.0, 100.0)))
    >>> round(private.interval95, 2), round(private.entropy_privacy, 2)  # 3.92 σ, and σ √(2πe)
    (78.4, 82.65)
    >>> round(private.mutual_information, 3), round(private.privacy_loss, 3)
    (0.796, 0.424)
    >>> from sfumato.channels.category_noise import ResponseNoise
    >>> measure_privacy(ResponseNoise(("yes", "no"), 0.5)).best_guess
    0.75
    """
    if isinstance(noise, Unperturbed):
        raise InputError(f"{quote(column)} is sent as it is; there is nothing private to measure")
    known = PriorKnowledge.read(prior, noise, column)
    match noise:
        case AdditiveNoise():
            figures = _measure_numbers(noise, known)
        case UnaryNoise():
            figures = _measure_sets(noise, known.shares)
        case FlipNoise():
            items = [_measure_answers(_flip_matrix(noise), np.array([share, 1 - share])) for share in known.shares]
            figures = {key: float(np.mean([item[key] for item in items])) for key in items[0]}
        case _:
            figures = _measure_answers(noise.transition, known.shares)
    before, bits = figures.pop("entropy"), max(figures.pop("information"), 0.0)
    conditional = 2.0 ** (before - bits)
    finite = math.isfinite(noise.epsilon)
    return ColumnPrivacy(
        column=column,
        kind=noise.kind,
        interval95=noise_interval(noise) if isinstance(noise, AdditiveNoise) else None,
        entropy_privacy=2.0 ** noise_entropy(noise) if isinstance(noise, AdditiveNoise) else conditional,
        inherent_privacy=2.0**before,
        conditional_privacy=conditional,
        mutual_information=bits,
        privacy_loss=1 - 2.0**-bits,
        epsilon=noise.epsilon if finite else None,
        no_epsilon=None if finite else explain_no_epsilon(noise, known),
        known=known.given,
        **figures,
    )


# Numbers


def noise_interval(noise: AdditiveNoise, confidence: float = 0.95) -> float:
    """Give the width of the shortest interval that holds the noise with a chance: 3.92 σ for Gaussian at 95 %.

    >>> noise_interval(UniformNoise(50.0, (0.0, 200.0)))
    95.0
    """
    low, high = noise.quantile(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    return float(high - low)


def noise_entropy(noise: AdditiveNoise) -> float:
    """Give the differential entropy h(Y) of the noise in bits.

    >>> noise_entropy(UniformNoise(64.0, (0.0, 200.0)))  # log2 of its whole width
    7.0
    """
    match noise:
        case GaussianNoise():
            return math.log2(noise.spread * math.sqrt(2 * math.pi * math.e))
        case LaplaceNoise():
            return math.log2(2 * math.e * noise.spread)
        case _:
            return math.log2(2 * noise.spread)


def _measure_numbers(noise: AdditiveNoise, known: PriorKnowledge) -> dict[str, float]:
    assert known.edges is not None  # noqa: S101 - a prior of numbers has edges
    widths = np.diff(known.edges)
    there = known.shares > 0
    before = -float((known.shares[there] * np.log2(known.shares[there] / widths[there])).sum())
    mean, narrow = _posterior_sizes(noise, known)
    best, blind = _guess_part(noise, known)
    return {
        "entropy": before,
        "information": _report_entropy(noise, known) - noise_entropy(noise),
        "posterior95": mean,
        "narrow95": narrow,
        "best_guess": best,
        "blind_guess": blind,
    }


def _report_entropy(noise: AdditiveNoise, known: PriorKnowledge) -> float:
    """Integrate h(Z) = -∫ f log2 f for Z = X + Y, with X uniform within the bins of the prior.

    f(z) = Σ_i s[i] / w[i] (F(z - l[i]) - F(z - u[i])) has its bends within a few spreads of the bounds of the bins. So
    the line is cut at the bounds, at even steps around each and at what the noise reaches, and each piece takes an
    eight-point Gauss rule: exact where f is flat, whatever the sizes of noise and bins.
    """
    assert known.edges is not None  # noqa: S101 - a prior of numbers has edges
    far = 1.0 if isinstance(noise, UniformNoise) else 34.0 if isinstance(noise, LaplaceNoise) else 8.5
    near = np.linspace(0, 1, 9) if far == 1.0 else np.concatenate([np.linspace(0, 4, 9), [5, 6.5, 8.5]])
    offsets = noise.spread * np.concatenate([near, [] if far <= near[-1] else [11, 15, 20, 26, far]])
    cuts = np.unique(known.edges[:, None] + np.concatenate([-offsets, offsets]))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(cuts)[:, None] / 2
    places = (cuts[:-1, None] + half + half * nodes).ravel()
    densities = _report_density(noise, known, places)
    terms = np.where(densities > 0, densities * np.log2(np.maximum(densities, 1e-300)), 0.0)
    return -float((terms * (half * weights).ravel()).sum())


def _report_density(noise: AdditiveNoise, known: PriorKnowledge, reports: Floats) -> Floats:
    """Give the density of reports, float[m], by the mass of the noise between the bounds of each bin."""
    assert known.edges is not None  # noqa: S101 - a prior of numbers has edges
    heights = known.shares / np.diff(known.edges)
    # Σ_i h[i] (F(z - e[i]) - F(z - e[i+1])), sorted by edges: F(z - e[i]) has the weight h[i] - h[i-1]
    steps = np.diff(heights, prepend=0.0, append=0.0)
    return np.maximum(noise.cumulative(reports[:, None] - known.edges) @ steps, 0.0)


def _posterior_sizes(noise: AdditiveNoise, known: PriorKnowledge) -> tuple[float, float]:
    """Give mean and 5 % quantile, over reports, of the size of the smallest set that holds the value with 95 % chance.

    Each of m reports sees the part of the domain that its noise reaches in k cells of its own, so that a small noise is
    as well resolved as a large one. The posterior of a cell is its prior times the noise's density at its middle; the
    likeliest cells are taken until they hold 95 %, the last one in part.
    """
    assert known.edges is not None  # noqa: S101 - a prior of numbers has edges
    low, high = noise.domain
    reach = noise.reach
    margin = reach * (1 - 1e-9)
    bounds = np.linspace(low - margin, high + margin, _REPORTS + 1)
    reports = (bounds[:-1] + bounds[1:]) / 2
    first, last = np.maximum(low, reports - reach), np.minimum(high, reports + reach)
    cells = first[:, None] + (last - first)[:, None] * np.linspace(0, 1, _CELLS + 1)  # float[m, k + 1]
    mass = np.diff(np.interp(cells, known.edges, np.append(0.0, np.cumsum(known.shares))), axis=1)
    posterior = mass * noise.density(reports[:, None] - (cells[:, :-1] + cells[:, 1:]) / 2)
    total = posterior.sum(axis=1)
    seen = total > 0
    weights = total[seen]
    ordered = -np.sort(-posterior[seen], axis=1) / weights[:, None]
    sums = np.cumsum(ordered, axis=1)
    whole = (sums < 0.95).sum(axis=1)
    at = np.minimum(whole, _CELLS - 1)
    rows = np.arange(len(weights))
    part = (0.95 - (sums[rows, at] - ordered[rows, at])) / ordered[rows, at]
    sizes = (at + np.clip(part, 0, 1)) * (last - first)[seen] / _CELLS
    return _mean_and_narrow(sizes, weights)


def _mean_and_narrow(sizes: Floats, weights: Floats) -> tuple[float, float]:
    order = np.argsort(sizes)
    sums = np.cumsum(weights[order])
    place = int(np.searchsorted(sums, 0.05 * sums[-1]))
    return float(sizes @ weights / weights.sum()), float(sizes[order[place]])


def _guess_part(noise: AdditiveNoise, known: PriorKnowledge) -> tuple[float, float]:
    """Give the chance that the likeliest of twenty parts of the domain is the right one, with a report and without."""
    assert known.edges is not None  # noqa: S101 - a prior of numbers has edges
    parts = np.linspace(*noise.domain, GUESSED_PARTS + 1)
    bounds = np.unique(np.concatenate([parts, known.edges]))
    sums = np.interp(bounds, known.edges, np.append(0.0, np.cumsum(known.shares)))
    part_of = np.clip(np.searchsorted(parts, (bounds[:-1] + bounds[1:]) / 2, side="right") - 1, 0, GUESSED_PARTS - 1)
    shares = np.diff(sums)
    finest = min(noise.spread / 25, noise.width / GUESSED_PARTS / 10)
    count = int(min(math.ceil((noise.width + 2 * noise.reach) / finest), 20_000))
    cells = np.linspace(noise.domain[0] - noise.reach, noise.domain[1] + noise.reach, count + 1)
    below = noise.cumulative((cells[:-1, None] + cells[1:, None]) / 2 - bounds)
    joint = (below[:, :-1] - below[:, 1:]) * (shares / np.diff(bounds))  # float[reports, bins], but for a factor
    gathered = np.add.reduceat(joint, np.searchsorted(part_of, np.arange(GUESSED_PARTS)), axis=1)
    return float(gathered.max(axis=1).sum() / gathered.sum()), float(np.bincount(part_of, shares, GUESSED_PARTS).max())


# Answers


def _measure_answers(transition: Floats, shares: Floats) -> dict[str, float]:
    """Measure a channel between answers: transition is float[true, report], shares float[true]."""
    joint = shares[:, None] * transition
    reports = joint.sum(axis=0)
    possible = joint > 0
    ratio = transition[possible] / np.broadcast_to(reports, joint.shape)[possible]
    sizes, weights = _answer_sets(joint.T)
    mean, narrow = _mean_and_narrow(sizes, weights)
    return {
        "entropy": _entropy(shares),
        "information": float((joint[possible] * np.log2(ratio)).sum()),
        "posterior95": mean,
        "narrow95": narrow,
        "best_guess": float(joint.max(axis=0).sum()),
        "blind_guess": float(shares.max()),
    }


def _answer_sets(joint: Floats) -> tuple[Floats, Floats]:
    """Count the answers of the smallest set that holds the true one with 95 % chance, for m reports float[m, true]."""
    weights = joint.sum(axis=1)
    seen = weights > 0
    sums = np.cumsum(-np.sort(-joint[seen], axis=1), axis=1) / weights[seen, None]
    return ((sums < 0.95 - 1e-12).sum(axis=1) + 1).astype(np.float64), weights[seen]


def _entropy(shares: Floats) -> float:
    there = shares[shares > 0]
    return -float((there * np.log2(there)).sum())


def _flip_matrix(noise: FlipNoise) -> Floats:
    return np.array([[noise.keep, 1 - noise.keep], [1 - noise.keep, noise.keep]])


def _measure_sets(noise: UnaryNoise, shares: Floats) -> dict[str, float]:
    """Measure unary encoding, whose reports are sets of the k values.

    A set makes each value in it r = e^ε times likelier against each value that is not. So the posterior of value i is
    p[i] r^b[i] / Σ_l p[l] r^b[l] with b the bits of the set. Up to twelve values all sets are gone through. Above, and
    with all values alike, only the number of bits matters, which is binomial; otherwise sets are simulated (with a
    fixed seed: it protects nobody).
    """
    count, ratio = len(shares), math.exp(noise.epsilon)
    if count <= _ENUMERATED:
        bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1 > 0
        ones = bits.sum(axis=1, keepdims=True)
        others = noise.add**ones * (1 - noise.add) ** (count - ones)
        factor = np.where(bits, noise.keep / noise.add, (1 - noise.keep) / (1 - noise.add))
        return _measure_answers((others * factor).T, shares)
    if np.ptp(shares) < 1e-12:
        return _measure_even_sets(noise, count)
    generator = np.random.default_rng(0)
    truth = generator.choice(count, _SIMULATED, p=shares)
    limits = np.full((_SIMULATED, count), noise.add)
    limits[np.arange(_SIMULATED), truth] = noise.keep
    weighted = shares * np.where(generator.random(limits.shape) < limits, ratio, 1.0)
    posterior = weighted / weighted.sum(axis=1, keepdims=True)
    own = posterior[np.arange(_SIMULATED), truth]
    sizes, _ = _answer_sets(posterior)
    mean, narrow = _mean_and_narrow(sizes, np.ones(_SIMULATED))
    return {
        "entropy": _entropy(shares),
        "information": float(np.log2(own / shares[truth]).mean()),
        "posterior95": mean,
        "narrow95": narrow,
        "best_guess": float(posterior.max(axis=1).mean()),
        "blind_guess": float(shares.max()),
    }


def _measure_even_sets(noise: UnaryNoise, count: int) -> dict[str, float]:
    """Measure unary encoding of `count` values that are all as likely: a set is known by its number of bits."""
    ratio, other = math.exp(noise.epsilon), np.arange(count)
    logs = np.array([math.lgamma(count) - math.lgamma(n + 1) - math.lgamma(count - n) for n in range(count)])
    binomial = np.exp(logs + other * math.log(noise.add) + (count - 1 - other) * math.log1p(-noise.add))
    chance = np.concatenate([noise.keep * binomial, (1 - noise.keep) * binomial])
    bits = np.concatenate([other + 1, other])  # of the whole set, with the true value in it and without
    own = np.repeat([ratio, 1.0], count)
    total = ratio * bits + (count - bits)
    inside = ratio * bits / total  # the posterior of the set as a whole
    within = np.ceil(0.95 * total / ratio - 1e-9)
    beyond = bits + np.ceil((0.95 - inside) * total - 1e-9)
    sizes = np.where(inside >= 0.95, within, beyond)
    mean, narrow = _mean_and_narrow(sizes, chance)
    return {
        "entropy": math.log2(count),
        "information": float((chance * np.log2(own * count / total)).sum()),
        "posterior95": mean,
        "narrow95": narrow,
        "best_guess": float((chance * np.where(bits > 0, ratio, 1.0) / total).sum()),
        "blind_guess": 1 / count,
    }


# Where there is no ε


def explain_no_epsilon(noise: ColumnNoise, known: PriorKnowledge | None = None) -> str:
    """Say in a sentence why a noise has no ε, and what that comes to.

    >>> explain_no_epsilon(UniformNoise(50.0, (0.0, 100.0)))
    'No ε: uniform noise rules out every value farther than 50 from the report, so a report near the end of its reach
    gives a value away. One report in 400 leaves no more than 5 (5% of the domain); of the people at an end of the
    domain 5.0% get such a report.'
    """
    match noise:
        case GaussianNoise():
            rare = gaussian_epsilon(noise)
            return (
                "No ε: a report far out makes one answer likelier than another by any factor. But for one report in a "
                f"million, Gaussian noise of this size protects like ε = {rare:.3g}."
            )
        case UniformNoise():
            part = min(0.05 * noise.width, 0.1 * noise.spread)
            often = edge_chance(noise, part, known)
            how = "No report" if often == 0 else f"One report in {round(1 / often):,}"
            return (
                f"No ε: uniform noise rules out every value farther than {noise.spread:g} from the report, so a report "
                f"near the end of its reach gives a value away. {how} leaves no more than {part:g} "
                f"({100 * part / noise.width:.2g}% of the domain); of the people at an end of the domain "
                f"{percent(part / (2 * noise.spread))} get such a report."
            )
        case MatrixNoise():
            true, report = (
                int(place[0]) for place in np.nonzero((noise.transition == 0) & noise.transition.any(axis=0))
            )
            return (
                f"No ε: the report {quote(noise.values[report])} is impossible for somebody whose answer is "
                f"{quote(noise.values[true])}, and rules it out."
            )
        case Unperturbed():
            return "No ε: it is sent as it is, with no protection at all."
        case _:
            return "No ε."


def edge_chance(noise: UniformNoise, part: float, known: PriorKnowledge | None = None) -> float:
    """Give the chance that a report of uniform noise leaves an interval of at most `part` for its value.

    A value at distance u < `part` from the upper end b is left with less where the report is above b + spread - part:
    with chance (part - u) / (2 spread); so at the lower end. `part` must be less than the domain and the noise.

    >>> edge_chance(UniformNoise(50.0, (0.0, 100.0)), 10.0)  # part² / (2 · spread · width)
    0.01
    """
    known = PriorKnowledge.uniform(noise) if known is None else known
    assert known.edges is not None  # noqa: S101 - a prior of numbers has edges
    low, high = noise.domain
    heights = known.shares / np.diff(known.edges)
    upper = np.maximum(part - (high - known.edges), 0.0) ** 2 / 2  # the integral of max(part - (high - x), 0) up to x
    lower = -(np.maximum(part - (known.edges - low), 0.0) ** 2) / 2
    return float(heights @ (np.diff(upper) + np.diff(lower)) / (2 * noise.spread))


def gaussian_epsilon(noise: GaussianNoise, delta: float = _RARE) -> float:
    """Give the least ε for which Gaussian noise is (ε, `delta`)-differentially private (Balle and Wang 2018).

    With c the width of the domain over σ, ε is where Φ(c/2 - ε/c) - e^ε Φ(-c/2 - ε/c) is `delta`.
    """
    ratio = noise.width / noise.spread

    def excess(epsilon: float) -> float:
        near, far = float(ndtr(ratio / 2 - epsilon / ratio)), float(ndtr(-ratio / 2 - epsilon / ratio))
        return near - (math.exp(epsilon + math.log(far)) if far > 0 else 0.0) - delta

    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, ratio**2 / 2 + 6 * ratio))
