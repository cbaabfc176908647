"""A decision tree fitted to the likelihood of perturbed rows.

A tree says of a true row x the chance q of a class, the same all over a leaf. Nobody has x. Of the report z behind it,

    P(class | z)  =  Σ over leaves  q(leaf) · P(x in leaf | z)

where the last factor does not depend on the class: it follows from the noise and the recovered distribution of the
columns. So the class shares of the leaves have a likelihood that is concave, cuts can be moved and leaves be split as
that likelihood says, and rows that were held out say when to stop. Where the noise is wide, leaves overlap in what is
seen of them; that they are fitted together is what takes the noise out of the tree.

A column's recovered distribution alone says too little where columns depend on one another: a commission says what the
salary may be. So where two columns depend on one another, what is known of one is taken from the reports of both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from sfumato.channels.expectation_maximization import MixtureLikelihood, iterate_plainly, iterations_by_held_out
from sfumato.collect.noisy_columns import Codes, Floats, NoisyColumn, is_identity, reconstruct_shares

Box = dict[int, NDArray[np.bool_]]
"""A leaf: by column, which cells it holds; a column that is not named is not restricted."""

_LEAST_CHANCE = 1e-9
_HELD_OUT = 0.2
_LEAST_GAIN = 4.0
"""By how much a split must raise the log-likelihood: less is often found by chance among so many cuts."""
_CUT_MOVES = (-8, -4, -2, -1, 1, 2, 4, 8)
_ROWS_FOR_MOVES = 25_000
"""So many rows choose where a cut may move; all of them then say whether it does."""
_PAIR_CELLS = 50
"""Cells that a partner's reports are put into."""
_PAIR_STEPS = 200
_FIRST_SWEEPS, _LAST_SWEEPS = 8, 3


@dataclass
class TreeSplit:
    """A cut through a column: the leaves on either side, by number; `cut` is the first bin on the right, if ordered."""

    column: int
    cut: int
    left: set[int]
    right: set[int]


@dataclass
class LeafTree:
    """A tree as its leaves and splits; `shares` is float[leaves, classes]."""

    boxes: list[Box]
    splits: list[TreeSplit]
    shares: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def copy(self) -> "LeafTree":
        """Give one whose leaves and splits can be changed; boxes themselves are never changed."""
        splits = [replace(split, left=set(split.left), right=set(split.right)) for split in self.splits]
        return LeafTree(list(self.boxes), splits, self.shares.copy())

    def divide(self, leaf: int, column: int, kept: NDArray[np.bool_], cut: int) -> None:
        """Split a leaf by which cells of a column stay in it; the rest becomes a new leaf, the last."""
        box = self.boxes[leaf]
        held = box.get(column, np.ones(len(kept), dtype=bool))
        new = len(self.boxes)
        self.boxes[leaf] = {**box, column: held & kept}
        self.boxes.append({**box, column: held & ~kept})
        for split in self.splits:
            for side in (split.left, split.right):
                if leaf in side:
                    side.add(new)
        self.splits.append(TreeSplit(column, cut, {leaf}, {new}))

    def undo(self, split: TreeSplit) -> None:
        """Unite the two leaves of a split; leaves after the one that goes move up by one."""
        stays, goes = next(iter(split.left)), next(iter(split.right))
        held = self.boxes[stays][split.column] | self.boxes[goes][split.column]
        rest = {column: cells for column, cells in self.boxes[stays].items() if column != split.column}
        self.boxes[stays] = rest if held.all() else {**rest, split.column: held}
        del self.boxes[goes]
        self.splits.remove(split)
        for other in self.splits:
            other.left = {leaf - (leaf > goes) for leaf in other.left if leaf != goes}
            other.right = {leaf - (leaf > goes) for leaf in other.right if leaf != goes}

    def leaf_of(self, cells: Sequence[Codes]) -> Codes:
        """Find the leaf of each of n true rows, given by the true cell in each column."""
        found = np.zeros(len(cells[0]) if cells else 0, np.int64)
        for number, box in enumerate(self.boxes):
            inside = np.ones(len(found), dtype=bool)
            for column, held in box.items():
                inside &= held[cells[column]]
            found[inside] = number
        return found


@dataclass(frozen=True)
class CellPosteriors:
    """What is known of the true cell of one column, by code of what was reported.

    codes:   int[n], of the rows
    chances: float[m, k], of each true cell, by code
    below:   float[m, k + 1], of a true cell before this one
    """

    codes: Codes
    chances: Floats
    below: Floats
    ordered: bool


@dataclass(frozen=True)
class RecoveredColumns:
    """What is recovered of all columns, whatever the class: the shares of each, and joint ones where two depend.

    `partner` names, by column, the column it depends on most; `joint` has float[k, k of the partner] of such pairs.
    """

    shares: list[Floats]
    partner: dict[int, int]
    joint: dict[tuple[int, int], Floats]
    ordered: tuple[bool, ...]

    @classmethod
    def recover(
        cls, columns: Sequence[NoisyColumn], codes: Sequence[Codes], channels: Sequence[Floats]
    ) -> "RecoveredColumns":
        """Recover the shares of each column, and of pairs that depend on one another.

        Dependence is seen in the reports: the noise of two columns is independent, so that where reports are not, true
        values are not. It is tested by χ² on an 8 × 8 table of each pair, at one chance in a thousand for all pairs.
        """
        shares = []
        for column, own, channel in zip(columns, codes, channels, strict=True):
            counts = np.bincount(own, minlength=len(channel)).astype(np.float64)
            shares.append(reconstruct_shares(counts[None], channel, ordered=column.ordered)[0])
        partner = {
            one: other for one, other in _find_partners(codes, channels).items() if not is_identity(channels[one])
        }
        joint = {
            (one, other): _joint_shares((codes[one], channels[one]), (codes[other], channels[other]))
            for one, other in {(min(pair), max(pair)) for pair in partner.items()}
        }
        return cls(shares, partner, joint, tuple(column.ordered for column in columns))

    def posteriors(self, codes: Sequence[Codes], channels: Sequence[Floats]) -> list[CellPosteriors]:
        """Give the chance of each true cell, by column, from its own report and that of the column it depends on."""
        found = []
        for number, (own, channel) in enumerate(zip(codes, channels, strict=True)):
            reports = own
            if number in self.partner:
                other = self.partner[number]
                joint = self.joint[number, other] if number < other else self.joint[other, number].T
                grouped, groups = _group_reports(channels[other])
                # chance of cell and reports: A[own report, cell] · Σ over the partner's cells of its report's chance
                chances = (channel[:, None, :] * (grouped @ joint.T)[None, :, :]).reshape(-1, channel.shape[1])
                reports = own * len(grouped) + groups[codes[other]]
            else:
                chances = channel * self.shares[number]
            totals = chances.sum(axis=1, keepdims=True)
            chances = np.where(totals > 0, chances / np.maximum(totals, 1e-300), 1 / chances.shape[1])
            below = np.concatenate([np.zeros((len(chances), 1)), np.cumsum(chances, axis=1)], axis=1)
            found.append(CellPosteriors(reports, chances, below, self.ordered[number]))
        return found


def _find_partners(codes: Sequence[Codes], channels: Sequence[Floats]) -> dict[int, int]:
    """Find the column that each column depends on most, where it depends on one at all."""
    parts, count, rows = 8, len(codes), len(codes[0])
    coarse = []
    for own, channel in zip(codes, channels, strict=True):
        below = np.cumsum(np.bincount(own, minlength=len(channel))) / rows
        coarse.append(np.minimum((below * parts - 1e-9).astype(np.int64), parts - 1)[own])
    strongest = np.zeros(count)
    partner: dict[int, int] = {}
    for one in range(count):
        for other in range(one):
            table = np.bincount(coarse[one] * parts + coarse[other], minlength=parts**2).reshape(parts, parts)
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / rows
            statistic = float(((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum())
            if chi2.sf(statistic, (parts - 1) ** 2) * count**2 / 2 > 1e-3:
                continue
            for mine, its in ((one, other), (other, one)):
                if statistic > strongest[mine]:
                    strongest[mine], partner[mine] = statistic, its
    return partner


def _group_reports(channel: Floats) -> tuple[Floats, Codes]:
    """Put m reports into at most `_PAIR_CELLS` groups of neighbours: their channel, and the group of each report."""
    cells = len(channel)
    groups = np.arange(cells) * min(_PAIR_CELLS, cells) // cells
    return np.add.reduceat(channel, np.flatnonzero(np.diff(groups, prepend=-1)), axis=0), groups


def _joint_shares(one: tuple[Codes, Floats], other: tuple[Codes, Floats]) -> Floats:
    """Recover the joint shares of two columns, float[k, k of the other], from their reports."""
    (first, first_groups), (second, second_groups) = _group_reports(one[1]), _group_reports(other[1])
    together = first_groups[one[0]] * len(second) + second_groups[other[0]]
    counts = np.bincount(together, minlength=len(first) * len(second)).astype(np.float64)
    problem = MixtureLikelihood(second, counts.reshape(1, len(first), len(second)), first)
    steps = iterations_by_held_out(problem, folds=2, most=_PAIR_STEPS)
    return np.asarray(iterate_plainly(problem, steps).shares[0])


def fit_tree(
    starts: Sequence[LeafTree],
    posteriors: Sequence[CellPosteriors],
    classes: Codes,
    *,
    most_leaves: int,
    least_rows: float,
) -> LeafTree:
    """Fit trees that are given to the likelihood of the reports, and let them grow; rows held out choose one.

    Steps go up the likelihood and end where none goes further, which depends on where they start. So there are several
    starts; rows that were held out choose among all that was on the way from each of them.

    classes: int[n], the class of each row, from 0
    least_rows: a leaf must hold so many rows, as far as reports tell

    Rows that are held out are drawn by a fixed seed: this protects nobody, and the same rows should give the same tree.
    """
    order = np.random.default_rng(0).permutation(len(classes))  # rows for fitting come first, so that they are a slice
    shuffled = [replace(column, codes=column.codes[order]) for column in posteriors]
    best, chosen = -np.inf, starts[0]
    for start in starts:
        fitting = _TreeFit(start, shuffled, classes[order], round((1 - _HELD_OUT) * len(order)), least_rows)
        for _ in _stages(fitting, most_leaves):
            if (reached := fitting.held_out()) > best:
                best, chosen = reached, fitting.tree.copy()
    final = _TreeFit(chosen, shuffled, classes[order], len(order), least_rows)  # cuts and shares, from all rows
    for _ in range(_LAST_SWEEPS):
        if not final.move_cuts(len(order)):
            break
    return final.tree


def _stages(fitting: "_TreeFit", most_leaves: int) -> Iterator[None]:
    """Move cuts, unite leaves, split leaves, unite again; after each step the tree may be looked at."""
    yield
    for _ in range(_FIRST_SWEEPS):
        moved = fitting.move_cuts()
        yield
        if not moved:
            break
    while fitting.unite():
        yield
    while len(fitting.tree.boxes) < most_leaves and fitting.grow():
        fitting.move_cuts()
        yield
    while fitting.unite():
        yield


class _TreeFit:
    """A tree while it is fitted, with what is known of each row at hand.

    targets:   bool[t, n]: whether a row is of the class; one class alone where there are two
    chances:   float[t, leaves], the share of the class in each leaf
    membership: float[leaves, n], the chance that the true row lies in the leaf
    """

    def __init__(
        self, tree: LeafTree, posteriors: Sequence[CellPosteriors], classes: Codes, fitted: int, least_rows: float
    ) -> None:
        self.tree = tree.copy()
        self.posteriors = posteriors
        self.fitted = fitted
        self.least_rows = least_rows
        count = int(classes.max()) + 1
        self.targets = classes[None, :] == (np.array([1]) if count == 2 else np.arange(count))[:, None]
        self.chances = (self.tree.shares[:, 1:] if count == 2 else self.tree.shares).T.copy()
        self.membership = np.array([self._membership(box) for box in self.tree.boxes])
        self._best: dict[int, tuple[float, int, NDArray[np.bool_], int, Floats]] = {}
        self.fit_shares()

    def _membership(self, box: Box) -> Floats:
        inside = np.ones(self.targets.shape[1])
        for number, held in box.items():
            column = self.posteriors[number]
            inside *= column.chances[:, held].sum(axis=1)[column.codes]
        return inside

    def _chance_of_class(self, target: int, rows: slice) -> Floats:
        """Give the chance that each report's row is of the class it is of, or not of the one it is not of."""
        chance = np.clip(self.chances[target] @ self.membership[:, rows], _LEAST_CHANCE, 1 - _LEAST_CHANCE)
        return np.asarray(np.where(self.targets[target, rows], chance, 1 - chance))

    def held_out(self) -> float:
        """Give the log-likelihood of the rows that were held out."""
        rows = slice(self.fitted, None)
        return sum(float(np.log(self._chance_of_class(target, rows)).sum()) for target in range(len(self.targets)))

    def fit_shares(self, steps: int = 8) -> None:
        """Find the shares of largest likelihood by Newton steps within 0 and 1, halved until the likelihood rises.

        The log of a sum that is linear in the shares is concave; its Hessian is minus W Wᵀ, W = membership / chance.
        """
        rows = slice(0, self.fitted)
        inside = self.membership[:, rows]
        for target in range(len(self.targets)):
            sign = np.where(self.targets[target, rows], 1.0, -1.0)
            chance = self._chance_of_class(target, rows)
            reached = float(np.log(chance).sum())
            for _ in range(steps):
                current = self.chances[target].copy()
                weighted = inside / chance
                gradient = weighted @ sign
                hessian = weighted @ weighted.T
                free = ~(((current <= 0) & (gradient < 0)) | ((current >= 1) & (gradient > 0)))
                if not free.any():
                    break
                direction = np.zeros(len(current))
                part = hessian[np.ix_(free, free)]
                ridge = np.diag(1e-6 * np.diag(part) + 1e-9)
                direction[free] = np.linalg.solve(part + ridge, gradient[free])
                direction = np.clip(current + direction, 0, 1) - current
                length, before = 1.0, reached
                while length > 1e-3:
                    self.chances[target] = current + length * direction
                    chance = self._chance_of_class(target, rows)
                    reached = float(np.log(chance).sum())
                    if reached >= before:
                        break
                    length /= 2
                else:
                    self.chances[target] = current
                    break
                if reached - before < 0.02:
                    break
        self.tree.shares = self._class_shares()

    def _class_shares(self) -> Floats:
        if len(self.chances) == 1:
            return np.column_stack([1 - self.chances[0], self.chances[0]])
        shares = self.chances.T + 1e-12  # classes were fitted one by one, and need not add up to 1
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def grow(self) -> bool:
        """Split the leaf that raises the likelihood most; say whether there was one.

        The gain of a leaf is looked at anew only where what it was before is the largest: the others wait.
        """
        for leaf in range(len(self.tree.boxes)):
            if leaf not in self._best:
                self._best[leaf] = self._best_split(leaf)
        checked: set[int] = set()
        while (leaf := max(self._best, key=lambda number: self._best[number][0])) not in checked:
            self._best[leaf] = self._best_split(leaf)
            checked.add(leaf)
        gain, number, kept, cut, changes = self._best.pop(leaf)
        if gain < _LEAST_GAIN:
            self._best[leaf] = (0.0, number, kept, cut, changes)
            return False
        self.tree.divide(leaf, number, kept, cut)
        self.membership = np.vstack([self.membership, self._membership(self.tree.boxes[-1])])
        self.membership[leaf] = self._membership(self.tree.boxes[leaf])
        old = self.chances[:, leaf]
        self.chances = np.column_stack([self.chances, np.clip(old + changes[:, 1], 0, 1)])
        self.chances[:, leaf] = np.clip(old + changes[:, 0], 0, 1)
        self.fit_shares()
        return True

    def unite(self) -> bool:
        """Unite the two leaves of a split that lose the least, if hardly anything; say whether there were any.

        To the second order, asking for equal shares q_a = q_b costs (q_a - q_b)² / 2 v, v being the variance of the
        difference: of the inverse of the Hessian, d' H⁻¹ d with d one at a and minus one at b.
        """
        rows = slice(0, self.fitted)
        ends = [split for split in self.tree.splits if len(split.left) == 1 and len(split.right) == 1]
        cost = np.zeros(len(ends))
        for target in range(len(self.targets)):
            weighted = self.membership[:, rows] / self._chance_of_class(target, rows)
            hessian = weighted @ weighted.T
            inverse = np.linalg.inv(hessian + np.diag(1e-6 * np.diag(hessian) + 1e-9))
            for number, split in enumerate(ends):
                a, b = next(iter(split.left)), next(iter(split.right))
                variance = max(inverse[a, a] + inverse[b, b] - 2 * inverse[a, b], 1e-12)
                cost[number] += (self.chances[target, a] - self.chances[target, b]) ** 2 / (2 * variance)
        if not len(cost) or cost.min() > _LEAST_GAIN:
            return False
        split = ends[int(cost.argmin())]
        stays, goes = next(iter(split.left)), next(iter(split.right))
        weight = self.membership[[stays, goes]].sum(axis=1)
        self.chances[:, stays] = self.chances[:, [stays, goes]] @ (weight / max(weight.sum(), 1e-12))
        self.membership[stays] += self.membership[goes]
        self.chances, self.membership = np.delete(self.chances, goes, axis=1), np.delete(self.membership, goes, axis=0)
        self.tree.undo(split)
        self._best = {}
        self.fit_shares()
        return True

    def _best_split(self, leaf: int) -> tuple[float, int, NDArray[np.bool_], int, Floats]:
        """Find the column and cut of a leaf whose two sides raise the likelihood most, to the second order.

        With g the part of a row's membership that goes left, the gradient and the second derivatives with regard to the
        shares of both sides are sums over rows of products of g, g² and factors that depend on the row alone. As g
        depends on one column's code alone, these sums are over codes, for all cuts at once: R, S, M are float[m], g is
        float[m, cuts].
        """
        rows = slice(0, self.fitted)
        inside = self.membership[leaf, rows]
        factors = []
        for target in range(len(self.targets)):
            chance = self._chance_of_class(target, rows)
            sign = np.where(self.targets[target, rows], 1.0, -1.0)
            factors.append((sign * inside / chance, (inside / chance) ** 2))
        best: tuple[float, int, NDArray[np.bool_], int, Floats] = (0.0, -1, np.empty(0, bool), 0, np.empty((0, 2)))
        for number, column in enumerate(self.posteriors):
            held = np.flatnonzero(self.tree.boxes[leaf].get(number, np.ones(column.chances.shape[1], bool)))
            if len(held) < 2:
                continue
            codes, size = column.codes[rows], len(column.chances)
            members = np.bincount(codes, inside, size)
            sums = [tuple(np.asarray(np.bincount(codes, weight, size), float) for weight in pair) for pair in factors]
            if column.ordered:
                before, end = column.below[:, held[:1]], column.below[:, held[-1] + 1 : held[-1] + 2]
                left = (column.below[:, held[1:]] - before) / np.maximum(end - before, 1e-12)
            else:  # answers in the order of how much the likelihood wants more of the class
                part = column.chances[:, held]
                part = part / np.maximum(part.sum(axis=1, keepdims=True), 1e-12)
                order = np.argsort(sums[0][0] @ part / np.maximum(members @ part, 1e-12), kind="stable")
                held = held[order]
                left = np.cumsum(part[:, order], axis=1)[:, :-1]
            rows_left = members @ left
            allowed = (rows_left >= self.least_rows) & (members.sum() - rows_left >= self.least_rows)
            if not allowed.any():
                continue
            gain, changes = np.zeros(left.shape[1]), []
            for target, (first, second) in enumerate(sums):
                gained, change = _gain_of_cuts(first, second, left, float(self.chances[target, leaf]))
                gain += gained
                changes.append(change)
            gain[~allowed] = 0.0
            place = int(gain.argmax())
            if gain[place] > best[0]:
                kept = np.zeros(column.chances.shape[1], dtype=bool)
                kept[held[: place + 1]] = True
                if column.ordered:
                    kept[: held[place] + 1] = True
                best = (float(gain[place]), number, kept, int(held[place]) + 1, np.array([c[place] for c in changes]))
        return best

    def move_cuts(self, asked: int = _ROWS_FOR_MOVES) -> int:
        """Move every cut of an ordered column to where the likelihood is largest nearby; say how many moved.

        The first `asked` rows choose the place, all rows say whether it is taken.

        A cut at bin t is a bound of the leaves that touch it. Without that column's factor, a leaf's membership is m;
        with D the sum of share · m over the leaves on the left less that over those on the right, moving the cut to s
        adds D (C[s] - C[t]) to the chance of the class, C[s] being the chance of a cell below s. So each place costs
        one look-up per row.
        """
        rows, moved = slice(0, self.fitted), 0
        chances = self.chances @ self.membership[:, rows]
        for split in reversed(self.tree.splits):
            column = self.posteriors[split.column]
            if not column.ordered:
                continue
            cells = column.chances.shape[1]
            bounds = {
                leaf: _interval(self.tree.boxes[leaf].get(split.column), cells) for leaf in split.left | split.right
            }
            touching_left = [leaf for leaf in split.left if bounds[leaf][1] == split.cut]
            touching_right = [leaf for leaf in split.right if bounds[leaf][0] == split.cut]
            least = max(bounds[leaf][0] for leaf in touching_left) + 1
            most = min(bounds[leaf][1] for leaf in touching_right) - 1
            places = [split.cut + move for move in _CUT_MOVES if least <= split.cut + move <= most]
            if not places:
                continue
            below = column.below
            without = {}
            for leaf in touching_left + touching_right:
                low, high = bounds[leaf]
                factor = np.maximum(below[:, high] - below[:, low], 1e-12)
                without[leaf] = self.membership[leaf] / factor[column.codes]
            lever = self.chances[:, touching_left] @ np.array([without[leaf][rows] for leaf in touching_left])
            lever -= self.chances[:, touching_right] @ np.array([without[leaf][rows] for leaf in touching_right])
            codes, first = column.codes[rows], slice(0, asked)
            shift = {place: below[:, place] - below[:, split.cut] for place in places}
            reached = {
                place: self._log_likelihood(chances[:, first] + lever[:, first] * shift[place][codes[first]])
                for place in places
            }
            place = max(reached, key=reached.__getitem__)
            after = chances + lever * shift[place][codes]
            if reached[place] <= self._log_likelihood(chances[:, first]) or (
                self._log_likelihood(after) <= self._log_likelihood(chances) + 0.1
            ):
                continue
            moved += 1
            chances = after
            split.cut = place
            for leaf in touching_left + touching_right:
                low, high = bounds[leaf]
                low, high = (low, place) if leaf in split.left else (place, high)
                held = np.zeros(cells, dtype=bool)
                held[low:high] = True
                self.tree.boxes[leaf] = {**self.tree.boxes[leaf], split.column: held}
                self.membership[leaf] = without[leaf] * (below[:, high] - below[:, low])[column.codes]
        self.fit_shares()
        return moved

    def _log_likelihood(self, chances: Floats) -> float:
        clipped = np.clip(chances, _LEAST_CHANCE, 1 - _LEAST_CHANCE)
        return float(np.log(np.where(self.targets[:, : chances.shape[1]], clipped, 1 - clipped)).sum())


def _interval(held: NDArray[np.bool_] | None, cells: int) -> tuple[int, int]:
    """Give the first cell of a leaf of an ordered column, and the first one after it."""
    return (0, cells) if held is None else (int(held.argmax()), cells - int(held[::-1].argmax()))


def _gain_of_cuts(first: Floats, second: Floats, left: Floats, share: float) -> tuple[Floats, Floats]:
    """Give how much each cut raises the log-likelihood beyond what the leaf's own share can, and the shares' changes.

    first, second: float[m], sums over rows of the factors of the gradient and of the second derivatives
    left:          float[m, cuts], the part of a row's membership that goes left
    returns:       float[cuts], and float[cuts, 2], the changes of the shares on the left and the right

    The quadratic a G_L + b G_R - (a² I_LL + 2 a b I_LR + b² I_RR) / 2 is largest within the bounds of both shares
    where it is largest without them, or with one of the two at its bound.
    """
    gradient, total = first @ left, float(first.sum())
    information = float(second.sum())
    left_left, left_all = second @ left**2, second @ left
    left_right = left_all - left_left
    right_right = np.maximum(information - left_all - left_right, 1e-12)
    left_left = np.maximum(left_left, 1e-12)
    other = total - gradient
    determinant = left_left * right_right - left_right**2
    determinant = np.where(determinant > 1e-9 * left_left * right_right, determinant, np.inf)
    low, high = -share, 1 - share
    best, change = np.full(left.shape[1], -np.inf), np.zeros((left.shape[1], 2))
    for bound_left in (True, False):
        if bound_left:
            one = np.clip((right_right * gradient - left_right * other) / determinant, low, high)
            two = np.clip((other - left_right * one) / right_right, low, high)
        else:
            two = np.clip((left_left * other - left_right * gradient) / determinant, low, high)
            one = np.clip((gradient - left_right * two) / left_left, low, high)
        gain = (
            gradient * one + other * two - (left_left * one**2 + 2 * left_right * one * two + right_right * two**2) / 2
        )
        better = gain > best
        best = np.where(better, gain, best)
        change[better] = np.column_stack([one, two])[better]
    alone = np.clip(total / max(information, 1e-12), low, high)
    return best - (total * alone - information * alone**2 / 2), change
