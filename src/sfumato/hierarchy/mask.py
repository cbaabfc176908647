"""Texts with more and more characters starred out: 4350 → 435* → 43** → 4*** → ``*``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from sfumato.errors import PolicyError, did_you_mean
from sfumato.hierarchy.hierarchy import ROOT, Branch, Hierarchy, Label, build, label_paths, refuse_values

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
        length: object = self.length
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
            raise PolicyError(f"must be a whole number of at least 1, not {length!r}", key="length")

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Make a level for each character of the longest value, or of `length`.

        >>> Mask("left").bind(["ab", "cb"], column="code").labels[1]
        ('*b',)
        """
        texts = [value for value in values if value is not None]
        # A star in a value could not be told from a masked character: two values might meet and part again.
        starred, remedy = [text for text in texts if ROOT in text], "mend them, or give a file as its hierarchy"
        refuse_values(starred, column=column, fault="has '*' in", remedy=remedy)
        long = [text for text in texts if self.length is not None and len(text) > self.length]
        fault = f"longer than the {self.length} characters of its mask"
        refuse_values(long, column=column, fault=fault, remedy="raise length, or mend them")
        height = self.length or max([1, *map(len, texts)])
        levels = [[value and self._label(value, stars) for value in values] for stars in range(1, height)]
        return build([values, *levels])

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Tell a label's level by its stars, and set one more on each level above.

        Without a length the path ends in the first ``*``, as it would if all values were as long as this one.

        >>> Mask("right").paths(["435*", "4*50", "*"], column="zip")
        [('435*', '43**', '4***', '*'), None, ('*',)]
        """
        return label_paths(labels, self._path, null=(*[None] * (self.length or 1), ROOT))

    def _path(self, label: str) -> Branch | None:
        stem = label.rstrip(ROOT) if self.mask == "right" else label.lstrip(ROOT)
        stars, height = len(label) - len(stem), self.length or len(label)
        if not label:
            return (*[label] * max(height, 1), ROOT)
        if not stem or ROOT in stem or len(label) > height:
            return None
        # Without a length the stars stand for characters, whichever; with one there may have been none.
        value = stem if self.length else label.replace(ROOT, "0")
        return (*(self._label(value, level) for level in range(stars, height)), ROOT)

    def _label(self, value: str, stars: int) -> Label:
        """Write the label of a value; without a length one that is all stars is the root.

        So its label is that which its own length gives, and a longer value elsewhere in the column changes nothing.
        """
        if self.length is None and stars >= len(value):
            return ROOT
        return mask_text(value, stars, side=self.mask, length=self.length)


def mask_text(value: str, stars: int, *, side: str, length: int | None) -> str | None:
    """Star out so many characters of a value; ``None`` where it has fewer.

    >>> mask_text("4350", 1, side="right", length=None), mask_text("ab", 3, side="right", length=None)
    ('435*', None)
    >>> mask_text("I21", 2, side="right", length=5), mask_text("ab", 1, side="left", length=None)
    ('I21**', '*b')
    """
    kept = len(value) - stars if length is None else min(length - stars, len(value))
    if kept < 0:
        return None
    return ROOT * stars + value[len(value) - kept :] if side == "left" else value[:kept] + ROOT * stars


class MaskedText(NamedTuple):
    """The values under a masked label: they begin with `stem`, and have `shortest` to `longest` characters.

    Where the left side is masked, values and stem are written backwards.
    """

    stem: str
    shortest: int
    longest: int


def read_masked(label: str, *, side: str, length: int | None) -> MaskedText:
    """Read a masked label, or a value that is not masked.

    With a length a label as long as that may be of a shorter value. A shorter label has no character but those of its
    stem, as ``I21*`` of length 5 is the label of I21 alone.

    >>> read_masked("435*", side="right", length=None), read_masked("435***", side="right", length=6)
    (MaskedText(stem='435', shortest=4, longest=4), MaskedText(stem='435', shortest=3, longest=6))
    """
    stem = (label[::-1] if side == "left" else label).rstrip(ROOT)
    if length is None or len(stem) == len(label):
        return MaskedText(stem, len(label), len(label))
    return MaskedText(stem, len(stem), length if len(label) == length else len(stem))
