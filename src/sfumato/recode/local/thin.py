"""Thin: drop rows of the values that there are too many of, until the table as one class passes.

Where a table fails as one class, some value is too frequent in it: above α, or so frequent that the others make no
entropy. Dropping rows of that value is what helps, and as few as possible are dropped. For α bounds no smaller number
of rows would do, value by value.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.core.numbers import floor_times
from sfumato.encode import CodedColumn
from sfumato.models import IdentityAlphaBeta, Model
from sfumato.recode.local.parts import SUPPRESSED, Parts
from sfumato.recode.local.problem import Problem


@dataclass(frozen=True)
class _Excess:
    """A value of a column that a model objects to, the rows that hold it, and those of the next frequent one."""

    column: str
    value: int
    rows: int
    next: int


def thinned(problem: Problem) -> Parts | None:
    """All rows but some as one group that passes, or nothing where too many would have to go."""
    rows, spare = problem.counts.copy(), problem.requirement.limit
    while True:
        whole = _whole(problem, rows)
        failing = next((model for model in problem.requirement.models if not model.holds(whole).all()), None)
        if failing is None:
            return _parted(problem, rows)
        excess = _excess(failing, whole, problem.encoded.individual)
        if excess is None or not spare:
            return None
        gone = _drop(problem, rows, excess, _enough(failing, whole, excess, spare))
        spare -= gone
        if not gone or spare < 0:
            return None


def _whole(problem: Problem, rows: IntArray) -> EquivalenceClasses:
    lines = np.flatnonzero(rows)
    return problem.count(Parts(lines, rows[lines], np.zeros(len(lines), dtype=np.int64), 1))


def _excess(model: Model, whole: EquivalenceClasses, person: CodedColumn | None) -> _Excess | None:
    """The most frequent value that a model looks at: of those it protects, where it names some."""
    named = getattr(model, "values", None)
    found = []
    for column, lines in _counted(model, whole, person).items():
        held = [named is None or lines.domain.values[value] in named for value in lines.value]
        counts = sorted(zip(lines.count[held].tolist(), lines.value[held].tolist(), strict=True), reverse=True)
        if counts:
            (rows, value), following = counts[0], counts[1:2]
            found.append(_Excess(column, value, rows, following[0][0] if following else 0))
    return max(found, key=lambda excess: excess.rows, default=None)


def _counted(model: Model, whole: EquivalenceClasses, person: CodedColumn | None) -> dict[str, Histogram]:
    """What a model objects to: values of its columns, or a person who has too many rows."""
    people = whole.individuals
    columns = {column: whole.sensitive[column] for column in model.looks_at}
    if people is None or person is None or not isinstance(model, IdentityAlphaBeta):
        return columns
    many = people.count.max(initial=0) > floor_times(model.alpha, whole.sizes)[0]
    return {person.name: people} if many else columns


def _enough(model: Model, whole: EquivalenceClasses, excess: _Excess, spare: int) -> int:
    """As few rows as let the model hold; or as many as make the value no more frequent than the next."""
    most = min(spare, excess.rows)
    low, high = 1, most + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if model.holds(_less(whole, excess, middle)).all() else (middle + 1, high)
    return low if low <= most else min(max(excess.rows - excess.next, 1), most)


def _less(whole: EquivalenceClasses, excess: _Excess, gone: int) -> EquivalenceClasses:
    """The table without so many rows of the value, as far as its own column tells."""
    lines = whole.sensitive.get(excess.column, whole.individuals)
    assert lines is not None  # noqa: S101 - the excess was counted in one of them; this tells the type checker
    count = lines.count - np.where(lines.value == excess.value, gone, 0)
    kept = count > 0
    fewer = Histogram(lines.class_of[kept], lines.value[kept], count[kept], lines.domain)
    if excess.column not in whole.sensitive:
        return EquivalenceClasses(whole.sizes - gone, whole.sensitive, fewer)
    return EquivalenceClasses(whole.sizes - gone, {**whole.sensitive, excess.column: fewer}, whole.individuals)


def _drop(problem: Problem, rows: IntArray, excess: _Excess, wanted: int) -> int:
    """Take so many rows from tuples that hold the value, the rarest tuples first; those that stay whole go with all."""
    held = np.flatnonzero(problem.holding(excess.column, excess.value) & (rows > 0))
    held = held[np.argsort(rows[held], kind="stable")]
    before = np.cumsum(rows[held]) - rows[held]
    gone = np.where(before < wanted, rows[held], 0) if problem.whole else np.clip(wanted - before, 0, rows[held])
    rows[held] -= gone
    return int(gone.sum())


def _parted(problem: Problem, rows: IntArray) -> Parts:
    """What is left in one group, and what is dropped."""
    every = np.arange(len(rows))
    of = np.concatenate([every, every])
    amount = np.concatenate([rows, problem.counts - rows])
    group = np.repeat([0, SUPPRESSED], len(rows))
    return Parts(of, amount, group, 1).only(amount > 0)
