"""Improve: regroup rows, move them and give classes up, as long as the cost falls and every requirement holds.

Two ways lead to a better grouping. `Cover` forgets the groups and takes the cheapest classes first; `Exchange` moves
rows between classes. Whichever of the given grouping and the covering costs less is then exchanged to the end. Nothing
is drawn at random, so the same input gives the same result; and what is given back never costs more than what came.
"""

from sfumato.recode.local.improve.cover import Cover
from sfumato.recode.local.improve.exchange import Exchange
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.settle import settled
from sfumato.recode.recoding import Progress

_LINES, _PER_TUPLE = 120_000_000, 2_000
"""Lines that a covering may look at: about a second, and more for tables of many different tuples."""

_MANY, _VERY_MANY = 100_000, 1_000_000
"""Different tuples that a table may have at most, without patience and with it."""

_LOST = 0.04
"""A covering that leaves a larger share of the rows without a place is given up."""

_PAIRS, _LITTLE = 300_000_000, 5e-4
"""Pairs that an exchange may price, about a second; and the share of the cost that a round has to save."""


def improved(problem: Problem, parts: Parts, progress: Progress | None = None, *, patient: bool = False) -> Parts:
    """A grouping that costs no more than the given one, whose classes all pass.

    It takes a few seconds. Tables with more different tuples than can be worked through in that time come back as they
    are, unless there is patience.
    """
    tuples = len(problem.counts)
    if tuples > (_VERY_MANY if patient else _MANY):
        return parts
    lines = max(_LINES, _PER_TUPLE * tuples) * (2 if problem.encoded.domains else 1)
    start = covered(problem, parts, lines, progress)
    exchange = Exchange(problem, start, _PAIRS).run(_LITTLE)
    return min((settled(problem, exchange.result), parts), key=problem.cost)


def covered(problem: Problem, parts: Parts, lines: int, progress: Progress | None = None) -> Parts:
    """The covering, rows that are left over taken in; or the grouping that came, where that costs less."""
    exchange = Exchange(problem, Cover(problem).take(parts, lines, progress), _PAIRS).fill()
    if exchange.lost > _LOST * problem.encoded.rows:
        return parts
    return min((settled(problem, exchange.result), parts), key=problem.cost)
