"""Lookalikes: how likely it is that somebody else has the same values, where they are independent and equally likely.

Exercises 14 and 15 of the chapter on privacy-preserving data mining. An adversary knows `known` values of a person,
each of which is one of `values` possible ones: 20 items that were bought or not, 8 films that were rated from 1 to 5.
Among `others` people, somebody who has the same values is a lookalike. Where there is none, the person is found, and
with the person all that the adversary did not know.

In the formulas n is `others`, B `known` and R `values`; one other person is a lookalike with chance R^-B.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.errors import InputError

_MOST = 10**300
_BITS = 2100
"""A quotient of a number below 10^300 by a power of more bits than these is below every floating-point number."""
_TINY, _MANY = 1e-17, 10**15
"""Where log(1 - x) is -x to every digit, and beyond which quotients have none left to lose."""
_LEVELS = (0.05, 0.01)


@dataclass(frozen=True)
class Coincidence:
    """What `known` values of a person tell among `others`.

    `expected` is the number of lookalikes to be expected, n / R^B, which is also the exercise's bound on the chance of
    any, `exact` is that chance itself, `alone` that of none, and `picked` that of picking the person among all who look
    the same. `needed` says how many known values bring the chance of a lookalike below 5 % and below 1 %.
    """

    others: int
    known: int
    values: int
    expected: float
    bound: float
    exact: float
    alone: float
    picked: float
    needed: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``."""
        return asdict(self)


def coincidence(others: int, known: int, values: int = 2) -> Coincidence:
    """Compute what `known` values tell of a person among `others`, each one of `values` possible ones.

    Exercise 14: the bound is 10,000 / 2^20.

    >>> chances = coincidence(10_000, 20)
    >>> round(chances.bound, 6), round(chances.exact, 6), chances.needed
    (0.009537, 0.009491, {'0.05': 18, '0.01': 20})
    """
    _check(others, known, values)
    expected, exponent = _quotient(others, known, values), _minus_log_alone(others, known, values)
    # The mean of 1 / (1 + lookalikes) is (1 - (1 - p)^(n + 1)) / ((n + 1) p), with p = R^-B.
    all_alike = _quotient(others + 1, known, values)
    if all_alike < _TINY:  # practically nobody else; the quotient would be of two zeros
        picked = 1.0
    else:
        picked = min(-math.expm1(-_minus_log_alone(others + 1, known, values)) / all_alike, 1.0)
    return Coincidence(
        others,
        known,
        values,
        expected=expected,
        bound=min(expected, 1.0),
        exact=-math.expm1(-exponent),
        alone=math.exp(-exponent),
        picked=picked,
        needed={str(level): known_needed(others, values, level) for level in _LEVELS},
    )


def chance_of_lookalike(others: int, known: int, values: int = 2) -> float:
    """Compute the chance that at least one of `others` has the same values: 1 - (1 - R^-B)^n.

    >>> chance_of_lookalike(1, 1), chance_of_lookalike(10**12, 200)
    (0.5, 6.223015277861142e-49)
    """
    _check(others, known, values)
    return -math.expm1(-_minus_log_alone(others, known, values))


def known_needed(others: int, values: int, below: float) -> int:
    """Compute how many values must be known for the chance of a lookalike to fall below a level.

    >>> known_needed(10_000, 5, 0.01)
    9
    """
    _check(others, 0, values)
    if others == 0:
        return 0
    # The logarithm of the chance that one other looks the same, where the chance that any does is the level.
    each = -math.log1p(-below)
    log_share = math.log(-math.expm1(-each / others)) if others < _MANY else math.log(each) - math.log(others)
    near = max(math.floor(-log_share / math.log(values)) - 1, 0)
    return next(known for known in range(near, near + 4) if chance_of_lookalike(others, known, values) < below)


def _minus_log_alone(others: int, known: int, values: int) -> float:
    """Compute -n log(1 - R^-B), minus the logarithm of the chance that nobody looks the same.

    It has all its digits even for huge n and tiny R^-B.
    """
    share = _quotient(1, known, values)
    if others == 0 or share == 1:
        return math.inf if others else 0.0
    return _quotient(others, known, values) if share < _TINY else others * -math.log1p(-share)


def _quotient(others: int, known: int, values: int) -> float:
    """Compute n / R^B, rounded once where the power can be written out; 0 where it is too small for a number."""
    if known * math.log2(values) > _BITS:
        return 0.0
    quotient: float = others / values**known
    return quotient


def _check(others: int, known: int, values: int) -> None:
    if not 0 <= others <= _MOST:
        raise InputError(f"others must be a number of people from 0 to 10^300, not {_short(others)}")
    if not 0 <= known <= _MOST:
        raise InputError(f"known must be a number of values from 0 to 10^300, not {_short(known)}")
    if not 2 <= values <= _MOST:
        raise InputError(
            f"values must be from 2 to 10^300, not {_short(values)}; a value that is always the same tells nothing"
        )


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**20 else f"{'-' * (number < 0)}10^{math.floor(math.log10(abs(number)))}"
