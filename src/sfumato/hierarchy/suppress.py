"""The hierarchy of height 1: a value is told, or it is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.hierarchy.base import ROOT, Branch, Hierarchy, Label, build
from sfumato.hierarchy.paths import climb


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

    def bind(
        self,
        values: Sequence[Label],
        *,
        column: str,  # noqa: ARG002 - nothing can go wrong that would have to name it
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> Hierarchy:
        """Every value under ``*``.

        >>> Suppress().bind([None], column="sex").matrix.tolist()
        [[0, 0]]
        """
        return build([values])

    def paths(
        self,
        labels: Sequence[Label],
        *,
        column: str,  # noqa: ARG002 - nothing can go wrong that would have to name it
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> list[Branch | None]:
        """Any text is a value, but for ``*``.

        >>> Suppress().paths(["Male", "*"], column="sex")
        [('Male', '*'), ('*',)]
        """
        return climb(labels, lambda text: (text, ROOT), null=(None, ROOT))
