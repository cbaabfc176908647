"""Texts with more and more characters starred out: 4350 → 435* → 43** → 4*** → ``*``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import PolicyError, did_you_mean
from sfumato.hierarchy.base import ROOT, Branch, Hierarchy, Label, build, refuse
from sfumato.hierarchy.paths import climb

_SIDES = ("right", "left")


@dataclass(frozen=True)
class Mask:
    """``{ mask = "right" }``: one more character is masked on each level, from the right or the left.

    With `length`, values count as texts of that many characters with some left out at the masked side, so
    that shorter and longer codes meet: I21 and I21.0 are both ``I21**``.

    >>> Mask("right").bind(["4350", "4312"], column="zip").labels[1:]
    (('435*', '431*'), ('43**',), ('4***',), ('*',))
    >>> Mask("right", length=5).bind(["I21", "I21.0"], column="icd").labels[2]
    ('I21**',)
    """

    mask: str
    length: int | None = None

    levelled: ClassVar[bool] = True
    schema: ClassVar[dict[str, object]] = {
        "type": "object",
        "description": "Characters are replaced by *, one more on each level.",
        "properties": {
            "mask": {"enum": list(_SIDES), "description": "The side that is masked first."},
            "length": {
                "type": "integer",
                "minimum": 1,
                "description": "The characters of a full value; shorter ones are taken as its beginning "
                "(its end for left).",
            },
        },
        "required": ["mask"],
        "additionalProperties": False,
    }

    def __post_init__(self) -> None:
        if self.mask not in _SIDES:
            hint = did_you_mean(str(self.mask), _SIDES)
            raise PolicyError(f'must be "right" or "left", not {self.mask!r}{hint}', key="mask")
        if self.length is not None:
            _check_length(self.length)

    def bind(
        self,
        values: Sequence[Label],
        *,
        column: str,
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> Hierarchy:
        """A level for each character of the longest value, or of `length`.

        >>> Mask("left").bind(["ab", "cb"], column="code").labels[1]
        ('*b',)
        """
        self._check([value for value in values if value is not None], column)
        height = self.length or max([1, *(len(value) for value in values if value is not None)])
        levels = [[value and self._masked(value, stars) for value in values] for stars in range(1, height)]
        return build([values, *levels])

    def paths(
        self,
        labels: Sequence[Label],
        *,
        column: str,  # noqa: ARG002 - nothing can go wrong that would have to name it
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> list[Branch | None]:
        """The stars of a label tell its level, and one more is set on each level above.

        Without a length the path ends in the first ``*``, as it would if all values were as long as this one.

        >>> Mask("right").paths(["435*", "4*50", "*"], column="zip")
        [('435*', '43**', '4***', '*'), None, ('*',)]
        """
        return climb(labels, self._path, null=(*[None] * (self.length or 1), ROOT))

    def _path(self, label: str) -> Branch | None:
        stem = label.rstrip(ROOT) if self.mask == "right" else label.lstrip(ROOT)
        stars, height = len(label) - len(stem), self.length or len(label)
        if not label:
            return (*[label] * max(height, 1), ROOT)
        if not stem or ROOT in stem or len(label) > height:
            return None
        # Without a length the stars stand for characters, whichever; with one there may have been none.
        value = stem if self.length else label.replace(ROOT, "0")
        return (*(self._masked(value, level) for level in range(stars, height)), ROOT)

    def _check(self, values: Sequence[str], column: str) -> None:
        # A star in a value could not be told from a masked character: two values might meet and part again.
        starred = [value for value in values if ROOT in value]
        refuse(starred, column=column, fault="has '*' in", remedy="mend them, or give a file as its hierarchy")
        long = [value for value in values if self.length is not None and len(value) > self.length]
        fault = f"longer than the {self.length} characters of its mask"
        refuse(long, column=column, fault=fault, remedy="raise length, or mend them")

    def _masked(self, value: str, stars: int) -> str:
        if self.length is None:
            kept = len(value) - stars
            if kept <= 0:
                return ROOT  # as its own length would tell, and as the root: a longer value elsewhere changes nothing
        else:
            kept = min(self.length - stars, len(value))
        return value[:kept] + ROOT * stars if self.mask == "right" else ROOT * stars + value[len(value) - kept :]


def _check_length(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise PolicyError(f"must be a whole number of at least 1, not {value!r}", key="length")
