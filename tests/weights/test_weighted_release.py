"""A survey's release: weights published or rounded, known to the verifier, and counted in queries and losses."""

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.profile.column_facts import describe_column
from sfumato.profile.column_values import ColumnValues
from sfumato.profile.roles import guess_role

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]
Saves = Callable[..., Path]

ROLES: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20], "domain": [0, 99]}},
    "sex": "quasi",
    "illness": "sensitive",
    "pond": "weight",
}


def survey(rows: int = 60, *, text: bool = False) -> Any:
    """People with an age, a sex, an illness and a weight of a few digits."""
    draw = random.Random(3)
    pond = [draw.choice([12, 25, 40, 95, 230]) + draw.randrange(4) for _ in range(rows)]
    return pa.table(
        {
            "age": [draw.randrange(20, 60) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "illness": [draw.choice(["flu", "cold", "HIV"]) for _ in range(rows)],
            "pond": [str(one) for one in pond] if text else pond,
        }
    )


def rounded(step: float) -> dict[str, Any]:
    """The roles with weights rounded to a step."""
    return {**ROLES, "pond": {"role": "weight", "round": step}}


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "texts"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_weights_are_published_rounded(saves: Saves, rules: Rules, form: str, *, text: bool) -> None:
    """Published weights are the multiples of the step that are nearest, in the type that they came in."""
    table = survey(text=text)
    folder = saves(table, rules(rounded(50), k=3, publish={"format": form}))
    published = sorted(map(float, sf.anonymize(table, rules(rounded(50), k=3)).table["pond"].to_pylist()))
    assert published == sorted(max(50.0, 50.0 * round(float(one) / 50)) for one in table["pond"].to_pylist())
    entry = next(
        one for one in json.loads((folder / "public/manifest.json").read_text())["columns"] if one["name"] == "pond"
    )
    assert (entry["role"], entry["round"], entry["type"]) == ("weight", 50.0, "string" if text else "int64")
    assert sf.verify(folder).satisfied


def test_weights_stay_as_they_are_without_a_step(rules: Rules) -> None:
    """Without `round` every weight is published as it came."""
    table = survey()
    release = sf.anonymize(table, rules(ROLES, k=3))
    assert sorted(release.table["pond"].to_pylist()) == sorted(table["pond"].to_pylist())


@pytest.mark.parametrize(("cell", "said"), [("7", "no multiples of 50"), ("many", "no numbers of 0 or more")])
def test_the_verifier_knows_rounded_weights(saves: Saves, rules: Rules, cell: str, said: str) -> None:
    """A published weight that is not rounded as the manifest says, or is no number, is found in the files."""
    folder = saves(survey(text=True), rules(rounded(50), k=3))
    path = folder / "public" / "table.csv"
    lines = path.read_text().splitlines()
    lines[1] = ",".join([*lines[1].split(",")[:-1], cell])
    path.write_text("\n".join(lines) + "\n")
    assert any(f"column 'pond' has 1 weights that are {said}" in problem for problem in sf.verify(folder).problems)


def test_rare_weights_are_warned_of(rules: Rules) -> None:
    """Weights that fewer than k rows share are counted, and the step is named that leaves none, which ends it."""
    table = survey()
    counts = {one: table["pond"].to_pylist().count(one) for one in table["pond"].to_pylist()}
    rare = sum(number for number in counts.values() if number < 3)
    assert rare
    (found,) = [one for one in sf.anonymize(table, rules(ROLES, k=3)).warnings if "sampling weight" in one]
    assert f"fewer than 3 rows have in {rare} of 60 published rows" in found
    step = float(found.rpartition("round = ")[2].partition(" ")[0])
    release = sf.anonymize(table, rules(rounded(step), k=3))
    assert [one for one in release.warnings if "sampling weight" in one] == []


def test_a_weight_is_no_quasi_identifier(rules: Rules) -> None:
    """Classes are those without the column, however different the weights are."""
    table = survey()
    with_weights = sf.anonymize(table, rules(ROLES, k=3, algorithm={"name": "optimal"}))
    without = sf.anonymize(
        table.drop_columns("pond"),
        rules({name: role for name, role in ROLES.items() if name != "pond"}, k=3, algorithm={"name": "optimal"}),
    )
    assert sorted(with_weights.recoding.classes.sizes) == sorted(without.recoding.classes.sizes)
    assert with_weights.levels == without.levels


def test_losses_are_weighed(rules: Rules, runs: Runs, tmp_path: Path) -> None:
    """The weighted NCP counts each row for the people it stands for, from memory and from the files alike."""
    table = survey()
    release = sf.anonymize(table, rules(ROLES, k=3, algorithm={"name": "mondrian"}))
    weights = table["pond"].to_pylist()
    expected = []
    for name in ("age", "sex"):
        labels = release.recoding.labels[name]
        lost = [float(labels.loss[code]) for code in labels.codes.tolist()]
        expected.append(sum(a * b for a, b in zip(lost, weights, strict=True)) / sum(weights))
    assert release.utility.weighted_ncp == pytest.approx(sum(expected) / 2)
    assert release.utility.weighted_ncp != pytest.approx(release.utility.ncp)
    folder = release.save(tmp_path / "kept")
    _write(table, tmp_path / "survey.csv")
    found = json.loads(runs("utility", folder, "--original", "survey.csv", "--queries", "0", "--json").out)
    assert found["weighted_ncp"] == pytest.approx(release.utility.weighted_ncp)
    assert "weighted_ncp" not in sf.anonymize(survey(), rules({**ROLES, "pond": "plain"}, k=3)).utility.as_json()


def _write(table: Any, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, table.column_names)
        writer.writeheader()
        writer.writerows(table.to_pylist())


def test_queries_count_people(saves: Saves, rules: Rules, runs: Runs) -> None:
    """Counts, sums and averages are weighted, and --rows counts rows; what is certain has no error."""
    table = survey()
    folder = saves(table, rules(ROLES, k=3))
    rows = table.to_pylist()
    asked = json.loads(runs("query", folder, "select illness, count(*), sum(pond) group by illness", "--json").out)
    assert asked["weighted_by"] == "pond"
    for answer in asked["answers"]:
        same = [row["pond"] for row in rows if row["illness"] == answer["group"]["illness"]]
        assert answer["values"]["count(*)"] == {"estimate": sum(same), "standard_error": 0.0, "spread": 0.0}
        assert answer["values"]["sum(pond)"]["estimate"] == sum(one**2 for one in same)
    plain = json.loads(runs("query", folder, "select count(*)", "--rows", "--json").out)
    assert plain["answers"][0]["values"]["count(*)"]["estimate"] == 60
    assert "weighted_by" not in plain
    shown = runs("query", folder, "select count(*) where age < 40").out
    assert "rows count by their sampling weights in 'pond'" in shown


def test_uncertain_counts_are_weighted(saves: Saves, rules: Rules) -> None:
    """A row counts by its weight times the share of its label; the spread has squares of weights."""
    folder = saves(survey(), rules(ROLES, k=3, algorithm={"name": "optimal"}))
    with (folder / "public" / "table.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))

    def share(label: str) -> float:
        low, _, high = label.partition("-")
        ages = range(100) if label == "*" else range(int(low), int(high or low) + 1)
        return sum(age < 35 for age in ages) / len(ages)

    shares = [(int(line["pond"]), share(line["age"])) for line in lines]
    found = sf.query(folder, "select count(*) where age < 35")[0].values["count(*)"]
    assert found.estimate == pytest.approx(sum(weight * p for weight, p in shares))
    assert found.spread == pytest.approx(sum(weight**2 * p * (1 - p) for weight, p in shares) ** 0.5)


def test_two_tables_are_weighted(saves: Saves, rules: Rules) -> None:
    """In two tables weights stand beside the quasi-identifiers, and a count of illnesses is one of people."""
    table = survey()
    folder = saves(table, rules(ROLES, k=3, publish={"form": "lossy-join"}))
    everybody = sf.query(folder, "select count(*)")[0].values["count(*)"]
    assert everybody.estimate == pytest.approx(sum(table["pond"].to_pylist()))
    by_illness = sf.query(folder, "select illness, count(*) group by illness")
    assert sum(one.values["count(*)"].estimate or 0 for one in by_illness) == pytest.approx(everybody.estimate)
    paper = sf.query(folder, "select count(*) where illness = 'flu'", estimate="paper")
    assert paper.weighted_by is None


def test_policies_say_what_is_wrong(rules: Rules) -> None:
    """Two columns of weights, a step without the role, and a step of 0 are refused by their keys."""
    table = survey()
    for columns, said in (
        ({**ROLES, "illness": "weight"}, "columns.pond.role: at most one column may be of role weight"),
        ({**ROLES, "pond": {"role": "identifier", "round": 5}}, "columns.pond.round: a column of role identifier"),
        ({**ROLES, "pond": {"role": "weight", "noise": 1}}, "columns.pond.noise: a sampling weight can be rounded"),
        (rounded(0), "columns.pond.round: must be a number above 0"),
        (
            {**ROLES, "pond": {"role": "weight", "hierarchy": "suppress"}},
            "a column of role weight is never generalized",
        ),
    ):
        with pytest.raises(sf.PolicyError, match=said):
            sf.anonymize(table, rules(columns))


@pytest.mark.parametrize(
    ("name", "cells", "is_weight"),
    [
        ("fnlwgt", ["77516", "83311", "215646", "1484705"], True),
        ("pond", ["0.8", "1.2", "3.5"], True),
        ("weight", ["0.35", "1.0", "2.75"], True),
        ("weight", ["54", "61.5", "98.2"], False),
        ("weight", ["1135", "2400", "3950"], False),
        ("weight", ["120", "9800", "15230"], True),
        ("fnlwgt", ["77516", "", "83311"], False),
        ("fnlwgt", ["-1", "2", "3"], False),
    ],
)
def test_init_knows_weights_by_name_and_values(name: str, cells: list[str], *, is_weight: bool) -> None:
    """A weight of the body is none, nor is a column with gaps or negative numbers."""
    counts = {cell: 10 for cell in cells if cell}
    facts = describe_column(name, ColumnValues.from_counts(counts, missing=10 * cells.count("")))
    assert (guess_role(facts).role == "weight") is is_weight


def test_the_page_for_readers_tells_of_weights(saves: Saves, rules: Rules) -> None:
    """The summary says what a weight is, how it was rounded, and what it may tell."""
    page = (saves(survey(), rules(rounded(50), k=3)) / "public" / "summary.html").read_text()
    assert "how many people of the population a row stands for, rounded to 50." in page
    assert "Sampling weights" in page
