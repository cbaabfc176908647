"""Ratings predicted from perturbed ratings: the chapter's collaborative filtering on recovered distributions.

Every person's ratings are perturbed before they are sent. Of each pair of items the joint distribution of ratings is
recovered from the persons who rated both. Somebody's rating of an item then follows, as in naive Bayes, from what they
gave to others: P(r) · Π P(other's rating | r). The recovered tables are no secret, so that a person's own machine can
do this with the true ratings, which never leave it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.expectation_maximization import MixtureLikelihood, iterate_plainly, iterations_by_held_out
from sfumato.collect.noise import Noise
from sfumato.collect.noisy_columns import Codes, Floats, NoisyColumn, NoisyEstimator, reconstruct_shares
from sfumato.errors import DataError, InputError, quote

_MOST_STEPS = 300


class RatingPredictor(NoisyEstimator):
    """Predicts ratings of items from perturbed ratings of other people.

    noise:        the published noise of the items' columns: additive, or one of several answers that are numbers
    bins:         bins of a rating with additive noise
    smoothing:    persons that are added to each pair of items, as if its ratings did not depend on one another
    predict_from: whether the ratings that `predict` is given are ``"true"`` or ``"perturbed"``

    Rows are persons, columns items; a cell that is missing (None or NaN) was not rated, which is not hidden.

    >>> noise = {"format": "sfumato-noise/1", "columns": {
    ...     name: {"kind": "response", "values": ["1", "5"], "keep": 0.8} for name in ("heat", "alien")}}
    >>> same = [["1", "1"]] * 81 + [["5", "5"]] * 81 + [["1", "5"]] * 19 + [["5", "1"]] * 19
    >>> model = RatingPredictor(noise).fit(np.array(same))
    >>> model.predict([{"heat": "5"}, {"heat": "1"}], "alien").round(1).tolist()
    [4.8, 1.2]
    """

    def __init__(
        self,
        noise: Noise | Mapping[str, Any] | str | Path | None = None,
        *,
        bins: int = 10,
        smoothing: float = 10.0,
        predict_from: str = "true",
    ) -> None:
        self.noise = noise
        self.bins = bins
        self.smoothing = smoothing
        self.predict_from = predict_from

    def fit(self, X: Any, y: Any = None) -> "RatingPredictor":  # noqa: N803, ARG002 - scikit-learn's names
        """Recover the distribution of the ratings of each item, and of each pair of items."""
        self._check_options()
        if self.noise is None:
            raise InputError("the noise of the ratings is missing; give it, with the kind plain where there is none")
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        table = np.asarray(X, dtype=object)
        if table.ndim != 2 or not len(table):
            raise DataError("ratings must be a table with a row for each person and a column for each item")
        self.items_: list[str] = names if names is not None else self._column_names(table.shape[1])
        noise = Noise.load(self.noise)
        ratings = []
        for place, name in enumerate(self.items_):
            rated = np.flatnonzero([not _is_missing(cell) for cell in table[:, place]])
            if not len(rated):
                raise DataError(f"nobody has rated {quote(name)}; leave its column out")
            cells = _column_cells(table[rated, place])
            column = NoisyColumn.of(name, noise.column(name), cells, self.bins)
            codes = np.full(len(table), -1, np.int64)
            codes[rated], channel = column.observe(cells)
            ratings.append(_ItemRatings(column, codes, channel))
        self.columns_ = [item.column for item in ratings]
        self.shares_: list[Floats] = [item.shares() for item in ratings]
        self.joint_: dict[tuple[int, int], Floats] = {}
        for one in range(len(ratings)):
            for other in range(one + 1, len(ratings)):
                apart = np.outer(self.shares_[one], self.shares_[other])
                joint, persons = _recover_pair(ratings[one], ratings[other], apart)
                self.joint_[one, other] = (persons * joint + self.smoothing * apart) / (persons + self.smoothing)
        return self

    def predict(self, known: Any, item: str) -> Floats:
        """Give the expected rating of an item by persons whose other ratings are given, as mappings by item."""
        chances = self.predict_proba(known, item)
        column = self.columns_[self._place(item)]
        if column.ordered:
            points = (column.edges[:-1] + column.edges[1:]) / 2
        else:
            try:
                points = np.array([float(value) for value in column.values])
            except ValueError:
                raise InputError(
                    f"the ratings of {quote(item)} are texts and have no mean; use predict_proba for their chances"
                ) from None
        return np.asarray(chances @ points)

    def predict_proba(self, known: Any, item: str) -> Floats:
        """Give the chance of each rating (or bin of ratings) of an item, float[n, ratings]."""
        target = self._place(item)
        persons = [known] if isinstance(known, Mapping) else list(known)
        found = np.tile(np.log(np.maximum(self.shares_[target], 1e-300)), (len(persons), 1))
        for number, ratings in enumerate(persons):
            for name, rating in ratings.items():
                other = self._place(name)
                if other == target or _is_missing(rating):
                    continue
                joint = self.joint_[target, other] if target < other else self.joint_[other, target].T
                given = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)  # P(other's rating | rating)
                cell = _column_cells(np.array([rating], dtype=object))
                if self.predict_from == "true":
                    chances = given[:, self.columns_[other].locate(cell)[0]]
                else:
                    code, channel = self.columns_[other].observe(cell)
                    chances = given @ channel[code[0]]
                found[number] += np.log(np.maximum(chances, 1e-300))
        found -= found.max(axis=1, keepdims=True)
        chances = np.exp(found)
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def _place(self, item: str) -> int:
        if item not in self.items_:
            Noise.load(self.noise or {}).column(item)
            raise InputError(f"{quote(item)} was not among the ratings that were fitted; fit with its column")
        return self.items_.index(item)


@dataclass(frozen=True)
class _ItemRatings:
    """The reports of an item: the code of each person's, -1 where there is none, and the channel of the codes."""

    column: NoisyColumn
    codes: Codes
    channel: Floats

    def shares(self) -> Floats:
        """Recover the distribution of the ratings of all who gave one."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.channel)).astype(np.float64)
        return np.asarray(reconstruct_shares(counts[None], self.channel, ordered=self.column.ordered)[0])


def _recover_pair(one: _ItemRatings, other: _ItemRatings, apart: Floats) -> tuple[Floats, int]:
    """Recover the joint distribution of two items' ratings, and say how many persons it is from."""
    both = (one.codes >= 0) & (other.codes >= 0)
    persons = int(both.sum())
    if not persons:
        return apart, 0
    shape = (len(one.channel), len(other.channel))
    together = one.codes[both] * shape[1] + other.codes[both]
    counts = np.bincount(together, minlength=shape[0] * shape[1]).reshape(1, *shape).astype(np.float64)
    problem = MixtureLikelihood(other.channel, counts, one.channel)
    steps = iterations_by_held_out(problem, folds=2, most=_MOST_STEPS)
    return iterate_plainly(problem, steps, start=np.maximum(apart, 1e-9)[None]).shares[0], persons


def _is_missing(cell: Any) -> bool:
    return cell is None or cell is np.ma.masked or (isinstance(cell, float) and np.isnan(cell))


def _column_cells(cells: NDArray[Any]) -> NDArray[Any]:
    """Give cells of one column as numbers where they are, as texts where they are."""
    return cells.astype(np.float64) if not any(isinstance(cell, str) for cell in cells) else cells
