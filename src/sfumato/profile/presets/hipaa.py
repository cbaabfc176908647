"""HIPAA Safe Harbor: eighteen kinds of identifiers are removed (45 CFR 164.514(b)(2))."""

import re
from dataclasses import replace
from datetime import UTC, datetime

from sfumato.policy import Role
from sfumato.profile.facts import Facts
from sfumato.profile.kinds import Kind
from sfumato.profile.presets.base import Preset
from sfumato.profile.roles import Guess

_OLDEST = 89
_ZIP = 3
_CENSUS_2000 = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
_CENSUS_2010 = "036 059 102 203 205 369 556 692 821 823 878 879 884 893"
RESTRICTED = frozenset(f"{_CENSUS_2000} {_CENSUS_2010}".split())
"""First three digits of ZIP codes where 20,000 people or fewer live: of both censuses, to be on the safe side."""


def _decide(facts: Facts, guess: Guess) -> Guess:
    """Columns that the rule has removed, and that no hierarchy can be kept from publishing as they are."""
    if guess.role not in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}:
        return guess
    why = _fault(facts)
    return guess if why is None else replace(guess, role=Role.IDENTIFIER, reason=why, check=True)


def _fault(facts: Facts) -> str | None:
    """Why the column cannot stay, and how it could."""
    if facts.concept in {"town", "latitude", "longitude"}:
        return "(B) a place smaller than a state; left out"
    if facts.concept == "postal":
        return _fault_of_zip(facts)
    if facts.kind is Kind.DATE:
        return "(C) dates may be told to the year only; left out. Make a column of the year, and it can stay"
    if facts.concept == "age" and _tells_older(facts):
        return f"(C) tells ages above {_OLDEST} apart; left out. Write all of them as 90, and it can stay"
    return _fault_of_number(facts)


def _tells_older(facts: Facts) -> bool:
    """Whether an age above 90, as a number or within a text such as 85-94, is told; 90 stands for all of them."""
    if facts.shape.numbers is not None:
        return facts.shape.numbers.high > _OLDEST + 1
    texts = facts.values.listed() if facts.values.distinct <= 1000 else ["999"]
    return any(int(part) > _OLDEST + 1 for text in texts for part in re.findall(r"\d+", text))


def _fault_of_zip(facts: Facts) -> str | None:
    codes = facts.values.listed() if facts.values.distinct <= 1000 else [""]
    if all(len(code) == _ZIP for code in codes) and not RESTRICTED & set(codes):
        return None
    return (
        "(B) only the first three digits may be told, and 000 for those where 20,000 people or fewer live; left out. "
        "Make a column of these, and it can stay"
    )


def _fault_of_number(facts: Facts) -> str | None:
    numbers = facts.shape.numbers
    if numbers is None or facts.concept not in {"birth", "time"}:
        return None
    if numbers.low < 1000:
        return "(C) a day or month of a date; left out. Only the year may be told"
    if facts.concept == "birth" and numbers.low < datetime.now(UTC).year - _OLDEST:
        return f"(C) years of birth that tell an age above {_OLDEST}; left out. Put the earlier ones together"
    return None


PRESET = Preset(
    name="hipaa-safe-harbor",
    title="HIPAA Safe Harbor",
    source="45 CFR 164.514(b)(2); guidance of the Office for Civil Rights, HHS, of November 26, 2012",
    says=(
        (
            "Removed are the eighteen kinds of identifiers (A) to (R): names, places smaller than a state, "
            "dates but for the year, ages above 89, and all numbers of persons, records, accounts, devices, "
            "vehicles and addresses."
        ),
        (
            "A column whose values are finer than the rule allows is left out: a hierarchy allows its values to "
            "be published as they are wherever enough rows share one, and the rule never does."
        ),
        "Safe Harbor names no class size. k below is more than it asks for, and is your decision.",
    ),
    unsaid=(
        (
            "A policy cannot shorten a date to its year, a ZIP code to three digits or an age to 90 and above: "
            "do it in the table, and run init again. ZIP codes that begin with these digits have to become 000 "
            f"(2000 and 2010 census; check the current one): {', '.join(sorted(RESTRICTED))}."
        ),
        (
            "The rule also asks that you have no actual knowledge that the rest could identify somebody, "
            "164.514(b)(2)(ii), and it covers relatives, employers and household members."
        ),
        ("Pseudonyms of an individual column are random and derive from nothing, as 164.514(c) asks of a code."),
    ),
    decide=_decide,
)
