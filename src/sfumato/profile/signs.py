"""Signs in the values of a column: whether they are few, all different, or repeat as persons do."""

from sfumato.profile.facts import Facts
from sfumato.profile.names import words_of

_FEW = 12
"""So few words in many rows are rather kinds of something than names of it."""

_FLAGS = 3
"""So few are answers: yes, no and unknown."""

_MANY_ROWS = 20
"""In fewer rows values may all differ by chance."""

_REPEATED = 1.05
"""Rows for each value from which on a column of persons is one with several rows per person."""

_KEYS = {"id", "number", "no", "nr", "num", "key", "nummer", "numero", "uid", "pk", "identifier", "identifiant"}
"""Names of columns that say nothing but that they number something."""


def is_secret(facts: Facts) -> bool:
    """Whether the name or the values say that it is sensitive."""
    concept, form = facts.meaning.concept, facts.format
    return (concept is not None and concept.role == "sensitive") or (form is not None and form.role == "sensitive")


def is_few(facts: Facts, most: int = _FEW) -> bool:
    """Whether the values are a few words in many rows; numbers and addresses name somebody, however few they are."""
    values = facts.values
    if values.distinct > most or values.distinct**2 >= values.present:
        return False
    return values.distinct <= 2 or not values.any_match("[0-9@]")


def is_flag(facts: Facts) -> bool:
    """Whether the values are answers, as to whether somebody is a student."""
    return is_few(facts, _FLAGS)


def names_rows(facts: Facts) -> bool:
    """Whether nearly every row has a value of its own, and not by chance."""
    values = facts.values
    return values.present >= _MANY_ROWS and values.distinct >= 0.9 * values.present


def is_key(facts: Facts) -> bool:
    """Whether values are many, as persons are, and not few, as departments are."""
    return facts.values.distinct**2 >= facts.values.present and set(words_of(facts.name)) <= _KEYS


def is_sequence(facts: Facts) -> bool:
    """Whole numbers that all differ and leave hardly a gap."""
    numbers = facts.shape.numbers
    if numbers is None or not numbers.whole or facts.values.present < _MANY_ROWS:
        return False
    return facts.values.distinct == facts.values.present and numbers.high - numbers.low < 1.5 * facts.values.distinct


def repeats(facts: Facts, *, sure: bool = False) -> bool:
    """Whether values stand in several rows each and are many, as persons are; or few, where they are `sure` to be."""
    values = facts.values
    return values.present >= _REPEATED * values.distinct and (sure or values.distinct**2 >= values.present)
