"""Labels of fixed bins, read back: each by a number that has the label, which says what stands above it."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Self

from sfumato.core.numbers import read_decimal
from sfumato.hierarchy.base import ROOT, Branch
from sfumato.hierarchy.bins import Bins
from sfumato.hierarchy.paths import upward

Side = Literal["at", "from", "below"]

_NUMBER = r"-?\d+(?:\.\d+)?"
# Read loosely, since a label counts only if the number in it has just this label.
_FORMS: dict[Side, re.Pattern[str]] = {
    "at": re.compile(r"(.*)", re.DOTALL),
    "from": re.compile(rf"\[?({_NUMBER})(?:-|\+|, ).*"),
    "below": re.compile(rf"<({_NUMBER})"),
}


class Witness(NamedTuple):
    """Where a label points: to a number itself, to the numbers from one on, or to those below one.

    >>> Witness.read("37"), Witness.read("35-39")
    (Witness(number=(37, 1), side='at'), Witness(number=(35, 1), side='from'))
    """

    number: tuple[int, int]
    side: Side

    @classmethod
    def read(cls, text: str) -> Self | None:
        """What a text points to, if it looks like a number or a bin.

        >>> Witness.read("<20"), Witness.read("none")
        (Witness(number=(20, 1), side='below'), None)
        """
        for side, form in _FORMS.items():
            if (found := form.fullmatch(text)) and (number := read_decimal(found[1])):
                return cls(number, side)
        return None

    def among(self, bins: Bins) -> int | None:
        """A number that can be bound and has the label, if any has, as a multiple of ``1 / bins.scale``.

        >>> Witness.read("15-19").among(Bins(scale=1, origin=0, domain=(17, 90)))
        17
        """
        number, step = self.number[0] * (bins.scale // self.number[1]), bins.scale if bins.whole else 1
        if self.side == "below":
            number = (number - 1) // step * step
        elif self.side == "from":
            number = -(-max(number, bins.domain[0] if bins.domain else number) // step) * step
        return None if number % step or bins.outside(number) else number


def bin_paths(found: Mapping[str, Witness], bins: Bins, widths: Sequence[int]) -> dict[str, Branch | None]:
    """The path of each text through the bins of growing widths; none where it is the label of no number.

    >>> bins = Bins(scale=1, origin=0, top=80)
    >>> bin_paths({text: Witness.read(text) for text in ("80+", "75+")}, bins, [5, 10])
    {'80+': ('80+', '80+', '*'), '75+': None}
    """
    numbers = [witness.among(bins) for witness in found.values()]
    levels = [bins.level(numbers, width)[0] for width in widths]
    lines = zip(found.items(), numbers, zip(*levels, strict=True), strict=True)
    return {
        text: None if number is None else upward(text, (*[text] * (witness.side == "at"), *line, ROOT))
        for (text, witness), number, line in lines
    }
