"""Words for age and birth."""

from sfumato.profile.vocabulary.concept import Concept

BIRTH = Concept(
    "birth",
    "quasi",
    "a date or year of birth",
    {
        "en": "dob, birth date, date of birth, birthday, birthdate, born, year of birth, birth year, yob",
        "de": "geburtsdatum, geburtstag, geburtsjahr, geboren, gebdat, geb datum, geb",
        "fr": "date de naissance, naissance, ne le, annee de naissance, ddn",
        "es": "fecha de nacimiento, nacimiento, ano de nacimiento, fecha nac",
        "it": "data di nascita, nascita, anno di nascita, nato",
        "pt": "data de nascimento, nascimento, ano de nascimento",
        "nl": "geboortedatum, geboortejaar, geboren",
    },
)

AGE = Concept(
    "age",
    "quasi",
    "an age",
    {
        "en": "age, ages, age years",
        "de": "alter, lebensalter, altersjahre",
        "fr": "age, ans",
        "es": "edad",
        "it": "eta",
        "pt": "idade",
        "nl": "leeftijd",
    },
)
