"""Generalization hierarchies: what a policy declares of a column, and what that is for the values which occur.

A `Spec` is declared before any data is seen. Bound to the distinct values of a column it is a `Hierarchy`, which is
total (each value has a label on each level), functional (it has one) and nested (values with a common label have the
same labels on all levels above). Level 0 is the value itself, and the last level has the one label ``*``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import HierarchyError, listing, quote

ROOT = "*"
Label = str | None
"""What is published in a cell; ``None`` is NULL."""
Branch = tuple[Label, ...]
"""The labels from one of them up to the root."""
MOST_LEVELS = 100
"""Levels above the values at most: what is held of a column grows with its values times its levels."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A hierarchy bound to the distinct values of one column.

    `matrix` is int32[values, levels]: the code of each value's label on each level. `labels` are the labels of each
    level by their codes. `loss` is the NCP of each label: leaves under it less one, over leaves in the domain less
    one. `ranks` are the places of the values in the domain's order, out of `places`; ``None`` and 0 where there is no
    order. `below` levels were cut off underneath (see :meth:`upward`); losses count them all the same.

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

    @cached_property
    def climbed(self) -> tuple[NDArray[np.float64], ...]:
        """How many levels each label is above the values, by level.

        A branch that is shorter than others has a label on several levels, so that all are equally high. It is on the
        lowest of them: nothing is generalized by saying it again. ``*`` is on the highest, wherever it is said.

        >>> tree = build([["nurse", "retired"], ["health", "retired"], ["at work", "retired"]])
        >>> [level.tolist() for level in tree.climbed]
        [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0]]
        """
        heights = [np.zeros(len(self.labels[0]))]
        for level in range(1, self.height + 1):
            texts, below = self.labels[level], self.labels[level - 1]
            children, first = np.unique(self.matrix[:, level - 1], return_index=True)
            parent = self.matrix[first, level]  # of each label below
            own = np.full(len(texts), float(level))
            np.maximum.at(own, parent, heights[-1][children])
            alone = np.bincount(parent, minlength=len(texts))[parent] == 1
            for child, code in zip(children[alone].tolist(), parent[alone].tolist(), strict=True):
                if texts[code] == below[child]:
                    own[code] = heights[-1][child]
            own[[text == ROOT for text in texts]] = float(self.height)
            heights.append(own)
        return tuple(heights)

    def upward(self, level: int) -> tuple[Self, NDArray[np.int64]]:
        """Cut off the levels below one, so that its labels become the values, in the order of their text.

        Returns the hierarchy that is left, and for each old value the code of its new one.

        >>> left, codes = build([["1", "2", "3"], ["odd", "even", "odd"]]).upward(1)
        >>> left.labels, left.loss[0].tolist(), left.below, codes.tolist()
        ((('even', 'odd'), ('*',)), [0.0, 0.5], 1, [1, 0, 1])
        """
        texts, codes = self.labels[level], self.matrix[:, level]
        used, first = np.unique(codes, return_index=True)  # `first` has a value under each label
        order = sorted(used.tolist(), key=lambda code: (texts[code] is None, texts[code] or ""))
        place = np.zeros(len(texts), dtype=np.int64)
        place[order] = np.arange(len(order))
        matrix = self.matrix[first[np.argsort(place[used])], level:]
        matrix[:, 0] = np.arange(len(order))
        labels = (tuple(texts[code] for code in order), *self.labels[level + 1 :])
        loss = (self.loss[level][order], *self.loss[level + 1 :])
        left = replace(self, matrix=matrix, labels=labels, loss=loss, ranks=None, places=0, below=self.below + level)
        return left, place[codes]


class Spec(Protocol):
    """What a policy declares of a column's hierarchy, before any data is seen; a frozen dataclass.

    `levelled` is False where the algorithm is to choose ranges or sets: there are no levels between value and root.
    `schema` is the JSON schema of what the policy may say.
    """

    levelled: ClassVar[bool]
    schema: ClassVar[dict[str, object]]

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Make the hierarchy over exactly these distinct values, or raise a HierarchyError that lists all misfits.

        `nulls` are the texts that the policy reads as NULL; a hierarchy file may have a line for them.
        """
        ...

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Find the path of each published label, of whatever level: the label, its parent and so on to ``*``.

        It is what :meth:`bind` has from the lowest level on at which the text occurs, and ``None`` where no value that
        can be bound has such a label. A label that may mean two things is a HierarchyError that lists all of these.
        """
        ...


def build(
    levels: Sequence[Sequence[Label]],
    *,
    loss: Sequence[Mapping[Label, float]] | None = None,
    ranks: NDArray[np.int64] | None = None,
    places: int = 0,
) -> Hierarchy:
    """Make a hierarchy from each value's label on each level below the root, which is added here.

    `loss` has the NCP by label for the levels from 1 to the root; left out, the bound values are taken as the whole
    domain.

    >>> build([["a", None]]).labels
    (('a', None), ('*',))
    """
    size = len(levels[0])
    labels = [*(tuple(dict.fromkeys(level)) for level in levels), (ROOT,)]
    if len(labels[0]) != size:
        raise ValueError("a hierarchy is bound to distinct values")
    matrix = np.zeros((size, len(labels)), dtype=np.int32)
    for height, level in enumerate(levels):
        code = {label: i for i, label in enumerate(labels[height])}
        matrix[:, height] = [code[label] for label in level]
    costs = [np.zeros(size)]
    for height, texts in enumerate(labels[1:], 1):
        if loss:
            costs.append(np.array([loss[height - 1][label] for label in texts]))
        else:
            leaves = np.bincount(matrix[:, height], minlength=len(texts))
            costs.append(np.maximum(leaves - 1, 0) / max(size - 1, 1))
    return Hierarchy(matrix, tuple(labels), tuple(costs), ranks, places)


def build_by_parents(values: Sequence[Label], parents: Sequence[Sequence[Label]]) -> Hierarchy:
    """Make a hierarchy from the parent of each label of each level, of which the values are the lowest.

    Labels of a level are in the order in which they first are a parent. So what is made of a level is as much as it has
    labels, however many values are under them. The root is added here, and the values are taken as the whole domain.

    >>> build_by_parents(["a", "b", "c"], [["A", "B", "B"], ["all", "all"]]).labels
    (('a', 'b', 'c'), ('A', 'B'), ('all',), ('*',))
    """
    matrix = np.zeros((len(values), len(parents) + 2), dtype=np.int32)  # its last column, the root's, stays 0
    matrix[:, 0] = np.arange(len(values))
    labels: list[tuple[Label, ...]] = [tuple(values)]
    for level, upper in enumerate(parents, 1):
        code = {label: i for i, label in enumerate(dict.fromkeys(upper))}
        matrix[:, level] = np.array([code[label] for label in upper], dtype=np.int32)[matrix[:, level - 1]]
        labels.append(tuple(code))
    labels.append((ROOT,))
    leaves = [np.bincount(matrix[:, level], minlength=len(texts)) for level, texts in enumerate(labels)]
    loss = [np.maximum(under - 1, 0) / max(len(values) - 1, 1) for under in leaves]
    return Hierarchy(matrix, tuple(labels), tuple(loss), None, 0)


def ncp(leaves: int, total: int) -> float:
    """Compute the normalized certainty penalty of a label over `leaves` of `total` leaves.

    >>> ncp(3, 5), ncp(1, 1)
    (0.5, 0.0)
    """
    return max(leaves - 1, 0) / (total - 1) if total > 1 else 0.0


def rank_values(values: Sequence[Label], keys: Sequence[Any]) -> NDArray[np.int64]:
    """Rank values by their key, those with equal keys by their text, NULL last.

    >>> rank_values(["10", None, "9"], [10, None, 9]).tolist()
    [1, 2, 0]
    """
    order = sorted(range(len(values)), key=lambda i: (values[i] is None, keys[i], values[i]))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    return ranks


def refuse_values(values: Sequence[Label], *, column: str, fault: str, remedy: str) -> None:
    """Raise one error that lists all of `values`; do nothing when there are none.

    >>> refuse_values(["x"], column="age", fault="not a number", remedy="mend it")
    Traceback (most recent call last):
    sfumato.errors.HierarchyError: column 'age': not a number: 'x'; mend it
    """
    if values:
        raise HierarchyError(f"column {quote(column)}: {fault}: {listing(values)}; {remedy}")


def refuse_ambiguous_labels(hierarchy: Hierarchy, *, column: str) -> None:
    """Refuse labels that stand for different values on different levels, where labels of several levels are mixed.

    A label on several levels has to have the same values under it as on the lowest of them. ``*`` is the root wherever
    it is. With v values and n labels of all levels, n distinct texts at most: `first` is where the labels of each level
    begin, text int[n] the number of each label's text, lowest int[n] the lowest level of each text.

    >>> refuse_ambiguous_labels(build([["a", "A", "b"], ["A", "B", "B"]]), column="job")
    Traceback (most recent call last):
    sfumato.errors.HierarchyError: column 'job': labels that stand for different values on different levels: 'A'; local
    recoding and tds mix levels, so give each its own name
    """
    labels = [label for level in hierarchy.labels for label in level]
    number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    if len(number) == len(labels):
        return
    sizes = [len(level) for level in hierarchy.labels]
    first = np.cumsum([0, *sizes])
    text = np.array([number[label] for label in labels], dtype=np.int64)
    lowest = np.zeros(len(number), dtype=np.int64)
    for level in reversed(range(len(sizes))):
        lowest[text[first[level] : first[level + 1]]] = level
    values, rows = np.arange(len(hierarchy.matrix)), np.zeros(len(number), dtype=np.int64)
    wrong = np.zeros(len(number), dtype=np.bool_)
    for level in range(len(sizes)):
        here = text[first[level] + hierarchy.matrix[:, level]]
        below = lowest[here]
        wrong[here[text[first[below] + hierarchy.matrix[values, below]] != here]] = True  # not under it on the lowest
        count = np.bincount(here, minlength=len(number))
        new = (lowest == level) & (count > 0)
        rows[new] = count[new]
        wrong |= (count > 0) & (count != rows)
    ambiguous = [label for label, i in number.items() if wrong[i] and label != ROOT]
    fault, remedy = "labels that stand for different values on different levels", "local recoding and tds mix levels"
    refuse_values(ambiguous, column=column, fault=fault, remedy=f"{remedy}, so give each its own name")


def label_paths(labels: Sequence[Label], path: Callable[[str], Branch | None], *, null: Branch) -> list[Branch | None]:
    """Find the path of each label, by `path` for texts; NULL has the path `null`, and ``*`` is its own.

    >>> label_paths(["a", "*", None, "b"], {"a": ("a", "*")}.get, null=(None, "*"))
    [('a', '*'), ('*',), (None, '*'), None]
    """
    return [null if label is None else (ROOT,) if label == ROOT else path(label) for label in labels]


def path_from(label: Label, line: Sequence[Label]) -> Branch | None:
    """Cut a line, which goes from a value to the root, to what begins at a label; ``None`` where it has no such label.

    >>> path_from("A", ("a", "A", "A", "*")), path_from("B", ("a", "A", "*"))
    (('A', 'A', '*'), None)
    """
    return tuple(line[line.index(label) :]) if label in line else None
