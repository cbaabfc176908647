"""Naive Bayes on perturbed rows: the chapter's first classifier of reconstructed distributions (section 20.2.2).

For each class, the distribution of each column is recovered from the perturbed rows of that class. A row's class is
then told as naive Bayes does, from the recovered shares of its cells; nothing else of the perturbed rows is used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp

from sfumato.collect.noise import Noise
from sfumato.collect.noisy_columns import Floats, NoisyColumn, NoisyEstimator, reconstruct_shares
from sfumato.collect.scikit_learn import ClassifierMixin, check_classification_targets, validate_data


class NoisyNaiveBayes(ClassifierMixin, NoisyEstimator):  # type: ignore[misc] # scikit-learn is not typed
    """Naive Bayes from perturbed rows whose class is known.

    noise:        the published noise (a `Noise`, its content or the path of its file); None: nothing was perturbed.
                  Columns of a frame are found by name, those of an array by their place in the noise.
    bins:         bins of a number's domain
    smoothing:    rows that are added to each class, spread evenly over the cells, so that none has a share of 0
    predict_from: whether `predict` is given ``"true"`` or ``"perturbed"`` rows

    Fitted: ``classes_``, ``class_count_``, ``columns_``, and ``shares_``, per column a float[classes, cells].

    >>> from sfumato.collect import Noise
    >>> noise = Noise.read({"format": "sfumato-noise/1", "columns": {
    ...     "vote": {"kind": "response", "values": ["a", "b"], "keep": 0.5}}})
    >>> answers = np.array([["a"]] * 75 + [["b"]] * 25 + [["a"]] * 25 + [["b"]] * 75)  # all said a, then all said b
    >>> model = NoisyNaiveBayes(noise).fit(answers, ["old"] * 100 + ["young"] * 100)
    >>> model.shares_[0].round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> model.predict(np.array([["a"], ["b"]])).tolist()
    ['old', 'young']
    """

    def __init__(
        self,
        noise: Noise | Mapping[str, Any] | str | Path | None = None,
        *,
        bins: int = 60,
        smoothing: float = 1.0,
        predict_from: str = "true",
    ) -> None:
        self.noise = noise
        self.bins = bins
        self.smoothing = smoothing
        self.predict_from = predict_from

    def fit(self, X: Any, y: Any) -> "NoisyNaiveBayes":  # noqa: N803 - scikit-learn's name
        """Recover the distribution of each column in each class from perturbed rows."""
        self._check_options()
        X, y = validate_data(self, X, y, dtype=None)  # noqa: N806 - scikit-learn's name
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.class_count_: Floats = np.bincount(codes).astype(np.float64)
        classes = len(self.classes_)
        self.columns_: list[NoisyColumn] = self._read_columns(X)
        self.shares_: list[Floats] = []
        for place, column in enumerate(self.columns_):
            reports, channel = column.observe(X[:, place])
            cells = len(channel)
            counts = np.bincount(codes * cells + reports, minlength=classes * cells).reshape(classes, cells)
            self.shares_.append(reconstruct_shares(counts.astype(np.float64), channel, ordered=column.ordered))
        return self

    def predict_joint_log_proba(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """Give the log of the chance of each class together with the cells of the row, float[n, classes]."""
        X = self._check_rows(X)  # noqa: N806 - scikit-learn's name
        rows = self.class_count_[:, None]
        total = np.tile(np.log(rows.T / rows.sum()), (len(X), 1))
        for place, (column, shares) in enumerate(zip(self.columns_, self.shares_, strict=True)):
            smooth = (shares * rows + self.smoothing / column.count) / (rows + self.smoothing)
            if self.predict_from == "true":
                total += np.log(smooth.T)[column.locate(X[:, place])]
            else:
                reports, channel = column.observe(X[:, place])
                total += np.log(np.maximum(channel @ smooth.T, 1e-300))[reports]
        return total

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """Give the log of the chance of each class, float[n, classes]."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """Give the chance of each class, float[n, classes]."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
        """Tell the likeliest class of each row."""
        joint = self.predict_joint_log_proba(X)
        return self.classes_[joint.argmax(axis=1)]
