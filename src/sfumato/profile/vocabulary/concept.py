"""Concept: something that columns are about, with its words in several languages."""

from dataclasses import dataclass

Words = dict[str, str]


@dataclass(frozen=True)
class Concept:
    """Something that columns are about: a role, how to say it, and its words by language, separated by commas.

    `person` ranks those that name a person well enough to tie rows together, 1 the best; 0 for all others.
    """

    key: str
    role: str
    said: str
    words: Words
    person: int = 0
