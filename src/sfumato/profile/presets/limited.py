"""Hierarchies for columns that HIPAA Safe Harbor has told less exactly, each with the level that it starts at.

Years of dates, three digits of ZIP codes, ages up to 89: from the level `least` on a hierarchy tells no more than the
rule allows, and the policy keeps a release from telling anything below it, however many rows share a value.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow.compute as pc

from sfumato.hierarchy.units import UNITS
from sfumato.profile.facts import Facts
from sfumato.profile.kinds import Kind
from sfumato.profile.moments import Moments, read
from sfumato.profile.trees.calendar import calendar_tree
from sfumato.profile.trees.intervals import Known, declared
from sfumato.profile.trees.tree import MOST_LINES, Tree

_OLDEST = 89
_ZIP = re.compile(r"(\d{3})(\d{2}(-?\d{4})?)?", re.ASCII)
_CENSUS_2000 = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
_CENSUS_2010 = "036 059 102 203 205 369 556 692 821 823 878 879 884 893"
RESTRICTED = frozenset(f"{_CENSUS_2000} {_CENSUS_2010}".split())
"""First three digits of ZIP codes where 20,000 people or fewer live: of both censuses, to be on the safe side."""


def limited(facts: Facts) -> Tree | str | None:
    """A hierarchy that keeps the rule, or why the column cannot stay; nothing where it may be told as it is."""
    if facts.concept in {"town", "latitude", "longitude"}:
        return "(B) a place smaller than a state; left out"
    if facts.concept == "postal":
        return _digits(facts)
    if facts.kind is Kind.DATE:
        return _years(facts)
    if facts.concept == "age":
        return _ages(facts)
    return _numbers_of_years(facts) if facts.concept in {"birth", "time"} else None


def _digits(facts: Facts) -> Tree | str | None:
    """Three digits of ZIP codes, 000 where few people live."""
    codes = sorted(facts.values.listed()) if facts.values.distinct <= MOST_LINES else [""]
    found = [_ZIP.fullmatch(code) for code in codes]
    if not all(found):
        return (
            "(B) only the first three digits may be told, and 000 for those where 20,000 people or fewer live; left "
            "out, because not all values are ZIP codes of three, five or nine digits, or they are too many to list"
        )
    told = {code: code[:3] if code[:3] not in RESTRICTED else "000" for code in codes}
    if all(code == digits for code, digits in told.items()):
        return None
    why = "(B) three digits, and 000 for those where 20,000 people or fewer live"
    lines = tuple((code, digits, digits if digits == "000" else f"{digits[0]}**", "*") for code, digits in told.items())
    return Tree("", why, check=True, lines=lines, least=1)


def _years(facts: Facts) -> Tree | str:
    """The years of dates; those that tell an age above 89 together, whatever the column is called."""
    moments = facts.shape.moments
    assert moments is not None  # noqa: S101 - only columns of dates come here
    if moments.short:
        return f"(C) years of two digits, which may tell an age above {_OLDEST}; left out. Write them with four"
    first = _first_year()
    if _earliest(facts) < first:
        return _together(facts, moments, first)
    tree = calendar_tree(facts, ())
    if not tree.lines and not isinstance(tree.written, dict):
        return "(C) dates may be told to the year only; left out. Write them in one format, and they can stay"
    return replace(tree, why=f"(C) no more exactly than the year: {tree.why}", least=_year_level(tree))


def _earliest(facts: Facts) -> int:
    """The first year of dates, which is the first number of four digits in each."""
    found = pc.extract_regex(facts.values.texts, r"(?P<year>[0-9]{4})")
    return min(int(year or 0) for year in pc.struct_field(found, [0]).unique().to_pylist())


def _year_level(tree: Tree) -> int:
    """The level of years: in the list of units, or the one before decades in a file."""
    return len(tree.lines[0]) - 3 if tree.lines else tree.written["dates"].index("year") + 1


def _together(facts: Facts, moments: Moments, first: int) -> Tree | str:
    """Years and decades from `first` on, and everything before under one label."""
    if facts.values.distinct > MOST_LINES:
        return f"(C) some dates are before {first}, and too many to list; left out. Make a column of years"
    older = f"<{first}"
    born = {text: _year(text, moments) for text in sorted(facts.values.listed())}
    lines = tuple(
        (text, older, older, "*") if year < first else (text, str(year), _decade(year), "*")
        for text, year in born.items()
    )
    why = f"(C) years, those before {first} together: of birth they would tell ages above {_OLDEST}"
    return Tree("", why, check=True, lines=lines, least=1)


def _decade(year: int) -> str:
    return UNITS["decade"](datetime(year, 1, 1, tzinfo=UTC))


def _year(text: str, moments: Moments) -> int:
    return next(found.year for form in moments.formats if (found := read(text, form)))


def _ages(facts: Facts) -> Tree | str | None:
    """Ages up to 89, and 90 and above together."""
    numbers = facts.shape.numbers
    if numbers is None:
        return _ages_as_text(facts)
    if numbers.high <= _OLDEST:
        return None
    if numbers.style != "point":
        return f"(C) tells ages above {_OLDEST} apart; left out. Write numbers with a point, and it can stay"
    keys = declared(Known((0, 120), (1, 5, 10, 20, 40), "ages", top=_OLDEST + 1), numbers)
    return Tree(keys, f"(C) ages up to {_OLDEST}, and all above together", least=1)


def _ages_as_text(facts: Facts) -> str | None:
    """Whether an age above 90 is told within a text such as 85-94; 90 stands for all of them."""
    texts = facts.values.listed() if facts.values.distinct <= MOST_LINES else ["999"]
    if all(int(part) <= _OLDEST + 1 for text in texts for part in re.findall(r"\d+", text)):
        return None
    return f"(C) tells ages above {_OLDEST} apart; left out. Write all of them as 90, and it can stay"


def _numbers_of_years(facts: Facts) -> Tree | str | None:
    """Years as numbers; those that tell an age above 89 together."""
    numbers = facts.shape.numbers
    if numbers is None:
        return None
    if numbers.low < 1000:
        return "(C) a day or month of a date; left out. Only the year may be told"
    first = _first_year()
    if numbers.low >= first:
        return None
    if not numbers.whole or numbers.style != "point":
        return f"(C) years that may tell an age above {_OLDEST}; left out. Write them as whole numbers"
    keys = declared(Known((1900, 2100), (1, 5, 10, 50), "years"), numbers) | {"bottom": first}
    return Tree(keys, f"(C) years, those before {first} together", least=1)


def _first_year() -> int:
    """The first year of birth that tells no age above 89."""
    return datetime.now(UTC).year - _OLDEST
