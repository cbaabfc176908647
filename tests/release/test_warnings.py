"""Warnings: what a data holder should know, said once, to nobody else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]
Saves = Callable[..., Path]

ROLES = {"person": "individual", "town": "quasi", "illness": "sensitive"}
K = {"model": "k-anonymity", "k": 2}
IDENTITY_K = {"model": "identity-k-anonymity", "k": 2}
CLOSE = {"model": "t-closeness", "column": "illness", "t": 1.0, "distance": "variational"}
SHARE = {"model": "alpha-deassociation", "column": "illness", "alpha": 1.0}
DISTINCT = {"model": "distinct-l-diversity", "column": "illness", "l": 2}
UNLIMITED = "no requirement looks at"
ALPHA_BETA = {"model": "identity-alpha-beta", "column": "illness", "alpha": 0.7, "beta": 0.8}


def visits(*rows: str) -> Any:
    """A table from rows of person, town and illness, each one letter."""
    return pa.table({name: [f"CANARY{row[place]}" for row in rows] for place, name in enumerate(ROLES)})


TWICE = visits("aBf", "aBh", "bBf", "cTf", "dTh", "eTh")
"""Five people, one of them twice, in two towns; nobody is in both."""
MOVED = visits("aBf", "aTh", "bBf", "cBh", "dTh", "eTf")
"""One of five has a visit in each of two towns."""
ONCE = visits("aBf", "bBh", "cBf", "dTf", "eTh", "fTh")
"""Everybody once."""


def warned(table: Any, rules: Rules, *models: dict[str, Any], **tables: Any) -> list[str]:
    """The warnings of a release but for that of sensitive columns without a requirement, which has its own tests."""
    found: list[str] = sf.anonymize(table, rules(ROLES, privacy=list(models) or [K], **tables)).warnings
    assert "CANARY" not in "".join(found)
    return [sentence for sentence in found if not sentence.startswith(UNLIMITED)]


@pytest.mark.parametrize("model", [K, DISTINCT], ids=["k", "l"])
def test_persons_are_counted_but_not_all_is_bounded(rules: Rules, model: dict[str, Any]) -> None:
    """With repeated persons and no identity-reserved requirement, what no requirement bounds is named."""
    (found,) = warned(TWICE, rules, model)
    assert found.startswith("column 'person' has 1.2 rows per person (rpi): k and l count persons here, but no")
    assert found.endswith("how far pseudonyms link rows; identity-alpha-beta and linked_k do")


@pytest.mark.parametrize("model", [CLOSE, SHARE], ids=["t", "alpha"])
def test_no_requirement_counts_persons(rules: Rules, model: dict[str, Any]) -> None:
    """Shares and distances are of rows: a class may be one person's."""
    (found,) = warned(TWICE, rules, model)
    assert "column 'person' has 1.2 rows per person (rpi), and no requirement counts persons" in found
    assert "add identity-k-anonymity" in found


@pytest.mark.parametrize("model", [IDENTITY_K, ALPHA_BETA], ids=["k", "alpha-beta"])
def test_an_identity_reserved_requirement_is_no_cause(rules: Rules, model: dict[str, Any]) -> None:
    """Where one is asked for and nobody is linked there is nothing to say."""
    assert warned(TWICE, rules, model) == []


@pytest.mark.parametrize("model", [K, CLOSE], ids=["k", "t"])
def test_one_row_per_person_is_no_cause(rules: Rules, model: dict[str, Any]) -> None:
    """Where nobody has several rows, rows and persons are the same."""
    assert warned(ONCE, rules, model) == []


def test_linked_persons_are_counted(rules: Rules) -> None:
    """One person stands in both classes and is alone in that: the number, and the way out."""
    (found,) = warned(MOVED, rules, IDENTITY_K)
    assert found.startswith("fewer than 2 persons share the classes of 1 of 5 persons: a pseudonym ties")
    assert "linked_k = 2" in found


def test_links_are_spoken_of_once(rules: Rules) -> None:
    """With both to say, the first is about shares of a class and the second about links."""
    first, second = warned(MOVED, rules, K)
    assert first.endswith("how much of a class one person has; identity-alpha-beta does")
    assert second.startswith("fewer than 2 persons share the classes of 1 of 5 persons")
    assert "linked_k" not in first


def test_a_bound_on_links_ends_it(rules: Rules) -> None:
    """With linked_k nobody is linked below it, and nothing is said."""
    assert warned(MOVED, rules, IDENTITY_K | {"linked_k": 2}, algorithm={"name": "optimal"}) == []


def test_rows_that_may_part_are_told(rules: Rules) -> None:
    """Without keep_together the number of linked persons comes with that as the reason."""
    parted = warned(MOVED, rules, IDENTITY_K, algorithm={"keep_together": False})
    assert [found for found in parted if "1 of 5 persons" in found and "keep_together = false" in found] == parted
    assert len(parted) == 1
    assert warned(ONCE, rules, IDENTITY_K, algorithm={"keep_together": False}) == []


def test_anatomy_is_told(rules: Rules) -> None:
    """Buckets part a person's rows, and there are fewer than five people in one: no k is named, so 5 is measured."""
    found = warned(ONCE, rules, DISTINCT, publish={"form": "anatomy"})
    assert len(found) == 1
    assert found[0].startswith("fewer than 5 persons share the classes of 6 of 6 persons")
    assert "anatomy deals a person's rows out one by one" in found[0]


def test_identifiers_that_repeat_are_told(rules: Rules) -> None:
    """Without an individual column, an identifier that repeats is named with its rows per value, and no value is."""
    roles = ROLES | {"person": "identifier"}
    found, _ = sf.anonymize(TWICE, rules(roles)).warnings
    assert "'person' (1.2 rows for each value on average); rows are counted as if each were another person's" in found
    assert 'role = "individual" counts persons' in found
    assert "CANARY" not in found
    assert [one for one in sf.anonymize(ONCE, rules(roles)).warnings if not one.startswith(UNLIMITED)] == []


def test_dates_and_measures_repeat_by_chance(rules: Rules) -> None:
    """Dates of birth and decimal numbers are shared by strangers: where such identifiers repeat, nothing is said."""
    table = pa.table(
        {
            "born": ["1980-01-02", "1980-01-02", "1975-12-31", "1990-06-07"],
            "birth": ["2.1.1980", "2.1.1980", "31.12.1975", "7.6.1990"],
            "time": ["1.5", "1.5", "2.25", "3"],
            "town": ["B", "B", "T", "T"],
        }
    )
    roles = dict.fromkeys(["born", "birth", "time"], "identifier") | {"town": "quasi"}
    assert sf.anonymize(table, rules(roles)).warnings == []
    dates = table.set_column(0, "born", table["born"].cast(pa.date32()))
    assert sf.anonymize(dates, rules(roles)).warnings == []


def test_a_sensitive_column_without_a_requirement_is_told(saves: Saves, rules: Rules) -> None:
    """The number of rows whose value their class tells for certain stands in the warning, audit and report."""
    alike = visits("aBf", "bBf", "cBf", "dTf", "eTh")
    policy = rules(ROLES | {"person": "identifier"})
    (found,) = sf.anonymize(alike, policy).warnings
    assert found.startswith("no requirement looks at the sensitive column 'illness': 3 of 5 published rows stand")
    assert "ask for distinct-l-diversity" in found
    folder = saves(alike, policy)
    assert json.loads((folder / "private" / "audit.json").read_text())["warnings"] == [found]
    assert "3 of 5 published rows stand in classes of one value" in (folder / "private/report.html").read_text()


def test_certain_rows_of_several_columns_are_counted_one_by_one(rules: Rules) -> None:
    """Several columns without a requirement are one sentence, with the number of certain rows of each."""
    table = pa.table({"town": list("BBTT"), "a": list("xxyy"), "b": list("xyxy"), "c": list("xxxy")})
    roles = {"town": "quasi", "a": "sensitive", "b": "sensitive", "c": "sensitive"}
    (found,) = sf.anonymize(table, rules(roles)).warnings
    assert found.startswith("no requirement looks at 3 sensitive columns: 'a' (4), 'c' (2), 'b' (0); in brackets")
    only = [{"model": "distinct-l-diversity", "column": "b", "l": 2}]
    (found,) = sf.anonymize(table, rules(roles, privacy=only)).warnings
    assert found.startswith("no requirement looks at 2 sensitive columns: 'a' (4), 'c' (2);")


@pytest.mark.parametrize("model", [DISTINCT, CLOSE, SHARE], ids=["l", "t", "alpha"])
def test_a_column_with_a_requirement_is_no_cause(rules: Rules, model: dict[str, Any]) -> None:
    """Any requirement that looks at the column, however weak, ends the warning."""
    found = sf.anonymize(ONCE, rules(ROLES, privacy=[model])).warnings
    assert [sentence for sentence in found if sentence.startswith(UNLIMITED)] == []


def test_they_go_to_standard_error_json_and_audit_alone(runs: Runs, tmp_path: Path) -> None:
    """With --json they are a list of the one object as well; the public part says nothing of them."""
    lines = ["person,town,illness", "1,B,f", "1,T,h", "2,B,f", "3,B,h", "4,T,h", "5,T,f"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nperson = { role = "individual" }\n'
        'town = { role = "quasi", hierarchy = "suppress" }\nillness = { role = "sensitive" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    outcome = runs("anonymize", "p.toml", "--json")
    said = [line.removeprefix("warning: ") for line in outcome.err.splitlines()]
    assert len(said) == 3
    assert json.loads(outcome.out)["persons"]["linked"] == 1
    assert json.loads(outcome.out)["warnings"] == said
    audit = json.loads((tmp_path / "release" / "private" / "audit.json").read_text())
    assert audit["warnings"] == said
    assert audit["persons"]["rpi"] == 1.2
    manifest = (tmp_path / "release" / "public" / "manifest.json").read_text()
    assert "rpi" not in manifest
    assert "fewer than" not in manifest


def test_no_persons_no_figures(saves: Saves, rules: Rules, people: Any, roles: dict[str, Any]) -> None:
    """Where no column names persons, there is nothing about them, and nothing to warn of."""
    release = sf.anonymize(people, rules(roles, privacy=[DISTINCT]))
    assert (release.persons, release.warnings) == (None, [])
    audit = json.loads((saves(people, rules(roles, privacy=[DISTINCT])) / "private" / "audit.json").read_text())
    assert audit["warnings"] == []
    assert "persons" not in audit


def test_rows_without_a_name_are_told(rules: Rules) -> None:
    """Nameless rows count as one person's, and the data holder hears of it."""
    persons = pa.array([None, None, *TWICE["person"].to_pylist()[2:]])
    found = warned(TWICE.set_column(0, "person", persons), rules, IDENTITY_K)
    assert found == ["2 rows have no value in 'person': they count as one person's, who gets one pseudonym"]


def test_links_are_told_where_no_k_is_asked_for(rules: Rules) -> None:
    """Bounds on shares name no k; persons who stand alone in their classes are told of all the same."""
    found = warned(MOVED, rules, ALPHA_BETA)
    assert any("a pseudonym ties a person's rows together" in sentence for sentence in found)
