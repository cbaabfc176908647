"""Persons whose classes too few share are gathered, and nobody is left whom pseudonyms narrow down too far."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sfumato.core.linked_persons import linked_persons
from sfumato.datasets import visits, visits_policy
from sfumato.encode import encode
from sfumato.errors import Infeasible
from sfumato.policy import load
from sfumato.policy.options import FULL_DOMAIN, LOCAL
from sfumato.recode.local import local_recoding
from sfumato.recode.local.local_recoding import auto_candidates
from sfumato.recode.local.start import pose_problem
from sfumato.release import Release, anonymize
from sfumato.table import from_frame
from sfumato.testing import check_recoder
from sfumato.testing.random_tables import random_case

ALGORITHMS = (*FULL_DOMAIN, *LOCAL, "auto")


def released(algorithm: str, linked_k: int | None, patients: int = 400, **keys: Any) -> Release:
    """A release of made-up visits, in which ages and places differ from one visit to the next."""
    document: dict[str, Any] = dict(load(visits_policy()).document)
    rule: dict[str, Any] = {"model": "identity-kl-diversity", "column": "illness", "k": 4, "l": 2}
    asked = {"linked_k": linked_k} if linked_k else {}
    document |= {"privacy": [rule | asked], "algorithm": {"name": algorithm, "seed": 1, **keys}}
    document["columns"] |= {"job": {"role": "quasi", "hierarchy": "suppress"}}
    return anonymize(visits(patients), document)


def sets_of(release: Release) -> dict[str, frozenset[tuple[Any, ...]]]:
    """The published labels of each pseudonym."""
    found: dict[str, set[tuple[Any, ...]]] = {}
    for row in release.table.to_pylist():
        found.setdefault(row["patient"], set()).add(tuple(row[name] for name in ("age", "sex", "zip", "job")))
    return {person: frozenset(labels) for person, labels in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_bounds_what_is_linked(algorithm: str) -> None:
    """From the published rows alone: as many patients have each patient's set of labels; without it, fewer have."""
    free, bound = (sets_of(released(algorithm, linked_k)) for linked_k in (None, 3))
    alike = list(bound.values())
    assert min(alike.count(labels) for labels in alike) >= 3
    before = list(free.values())
    assert min(before.count(labels) for labels in before) < 3


@pytest.mark.parametrize("algorithm", ["optimal", "top-down", "auto"])
def test_the_verifier_finds_the_same(algorithm: str) -> None:
    """What the release reaches is stated, and counted by both implementations alike."""
    found = released(algorithm, 3)
    assert found.privacy[0]["achieved"]["linked_k"] == linked_persons(found.recoding.classes).fewest >= 3


def test_it_costs_less_than_uniting_classes() -> None:
    """Gathering persons keeps classes apart: far more are left than full-domain generalization leaves."""
    assert len(released("top-down", 3).recoding.classes) > 3 * len(released("optimal", 3).recoding.classes)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_with_and_without_suppression(algorithm: str) -> None:
    """Random tables whose persons differ from row to row, with every identity model, meet the definition."""
    random = Random(f"linked {algorithm}")
    cases = []
    for model in ("identity-k-anonymity", "identity-kl-diversity", "identity-alpha-beta") * 3:
        case = random_case(random, model, algorithm)
        case.document["privacy"][0]["linked_k"] = random.choice([2, 3, 4])
        cases.append(case)
    assert check_recoder(algorithm, cases=cases).total() == 9


def test_bottom_up_marks_persons_whole() -> None:
    """Nobody stands in several classes, and less is lost than where persons are gathered afterwards."""
    found = {name: released(name, 3, improve=False) for name in ("bottom-up", "top-down", "progressive")}
    assert {len(labels) for labels in sets_of(found["bottom-up"]).values()} == {1}
    assert found["bottom-up"].utility.ncp < min(found[name].utility.ncp for name in ("top-down", "progressive"))


@pytest.mark.slow
def test_auto_takes_what_costs_least_when_all_is_gathered() -> None:
    """What is cheapest before persons are gathered may not be cheapest after."""
    each = [released(name, 3).utility.ncp for name in ("progressive", "top-down", "bottom-up", "mondrian")]
    assert released("auto", 3).utility.ncp <= min(each) + 1e-9


def test_more_than_there_are_persons_is_infeasible() -> None:
    """A bound that nobody can meet is an error that says what could be."""
    with pytest.raises(Infeasible, match="linked_k at most 400"):
        released("auto", 401)


def test_classes_of_one_person_each_end_as_one() -> None:
    """Where everybody has a pattern of their own, everything is generalized rather than linked."""
    rows: dict[str, list[str]] = {"person": [], "code": [], "illness": []}
    for number, codes in enumerate(["01", "12", "23", "34", "40", "02", "13", "24"]):
        for code in codes:
            rows["person"].append(f"p{number}")
            rows["code"].append(code)
            rows["illness"].append("flu")
    columns = {
        "person": {"role": "individual"},
        "code": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "plain"},
    }
    rule = {"model": "identity-k-anonymity", "k": 2, "linked_k": 8}
    found = anonymize(pa.table(rows), {"columns": columns, "privacy": [rule], "algorithm": {"name": "top-down"}})
    assert set(found.table["code"].to_pylist()) == {"*"}


@pytest.mark.parametrize(
    ("rule", "tried"),
    [
        ({"model": "identity-k-anonymity", "k": 2}, True),
        ({"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": "illness"}, False),
    ],
    ids=["persons", "shares"],
)
def test_auto_tries_bottom_up_where_persons_are(rule: dict[str, Any], tried: bool, monkeypatch: Any) -> None:
    """With individuals it is one of those tried, unless there is an α bound; with linked_k it is the last to go."""
    columns: dict[str, Any] = {
        "person": {"role": "individual"},
        "code": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "illness": {"role": "sensitive"},
    }
    table = pa.table({"person": ["a", "b", "c"], "code": ["11", "12", "21"], "illness": ["x", "y", "z"]})
    linked_rule = {"model": "identity-k-anonymity", "k": 1, "linked_k": 2}
    asked = [load({"columns": columns, "privacy": rules}) for rules in ([rule], [rule, linked_rule])]
    problems = [pose_problem(encode(from_frame(table, policy), policy), policy) for policy in asked]
    assert ["bottom-up" in auto_candidates(problem) for problem in problems] == [tried, True]
    monkeypatch.setattr(local_recoding, "_TRIED", 0)
    assert [auto_candidates(problem) for problem in problems] == [("progressive",), ("bottom-up",)]
