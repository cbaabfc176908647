"""The hierarchy of height 1: a value is published, or it is suppressed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.hierarchy.hierarchy import ROOT, Branch, Hierarchy, Label, build, label_paths


@dataclass(frozen=True)
class Suppress:
    """``"suppress"``: value → ``*``.

    >>> Suppress().bind(["Male", "Female"], column="sex").labels
    (('Male', 'Female'), ('*',))
    """

    levelled: ClassVar[bool] = True
    schema: ClassVar[dict[str, object]] = {
        "const": "suppress",
        "description": "The value itself or *, nothing in between.",
    }

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Put every value under ``*``.

        >>> Suppress().bind([None], column="sex").matrix.tolist()
        [[0, 0]]
        """
        return build([values])

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Take any text for a value, but for ``*``.

        >>> Suppress().paths(["Male", "*"], column="sex")
        [('Male', '*'), ('*',)]
        """
        return label_paths(labels, lambda text: (text, ROOT), null=(None, ROOT))
