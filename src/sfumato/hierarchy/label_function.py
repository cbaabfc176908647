"""Hierarchies that a function of Python tells: from a value to its labels, the finest first.

A policy is read before any value is seen, and a file cannot hold a function. So the policy of a table has lines in its
place, one for each value that occurs: see `sfumato.settled_policy`. Until then the function stands for its hierarchy.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.errors import HierarchyError, PolicyError, quote
from sfumato.hierarchy.hierarchy import ROOT, Branch, Hierarchy, Label


@dataclass(frozen=True)
class LabelFunction:
    """A function from a value to its labels above it, the finest first; ``*`` is added.

    It is called with a value as the table has it, a number of a frame and a text of a CSV file, and never with NULL.

    >>> LabelFunction(lambda age: [f"{age // 10 * 10}s"]).lines([("37", 37), ("41", 41)])
    [['37', '30s', '*'], ['41', '40s', '*']]
    """

    function: Callable[[Any], Any]

    levelled: ClassVar[bool] = True
    schema: ClassVar[dict[str, object]] = {}

    def lines(self, values: Iterable[tuple[str, Any]]) -> list[list[str]]:
        """Work out the lines of a hierarchy file for values, each with its text."""
        return align_paths([[text, *self._labels(text, value)] for text, value in values])

    def _labels(self, text: str, value: Any) -> list[str]:
        labels = self.function(value)
        labels = [labels] if isinstance(labels, str) else labels
        if not isinstance(labels, list | tuple):
            fault = f"gives {type(labels).__name__} for {quote(text)}, and not a list of labels"
            raise HierarchyError(f"the function {self.name} {fault}; let it return one, the finest label first")
        return [write_label(label) for label in labels]

    @property
    def name(self) -> str:
        """What the function is called, for a sentence."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Refuse: a policy with a function is settled for a table before its columns are looked at."""
        raise self.unsettled()

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Refuse: a function tells the labels of values, and not what is above a label."""
        raise self.unsettled()

    def unsettled(self) -> PolicyError:
        """Say that a function is not lines yet."""
        way = "give the values with sf.Tree.from_function(function, values), or take the policy of a release"
        return PolicyError(f"is the function {self.name}, whose lines are not known before a table is; {way}")


def align_paths(paths: Sequence[Sequence[str]]) -> list[list[str]]:
    """Make paths from leaf to root equally long: the root is added where it is missing, and a leaf is repeated.

    So a label is at one level, counted from the root, however deep the leaves under it are.

    >>> align_paths([["Bern", "Switzerland", "Europe"], ["Monaco", "Europe", "*"]])
    [['Bern', 'Switzerland', 'Europe', '*'], ['Monaco', 'Monaco', 'Europe', '*']]
    """
    whole = [[*path] if path[-1:] == [ROOT] or tuple(path[-1:]) == (ROOT,) else [*path, ROOT] for path in paths]
    most = max(map(len, whole), default=0)
    return [[path[0]] * (most - len(path)) + path for path in whole]


def write_label(label: Any) -> str:
    """Write a value or label of Python as a hierarchy file has it.

    >>> write_label(7), write_label(20.0), write_label("Bern")
    ('7', '20', 'Bern')
    """
    if label is None or label == "" or label != label:  # noqa: PLR0124 - NaN is what is not itself
        raise HierarchyError("a hierarchy has a missing or empty label; give each a name")
    if hasattr(label, "item"):
        label = label.item()  # a number of numpy
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
