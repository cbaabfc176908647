"""Risk by person: several rows of one person hide nobody, and a pseudonym ties them together."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.classes import EquivalenceClasses
from sfumato.policy import load
from sfumato.risk import measure_person_risk
from sfumato.risk.table_risk import risk_by_columns, risk_by_policy, risk_by_release

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]
Saves = Callable[..., Path]

KEYS = {
    "rows",
    "persons",
    "rpi",
    "k",
    "vulnerable",
    "vulnerable_share",
    "single",
    "single_share",
    "linked",
    "linked_share",
    "linked_fewest",
}


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """Table 2 of the identity-reserved paper, with the names that it leaves out."""
    path = tmp_path / "table2.csv"
    path.write_text(
        "name,sex,postcode,disease\n"
        "Mike,M,10085,hypertension\nMike,M,10085,hyperlipemia\n"
        "Emily,*,10075,diabetes\nTim,*,10075,heart\n"
        "Jane,F,1008*,cancer\nElla,F,1008*,flu\n"
    )
    return path


def brute_force(groups: list[int], people: list[str], k: int) -> dict[str, float]:
    """The figures by their definitions, one group and one person at a time."""
    rows: dict[int, list[str]] = defaultdict(list)
    classes: dict[str, set[int]] = defaultdict(set)
    for group, person in zip(groups, people, strict=True):
        rows[group].append(person)
        classes[person].add(group)
    vulnerable = sum(len(held) >= k > len(set(held)) for held in rows.values())
    single = sum(len(set(held)) == 1 for held in rows.values())
    sharing = [sum(other == own for other in classes.values()) for own in classes.values()]
    linked = sum(number < k for number in sharing)
    return {
        "rows": len(groups),
        "persons": len(classes),
        "rpi": len(groups) / len(classes),
        "k": k,
        "vulnerable": vulnerable,
        "vulnerable_share": vulnerable / len(rows),
        "single": single,
        "single_share": single / len(rows),
        "linked": linked,
        "linked_share": linked / len(classes),
        "linked_fewest": min(sharing),
    }


@pytest.mark.parametrize("seed", range(40))
def test_figures_equal_brute_force(seed: int) -> None:
    """On random tables, few or many groups and persons, every figure is what its definition says."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(1, 120))
    groups = draw.integers(0, draw.integers(1, 12), rows).tolist()
    people = [f"p{number}" for number in draw.integers(0, draw.integers(1, 60), rows)]
    for k in (1, 2, 3, 5):
        assert measure_person_risk(EquivalenceClasses.of(groups, individuals=people), k).as_json() == brute_force(
            groups, people, k
        )


def test_table_2_of_the_paper(paper: Path) -> None:
    """Group 1 has two rows and one person: it is vulnerable at k = 2, and single, and Mike alone is linked."""
    found = risk_by_columns(paper, ["sex", "postcode"], individual="name", k=2).persons
    assert found is not None
    assert (found.vulnerable, found.single, found.linked, found.linked_fewest) == (1, 1, 1, 1)
    assert (found.vulnerable_share, found.single_share) == (1 / 3, 1 / 3)
    assert found.rpi == 6 / 5
    rows = risk_by_columns(paper, ["sex", "postcode"])
    assert (rows.risk.highest, rows.persons) == (0.5, None)


@pytest.mark.parametrize("seed", range(4))
def test_a_file_equals_brute_force(tmp_path: Path, seed: int) -> None:
    """Two quasi-identifiers of a file, missing values among them, form the groups."""
    draw = np.random.default_rng(seed)
    cells = [(f"p{p}", "abc"[q], ("", "x", "y")[r]) for p, q, r in draw.integers(0, [25, 3, 3], (80, 3))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["person,q,r", *(",".join(row) for row in cells)]) + "\n")
    number = {pair: place for place, pair in enumerate(sorted({row[1:] for row in cells}))}
    found = risk_by_columns(path, ["q", "r"], individual="person", k=3).persons
    assert found is not None
    assert found.as_json() == brute_force([number[row[1:]] for row in cells], [row[0] for row in cells], 3)


def test_a_release_is_measured_by_its_file(rules: Rules, saves: Saves) -> None:
    """The pseudonyms of a published table give the figures that the release itself has, as the audit keeps them."""
    draw = np.random.default_rng(7)
    who, where, what = (draw.integers(0, high, 300) for high in (90, 6, 4))
    table = pa.table({"person": [f"id{i}" for i in who], "q": [f"q{i}" for i in where], "s": [f"s{i}" for i in what]})
    policy = rules({"person": "individual", "q": "quasi", "s": "sensitive"}, k=4)
    folder = saves(table, policy)
    found = risk_by_policy(folder / "public" / "table.csv", load(policy)).as_json()
    audit = json.loads((folder / "private" / "audit.json").read_text())
    assert {key: found[key] for key in KEYS} == audit["persons"]
    assert found["k"] == 4
    assert found["linked"] > 0
    assert risk_by_release(folder).as_json() == found


def test_json_keeps_its_keys_and_adds_persons(runs: Runs, paper: Path) -> None:
    """One flat object: the figures there always were, and those by person only where persons are known."""
    before = json.loads(runs("risk", paper, "--quasi", "sex,postcode", "--json").out)
    assert before.keys() >= {"highest", "average", "uniques", "unique_share"}
    found = json.loads(runs("risk", paper, "--quasi", "sex,postcode", "--individual", "name", "--json").out)
    assert set(found) == before.keys() | KEYS
    assert found["k"] == 5


def test_k_is_the_option_s_then_the_policy_s_then_5(runs: Runs, paper: Path, tmp_path: Path) -> None:
    """The largest k of the policy counts, an identity-reserved one too; what is used, and why, is shown."""
    (tmp_path / "p.toml").write_text(
        '[columns]\nname = { role = "individual" }\nsex = { role = "quasi", hierarchy = "suppress" }\n'
        'postcode = { role = "quasi", hierarchy = "suppress" }\ndisease = { role = "sensitive" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n[[privacy]]\nmodel = "identity-k-anonymity"\nk = 3\n'
    )
    assert json.loads(runs("risk", paper, "--policy", "p.toml", "--json").out)["k"] == 3
    assert "k = 3, the policy's" in runs("risk", paper, "--policy", "p.toml").out
    assert json.loads(runs("risk", paper, "--policy", "p.toml", "--k", "2", "--json").out)["vulnerable"] == 1
    assert "k = 2, as given" in runs("risk", paper, "--policy", "p.toml", "--k", "2").out
    assert "k = 5, since none is named" in runs("risk", paper, "--quasi", "sex", "--individual", "name").out


def test_a_table_without_the_individual_column_is_counted_in_rows(rules: Rules, paper: Path) -> None:
    """A policy may be for the raw table, whose persons a published one no longer has."""
    policy = load(rules({"id": "individual", "sex": "quasi", "postcode": "quasi"}))
    assert risk_by_policy(paper, policy).persons is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--quasi", "sex", "--individual", "nam"], "has no column 'nam'; did you mean name?"),
        (["--quasi", "sex,name", "--individual", "name"], "column 'name' cannot both name persons and be a quasi-"),
        (["--quasi", "sex", "--k", "2"], "no column names them; add --individual COLUMN"),
        (["--policy", "p.toml", "--individual", "name"], "--individual goes with --quasi"),
        (["--policy", "p.toml", "--k", "2"], "the policy has no individual column; leave --k out"),
        (["--quasi", "sex", "--individual", "name", "--k", "0"], "--k"),
    ],
    ids=["missing", "both", "no persons", "policy", "policy without persons", "no k"],
)
def test_what_is_wrong_is_said(runs: Runs, paper: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    """An option that means nothing ends in one sentence that names the column and the way out."""
    (tmp_path / "p.toml").write_text(
        '[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    outcome = runs("risk", paper, *arguments)
    assert outcome.code == 2
    assert words in outcome.sentence
    assert "Mike" not in outcome.sentence
