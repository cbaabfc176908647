"""Texts with more and more characters starred out: 4350 → 435* → 43** → 4*** → ``*``.

A level for each character makes as many labels of a value as it has characters, and each is as long as the value. So
masks are for codes, of no more than `MOST_LEVELS` characters; one cell of pages among them is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from sfumato.errors import PolicyError, did_you_mean, quote
from sfumato.hierarchy.hierarchy import (
    MOST_LEVELS,
    ROOT,
    Branch,
    Hierarchy,
    Label,
    build_by_parents,
    label_paths,
    refuse_values,
)

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
                "maximum": MOST_LEVELS,
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
            raise PolicyError(f'must be "right" or "left", not {quote(self.mask)}{hint}', key="mask")
        length: object = self.length
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
            raise PolicyError(f"must be a whole number of at least 1, not {quote(length)}", key="length")
        if isinstance(length, int) and length > MOST_LEVELS:
            raise PolicyError(
                f"must be at most {MOST_LEVELS}, one level for each character, not {length}", key="length"
            )

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Make a level for each character of the longest value, or of `length`.

        Levels nest, so that those of one level are made from the different labels of the level before.

        >>> Mask("left").bind(["ab", "cb"], column="code").labels[1]
        ('*b',)
        """
        texts = [value for value in values if value is not None]
        # A star in a value could not be told from a masked character: two values might meet and part again.
        starred, remedy = [text for text in texts if ROOT in text], "mend them, or give a file as its hierarchy"
        refuse_values(starred, column=column, fault="has '*' in", remedy=remedy)
        most = self.length or MOST_LEVELS
        fault = f"longer than the {most} characters {'of its mask' if self.length else 'that a mask takes'}"
        remedy = "raise length, or mend them" if self.length else "mend them, or give it another hierarchy than a mask"
        refuse_values([text for text in texts if len(text) > most], column=column, fault=fault, remedy=remedy)
        height = self.length or max([1, *map(len, texts)])
        parents, shown = [], list(values)  # of each label of a level its parent, and a value that is under it
        for stars in range(1, height):
            parents.append([value and self._label(value, stars) for value in shown])
            under: dict[Label, Label] = {}
            for label, value in zip(parents[-1], shown, strict=True):
                under.setdefault(label, value)
            shown = list(under.values())
        return build_by_parents(values, parents)

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Tell a label's level by its stars, and set one more on each level above.

        Without a length the path ends in the first ``*``, as it would if all values were as long as this one.

        >>> Mask("right").paths(["435*", "4*50", "*"], column="zip")
        [('435*', '43**', '4***', '*'), None, ('*',)]
        """
        return label_paths(labels, self._path, null=(*[None] * (self.length or 1), ROOT))

    def _path(self, label: str) -> Branch | None:
        if len(label) > (self.length or MOST_LEVELS):
            return None
        stem = label.rstrip(ROOT) if self.mask == "right" else label.lstrip(ROOT)
        stars, height = len(label) - len(stem), self.length or len(label)
        if not label:
            return (*[label] * max(height, 1), ROOT)
        if not stem or ROOT in stem:
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
