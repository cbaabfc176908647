"""From the name of a column to what it is probably about."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from sfumato.profile.vocabulary import CONCEPTS, NUMBER_WORDS, PERSON_WORDS, Concept, Words

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_LONG = 6
"""Words of so many letters are found inside of longer ones."""


@dataclass(frozen=True)
class Meaning:
    """What a name says: a concept; `person` that it names persons, `number` that it is some number or key."""

    concept: Concept | None = None
    person: bool = False
    number: bool = False


def meaning(name: str) -> Meaning:
    """What the name of a column says, in any of the languages of the vocabulary.

    >>> [meaning(name).concept.key for name in ("Geburtsdatum", "codePostal", "SALARIO_ANUAL", "e-mail", "Età")]
    ['birth', 'postal', 'money', 'email', 'age']
    >>> meaning("patient_id").person, meaning("fnlwgt").concept
    (True, None)
    """
    tokens = words_of(name)
    if _names_persons(tokens):
        return Meaning(person=True, number=not set(tokens) <= _flat(_PEOPLE))
    concept = _concept(tokens)
    return Meaning(concept, number=concept is None and bool(tokens) and tokens[-1] in _flat(_NUMBERS))


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case and without accents.

    >>> words_of("Straße/Hausnr."), words_of("dateOfBirth"), words_of("zip3")
    (('strasse', 'hausnr'), ('date', 'of', 'birth'), ('zip', '3'))
    """
    parted = _HUMP.sub(" ", name)
    bare = unicodedata.normalize("NFKD", parted.casefold())
    kept = "".join(" " if not one.isalnum() else one for one in bare if not unicodedata.combining(one))
    return tuple(kept.split())


def _names_persons(tokens: tuple[str, ...]) -> bool:
    """Whether the name is a word for people, alone or beside words for a number."""
    people, numbers = _flat(_PEOPLE), _flat(_NUMBERS)
    if any(token in people for token in tokens) and all(token in people or token in numbers for token in tokens):
        return True
    joined = "".join(tokens)  # patientid, kundennummer
    return any(joined == who + how for who in people for how in numbers)


def _concept(tokens: tuple[str, ...]) -> Concept | None:
    """The first that the name says, unless its words are part of another's: estado civil is no estado."""
    said = [(concept, phrase) for concept in CONCEPTS if (phrase := _said(tokens, concept))]
    return next((concept for concept, phrase in said if not any(_within(phrase, other) for _, other in said)), None)


def _within(phrase: str, other: str) -> bool:
    return phrase != other and f" {phrase} " in f" {other} "


def _said(tokens: tuple[str, ...], concept: Concept) -> str:
    """The longest phrase of a concept in a name; nothing where there is none."""
    text, joined = f" {' '.join(tokens)} ", "".join(tokens)
    found = (
        phrase
        for phrase in _phrases(concept.key)
        if f" {phrase} " in text or (len(short := phrase.replace(" ", "")) >= _LONG and short in joined)
    )
    return max(found, key=len, default="")


@cache
def _phrases(key: str) -> tuple[str, ...]:
    concept = next(concept for concept in CONCEPTS if concept.key == key)
    return tuple(sorted(_parts(concept.words)))


_PEOPLE, _NUMBERS = "people", "numbers"


@cache
def _flat(which: str) -> frozenset[str]:
    return frozenset(_parts(PERSON_WORDS if which == _PEOPLE else NUMBER_WORDS))


def _parts(words: Words) -> set[str]:
    return {phrase.strip() for line in words.values() for phrase in line.split(",")}
