"""HIPAA Safe Harbor (45 CFR 164.514(b)(2)): hierarchies for the columns that the rule allows only in coarser form.

Years of dates, three digits of ZIP codes, ages up to 89: from the level `least` on, a hierarchy tells no more than the
rule allows, and the policy keeps a release from publishing anything below it, however many rows share a value. The
letters in the reasons are those of the rule's eighteen kinds of identifiers.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow.compute as pc

from sfumato.hierarchy.dates import UNITS
from sfumato.profile.caution import Caution
from sfumato.profile.column_facts import ColumnFacts
from sfumato.profile.proposed_hierarchies import (
    MOST_LINES,
    KnownDomain,
    ProposedHierarchy,
    known_intervals,
    propose_calendar,
)
from sfumato.profile.written_dates import WrittenDates

_OLDEST = 89
_ZIP = re.compile(r"(\d{3})(\d{2}(-?\d{4})?)?", re.ASCII)
_CENSUS_2000 = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
_CENSUS_2010 = "036 059 102 203 205 369 556 692 821 823 878 879 884 893"
RESTRICTED_ZIP_CODES = frozenset(f"{_CENSUS_2000} {_CENSUS_2010}".split())
"""First three digits of ZIP codes where 20,000 people or fewer live: of both censuses, to be on the safe side."""


def limit_column(facts: ColumnFacts) -> ProposedHierarchy | str | None:
    """Propose a hierarchy that keeps the rule, or say why the column cannot stay; ``None`` where the rule is silent."""
    if facts.said_concept in {"town", "latitude", "longitude"}:
        return "(B) a place smaller than a state; left out"
    if facts.said_concept == "postal":
        return _limit_zip_codes(facts)
    if facts.type.dates is not None:
        return _limit_dates(facts, facts.type.dates)
    if facts.said_concept == "age":
        return _limit_ages(facts)
    return _limit_years(facts) if facts.said_concept in {"birth", "time"} else None


def _limit_zip_codes(facts: ColumnFacts) -> ProposedHierarchy | str | None:
    """Propose three digits of ZIP codes, 000 where few people live."""
    codes = sorted(facts.values.to_list()) if facts.values.distinct <= MOST_LINES else [""]
    if not all(_ZIP.fullmatch(code) for code in codes):
        return (
            "(B) only the first three digits may be told, and 000 for those where 20,000 people or fewer live; left "
            "out, because not all values are ZIP codes of three, five or nine digits, or they are too many to list"
        )
    digits_of = {code: code[:3] if code[:3] not in RESTRICTED_ZIP_CODES else "000" for code in codes}
    if all(code == digits for code, digits in digits_of.items()):
        return None
    reason = "(B) three digits, and 000 for those where 20,000 people or fewer live"
    lines = tuple(
        (code, digits, digits if digits == "000" else f"{digits[0]}**", "*") for code, digits in digits_of.items()
    )
    return ProposedHierarchy("", reason, Caution.CHECK, lines, least=1)


def _limit_dates(facts: ColumnFacts, dates: WrittenDates) -> ProposedHierarchy | str:
    """Propose the years of dates; those that tell an age above 89 together, whatever the column is called."""
    if dates.short_years:
        return f"(C) years of two digits, which may tell an age above {_OLDEST}; left out. Write them with four"
    first = _first_year()
    # The year of a date is the first number of four digits in it.
    years = pc.struct_field(pc.extract_regex(facts.values.texts, r"(?P<year>[0-9]{4})"), [0]).unique()
    if min(int(year or 0) for year in years.to_pylist()) < first:
        return _list_years(facts, dates, first)
    hierarchy = propose_calendar(facts, ())
    if hierarchy.lines:
        year_level = len(hierarchy.lines[0]) - 3  # before decades and the root
    elif isinstance(hierarchy.declaration, dict):
        year_level = hierarchy.declaration["dates"].index("year") + 1
    else:
        return "(C) dates may be told to the year only; left out. Write them in one format, and they can stay"
    return replace(hierarchy, reason=f"(C) no more exactly than the year: {hierarchy.reason}", least=year_level)


def _list_years(facts: ColumnFacts, dates: WrittenDates, first: int) -> ProposedHierarchy | str:
    """List years and decades from `first` on, and everything before under one label."""
    if facts.values.distinct > MOST_LINES:
        return f"(C) some dates are before {first}, and too many to list; left out. Make a column of years"
    lines = []
    for text in sorted(facts.values.to_list()):
        year = dates.read(text).year
        decade = UNITS["decade"](datetime(year, 1, 1, tzinfo=UTC))
        labels = (f"<{first}", f"<{first}") if year < first else (str(year), decade)
        lines.append((text, *labels, "*"))
    reason = f"(C) years, those before {first} together: of birth they would tell ages above {_OLDEST}"
    return ProposedHierarchy("", reason, Caution.CHECK, tuple(lines), least=1)


def _limit_ages(facts: ColumnFacts) -> ProposedHierarchy | str | None:
    """Propose ages up to 89, and 90 and above together; a text such as 85-94 must not tell an age above 90."""
    numbers, values = facts.type.numbers, facts.values
    if numbers is None:
        texts = values.to_list() if values.distinct <= MOST_LINES else ["999"]
        if all(int(age) <= _OLDEST + 1 for text in texts for age in re.findall(r"\d+", text)):
            return None
        return f"(C) tells ages above {_OLDEST} apart; left out. Write all of them as 90, and it can stay"
    if numbers.high <= _OLDEST:
        return None
    if numbers.style != "point":
        return f"(C) tells ages above {_OLDEST} apart; left out. Write numbers with a point, and it can stay"
    keys = known_intervals(KnownDomain((0, 120), (1, 5, 10, 20, 40), "ages", top=_OLDEST + 1), numbers)
    return ProposedHierarchy(keys, f"(C) ages up to {_OLDEST}, and all above together", least=1)


def _limit_years(facts: ColumnFacts) -> ProposedHierarchy | str | None:
    """Propose years that are written as numbers; those that tell an age above 89 together."""
    numbers = facts.type.numbers
    if numbers is None:
        return None
    if numbers.low < 1000:
        return "(C) a day or month of a date; left out. Only the year may be told"
    first = _first_year()
    if numbers.low >= first:
        return None
    if not numbers.whole or numbers.style != "point":
        return f"(C) years that may tell an age above {_OLDEST}; left out. Write them as whole numbers"
    keys = known_intervals(KnownDomain((1900, 2100), (1, 5, 10, 50), "years"), numbers) | {"bottom": first}
    return ProposedHierarchy(keys, f"(C) years, those before {first} together", least=1)


def _first_year() -> int:
    """Find the first year of birth that tells no age above 89."""
    return datetime.now(UTC).year - _OLDEST
