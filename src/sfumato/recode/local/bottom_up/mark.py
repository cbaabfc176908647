"""Mark: groups that pass get their number and keep their labels; all others are generalized, one attribute at a time.

The paper does not say which attribute is chosen. Here every attribute that is not at its top is tried one level up,
and the one is taken that marks the most rows for what it adds to the cost of the unmarked. Where no step marks any,
that is the cheapest one.

Where `linked_k` bounds what pseudonyms link, a person is marked with all rows at once, at the first levels at which
they agree: so nobody stands in several classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.rest import Rest

_LITTLE = 1e-3
"""Rows that every step counts as marking: between steps that mark none, the cheapest is taken."""

_FREE = 1e-9
"""What a step costs at least, in rows."""


@dataclass(frozen=True, eq=False)
class Step:
    """What was marked in a step, as groups that pass, and the rows that are still unmarked."""

    marked: Parts
    rest: Rest


def steps(problem: Problem) -> Iterator[Step]:
    """The marking before anything is generalized, and then each step, until no row is left or all are at the top."""
    step = _marked(Rest.of(problem))
    yield step
    while len(step.rest.parts) and (open_ := _open(step.rest)):
        step = _best(step.rest, open_)
        yield step


def _open(rest: Rest) -> list[int]:
    """The attributes that are not at their top."""
    heights = (attribute.hierarchy.height for attribute in rest.problem.encoded.quasi)
    return [place for place, height in enumerate(heights) if rest.levels[place] < height]


def _best(rest: Rest, attributes: list[int]) -> Step:
    """The step that marks the most rows for its cost; the first of equals."""
    found = [(_marked(rest.climbed(attribute)), _added(rest, attribute)) for attribute in attributes]
    return max(found, key=lambda tried: (_rows(tried[0].marked) + _LITTLE) / max(tried[1], _FREE))[0]


def _rows(parts: Parts) -> int:
    return int(parts.rows.sum())


def _added(rest: Rest, attribute: int) -> float:
    """What all rows cost more where an attribute is one level higher."""
    level, codes, sizes = rest.levels[attribute], rest.labels[attribute], rest.parts.sizes
    matrix, cells = rest.problem.encoded.quasi[attribute].hierarchy.matrix, rest.problem.price.cells(attribute)
    rows = np.bincount(codes, weights=sizes, minlength=len(cells[level]))
    lift = np.zeros(len(rows), dtype=np.int64)
    lift[matrix[:, level]] = matrix[:, level + 1]
    return float((rows * (cells[level + 1].take(lift) - cells[level])).sum())


def _marked(rest: Rest) -> Step:
    """The groups that pass leave, whole; where links are bounded, only rows of persons who stand in one group."""
    rows = rest.parts.rows if rest.problem.requirement.linked <= 1 else np.where(_gathered(rest), rest.parts.rows, 0)
    some = replace(rest.parts, rows=rows).only(rows > 0)
    passing = np.zeros(rest.parts.groups, dtype=np.bool_)
    passing[np.unique(some.group)] = rest.problem.holds(some.numbered())
    taken: IntArray = np.where(passing.take(rest.parts.group), rows, 0)
    marked = replace(rest.parts, rows=taken).only(taken > 0).numbered()
    return Step(marked, rest.without(taken))


def _gathered(rest: Rest) -> BoolArray:
    """Lines of persons all of whose rows are in one group."""
    person = rest.problem.persons.take(rest.parts.of)
    low = np.full(int(person.max(initial=0)) + 1, rest.parts.groups)
    high = np.full_like(low, -1)
    np.minimum.at(low, person, rest.parts.group)
    np.maximum.at(high, person, rest.parts.group)
    alone: BoolArray = low == high
    return alone.take(person)
