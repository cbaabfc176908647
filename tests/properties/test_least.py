"""`least`: no cell is told more exactly than its level, whatever the algorithm; losses count from the values."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow.csv import write_csv

import sfumato as sf
from sfumato.cli.main import _run
from sfumato.encode import encode
from sfumato.errors import Infeasible
from sfumato.labels.label_overlap import DescribedLabels, find_overlap
from sfumato.policy.options import RECODERS
from sfumato.recode import recode
from sfumato.release import prepare
from sfumato.table import from_frame
from sfumato.testing import TableCase, check_recoder, random_case
from sfumato.testing.exhaustive_search import NodeOutcome, best_outcome, evaluate_every_node, minimal_outcomes
from sfumato.testing.join_cases import random_join_case
from sfumato.testing.random_tables import METRICS

pytestmark = pytest.mark.slow

Rules = Callable[..., dict[str, Any]]
FULL: dict[str, Callable[[list[NodeOutcome]], list[NodeOutcome]]] = {
    "optimal": lambda passing: passing,
    "samarati": lambda passing: [one for one in passing if sum(one.node) == min(sum(each.node) for each in passing)],
    "incognito": minimal_outcomes,
}


def limited(random: Random, algorithm: str, model: str | None = None) -> TableCase:
    """A random case, some of whose columns with levels may not be told exactly."""
    case = random_case(random, model, algorithm)
    columns = dict(case.document["columns"])
    for name in case.trees:
        # an aggregate may be more exact than a level, and is refused beside one
        rest = {key: value for key, value in columns[name].items() if key != "aggregate"}
        columns[name] = rest | {"least": random.randint(0, case.height(name))}
    return replace(case, document=case.document | {"columns": columns})


def least(case: TableCase, name: str) -> int:
    """The lowest level that a column may be told at."""
    return int(case.document["columns"][name].get("least", 0))


def held(case: TableCase, folder: Path) -> None:
    """Release a case, and hold each published cell against the row that it came from."""
    try:
        release = sf.anonymize(case.arrow(), case.policy(folder))
    except Infeasible:
        return
    originals = {row["visits"]: row for row in case.rows}
    for row in release.table.to_pylist():
        for name in case.trees:
            allowed = case.path(name, originals[row["visits"]][name])[least(case, name) :]
            assert row[name] in allowed, (name, row[name], allowed)
    for name, level in (release.levels or {}).items():
        assert level >= least(case, name)
    for name in case.trees:
        cost = release.utility.attributes[name]
        assert cost.distortion >= least(case, name) / case.height(name) - 1e-9
        assert not (least(case, name) and cost.exact_cells)


@pytest.mark.parametrize("algorithm", RECODERS)
def test_no_cell_is_finer(algorithm: str, tmp_path: Path) -> None:
    """On random tables and with every model: verified, no row lost, cells are ancestors, and none is too fine."""
    random = Random(f"least {algorithm}")
    cases = [limited(random, algorithm) for _ in range(8)]
    assert check_recoder("any", cases=cases).total() == len(cases)
    for case in cases:
        held(case, tmp_path)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False), algorithm=st.sampled_from(RECODERS))
def test_no_cell_is_finer_where_hypothesis_looks(
    tmp_path_factory: pytest.TempPathFactory, random: Random, algorithm: str
) -> None:
    """The same for tables that Hypothesis chooses and makes small."""
    held(limited(random, algorithm), tmp_path_factory.mktemp("least"))


def chosen(case: TableCase, folder: Path) -> tuple[int, ...] | None:
    """The levels that a full-domain algorithm chooses, counted in the policy's hierarchies."""
    policy = case.policy(folder)
    try:
        found = recode(encode(from_frame(case.arrow(), policy), policy), policy)
    except Infeasible:
        return None
    assert found.levels is not None
    return tuple(found.levels[name] for name in case.quasi)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("algorithm", FULL)
def test_the_best_of_what_may_be_told(algorithm: str, metric: str, tmp_path: Path) -> None:
    """A full-domain search finds the best node from `least` on, by losses that count from the values that came in."""
    random = Random(f"best {algorithm} {metric}")
    for _ in range(4):
        case = limited(random, algorithm, "k-anonymity").with_algorithm(metric=metric)
        lowest = [least(case, name) for name in case.quasi]
        outcomes = [
            one
            for node, one in evaluate_every_node(case).items()
            if all(a >= b for a, b in zip(node, lowest, strict=True))
        ]
        passing = [one for one in outcomes if one.passes]
        expected = best_outcome(FULL[algorithm](passing)).node if passing else None
        assert chosen(case, tmp_path) == expected


PEOPLE = pa.table(
    {
        "born": ["1980-01-05", "1980-07-21", "1985-03-02", "1985-03-03", "1991-12-24", "1991-01-01", None, None],
        "zip": ["10001", "10002", "03601", "20301", "10001", "10002", "03602", "03601"],
        "age": [44, 43, 39, 38, 93, 97, 50, 50],
        "illness": ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "cold"],
    }
)


@pytest.fixture
def safe(tmp_path: Path) -> dict[str, Any]:
    """A policy that tells years, three digits and ages up to 90."""
    lines = {code: "000" if code[:3] in {"036", "203"} else code[:3] for code in PEOPLE["zip"].to_pylist()}
    (tmp_path / "zip.csv").write_text("".join(f"{code},{told},*\n" for code, told in lines.items()))
    ages = {"intervals": [1, 5, 10], "domain": [0, 120], "top": 90}
    return {
        "columns": {
            "born": {"role": "quasi", "hierarchy": {"dates": ["month", "year", "decade"]}, "least": 2},
            "zip": {"role": "quasi", "hierarchy": str(tmp_path / "zip.csv"), "least": 1},
            "age": {"role": "quasi", "hierarchy": ages, "least": 1},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }


@pytest.mark.parametrize("algorithm", RECODERS)
def test_years_three_digits_and_ninety(safe: dict[str, Any], algorithm: str) -> None:
    """Where nothing else is asked for, every cell is at its lowest level: NULL stays NULL, and all columns are text."""
    release = sf.anonymize(PEOPLE, safe | {"algorithm": {"name": algorithm}})
    rows = sorted(release.table.to_pylist(), key=repr)
    assert {row["born"] for row in rows} == {"1980", "1985", "1991", None}
    assert {row["zip"] for row in rows} == {"100", "000"}
    assert {row["age"] for row in rows} == {"44", "43", "39", "38", "90+", "50"}
    assert release.levels in (None, {"born": 2, "zip": 1, "age": 1})
    cost = release.utility.attributes
    # of seven different dates a year has two, and NULL one; of five codes 100 has two and 000 three
    assert cost["born"].ncp == pytest.approx((6 * 1 + 2 * 0) / 6 / 8)
    assert cost["born"].distortion == pytest.approx(2 / 4)
    assert cost["zip"].ncp == pytest.approx((4 * 1 + 4 * 2) / 4 / 8)


def test_the_files_say_the_same(safe: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Saved: public files hold the lowest level and no finer value, and `sfumato utility` finds the same cost."""
    write_csv(PEOPLE, tmp_path / "raw.csv")
    rules = safe | {"privacy": [{"model": "k-anonymity", "k": 2}]}
    release = sf.anonymize(tmp_path / "raw.csv", rules)
    release.save(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "public" / "manifest.json").read_text())
    assert {entry["name"]: entry.get("least") for entry in manifest["columns"]} == {
        "born": 2, "zip": 1, "age": 1, "illness": None
    }  # fmt: skip
    exact = [text for name in ("born", "zip") for text in PEOPLE[name].to_pylist() if text]
    for path in (tmp_path / "out" / "public").iterdir():
        found = path.read_text()
        assert not [text for text in exact if text in found], path.name
    assert _run(["utility", str(tmp_path / "out"), "--original", str(tmp_path / "raw.csv"), "--json"]) == 0
    told, found = release.utility.as_json(), json.loads(capsys.readouterr().out)
    assert found["ncp"] == pytest.approx(told["ncp"])
    for name, part in told["attributes"].items():
        assert found["attributes"][name] == pytest.approx(part)


def test_a_value_that_must_not_be_told_may_be_under_any_label() -> None:
    """Who looks somebody up by a finer value than a release lists is told that all its labels fit; of others, which."""
    entry = {"least": 1, "covers": {"*": ["100", "606", "000"]}}
    shown = DescribedLabels(["100", "000", "*"], entry)
    found = find_overlap(DescribedLabels(["10001", "100", "000"], {}), shown)
    assert found is not None
    assert found.overlaps(np.arange(3)).tolist() == [[True] * 3, [True, False, True], [False, True, True]]


def test_a_label_that_is_a_value_below(tmp_path: Path, rules: Rules) -> None:
    """A text that stands for one value below `least` and for two at it means the two, in every measure and account."""
    (tmp_path / "job.csv").write_text("cook,cook,*\nchef,cook,*\nnurse,nurse,*\n")
    table = pa.table({"job": ["cook", "chef", "nurse", "nurse"], "sex": ["f"] * 4})
    roles = {"job": {"role": "quasi", "hierarchy": str(tmp_path / "job.csv"), "least": 1}, "sex": "quasi"}
    for name in ("auto", "optimal"):
        release = sf.anonymize(table, rules(roles, algorithm={"name": name}))
        assert sorted(release.table["job"].to_pylist()) == ["cook", "cook", "nurse", "nurse"]
        cost = release.utility.attributes["job"]
        assert (cost.ncp, cost.distortion, cost.exact_cells) == (2 * 0.5 / 4, 0.5, 0)
        assert cost.entropy == pytest.approx(1 - 1 / 1.5)


def test_joined_with_earlier_releases(tmp_path: Path) -> None:
    """Where requirements are about a join, rows told no finer than `least` keep them, and the verifier says so too."""
    seen: Counter[str] = Counter()
    for seed in range(40):
        case = random_join_case(seed)
        levelled = [name for name in case.quasi if case.trees[name].levelled]
        columns = case.document["columns"] | {name: case.document["columns"][name] | {"least": 1} for name in levelled}
        case = replace(case, document=case.document | {"columns": columns})
        try:
            release = prepare(case.arrow(), case.policy(tmp_path))
        except Infeasible:
            seen["infeasible"] += 1
            continue
        published = release.tables["table"].arrow.to_pylist()
        assert release.verdict.satisfied
        assert case.passes(published)
        originals = {row["visits"]: row for row in case.rows}
        for row, name in product(published, levelled):
            path = case.trees[name].leaves[originals[row["visits"]][name]]
            assert row[name] in path[1:]
            seen["told"] += row[name] != "*"
    assert seen["told"] > 10
    assert seen["infeasible"] < 40
