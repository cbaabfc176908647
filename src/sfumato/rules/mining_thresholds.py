"""The thresholds of mining, exactly: a least support, as a share or a count, and a least confidence.

Whether a rule is found or hidden may hang on one basket, and ``0.07 * 100`` is a little more than 7. So both are kept
as fractions of whole numbers, and compared as such.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.core.arrays import BoolArray
from sfumato.core.numbers import LARGEST_DENOMINATOR, exact_fraction, is_number, read_decimal
from sfumato.errors import InputError, quote


@dataclass(frozen=True)
class MiningThresholds:
    """From which support on a set of items is frequent, and from which confidence on a rule is found.

    `support` is a share below 1 or, where it is an `int`, a count of baskets.

    >>> wanted = MiningThresholds.read("0.07", "0.5")
    >>> wanted.least_count(100), wanted.least_count(101)
    (7, 8)
    >>> wanted.is_confident(3, 6), wanted.is_confident(2, 5)
    (True, False)
    """

    support: Fraction | int
    confidence: Fraction

    @classmethod
    def read(cls, support: Any, confidence: Any) -> "MiningThresholds":
        """Read both from text or numbers: ``0.01`` and ``1%`` are a share, ``50`` is a count, ``1.0`` is refused.

        >>> MiningThresholds.read("1%", 1), MiningThresholds.read(1, "0.8")
        (MiningThresholds(support=Fraction(1, 100), confidence=Fraction(1, 1)),
         MiningThresholds(support=1, confidence=Fraction(4, 5)))
        >>> MiningThresholds.read("1.0", 0.5)
        Traceback (most recent call last):
        sfumato.errors.InputError: min-support: '1.0' may be a share or a count; write 100% for all, or 1 for one
        """
        share = _read_number(support, "min-support")
        if share <= 0:
            raise InputError(
                f"min-support: must be a share above 0, such as 0.01 or 1%, or a count such as 50, not {quote(support)}"
            )
        if not _is_percent(support) and share >= 1:
            if share == 1 and not _is_whole(support):
                raise InputError(
                    f"min-support: {quote(support)} may be a share or a count; write 100% for all, or 1 for one"
                )
            if share.denominator != 1:
                raise InputError(f"min-support: a count of baskets must be a whole number, not {quote(support)}")
            return cls(int(share), _read_confidence(confidence))
        if share > 1:
            raise InputError(f"min-support: no set is in more than 100% of the baskets, so not {quote(support)}")
        return cls(share, _read_confidence(confidence))

    def least_count(self, baskets: int) -> int:
        """Count the baskets that a frequent set is in at least, of so many baskets."""
        if isinstance(self.support, int):
            return self.support
        return max(math.ceil(self.support * baskets), 1)

    def is_confident(self, whole: Any, antecedent: Any) -> Any:
        """Tell whether rules reach the least confidence, from the supports of all their items and of the antecedent."""
        found: BoolArray | bool = whole * self.confidence.denominator >= antecedent * self.confidence.numerator
        return found

    def most_unconfident(self, antecedent: int) -> int:
        """Give the largest support that a rule may have without being found, by its confidence alone.

        >>> MiningThresholds.read(1, "0.5").most_unconfident(10)
        4
        """
        return math.ceil(self.confidence * antecedent) - 1

    def is_hidden(self, whole: int, antecedent: int, baskets: int) -> bool:
        """Tell whether a rule of these supports is not found among so many baskets."""
        return whole < self.least_count(baskets) or not self.is_confident(whole, antecedent)


def _read_confidence(value: Any) -> Fraction:
    confidence = _read_number(value, "min-confidence")
    if not 0 <= confidence <= 1:
        raise InputError(f"min-confidence: must be a number from 0 to 1, or a percentage, not {quote(value)}")
    return confidence


def _read_number(value: Any, name: str) -> Fraction:
    """Read a number from its digits, as the fraction that they say."""
    if isinstance(value, Fraction):
        found = value
    elif isinstance(value, str):
        text = value.strip().removesuffix("%").strip()
        digits = read_decimal(text)
        if digits is None:
            raise InputError(f"{name}: must be a number such as 0.01, 1% or 50, not {quote(value)}")
        found = Fraction(*digits) / (100 if _is_percent(value) else 1)
    elif is_number(value):
        found = Fraction(value) if isinstance(value, int) else exact_fraction(value)
    else:
        raise InputError(f"{name}: must be a number such as 0.01, 1% or 50, not {quote(value)}")
    if found.denominator > LARGEST_DENOMINATOR:
        raise InputError(f"{name}: {quote(value)} has more digits than matter; round it to nine")
    return found


def _is_percent(value: Any) -> bool:
    return isinstance(value, str) and value.strip().endswith("%")


def _is_whole(value: Any) -> bool:
    """Tell whether a number was written as a whole one."""
    return isinstance(value, int | Fraction) or (isinstance(value, str) and value.strip().isdigit())
