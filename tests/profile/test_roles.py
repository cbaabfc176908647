"""Which role a column gets, and why."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.profile.caution import Caution
from sfumato.profile.roles import RoleGuess, guess_roles
from sfumato.profile.table_profile import profile_table

Writes = Callable[[str | bytes], Path]


def roles(path: Path) -> dict[str, str]:
    """The role of each column of a file."""
    return {name: str(guess.role) for name, guess in guess_roles(profile_table(path).columns).items()}


def guesses(path: Path) -> dict[str, RoleGuess]:
    """What is guessed of each column of a file, and why."""
    return guess_roles(profile_table(path).columns)


def table(writes: Writes, rows: int, **columns: Callable[[int], object]) -> Path:
    """A file of so many rows, each cell made from the number of its row."""
    lines = [",".join(columns), *(",".join(str(make(row)) for make in columns.values()) for row in range(rows))]
    return writes("\n".join(lines) + "\n")


def test_formats_name_identifiers(writes: Writes) -> None:
    """Columns that nobody has named are known by their values."""
    path = table(
        writes,
        40,
        a=lambda row: f"x{row}@example.org",
        b=lambda row: f"{100 + row}-22-{4000 + row}",
        c=lambda row: f"https://example.org/{row}",
        d=lambda row: f"10.0.{row}.1",
        e=lambda row: f"{row:08x}-0000-4000-8000-{row:012x}",
        f=lambda row: f"+41 44 123 45 {row:02d}",
        g=lambda row: ["I21.0", "E11.9", "J45.9"][row % 3],
        h=lambda row: row % 3,
    )
    expected = dict.fromkeys("abcdef", "identifier") | {"g": "sensitive", "h": "quasi"}
    assert roles(path) == expected


def test_persons_with_several_rows(writes: Writes) -> None:
    """The best column that names persons in several rows is the individual one, others that do are identifiers."""
    path = table(
        writes,
        60,
        visit_id=lambda row: 1000 + 7 * row,
        email=lambda row: f"p{row // 2}@example.org",
        patient=lambda row: f"P{row // 2}",
        ward_id=lambda row: row % 5,
    )
    assert roles(path) == {
        "visit_id": "identifier",
        "email": "identifier",
        "patient": "individual",
        "ward_id": "quasi",
    }


def test_one_row_per_person_is_no_individual(writes: Writes) -> None:
    """A column of persons that all differ is left out, and rows are counted."""
    assert roles(table(writes, 30, patient=lambda row: f"P{row}", age=lambda row: row)) == {
        "patient": "identifier",
        "age": "quasi",
    }


def test_uniqueness(writes: Writes) -> None:
    """Words and codes of which every row has its own are identifiers; measures are not, and a row number is."""
    path = table(
        writes,
        50,
        what=lambda row: f"thing{row:03d}",
        line=lambda row: row + 1,
        dose=lambda row: row * 1.37,
        same=lambda row: "x",
    )
    assert roles(path) == {"what": "identifier", "line": "identifier", "dose": "quasi", "same": "quasi"}


def test_few_values_name_nobody(writes: Writes) -> None:
    """A column called insurance with three values is a quasi-identifier, whatever its name says."""
    assert roles(table(writes, 50, insurance=lambda row: "abc"[row % 3])) == {"insurance": "quasi"}


def test_few_persons_in_many_rows_are_still_persons(writes: Writes) -> None:
    """A diary of six people: whatever names them is left out, and the rows of each are one person's."""
    path = table(
        writes,
        300,
        participant=lambda row: f"P{row % 6}",
        name=lambda row: f"Ann{'abcdef'[row % 6]}",
        email=lambda row: f"{'abcdef'[row % 6]}@example.org",
        x=lambda row: f"123-45-678{row % 6}",
        user=lambda row: ["yes", "no"][row % 2],
    )
    identifiers = dict.fromkeys(["name", "email", "x"], "identifier")
    assert roles(path) == {"participant": "individual", **identifiers, "user": "quasi"}


def test_a_secret_of_all_is_left_out(writes: Writes) -> None:
    """A sensitive value that everybody has would be told of everybody by any release."""
    assert roles(table(writes, 30, diagnosis=lambda row: "HIV", age=lambda row: row))["diagnosis"] == "identifier"


def test_nothing_is_plain(ugly: Path, visits_file: Path, american: Path) -> None:
    """No column is proposed to be published as it is without a bound."""
    for path in (ugly, visits_file, american):
        assert "plain" not in roles(path).values()


@pytest.mark.parametrize("name", ["PID", "idno", "seqn", "xyz", "caseid"])
def test_whole_numbers_of_which_each_row_has_its_own_are_identifiers(writes: Writes, name: str) -> None:
    """As many whole numbers as rows, close together or far apart, are numbers of records, whatever they are called."""
    for number in (lambda row: 5 * row + 3, lambda row: 7919 * row % 100_003, lambda row: 10**11 + row * 987_654_321):
        path = table(writes, 80, **{name: number, "age": lambda row: 20 + row % 40})
        found = guesses(path)[name]
        assert (str(found.role), found.caution.needs_decision) == ("identifier", False)
        assert found.reason


def test_a_few_numbers_that_repeat_do_not_hide_a_record_number(writes: Writes) -> None:
    """So many numbers from so short a stretch would repeat often if they were measured: they are dealt out."""
    path = table(writes, 600, nn=lambda row: row if row > 20 else 30 + row % 2, age=lambda row: row % 50)
    assert roles(path)["nn"] == "identifier"


def test_measures_that_all_differ_are_no_identifiers(writes: Writes) -> None:
    """Decimals are measured; a whole number that is called a measure keeps its role, with a mark."""
    draw = random.Random(1)
    path = table(
        writes,
        60,
        bilirubin_level=lambda row: round(0.3 + row * 0.113, 3),
        dose=lambda row: round(draw.random() * 90, 4),
        income=lambda row: 20_000 + 731 * row,
        height=lambda row: 1400 + 11 * row,
        party=lambda row: row % 7,
    )
    found = guesses(path)
    assert {name: str(guess.role) for name, guess in found.items()} == {
        "bilirubin_level": "sensitive",
        "dose": "quasi",
        "income": "sensitive",
        "height": "quasi",
        "party": "sensitive",
    }
    assert found["income"].caution is Caution.CHECK
    assert found["height"].caution is Caution.DANGER


def test_names_are_never_quasi_identifiers(writes: Writes) -> None:
    """Names are known by the column's name, by half of it, and by titles and families in the values."""
    first, last = ["Ann", "Bob", "Cy", "Dora", "Eve", "Finn", "Gus"], [f"{a}{b}son" for a in "BDFKLM" for b in "aeiou"]
    path = table(
        writes,
        300,
        surname=lambda row: last[row % 30],
        first=lambda row: first[row % 7] + "ab"[row % 2],
        last=lambda row: last[row % 30],
        who=lambda row: f"{first[row % 7]} {last[row % 30]}",
        passenger=lambda row: f"{last[row % 30]} Mr. {first[row % 7]} {'ABC'[row % 3]}.",
        county=lambda row: f"{last[row % 30]} County",
    )
    assert roles(path) == dict.fromkeys(["surname", "first", "last", "who", "passenger"], "identifier") | {
        "county": "quasi"
    }


@pytest.mark.parametrize("write", [str, str.lower, str.upper])
def test_frequent_names_of_people_are_known_without_capitals_and_titles(
    writes: Writes, write: Callable[[str], str]
) -> None:
    """A column that nobody calls a name holds names: whole, first ones alone, last ones alone; places are no people."""
    first = ["Miguel", "Kevin", "Anna", "Marsha", "Lisa", "Tony", "Rosa", "Keith", "John", "Xavière", "Ötzi", "Bob"]
    last = ["Hernandez", "Dixon", "Müller", "Brown", "Jonas", "Miles", "Lopez", "Harris", "Okafor", "Silva", "Ito"]
    towns = ["Bern", "Hartford", "New Haven", "Lyon", "Salt Lake City", "Utrecht", "Porto", "Siena", "Sevilla", "Thun"]
    path = table(
        writes,
        300,
        runner=lambda row: write(f"{first[row % 12]} {last[row % 11]}"),
        driver=lambda row: write(first[row % 12]),
        contact=lambda row: write(f'"{last[row % 11]}, {first[row % 12]}"'),
        officer=lambda row: write(last[row % 11]),
        where=lambda row: write(towns[row % 10]),
    )
    assert roles(path) == dict.fromkeys(["runner", "driver", "contact", "officer"], "identifier") | {"where": "quasi"}


def test_names_of_rows_are_left_out_whatever_they_look_like(writes: Writes) -> None:
    """R numbers the rows of a reshaped table 1, 1.1, 1.2: decimals, of which each row has its own, without a name."""
    rows = "".join(f"{row // 3}{f'.{row % 3}' if row % 3 else ''},{row % 40}\n" for row in range(3, 90))
    assert roles(writes(f",age\n{rows}")) == {"column 1": "identifier", "age": "quasi"}
    assert roles(writes(f"row.names,age\n{rows}")) == {"row.names": "identifier", "age": "quasi"}


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("orient", ["heterosexual", "homosexual", "bisexual"], "sexual orientations"),
        ("ag", ["present", "absent"], "findings"),
        ("outcome_x", ["positive", "negative", "negative"], "results of a test"),
        ("q7", ["Strongly agree", "agree", "Neutral", "disagree", "don't know"], "opinions"),
        ("ergebnis", ["positiv", "negativ", "unklar"], "results of a test"),
        ("frage", ["1 stimme zu", "2 stimme nicht zu", "9 keine Angabe"], "opinions"),
        ("avis", ["d'accord", "pas d'accord"], "opinions"),
        ("sentenza", ["condannato", "assolto"], "verdicts"),
        ("disp", ["Convicted", "Acquitted", "Dismissed"], "verdicts"),
        ("resultado_x", ["detectado", "no detectado"], "results of a test"),
        ("uitkomst", ["levend", "overleden"], "life and death"),
        ("c1", ["lung cancer", "type 2 diabetes", "hay fever", "Asthma"], "names of illnesses"),
        ("relig", ["Catholic", "Protestant", "None", "Jewish"], "religions"),
        ("tabac_x", ["fumeur", "non fumeur"], "smoking"),
    ],
)
def test_secrets_are_known_by_their_values(writes: Writes, name: str, values: list[str], says: str) -> None:
    """Health, justice and opinion are sensitive by what the values say, in seven languages, whatever the name is."""
    path = table(writes, 90, **{name: lambda row: values[row % len(values)], "age": lambda row: row % 60})
    found = guesses(path)[name]
    assert str(found.role) == "sensitive"
    assert says in found.reason or "the name says" in found.reason
    assert found.caution


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("hand", ["left", "right"]),
        ("severity", ["mild", "moderate", "severe"]),
        ("paid", ["yes", "no"]),
        ("colour", ["red", "green"]),
        ("children", ["present", "absent"]),
        ("marital_status", ["married", "single"]),
        ("y", [f"{row}.5" for row in range(30)]),
    ],
)
def test_words_that_mean_something_else_are_left_alone(writes: Writes, name: str, values: list[str]) -> None:
    """Left and right hands are no politics, and yes and no alone are no secret."""
    path = table(writes, 90, **{name: lambda row: values[row % len(values)], "age": lambda row: row % 60})
    assert roles(path)[name] == "quasi"


@pytest.mark.parametrize("name", ["diabetes", "hypertension", "Bluthochdruck", "fumeur", "asma", "astma", "died"])
def test_yes_and_no_of_an_illness_are_sensitive(writes: Writes, name: str) -> None:
    """The name of an illness with yes and no, or 1 and 0, is sensitive."""
    for answers in ("yn", "10"):
        path = table(writes, 90, **{name: list(answers * 45).__getitem__, "age": lambda row: row % 60})
        assert roles(path)[name] == "sensitive"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "HbA1c",
            "Hgb",
            "MCV",
            "PLT",
            "ALT",
            "AST.B",
            "eGFR",
            "glu",
            "creat",
            "alk.phos",
            "ph.karno",
            "NYHA",
            "gleason",
        ),
        *(
            "cough",
            "fever",
            "sore_throat",
            "health",
            "Gesundheit",
            "sante",
            "salud",
            "trt",
            "rx",
            "used_drugs_last_year",
        ),
        *(
            "metastized",
            "infect1",
            "Kyphosis",
            "union",
            "hhninc",
            "status",
            "event",
            "censor2",
            "target",
            "outcome",
            "y",
        ),
    ],
)
def test_what_real_tables_call_a_secret(writes: Writes, name: str) -> None:
    """Laboratory values, symptoms, treatments, outcomes under the names that tables of trials and surveys give them."""
    path = table(writes, 90, **{name: lambda row: row % 3, "age": lambda row: row % 60})
    assert roles(path)[name] == "sensitive"


def test_what_yes_and_no_answer_is_no_date(writes: Writes) -> None:
    """Asked of last year, yes and no are no dates; of an age, they are still an age group."""
    path = table(
        writes,
        90,
        moved_last_year=lambda row: ["yes", "no"][row % 2],
        age_60_and_above=lambda row: ["Yes", "No"][row % 2],
        race=lambda row: ["5k", "10 km", "half marathon", "Marathon"][row % 4],
        age=lambda row: row % 60,
    )
    found = guesses(path)
    assert "but its values are yes and no" in found["moved_last_year"].reason
    assert found["age_60_and_above"].reason == "the name says an age"
    assert found["race"].reason.startswith("the name says an ethnic origin, but its values are of competitions")


def test_many_alike_are_marked_once(writes: Writes) -> None:
    """A survey of opinions: one question is marked and stands for all, so that the marks can be read."""
    scale = ["agree", "disagree", "neutral"]
    path = table(writes, 60, **{f"q{place}": (lambda row: scale[row % 3]) for place in range(40)}, age=lambda row: row)
    found = guesses(path)
    assert all(str(found[f"q{place}"].role) == "sensitive" for place in range(40))
    marked = [name for name, guess in found.items() if guess.caution is Caution.CHECK]
    assert marked == ["q0"]
    assert "39 further columns" in found["q0"].reason


def test_names_that_mislead(writes: Writes) -> None:
    """A charge degree is no education, a clinic nobody's name; where values contradict a name, it is said."""
    path = table(
        writes,
        240,
        c_charge_degree=lambda row: ["F3", "M1", "F2"][row % 3],
        clinic_name=lambda row: ["North", "South", "East", "West"][row % 4],
        race=lambda row: row * 37 % 180,
        sex=lambda row: row % 40,
        cp=lambda row: row % 4,
        age=lambda row: 1900 + row % 90,
    )
    found = guesses(path)
    assert str(found["c_charge_degree"].role) == "sensitive"
    assert "offence" in found["c_charge_degree"].reason
    assert str(found["clinic_name"].role) == "quasi"
    assert "clinic" in found["clinic_name"].reason
    for name, what in {"race": "an ethnic origin", "sex": "a sex", "cp": "a postal code", "age": "an age"}.items():
        assert found[name].reason.startswith(f"the name says {what}")
        assert ", but " in found[name].reason
        assert found[name].caution is Caution.CHECK


def test_a_name_and_values_that_disagree_about_a_secret(writes: Writes) -> None:
    """A column that is called like what others know and holds verdicts is sensitive, and marked as a danger."""
    path = table(writes, 90, position=lambda row: ["guilty", "acquitted"][row % 2], age=lambda row: row % 60)
    found = guesses(path)["position"]
    assert (str(found.role), found.caution) == ("sensitive", Caution.DANGER)


def test_a_date_of_death_is_generalized(writes: Writes) -> None:
    """Others may know when somebody died; whether somebody died is about health."""
    path = table(
        writes,
        60,
        date_of_death=lambda row: f"2020-0{row % 9 + 1}-11",
        death=lambda row: f"2020-0{row % 9 + 1}-12",
        dead=lambda row: row % 2,
    )
    assert roles(path) == {"date_of_death": "quasi", "death": "quasi", "dead": "sensitive"}
