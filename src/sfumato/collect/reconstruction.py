"""Reconstruction: from perturbed reports and the published noise to the distribution of the true values.

Four ways, all on counts of reports, so that an iteration costs the same for a thousand reports and for a billion:

- ``bayes``: the chapter's iteration (equation 20.5) on intervals, with as many steps as serve reports left out.
- ``em``: expectation maximization with exact chances of intervals, accelerated, towards the maximum of the
  likelihood; for categories up to it.
- ``deconvolution``: a kernel density of the reports, with the noise divided out.
- ``inversion``: for categories, the inverse of the transition matrix; unbiased, so now and then below zero.

Where classes are asked for (`by`) and the class is perturbed as well, both are recovered together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.channels.channel import BinnedChannel, category_channel
from sfumato.channels.expectation_maximization import (
    FittedShares,
    MixtureLikelihood,
    chi_square_below,
    iterate_plainly,
    iterations_by_held_out,
    maximize_likelihood,
    mean_change_below,
    polish,
)
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.deconvolution import deconvolve
from sfumato.collect.noise import Noise, Unperturbed
from sfumato.collect.reports import (
    check_reports,
    read_codes,
    read_numbers,
    read_sets,
    set_channel,
    set_names,
)
from sfumato.core.sampling_weights import read_weights
from sfumato.errors import DataError, InputError, quote
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.reading.outside_table import check_column_names, outside_column_names, read_outside_table
from sfumato.table import describe_source

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

METHODS = ("bayes", "em", "deconvolution", "inversion")
STOPS = ("held-out", "converged", "mean-change", "chi-square")

_RESAMPLES = 100
_MOST_CELLS_POLISHED = 250
_MOST_BITS = 30_000_000
_SINGULAR = 1e12
_FINEST, _FINEST_CLASSES = 60, 30
"""Bins in which numbers are recovered at the least, and those of `by`; told are as many as are asked for."""


@dataclass(frozen=True)
class RecoveredDistribution:
    """The shares of one class, or of all: each cell with its 95 % interval.

    `cells` are the values, or the bounds (low, high) of bins. `rows` is how many reports there are of the class, or how
    many are expected to be where the class is perturbed. `share` is the share of the class among all reports.
    """

    name: str | None
    rows: float
    share: float
    cells: Sequence[str] | Sequence[tuple[float, float]]
    shares: Floats
    low95: Floats
    high95: Floats

    def as_json(self) -> list[dict[str, Any]]:
        """Give a line per cell, as ``--json`` has it."""
        lines = []
        for cell, share, low, high in zip(self.cells, self.shares, self.low95, self.high95, strict=True):
            place = {"value": cell} if isinstance(cell, str) else {"low": cell[0], "high": cell[1]}
            lines.append(place | {"share": float(share), "low95": float(low), "high95": float(high)})
        return lines


@dataclass(frozen=True, repr=False)
class Reconstruction(Shown):
    """What was recovered of a column: one distribution, or one for each class.

    `iterations` counts evaluations of the step; `gap` is by how much any distribution at all could be likelier, in
    log-likelihood; `stopped` says what ended the iteration. They are None for methods that do not iterate.
    """

    column: str
    method: str
    rows: int
    distributions: Sequence[RecoveredDistribution]
    by: str | None = None
    iterations: int = 0
    log_likelihood: float | None = None
    gap: float | None = None
    stopped: str | None = None

    @property
    def shares(self) -> Floats:
        """The shares of the cells, float[cells]; float[classes, cells] where there are classes."""
        shares = np.array([one.shares for one in self.distributions])
        return shares[0] if self.by is None else shares

    def as_json(self) -> dict[str, Any]:
        """Give what ``--json`` prints."""
        known: dict[str, Any] = {"column": self.column, "method": self.method, "rows": self.rows}
        known |= {"iterations": self.iterations, "log_likelihood": self.log_likelihood, "gap": self.gap}
        known |= {"stopped": self.stopped}
        if self.by is None:
            kind = "values" if isinstance(self.distributions[0].cells[0], str) else "bins"
            return known | {kind: self.distributions[0].as_json()}
        return known | {
            "by": self.by,
            "classes": {str(one.name): one.as_json() for one in self.distributions},
            "class_rows": {str(one.name): one.rows for one in self.distributions},
        }

    def sentences(self) -> list[str]:
        """Say how far the figures may be trusted."""
        said = []
        if self.stopped in {"mean-change", "chi-square", "limit"} and self.gap is not None:
            rule = "" if self.stopped == "limit" else f" by the rule of the {self.stopped}"
            rise = f"the log-likelihood could still rise by up to {self.gap:,.2f}"
            said.append(f"ended early{rule} after {self.iterations:,} steps: {rise}")
        elif self.stopped == "held-out":
            said.append(
                f"{self.iterations:,} steps, as many as explain reports that were left out best; more would fit chance"
            )
        if self.method == "em" and not isinstance(self.distributions[0].cells[0], str):
            said.append(
                "the likeliest distribution of a finite sample has spikes; --method bayes is nearer to the truth"
            )
        if self.method == "inversion":
            said.append("inversion is right on average, so that a small share may come out below 0")
        return said

    def display(self) -> Display:
        """Show a table of the shares."""
        lines = []
        for one in self.distributions:
            for cell, share, low, high in zip(one.cells, one.shares, one.low95, one.high95, strict=True):
                name = cell if isinstance(cell, str) else f"{cell[0]:g} to {cell[1]:g}"
                line = [name, f"{share:.4f}", f"{low:.4f} to {high:.4f}"]
                lines.append(line if self.by is None else [str(one.name), *line])
        head = [self.column, "share", "95 % interval"]
        title = f"{self.column}, recovered from {self.rows:,} perturbed answers"
        return Display(title, [FigureTable(head if self.by is None else [self.by, *head], lines)], self.sentences())


def reconstruct(  # noqa: PLR0913 - each option is one of the command
    data: Any,
    noise: Noise | Mapping[str, Any] | str | Path,
    column: str,
    *,
    bins: int = 60,
    by: str | None = None,
    by_bins: int = 5,
    method: str | None = None,
    stop: str | None = None,
    limit: float = 0.01,
    iterations: int | None = None,
    weights: str | None = None,
    intervals: bool = True,
) -> Reconstruction:
    """Recover the distribution of a column from perturbed rows: a file, a frame or a table.

    `method` is ``bayes`` for numbers and ``em`` for categories where it is left out. `stop` ends ``bayes``:
    ``held-out`` (the default for numbers), ``converged``, or the chapter's rules ``mean-change`` and ``chi-square``
    with their `limit`; `iterations` asks for so many plain steps. `by` is a column of classes, perturbed or not;
    numbers are put into `by_bins` bins. `weights` is a column of sampling weights. The intervals come from a bootstrap.

    >>> import pyarrow
    >>> votes = pyarrow.table({"vote": ["a"] * 62 + ["b"] * 38})
    >>> noise = {"format": "sfumato-noise/1", "columns": {"vote": {"kind": "response", "values": ["a", "b"],
    ...     "keep": 0.5}}}
    >>> reconstruct(votes, noise, "vote").shares.round(4).tolist()  # 0.62 = 0.5 · 0.74 + 0.25
    [0.74, 0.26]
    """
    known = Noise.load(noise)
    entry = known.column(column)
    method = _choose_method(method, entry, column)
    _check_options(bins, by_bins, stop, method, iterations)
    reports = _Reports.read(data, known, column, by, by_bins=by_bins, weights=weights)
    if isinstance(entry, FlipNoise | UnaryNoise):
        return _recover_sets(reports, entry, method, intervals=intervals)
    cells = _cells_of(reports, entry, bins)
    problem = cells.problem(reports)
    schedule = _Schedule(method, stop, limit, iterations)
    fitted = _fit(cells, problem, schedule)
    estimate = _merge(fitted.shares, reports.merge, cells.merge)
    low, high = _resample(cells, problem, fitted, schedule, reports) if intervals else (estimate, estimate)
    names = reports.classes
    rows = problem.counts.sum(axis=(1, 2)) if reports.by_matrix is None else problem.counts.sum()
    share = estimate.sum(axis=2).ravel() if reports.by_matrix is not None else rows / rows.sum()
    shares, low, high = (array.reshape(-1, array.shape[2]) for array in (estimate, low, high))
    if reports.by_matrix is not None:  # shares within each class
        whole = np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        shares, low, high = shares / whole, low / whole, high / whole
    counted = rows if reports.by_matrix is None else share * rows
    found = [
        RecoveredDistribution(names[i], float(counted[i]), float(share[i]), cells.names, shares[i], low[i], high[i])
        for i in range(len(names))
    ]
    iterates = fitted.stopped != "direct"
    return Reconstruction(
        column,
        method,
        reports.rows,
        found,
        by=by,
        iterations=fitted.iterations,
        log_likelihood=float(fitted.log_likelihood.sum()) if iterates else None,
        gap=float(fitted.gap.sum()) if iterates else None,
        stopped=fitted.stopped if iterates else None,
    )


def _choose_method(method: str | None, entry: object, column: str) -> str:
    numeric = isinstance(entry, AdditiveNoise)
    if method is None:
        return "bayes" if numeric else "em"
    if method not in METHODS:
        raise InputError(f"{quote(method)} is not a method; choose {', '.join(METHODS)}")
    if method == "inversion" and numeric:
        raise InputError(
            f"inversion is for categories, and {quote(column)} has numbers; choose bayes, em or deconvolution"
        )
    if method == "deconvolution" and not numeric:
        raise InputError(f"deconvolution is for numbers, and {quote(column)} has categories; choose em or inversion")
    return method


def _check_options(bins: int, by_bins: int, stop: str | None, method: str, iterations: int | None) -> None:
    if not 1 <= bins <= 1000 or not 1 <= by_bins <= 1000:
        raise InputError("a number of bins must be from 1 to 1,000")
    if stop is not None and stop not in STOPS:
        raise InputError(f"{quote(stop)} is not a rule to stop by; choose {', '.join(STOPS)}")
    if stop is not None and method != "bayes":
        raise InputError(f"only the method bayes has rules to stop by, not {method}; leave --stop out")
    if iterations is not None and (iterations < 1 or method not in {"bayes", "em"}):
        raise InputError("iterations must be at least 1, and only bayes and em have them")


@dataclass(frozen=True)
class _Reports:
    """The rows that count: cells of the column, the reported class of each row, and weights.

    classes:   names of the true classes, (None,) where there are none
    class_of:  int[n], the reported class of each row
    by_matrix: float[d, c], the channel of the class where it is perturbed, else None
    merge:     how many of these c belong to one class: numbers are recovered in finer bins than they are told in, since
               within a wide bin they are not uniform
    weights:   float[n], or None where every row counts as one
    """

    column: Any
    name: str
    classes: tuple[str | None, ...]
    class_of: Codes
    reported: int
    by_matrix: Floats | None
    weights: Floats | None
    row_count: int
    by_name: str | None
    merge: int = 1

    @classmethod
    def read(
        cls, data: Any, noise: Noise, column: str, by: str | None, *, by_bins: int, weights: str | None
    ) -> "_Reports":
        names = list(dict.fromkeys(name for name in (column, by, weights) if name is not None))
        check_column_names(names, outside_column_names(data, {}), describe_source(data))
        table = read_outside_table(data, names, {}).arrow
        rows = table.num_rows
        weight = None if weights is None else read_weights(table[weights], weights)
        if by is None:
            return cls(table[column], column, (None,), np.zeros(rows, np.int64), 1, None, weight, rows, None)
        entry = noise.columns.get(by, Unperturbed())
        if isinstance(entry, AdditiveNoise):
            values = read_numbers(table[by], by)
            check_reports(entry, values, by)
            merge = -(-_FINEST_CLASSES // by_bins)
            channel = BinnedChannel.of(entry, by_bins * merge)
            codes = channel.observe(values)
            bins = tuple(f"{low:g} to {high:g}" for low, high in pairwise(channel.edges[::merge].tolist()))
            return cls(table[column], column, bins, codes, len(channel.matrix), channel.matrix, weight, rows, by, merge)
        if isinstance(entry, MatrixNoise | ResponseNoise):
            codes = read_codes(table[by], entry.values, by)
            matrix = category_channel(entry)
            _check_regular(matrix, by)
            return cls(table[column], column, entry.values, codes, len(entry.values), matrix, weight, rows, by)
        if isinstance(entry, FlipNoise | UnaryNoise):
            raise InputError(f"{quote(by)} is reported as sets, which are no classes; choose another column for --by")
        coded = pc.dictionary_encode(pc.cast(table[by], pa.string())).combine_chunks()
        texts = tuple(coded.dictionary.to_pylist())
        order = np.argsort(np.argsort(np.array(texts, dtype=object))) if texts else np.array([], np.int64)
        places = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        codes = np.where(places < 0, -1, order[places] if texts else -1)
        return cls(table[column], column, tuple(sorted(texts)), codes, len(texts), None, weight, rows, by)

    @property
    def rows(self) -> int:
        """How many rows there are, answers that were left out included."""
        return self.row_count

    def count(self, cells: Codes, width: int, weights: Floats | None) -> Floats:
        """Count rows by reported class and cell, float[reported, width]; cells and classes of -1 are left out."""
        places = cells if self.reported == 1 else self.class_of * width + cells
        missing = (cells < 0) if self.by_name is None else (cells < 0) | (self.class_of < 0)
        if missing.any():
            places = places[~missing]
            weights = None if weights is None else weights[~missing]
        if not len(places):
            raise DataError(f"column {quote(self.name)} has no answer to count; every cell is empty")
        counts = np.bincount(places, weights=weights, minlength=self.reported * width)
        return np.asarray(counts, np.float64).reshape(self.reported, width)


@dataclass(frozen=True)
class _Cells:
    """A column in cells: the chances of reports for true cells, exactly and as the method's rule has them."""

    observed: Codes
    matrix: Floats
    rule: Floats
    names: Sequence[str] | Sequence[tuple[float, float]]
    channel: BinnedChannel | None
    merge: int = 1

    def problem(self, reports: _Reports) -> MixtureLikelihood:
        """Count the reports."""
        counts = reports.count(self.observed, len(self.matrix), reports.weights)
        if reports.by_matrix is not None:
            return MixtureLikelihood(self.matrix, counts[None], reports.by_matrix)
        return MixtureLikelihood(self.matrix, counts[:, None])


def _cells_of(reports: _Reports, entry: object, bins: int) -> _Cells:
    """Put the reports into cells by the noise of their column."""
    name = reports.name
    if isinstance(entry, AdditiveNoise):
        values = read_numbers(reports.column, name)
        check_reports(entry, values, name)
        merge = -(-_FINEST // bins)
        channel = BinnedChannel.of(entry, bins * merge)
        observed = channel.observe(values)
        edges = list(pairwise(channel.edges[::merge].tolist()))
        return _Cells(observed, channel.matrix, channel.midpoint_matrix(), edges, channel, merge)
    if isinstance(entry, MatrixNoise | ResponseNoise):
        matrix = category_channel(entry)
        _check_regular(matrix, name)
        return _Cells(read_codes(reports.column, entry.values, name), matrix, matrix, entry.values, None)
    texts = pc.cast(reports.column, pa.string())
    known = tuple(sorted(text for text in pc.unique(texts).to_pylist() if text is not None))
    if not known:
        raise DataError(f"column {quote(name)} has no answer to count; every cell is empty")
    exact = np.eye(len(known))
    return _Cells(read_codes(texts, known, name), exact, exact, known, None)


def _merge(shares: Floats, classes: int, cells: int) -> Floats:
    """Add up neighbours, so many classes and so many cells: float[b, c, k] for fewer c and k."""
    problems, c, k = shares.shape
    return np.asarray(shares.reshape(problems, c // classes, classes, k // cells, cells).sum(axis=(2, 4)))


def _check_regular(matrix: Floats, column: str) -> None:
    if np.linalg.cond(matrix) > _SINGULAR:
        raise InputError(
            f"the matrix of {quote(column)} cannot be inverted: different shares give the same reports, "
            "so that nothing can be recovered; collect with another matrix"
        )


@dataclass(frozen=True)
class _Schedule:
    """How long to iterate."""

    method: str
    stop: str | None
    limit: float
    iterations: int | None


def _fit(cells: _Cells, problem: MixtureLikelihood, schedule: _Schedule) -> FittedShares:
    """Find the shares by the method, problem by problem where the number of steps is chosen for each."""
    if schedule.method == "deconvolution":
        if cells.channel is None or problem.by is not None:
            raise InputError(
                "deconvolution recovers one column at a time, and the class is perturbed too; choose bayes"
            )
        shares = deconvolve(cells.channel, problem.counts[:, 0])[:, None]
        return FittedShares(shares, np.zeros(0), np.zeros(0), 0, "direct")
    if schedule.method == "inversion":
        return FittedShares(_invert(problem), np.zeros(0), np.zeros(0), 0, "direct")
    if schedule.method == "em":
        # Categories are few and well told apart: the maximum to the last digit. That of numbers is all spikes; where
        # the iteration is after 500 evaluations is as likely as where 20,000 plain steps end, and less spiky.
        tolerance = 0.02 if cells.channel is not None else 1e-9
        fitted = maximize_likelihood(problem, evaluations=schedule.iterations or 500, tolerance=tolerance)
        to_the_end = cells.channel is None and schedule.iterations is None
        small = fitted.shares[0].size <= _MOST_CELLS_POLISHED
        return polish(problem, fitted, tolerance=tolerance) if to_the_end and small else fitted
    ruled = MixtureLikelihood(cells.rule, problem.counts, problem.by)
    stop = schedule.stop or ("held-out" if cells.channel is not None else "converged")
    if schedule.iterations is not None:
        return iterate_plainly(ruled, schedule.iterations)
    if stop == "converged":
        fitted = maximize_likelihood(ruled)
        return polish(ruled, fitted) if fitted.shares[0].size <= _MOST_CELLS_POLISHED else fitted
    return _join([_stop_by(rule_problem, stop, schedule.limit) for rule_problem in _each(ruled)])


def _stop_by(problem: MixtureLikelihood, stop: str, limit: float) -> FittedShares:
    """Take plain steps until a rule ends them."""
    if stop == "held-out":
        fitted = iterate_plainly(problem, iterations_by_held_out(problem))
        return FittedShares(fitted.shares, fitted.log_likelihood, fitted.gap, fitted.iterations, "held-out")
    ends = mean_change_below(limit) if stop == "mean-change" else chi_square_below(limit, problem.totals)
    return iterate_plainly(problem, 100_000, ends=ends, rule=stop)


def _each(problem: MixtureLikelihood) -> list[MixtureLikelihood]:
    return [MixtureLikelihood(problem.column, counts[None], problem.by) for counts in problem.counts]


def _join(parts: list[FittedShares]) -> FittedShares:
    return FittedShares(
        np.concatenate([one.shares for one in parts]),
        np.concatenate([one.log_likelihood for one in parts]),
        np.concatenate([one.gap for one in parts]),
        max(one.iterations for one in parts),
        parts[0].stopped,
    )


def _invert(problem: MixtureLikelihood) -> Floats:
    """Multiply the observed shares by the inverses of the channels: float[b, c, k], unbiased."""
    observed = problem.counts / problem.totals[:, None, None]
    shares: Floats = observed @ np.linalg.inv(problem.column).T
    if problem.by is None:
        return shares
    if problem.by.shape[0] != problem.by.shape[1]:
        raise InputError("inversion needs classes that are categories, and these are numbers; choose em")
    return np.asarray(np.linalg.inv(problem.by) @ shares)


def _resample(
    cells: _Cells, problem: MixtureLikelihood, fitted: FittedShares, schedule: _Schedule, reports: _Reports
) -> tuple[Floats, Floats]:
    """Find 95 % intervals by drawing reports anew, float[b, c, k] each.

    Reports are drawn from the smooth estimate and evaluated by an estimator that smooths less than the one that gave
    the shares: a smooth estimate is biased where the truth is not, and an interval from it alone would miss the truth
    (a bootstrap with undersmoothing). The interval always holds the share itself.
    """
    effective = problem.totals  # (Σ w)² / Σ w²: how many rows of equal weight would tell as much
    if reports.weights is not None:
        squares = reports.count(cells.observed, len(cells.matrix), reports.weights**2)
        of_problem = squares.sum(axis=1) if problem.by is None else squares.sum()
        effective = effective**2 / np.maximum(of_problem, 1e-300)
    centre = fitted.shares
    if cells.channel is not None and schedule.method == "em":
        centre = _join([_stop_by(one, "held-out", 0.0) for one in _each(problem)]).shares
    generator = np.random.default_rng(0)  # protects nobody, and the same reports should give the same intervals
    chances = np.maximum(problem.expected(np.maximum(centre, 0.0)), 0.0)
    found = _merge(fitted.shares, reports.merge, cells.merge)
    low, high = np.empty_like(found), np.empty_like(found)
    for number, chance in enumerate(chances):
        flat = chance.ravel() / chance.sum()
        drawn = generator.multinomial(max(round(float(effective[number])), 1), flat, size=_RESAMPLES)
        again = MixtureLikelihood(problem.column, drawn.reshape(-1, *chance.shape).astype(np.float64), problem.by)
        estimates = _merge(_estimate_again(cells, again, schedule, fitted.iterations), reports.merge, cells.merge)
        bounds = np.quantile(estimates, [0.025, 0.975], axis=0)
        low[number] = np.minimum(bounds[0], found[number])
        high[number] = np.maximum(bounds[1], found[number])
    return low, high


def _estimate_again(cells: _Cells, again: MixtureLikelihood, schedule: _Schedule, steps: int) -> Floats:
    if schedule.method == "deconvolution" and cells.channel is not None:
        return deconvolve(cells.channel, again.counts[:, 0])[:, None]
    if schedule.method == "inversion":
        return _invert(again)
    ruled = MixtureLikelihood(cells.rule if schedule.method == "bayes" else again.column, again.counts, again.by)
    # accelerated steps count for several plain ones, so as many of them smooth far less
    return maximize_likelihood(ruled, evaluations=min(max(60 + steps, 100), 800)).shares


def _recover_sets(reports: _Reports, entry: FlipNoise | UnaryNoise, method: str, *, intervals: bool) -> Reconstruction:
    """Recover the share of each name of reported sets: items of baskets, or values of unary encoding.

    bits: bool[n, names]; ones, totals: the weighted reports of each name, float[reported, names], and of all
    """
    names, channel = set_names(entry), set_channel(entry)
    bits = read_sets(reports.column, names, reports.name)
    answered = np.ones(len(bits), np.bool_)
    if isinstance(entry, UnaryNoise):  # a set that happens to be empty is written as |, and an empty cell is no answer
        answered = pc.is_valid(reports.column).to_numpy(zero_copy_only=False)
    used = answered & (reports.class_of >= 0)
    if not used.any():
        raise DataError(f"column {quote(reports.name)} has no answer to count; every cell is empty")
    given = np.ones(len(bits)) if reports.weights is None else reports.weights
    bits, class_of, weights = bits[used], reports.class_of[used], given[used]
    ones = np.zeros((reports.reported, len(names)))
    np.add.at(ones, class_of, bits * weights[:, None])
    totals: Floats = np.bincount(class_of, weights=weights, minlength=reports.reported).astype(np.float64)
    effective = totals**2 / np.maximum(np.bincount(class_of, weights=weights**2, minlength=reports.reported), 1e-300)

    steps: list[int] = []

    def recover(ones: Floats, totals: Floats) -> tuple[Floats, Floats]:
        """Give the shares, float[..., classes, names], and the share of each class."""
        if reports.by_matrix is None:
            shares = (ones / np.maximum(totals[..., None], 1e-300) - channel[1, 0]) / (channel[1, 1] - channel[1, 0])
            return shares, totals / totals.sum()
        # reported or not, by reported class, one problem per name: float[names, reported, 2]
        counts = np.stack([totals[:, None] - ones, ones], axis=2).transpose(1, 0, 2)
        problem = MixtureLikelihood(channel, counts, reports.by_matrix)
        if reports.merge > 1 and not steps:
            steps.append(iterations_by_held_out(problem))
            joint = iterate_plainly(problem, steps[0]).shares
        else:  # a resample is smoothed less, see `_resample`
            joint = maximize_likelihood(problem, evaluations=60 + min(sum(steps), 340)).shares
        joint = _merge(joint, reports.merge, 1)
        of_class = np.maximum(joint.sum(axis=2), 1e-300)
        return (joint[:, :, 1] / of_class).T, of_class.mean(axis=0)

    shares, of_class = recover(ones, totals)
    likely = shares if method == "inversion" else _constrain(shares, entry, reports, bits, class_of, weights)
    low, high = likely.copy(), likely.copy()
    if intervals:
        generator = np.random.default_rng(0)
        drawn = []
        chance = np.clip(ones / np.maximum(totals[:, None], 1e-300), 0, 1)
        for _ in range(_RESAMPLES * (1 if reports.by_matrix is not None else 10)):
            again = generator.binomial(np.rint(effective).astype(np.int64)[:, None], chance)
            scale = totals / np.maximum(np.rint(effective), 1)
            drawn.append(recover(again * scale[:, None], totals)[0])
        bounds = np.quantile(np.array(drawn), [0.025, 0.975], axis=0)
        if method != "inversion":
            bounds = np.clip(bounds, 0, 1)
        low, high = np.minimum(bounds[0], likely), np.maximum(bounds[1], likely)
    counted = totals if reports.by_matrix is None else of_class * totals.sum()
    found = [
        RecoveredDistribution(name, float(counted[i]), float(of_class[i]), names, likely[i], low[i], high[i])
        for i, name in enumerate(reports.classes)
    ]
    by = None if reports.classes == (None,) else reports.by_name
    return Reconstruction(reports.name, method, reports.rows, found, by=by)


def _constrain(
    shares: Floats, entry: FlipNoise | UnaryNoise, reports: _Reports, bits: Any, class_of: Codes, weights: Floats
) -> Floats:
    """Hold shares to what shares can be: each from 0 to 1, and those of unary encoding adding up to 1.

    The likelihood of a reported set for the true value v is that of its bit for v, up to a factor that no value
    changes: so unary encoding is a mixture with as many reports as rows, and few steps from the start given here.
    """
    if isinstance(entry, FlipNoise):
        return np.clip(shares, 0, 1)
    start = np.clip(shares, 1e-6, None)
    start /= start.sum(axis=1, keepdims=True)
    if reports.by_matrix is not None or bits.size > _MOST_BITS:
        return start
    likely = np.empty_like(start)
    there, absent = entry.keep / entry.add, (1 - entry.keep) / (1 - entry.add)
    for number in range(len(start)):
        chosen = class_of == number
        patterns, place = np.unique(np.packbits(bits[chosen], axis=1), axis=0, return_inverse=True)
        counts: Floats = np.bincount(place.ravel(), weights=weights[chosen]).astype(np.float64)
        sets = np.unpackbits(patterns, axis=1, count=bits.shape[1]).astype(np.bool_)
        problem = MixtureLikelihood(np.where(sets, there, absent), counts[None, None])
        likely[number] = maximize_likelihood(problem, start=start[None, None, number], evaluations=100).shares[0, 0]
    return likely
