"""The first hour of a stranger: whatever `init` writes for a table, every algorithm takes, and the marks are few."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.policy.options import RECODERS
from sfumato.profile import propose, write
from sfumato.release import anonymize

Runs = Callable[..., Any]
Columns = dict[str, Any]
pytestmark = pytest.mark.slow


# Any columns

words = [
    "rare values",
    "other",
    "a, b",
    "a and 1 other",
    "NULL",
    "*",
    "a*",
    "{a}",
    "",
    " ",
    "n/a",
    "up to M",
    "-1",
    "0-9",
]
cells = {
    "texts": st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6),
    "words": st.sampled_from(words),
    "letters": st.sampled_from("abcdefgh"),
    "few": st.sampled_from("xy"),
    "integers": st.integers(-50, 50).map(str),
    "wide": st.integers(-(10**18), 10**18).map(str),
    "decimals": st.decimals(-1000, 1000, places=2).map(str),
    "mixed decimals": st.sampled_from(["1.0", "1", "1.50", "1.5", "2", "+3", " 4", "5e0", "7"]),
    "commas": st.decimals(0, 99, places=1).map(lambda number: str(number).replace(".", ",")),
    "dates": st.dates().filter(lambda day: day.year > 1900).map(str),
    "times": st.sampled_from(["2020-01-01", "2020-01-01 10:00", "2020-01-02 11:30", "2020-02-01", "2021-01-01 10:00"]),
    "formats": st.sampled_from(["2020-01-31", "31.01.2020", "01/31/2020", "02/03/2020"]),
    "codes": st.integers(0, 9999).map("{:04d}".format),
    "ages": st.integers(0, 130).map(str),
    "answers": st.sampled_from(["positive", "negative", "unknown"]),
}
names = st.sampled_from(["x", "age", "zip", "born", "illness", "income", "race", "sex", "name", "when", "patient_id"])


@st.composite
def any_table(draw: st.DrawFn) -> list[list[str]]:
    """A header and rows of columns of any kind, each with some empty cells."""
    kinds = draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=4))
    rows = draw(st.integers(3, 30))
    header = [
        f"{draw(names)}{place}" if draw(st.booleans()) else draw(names) + "_" * place for place, _ in enumerate(kinds)
    ]
    columns = [draw(st.lists(cells[kind] | st.just(""), min_size=rows, max_size=rows)) for kind in kinds]
    return [header, *map(list, zip(*columns, strict=True))]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_table(), st.permutations(RECODERS))
def test_every_algorithm_takes_what_init_writes(rows: list[list[str]], algorithms: list[str]) -> None:
    """Of columns of any kind: the proposal runs as it is, and with algorithms that are drawn, up to the verifier."""
    with TemporaryDirectory() as folder:
        table, policy = Path(folder, "table.csv"), Path(folder, "policy.toml")
        with table.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        try:
            proposal = propose(table, policy=policy)
        except DataError:  # of names alone there is nothing to publish, and strange files are refused at once
            return
        write(proposal, policy)
        for algorithm in ("auto", *algorithms[:3]):
            release = anonymize(None, load(policy).replace(algorithm=algorithm))
            assert all(entry["satisfied"] for entry in release.privacy)


# Fifteen shapes

draw = np.random.default_rng(17)


def some(values: Any, rows: int, shares: Any = None) -> list[Any]:
    """Values drawn for so many rows."""
    return list(draw.choice(values, rows, p=shares))


def days(rows: int, first: str = "2013-01-01", span: int = 700) -> list[str]:
    """Days drawn from a stretch of time."""
    return [str(np.datetime64(first) + int(day)) for day in draw.integers(0, span, rows)]


def court(rows: int = 600) -> Columns:
    """Court records: names in three columns, dates of birth and ages, charges, scores and what came after."""
    age = draw.integers(18, 80, rows)
    first, last = (
        some([f"{a}{b}" for a in ("An", "Bo", "Ca", "Di") for b in ("n", "b", "ra", "lo")], rows),
        some([f"{a}{b}" for a in ("Smi", "Har", "Lop", "Dan") for b in ("th", "ris", "ez", "iels")], rows),
    )
    score = draw.integers(1, 11, rows)
    return {
        "id": range(1, rows + 1),
        "name": [f"{a} {b}" for a, b in zip(first, last, strict=True)],
        "first": first,
        "last": last,
        "sex": some(["Male", "Female"], rows),
        "dob": [f"{2014 - years}-0{1 + years % 9}-1{years % 8}" for years in age],
        "age": age,
        "age_cat": np.where(age < 25, "Less than 25", np.where(age < 46, "25 - 45", "Greater than 45")),
        "race": some(["African-American", "Caucasian", "Hispanic", "Asian"], rows, [0.5, 0.35, 0.14, 0.01]),
        "juv_fel_count": draw.poisson(0.1, rows),
        "priors_count": draw.poisson(3, rows),
        "decile_score": score,
        "score_text": np.where(score < 5, "Low", np.where(score < 8, "Medium", "High")),
        "c_case_number": [f"13{row:06d}CF10A" for row in range(rows)],
        "c_charge_degree": some(["F", "M"], rows),
        "c_charge_desc": some(["Battery", "Grand Theft", "arrest case no charge", "Driving Under The Influence"], rows),
        "c_jail_in": days(rows),
        "is_recid": draw.integers(0, 2, rows),
        "two_year_recid": draw.integers(0, 2, rows),
    }


def covid(rows: int = 800) -> Columns:
    """Covid tests: a result under a name that says nothing, symptoms, three copies of a date."""
    day = days(rows, "2020-03-01", 200)
    return {
        "seqn": draw.permutation(rows) + 50_000,
        "test_date": day,
        "report_date": day,
        "date_us": [f"{text[5:7]}/{text[8:]}/{text[:4]}" for text in day],
        "cough": draw.integers(0, 2, rows),
        "fever": draw.integers(0, 2, rows),
        "corona_result": some(["negative", "positive", "other"], rows, [0.9, 0.08, 0.02]),
        "age_60_and_above": some(["Yes", "No", "NULL"], rows),
        "gender": some(["male", "female"], rows),
    }


def police(rows: int = 700) -> Columns:
    """Traffic stops: place, time, the driver, and what came of it."""
    return {
        "stop_date": days(rows, "2015-01-01", 365),
        "stop_time": [f"{hour:02}:{minute:02}" for hour, minute in draw.integers(0, 24, (rows, 2))],
        "county_name": some(["Hartford County", "New Haven County", "Litchfield County"], rows),
        "driver_gender": some(["M", "F"], rows),
        "driver_age": draw.integers(16, 90, rows),
        "driver_race": some(["White", "Black", "Hispanic", "Asian"], rows, [0.65, 0.2, 0.14, 0.01]),
        "violation": some(["Speeding", "Lights", "Cell Phone", "Registration"], rows),
        "search_conducted": some(["TRUE", "FALSE"], rows, [0.05, 0.95]),
        "contraband_found": some(["TRUE", "FALSE"], rows, [0.02, 0.98]),
        "stop_outcome": some(["Ticket", "Warning", "Arrest", "Summons"], rows),
        "officer_id": draw.integers(1000, 1060, rows),
    }


def panel(rows: int = 900) -> Columns:
    """A panel: some years of each person."""
    return {
        "idno": np.repeat(np.arange(rows // 3) * 7 + 1001, 3),
        "year": np.tile([1998, 1999, 2000], rows // 3),
        "lwage": np.round(draw.normal(6, 0.5, rows), 5),
        "exp": draw.integers(0, 45, rows),
        "married": some(["yes", "no"], rows),
        "union": some(["yes", "no"], rows),
    }


def survey(columns: int, rows: int) -> Columns:
    """A survey of many questions, coded by small numbers, some as words."""
    scale = ["strongly agree", "agree", "neutral", "disagree", "strongly disagree"]
    made: Columns = {"caseid": draw.permutation(rows) + 1, "age": draw.integers(18, 90, rows)}
    made |= {f"q{place}": some(scale, rows) for place in range(3)}
    made |= {f"v{place}": draw.integers(1, 6, rows) for place in range(columns - len(made))}
    return made


def laboratory(rows: int = 400) -> Columns:
    """A trial: laboratory values, a survival time, an arm, an outcome."""
    return {
        "id": range(1, rows + 1),
        "time": draw.integers(40, 4800, rows),
        "status": some(["alive", "dead", "transplant"], rows),
        "trt": draw.integers(1, 3, rows),
        "age": np.round(draw.uniform(26, 79, rows), 3),
        "sex": some(["m", "f"], rows),
        "bili": np.round(draw.lognormal(0.5, 1, rows), 1),
        "chol": some([*map(str, range(120, 500, 3)), "NA"], rows),
        "albumin": np.round(draw.normal(3.5, 0.4, rows), 2),
        "copper": draw.integers(4, 400, rows),
        "stage": draw.integers(1, 5, rows),
    }


def passengers(rows: int = 500) -> Columns:
    """Passengers: names with titles, a fare, a cabin, and who survived."""
    return {
        "PassengerId": range(1, rows + 1),
        "Survived": draw.integers(0, 2, rows),
        "Pclass": draw.integers(1, 4, rows),
        "Name": [f"Family{row % 90}, Mr. Guest{row}" for row in range(rows)],
        "Sex": some(["male", "female"], rows),
        "Age": some([*map(str, range(1, 75)), ""], rows),
        "SibSp": draw.poisson(0.5, rows),
        "Ticket": [f"A/5 {number}" for number in draw.integers(10_000, 40_000, rows)],
        "Fare": np.round(draw.lognormal(3, 1, rows), 4),
        "Cabin": some(["", "C85", "B42", "E10", "C123", "D56"], rows, [0.75, 0.05, 0.05, 0.05, 0.05, 0.05]),
        "Embarked": some(["S", "C", "Q"], rows),
    }


def ethnic_groups(rows: int = 900) -> Columns:
    """Answers of which some are rare and some are called like groups of others."""
    group = ["White", "Chinese", "other", "Refused", "Black", "Filipino", "rare", "Mixed", "Korean", "Thai"]
    shares = np.array([500, 30, 200, 3, 100, 12, 4, 30, 20, 1]) / 900
    return {
        "ethnic": some(group, rows, shares),
        "where": some([f"town {letter}" for letter in "abcdefghijklmnopqrst"], rows),
        "hours": draw.integers(0, 80, rows),
    }


def payroll(rows: int = 300) -> Columns:
    """A payroll in which every salary differs, with a number of each person and a department and its code."""
    code = draw.integers(10, 16, rows)
    return {
        "empl_no": draw.permutation(rows) * 13 + 100,
        "salary": draw.permutation(rows) * 97 + 31_000,
        "dept_code": code,
        "dept": [f"Department {'ABCDEF'[each - 10]}" for each in code],
        "hired": days(rows, "1990-01-01", 9000),
        "email": [f"p{row}@example.org" for row in range(rows)],
    }


def race(rows: int = 250) -> Columns:
    """A running race, which is nobody's origin."""
    return {
        "bib": draw.permutation(rows) + 1,
        "race": draw.integers(1, 120, rows),
        "place": range(1, rows + 1),
        "finish": np.round(draw.normal(200, 30, rows), 2),
        "gender": some(["F", "M"], rows),
        "age": draw.integers(18, 80, rows),
    }


def german(rows: int = 200) -> Columns:
    """An office file in German, with decimal commas and a survey of opinions."""
    return {
        "Name": [f"Person {row}" for row in range(rows)],
        "Geburtsdatum": [
            f"{draw.integers(10, 28)}.0{draw.integers(1, 9)}.{draw.integers(1940, 2000)}" for _ in range(rows)
        ],
        "PLZ": draw.integers(3000, 3100, rows),
        "Einkommen": [f"{value:.2f}".replace(".", ",") for value in draw.normal(5000, 900, rows)],
        "Testergebnis": some(["positiv", "negativ"], rows),
        "Zufriedenheit": some(["sehr zufrieden", "zufrieden", "unzufrieden"], rows),
        "Grösse": [f"{value:.1f}".replace(".", ",") for value in draw.normal(170, 9, rows)],
    }


def clinics(rows: int = 500) -> Columns:
    """Visits to clinics: several of each patient, an illness by code and by name."""
    code = draw.integers(0, 4, rows)
    return {
        "patient_id": draw.integers(1, rows // 3, rows),
        "clinic_name": some(["North Clinic", "South Clinic", "Lake Hospital"], rows),
        "icd": [["I21.0", "E11.9", "J45.9", "F32.1"][each] for each in code],
        "what": [["infarct", "sugar", "lungs", "mood"][each] for each in code],
        "zip": [f"{number:05d}" for number in draw.integers(2000, 2080, rows)],
        "visit": days(rows),
    }


def tiny(rows: int = 12) -> Columns:
    """A dozen people."""
    return {
        "who": [f"Anna{letter}" for letter in "abcdefghijkl"[:rows]],
        "weight": np.round(draw.normal(70, 9, rows), 1),
        "smokes": some(["yes", "no"], rows),
    }


SHAPES: dict[str, tuple[Callable[[], Columns], dict[str, str]]] = {
    "court": (
        court,
        dict.fromkeys(["id", "name", "first", "last", "c_case_number"], "identifier")
        | dict.fromkeys(["c_charge_degree", "c_charge_desc", "is_recid", "priors_count"], "sensitive")
        | {"age": "quasi", "dob": "quasi"},
    ),
    "covid": (covid, {"seqn": "identifier", "corona_result": "sensitive", "gender": "quasi", "test_date": "quasi"}),
    "police": (police, {"contraband_found": "sensitive", "stop_outcome": "sensitive", "driver_age": "quasi"}),
    "panel": (panel, {"idno": "individual", "lwage": "sensitive", "year": "quasi"}),
    "survey of 67": (lambda: survey(67, 120), {"caseid": "identifier", "q1": "sensitive", "age": "quasi"}),
    "survey of 788": (lambda: survey(788, 40), {"caseid": "identifier", "q1": "sensitive"}),
    "laboratory": (
        laboratory,
        {"id": "identifier", "chol": "sensitive", "albumin": "sensitive", "status": "sensitive"},
    ),
    "passengers": (passengers, {"Name": "identifier", "PassengerId": "identifier", "Survived": "sensitive"}),
    "ethnic groups": (ethnic_groups, {"ethnic": "quasi"}),
    "payroll": (payroll, {"empl_no": "identifier", "email": "identifier", "salary": "sensitive", "dept": "quasi"}),
    "race": (race, {"bib": "identifier", "place": "identifier", "race": "quasi"}),
    "german": (german, {"Name": "identifier", "Einkommen": "sensitive", "Testergebnis": "sensitive"}),
    "clinics": (clinics, {"patient_id": "individual", "clinic_name": "quasi", "icd": "sensitive", "what": "sensitive"}),
    "ethnic groups, wide": (
        lambda: ethnic_groups() | {f"x{place}": draw.integers(0, 9, 900) for place in range(8)},
        {"ethnic": "quasi"},
    ),
    "tiny": (tiny, {"smokes": "sensitive"}),
}


def leave_unimproved(policy: Path) -> None:
    """Leave the improvement out, which takes seconds and is tried on all real tables by the benchmark."""
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("suppression = 0.02", "suppression = 0.02\nimprove = false"), encoding="utf-8")


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_run_unedited(runs: Runs, tmp_path: Path, shape: str) -> None:
    """From a table of this shape to a verified release, with the roles that matter, and marks that are few."""
    make, expected = SHAPES[shape]
    columns = make()
    with (tmp_path / "table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";" if shape == "german" else ",")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    outcome = runs("init", "table.csv", "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert {name: roles[name] for name in expected} == expected
    assert found["dangers"] <= 4
    assert found["decisions"] <= max(8, len(columns) // 8)
    made = runs("anonymize", "policy.toml", "--json")
    assert made.code == 0, made.err
    assert all(entry["satisfied"] for entry in json.loads(made.out)["privacy"])
    assert runs("verify", "release").code == 0


# Real tables, where the libraries that carry them are there

REAL = (
    "statsmodels/anes96",
    "statsmodels/fair",
    "sklearn/breast_cancer",
    "sklearn/diabetes",
    "car/Chile",
    "car/Salaries",
    "COUNT/medpar",
    "Ecdat/Star",
    "gap/mao",
    "MASS/survey",
    "MASS/Aids2",
    "pscl/vote92",
    "survival/pbc",
    "vcd/Hitters",
    "psych/bfi",
)


@pytest.mark.parametrize(("place", "label"), [*enumerate(REAL)])
def test_real_tables_run_unedited(place: int, label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What init writes for a real table is taken by mondrian and by one of the other algorithms, up to the verifier."""
    monkeypatch.syspath_prepend(os.fspath(Path(__file__).parents[2]))
    from benchmarks.real_tables import is_installed, list_tables

    (table,) = [each for each in list_tables(label) if each.label == label]
    if not is_installed(table.library):
        pytest.skip(f"{table.library} is not installed: pip install {table.library}")
    (tmp_path / "table.csv").write_text(table.text(), encoding="utf-8")
    policy = tmp_path / "policy.toml"
    write(propose(tmp_path / "table.csv", policy=policy), policy)
    leave_unimproved(policy)
    for algorithm in ("mondrian", ("progressive", "top-down", "bottom-up", "mondrian-relaxed", "tds")[place % 5]):
        release = anonymize(None, load(policy).replace(algorithm=algorithm))
        assert all(entry["satisfied"] for entry in release.privacy)
