"""A question divided: what can be worked out apart, because nothing in the question ties it together.

What is uncertain in a release comes in independent pieces: in a generalized table each uncertain column, in several
tables which lines of each belong together. A condition or a sum about two pieces ties them; what is not tied is
multiplied in the end.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sfumato.queries.column import Column
from sfumato.queries.expression import Expression
from sfumato.queries.measures import Measure
from sfumato.queries.question import Question

Piece = Callable[[int], int | None]
"""The piece that the column at a place belongs to; none for a column that is certain."""


@dataclass(frozen=True)
class Part:
    """Pieces that are tied together, and all that the question says of them: `measures` by their places."""

    pieces: tuple[int, ...]
    conditions: tuple[Expression, ...] = ()
    measures: frozenset[int] = frozenset()
    groups: tuple[Column, ...] = ()
    columns: frozenset[int] = field(default=frozenset())

    def local(self, measure: int) -> int:
        """The place of a measure among those of this part, from 1; 0 where it is about others, and this part counts."""
        return measure + 1 if measure in self.measures else 0


def divide(question: Question, measures: Sequence[Measure], piece: Piece) -> tuple[list[Part], Part]:
    """The parts of a question, and what is left that is about no piece at all."""
    conditions = [(one.columns, one) for one in question.conditions]
    amounts = [(one.columns, place) for place, one in enumerate(measures)]
    groups = [(frozenset({one.place}), one) for one in question.groups]
    tied = _tied({piece(c) for c in columns} - {None} for columns, _ in (*conditions, *amounts, *groups))

    def part(pieces: frozenset[int | None]) -> Part:
        def mine(columns: frozenset[int]) -> bool:
            found = {piece(column) for column in columns} - {None}
            return bool(found & pieces) if pieces else not found

        used = [columns for columns, _ in (*conditions, *amounts, *groups) if mine(columns)]
        return Part(
            tuple(sorted(one for one in pieces if one is not None)),
            tuple(one for columns, one in conditions if mine(columns)),
            frozenset(place for columns, place in amounts if mine(columns)),
            tuple(one for columns, one in groups if mine(columns)),
            frozenset().union(*used),
        )

    return [part(pieces) for pieces in tied], part(frozenset())


def _tied(bundles: Iterable[set[int | None]]) -> list[frozenset[int | None]]:
    """Sets of pieces that hang together through these bundles.

    >>> _tied([{1, 2}, {3}, {2, 4}, set()])
    [frozenset({3}), frozenset({1, 2, 4})]
    """
    found: list[frozenset[int | None]] = []
    for bundle in bundles:
        if bundle:
            together = [one for one in found if one & bundle]
            found = [one for one in found if not one & bundle] + [frozenset(bundle).union(*together)]
    return found
