"""What each column probably is to the people in the table, and why.

In doubt a column is a quasi-identifier: it is generalized, and nothing is lost but precision. No column is proposed as
plain, since only its holder can know that nobody else knows it.
"""

import re
from dataclasses import dataclass, replace

from sfumato.page.words import percent
from sfumato.policy import Role
from sfumato.profile.facts import Facts
from sfumato.profile.kinds import Kind
from sfumato.profile.signs import is_few, is_flag, is_key, is_secret, is_sequence, names_rows, repeats
from sfumato.profile.vocabulary import Concept


@dataclass(frozen=True)
class Guess:
    """A role, the reason for it, whether somebody should look at it, and how well the column names persons.

    `person` is 0 for columns that do not, and else smaller the better they do.
    """

    role: Role
    reason: str
    check: bool = False
    person: int = 0

    @property
    def brief(self) -> str:
        """The beginning of the reason, for a table.

        >>> Guess(Role.QUASI, "nothing says what it is; others may know it").brief
        'nothing says what it is'
        """
        return re.split("[;:.,] ", self.reason, maxsplit=1)[0]


def guesses(columns: tuple[Facts, ...]) -> dict[str, Guess]:
    """A role for every column; of those that name persons in several rows, the best is the individual column."""
    found = {facts.name: guess(facts) for facts in columns}
    repeated = [facts for facts in columns if _repeated(facts, found[facts.name])]
    if not repeated:
        return found
    best = min(repeated, key=lambda facts: (found[facts.name].person, facts.values.missing))
    rows = best.values.present / best.values.distinct
    reason = f"{found[best.name].reason}, and has {rows:.1f} rows for each: the rows of one person"
    found[best.name] = Guess(Role.INDIVIDUAL, reason, check=True, person=found[best.name].person)
    for facts in repeated:
        if facts is not best:
            again = f"{found[facts.name].reason}; names the persons of '{_short(best.name)}' once more"
            found[facts.name] = replace(found[facts.name], role=Role.IDENTIFIER, reason=again)
    return found


def _repeated(facts: Facts, guess: Guess) -> bool:
    """Whether a column names persons in several rows each; of a few persons only where nothing else can be meant."""
    sure = guess.person <= _SURE or facts.format is not None
    return bool(guess.person) and repeats(facts, sure=sure)


def guess(facts: Facts) -> Guess:
    """The role of one column by itself."""
    if not facts.readable:
        return Guess(Role.IDENTIFIER, "its type cannot be published; left out", check=True)
    if facts.kind is Kind.EMPTY:
        return Guess(Role.IDENTIFIER, "it has no value; left out")
    named = _by_name(facts)
    formed = _by_format(facts)
    for known in (named, formed):
        if known is not None and known.role is Role.IDENTIFIER:
            return known
    if facts.kind is Kind.TEXT:
        return Guess(Role.IDENTIFIER, "free text can say anything, names included; left out", check=True)
    return _alone(facts) or named or formed or _unknown(facts)


def _by_name(facts: Facts) -> Guess | None:
    """What the name says, where the values do not contradict."""
    said = facts.meaning
    if said.person and (said.number or not is_flag(facts)):
        return Guess(Role.IDENTIFIER, "the name says that it names persons", person=1)
    if said.concept is None:
        return _by_number(facts) if said.number else None
    return _by_concept(facts, said.concept)


def _by_number(facts: Facts) -> Guess | None:
    """A number or key: of rows where all differ, of persons where they repeat and are many."""
    key = is_key(facts)
    if names_rows(facts) or (key and facts.values.distinct == facts.values.present > 1):
        return Guess(Role.IDENTIFIER, "the name says a number or key, and nearly every row has its own", check=True)
    if key and repeats(facts):
        return Guess(Role.IDENTIFIER, "the name says a number or key", check=True, person=9)
    return None


def _by_concept(facts: Facts, concept: Concept) -> Guess:
    """The role of what the name is about, unless the values say otherwise."""
    role, reason = Role(concept.role), f"the name says {concept.said}"
    if role is Role.IDENTIFIER and concept.key not in _NAMES and is_few(facts):
        few = f"{reason}, but {facts.values.distinct} values in so many rows name nobody"
        return Guess(Role.QUASI, few, check=True)
    if role is Role.SENSITIVE and facts.kind is Kind.DATE:
        return Guess(Role.QUASI, f"{reason}, but it holds dates, which others may know", check=True)
    if role is Role.SENSITIVE and names_rows(facts):
        reason += "; nearly every row has its own value, so that whoever knows one finds the row"
    if concept.key == "name" and repeats(facts):
        return Guess(
            role, f'{reason}, and repeats: where it is one person\'s, role = "individual" counts persons', check=True
        )
    return Guess(role, reason, check=role is Role.SENSITIVE, person=concept.person)


def _by_format(facts: Facts) -> Guess | None:
    form = facts.format
    if form is None:
        return None
    return Guess(Role(form.role), f"the values look like {form.said}", check=True, person=form.person)


def _alone(facts: Facts) -> Guess | None:
    """A column in which nearly every row has a value of its own, or all the same."""
    if is_secret(facts):
        return _secret_of_all(facts)
    words = facts.kind in {Kind.CATEGORY, Kind.CODE} and facts.concept not in _EXPECTED
    if words and names_rows(facts):
        return Guess(Role.IDENTIFIER, "nearly every row has a value of its own", check=True)
    if facts.meaning.concept is None and is_sequence(facts):
        return Guess(Role.IDENTIFIER, "whole numbers, a different one in every row, as a count of rows", check=True)
    if facts.values.distinct == 1 and not facts.values.missing:
        return Guess(Role.QUASI, "the same in every row, so that it costs nothing")
    return None


def _secret_of_all(facts: Facts) -> Guess | None:
    if facts.values.distinct > 1 or facts.values.missing:
        return None
    why = "sensitive and the same in every row: who is in the table has it, and no requirement can hide that; left out"
    return Guess(Role.IDENTIFIER, why, check=True)


def _unknown(facts: Facts) -> Guess:
    apart = percent(facts.values.separation)
    return Guess(
        Role.QUASI,
        f"nothing says what it is; others may know it, and it tells {apart} of all pairs of rows apart",
        check=True,
    )


_SURE = 2
"""Ranks of columns that can be nothing but numbers of persons."""

_NAMES = {"name", "online", "national-id", "household"}
"""What names somebody even where it is a word, and there are few of them."""

_EXPECTED = {"postal", "birth", "time", "town"}
"""What may have a value of its own in every row and is still to be told less exactly."""


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
