"""Identifiers as parties compare them: one way of writing each, checked before anything moves.

Protocols compare bytes, so "Anna  Kern " and "ANNA KERN" would be two people. Every party therefore writes its
identifiers the same way first, as ``normalize`` of the task says:

- ``text`` (the default): Unicode NFKC, case folded, blanks trimmed and inner ones as one; 7.0 is 7;
- ``digits``: the digits alone, for telephone and insurance numbers that are cut by blanks, hyphens or slashes;
- ``exact``: as the cell is.

Whether an identifier can be guessed is said, not prevented. Where all possible values can be tried, as with dates of
birth, nobody who follows the protocol can test a value that is not in its own set; but who puts every possible value
into its set, follows the protocol, too.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, PolicyError, did_you_mean, quote
from sfumato.party.party_task import PartyTable
from sfumato.policy.section import Section

NORMALIZATIONS = ("text", "digits", "exact")
"""What ``normalize`` of a task may be."""
LONGEST_IDENTIFIER = 256
"""Bytes of the longest identifier; more is a column of prose, or a mistake."""

LARGEST_SET = 1 << 26
"""Items of the largest set, 67 million."""
LARGEST_UNBOUNDED_SET = 1 << 20
"""Items of the largest set where the task has no bound, a million: a peer that announces more would cost memory."""

_GUESSABLE_SHARE = 0.9
"""From this share of a column's values on, the column is said to hold what can be guessed."""


@dataclass(frozen=True)
class Identifiers:
    """The distinct identifiers of a column, as they are compared, in the order of the file.

    `rows` has, for each, the row where it is first, and `written` how that row writes it. `warnings` are sentences for
    the holder of the table: which name the column, and never a value.
    """

    items: tuple[bytes, ...]
    rows: tuple[int, ...]
    written: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def read_identifiers(
    table: PartyTable,
    column: str,
    *,
    normalize: str = "text",
    longest: int = LONGEST_IDENTIFIER,
    drop_empty: bool = False,
) -> Identifiers:
    """Take the identifiers of a column; NULL, empty and overlong ones are errors, and repeated ones count once.

    With `drop_empty` NULL and empty ones are left out, for columns whose values identify nobody.

    >>> table = PartyTable(pa.table({"name": ["Anna  Kern", "Bo Li", "ANNA KERN "]}), "a.csv")
    >>> found = read_identifiers(table, "name")
    >>> found.items, found.rows, found.written
    ((b'anna kern', b'bo li'), (0, 1), ('Anna  Kern', 'Bo Li'))
    >>> found.warnings
    ("column 'name' of a.csv repeats identifiers of other rows in 1 row; each identifier counts once",)
    """
    written = read_texts(table, column)
    normalized = normalize_texts(written, normalize)
    empty = sum(not text for text in normalized)
    if empty and not drop_empty:
        missing = "no digit" if normalize == "digits" else "NULL or nothing but blanks"
        raise DataError(
            f"column {quote(column)} of {table.name} has {missing} in {count_rows(empty)}, and an identifier needs a "
            "value; drop these rows"
        )
    first: dict[str, int] = {}
    for row, text in enumerate(normalized):
        if text is not None:
            first.setdefault(text, row)
    items = tuple(text.encode() for text in first)
    overlong = sum(len(item) > longest for item in items)
    if overlong:
        raise DataError(
            f"column {quote(column)} of {table.name} has {overlong:,} values of more than {longest} bytes; "
            "name a column of identifiers" + (", or raise longest of the task" if longest < LONGEST_IDENTIFIER else "")
        )
    warnings = []
    repeated = len(normalized) - empty - len(items)
    if repeated:
        warnings.append(
            f"column {quote(column)} of {table.name} repeats identifiers of other rows in "
            f"{count_rows(repeated)}; each identifier counts once"
        )
    guessable = guessable_kind(first)
    if guessable:
        warnings.append(
            f"column {quote(column)} of {table.name} holds {guessable}, of which so few are possible that all can be "
            "tried: no party that follows the protocol can test a value that is not in its set, but one that puts "
            "guesses into its set learns which of them you have; agree on most_items, and take identifiers that "
            "nobody can guess where there are some"
        )
    rows = tuple(first.values())
    return Identifiers(items, rows, tuple(written[row] or "" for row in rows), tuple(warnings))


def read_identifier_keys(section: Section, normalize: str = "text") -> tuple[str, str, int | None]:
    """Read the keys of ``[task]`` that say what a set is: ``column``, ``normalize`` and ``most_items``.

    `normalize` is how values are written where the task does not say.
    """
    column = section.text("column")
    if not column:
        raise PolicyError("must name the column whose values make the set", key=section.path("column"))
    most_items = section.whole_number("most_items")
    if most_items is not None and not 0 < most_items <= LARGEST_SET:
        raise section.error("most_items", f"must be from 1 to {LARGEST_SET:,}")
    return column, section.choice("normalize", NORMALIZATIONS) or normalize, most_items


def require_at_most(count: int, most_items: int | None, column: str, name: str) -> None:
    """Refuse a set that is larger than the bound that all parties agreed on."""
    if most_items is not None and count > most_items:
        raise DataError(
            f"column {quote(column)} of {name} has more values than most_items = {most_items:,}; raise it in the task, "
            "which all parties share"
        )


def size_sentence(most_items: int | None) -> str:
    """Say what of the sizes of sets is public."""
    if most_items is None:
        return "every party learns the others' sizes, rounded up to a power of two (write most_items to hide them)"
    return f"sizes of sets are hidden up to most_items = {most_items:,}"


def read_texts(table: PartyTable, column: str) -> list[str | None]:
    """Read a column as texts, ``None`` for NULL; numbers are written without a fraction of zero.

    >>> read_texts(PartyTable(pa.table({"n": [7.0, 2.5, None]}), "a.csv"), "n")
    ['7', '2.5', None]
    """
    names = table.arrow.column_names
    if column not in names:
        hint = did_you_mean(column, names)
        raise DataError(f"{table.name} has no column {quote(column)}, which the task names{hint}")
    values = table.arrow.column(column)
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        texts: list[str | None] = values.to_pylist()
        return texts
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise DataError(
            f"column {quote(column)} of {table.name} has the type {kind}, and identifiers are texts, numbers or dates"
        )
    return [_write_value(value) for value in values.to_pylist()]


def normalize_texts(texts: Iterable[str | None], normalize: str = "text") -> list[str | None]:
    """Write texts the way that all parties write them; NULL stays ``None``, and what is empty becomes it.

    >>> normalize_texts(["  Ångström ", "７", "7.0", "", None])
    ['ångström', '7', '7', None, None]
    >>> normalize_texts(["+49 (30) 12-34"], "digits"), normalize_texts([" A "], "exact")
    (['49301234'], [' A '])
    """
    change = _CHANGES[normalize]
    return [None if text is None else change(text) or None for text in texts]


def guessable_kind(values: Iterable[str]) -> str:
    """Name what nearly all values are, where so few such values are possible that all can be tried; "" otherwise.

    >>> guessable_kind(["1970-01-31", "2004-12-24"]), guessable_kind(["1970", "2004"])
    ('dates', 'years')
    >>> guessable_kind(["+49 30 901820", "030/901821"]), guessable_kind(["4711", "0815"])
    ('telephone numbers or the like', 'numbers of at most nine digits')
    >>> guessable_kind(["anna kern 1970-01-31", "b6a1c0d2f3"])
    ''
    """
    values = list(values)
    for name, fits in _GUESSABLE:
        allowed = len(values) - max(1, round(_GUESSABLE_SHARE * len(values)))
        for value in values:
            allowed -= not fits(value)
            if allowed < 0:
                break
        else:
            return name if values else ""
    return ""


def _write_value(value: Any) -> str | None:
    """Write a number, a date or a truth value as text; not-a-number is NULL."""
    if value is None or value != value:  # noqa: PLR0124 - not-a-number alone differs from itself
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


_WHOLE_WITH_FRACTION = re.compile(r"([+-]?[0-9]+)\.0+")


def _change_text(text: str) -> str:
    if not text.isascii():
        # folding can undo NFKC, and NFKC folding (Unicode's NFKC_Casefold does both, in this order)
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = " ".join(text.casefold().split())
    if "." in text and (number := _WHOLE_WITH_FRACTION.fullmatch(text)):
        return number[1]
    return text


def _change_digits(text: str) -> str:
    if (number := _WHOLE_WITH_FRACTION.fullmatch(text.strip())) is not None:
        text = number[1]
    if text.isascii():
        return "".join(filter(str.isdigit, text))
    return "".join(str(unicodedata.decimal(sign)) for sign in text if sign.isdecimal())


_CHANGES: dict[str, Callable[[str], str]] = {"text": _change_text, "digits": _change_digits, "exact": str}

_YEAR = re.compile(r"(?:18|19|20)[0-9]{2}")
_DATE = re.compile(
    r"(?P<y>[0-9]{4})[-./]?(?P<m>[0-9]{1,2})[-./]?(?P<d>[0-9]{1,2})(?:[t ][0-9:.z+-]*)?"
    r"|(?P<one>[0-9]{1,2})[-./](?P<two>[0-9]{1,2})[-./](?P<year>[0-9]{2}|[0-9]{4})"
)
_DIGITS = re.compile(r"[0-9]{1,9}")
_TELEPHONE = re.compile(r"(?=(?:[^0-9]*[0-9]){6,15}[^0-9]*$)(?:\+|00?)?[0-9]?[0-9 ()/.-]{4,24}[0-9]")
_LONGEST_SHORT_TEXT = 4


def _is_date(value: str) -> bool:
    found = _DATE.fullmatch(value)
    if found is None:
        return False
    if found["y"]:
        year, month, day = int(found["y"]), int(found["m"]), int(found["d"])
    else:
        year, month, day = 2000, *sorted((int(found["one"]), int(found["two"])))  # a day above 12 is no month
    try:
        return 1800 <= date(year, month, day).year < 2200
    except ValueError:
        return False


_GUESSABLE: Sequence[tuple[str, Callable[[str], Any]]] = (
    ("years", _YEAR.fullmatch),
    ("dates", _is_date),
    ("numbers of at most nine digits", _DIGITS.fullmatch),
    ("telephone numbers or the like", _TELEPHONE.fullmatch),
    ("texts of at most four characters", lambda value: len(value) <= _LONGEST_SHORT_TEXT),
)


def count_rows(count: int) -> str:
    """Write a number of rows.

    >>> count_rows(1), count_rows(2000)
    ('1 row', '2,000 rows')
    """
    return "1 row" if count == 1 else f"{count:,} rows"
