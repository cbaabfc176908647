"""Texts that are numbers or dates, all of them, read as places on a line."""

import re
from collections.abc import Sequence

import numpy as np

from sfumato.core.arrays import FloatArray

_NUMBER = re.compile(r"[+-]?(?!0\d)(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
"""A number; not one that begins with a nought and goes on, which is a code."""

_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-\d{2}([ T].*)?", re.DOTALL)
_TRIED = 200
"""So many texts are looked at letter by letter, before all are read as numbers."""


def numbers_of(texts: Sequence[str | None]) -> FloatArray | None:
    """The number of each text, NaN where it is missing; nothing where one is no number.

    >>> numbers_of(["7", "-1.5", None])
    array([ 7. , -1.5,  nan])
    >>> numbers_of(["3011", "0815"])
    """
    known = [text for text in texts if text is not None]
    if not known or not all(map(_NUMBER.fullmatch, known[:_TRIED])):
        return None
    found = _read([text or "nan" for text in texts])
    return found if found is not None and np.isfinite(found).sum() == len(known) else None


def dates_of(texts: Sequence[str | None]) -> FloatArray | None:
    """The year of each date, NaN where it is missing; nothing where one is not written as 2024-03-31.

    >>> dates_of(["2024-03-31", None])
    array([2024.,   nan])
    """
    known = [text for text in texts if text is not None]
    if not known or not all(map(_DATE.fullmatch, known[:_TRIED])):
        return None
    return _read([text[:4] if text else "nan" for text in texts])


def _read(texts: list[str]) -> FloatArray | None:
    try:
        return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        return None
