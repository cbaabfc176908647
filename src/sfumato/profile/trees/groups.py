"""Categories: frequent values stand for themselves, rare ones come together, and then all by their first letters.

No label names a rare value: whoever reads "other A to F" learns of no value that was in the table. Groups are made so
that each has enough rows. What they mean only somebody who knows the values can say: the file is there to be edited.
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
    lines = group_lines(counts, max(2 * k, -(-facts.values.rows // _SHARE)))
    if not lines:
        return SUPPRESS
    why = "groups of enough rows, by frequency and first letter: edit the file so that they mean something"
    return Tree("", why, lines=lines)


def group_lines(counts: dict[str, int], least: int) -> tuple[tuple[str, ...], ...]:
    """The lines of the file: value, group, larger group and root; without levels that would change nothing.

    >>> for line in group_lines({"cook": 30, "nurse": 40, "smith": 3, "tailor": 4, "usher": 20, "zoologist": 6}, 10):
    ...     print(*line, sep=" < ")
    cook < cook < up to M < *
    nurse < nurse < N and after < *
    smith < other < other < *
    tailor < other < other < *
    usher < usher < N and after < *
    zoologist < other < other < *
    """
    rare = _rare(counts, least)
    frequent = {value: rows for value, rows in counts.items() if value not in rare}
    word = "other" if "other" not in {value.casefold() for value in counts} else "other values"
    together = spans_of(rare, least)
    first = {value: value for value in frequent}
    first |= {value: word if len(together) == 1 else f"{word} {span_of(value, together).said}" for value in rare}
    parts = _parts(frequent, least)
    second = {value: span_of(value, parts).said if len(parts) > 1 else value for value in frequent}
    second |= dict.fromkeys(rare, word)
    levels = [level for level in (first, second) if _tells(level, counts)]
    if len(levels) == 2 and len(set(second.values())) >= len(set(first.values())):
        levels = [first]
    order = sorted(counts, key=lambda value: (_letter(value), value))
    return tuple((value, *(level[value] for level in levels), "*") for value in order) if levels else ()


def _tells(level: dict[str, str], counts: dict[str, int]) -> bool:
    """Whether a level has fewer labels than there are values, and more than the root."""
    return 1 < len(set(level.values())) < len(counts)


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
