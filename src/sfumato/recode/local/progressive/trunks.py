"""Trunks and Lemma 5: what (α, k)-anonymity lets go early (Wong, Li, Fu and Wang, sections 4.1 and 6).

A trunk holds as many protected rows as its size allows, no fewer: with it gone, the protected value is no more
frequent among the rest (Lemma 4). Lemma 5 bounds what may go besides. All of it in whole numbers.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain
from sfumato.core.numbers import ceil_times, exact_fraction
from sfumato.models import AlphaDeassociation, KAnonymity, Model
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem


def protected(model: AlphaDeassociation, domain: SensitiveDomain) -> BoolArray:
    """Which values of a column a model protects."""
    values = domain.values
    return np.array([model.values is None or value in model.values for value in values], dtype=np.bool_)


def bound(models: tuple[Model, ...], whole: EquivalenceClasses) -> int:
    """Lemma 5: so many rows may leave a set of rows, whichever they are, and the α bounds still hold for the others.

    The least over all protected values of all columns, as in section 6; all rows where nothing is protected.

    >>> whole = EquivalenceClasses.of([0, 0, 0, 0], sens=["n", "n", "n", "c"])
    >>> bound((AlphaDeassociation(alpha=0.5, column="sens", values=["c"]),), whole)
    2
    """
    limited = [model for model in models if isinstance(model, AlphaDeassociation)]
    return max(min((whole.rows - _fewest(model, _most(model, whole)) for model in limited), default=whole.rows), 0)


def _most(model: AlphaDeassociation, whole: EquivalenceClasses) -> int:
    """Rows of the most frequent protected value: of all values it leaves the least to remove."""
    lines = [whole.sensitive[column] for column in model.looks_at]
    return max(int(line.count[protected(model, line.domain)[line.value]].max(initial=0)) for line in lines)


def _fewest(model: AlphaDeassociation, rows: int) -> int:
    """The size of the smallest class that so many protected rows may stand in."""
    alpha = exact_fraction(model.alpha)
    if not rows or not alpha:
        return rows
    return int((rows - 1) / alpha) + 1 if model.refined else -int(-rows / alpha // 1)


@dataclass(frozen=True, eq=False)
class Trunks:
    """One protected value of one column, and the bound on its share: what has trunks."""

    model: AlphaDeassociation
    column: str
    value: int

    @classmethod
    def of(cls, problem: Problem) -> "Trunks | None":
        """From the policy, if of all values that occur one is protected and size is all that is asked for besides.

        Trunks are cut to the row, which tuples that stay whole do not allow.
        """
        limited = [model for model in problem.requirement.models if isinstance(model, AlphaDeassociation)]
        sizes = [model for model in problem.requirement.models if isinstance(model, KAnonymity)]
        if problem.whole or len(limited) != 1 or len(limited) + len(sizes) < len(problem.requirement.models):
            return None
        (model,) = limited
        found = [(name, value) for name in model.looks_at for value in _codes(problem, model, name)]
        return cls(model, *found[0]) if len(found) == 1 and 0 < exact_fraction(model.alpha) < 1 else None

    def offered(self, problem: Problem, parts: Parts) -> IntArray:
        """Of each line the rows that stand in the trunk of its group, the largest that passes, in the order of tuples.

        A group need not pass to have one. Line 6 of Algorithm 1 takes all trunks; the text speaks of groups that pass,
        but a trunk passes by itself, and what stays is checked either way: taking all loses far less.
        """
        held = problem.encoded.tuples.others[self.column].take(parts.of) == self.value
        exposed = _per_group(parts, np.where(held, parts.rows, 0))
        size, inside = largest(self.model, parts.sizes, exposed)
        wanted = np.column_stack([size - inside, inside])
        rows = _first(parts, held, wanted)
        return np.where(_passing(problem, parts, rows).take(parts.group), rows, 0)


def largest(model: AlphaDeassociation, sizes: IntArray, exposed: IntArray) -> tuple[IntArray, IntArray]:
    """For groups of some sizes and so many protected rows: the size of the largest trunk, and its protected rows.

    A trunk of p rows has ⌈αp⌉ protected ones (Definition 8). Where the model is not refined that must not be more
    than αp, so αp is a whole number: with α = a/b in lowest terms, p is a multiple of b.

    >>> largest(AlphaDeassociation(alpha=0.5, column="sens", values=["c"]), np.array([3, 9]), np.array([1, 3]))
    (array([2, 6]), array([1, 3]))
    """
    over, under = exact_fraction(model.alpha).as_integer_ratio()
    others = sizes - exposed
    if not model.refined:
        times = np.minimum(exposed // over, others // (under - over))
        return times * under, times * over
    # ⌈αp⌉ <= exposed, and p - ⌈αp⌉ = ⌊(1 - α)p⌋ <= others: both grow with p.
    size = np.minimum(exposed * under // over, -(-(others + 1) * under // (under - over)) - 1)
    return size, ceil_times(model.alpha, size)


def _codes(problem: Problem, model: AlphaDeassociation, column: str) -> list[int]:
    return [int(code) for code in np.flatnonzero(protected(model, problem.encoded.domains[column]))]


def _per_group(parts: Parts, rows: IntArray) -> IntArray:
    return np.bincount(parts.group, weights=rows, minlength=parts.groups).astype(np.int64)


def _first(parts: Parts, kind: BoolArray, wanted: IntArray) -> IntArray:
    """Of each line so many rows that each group gives, of each of two kinds, the rows wanted, its first lines first."""
    lines = np.flatnonzero(wanted.any(axis=1).take(parts.group))
    key = parts.group.take(lines) * 2 + kind.take(lines)
    lines = lines.take(np.argsort(key, kind="stable"))
    key, rows = np.sort(key), parts.rows.take(lines)
    before = np.cumsum(rows) - rows
    before -= before.take(np.searchsorted(key, key))
    taken = np.zeros(len(parts), dtype=np.int64)
    taken[lines] = np.clip(wanted.reshape(-1).take(key) - before, 0, rows)
    return taken


def _passing(problem: Problem, parts: Parts, rows: IntArray) -> BoolArray:
    """Which groups pass, with so many rows of each line only."""
    used = _per_group(parts, rows) > 0
    passing = np.zeros(parts.groups, dtype=np.bool_)
    if used.any():
        passing[used] = problem.holds(Parts(parts.of, rows, parts.group, parts.groups).only(rows > 0).numbered())
    return passing
