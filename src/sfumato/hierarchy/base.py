"""What every kind of hierarchy is once it is bound to a column, and how it is put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import HierarchyError, listing

ROOT = "*"
Label = str | None
# From a label up to the root.
Branch = tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A hierarchy bound to the distinct values of one column: total, functional and nested.

    `matrix` has a line per bound value and a column per level, and holds the code of the label there;
    level 0 is the value itself, the last level the one root ``*``. `labels` are the labels of each level
    (``None`` is NULL). `loss` is the NCP of each label: leaves under it less one, over leaves in the domain
    less one. `ranks` are the places of the values in the domain's order, out of `places`; ``None`` and 0
    where there is no order. `below` levels were left out underneath (see :meth:`upward`); losses count them.

    >>> tree = build([["a", "b", "c"], ["vowel", "other", "other"]])
    >>> tree.matrix.tolist(), tree.labels[1], tree.loss[1].tolist()
    ([[0, 0, 0], [1, 1, 0], [2, 1, 0]], ('vowel', 'other'), [0.0, 0.5])
    """

    matrix: NDArray[np.int32]
    labels: tuple[tuple[Label, ...], ...]
    loss: tuple[NDArray[np.float64], ...]
    ranks: NDArray[np.int64] | None
    places: int
    below: int = 0

    @property
    def height(self) -> int:
        """Steps from a value to the root.

        >>> build([["a", "b"]]).height
        1
        """
        return len(self.labels) - 1

    def upward(self, level: int) -> tuple[Self, NDArray[np.int64]]:
        """What is left from a level on, its labels as values in text order; and the new place of each value.

        >>> left, places = build([["1", "2", "3"], ["odd", "even", "odd"]]).upward(1)
        >>> left.labels, left.loss[0].tolist(), left.below, places.tolist()
        ((('even', 'odd'), ('*',)), [0.0, 0.5], 1, [1, 0, 1])
        """
        texts, codes = self.labels[level], self.matrix[:, level]
        found, first = np.unique(codes, return_index=True)  # of each label, a value under it
        order = sorted(found.tolist(), key=lambda code: (texts[code] is None, texts[code] or ""))
        place = np.zeros(len(texts), dtype=np.int64)
        place[order] = np.arange(len(order))
        matrix = self.matrix[first[np.argsort(place[found])], level:]
        matrix[:, 0] = np.arange(len(order))
        labels = (tuple(texts[code] for code in order), *self.labels[level + 1 :])
        loss = (self.loss[level][order], *self.loss[level + 1 :])
        left = replace(self, matrix=matrix, labels=labels, loss=loss, ranks=None, places=0, below=self.below + level)
        return left, place[codes]


class Spec(Protocol):
    """What a policy declares of a column's hierarchy, before any data is seen; a frozen dataclass.

    `levelled` is False where the algorithm is to choose ranges or sets: there is nothing to bind then.
    `schema` is the JSON schema of what the policy may say.
    """

    levelled: ClassVar[bool]
    schema: ClassVar[dict[str, object]]

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """The hierarchy over exactly these distinct values, or a HierarchyError that lists all misfits."""
        ...

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """For each label as it was published, of whatever level, its path: the label, its parent and so on to ``*``.

        It is what :meth:`bind` has from the lowest level on at which the text stands, and none where no value that
        can be bound has such a label. A label that may be two things is a HierarchyError that lists all of these.
        """
        ...


def build(
    levels: Sequence[Sequence[Label]],
    *,
    loss: Sequence[Mapping[Label, float]] | None = None,
    ranks: NDArray[np.int64] | None = None,
    places: int = 0,
) -> Hierarchy:
    """A hierarchy from each value's label on each level below the root, which is added here.

    `loss` has the NCP by label for the levels from 1 to the root; left out, the bound values are taken
    as the whole domain.

    >>> build([["a", None]]).labels
    (('a', None), ('*',))
    """
    size = len(levels[0])
    labels = [*(tuple(dict.fromkeys(level)) for level in levels), (ROOT,)]
    if len(labels[0]) != size:
        raise ValueError("a hierarchy is bound to distinct values")
    codes = [*map(_coded, levels, labels), np.zeros(size, dtype=np.int32)]
    costs = [np.zeros(size), *(_given(labels[1:], loss) if loss else map(_counted, codes[1:], labels[1:]))]
    return Hierarchy(np.column_stack(codes), tuple(labels), tuple(costs), ranks, places)


def _coded(level: Sequence[Label], labels: Sequence[Label]) -> NDArray[np.int32]:
    code = {label: i for i, label in enumerate(labels)}
    return np.array([code[label] for label in level], dtype=np.int32)


def _counted(codes: NDArray[np.int32], labels: Sequence[Label]) -> NDArray[np.float64]:
    counts = np.bincount(codes, minlength=len(labels))
    cost: NDArray[np.float64] = np.maximum(counts - 1, 0) / max(len(codes) - 1, 1)
    return cost


def _given(labels: Sequence[Sequence[Label]], loss: Sequence[Mapping[Label, float]]) -> list[NDArray[np.float64]]:
    return [np.array([cost[label] for label in level]) for level, cost in zip(labels, loss, strict=True)]


def ncp(leaves: int, total: int) -> float:
    """The normalized certainty penalty of a label over `leaves` of `total` leaves.

    >>> ncp(3, 5), ncp(1, 1)
    (0.5, 0.0)
    """
    return max(leaves - 1, 0) / (total - 1) if total > 1 else 0.0


def ranked(values: Sequence[Label], keys: Sequence[Any]) -> NDArray[np.int64]:
    """The place of each value in the order of its key, of its text between equal keys, with NULL last.

    >>> ranked(["10", None, "9"], [10, None, 9]).tolist()
    [1, 2, 0]
    """
    order = sorted(range(len(values)), key=lambda i: (values[i] is None, keys[i], values[i]))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    return ranks


def refuse(values: Sequence[Label], *, column: str, fault: str, remedy: str) -> None:
    """Raises one error that lists all of `values`; does nothing when there are none.

    >>> refuse(["x"], column="age", fault="not a number", remedy="mend it")
    Traceback (most recent call last):
    sfumato.errors.HierarchyError: column 'age': not a number: 'x'; mend it
    """
    if values:
        raise HierarchyError(f"column {column!r}: {fault}: {listing(values)}; {remedy}")
