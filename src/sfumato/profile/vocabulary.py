"""What the name of a column says it is about, and its values, by a vocabulary of seven languages.

The words are data: ``vocabulary.toml`` beside this module, in English, German, French, Spanish, Italian, Portuguese and
Dutch. A concept is something that columns are about, such as a date of birth or an income, with the role that a column
of it is proposed to have. Answers are values that tell of health, justice or opinion whatever their column is called:
positive and negative, guilty and acquitted, agree and disagree.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sfumato.policy import Role

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_LONG = 6
"""Phrases of so many letters are found inside of longer words."""

_SHORT = 3
"""Words of so few letters have no plural: gas, bus."""


@dataclass(frozen=True)
class Concept:
    """Something that columns are about: the role they are proposed to have, how to say it, and its phrases, sorted.

    `person` ranks those that name a person well enough to tie rows together, 1 the best; 0 for all others. With `whole`
    a phrase has to be the whole name, numbers aside.
    """

    key: str
    role: Role
    description: str
    phrases: tuple[str, ...]
    person: int = 0
    whole: bool = False

    def find_phrase(self, words: tuple[str, ...]) -> str:
        """Find the longest phrase in the words of a name, or nothing; a plural says what its singular says.

        >>> CONCEPTS["health"].find_phrase(("used", "drugs", "last", "year"))
        'drug'
        >>> CONCEPTS["outcome"].find_phrase(("status", "2")), CONCEPTS["outcome"].find_phrase(("marital", "status"))
        ('status', '')
        """
        if self.whole:
            bare = " ".join(word for word in words if not word.isdigit())
            return bare if bare in self.phrases else ""
        singular = (word[:-1] if len(word) > _SHORT and word.endswith("s") else word for word in words)
        text, compact = f" {' '.join(words)} | {' '.join(singular)} ", "".join(words)
        found = (
            phrase
            for phrase in self.phrases
            if f" {phrase} " in text or (len(short := phrase.replace(" ", "")) >= _LONG and short in compact)
        )
        return max(found, key=len, default="")


@dataclass(frozen=True)
class NameMeaning:
    """What a name says: a concept; that it names persons; that it is some number or key."""

    concept: Concept | None = None
    names_persons: bool = False
    is_number: bool = False


@dataclass(frozen=True)
class AnswerWords:
    """Values that tell something nobody may learn: how to say it, the words, and the share of rows that must have one.

    With `inside` a word may stand inside of a longer value.
    """

    key: str
    description: str
    phrases: frozenset[str]
    share: float
    inside: bool = False


def interpret_name(name: str) -> NameMeaning:
    """Find out what the name of a column says, in any of the languages.

    >>> [interpret_name(name).concept.key for name in ("Geburtsdatum", "codePostal", "SALARIO_ANUAL", "e-mail", "Età")]
    ['birth', 'postal', 'money', 'email', 'age']
    >>> interpret_name("patient_id").names_persons, interpret_name("fnlwgt").concept
    (True, None)
    """
    words = split_name(name)
    people, numbers = _VOCABULARY.people, _VOCABULARY.numbers
    of_people = any(word in people for word in words) and all(word in people or word in numbers for word in words)
    compact = "".join(words)
    if of_people or any(compact == who + how for who in people for how in numbers):  # patient id, kundennummer
        return NameMeaning(names_persons=True, is_number=not people.issuperset(words))
    concept = _find_concept(words)
    return NameMeaning(concept, is_number=concept is None and bool(words) and words[-1] in numbers)


def split_name(name: str) -> tuple[str, ...]:
    """Split a name into its words, in lower case and without accents.

    >>> split_name("Straße/Hausnr."), split_name("dateOfBirth"), split_name("zip3")
    (('strasse', 'hausnr'), ('date', 'of', 'birth'), ('zip', '3'))
    """
    bare = unicodedata.normalize("NFKD", _HUMP.sub(" ", name).casefold())
    letters = (letter if letter.isalnum() else " " for letter in bare if not unicodedata.combining(letter))
    return tuple("".join(letters).split())


def _find_concept(words: tuple[str, ...]) -> Concept | None:
    """Find the first concept with a phrase in the name, unless the phrase is part of another's: estado civil."""
    found = ((concept, concept.find_phrase(words)) for concept in _VOCABULARY.concepts)
    matches = [(concept, phrase) for concept, phrase in found if phrase]
    for concept, phrase in matches:
        if not any(phrase != other and f" {phrase} " in f" {other} " for _, other in matches):
            return concept
    return None


_WORDS_OF_A_NAME = 4


def is_common_name(text: str) -> bool:
    """Tell whether a value is a frequent first or last name, or has one beside a few other words.

    >>> [is_common_name(text) for text in ("miguel hernandez", "SMITH", "Okafor, Anna M.", "grand theft", "Bern")]
    [True, True, True, False, False]
    """
    words = split_name(text[:_LONGEST_ANSWER].title() if text.isupper() else text[:_LONGEST_ANSWER])
    return len(words) <= _WORDS_OF_A_NAME and not _VOCABULARY.names.isdisjoint(words)


_ANSWERS_AT_LEAST, _LONGEST_ANSWER = 2, 60


def interpret_answers(rows: Mapping[str, int]) -> AnswerWords | None:
    """Find what the values of a column tell, given the rows of each; ``None`` where they are no such answers.

    >>> interpret_answers({"POSITIVE": 12, "negative": 80, "unknown": 3}).description
    'results of a test'
    >>> interpret_answers({"1. stimme zu": 5, "2. stimme nicht zu": 4}).key, interpret_answers({"red": 3, "blue": 2})
    ('opinion', None)
    """
    plain: dict[str, int] = {}
    for text, count in rows.items():
        words = split_name(text[:_LONGEST_ANSWER])
        while len(words) > 1 and words[0].isdigit():  # answers are often numbered
            words = words[1:]
        plain[" ".join(words)] = plain.get(" ".join(words), 0) + count
    told = {text: count for text, count in plain.items() if text not in _VOCABULARY.neutral}
    for answer in _VOCABULARY.answers:
        if answer.inside:
            found = [text for text in told if any(f" {phrase} " in f" {text} " for phrase in answer.phrases)]
        else:
            found = [text for text in told if text in answer.phrases]
        share = sum(told[text] for text in found) / max(sum(told.values()), 1)
        if len(found) >= _ANSWERS_AT_LEAST and share >= answer.share:
            return answer
    return None


# The vocabulary file, checked when it is loaded.

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_PHRASE = re.compile(r"(?:[a-z]+|[0-9]+)(?: (?:[a-z]+|[0-9]+))*")
_ROLES = {"identifier", "quasi", "sensitive"}


@dataclass(frozen=True)
class Vocabulary:
    """Words for people and numbers, the concepts in the order in which they are tried, answers, and people's names."""

    people: frozenset[str]
    numbers: frozenset[str]
    concepts: tuple[Concept, ...]
    neutral: frozenset[str] = frozenset()
    answers: tuple[AnswerWords, ...] = ()
    names: frozenset[str] = frozenset()


def load_vocabulary(text: str) -> Vocabulary:
    """Read and check a vocabulary.

    Raises a ValueError for a word that no name could match, a language that is missing, or a concept with another key
    or role than there are.
    """
    document = tomllib.loads(text)
    concepts = tuple(_read_concept(table) for table in document.pop("concept"))
    keys = [concept.key for concept in concepts]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise ValueError(f"vocabulary: the concept {twice[0]} is there twice")
    people, numbers = (_read_phrases(part, document.pop(part)) for part in ("people", "numbers"))
    neutral = _read_phrases("neutral", document.pop("neutral")) if "neutral" in document else ()
    answers = tuple(_read_answer(table) for table in document.pop("answer", ()))
    names = [_read_phrases(part, document.pop(part)) for part in ("first_names", "last_names") if part in document]
    if document:
        raise ValueError(f"vocabulary: {next(iter(document))} is no part of it")
    return Vocabulary(
        frozenset(people), frozenset(numbers), concepts, frozenset(neutral), answers, frozenset().union(*names)
    )


def _read_concept(table: dict[str, Any]) -> Concept:
    key, role, description = (table.pop(name, "") for name in ("key", "role", "description"))
    person, whole = table.pop("person", 0), table.pop("whole", False)
    if role not in _ROLES or not key or not description or not isinstance(person, int) or not isinstance(whole, bool):
        raise ValueError(f"vocabulary: the concept {key!r} needs a key, a role of {sorted(_ROLES)} and a description")
    return Concept(key, Role(role), description, _read_phrases(key, table), person, whole)


def _read_answer(table: dict[str, Any]) -> AnswerWords:
    key, description, share = (table.pop(name, "") for name in ("key", "description", "share"))
    inside = table.pop("inside", False)
    if not key or not description or not isinstance(share, float) or not isinstance(inside, bool):
        raise ValueError(f"vocabulary: the answers {key!r} need a key, a description and a share of rows")
    return AnswerWords(key, description, frozenset(_read_phrases(key, table)), share, inside)


def _read_phrases(where: str, by_language: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Read the words of all languages as one sorted list without repetitions."""
    if set(by_language) != set(LANGUAGES):
        raise ValueError(f"vocabulary: {where} needs words in each of {', '.join(LANGUAGES)}, and nothing else")
    phrases = sorted({phrase for words in by_language.values() for phrase in words})
    wrong = [phrase for phrase in phrases if not _PHRASE.fullmatch(phrase)]
    if wrong:
        raise ValueError(f"vocabulary: {where} has {wrong[0]!r}; write it in lower case and without accents")
    return tuple(phrases)


_VOCABULARY = load_vocabulary((files("sfumato.profile") / "vocabulary.toml").read_text(encoding="utf-8"))
CONCEPTS = {concept.key: concept for concept in _VOCABULARY.concepts}
