"""Proposed hierarchies for quasi-identifiers, by what a column's name says and what it holds.

Ages and years get the intervals that people use, other numbers ranges over a declared domain, dates units of the
calendar, codes a mask, and categories sets or groups. No label depends on a single record: domains, widths and open
ends are set by shares of the rows, and no label names a rare value.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pyarrow.compute as pc

from sfumato.core.arrow import numpy_numbers
from sfumato.hierarchy import Intervals
from sfumato.hierarchy.dates import UNITS
from sfumato.profile.caution import Caution
from sfumato.profile.column_facts import ColumnFacts, ColumnKind
from sfumato.profile.frequency_groups import Lines, find_rare_values, group_lines, separate_labels
from sfumato.profile.written_dates import WrittenDates, possible_months
from sfumato.profile.written_numbers import (
    WrittenNumbers,
    drop_binary_noise,
    plain_number,
    round_number,
    toml_number,
)

MOST_LINES = 20_000
"""Columns with more values get no file: nobody would read it."""


@dataclass(frozen=True)
class ProposedHierarchy:
    """What a policy has after ``hierarchy =``, why, and how closely somebody should look at it.

    Where `lines` are given they are the file of the hierarchy, and `declaration` is not used. `least` is the lowest
    level that may be published.
    """

    declaration: Any = "suppress"
    reason: str = ""
    caution: Caution = Caution.NONE
    lines: Lines = ()
    least: int = 0


SUPPRESS = ProposedHierarchy("suppress", "the value or nothing")


def propose_hierarchy(facts: ColumnFacts, k: int, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """Propose a hierarchy for a quasi-identifier; `nulls` are the texts that are read as missing in the table."""
    if facts.concept == "postal" and facts.type.dates is None:
        return propose_mask(facts, k, nulls)
    if facts.type.numbers is not None:
        known = find_known_domain(facts, facts.type.numbers) is not None
        return propose_intervals(facts, nulls) if known else propose_ranges(facts, nulls)
    if facts.kind is ColumnKind.DATE:
        return propose_calendar(facts, nulls)
    if facts.kind is ColumnKind.CODE:
        return propose_mask(facts, k, nulls)
    return propose_groups(facts, k, nulls)


def _suppress_because(reason: str) -> ProposedHierarchy:
    """Propose the value or nothing, for a reason that somebody should know."""
    return replace(SUPPRESS, reason=f"{SUPPRESS.reason}: {reason}", caution=Caution.NOTE)


def _may_be_listed(facts: ColumnFacts, nulls: tuple[str, ...]) -> bool:
    """Tell whether a file can hold the values: not too many, and none that it would take for NULL or for the root."""
    values = facts.values
    if values.distinct > MOST_LINES:
        return False
    return not any(text in {"", *nulls} or "*" in text for text in values.to_list())


# Numbers: ranges that the algorithm chooses, or round intervals, over a domain that is declared, never over the
# extremes that happen to be in the table.

_LEVELS = 4
_BINS = 20
"""About so many of the finest bins hold nearly all rows."""

_TWO = 2
"""Of so few values there is nothing between the value and nothing."""

_TAIL, _FAR = 0.005, 0.02
"""Rows at either end, by their share, that set no domain, and no width."""

_LEAST_AT_END, _MOST_AT_END = 20, 0.1
"""Rows, and their share, that may have one label at the open end."""

_EXACT = 2.0**53


@dataclass(frozen=True)
class KnownDomain:
    """A domain that everybody knows: its ends, the widths that people use, and where the few are put together."""

    domain: tuple[float, float]
    widths: tuple[float, ...]
    noun: str
    top: float | None = None


_YEARS = KnownDomain((1900, 2100), (5, 10, 50), "years")
_KNOWN_DOMAINS = {
    "age": KnownDomain((0, 120), (5, 10, 20, 40), "ages", top=90),
    "latitude": KnownDomain((-90, 90), (0.1, 1, 10), "degrees"),
    "longitude": KnownDomain((-180, 180), (0.1, 1, 10), "degrees"),
}


def propose_ranges(facts: ColumnFacts, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """Propose ranges; over a round domain where it holds all numbers, and with open ends where some lie far away.

    The domain is where nearly all rows lie, rounded outward, so that no single record sets it.
    """
    numbers = facts.type.numbers
    assert numbers is not None  # noqa: S101 - only columns of numbers come here
    if facts.values.distinct <= _TWO:
        return SUPPRESS
    if numbers.style != "point" or max(abs(numbers.low), abs(numbers.high)) > _EXACT:
        return propose_intervals(facts, nulls)
    low, high = guess_domain(numbers)
    if low <= numbers.low and numbers.high <= high:
        keys: dict[str, Any] = {"ranges": True, "domain": [toml_number(low), toml_number(high)]}
        if not numbers.whole and all(isinstance(end, int) for end in keys["domain"]):
            keys["integers"] = False
        reason = f"ranges over {keys['domain'][0]} to {keys['domain'][1]}, which is round on purpose: declare what "
        return ProposedHierarchy(keys, f"{reason}values there can be")
    keys = {"ranges": True, "integers": True} if numbers.whole else {"ranges": True}
    reason = "ranges with open ends, because some numbers lie far from the others: declare what values there can be"
    return ProposedHierarchy(keys, reason)


def propose_intervals(facts: ColumnFacts, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """Propose intervals of widths 1, 2 or 5 times a power of ten; a file of them where numbers have a decimal comma."""
    numbers = facts.type.numbers
    assert numbers is not None  # noqa: S101 - only columns of numbers come here
    if facts.values.distinct <= _TWO and facts.concept not in _KNOWN_DOMAINS:
        return SUPPRESS
    if max(abs(numbers.low), abs(numbers.high)) > _EXACT:
        return _suppress_because("numbers of so many digits are rather names than measures")
    known = find_known_domain(facts, numbers)
    caution = Caution.NONE
    if known is None:
        keys = _guess_intervals(numbers)
        reason = f"intervals over {_in_words(keys)}, a guess that is round on purpose: declare what values there can be"
    else:
        keys = known_intervals(known, numbers)
        reason = f"{known.noun} of {_in_words(keys)}"
        if numbers.low < known.domain[0] or numbers.high > known.domain[1]:
            caution, reason = Caution.CHECK, f"{reason}; some lie outside, look at them"
    if numbers.style == "point":
        return ProposedHierarchy(keys, reason, caution)
    return _list_intervals(facts, keys, numbers.style, nulls)


def find_known_domain(facts: ColumnFacts, numbers: WrittenNumbers) -> KnownDomain | None:
    """Find a domain by the name of the column, where nearly all values lie in it."""
    low, high = numbers.within(_FAR)
    known = _KNOWN_DOMAINS.get(facts.concept)
    if facts.concept in {"birth", "time"} and numbers.whole and low >= 1000:
        known = _YEARS
    return known if known and known.domain[0] <= low and high <= known.domain[1] else None


def known_intervals(known: KnownDomain, numbers: WrittenNumbers) -> dict[str, Any]:
    """Write the keys of intervals over a known domain, with an open end where numbers lie outside."""
    low, high = known.domain
    keys: dict[str, Any] = {"intervals": list(known.widths), "domain": [toml_number(low), toml_number(high)]}
    if numbers.low < low:
        keys["bottom"] = toml_number(low)
    if known.top is not None or numbers.high > high:
        keys["top"] = toml_number(known.top or high)
    return keys | _integers_key(keys, numbers)


def _guess_intervals(numbers: WrittenNumbers) -> dict[str, Any]:
    """Write the keys of intervals with open ends: what lies far away takes the label of an end, and moves no other."""
    low, high = guess_domain(numbers)
    top = find_open_end(numbers) or high
    widths = guess_widths(numbers, top - low)
    keys: dict[str, Any] = {
        "intervals": [toml_number(width) for width in widths],
        "domain": [toml_number(low), toml_number(high)],
    }
    if low or numbers.low < 0:  # bins begin at 0 in any case
        keys["bottom"] = toml_number(low)
    keys["top"] = toml_number(top)
    return keys | _integers_key(keys, numbers)


def guess_domain(numbers: WrittenNumbers) -> tuple[float, float]:
    """Find where nearly all rows lie, rounded outward to a step as wide as the numbers lie apart.

    >>> guess_domain(WrittenNumbers(np.array([17.0, 90.0, 999.0]), np.array([5, 5, 1]), True))
    (0.0, 100.0)
    >>> guess_domain(WrittenNumbers(np.array([-3.0, 35.5]), np.array([1, 1]), False))
    (-50.0, 50.0)
    """
    lowest, highest = numbers.within(_TAIL)
    step = round_number(highest - lowest or abs(highest) or 1.0)
    low, high = floor(lowest / step) * step, ceil(highest / step) * step
    return drop_binary_noise(low), drop_binary_noise(high if high > low else low + step)


def guess_widths(numbers: WrittenNumbers, span: float) -> list[float]:
    """Choose widths that nest: from a twentieth of what nearly all rows span, up to the span of the domain.

    >>> ages = WrittenNumbers(np.arange(0.0, 100.0), np.full(100, 5), True)
    >>> guess_widths(ages, 100)
    [5.0, 10.0, 50.0]
    """
    low, high = numbers.within(_FAR)
    finest = round_number((high - low or span) / _BINS)
    widths = [max(finest, 2.0) if numbers.whole else finest]
    while len(widths) < _LEVELS:
        wider = drop_binary_noise(widths[-1] * (2 if f"{widths[-1]:e}"[0] == "5" else 5))
        if wider >= span:
            break
        widths.append(wider)
    return widths


def find_open_end(numbers: WrittenNumbers) -> float | None:
    """Find where the few very high numbers begin to share one label: a round number that enough rows lie above.

    It is set by half a percent of the rows, and so by no single one.
    """
    bound = numbers.within(_TAIL)[1]
    if bound <= 0:
        return None
    most = _MOST_AT_END * numbers.counts.sum()
    tops = (round_number(bound, up=False), round_number(bound))
    return next((top for top in tops if _LEAST_AT_END <= numbers.rows_from(top) <= most), None)


def _integers_key(keys: dict[str, Any], numbers: WrittenNumbers) -> dict[str, Any]:
    """Say that numbers are decimals where the widths and ends, all whole, would say that they are integers."""
    bounds = [*keys["intervals"], *keys["domain"], *(keys[end] for end in ("bottom", "top") if end in keys)]
    return {} if numbers.whole or any(isinstance(bound, float) for bound in bounds) else {"integers": False}


def _in_words(keys: dict[str, Any]) -> str:
    low, high = keys["domain"]
    bottom = f", all below {keys['bottom']} together" if "bottom" in keys else ""
    top = f", {keys['top']} and above together" if "top" in keys else ""
    return f"{low} to {high}{bottom}{top}"


def _list_intervals(facts: ColumnFacts, keys: dict[str, Any], style: str, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """Put numbers that a policy cannot read into a file of the bins that they would have."""
    mark = "a decimal comma" if style == "comma" else "marks between thousands"
    if not _may_be_listed(facts, nulls):
        return _suppress_because(f"numbers with {mark} cannot be put into intervals; write them with a point")
    texts = facts.values.to_list()
    plain = {text: plain_number(text, style) for text in texts}
    different = list(dict.fromkeys(plain.values()))
    hierarchy = Intervals(**keys).bind(different, column=facts.name)
    bins = {
        value: tuple(str(hierarchy.labels[level][code]) for level, code in enumerate(codes) if level)
        for value, codes in zip(different, hierarchy.matrix.tolist(), strict=True)
    }
    reason = f"numbers with {mark}, in intervals by a file; write them with a point and intervals will do"
    order = sorted(texts, key=lambda text: (Fraction(plain[text]), text))
    lines = tuple((text, *bins[plain[text]]) for text in order)
    return ProposedHierarchy("", reason, Caution.NOTE, separate_labels(lines, 1), least=1)


# Dates: units of the calendar, in the format in which the column has them.

_BIRTH_UNITS = ("month", "year", "decade")
_EVENT_UNITS = ("month", "quarter", "year", "decade")


def propose_calendar(facts: ColumnFacts, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """Propose months, years and decades; by a file where the column has several formats."""
    dates = facts.type.dates
    assert dates is not None  # noqa: S101 - only columns of dates come here
    if not dates.has_one_format:
        return _list_dates(facts, dates, nulls)
    units = list(_BIRTH_UNITS if facts.concept == "birth" else _EVENT_UNITS)
    # With a time in some cells only, a day would be a value and a label of several values at once.
    days = dates.timed and facts.values.all_match(":")
    keys: dict[str, Any] = {"dates": ["day", *units] if days else units[1:] if dates.without_days else units}
    if dates.formats[0] is not None:
        keys["format"] = dates.formats[0]
    doubt = ""
    if dates.month_first:
        doubt = ", read with the day first; every value could have the month first as well"
    elif dates.short_years:
        doubt = "; years have two digits, and 69 is read as 1969, 68 as 2068"
    caution = Caution.CHECK if doubt else Caution.NONE
    return ProposedHierarchy(keys, f"units of the calendar{doubt}", caution)


def _list_dates(facts: ColumnFacts, dates: WrittenDates, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """List dates in several formats with month, year and decade; without the month where it can be mistaken."""
    if not _may_be_listed(facts, nulls):
        return _suppress_because("dates in several formats cannot be put into months; write them in one")
    texts = sorted(facts.values.to_list())
    ambiguous = any(len(possible_months(text, dates.formats)) > 1 for text in texts)
    units = ("year", "decade") if ambiguous else ("month", "year", "decade")
    reason = f"dates in {len(dates.formats)} formats, by a file; write them in one and the calendar will do"
    if ambiguous:
        reason += ". Days and months can be mistaken in some, so that there is no level of months"
    lines = tuple((text, *(UNITS[unit](dates.read(text)) for unit in units), "*") for text in texts)
    return ProposedHierarchy("", reason, Caution.CHECK, separate_labels(lines, 1), least=1)


# Codes: characters starred out from the right, as of postal codes.

_LONGEST_CODE = 10
"""Longer codes would have more levels than a search can use."""

_LONGEST_MEMBER = 200
"""Characters of a value that is told in sets."""

_FEW_VALUES = 4
_SLIPS = 0.005
"""Rows, by their share, whose code may have another length by mistake."""


def propose_mask(facts: ColumnFacts, k: int, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """Propose a mask over codes of one length or nearly; groups of what has no common beginning.

    The length is declared where codes differ in it. Where they do not, one that is longer by mistake would change the
    labels of all.
    """
    values = facts.values
    if values.distinct <= _FEW_VALUES:
        return propose_groups(facts, k, nulls)
    lengths = numpy_numbers(pc.utf8_length(values.texts)).astype(np.int64)
    maskable = values.all_match(r"^[^*]+$")  # no star, which is the mask's own, and no empty code
    if lengths.max() > _LONGEST_CODE or not maskable:
        return propose_groups(facts, k, nulls)
    rows = np.bincount(lengths, weights=values.counts)
    usual = int(rows.argmax())
    if values.present - rows[usual] <= max(1, _SLIPS * values.present):
        return ProposedHierarchy({"mask": "right"}, f"codes of {usual} characters, masked from the right")
    length = int(lengths.max())
    keys = {"mask": "right", "length": length}
    return ProposedHierarchy(keys, f"codes of up to {length} characters, masked from the right")


# Categories: sets where no value is rare, and groups by frequency else.
#
# No label names a rare value: whoever reads a label learns of no value that only few rows have. Values of very few rows
# are put together at the least, since the manifest lists what labels of a file cover: nobody should find a value there
# that only rows hold which were left out.

_SHARE = 50
"""A group has at least one row in so many."""

_MOST_IN_SETS = 60
"""Sets of more values would be long to read."""


def propose_groups(facts: ColumnFacts, k: int, nulls: tuple[str, ...]) -> ProposedHierarchy:
    """Propose sets, or a file of groups; the value or nothing where there are two values, or few and a rare one."""
    values, few = facts.values, 2 * k
    if values.distinct <= _TWO:
        return SUPPRESS
    longest = int(pc.max(pc.utf8_length(values.texts)).as_py())
    if values.counts.min() >= few and values.distinct <= _MOST_IN_SETS and longest <= _LONGEST_MEMBER:
        return ProposedHierarchy(
            "sets", "sets of values, each of which has rows enough; a set tells what its class holds"
        )
    if values.distinct <= _FEW_VALUES:
        return SUPPRESS
    if values.distinct > MOST_LINES:
        return _suppress_because(
            f"{values.distinct:,} values are too many to group; a file of your own would tell more"
        )
    if not _may_be_listed(facts, nulls):
        return _suppress_because(
            "some values are empty, read as missing elsewhere or hold a star, which a file of groups cannot have"
        )
    counts = dict(zip(values.to_list(), values.counts.tolist(), strict=True))
    lines = group_lines(counts, few, max(few, -(-values.rows // _SHARE)))
    if not lines:
        return SUPPRESS
    reason = "groups of enough rows, by how frequent values are: edit the file so that they mean something"
    if rarest := find_rare_values(counts, few):
        reason += f"; {len(rarest):,} values of very few rows are never told apart"
    return ProposedHierarchy("", reason, lines=lines, least=1 if rarest else 0)
