"""Columns of perturbed rows as the estimators see them: cells of true values, and the chance of each report for each.

Every column, whatever its noise, becomes the same two things: a code per row, and a channel, the matrix of the chance
of what stands behind a code for each of k true cells. Numbers have bins as cells, answers have values. An estimator
that is written for codes and channels works for all kinds of noise alike, for columns without noise, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise, UniformNoise
from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.channels.channel import BinnedChannel, category_channel
from sfumato.channels.expectation_maximization import (
    MixtureLikelihood,
    iterate_plainly,
    iterations_by_held_out,
    maximize_likelihood,
)
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Noise, Unperturbed
from sfumato.collect.scikit_learn import BaseEstimator, check_is_fitted, validate_data
from sfumato.errors import DataError, InputError, listing, quote

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

PREDICT_FROM = ("true", "perturbed")
_MOST_REPORT_CELLS = 400
_MOST_STEPS = 500
_LEAST_REPORTS = 20
_FIRST_SHARE = 1e-5
_TINY_COUNT = 1e-9
"""Added to every count, so that a class without a report has shares, too."""


@dataclass(frozen=True)
class NoisyColumn:
    """A column: its noise, its k true cells, and how reports and true values are found among them.

    `edges` has the bounds of the bins of a number, float[k + 1], and `values` the answers of a category; the other one
    is empty. `channel` is there for numbers with noise, whose cells of reports do not depend on the rows.
    """

    name: str
    noise: ColumnNoise
    edges: Floats
    values: tuple[Any, ...]
    channel: BinnedChannel | None = None

    @classmethod
    def of(cls, name: str, noise: ColumnNoise, cells: NDArray[Any], bins: int, *, fine: bool = False) -> "NoisyColumn":
        """Lay bins over the domain of a number, or take the values of a category; without noise, those of the rows.

        With `fine`, reports of uniform noise have cells of half a bin, since its edges tell where values are.
        """
        nothing = np.empty(0)
        if isinstance(noise, FlipNoise):
            raise InputError(
                f"column {quote(name)} holds baskets, which this estimator does not use; leave the column out, or find "
                "itemsets in it with collect.frequent_itemsets"
            )
        if isinstance(noise, AdditiveNoise):
            channel = BinnedChannel.of(noise, bins)
            if fine and isinstance(noise, UniformNoise):
                low, high = noise.domain
                count = min(2 * bins + int(4 * bins * noise.reach / noise.width), _MOST_REPORT_CELLS)
                reports = np.linspace(low - noise.reach, high + noise.reach, count + 1)
                channel = BinnedChannel(noise, channel.edges, reports, noise.interval_mass(channel.edges, reports))
            return cls(name, noise, channel.edges, (), channel)
        if isinstance(noise, Unperturbed):
            numbers = as_numbers(cells)
            if numbers is None:
                return cls(name, noise, nothing, tuple(sorted({str(cell) for cell in cells})))
            inner = np.unique(np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1], method="higher"))
            return cls(name, noise, np.concatenate([[-np.inf], inner[inner > numbers.min()], [np.inf]]), ())
        return cls(name, noise, nothing, noise.values)

    @property
    def ordered(self) -> bool:
        """Whether the cells are bins of a number."""
        return len(self.edges) > 0

    @property
    def count(self) -> int:
        """How many true cells there are."""
        return len(self.edges) - 1 if self.ordered else len(self.values)

    def observe(self, cells: NDArray[Any]) -> tuple[Codes, Floats]:
        """Give the code of each of n reports, and the channel of these codes, float[m, k]."""
        if self.channel is not None:
            return self.channel.observe(self._numbers(cells)), self.channel.matrix
        if isinstance(self.noise, UnaryNoise):
            return self._observe_sets(cells, self.noise)
        if isinstance(self.noise, MatrixNoise | ResponseNoise):
            return self._find_values(cells), category_channel(self.noise)
        return self.locate(cells), np.eye(self.count)

    def locate(self, cells: NDArray[Any]) -> Codes:
        """Give the true cell of each of n true values."""
        if not self.ordered:
            return self._find_values(cells)
        numbers = self._numbers(cells)
        if isinstance(self.noise, AdditiveNoise):
            self.noise.check_values(numbers, self.name)
        return np.clip(np.searchsorted(self.edges, numbers, side="right") - 1, 0, self.count - 1)

    def _numbers(self, cells: NDArray[Any]) -> Floats:
        numbers = as_numbers(cells)
        if numbers is None:
            raise DataError(f"column {quote(self.name)} has a cell that is not a number; leave its row out")
        if not np.isfinite(numbers).all():
            raise DataError(f"column {quote(self.name)} has a cell that is not a finite number; leave its row out")
        return numbers

    def _find_values(self, cells: NDArray[Any]) -> Codes:
        """Find the place of each answer; numbers are the answers where all of those are numbers, else their places."""
        if cells.dtype.kind in "iufb":
            numbers = _all_numbers(self.values)
            known = np.arange(len(self.values)) if numbers is None else numbers
            if np.array_equal(known, np.arange(len(known))):
                with np.errstate(invalid="ignore"):
                    places = np.clip(cells.astype(np.int64), 0, len(known) - 1)
            else:
                order = np.argsort(known)
                places = order[np.minimum(np.searchsorted(known[order], cells), len(order) - 1)]
            if (known[places] != cells).any():
                what = "the place of one, from 0, among" if numbers is None else "one of"
                raise DataError(
                    f"column {quote(self.name)} has a number that is not {what} {listing(self.values)}; correct it or "
                    "leave its row out"
                )
            return places
        place_of = {value: place for place, value in enumerate(self.values)}
        distinct, inverse = np.unique(cells.astype(str), return_inverse=True)
        unknown = [cell for cell in distinct.tolist() if cell not in place_of]
        if unknown:
            raise DataError(
                f"column {quote(self.name)} has a cell that is none of {listing(self.values)}; correct it or leave its "
                "row out"
            )
        return np.array([place_of[cell] for cell in distinct.tolist()], np.int64)[inverse]

    def _observe_sets(self, cells: NDArray[Any], noise: UnaryNoise) -> tuple[Codes, Floats]:
        """Code reports of unary encoding, sets such as ``a|c``, by the different sets there are.

        With b[s, v] whether value v is in set s, the chance of s for a true value t is the product over v of the chance
        that v is reported as it was; all factors but that of t are the same for every t.
        """
        distinct, codes = np.unique(cells.astype(str), return_inverse=True)
        place_of = {value: place for place, value in enumerate(self.values)}
        bits = np.zeros((len(distinct), len(self.values)), dtype=bool)
        for number, report in enumerate(distinct.tolist()):
            for value in report.split("|") if report else ():
                if value not in place_of:
                    raise DataError(
                        f"column {quote(self.name)} has a report with a value that is none of {listing(self.values)}"
                    )
                bits[number, place_of[value]] = True
        others = np.where(bits, noise.add, 1 - noise.add)
        ratio = np.where(bits, noise.keep / noise.add, (1 - noise.keep) / (1 - noise.add))
        return codes.astype(np.int64), others.prod(axis=1, keepdims=True) * ratio


def as_numbers(cells: NDArray[Any]) -> Floats | None:
    """Give cells as floats, or None where they are texts or anything else that is no number."""
    if cells.dtype.kind in "iufb":
        return cells.astype(np.float64)
    if any(isinstance(cell, str) for cell in cells):
        return None
    try:
        return cells.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _all_numbers(values: Sequence[Any]) -> Floats | None:
    """Give answers as numbers, where all of them are."""
    try:
        return np.array([float(value) for value in values])
    except ValueError:
        return None


def is_identity(channel: Floats) -> bool:
    """Tell whether a channel shows every true cell as it is."""
    return channel.shape[0] == channel.shape[1] and np.array_equal(channel, np.eye(len(channel)))


def reconstruct_shares(counts: Floats, channel: Floats, *, ordered: bool, most: int = _MOST_STEPS) -> Floats:
    """Recover the shares of k true cells in each of c classes from counts of reports, float[c, m].

    Bins take as many plain steps of the chapter's rule as are best for reports that were held out. Answers take the
    shares of largest likelihood: those of matrix inversion where none of them is negative.

    >>> channel = np.array([[0.8, 0.3], [0.2, 0.7]])
    >>> reconstruct_shares(np.array([[55.0, 45.0]]), channel, ordered=False).round(3).tolist()
    [[0.5, 0.5]]
    """
    if is_identity(channel):
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300))
    counts = np.where(channel.max(axis=1) > 0, counts, 0.0)  # a report that none of the cells explains says nothing
    problem = MixtureLikelihood(channel, counts[:, None, :] + _TINY_COUNT)
    if ordered:
        enough = problem.totals >= _LEAST_REPORTS  # of fewer, a half that is held out says nothing
        steps = 1
        if enough.any():
            held = MixtureLikelihood(channel, problem.counts[enough])
            steps = iterations_by_held_out(held, folds=2, most=most)
        return iterate_plainly(problem, steps).shares[:, 0, :]
    shares = np.full((len(counts), channel.shape[1]), -1.0)
    if channel.shape[0] == channel.shape[1] and np.linalg.cond(channel) < 1e8:
        shares = np.linalg.solve(channel, counts.T / np.maximum(counts.sum(axis=1), 1e-300)).T
    for number in np.flatnonzero((shares < 0).any(axis=1)).tolist():
        alone = MixtureLikelihood(channel, problem.counts[number : number + 1])
        near = np.maximum(shares[number], _FIRST_SHARE)  # the maximum has zeros about where the inverse is negative
        shares[number] = maximize_likelihood(alone, start=(near / near.sum())[None, None]).shares[0, 0]
    return np.asarray(shares)


class NoisyEstimator(BaseEstimator):  # type: ignore[misc] # scikit-learn is not typed
    """What the estimators share: the noise, the columns of the rows, and what `predict` is given.

    A fitted estimator is a model of true rows. With ``predict_from="true"`` that is what it is given later on, for
    example on the machine of the person a row is about; with ``"perturbed"`` it is given reports, and adds up over all
    true rows that may stand behind them.
    """

    noise: Noise | Mapping[str, Any] | str | Path | None
    bins: int
    predict_from: str

    def _check_options(self) -> None:
        if self.predict_from not in PREDICT_FROM:
            raise InputError(f"predict_from must be one of {', '.join(PREDICT_FROM)}, not {quote(self.predict_from)}")
        if int(self.bins) != self.bins or self.bins < 2:
            raise InputError(f"bins must be a whole number of at least 2, not {quote(self.bins)}")

    def _read_columns(self, X: NDArray[Any], *, fine: bool = False) -> list[NoisyColumn]:  # noqa: N803 - scikit-learn's name
        """Find the noise of each column: by name in a frame, by its place in the noise in an array; none is plain."""
        names = self._column_names(X.shape[1])
        kinds: Sequence[ColumnNoise]
        if self.noise is None:
            kinds = [Unperturbed()] * X.shape[1]
        else:
            noise = Noise.load(self.noise)
            kinds = [noise.column(name) for name in names]
        return [
            NoisyColumn.of(name, kind, X[:, place], int(self.bins), fine=fine)
            for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
        ]

    def _column_names(self, count: int) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        if given is not None:
            return [str(name) for name in given]
        if self.noise is None:
            return [f"x{place}" for place in range(count)]
        known = list(Noise.load(self.noise).columns)
        if len(known) != count:
            raise InputError(
                f"the rows have {count} columns and the noise has {len(known)}, so that places do not tell which is "
                "which; give a frame whose columns have names"
            )
        return known

    def _check_rows(self, X: Any) -> NDArray[Any]:  # noqa: N803 - scikit-learn's name
        """Check rows to predict: as many columns as in `fit`, by the same names."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=None))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
