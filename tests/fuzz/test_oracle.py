"""The fuzzer's oracle finds what it is there for: releases that were changed by hand, and refusals without a reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz.case import FuzzCase
from fuzz.oracle import Finding, Oracle
from fuzz.policies import random_case
from fuzz.published import PublishedFiles
from fuzz.shrink import shrink
from sfumato.policy import Policy
from sfumato.release import prepare

COLUMNS: dict[str, list[str | None]] = {
    "name": [f"CANARYNAME{i}" for i in range(7)],
    "town": ["bernbern", "bernbern", "thunthun", "thunthun", "chur", None, None],
    "age": ["31", "38", "33", "39", "35", "77", "79"],
    "illness": ["flu", "HIV", "flu", "cold", "CANARYILL", "flu", "cold"],
    "tag": [f"row{i}" for i in range(7)],
}
DOCUMENT: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "town": {"role": "quasi", "hierarchy": "suppress"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20], "domain": [0, 99]}},
        "illness": {"role": "sensitive"},
        "tag": {"role": "plain"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 2},
        {"model": "distinct-l-diversity", "column": "illness", "l": 2},
    ],
    "algorithm": {"name": "optimal", "suppression": 0.2},
}
CASE = FuzzCase(1, COLUMNS, dict.fromkeys(COLUMNS, "string"), DOCUMENT)


def kinds(found: list[Finding]) -> set[str]:
    """What is wrong, in a word each."""
    return {finding.kind for finding in found}


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """The public folder of a release of the case: towns as they are, ages in tens, Chur suppressed."""
    CASE.write_inputs(tmp_path)
    release = prepare(CASE.data(tmp_path), Policy.read(CASE.document, folder=tmp_path))
    assert release.levels == {"town": 0, "age": 1}
    return release.save(tmp_path / "release") / "public"


def _judge(public: Path) -> set[str]:
    return kinds(Oracle(CASE).judge_release(PublishedFiles(CASE, public)))


def test_a_release_as_it_was_made(public: Path) -> None:
    """Nothing is found in what nobody has touched."""
    assert _judge(public) == set()


CHANGES: dict[str, tuple[Callable[[str], str], str]] = {
    "a row less": (lambda text: text.replace(",70-79,flu,row5\n", ""), "too many rows suppressed"),
    "a value of another": (lambda text: text.replace("HIV", "flu"), "requirement broken"),
    "a value of nobody": (lambda text: text.replace("HIV", "plague"), "invented values"),
    "two rows exchanged": (lambda text: text.replace("HIV", "?").replace("cold,row3", "HIV,row3").replace("?", "cold"),
                           "invented values"),
    "a label that does not cover": (lambda text: text.replace("bernbern,30-39,flu", "bernbern,20-29,flu"),
                                    "a label does not cover its value"),
    "a label of another level": (lambda text: text.replace("30-39", "20-39"), "labels of another level"),
    "NULL as a star": (lambda text: text.replace("\n,70-79", "\n*,70-79"), "labels of another level"),
    "NULL as an empty text": (lambda text: text.replace("\n,70-79", '\n"",70-79'), "a label does not cover its value"),
    "a formula": (lambda text: text.replace("row0", "=row0"), "formula"),
    "a cell too few": (lambda text: text.replace(",row0", ""), "unreadable"),
    "a column more": (lambda text: text.replace("\n", ",x\n"), "columns"),
    "an identifier": (lambda text: text.replace("row0", "CANARYNAME0"), "an identifier value is in a public file"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_table(change: str, public: Path) -> None:
    """Each way of spoiling the table is found and called by its name."""
    spoil, kind = CHANGES[change]
    table = public / "table.csv"
    text = table.read_text(encoding="utf-8")
    spoilt = spoil(text)
    assert spoilt != text
    table.write_text(spoilt, encoding="utf-8")
    assert kind in _judge(public)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("CANARYILL", "a sensitive value of suppressed rows alone is public"),
        ("CANARYNAME3", "an identifier value is in a public file"),
    ],
)
@pytest.mark.parametrize("file", ["manifest.json", "summary.html"])
def test_a_canary_beside_the_table(value: str, kind: str, file: str, public: Path) -> None:
    """A value that no published row holds is found in whichever public file it stands."""
    path = public / file
    if file == "manifest.json":
        content = json.loads(path.read_text(encoding="utf-8")) | {"note": value}
        path.write_text(json.dumps(content), encoding="utf-8")
    else:
        path.write_text(path.read_text(encoding="utf-8") + value, encoding="utf-8")
    assert _judge(public) == {kind}


def test_a_worse_node_than_the_best(public: Path) -> None:
    """A release of higher levels than needed is not what the optimal algorithm may publish."""
    table, manifest = public / "table.csv", public / "manifest.json"
    table.write_text(table.read_text(encoding="utf-8").replace("30-39", "20-39").replace("70-79", "60-79"))
    content = json.loads(manifest.read_text(encoding="utf-8"))
    next(column for column in content["columns"] if column["name"] == "age")["level"] = 2
    manifest.write_text(json.dumps(content), encoding="utf-8")
    assert _judge(public) == {"optimal is not optimal"}


def test_saying_no_without_a_reason() -> None:
    """The table as one class meets the requirements, so that they can be met; and the policy breaks no rule."""
    assert kinds(Oracle(CASE).judge_infeasible("k can be at most 7")) == {
        "infeasible, but the table as one class passes"
    }
    assert kinds(Oracle(CASE).judge_refusal("no")) == {"refused"}
    greedy = CASE.with_document(privacy=[{"model": "k-anonymity", "k": 8}])
    assert Oracle(greedy).judge_infeasible("k can be at most 7") == []
    assert kinds(Oracle(greedy).judge_infeasible("not for CANARYNAME4")) == {"an identifier value is in the sentence"}


def test_a_node_that_passes() -> None:
    """Where rows may be suppressed, a node may pass although the table as one class does not."""
    close = [{"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "values": ["CANARYILL", "flu"]}]
    strict = CASE.with_document(privacy=[*close, {"model": "k-anonymity", "k": 2}])
    columns: dict[str, list[str | None]] = {**COLUMNS, "illness": ["flu", "HIV", "flu", "flu", "flu", "flu", "cold"]}
    case = FuzzCase(1, columns, CASE.types, strict.document | {"algorithm": {"name": "optimal", "suppression": 0.5}})
    assert kinds(Oracle(case).judge_infeasible("no")) == {"infeasible, but a node passes"}


def test_a_seed_is_a_case(tmp_path: Path) -> None:
    """The same seed draws the same case, and a case that is written down is read as it was."""
    for seed in range(30):
        case = random_case(seed)
        assert case == random_case(seed)
        case.write(tmp_path / str(seed))
        assert FuzzCase.read(tmp_path / str(seed)) == case


def test_a_failing_case_gets_smaller() -> None:
    """What the failure does not need is taken away: rows, columns, requirements, keys."""
    small = shrink(CASE, lambda case: "HIV" in case.columns.get("illness", []))
    assert small.columns == {"illness": ["HIV"]}
    assert len(small.rules) == 1
    assert small.algorithm == {}
