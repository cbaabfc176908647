"""Clusters of perturbed rows: a mixture of normal distributions of the true rows, fitted through the noise.

Clustering needs the distribution of all rows and no single one (section 20.2.2 of the chapter). Expectation
maximization for a mixture has the true rows as one more thing that is not seen: its first half takes the chance of each
component and the mean and covariance of the true row behind each report, its second half sets the components from them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise
from sfumato.channels.channel import BinnedChannel
from sfumato.collect.noise import Noise, Unperturbed
from sfumato.collect.noisy_columns import Codes, Floats, NoisyColumn, NoisyEstimator
from sfumato.collect.scikit_learn import DensityMixin, KMeans, check_random_state, validate_data
from sfumato.errors import DataError, InputError, quote

COVARIANCES = ("full", "diag")
_LEAST_SPREAD = 1e-3
"""The least standard deviation of a component, as a part of that of the reports."""


class NoisyGaussianMixture(DensityMixin, NoisyEstimator):  # type: ignore[misc] # scikit-learn is not typed
    """A mixture of normal distributions from perturbed rows of numbers.

    noise:           the published noise (a `Noise`, its content or the path of its file); None: nothing was perturbed
    n_components:    how many components
    covariance_type: ``"full"``, or ``"diag"``, where the columns of a component are independent
    bins:            bins of the domain, for noise that is not normal
    max_iter, tol:   at most so many steps, or until the log-likelihood of a row rises by less
    n_init:          starts, the best of which is kept; starts are drawn with `random_state`
    predict_from:    whether `predict`, `predict_proba` and `score_samples` are given ``"true"`` or ``"perturbed"`` rows

    Normal noise is exact with both covariances: a report is normal with the covariance of the component and that of the
    noise added up. Other noise is exact with ``"diag"``, through bins; with ``"full"`` it is taken as normal noise of
    the same variance, which leaves means and covariances right and single rows less so.

    Fitted: ``weights_``, ``means_``, ``covariances_``, ``lower_bound_``, ``n_iter_``, ``converged_``.

    >>> from sfumato.core.randomness import Randomness
    >>> noise = GaussianNoise(20.0, (0.0, 100.0))
    >>> true = np.random.default_rng(1).normal(np.repeat([20.0, 80.0], 2000), 5.0)
    >>> reports = noise.perturb(np.clip(true, 0, 100), Randomness(seed=1))
    >>> model = NoisyGaussianMixture(Noise({"age": noise}), n_components=2).fit(reports[:, None])
    >>> sorted(model.means_.round(-1).ravel().tolist())
    [20.0, 80.0]
    >>> bool(model.covariances_.max() < 100)  # the reports of a cluster have a variance of about 425
    True
    """

    def __init__(  # noqa: PLR0913 - an estimator has as many options as it has
        self,
        noise: Noise | Mapping[str, Any] | str | Path | None = None,
        *,
        n_components: int = 1,
        covariance_type: str = "full",
        bins: int = 60,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_init: int = 1,
        random_state: Any = None,
        predict_from: str = "true",
    ) -> None:
        self.noise = noise
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.bins = bins
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.predict_from = predict_from

    def fit(self, X: Any, y: Any = None) -> "NoisyGaussianMixture":  # noqa: N803, ARG002 - scikit-learn's names
        """Fit the mixture of true rows to perturbed rows."""
        self._check_options()
        if self.covariance_type not in COVARIANCES:
            raise InputError(
                f"covariance_type must be one of {', '.join(COVARIANCES)}, not {quote(self.covariance_type)}"
            )
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)  # noqa: N806 - scikit-learn's name
        if self.n_components > len(X):
            raise DataError(f"n_components is {self.n_components} and there are only {len(X)} rows; ask for fewer")
        self.columns_: list[NoisyColumn] = self._read_columns(X)
        for column in self.columns_:
            if not isinstance(column.noise, AdditiveNoise | Unperturbed):
                raise InputError(
                    f"column {quote(column.name)} holds answers and no numbers, which have no normal distribution; "
                    "leave it out"
                )
        self._least = _LEAST_SPREAD**2 * np.maximum(X.var(axis=0), 1e-12)
        best = -np.inf
        random = check_random_state(self.random_state)
        for _ in range(self.n_init):
            start = KMeans(self.n_components, n_init=1, random_state=random.randint(2**31 - 1)).fit(X).labels_
            fitted = self._maximize(X, np.eye(self.n_components)[start])
            if fitted[0] > best:
                best = fitted[0]
                self.lower_bound_, self.weights_, self.means_, self.covariances_, self.n_iter_, self.converged_ = fitted
        return self

    def _maximize(self, rows: Floats, members: Floats) -> tuple[float, Floats, Floats, Floats, int, bool]:
        """Iterate from memberships, float[n, c]; give mean log-likelihood, components, steps, and whether it ended."""
        weights = members.mean(axis=0) + 1e-12
        means = (members.T @ rows) / (len(rows) * weights)[:, None]
        noise = self._noise_variances()
        spread = np.array(
            [(members[:, c] @ (rows - means[c]) ** 2) / (len(rows) * weights[c]) for c in range(len(means))]
        )
        # what the noise adds to a cluster's spread is taken off, but for a tenth: the start needs not be good
        covariances = np.array([np.diag(np.maximum(s - noise, np.maximum(0.1 * s, self._least))) for s in spread])
        observed = (
            None if self._closed_form else [self._observe(number, rows[:, number]) for number in range(rows.shape[1])]
        )
        before, steps, ended = -np.inf, 0, False
        for steps in range(1, self.max_iter + 1):  # noqa: B007 - the number of steps is told
            if observed is None:
                joint, centre, second = _normal_posteriors(rows, weights, means, covariances, noise)
            else:
                joint, centre, second = _binned_posteriors(observed, weights, means, covariances)
            total = logsumexp(joint, axis=1)
            members = np.exp(joint - total[:, None])
            reached = float(total.mean())
            weights = members.mean(axis=0) + 1e-12
            weights /= weights.sum()
            for c in range(len(weights)):
                mass = members[:, c] / max(members[:, c].sum(), 1e-12)
                means[c] = mass @ centre[c]
                away = centre[c] - means[c]
                if second[c].ndim == 2 and observed is not None:
                    variance = mass @ (away**2 + second[c])  # float[n, d]: variances of the true row
                    covariances[c] = np.diag(np.maximum(variance, self._least))
                else:
                    covariance = (away * mass[:, None]).T @ away + second[c]
                    if self.covariance_type == "diag":
                        covariance = np.diag(np.diag(covariance))
                    covariances[c] = covariance + np.diag(self._least)
            if reached - before < self.tol:
                ended = True
                break
            before = reached
        return reached, weights, means, covariances, steps, ended

    @property
    def _closed_form(self) -> bool:
        """Whether all noise is normal, or is taken so."""
        normal = all(isinstance(column.noise, GaussianNoise | Unperturbed) for column in self.columns_)
        return normal or self.covariance_type == "full"

    def _noise_variances(self) -> Floats:
        return np.array([c.noise.variance if isinstance(c.noise, AdditiveNoise) else 0.0 for c in self.columns_])

    def _observe(self, number: int, reports: Floats) -> tuple[Codes, Floats, Floats]:
        """Give codes of reports, their channel, and the midpoints of the bins.

        The bins go beyond the domain by its width on both sides, where a component may reach, so that its share of a
        bin is that of a normal distribution that nothing cuts off.
        """
        noise = self.columns_[number].noise
        if not isinstance(noise, AdditiveNoise):  # without noise: fine bins over what there is
            low, high = float(reports.min()), float(reports.max())
            width = max(high - low, 1e-9)
            edges = np.linspace(low - width / 2, high + width / 2, 8 * self.bins + 1)
            return (
                np.searchsorted(edges, reports, side="right") - 1,
                np.eye(8 * self.bins),
                (edges[1:] + edges[:-1]) / 2,
            )
        low, high = noise.domain
        edges = np.linspace(low - noise.width, high + noise.width, 3 * self.bins + 1)
        bounds = BinnedChannel.of(noise, self.bins).reports
        channel = BinnedChannel(noise, edges, bounds, noise.interval_mass(edges, bounds))
        return channel.observe(reports), channel.matrix, (edges[1:] + edges[:-1]) / 2

    def _joint_log_proba(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        rows = self._check_rows(X).astype(np.float64)
        if self.predict_from == "true" or self._closed_form:
            noise = self._noise_variances() if self.predict_from == "perturbed" else np.zeros(rows.shape[1])
            return _normal_posteriors(rows, self.weights_, self.means_, self.covariances_, noise)[0]
        observed = [self._observe(number, rows[:, number]) for number in range(rows.shape[1])]
        return _binned_posteriors(observed, self.weights_, self.means_, self.covariances_)[0]

    def score_samples(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """Give the log-likelihood of each row."""
        return np.asarray(logsumexp(self._joint_log_proba(X), axis=1))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803, ARG002 - scikit-learn's names
        """Give the mean log-likelihood of the rows."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """Give the chance of each component, float[n, components]."""
        joint = self._joint_log_proba(X)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: N803 - scikit-learn's name
        """Tell the likeliest component of each row."""
        return np.asarray(self._joint_log_proba(X).argmax(axis=1))

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:  # noqa: N803, ARG002 - scikit-learn's names
        """Fit, and tell the component of each of the same perturbed rows."""
        self.fit(X)
        given, self.predict_from = self.predict_from, "perturbed"
        try:
            return self.predict(X)
        finally:
            self.predict_from = given


def _normal_posteriors(
    rows: Floats, weights: Floats, means: Floats, covariances: Floats, noise: Floats
) -> tuple[Floats, list[Floats], list[Floats]]:
    """Take normal noise: joint log chance of report and component, and mean and covariance of the true row.

    rows: float[n, d], noise: float[d] variances
    returns: float[n, c]; per component float[n, d]; per component float[d, d]

    With S = C + N, the true row behind z has the mean m + C S⁻¹ (z - m) and the covariance C - C S⁻¹ C.
    """
    joint = np.empty((len(rows), len(weights)))
    centres, seconds = [], []
    for c, (weight, mean, covariance) in enumerate(zip(weights, means, covariances, strict=True)):
        both = covariance + np.diag(noise)
        gain = np.linalg.solve(both, covariance).T
        away = rows - mean
        factor = np.linalg.cholesky(both)
        scaled = np.linalg.solve(factor, away.T)
        logs = -0.5 * (scaled**2).sum(axis=0) - np.log(np.diag(factor)).sum() - 0.5 * len(mean) * np.log(2 * np.pi)
        joint[:, c] = np.log(weight) + logs
        centres.append(mean + away @ gain.T)
        seconds.append(covariance - gain @ covariance)
    return joint, centres, seconds


def _binned_posteriors(
    observed: list[tuple[Codes, Floats, Floats]], weights: Floats, means: Floats, covariances: Floats
) -> tuple[Floats, list[Floats], list[Floats]]:
    """Take any noise, columns independent in a component: as `_normal_posteriors`, but variances are float[n, d]."""
    rows, columns = len(observed[0][0]), len(observed)
    joint = np.tile(np.log(weights), (rows, 1))
    centres = [np.empty((rows, columns)) for _ in weights]
    seconds = [np.empty((rows, columns)) for _ in weights]
    for number, (codes, channel, points) in enumerate(observed):
        for c, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
            logs = -0.5 * (points - mean[number]) ** 2 / covariance[number, number]
            share = np.exp(logs - logs.max())
            share /= share.sum()
            chance = np.maximum(channel @ share, 1e-300)
            centre = channel @ (share * points) / chance
            variance = np.maximum(channel @ (share * points**2) / chance - centre**2, 0.0)
            joint[:, c] += np.log(chance)[codes]
            centres[c][:, number], seconds[c][:, number] = centre[codes], variance[codes]
    return joint, centres, seconds
