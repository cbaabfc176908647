"""What names of columns say, and what a vocabulary has to be like."""

import tomllib
from importlib.resources import files

import pytest

from sfumato.profile.vocabulary import LANGUAGES, interpret_name, load_vocabulary

CALLED = {
    "email": "e-mail emailAddress Courriel correo_electronico E-Mail-Adresse mailadres",
    "phone": "phone Telefonnummer téléphone teléfono cellulare telemóvel telefoonnummer",
    "national-id": "SSN Sozialversicherungsnummer codice_fiscale DNI bsn CPF numéro_de_sécurité_sociale",
    "address": "street_address Straße adresse dirección indirizzo endereço straatnaam",
    "birth": "date_of_birth Geburtsdatum date_de_naissance fecha_de_nacimiento dataDiNascita nascimento geboortedatum",
    "age": "Age Alter âge edad età idade leeftijd",
    "postal": "ZIP Postleitzahl code_postal código_postal CAP CEP postcode",
    "country": "native-country Staatsangehörigkeit pays país nazionalità nacionalidade nationaliteit",
    "sex": "gender Geschlecht sexe sexo sesso geslacht",
    "work": "occupation Beruf métier profesión professione profissão beroep",
    "health": "diagnosis Krankheit maladie enfermedad malattia doença ziekte",
    "money": "salary Gehalt salaire sueldo stipendio rendimento inkomen",
    "belief": "religion Konfession croyance partido_político religione religião geloof",
    "name": "last_name Vorname prénom apellidos cognome sobrenome achternaam",
}


@pytest.mark.parametrize(("concept", "name"), [(key, name) for key, names in CALLED.items() for name in names.split()])
def test_names_in_seven_languages(concept: str, name: str) -> None:
    """A column's name says what it is about in English, German, French, Spanish, Italian, Portuguese and Dutch."""
    found = interpret_name(name).concept
    assert found is not None
    assert found.key == concept


@pytest.mark.parametrize(
    ("name", "concept"), [("Estado civil", "family"), ("lieu de naissance", "country"), ("fecha de ingreso", "time")]
)
def test_the_longer_phrase_says_what_is_meant(name: str, concept: str) -> None:
    """A word that is part of a phrase says nothing by itself."""
    found = interpret_name(name).concept
    assert found is not None
    assert found.key == concept


@pytest.mark.parametrize("name", ["statement", "landlord", "storage", "package", "sextant", "agenda", "vialidad"])
def test_words_inside_of_words_say_nothing(name: str) -> None:
    """Short words are not found inside of longer ones."""
    assert interpret_name(name).concept is None


def test_every_illness_that_is_known_as_a_value_is_known_as_a_name() -> None:
    """A column called malaria with yes and no tells as much as one called illness with malaria in it."""
    document = tomllib.loads((files("sfumato.profile") / "vocabulary.toml").read_text(encoding="utf-8"))
    (illnesses,) = [answer for answer in document["answer"] if answer["key"] == "illness"]
    words = [word for language in LANGUAGES for word in illnesses[language]]
    assert [word for word in words if (found := interpret_name(word).concept) is None or found.key != "health"] == []


@pytest.mark.parametrize("name", ["patient", "PatientID", "customer no", "Kundennummer", "id_paciente", "client_id"])
def test_words_for_people(name: str) -> None:
    """A word for people, alone or with one for a number, names persons."""
    assert interpret_name(name).names_persons


def vocabulary(
    word: str = "mail", role: str = "quasi", languages: tuple[str, ...] = LANGUAGES, *, twice: bool = False
) -> str:
    """A vocabulary of one concept, or of one that is there twice."""
    lists = "".join(f'{language} = ["{word}"]\n' for language in languages)
    concept = f'[[concept]]\nkey = "post"\nrole = "{role}"\ndescription = "a letter"\n{lists}'
    return f"[people]\n{lists}[numbers]\n{lists}{concept}{concept if twice else ''}"


def test_a_vocabulary_is_read() -> None:
    """A word that several languages share is one phrase."""
    (concept,) = load_vocabulary(vocabulary()).concepts
    assert concept.phrases == ("mail",)
    assert concept.person == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (vocabulary(word="Mail"), "'Mail'; write it in lower case and without accents"),
        (vocabulary(word="zip3"), "'zip3'"),
        (vocabulary(word="größe"), "'größe'"),
        (vocabulary(role="plain"), "the concept 'post' needs a key, a role"),
        (vocabulary(languages=LANGUAGES[1:]), "needs words in each of en, de"),
        (vocabulary(languages=(*LANGUAGES, "sv")), "and nothing else"),
        (vocabulary(twice=True), "the concept post is there twice"),
        ("[others]\n" + vocabulary(), "others is no part of it"),
    ],
)
def test_a_vocabulary_that_could_match_nothing_is_refused(text: str, says: str) -> None:
    """Words that no name could match and concepts that nobody could use are found when the file is loaded."""
    with pytest.raises(ValueError, match=says):
        load_vocabulary(text)
