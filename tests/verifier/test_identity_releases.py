"""Releases under the identity-reserved models: made by the library, changed afterwards, and with odd requirements."""

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from sfumato.errors import InputError, NotVerified
from sfumato.verifier import RequestedPromise, verify

COLUMNS: dict[str, Any] = {
    "who": {"role": "individual"},
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 3}},
    "illness": {"role": "sensitive"},
}
KL = {"model": "identity-kl-diversity", "column": "illness", "k": 4, "l": 2}
RULES: tuple[dict[str, Any], ...] = (
    {"model": "identity-k-anonymity", "k": 4},
    KL,
    {"model": "identity-alpha-beta", "column": "illness", "alpha": 0.4, "beta": 0.75},
)
ALPHA_BETA = {"model": "identity-alpha-beta", "column": "illness", "alpha": 0.5, "beta": 0.5}
MALFORMED: tuple[dict[str, Any], ...] = (
    {"model": "identity-k-anonymity"},
    {"model": "identity-k-anonymity", "k": 2.0},
    {"model": "identity-k-anonymity", "k": 2, "column": "illness"},
    {"model": "identity-k-anonymity", "k": 2, "linked_k": 0},
    {"model": "identity-k-anonymity", "k": 2, "linked_k": True},
    {"model": "identity-k-anonymity", "k": 2, "linked_k": "2; DROP TABLE people"},
    {"model": "identity-k-anonymity", "k": 2, "linked_k": 10**40},
    {"model": "identity-k-anonymity", "k": 2, "linked": 2},
    {"model": "identity-kl-diversity", "k": 2, "l": 2},
    {"model": "identity-kl-diversity", "column": "illness", "k": 2},
    {"model": "identity-kl-diversity", "column": "illness", "l": 2},
    {"model": "identity-kl-diversity", "column": "illness", "k": 2, "l": 2.5},
    {"model": "identity-kl-diversity", "columns": ["illness"], "k": 2, "l": 2},
    {"model": "identity-alpha-beta", "column": "illness", "alpha": 0.5},
    {"model": "identity-alpha-beta", "column": "illness", "beta": 0.5},
    {**ALPHA_BETA, "alpha": 0},
    {**ALPHA_BETA, "beta": 1.1},
    {**ALPHA_BETA, "beta": "0.5'); DROP TABLE classes; --"},
    {**ALPHA_BETA, "beta": float("nan")},
    {**ALPHA_BETA, "values": ["flu"]},
    {**ALPHA_BETA, "refined": True},
    {**ALPHA_BETA, "column": 5},
    {"model": "k-anonymity", "k": 2, "linked_k": 2},
    {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "beta": 0.5},
)

Lines = list[dict[str, Any]]


def visits(rows: int = 300, persons: int = 120) -> pa.Table:
    """Made-up visits: a person, one of them without a name, mostly comes from the same place."""
    draw = random.Random(5)
    names = [None, *(f"person {i}" for i in range(1, persons))]
    homes = {name: (draw.choice("fm"), draw.choice(["431", "432", "501", "502"])) for name in names}
    lines = []
    for name in draw.choices(names, k=rows):
        sex, place = homes[name]
        place = draw.choice(["431", "502"]) if draw.random() < 0.05 else place
        lines.append({"who": name, "sex": sex, "zip": place, "illness": draw.choice(["flu", "cold", "ulcer", None])})
    return pa.Table.from_pylist(lines)


def policy(rule: dict[str, Any], *, algorithm: str = "optimal", **publish: str) -> dict[str, Any]:
    """A policy of one requirement."""
    name = {} if publish.get("form") == "anatomy" else {"name": algorithm}
    return {"columns": COLUMNS, "privacy": [rule], "algorithm": {**name, "seed": 1}, "publish": publish}


@pytest.mark.slow
@pytest.mark.parametrize("linked_k", [None, 3])
@pytest.mark.parametrize("form", ["generalized", "lossy-join"])
@pytest.mark.parametrize("algorithm", ["optimal", "top-down", "mondrian"])
def test_every_algorithm_and_form_holds(made: Any, algorithm: str, form: str, linked_k: int | None) -> None:
    """The release passes, its manifest states the figures that were found, and one more to share a set is too many."""
    for place, rule in enumerate(RULES):
        asked = rule if linked_k is None else {**rule, "linked_k": linked_k}
        rules = policy(asked, algorithm=algorithm, form=form)
        release = made(visits(), folder=f"release {place}", **rules)
        verdict = verify(release.folder)
        assert verdict.complaints == ()
        [found] = verdict.privacy
        assert release.manifest["privacy"] == [found.as_json()]
        assert ("linked_k" in found.achieved) is (linked_k is not None)
        more = found.achieved.get("linked_k", 10**6) + 1
        assert not verify(release.folder, asked=RequestedPromise([{**rule, "linked_k": more}])).satisfied


def test_anatomy_holds_where_a_bucket_has_enough_persons(made: Any) -> None:
    """Buckets of two rows of different people, each of whom has half of one."""
    table = visits(100, 100).set_column(0, "who", pa.array([f"person {i}" for i in range(100)]))
    rule = {**ALPHA_BETA, "linked_k": 2}
    release = made(table, **policy(rule, form="anatomy"))
    verdict = verify(release.folder)
    assert verdict.complaints == ()
    assert verdict.privacy[0].achieved == {"alpha": 0.5, "beta": 0.5, "linked_k": 2}


def test_rows_without_a_name_are_those_of_one_person(made: Any) -> None:
    """All of them get one pseudonym, so no published person is NULL and as many are counted as the input has."""
    table = visits()
    release = made(table, **policy(RULES[0]))
    given, published = ([row["who"] for row in rows] for rows in (table.to_pylist(), release.load()))
    assert None in given
    assert None not in published
    assert sorted(Counter(given).values()) == sorted(Counter(published).values())


@pytest.fixture
def linking(made: Any) -> Any:
    """A release in which each person shares their set of classes with two others at least."""
    return made(visits(), **policy({**RULES[0], "linked_k": 3}, format="parquet"))


def in_class(rows: Lines) -> Lines:
    """The rows of the class of the first row."""
    return [row for row in rows if (row["sex"], row["zip"]) == (rows[0]["sex"], rows[0]["zip"])]


def one_person(rows: Lines) -> Lines:
    """A class that is one person's alone."""
    for row in in_class(rows):
        row["who"] = rows[0]["who"]
    return rows


def tied(rows: Lines) -> Lines:
    """Two persons of different classes under one pseudonym."""
    mine = {row["who"] for row in in_class(rows)}
    other = next(row["who"] for row in rows if row["who"] not in mine)
    return [{**row, "who": rows[0]["who"] if row["who"] == other else row["who"]} for row in rows]


def moved(rows: Lines) -> Lines:
    """A row of a person in a class where they have none."""
    mine = {(row["sex"], row["zip"]) for row in rows if row["who"] == rows[0]["who"]}
    other = next(row for row in rows if (row["sex"], row["zip"]) not in mine)
    return [*rows[1:], {**rows[0], "sex": other["sex"], "zip": other["zip"]}, rows[0]]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (one_person, "identity-k-anonymity: the class .* has 1 persons, fewer than 4"),
        (one_person, "in a set of classes that fewer than 3 persons share"),
        (tied, "identity-k-anonymity: 1 person stands in a set of classes that fewer than 3 persons share"),
        (moved, "identity-k-anonymity: 1 person stands in a set of classes that fewer than 3 persons share"),
    ],
)
def test_changed_pseudonyms_are_found_out(linking: Any, change: Callable[[Lines], Lines], complaint: str) -> None:
    """Whoever gives rows to another person breaks what was promised of persons, and no pseudonym is told."""
    linking.store(change(linking.load()))
    linking.sign()
    complaints = "\n".join(verify(linking.folder).complaints)
    assert re.search(complaint, complaints)
    assert not any(row["who"] in complaints for row in linking.load())


@pytest.mark.parametrize("figure", [{"k": 9, "linked_k": 99}, {"k": 9}, {"linked_k": 3}, {"k": 9, "linked_k": "3"}])
def test_a_figure_that_was_made_up_is_found_out(linking: Any, figure: dict[str, Any]) -> None:
    """A manifest that claims that more persons share their classes than do, or that says nothing of it."""
    [stated] = linking.manifest["privacy"]
    right = stated["achieved"]
    linking.rewrite(privacy=[{**stated, "achieved": {**figure, **({"k": right["k"]} if "k" in figure else {})}}])
    linking.sign()
    complaints = verify(linking.folder).complaints
    assert complaints == ("what the manifest states of identity-k-anonymity is not what the table holds",)


@pytest.mark.parametrize("key", ["linked_k", "beta", "alpha"])
def test_a_promise_of_other_bounds_is_not_that_of_the_policy(made: Any, key: str) -> None:
    """The promise with a bound made laxer, or left out, is not what the policy in the audit asks for."""
    release = made(visits(), **policy({**RULES[2], "linked_k": 3}))
    [rule] = release.manifest["promise"]
    laxer = (
        {name: value for name, value in rule.items() if name != "linked_k"} if key == "linked_k" else {**rule, key: 1}
    )
    release.rewrite(
        promise=[laxer],
        privacy=[found.as_json() for found in verify(release.folder, asked=RequestedPromise([laxer])).privacy],
    )
    release.sign()
    assert verify(release.folder).complaints == ("the manifest does not promise what the policy in the audit asks for",)


@pytest.mark.slow
@pytest.mark.parametrize("rule", MALFORMED, ids=str)
def test_requirements_that_mean_nothing_are_a_sentence(linking: Any, rule: dict[str, Any]) -> None:
    """In the manifest they show that it was changed; asked for, they are the caller's mistake."""
    with pytest.raises(InputError):
        verify(linking.folder, asked=RequestedPromise([rule]))
    linking.rewrite(promise=[rule])
    with pytest.raises(NotVerified, match=r"^manifest\.json: "):
        verify(linking.folder)


def test_individuals_that_no_column_names_are_a_sentence(made: Any) -> None:
    """A manifest that promises something of individuals without a column of them was changed; so was no question."""
    release = made()
    sentence = "identity-kl-diversity counts individuals, and the release has no column of the role individual"
    with pytest.raises(InputError, match=f"^{sentence}$"):
        verify(release.folder, asked=RequestedPromise([KL]))
    release.rewrite(promise=[KL])
    with pytest.raises(NotVerified, match=rf"^manifest\.json: {sentence}; it was changed"):
        verify(release.folder)
