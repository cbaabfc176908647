"""A decision tree from perturbed rows (Agrawal and Srikant, Privacy-preserving data mining, 2000).

The tree is not built on what was reported but on corrected values. The distribution of a column is recovered; the rows,
in the order of their reports, are then dealt out over the bins as the recovered shares say. That is done

    global     once for all rows
    by-class   for the rows of each class by themselves
    local      as by-class, and again in every node, for the rows that came there

Correcting one column at a time leaves what several columns say together as blurred as it came. So the tree that was
found is then fitted to the likelihood of the reports (`sfumato.collect.tree_likelihood`), unless ``refit=False`` asks
for the paper's tree alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.collect.noise import Noise
from sfumato.collect.noisy_columns import Codes, Floats, NoisyColumn, NoisyEstimator, is_identity, reconstruct_shares
from sfumato.collect.scikit_learn import ClassifierMixin, check_classification_targets, validate_data
from sfumato.collect.tree_likelihood import LeafTree, RecoveredColumns, fit_tree
from sfumato.errors import InputError, quote

RECONSTRUCTIONS = ("by-class", "global", "local")
_LEAST_ROWS_FOR_LOCAL = 500
"""A node of fewer rows keeps the values it was given: too few to recover a distribution from."""
_SEED = 2022
"""Of draws that protect nobody; a number that no rows are likely to be drawn with."""
_START = 2 / 3
"""The part of the leaves that a tree has before it is fitted to the likelihood."""


class NoisyDecisionTree(ClassifierMixin, NoisyEstimator):  # type: ignore[misc] # scikit-learn is not typed
    """A decision tree from perturbed rows whose class is known. It is a tree over true values.

    noise:            the published noise (a `Noise`, its content or the path of its file); None: nothing was perturbed
    reconstruction:   ``"by-class"``, ``"global"`` or ``"local"``: how values are corrected before the tree is built
    refit:            whether the tree is then fitted to the likelihood of the reports; without, it is the paper's
    bins:             bins of a number's domain; cuts lie between them
    max_leaf_nodes:   the most leaves
    min_samples_leaf: the least rows of a leaf: a number of rows, or a part of all
    predict_from:     whether `predict` is given ``"true"`` or ``"perturbed"`` rows

    Fitted: ``classes_``, ``columns_``, ``recovered_`` (the columns' distributions) and ``tree_``, leaves and splits.

    >>> from sfumato.collect import Noise
    >>> from sfumato.core.randomness import Randomness
    >>> noise = Noise.read({"format": "sfumato-noise/1", "columns": {
    ...     "age": {"kind": "uniform", "half_width": 30.0, "domain": [20, 80]}}})
    >>> true = np.linspace(20, 80, 5000)
    >>> reports = noise.columns["age"].perturb(true, Randomness(seed=1))
    >>> model = NoisyDecisionTree(noise).fit(reports[:, None], np.where(true < 40, "young", "old"))
    >>> model.predict(np.array([[35.0], [45.0]])).tolist()
    ['young', 'old']
    """

    def __init__(  # noqa: PLR0913 - an estimator has as many options as it has
        self,
        noise: Noise | Mapping[str, Any] | str | Path | None = None,
        *,
        reconstruction: str = "by-class",
        refit: bool = True,
        bins: int = 60,
        max_leaf_nodes: int = 36,
        min_samples_leaf: float = 0.005,
        predict_from: str = "true",
    ) -> None:
        self.noise = noise
        self.reconstruction = reconstruction
        self.refit = refit
        self.bins = bins
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.predict_from = predict_from

    def fit(self, X: Any, y: Any) -> "NoisyDecisionTree":  # noqa: N803 - scikit-learn's name
        """Build the tree from perturbed rows."""
        self._check_options()
        if self.reconstruction not in RECONSTRUCTIONS:
            raise InputError(
                f"reconstruction must be one of {', '.join(RECONSTRUCTIONS)}, not {quote(self.reconstruction)}"
            )
        X, y = validate_data(self, X, y, dtype=None)  # noqa: N806 - scikit-learn's name
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        self.columns_: list[NoisyColumn] = self._read_columns(X, fine=True)
        observed = [column.observe(X[:, place]) for place, column in enumerate(self.columns_)]
        rows = _ReportedRows(
            self.columns_,
            [codes for codes, _ in observed],
            [channel for _, channel in observed],
            classes,
            by_class=self.reconstruction != "global",
        )
        least = self.min_samples_leaf if self.min_samples_leaf >= 1 else max(1, self.min_samples_leaf * len(classes))
        refit = self.refit and len(self.classes_) > 1 and not all(map(is_identity, rows.channels))
        leaves = max(2, round(_START * self.max_leaf_nodes)) if refit else self.max_leaf_nodes
        tree = grow_on_corrected(rows, most_leaves=leaves, least_rows=least, local=self.reconstruction == "local")
        self.recovered_ = RecoveredColumns.recover(self.columns_, rows.codes, rows.channels)
        if refit:
            known = self.recovered_.posteriors(rows.codes, rows.channels)
            stump = LeafTree([{}], [], np.bincount(classes)[None] / len(classes))
            tree = fit_tree([tree, stump], known, classes, most_leaves=self.max_leaf_nodes, least_rows=least)
        self.tree_: LeafTree = tree
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """Give the chance of each class, float[n, classes]: that of the leaf, or of all leaves as a report has them."""
        X = self._check_rows(X)  # noqa: N806 - scikit-learn's name
        if self.predict_from == "true":
            cells = [column.locate(X[:, place]) for place, column in enumerate(self.columns_)]
            return self.tree_.shares[self.tree_.leaf_of(cells)]
        observed = [column.observe(X[:, place]) for place, column in enumerate(self.columns_)]
        known = self.recovered_.posteriors([codes for codes, _ in observed], [channel for _, channel in observed])
        chances = np.zeros((len(X), len(self.classes_)))
        for box, shares in zip(self.tree_.boxes, self.tree_.shares, strict=True):
            inside = np.ones(len(X))
            for number, held in box.items():
                inside *= known[number].chances[:, held].sum(axis=1)[known[number].codes]
            chances += inside[:, None] * shares
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
        """Tell the likeliest class of each row."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]


@dataclass(frozen=True)
class _ReportedRows:
    """Perturbed rows: per column the code of each report and the channel of the codes, and the class of each row."""

    columns: Sequence[NoisyColumn]
    codes: Sequence[Codes]
    channels: Sequence[Floats]
    classes: Codes
    by_class: bool

    def correct(self, number: int, rows: Codes, held: NDArray[np.bool_] | None = None) -> Codes:
        """Give rows a true cell of a column each, so that cells have the shares that are recovered from these rows.

        Rows of a number go to bins in the order of their reports, as Agrawal and Srikant do. Answers have no order:
        a row's true answer is drawn from those that may stand behind its report, as likely as they are. `held` are
        the cells that are left in a node.
        """
        channel = self.channels[number]
        allowed = np.arange(channel.shape[1]) if held is None else np.flatnonzero(held)
        corrected = np.empty(len(rows), np.int64)
        reports, classes = self.codes[number][rows], self.classes[rows]
        parts = [np.flatnonzero(classes == value) for value in np.unique(classes)] if self.by_class else [slice(None)]
        for part in parts:
            mine = reports[part]
            counts = np.bincount(mine, minlength=len(channel)).astype(np.float64)
            ordered = self.columns[number].ordered
            shares = reconstruct_shares(counts[None], channel[:, allowed], ordered=ordered)[0]
            if ordered:
                ends = np.rint(np.cumsum(shares) * len(mine))
                places = np.empty(len(mine), np.int64)
                places[np.argsort(mine, kind="stable")] = np.searchsorted(ends, np.arange(len(mine)), side="right")
            else:
                chances = np.cumsum(channel[:, allowed] * shares, axis=1)
                drawn = np.random.default_rng([_SEED, number]).random(len(mine)) * chances[mine, -1]
                places = (chances[mine] <= drawn[:, None]).sum(axis=1)
            corrected[part] = allowed[np.minimum(places, len(allowed) - 1)]
        return corrected


def grow_on_corrected(rows: _ReportedRows, *, most_leaves: int, least_rows: float, local: bool) -> LeafTree:
    """Grow a tree on corrected values: the leaf whose split lowers the Gini impurity most is split next.

    values: int[d, n], the corrected cell of each row in each column
    """
    count = int(rows.classes.max()) + 1
    every = np.arange(len(rows.classes))
    values = np.array([_plain_or_corrected(rows, number, every) for number in range(len(rows.columns))])
    tree = LeafTree([{}], [])
    members = [every]
    best = [_best_gini_split(rows, values, every, {}, count, least_rows)]
    while len(tree.boxes) < most_leaves:
        leaf = max(range(len(best)), key=lambda number: best[number][0])
        gain, number, kept, cut = best[leaf]
        if gain <= 1e-9:
            break
        stays = kept[values[number, members[leaf]]]
        tree.divide(leaf, number, kept, cut)
        members.append(members[leaf][~stays])
        members[leaf] = members[leaf][stays]
        for side in (leaf, len(members) - 1):
            inside, box = members[side], tree.boxes[side]
            if local and len(inside) >= _LEAST_ROWS_FOR_LOCAL:
                for column in range(len(rows.columns)):
                    values[column, inside] = _plain_or_corrected(rows, column, inside, box.get(column))
            split = _best_gini_split(rows, values, inside, box, count, least_rows)
            best[side : side + 1] = [split]
    tree.shares = np.array([np.bincount(rows.classes[inside], minlength=count) / len(inside) for inside in members])
    return tree


def _plain_or_corrected(
    rows: _ReportedRows, number: int, members: Codes, held: NDArray[np.bool_] | None = None
) -> Codes:
    """Take the cells as they are where a column has no noise."""
    if is_identity(rows.channels[number]):
        return rows.codes[number][members]
    return rows.correct(number, members, held)


def _best_gini_split(
    rows: _ReportedRows, values: Codes, inside: Codes, box: Mapping[int, Any], count: int, least_rows: float
) -> tuple[float, int, NDArray[np.bool_], int]:
    """Find the split of a leaf that lowers the Gini impurity of its rows most: gain, column, cells that stay, cut.

    Answers are tried in the order of the share of the leaf's commonest class, which is enough for two classes.
    """
    classes = rows.classes[inside]
    whole = np.bincount(classes, minlength=count).astype(np.float64)
    commonest = int(whole.argmax())
    best: tuple[float, int, NDArray[np.bool_], int] = (0.0, -1, np.empty(0, bool), 0)
    if len(inside) < 2 * least_rows or whole.max() == len(inside):
        return best
    for number, column in enumerate(rows.columns):
        cells = column.count
        table = np.bincount(values[number, inside] * count + classes, minlength=cells * count).reshape(cells, count)
        held = np.flatnonzero(box[number]) if number in box else np.arange(cells)
        if not column.ordered:
            held = held[np.argsort(table[held, commonest] / np.maximum(table[held].sum(axis=1), 1), kind="stable")]
        left = np.cumsum(table[held], axis=0)[:-1].astype(np.float64)
        right = whole - left
        rows_left, rows_right = left.sum(axis=1), right.sum(axis=1)
        allowed = (rows_left >= least_rows) & (rows_right >= least_rows)
        if not allowed.any():
            continue
        purity = (left**2).sum(axis=1) / np.maximum(rows_left, 1) + (right**2).sum(axis=1) / np.maximum(rows_right, 1)
        gain = np.where(allowed, purity - (whole**2).sum() / len(inside), 0.0)
        place = int(gain.argmax())
        if gain[place] > best[0]:
            kept = np.zeros(cells, dtype=bool)
            kept[held[: place + 1]] = True
            if column.ordered:
                kept[: held[place] + 1] = True
            best = (float(gain[place]), number, kept, int(held[place]) + 1)
    return best
