"""Against a table of the population: k-map and the journalist's chances, for raw tables and for releases."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.risk import RiskOptions, risk_by_columns, risk_by_policy, risk_by_release

Runs = Callable[..., Any]
Saves = Callable[..., Path]
Rules = Callable[..., dict[str, Any]]
Table = dict[str, list[str]]


def people(rows: int, seed: int) -> Table:
    """A population: ages, sexes, and an illness each."""
    draw = np.random.default_rng(seed)
    ages, sexes, ills = draw.integers(20, 60, rows), draw.integers(0, 2, rows), draw.integers(0, 6, rows)
    return {
        "age": [str(age) for age in ages],
        "sex": ["fm"[sex] for sex in sexes],
        "illness": [f"ill{ill}" for ill in ills],
    }


def written(path: Path, table: Table, rows: int | None = None) -> Path:
    """The first rows of a table as a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(list(zip(*table.values(), strict=True))[:rows])
    return path


@pytest.mark.parametrize("seed", range(5))
def test_a_raw_sample_equals_brute_force(tmp_path: Path, seed: int) -> None:
    """Values are compared by text: sizes in the population are those of a plain count, row by row."""
    whole = people(400, seed)
    sample, population = written(tmp_path / "s.csv", whole, 60), written(tmp_path / "p.csv", whole)
    found = risk_by_columns(sample, ["age", "sex"], asked=RiskOptions(population=population, threshold=0.3))
    tuples = list(zip(whole["age"], whole["sex"], strict=True))
    sizes = [Counter(tuples)[one] for one in tuples[:60]]
    assert found.population is not None
    assert (found.population.k_map, found.population.people) == (min(sizes), 400)
    assert (found.population.outside, found.population.alone) == (0, sizes.count(1))
    assert found.adversaries.journalist.highest == pytest.approx(1 / min(sizes))
    assert found.adversaries.marketer.average == pytest.approx(sum(1 / size for size in sizes) / 60)
    assert found.adversaries.journalist.number == sum(1 / size > 0.3 for size in sizes)


@pytest.fixture
def release(saves: Saves, rules: Rules) -> Path:
    """The first 120 of 1,000 people, with ages in intervals chosen row by row."""
    table = {name: column[:120] for name, column in people(1000, 3).items()}
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
        "sex": "quasi",
        "illness": "sensitive",
    }
    return saves(pa.table(table), rules(columns, k=3, algorithm={"name": "top-down", "seed": 1}))


def covers(label: str, value: str) -> bool:
    """Whether a published age or sex covers a value."""
    if "-" in label:
        low, high = label.split("-")
        return int(low) <= int(value) <= int(high)
    return label in {"*", value}


def test_a_release_equals_brute_force(
    release: Path, tmp_path: Path, cells: Callable[..., list[dict[str, str]]]
) -> None:
    """A raw person of the population counts for every class whose labels cover them, compared label by label."""
    whole = people(1000, 3)
    population = written(tmp_path / "p.csv", whole)
    found = risk_by_release(release, asked=RiskOptions(population=population))
    tuples = Counter(zip(whole["age"], whole["sex"], strict=True))
    sizes = []
    for row in cells(release / "public" / "table.csv"):
        fits = (many for (age, sex), many in tuples.items() if covers(row["age"], age) and covers(row["sex"], sex))
        sizes.append(sum(fits))
    assert found.population is not None
    assert (found.population.k_map, found.population.outside) == (min(sizes), 0)
    assert found.adversaries.marketer.average == pytest.approx(float(np.mean(1 / np.array(sizes))))
    assert found.adversaries.prosecutor.highest <= 1 / 3


def test_a_published_file_needs_the_policy_to_be_understood(release: Path, tmp_path: Path, rules: Rules) -> None:
    """With a policy its hierarchies say what labels stand for, as the manifest does; without, labels are values."""
    population = written(tmp_path / "p.csv", people(1000, 3))
    table, asked = release / "public" / "table.csv", RiskOptions(population=population)
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}, "sex": "quasi"}
    understood = risk_by_policy(table, load(rules(columns, k=3)), asked=asked)
    assert understood.population == risk_by_release(release, asked=asked).population
    plain = risk_by_columns(table, ["age", "sex"], asked=asked).population
    assert plain is not None
    assert plain.outside > 0


def test_rows_that_the_population_lacks(tmp_path: Path) -> None:
    """They cannot be found there and are counted; where it has too few, the class itself hides its rows."""
    sample = written(tmp_path / "s.csv", {"a": ["x", "x", "y", "z"]})
    population = written(tmp_path / "p.csv", {"a": ["x", "y", "y", "q"]})
    found = risk_by_columns(sample, ["a"], asked=RiskOptions(population=population))
    assert found.population is not None
    assert found.population.as_json() == {"people": 4, "k_map": 1, "outside": 1, "short": 2, "alone": 2}
    assert found.adversaries.journalist.highest == 0.5
    assert found.adversaries.marketer.average == pytest.approx((0.5 + 0.5 + 0.5 + 0) / 4)
    nobody = written(tmp_path / "n.csv", {"a": ["q"]})
    lost = risk_by_columns(sample, ["a"], asked=RiskOptions(population=nobody)).population
    assert lost is not None
    assert (lost.k_map, lost.outside) == (None, 4)


@pytest.mark.parametrize("seed", range(3))
def test_persons_of_the_population_count_once(tmp_path: Path, seed: int) -> None:
    """Where both tables say whose a row is, both count persons: different ones, by hand."""
    draw = np.random.default_rng(seed)
    who, what = draw.integers(0, 40, 300), draw.integers(0, 8, 300)
    table = {"p": [f"id{i}" for i in who], "a": [f"v{i}" for i in what]}
    sample, population = written(tmp_path / "s.csv", table, 40), written(tmp_path / "p.csv", table)
    found = risk_by_columns(sample, ["a"], individual="p", asked=RiskOptions(population=population))
    holders: dict[str, set[str]] = defaultdict(set)
    for person, value in zip(table["p"], table["a"], strict=True):
        holders[value].add(person)
    chances: dict[str, float] = defaultdict(float)
    for person, value in list(zip(table["p"], table["a"], strict=True))[:40]:
        chances[person] = max(chances[person], 1 / len(holders[value]))
    assert found.adversaries.counts == "persons"
    assert found.adversaries.marketer.average == pytest.approx(sum(chances.values()) / len(chances))
    assert found.population is not None
    assert found.population.people == len(set(table["p"]))


def test_two_tables_by_their_groups(saves: Saves, rules: Rules, tmp_path: Path) -> None:
    """A person is looked up by values, and any row of the group may be theirs: both chances, multiplied, by hand."""
    whole = people(600, 8)
    columns = {"age": "quasi", "sex": "quasi", "illness": "sensitive"}
    policy = rules(columns, publish={"form": "anatomy"}, algorithm={"name": "anatomy", "seed": 1})
    policy["privacy"] = [{"model": "distinct-l-diversity", "column": "illness", "l": 3}]
    folder = saves(pa.table({name: column[:90] for name, column in whole.items()}), policy)
    found = risk_by_release(folder, asked=RiskOptions(population=written(tmp_path / "p.csv", whole)))
    with (folder / "public" / "nss.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    group = next(name for name in rows[0] if name not in {"age", "sex"})
    tuples = Counter(zip(whole["age"], whole["sex"], strict=True))
    size = Counter(row[group] for row in rows)
    cell = Counter((row["age"], row["sex"], row[group]) for row in rows)
    chances = [
        cell[row["age"], row["sex"], row[group]] / size[row[group]] / tuples[row["age"], row["sex"]] for row in rows
    ]
    assert found.adversaries.journalist.highest == pytest.approx(max(chances))
    assert found.adversaries.marketer.average == pytest.approx(sum(chances) / 90)
    assert found.adversaries.prosecutor.highest == pytest.approx(1 / min(size.values()))
    estimated = risk_by_release(folder, asked=RiskOptions(fraction=0.15))
    assert estimated.uniqueness is not None
    assert 0 < estimated.adversaries.journalist.highest <= 1 / min(size.values())


def test_a_release_by_its_folder_has_the_figures_of_its_audit(release: Path, runs: Runs) -> None:
    """No policy is needed; the figures are those that the release was made with, and of its table read as a file."""
    found = json.loads(runs("risk", release, "--json").out)
    audit = json.loads((release / "private" / "audit.json").read_text())["risk"]
    assert {key: found[key] for key in audit} == pytest.approx(audit)
    table = json.loads(runs("risk", release / "public" / "table.csv", "--quasi", "age,sex", "--json").out)
    assert table["columns"]["sets"] == found["columns"]["sets"]
    assert runs("risk", release / "public").code == 0


def test_a_population_of_a_known_size(tmp_path: Path, runs: Runs) -> None:
    """The size and the share say the same; the estimates stand side by side, with the one that is taken and why."""
    sample = written(tmp_path / "s.csv", people(500, 2), 200)
    sized = json.loads(runs("risk", sample, "--quasi", "age,sex", "--population-size", "4000", "--json").out)
    shared = json.loads(runs("risk", sample, "--quasi", "age,sex", "--sampling-fraction", "0.05", "--json").out)
    assert sized == shared
    assert sized["population_uniqueness"]["people"] == 4000
    assert sized["population_uniqueness"]["chosen"] == "pitman"
    assert sized["basis"] == "estimated from the sampling fraction"
    told = " ".join(runs("risk", sample, "--quasi", "age,sex", "--population-size", "4000").out.split())
    assert "alone in the population, estimated" in told
    assert "taken" in told
    assert "the sampling fraction is at most 0.1" in told


def test_persons_of_a_population_of_a_known_size(tmp_path: Path) -> None:
    """A person who is in several classes is one of the population all the same: its size is the one that was given."""
    table = {"p": [f"id{i % 90}" for i in range(200)], **people(200, 4)}
    found = risk_by_columns(
        written(tmp_path / "s.csv", table), ["age", "sex"], individual="p", asked=RiskOptions(population_size=900)
    ).uniqueness
    assert found is not None
    assert (found.people, found.fraction) == (900, 0.1)
    assert found.estimate.uniques is not None
    assert found.estimate.share is not None
    assert found.estimate.uniques == pytest.approx(900 * found.estimate.share)
    assert 0 < found.estimate.share < 1


def test_what_each_adversary_knows_is_said(tmp_path: Path, runs: Runs) -> None:
    """Whatever the journalist's chances rest on, it stands in words below the figures."""
    sample = written(tmp_path / "s.csv", people(60, 2))
    plain = runs("risk", sample, "--quasi", "age,sex").out
    assert "no population was given, so the table stands for it" in plain
    assert "rows above 0.2" in plain
    assert "rows above 0.4" in runs("risk", sample, "--quasi", "age,sex", "--threshold", "0.4").out
    assert (
        "looks persons up in the population table"
        in runs("risk", sample, "--quasi", "age,sex", "--population", sample).out
    )
    assert all(len(line) <= 80 for line in plain.splitlines() if line[0] in "┏┃┡│└")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--quasi", "age", "--population", "s.csv", "--population-size", "9"], "not several"),
        (["--quasi", "age", "--population-size", "9"], "a population of 9 cannot have the 60 of the table"),
        (["--quasi", "age", "--population-size", "1" + "0" * 29], "no population has more than 100,000,000,000 people"),
        (["--quasi", "age", "--sampling-fraction", "1e-300"], "no population has more than"),
        (["--quasi", "age", "--sampling-fraction", "0"], "must be above 0 and at most 1, not 0"),
        (["--quasi", "age", "--population", "none.csv"], "none.csv does not exist"),
        (["--quasi", "age,sex", "--population", "short.csv"], "the population table has no column 'sex'"),
        (["--quasi", ","], "name at least one quasi-identifier"),
        (["--quasi", "age", "--threshold", "2"], "the threshold must be above 0"),
        (["--quasi", "age", "--sets", "-1"], "sets"),
        ([], "give either --policy or --quasi a,b,c; only a release folder needs neither"),
    ],
)
def test_what_is_wrong_is_said(runs: Runs, tmp_path: Path, options: list[str], words: str) -> None:
    """Options that contradict each other or the table end in one sentence."""
    table = people(60, 2)
    written(tmp_path / "s.csv", table)
    written(tmp_path / "short.csv", {"age": table["age"]})
    outcome = runs("risk", "s.csv", *options)
    assert outcome.code == 2
    assert words in outcome.sentence


def test_a_release_needs_no_options(release: Path, runs: Runs) -> None:
    """It names its columns itself; other columns, and a k where there are no persons, are refused."""
    assert "names its quasi-identifiers and persons itself" in runs("risk", release, "--quasi", "age").sentence
    assert "the release has no pseudonyms" in runs("risk", release, "--k", "3").sentence
    with pytest.raises(DataError, match="no pseudonyms"):
        risk_by_release(release, k=2)
