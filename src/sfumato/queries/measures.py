"""Measures: the numbers of a row whose sums a query asks for, and figures made of their expected sums."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from sfumato.queries.answers import Estimate
from sfumato.queries.expression import number
from sfumato.queries.question import Aggregate, Question


@dataclass(frozen=True)
class Measure:
    """A number of each row, in SQL, and the columns that it is about."""

    sql: str
    columns: frozenset[int] = frozenset()


_NOISE = 1e-15
"""A variance of less than this share of a figure's square is what additions leave of 0."""

ONE = Measure("1")
"""Every row counts."""


@dataclass(frozen=True)
class Measures:
    """What is summed for a question: `items`, and for each figure the places of those that it needs.

    A count and a sum need one, an average needs the sum and the count that it divides by.
    """

    items: tuple[Measure, ...]
    needs: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, question: Question) -> "Measures":
        """The measures of a question, each once."""
        wanted = [_measures(aggregate) for aggregate in question.aggregates]
        items = tuple(dict.fromkeys(measure for each in wanted for measure in each))
        return cls(items, tuple(tuple(map(items.index, each)) for each in wanted))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The measures whose covariances are needed: each with itself, and those of an average with each other."""
        own = [(place, place) for place in range(len(self.items))]
        return tuple(dict.fromkeys([*own, *(_pair(*each) for each in self.needs if len(each) == 2)]))

    def estimates(self, sums: Sequence[float | None], covariances: Sequence[float | None] | None) -> list[Estimate]:
        """Each figure, from the expected sums and from the covariances of `pairs`, where there are any."""
        means = [value or 0.0 for value in sums]
        spread = None if covariances is None else dict(zip(self.pairs, (v or 0.0 for v in covariances), strict=True))
        return [_estimate(each, means, spread) for each in self.needs]


def _measures(aggregate: Aggregate) -> list[Measure]:
    argument = aggregate.argument
    if argument is None:
        return [ONE]
    known = Measure(f"CAST({argument.sql} IS NOT NULL AS DOUBLE)", argument.columns)
    if aggregate.function == "count":
        return [known]
    value = Measure(f"coalesce({number(argument, aggregate.function).sql}, 0)", argument.columns)
    return [value] if aggregate.function == "sum" else [value, known]


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _estimate(
    needed: Sequence[int], means: Sequence[float], spread: Mapping[tuple[int, int], float] | None
) -> Estimate:
    """A sum is itself; an average is a ratio, whose error the delta method tells."""
    if len(needed) == 1:
        return _told(means[needed[0]], None if spread is None else spread[needed[0], needed[0]])
    above, below = needed
    if means[below] == 0:
        return Estimate(None, None)
    ratio = means[above] / means[below]
    if spread is None:
        return _told(ratio, None)
    variance = spread[above, above] - 2 * ratio * spread[_pair(above, below)] + ratio**2 * spread[below, below]
    return _told(ratio, variance / means[below] ** 2)


def _told(value: float, variance: float | None) -> Estimate:
    """A figure with its standard error; what is no finite number is not told.

    >>> _told(2.0, 0.25), _told(float("inf"), 0.0)
    (Estimate(estimate=2.0, standard_error=0.5), Estimate(estimate=None, standard_error=None))
    """
    if not isfinite(value):
        return Estimate(None, None)
    if variance is None or not isfinite(variance):
        return Estimate(float(value), None)
    return Estimate(float(value), sqrt(variance) if variance > _NOISE * value**2 else 0.0)
