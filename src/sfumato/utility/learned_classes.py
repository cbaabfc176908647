"""What a classifier learns from drawn rows: trained on them, tested on real rows that had no part in them.

Half of the rows are held out (see `half_draw`). A decision tree and a vote of nearest neighbours are trained on the
other half, and on what was drawn from it, and both are asked for the classes of the hold-out. The difference is what
drawn rows cost somebody who learns from them. It is measured for each sensitive column of categories.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from sfumato.condense.half_draw import HalfDraw, coordinates
from sfumato.condense.mixed_columns import NUMBER, MixedColumn, MixedTable
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.policy import Role

_NEEDS = (
    "what a classifier learns from drawn rows was not measured: scikit-learn is not installed; install it with "
    "pip install 'sfumato[learn]'"
)
_TREE = {"max_depth": 8, "min_samples_leaf": 5, "random_state": 1}
"""A tree that is let grow until every leaf is pure learns the noise of either table by heart."""
_NEIGHBOURS = 5
_MOST_CLASSES, _MOST_COLUMNS = 50, 3
"""Columns of more classes are not learned, and so many columns at most are: each takes a second."""


@dataclass(frozen=True)
class LearnedClass:
    """The share of held-out rows whose class is told right, from 0 to 1.

    `majority` is what naming the most frequent class of the original always gives. Of a decision tree (`tree`) and of
    the nearest neighbours (`neighbours`), the figure of one that was trained on original rows, and of one that was
    trained on drawn rows. `rows` were tested on.
    """

    majority: float
    tree_original: float
    tree_drawn: float
    neighbours_original: float
    neighbours_drawn: float
    rows: int

    def in_words(self, column: str) -> list[tuple[str, str]]:
        """A line for each classifier.

        >>> LearnedClass(0.75, 0.83, 0.82, 0.79, 0.78, 100).in_words("salary")[0]
        ('salary by a decision tree', '82.0% right from drawn rows, 83.0% from original')
        """
        trained = {
            "a decision tree": (self.tree_drawn, self.tree_original),
            "nearest neighbours": (self.neighbours_drawn, self.neighbours_original),
        }
        return [
            (f"{column} by {name}", f"{drawn:.1%} right from drawn rows, {original:.1%} from original")
            for name, (drawn, original) in trained.items()
        ]

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


@dataclass(frozen=True)
class LearnedClasses:
    """What was learned of each column, and the reason where there is nothing though there was something to learn."""

    classes: dict[str, LearnedClass]
    reason: str | None = None


def learn_classes(table: MixedTable, half: HalfDraw | None) -> LearnedClasses:
    """Train on original and on drawn rows, and test on the hold-out, for each column that can be learned.

    `half` is drawn from the table, or none where it has too few rows. A column is left out where either half knows
    fewer than two of its classes.
    """
    if half is None or not class_columns(table.columns):
        return LearnedClasses({})
    if find_spec("sklearn") is None:
        return LearnedClasses({}, _NEEDS)
    return LearnedClasses(dict(_learn_each(half)))


def class_columns(columns: Sequence[MixedColumn]) -> list[str]:
    """Choose the columns whose classes are learned: sensitive ones of two to fifty classes, three at most.

    Numbers are classes where each stands in many rows, such as 0 and 1.
    """
    return [
        column.name for column in columns if column.role is Role.SENSITIVE and 2 <= _classes(column) <= _MOST_CLASSES
    ][:_MOST_COLUMNS]


def _classes(column: MixedColumn) -> int:
    """How many classes a column has: its categories, or its atoms where every row holds one; else none."""
    if column.numbers is None:
        return column.width
    return 0 if (column.codes == NUMBER).any() else column.width - 1


def _learn_each(half: HalfDraw) -> Iterator[tuple[str, LearnedClass]]:
    for name in class_columns(half.own.columns):
        (known, classes), (points, drawn), (others, truth) = (_task(part, name) for part in half.parts)
        if min(len(np.unique(classes)), len(np.unique(drawn))) < 2 or not len(truth):
            continue
        yield (
            name,
            LearnedClass(
                majority=float((truth == np.bincount(classes).argmax()).mean()),
                tree_original=_score_tree(known, classes, others, truth),
                tree_drawn=_score_tree(points, drawn, others, truth),
                neighbours_original=_score_neighbours(known, classes, others, truth),
                neighbours_drawn=_score_neighbours(points, drawn, others, truth),
                rows=len(truth),
            ),
        )


def _task(table: MixedTable, name: str) -> tuple[FloatArray, IntArray]:
    """The points of rows, and the class of each; rows that do not tell theirs are left out."""
    codes = next(column.codes for column in table.columns if column.name == name)
    told = codes >= 0
    return coordinates(table, without=name)[told], codes[told]


def _score_tree(points: FloatArray, classes: IntArray, others: FloatArray, truth: IntArray) -> float:
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - optional, and slow to import

    return float(DecisionTreeClassifier(**_TREE).fit(points, classes).score(others, truth))


def _score_neighbours(points: FloatArray, classes: IntArray, others: FloatArray, truth: IntArray) -> float:
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415 - same

    voters = min(_NEIGHBOURS, len(points))
    return float(KNeighborsClassifier(voters).fit(points, classes).score(others, truth))
