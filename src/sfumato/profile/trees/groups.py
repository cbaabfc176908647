"""Categories: frequent values stand for themselves, rare ones come together, and then all by their first letters.

No label names a rare value: whoever reads "other A to F" learns of no value that was in the table. Values of very few
rows are told together at the least, since the manifest lists what labels of a file stand for: nobody should find a
value there that only rows hold which were left out. Groups are made so that each has enough rows. What they mean only
somebody who knows the values can say: the file is there to be edited.
"""

import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from sfumato.profile.facts import Facts
from sfumato.profile.trees.tree import SUPPRESS, Tree, may_be_listed, suppressed, unlisted

_FEW_VALUES = 4
_SHARE = 50
"""A group has at least one row in so many."""

_PARTS = 4
"""About so many groups on the second level."""


def group_tree(facts: Facts, k: int, nulls: tuple[str, ...]) -> Tree:
    """A file of two levels of groups; the value or nothing where there are few values."""
    if facts.values.distinct <= _FEW_VALUES:
        return SUPPRESS
    if not may_be_listed(facts, nulls):
        return suppressed(unlisted(facts))
    counts = dict(zip(facts.values.listed(), facts.values.counts.tolist(), strict=True))
    few, lines = _rare(counts, 2 * k), group_lines(counts, 2 * k, max(2 * k, -(-facts.values.rows // _SHARE)))
    if not lines:
        return SUPPRESS
    why = "groups of enough rows, by frequency and first letter: edit the file so that they mean something"
    return Tree("", f"{why}; {_rarest(few)}" if few else why, lines=lines, least=1 if few else 0)


def _rarest(few: dict[str, int]) -> str:
    return f"{len(few):,} values of very few rows are never told apart"


def group_lines(counts: dict[str, int], few: int, least: int) -> tuple[tuple[str, ...], ...]:
    """The lines of the file: value, groups and root; without levels that would change nothing.

    Values of fewer than `few` rows come together first, those of fewer than `least` next.

    >>> counts = {"cook": 30, "nurse": 40, "smith": 3, "tailor": 8, "usher": 20, "vet": 14, "wright": 12}
    >>> for line in group_lines(counts, 10, 15):
    ...     print(*line, sep=" < ")
    cook < cook < cook < up to M < *
    nurse < nurse < nurse < N and after < *
    smith < rare < rare < other < *
    tailor < rare < rare < other < *
    usher < usher < usher < N and after < *
    vet < vet < other < other < *
    wright < wright < other < other < *
    """
    rarest, rare = _rare(counts, few), _rare(counts, least)
    first = {value: _free("rare", counts) if value in rarest else value for value in counts}
    second = first | _together({value: rows for value, rows in rare.items() if value not in rarest}, counts, least)
    third = _letters({value: rows for value, rows in counts.items() if value not in rare}, least)
    third |= dict.fromkeys(rare, _free("other", counts))
    order = sorted(counts, key=lambda value: (_letter(value), value))
    levels = _telling([first, second, third], len(counts))
    return tuple((value, *(level[value] for level in levels), "*") for value in order) if levels else ()


def _free(word: str, counts: dict[str, int]) -> str:
    """A word for a group that is no value."""
    return f"{word} values" if word in {value.casefold() for value in counts} else word


def _together(rare: dict[str, int], counts: dict[str, int], least: int) -> dict[str, str]:
    """The groups of values that are not frequent, by first letters where there are many."""
    spans, word = spans_of(rare, least), _free("other", counts)
    return {value: word if len(spans) == 1 else f"{word} {span_of(value, spans).said}" for value in rare}


def _letters(frequent: dict[str, int], least: int) -> dict[str, str]:
    """The groups of frequent values, by first letters."""
    parts = _parts(frequent, least)
    return {value: span_of(value, parts).said if len(parts) > 1 else value for value in frequent}


def _telling(levels: list[dict[str, str]], values: int) -> list[dict[str, str]]:
    """The levels that have fewer labels than the one before, and more than the root."""
    kept: list[dict[str, str]] = []
    for level in levels:
        labels = len(set(level.values()))
        if 1 < labels < values:
            kept.append(level)
            values = labels
    return kept


def _rare(counts: dict[str, int], least: int) -> dict[str, int]:
    """The values with too few rows, and the next ones until they have enough together; none where all are frequent."""
    order = sorted(counts, key=lambda value: (counts[value], value))
    before = accumulate((counts[value] for value in order), initial=0)
    rare = {
        value: counts[value] for value, rows in zip(order, before, strict=False) if _belongs(counts[value], rows, least)
    }
    return rare if len(rare) > 1 else {}


def _belongs(rows: int, before: int, least: int) -> bool:
    """Whether a value goes to the rare ones, of which there are so many rows before it."""
    return rows < least or 0 < before < least


def _parts(counts: dict[str, int], least: int) -> "list[Span]":
    """The second level: a few spans of letters, of as many rows each as can be had."""
    total = sum(counts.values())
    tried = (spans_of(counts, max(rows, least)) for rows in (-(-total // _PARTS), -(-total // 10), 2 * least))
    return next((spans for spans in tried if len(spans) > 1), [Span("", "")])


@dataclass(frozen=True)
class Span:
    """First letters from one to another; the first span and the last are open, so that they end with no value."""

    low: str
    high: str

    def holds(self, value: str) -> bool:
        """Whether the value begins with one of them."""
        return (not self.low or _letter(value) >= self.low) and (not self.high or _letter(value) <= self.high)

    @property
    def said(self) -> str:
        """In words.

        >>> Span("", "F").said, Span("G", "O").said, Span("P", "").said, Span("B", "B").said
        ('up to F', 'G to O', 'P and after', 'B')
        """
        if self.low and self.high:
            return self.low if self.low == self.high else f"{self.low} to {self.high}"
        return f"up to {self.high}" if self.high else f"{self.low} and after" if self.low else "all"


def span_of(value: str, spans: list[Span]) -> Span:
    """The span that holds a value."""
    return next(span for span in spans if span.holds(value))


def spans_of(counts: dict[str, int], least: int) -> list[Span]:
    """Spans of first letters that cover the alphabet, each with at least so many rows; one where that is all there is.

    >>> [span.said for span in spans_of({"ant": 5, "bee": 5, "cow": 1, "elk": 9}, 5)]
    ['up to A', 'B', 'C and after']
    """
    letters = Counter[str]()
    for value, rows in counts.items():
        letters[_letter(value)] += rows
    starts, held, left = [], 0, sum(counts.values())
    for letter in sorted(letters):
        if held >= least and left >= least:
            starts.append(letter)
            held = 0
        held, left = held + letters[letter], left - letters[letter]
    ends = [*(_before(start) for start in starts), ""]
    return [Span(low, high) for low, high in zip(["", *starts], ends, strict=True)]


def _letter(value: str) -> str:
    """The first letter or digit in upper case and without its accent; a mark where a value begins with neither."""
    bare = unicodedata.normalize("NFKD", value.strip())
    return next((one.upper()[:1] for one in bare if one.isalnum()), "#")


def _before(letter: str) -> str:
    """The letter or sign before: where the span before ends."""
    before = chr(ord(letter) - 1)
    return before if before.isalnum() else "9" if letter == "A" else before
