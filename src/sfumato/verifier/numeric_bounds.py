"""Numbers beside labels: what stands in ``age_low`` or ``age_mid`` has to be what the label in ``age`` says.

Classes are formed by labels. A number beside a label that said more than it would tell rows of a class apart; so each
label, as it is written, is read here, and has one number beside it: the end or the middle of its range, or none.
"""

import re
from collections.abc import Sequence
from fractions import Fraction

from sfumato.errors import listing, quote
from sfumato.verifier.duckdb_tables import TableView, read_pieces
from sfumato.verifier.stated_promise import StatedBound

BOUNDS = ("low", "high", "mid")
SPREAD = "spread"
"""The number beside the centre of a density, in place of these."""
_MOST_NAMED = 3
_LARGEST = 2**63 - 1
_MOST_KEPT = 10_000
"""Of labels with a wrong number no more are counted."""

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_ALONE = re.compile(rf"\s*({_NUMBER})\s*", re.ASCII)
_WHOLE_RANGE = re.compile(r"(\d+)-(\d+)", re.ASCII)
_RANGE = re.compile(rf"\[({_NUMBER}), ({_NUMBER}|inf)([)\]])", re.ASCII)
_BELOW = re.compile(rf"<({_NUMBER})", re.ASCII)
_FROM = re.compile(rf"({_NUMBER})\+", re.ASCII)


def bound_problems(table: TableView, bounds: Sequence[StatedBound]) -> list[str]:
    """Name columns whose numbers are not those of the labels beside them."""
    problems = []
    for stated in bounds:
        label, number = table.column(stated.of), table.column(stated.column)
        table.read(f"CREATE OR REPLACE TABLE beside AS SELECT DISTINCT {label} AS l, {number} AS b FROM {table.source}")
        # one number in two spellings would tell rows of a class apart as well as two numbers
        twice = table.connection.sql(
            f"SELECT l FROM beside GROUP BY l HAVING count(*) > 1 ORDER BY l LIMIT {_MOST_KEPT}"
        )
        wrong = table.texts(stated.of, twice.to_arrow_table().column("l"))
        for piece in read_pieces(table.connection, "beside"):
            labels, numbers = table.texts(stated.of, piece.column("l")), table.texts(stated.column, piece.column("b"))
            wrong += [text for text, found in zip(labels, numbers, strict=True) if not _agrees(text, found, stated)]
            wrong = wrong[:_MOST_KEPT]
        if wrong:
            named = listing(sorted({"NULL" if text is None else text for text in wrong}), most=_MOST_NAMED)
            problems.append(
                f"column {quote(stated.column)} does not have the {stated.bound} of {quote(stated.of)} beside {named}"
            )
    return problems


def _agrees(label: str | None, number: str | None, stated: StatedBound) -> bool:
    try:
        low, high = read_ends(label, whole=stated.whole)
    except ValueError:
        return False
    middle = None if low is None or high is None else (low + high) / 2
    expected = {"low": low, "high": high, "mid": middle}[stated.bound]
    if expected is None or number is None:
        return expected is None and number is None
    try:
        found = Fraction(number)
        is_integer = stated.whole and stated.bound != "mid" and abs(expected) <= _LARGEST
        return found == expected if is_integer else float(found) == float(expected)  # as a float can hold it
    except (ValueError, OverflowError, ZeroDivisionError):
        return False


def read_ends(label: str | None, *, whole: bool) -> tuple[Fraction | None, Fraction | None]:
    """Read the ends of a range as a label writes it, both part of it where numbers are whole; raises ValueError else.

    >>> read_ends("35-39", whole=True), read_ends("[1.5, 2)", whole=False), read_ends("<20", whole=True)
    ((Fraction(35, 1), Fraction(39, 1)), (Fraction(3, 2), Fraction(2, 1)), (None, Fraction(19, 1)))
    """
    low: Fraction | None = None
    high: Fraction | None = None
    closed = True
    if label is None or label == "*":
        return None, None
    if match := _ALONE.fullmatch(label):
        low = high = Fraction(match[1])
    elif match := _WHOLE_RANGE.fullmatch(label):
        low, high = Fraction(match[1]), Fraction(match[2])
    elif match := _RANGE.fullmatch(label):
        low, closed = Fraction(match[1]), match[3] == "]"
        high = None if match[2] == "inf" else Fraction(match[2])
    elif match := _BELOW.fullmatch(label):
        high, closed = Fraction(match[1]), False
    elif match := _FROM.fullmatch(label):
        low = Fraction(match[1])
    else:
        raise ValueError("neither a number nor a range")
    if whole:
        low = None if low is None else Fraction(-(-low.numerator // low.denominator))
        if high is not None:
            down, up = high.numerator // high.denominator, -(-high.numerator // high.denominator)
            high = Fraction(down if closed else up - 1)
    return low, high
