"""Random classes to try models on.

The randomness protects nobody; it is seeded, so that a broken contract breaks again.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain, count_values
from sfumato.models import Model

VALUES = ("a", "b", "c", "d", None)


def random_classes(
    rng: np.random.Generator,
    columns: Sequence[str] = ("illness",),
    *,
    values: Sequence[str | None] = VALUES,
    most: int = 8,
    individuals: bool = False,
) -> EquivalenceClasses:
    """A few small classes with skewed sensitive values, over a table that has more rows than they.

    Every column has an order and a hierarchy, so that every distance can be measured.

    >>> classes = random_classes(np.random.default_rng(1), ["illness"])
    >>> len(classes) == len(classes.sizes), sorted(classes.sensitive)
    (True, ['illness'])
    """
    sizes = rng.integers(1, most, size=rng.integers(1, 13), endpoint=True)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    sensitive = {column: _histogram(rng, owner, values) for column in columns}
    people = _people(rng, owner) if individuals else None
    return EquivalenceClasses(sizes, sensitive, people)


def examples_for(model: Model, rng: np.random.Generator, number: int = 30) -> Iterator[EquivalenceClasses]:
    """Random classes with the columns that a model looks at, and the values it protects."""
    protected = tuple(getattr(model, "values", None) or ())
    values = VALUES + tuple(value for value in protected if value not in VALUES)
    for i in range(number):
        persons = i % 5 == 4 or model.identity
        yield random_classes(rng, model.looks_at, values=values, most=(3, 8, 30)[i % 3], individuals=persons)


def subset(classes: EquivalenceClasses, keep: BoolArray) -> EquivalenceClasses:
    """Some of the classes, over the same domains.

    >>> subset(EquivalenceClasses(sizes=[5, 2, 3]), np.array([True, False, True])).sizes
    array([5, 3])
    """
    sensitive = {column: _kept(lines, keep) for column, lines in classes.sensitive.items()}
    people = classes.individuals and _kept(classes.individuals, keep)
    return EquivalenceClasses(classes.sizes[keep], sensitive, people)


def _kept(lines: Histogram, keep: BoolArray) -> Histogram:
    number, stays = np.cumsum(keep) - 1, keep[lines.class_of]
    return Histogram(number[lines.class_of[stays]], lines.value[stays], lines.count[stays], lines.domain)


def _histogram(rng: np.random.Generator, owner: IntArray, values: Sequence[str | None]) -> Histogram:
    skew = rng.dirichlet(np.full(len(values), rng.choice([0.3, 1.0, 5.0])))
    codes = rng.choice(len(values), size=len(owner), p=skew)
    # Rows that got suppressed count in the table, and give every value a row.
    totals = np.bincount(codes, minlength=len(values)) + rng.integers(1, 4, size=len(values))
    return count_values(owner, codes, np.ones_like(codes), _domain(rng, values, totals))


def _domain(rng: np.random.Generator, values: Sequence[str | None], totals: IntArray) -> SensitiveDomain:
    """A domain with gaps in its order, and a hierarchy of three levels that need not follow the order."""
    number = len(values)
    ranks = rng.permutation(number + 2)[:number]
    middle = rng.integers(0, 3, size=number)
    ancestors = np.stack([np.arange(number), middle, np.zeros_like(middle)], axis=1)
    return SensitiveDomain(tuple(values), totals, ranks=ranks, places=number + 2, ancestors=ancestors)


def _people(rng: np.random.Generator, owner: IntArray) -> Histogram:
    person = rng.integers(0, max(len(owner) // 2, 1), size=len(owner))
    number = int(person.max()) + 1
    names = tuple(str(i) for i in range(number))
    return count_values(
        owner, person, np.ones_like(person), SensitiveDomain(names, np.bincount(person, minlength=number))
    )
