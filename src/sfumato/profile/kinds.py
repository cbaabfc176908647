"""What kind of values a column holds: integers, decimals, dates, codes, categories or text."""

import re
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from sfumato.profile.moments import Moments, moments_of
from sfumato.profile.numbers import Numbers, numbers_of
from sfumato.profile.values import Values

_CODE = re.compile(r"(?=.*\d)[A-Za-z]{0,4}[-. /_]?[A-Za-z0-9]{1,6}([-. /_]?[A-Za-z0-9]{1,6}){0,3}")
_RANGE = re.compile(r"\s*\d+\s*(-|–|to|bis|à|a)\s*\d+\s*|[<>≤≥].*|\d+\s*\+")
_NUMERIC = re.compile(r"\s*[+-]?(0|[1-9]\d*)([.,]\d+)*\s*")
_ZERO = r"^0[0-9]"
_WORDY = 4
"""So many words make a sentence."""

_FEW_ROWS = 20
"""Below, sentences may repeat by chance."""


class Kind(StrEnum):
    """The kinds of columns; ``empty`` is one without a value."""

    EMPTY = "empty"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    CODE = "code"
    CATEGORY = "category"
    TEXT = "text"


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """The kind of a column, with its numbers or its dates where it has such; `mixed` says that most are numbers."""

    kind: Kind
    numbers: Numbers | None = None
    moments: Moments | None = None
    mixed: bool = False


def shape_of(values: Values) -> Shape:
    """Look at the values: at some of them for a guess, at all of them before it is believed.

    >>> from sfumato.profile.values import of_texts
    >>> [str(shape_of(of_texts(dict.fromkeys(texts, 1))).kind) for texts in (
    ...     ["7", "12"], ["0.5", "1"], ["2020-01-31"], ["0070", "1234"], ["I21.0", "E11"], ["nurse", "cook"], [])]
    ['integer', 'decimal', 'date', 'code', 'code', 'category', 'empty']
    """
    if not values.distinct:
        return Shape(Kind.EMPTY)
    numbers = numbers_of(values)
    moments = moments_of(values) if numbers is None or _may_be_compact(numbers) else None
    if moments is not None:
        return Shape(Kind.DATE, moments=moments)
    if numbers is not None:
        return Shape(Kind.INTEGER if numbers.whole else Kind.DECIMAL, numbers=numbers)
    return _of_text(values)


def _may_be_compact(numbers: Numbers) -> bool:
    """Whether whole numbers could be dates such as 20201231; of few values nobody can tell."""
    return numbers.whole and numbers.low >= 18_000_101 and numbers.high <= 21_991_231 and len(numbers.values) > 4


def _of_text(values: Values) -> Shape:
    sample = values.sample
    if _is_prose(sample, values):
        return Shape(Kind.TEXT)
    numeric = fmean(bool(_NUMERIC.fullmatch(text)) for text in sample)
    if numeric >= 0.5 and not values.any_match(_ZERO):  # numbers, but not all of them
        return Shape(Kind.CATEGORY, mixed=True)
    ranges = fmean(bool(_RANGE.fullmatch(text)) for text in sample)
    coded = all(_CODE.fullmatch(text) for text in sample) and ranges < 0.5
    return Shape(Kind.CODE if coded else Kind.CATEGORY)


def _is_prose(sample: list[str], values: Values) -> bool:
    """Sentences: many words, or several lines, and hardly ever the same."""
    wordy = fmean(len(text.split()) >= _WORDY or "\n" in text or len(text) > 60 for text in sample)
    least = 0.1 if values.distinct > _FEW_ROWS else 0.5
    return wordy > 0.3 and values.distinct > values.present * least
