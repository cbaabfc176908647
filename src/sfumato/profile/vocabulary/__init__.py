"""What columns are called, in several languages: data, and nothing but data.

Words are written without accents and in lower case; `names.py` brings column names into the same form. A word of six
letters or more is found inside a longer one as well (geburtsdatum in patientengeburtsdatum); shorter ones only alone.
"""

from sfumato.profile.vocabulary.born import AGE, BIRTH
from sfumato.profile.vocabulary.concept import Concept, Words
from sfumato.profile.vocabulary.identifiers import IDENTIFIERS
from sfumato.profile.vocabulary.known import QUASI
from sfumato.profile.vocabulary.persons import NAME, NUMBER_WORDS, PERSON_WORDS
from sfumato.profile.vocabulary.places import PLACES
from sfumato.profile.vocabulary.sensitive import SENSITIVE

__all__ = ["CONCEPTS", "NUMBER_WORDS", "PERSON_WORDS", "Concept", "Words"]

CONCEPTS = (*IDENTIFIERS, BIRTH, AGE, *PLACES, *SENSITIVE, *QUASI, NAME)
"""In the order in which they are tried: what is more particular comes first, and a mere name last."""
