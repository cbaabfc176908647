"""Numbers: round intervals over a domain that is declared, never over the extremes that happen to be in the table."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from sfumato.hierarchy import Intervals
from sfumato.profile.facts import Facts
from sfumato.profile.numbers import Numbers, nice, normal, round_off, tidy
from sfumato.profile.trees.tree import SUPPRESS, Tree, may_be_listed, suppressed

_LEVELS = 4
_BINS = 20
"""About so many of the finest bins hold nearly all rows."""

_FEW_VALUES = 5
_TAIL, _FAR = 0.005, 0.02
"""Rows at either end, by their share, that set no domain, and no width."""

_LEAST, _MOST = 20, 0.1
"""Rows, and their share, that may have one label at the open end."""

_EXACT = 2.0**53


@dataclass(frozen=True)
class Known:
    """A domain that everybody knows: its ends, the widths that people use, and where the few are put together."""

    domain: tuple[float, float]
    widths: tuple[float, ...]
    said: str
    top: float | None = None


_AGE = Known((0, 120), (5, 10, 20, 40), "ages", top=90)
_YEAR = Known((1900, 2100), (5, 10, 50), "years")
_KNOWN = {
    "age": _AGE,
    "latitude": Known((-90, 90), (0.1, 1, 10), "degrees"),
    "longitude": Known((-180, 180), (0.1, 1, 10), "degrees"),
}


def interval_tree(facts: Facts, nulls: tuple[str, ...]) -> Tree:
    """Intervals of widths 1, 2 or 5 times a power of ten; a file of them where numbers have a decimal comma."""
    numbers = facts.shape.numbers
    assert numbers is not None  # noqa: S101 - only columns of numbers come here
    if len(numbers.values) <= _FEW_VALUES and facts.concept not in _KNOWN:
        return SUPPRESS
    if max(abs(numbers.low), abs(numbers.high)) > _EXACT:
        return suppressed("numbers of so many digits are rather names than measures")
    known = _known(facts, numbers)
    keys = declared(known, numbers) if known else _proposed(numbers)
    why = f"intervals over {_said(keys)}" if known is None else f"{known.said} of {_said(keys)}"
    if known is None:
        why += ", a guess that is round on purpose: declare what values there can be"
    elif outside := numbers.low < known.domain[0] or numbers.high > known.domain[1]:
        why += "; some lie outside, look at them"
    check = known is None or outside
    if numbers.style == "point":
        return Tree(keys, why, check)
    return _in_file(facts, keys, numbers.style, nulls)


def _known(facts: Facts, numbers: Numbers) -> Known | None:
    """A domain by the name of the column, where nearly all values lie in it."""
    low, high = numbers.within(_TAIL)
    known = _KNOWN.get(facts.concept)
    if facts.concept in {"birth", "time"} and numbers.whole and low >= 1000:
        known = _YEAR
    return known if known and known.domain[0] <= low and high <= known.domain[1] else None


def declared(known: Known, numbers: Numbers) -> dict[str, Any]:
    """The keys of intervals over a known domain."""
    low, high = known.domain
    keys: dict[str, Any] = {"intervals": list(known.widths), "domain": [tidy(low), tidy(high)]}
    if numbers.low < low:
        keys["bottom"] = tidy(low)
    if known.top is not None or numbers.high > high:
        keys["top"] = tidy(known.top or high)
    return keys | _integers(keys, numbers)


def _proposed(numbers: Numbers) -> dict[str, Any]:
    """Intervals with open ends: what lies far away takes the label of an end, and moves no other."""
    low, high = domain_of(numbers)
    top = tail_of(numbers) or high
    widths = widths_of(numbers, top - low)
    keys: dict[str, Any] = {"intervals": [tidy(width) for width in widths], "domain": [tidy(low), tidy(high)]}
    if low or numbers.low < 0:  # bins begin at 0 in any case
        keys["bottom"] = tidy(low)
    keys["top"] = tidy(top)
    return keys | _integers(keys, numbers)


def domain_of(numbers: Numbers) -> tuple[float, float]:
    """Where nearly all rows lie, rounded outward to a step as wide as the numbers lie apart.

    >>> import numpy as np
    >>> domain_of(Numbers(np.array([17.0, 90.0, 999.0]), np.array([5, 5, 1]), True))
    (0.0, 100.0)
    >>> domain_of(Numbers(np.array([-3.0, 35.5]), np.array([1, 1]), False))
    (-50.0, 50.0)
    """
    lowest, highest = numbers.within(_TAIL)
    step = nice(highest - lowest or abs(highest) or 1.0)
    low, high = floor(lowest / step) * step, ceil(highest / step) * step
    return round_off(low), round_off(high if high > low else low + step)


def widths_of(numbers: Numbers, span: float) -> list[float]:
    """Widths that nest: from a twentieth of what nearly all rows span, up to the domain.

    >>> import numpy as np
    >>> ages = Numbers(np.arange(0.0, 100.0), np.full(100, 5), True)
    >>> widths_of(ages, 100)
    [5.0, 10.0, 50.0]
    """
    low, high = numbers.within(_FAR)
    finest = nice((high - low or span) / _BINS)
    finest = max(finest, 2.0) if numbers.whole else finest
    widths = [finest]
    while len(widths) < _LEVELS:
        wider = round_off(widths[-1] * (2 if f"{widths[-1]:e}"[0] == "5" else 5))
        if wider >= span:
            break
        widths.append(wider)
    return widths


def tail_of(numbers: Numbers) -> float | None:
    """Where the few very high numbers begin to share one label: a round number that enough rows lie above.

    It is set by half a percent of the rows, and so by no single one.
    """
    bound = numbers.within(_TAIL)[1]
    if bound <= 0:
        return None
    tops = (nice(bound, up=False), nice(bound))
    return next((top for top in tops if _LEAST <= numbers.rows_from(top) <= _MOST * numbers.counts.sum()), None)


def _integers(keys: dict[str, Any], numbers: Numbers) -> dict[str, Any]:
    """Decimals with whole widths have to be declared as such."""
    declared = [*keys["intervals"], *keys["domain"], *(keys[end] for end in ("bottom", "top") if end in keys)]
    return {} if numbers.whole or any(isinstance(one, float) for one in declared) else {"integers": False}


def _said(keys: dict[str, Any]) -> str:
    low, high = keys["domain"]
    bottom = f", all below {keys['bottom']} together" if "bottom" in keys else ""
    top = f", {keys['top']} and above together" if "top" in keys else ""
    return f"{low} to {high}{bottom}{top}"


def _in_file(facts: Facts, keys: dict[str, Any], style: str, nulls: tuple[str, ...]) -> Tree:
    """Numbers that a policy cannot read, in a file of the bins that they would have."""
    mark = "a decimal comma" if style == "comma" else "marks between thousands"
    if not may_be_listed(facts, nulls):
        return suppressed(f"numbers with {mark} cannot be put into intervals; write them with a point")
    texts = facts.values.listed()
    plain = {text: normal(text, style) for text in texts}
    different = list(dict.fromkeys(plain.values()))
    tree = Intervals(**keys).bind(different, column=facts.name)
    bins = {
        value: tuple(str(tree.labels[level][code]) for level, code in enumerate(line) if level)
        for value, line in zip(different, tree.matrix.tolist(), strict=True)
    }
    why = f"numbers with {mark}, in intervals by a file; write them with a point and intervals will do"
    order = sorted(texts, key=lambda text: (Fraction(plain[text]), text))
    return Tree("", why, check=True, lines=tuple((text, *bins[plain[text]]) for text in order), least=1)
