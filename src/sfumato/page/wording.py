"""Figures in words: rounded for a reader, and never to 0% or 100% where that is not exactly so."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from math import inf

_LISTED = 12
"""Longer lists are cut, and how many are left out is said."""

_LONG = 40
"""Longer labels are cut."""


def percent(share: float) -> str:
    """A share; only nothing is 0% and only everything is 100%.

    >>> percent(0.25), percent(0.0), percent(0.00001), percent(0.9999)
    ('25.0%', '0%', '<0.1%', '>99.9%')
    """
    if share <= 0 or share >= 1:
        return "0%" if share <= 0 else "100%"
    if share < 0.001:
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}"


def amount(number: int, of: int) -> str:
    """A count with its share of a whole.

    >>> amount(1200, 4800)
    '1,200 (25.0%)'
    """
    return f"{number:,} ({percent(number / max(of, 1))})"


def chance(risk: float) -> str:
    """The chance of picking the right one of several.

    >>> chance(0.1), chance(1.0)
    ('1 in 10 (10.0%)', 'certain (100%)')
    """
    return "certain (100%)" if risk >= 1 else f"1 in {round(1 / risk):,} ({percent(risk)})"


def ratio(number: float) -> str:
    """A ratio that is one or more, such as rows per person; only one is 1.

    >>> ratio(1.8), ratio(1.00001)
    ('1.8', 'just above 1')
    """
    short = f"{number:,.4g}"
    return "just above 1" if short == "1" and number > 1 else short


def plural(number: int, one: str, several: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(2000, "class", "classes")
    ('1 row', '2,000 classes')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def value(text: str | None) -> str:
    """A sensitive value; a missing one is a value of its own."""
    return "missing (NULL)" if text is None else f"“{text}”"


def label(text: str | None) -> str:
    """A published label, cut where it is long; a missing value is a label of its own.

    >>> label("{" + ", ".join("abcdefghijklmnopqrstuvwxyz") + "}")
    '{a, b, c, d, e, f, g, h, i, j, k, l, m,…'
    """
    if text is None:
        return "missing (NULL)"
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def keys(values: Mapping[str, object]) -> str:
    """Keys of a model with their values.

    >>> keys({"alpha": 0.217391, "values": ["HIV", "flu"]})
    'alpha = 0.2174, values = “HIV”, “flu”'
    """
    return ", ".join(f"{key} = {_short(content)}" for key, content in values.items())


_STRICT = {"recursive-l-diversity": ("c",)}
"""Keys that a requirement must be above of, and not only reach: what is found is the first that does not do."""


def found_keys(model: str, values: Mapping[str, object]) -> str:
    """What holds of a model, key by key; a figure that is not itself enough is said to be a limit.

    >>> found_keys("recursive-l-diversity", {"c": 1.0, "l": 2}), found_keys("k-anonymity", {"k": 7})
    ('any c above 1, l = 2', 'k = 7')
    >>> found_keys("recursive-l-diversity", {"c": 3.95124, "l": 3})
    'any c above 3.952, l = 3'
    >>> found_keys("recursive-l-diversity", {"c": 3.95})
    'any c above 3.95'
    """
    strict = _STRICT.get(model, ())
    return ", ".join(
        f"any {key} above {_rounded_up(content)}" if key in strict else keys({key: content})
        for key, content in values.items()
    )


def _rounded_up(content: object) -> str:
    """Write a figure to four digits, and never as less than it is: what is above it has to be enough."""
    if not isinstance(content, float) or not 0 < content < inf:
        return _short(content)
    return f"{Decimal(repr(content)).normalize(Context(prec=4, rounding=ROUND_CEILING)):f}"


def _short(content: object) -> str:
    if isinstance(content, bool):
        return "yes" if content else "no"
    if isinstance(content, float):
        return f"{content:.4g}"
    if isinstance(content, Sequence) and not isinstance(content, str):
        listed = ", ".join(f"“{item}”" for item in content[:_LISTED])
        left = len(content) - _LISTED
        return f"{listed} and {left:,} more" if left > 0 else listed
    return str(content)
