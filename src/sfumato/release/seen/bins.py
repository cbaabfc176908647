"""Bins of a column: few enough to be drawn, the same for what came in and for what is published."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.page.words import label, plural
from sfumato.release.seen.reading import dates_of, numbers_of
from sfumato.release.seen.steps import Steps, steps_of

MOST = 12
"""A column has so many bins at most, those of missing values and of the others aside."""

_LISTED, _TIED = 10, 1000
MISSING, UNNAMED = "missing", "in suppressed rows only"


@dataclass(frozen=True, eq=False)
class Bins:
    """The name of each bin, and the bin of each value; `steps` where they are steps on the line of numbers."""

    names: tuple[str, ...]
    place: IntArray
    steps: Steps | None = None

    def __len__(self) -> int:
        return len(self.names)


def bins_of(
    texts: Sequence[str | None], counts: IntArray, *, named: BoolArray | None = None, stepped: bool = False
) -> Bins:
    """Bins of values that stand in so many rows each.

    Numbers and dates go to steps of a round width, other values stand for themselves: the most frequent ones, with all
    others together. Where there are few values each has its own bin, unless steps are asked for (`stepped`). No bin
    tells a value that is not to be `named`.

    >>> found = bins_of(["a", "b", None], np.array([1, 5, 2]))
    >>> found.names, found.place.tolist()
    (('b', 'a', 'missing'), [1, 0, 2])
    >>> bins_of(["a", "b"], np.array([1, 5]), named=np.array([False, True])).names
    ('b', 'in suppressed rows only')
    >>> bins_of([str(age) for age in range(20, 60)], np.ones(40, dtype=np.int64)).names
    ('20–24', '25–29', '30–34', '35–39', '40–44', '45–49', '50–54', '55–59')
    """
    named = np.ones(len(texts), dtype=np.bool_) if named is None else named
    numbers = numbers_of(texts)
    known = numbers if numbers is not None else dates_of(texts)
    if known is not None and (stepped or len(texts) > MOST) and np.isfinite(known[named]).any():
        within = numbers is None and np.nanmin(known) == np.nanmax(known)
        return (
            _grouped([text and text[:7] for text in texts], named) if within else bins_of_numbers(known, counts, named)
        )
    return _values(texts, counts, numbers, named)


def bins_of_numbers(numbers: FloatArray, counts: IntArray, named: BoolArray | None = None) -> Bins:
    """Bins of numbers that stand in so many rows each; what is no number is missing.

    Steps are those of the numbers to be named; others fall into them, or into the open ends.
    """
    there = np.isfinite(numbers)
    known = there if named is None or not (there & named).any() else there & named
    if not there.any():
        return Bins((MISSING,), np.zeros(len(numbers), dtype=np.int64))
    steps = steps_of(numbers[known], counts[known], MOST, beyond=numbers[there])
    place = np.full(len(numbers), len(steps.names), dtype=np.int64)
    place[there] = steps.places(numbers[there])
    names = steps.names if there.all() else (*steps.names, MISSING)
    return Bins(names, place, steps)


def _grouped(texts: Sequence[str | None], named: BoolArray) -> Bins:
    """Texts that stand for themselves, in their order: months of one year."""
    shown = sorted({text for text, one in zip(texts, named.tolist(), strict=True) if one and text is not None})
    left = [UNNAMED] if any(text is not None and text not in shown for text in texts) else []
    names = (*shown, *left, *([MISSING] if None in texts else []))
    code: dict[str | None, int] = {name: place for place, name in enumerate(names)}
    return Bins(names, np.array([code.get(text or MISSING, len(shown)) for text in texts], dtype=np.int64))


def _values(texts: Sequence[str | None], counts: IntArray, numbers: FloatArray | None, named: BoolArray) -> Bins:
    """A bin for each of the most frequent values: numbers in their order, others with the most frequent first."""
    shown = _frequent(texts, counts, named)
    if numbers is not None:
        shown = sorted(shown, key=lambda code: float(numbers[code]))
    missing = np.array([text is None for text in texts], dtype=np.bool_)
    others, hidden = named & ~missing, ~named & ~missing
    others[shown] = False
    names, place = [label(texts[code]) for code in shown], np.zeros(len(texts), dtype=np.int64)
    place[shown] = np.arange(len(shown))
    rest = ((plural(int(others.sum()), "other"), others), (UNNAMED, hidden), (MISSING, missing))
    for name, chosen in rest:
        if chosen.any():
            place[chosen] = len(names)
            names.append(name)
    return Bins(tuple(names), place)


def _frequent(texts: Sequence[str | None], counts: IntArray, named: BoolArray) -> list[int]:
    """The codes of the most frequent values, equal ones by their text; of very many equal ones none."""
    known = np.array([code for code in np.flatnonzero(named).tolist() if texts[code] is not None], dtype=np.int64)
    if len(known) > MOST:
        least = np.partition(counts[known], len(known) - _LISTED)[len(known) - _LISTED]
        chosen = known[counts[known] >= least]
        known = chosen if len(chosen) <= _TIED else known[counts[known] > least]
        return sorted(known.tolist(), key=lambda code: (-int(counts[code]), texts[code]))[:_LISTED]
    return sorted(known.tolist(), key=lambda code: (-int(counts[code]), texts[code]))
