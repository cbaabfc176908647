"""What a policy may say of earlier releases and of requirements on the join with them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import Policy, Reference, load

Refused = Callable[..., str]

LINKED: dict[str, Any] = {
    "columns": {
        "ssn": {"role": "identifier"},
        "person": {"role": "individual"},
        "sex": {"role": "quasi", "hierarchy": "suppress"},
        "age": {"role": "quasi", "hierarchy": {"ranges": True}},
        "illness": {"role": "sensitive"},
        "visits": {"role": "plain"},
    },
    "privacy": [{"model": "xy-anonymity", "x": ["sex", "tax.sex"], "y": ["$row"], "k": 2}],
    "previous": [{"name": "tax", "table": "tax.csv"}],
}


def changed(**tables: Any) -> dict[str, Any]:
    """The policy with other tables."""
    return {**LINKED, **tables}


def privacy(**keys: Any) -> dict[str, Any]:
    """The policy with other keys of its one requirement."""
    return changed(privacy=[LINKED["privacy"][0] | keys])


def test_auto_means_tds() -> None:
    """A policy with a requirement on the join is for top-down specialization, named or not."""
    policy = load(LINKED)
    assert policy.recoder == "tds"
    assert policy.privacy == ()
    assert [entry.name for entry in policy.linkage] == ["xy-anonymity"]
    assert load(changed(algorithm={"name": "tds"})).recoder == "tds"


def test_requirements_keep_their_order() -> None:
    """Requirements on classes and on the join stand side by side, in the order of the policy."""
    both = [*LINKED["privacy"], {"model": "k-anonymity", "k": 2}, *LINKED["privacy"]]
    policy = load(changed(privacy=both))
    assert [entry.name for entry in policy.stated] == ["xy-anonymity", "k-anonymity", "xy-anonymity"]
    assert len(policy.privacy) == 1


def test_paths_start_at_the_policy(tmp_path: Path) -> None:
    """The table of an earlier release is found from where the policy stands."""
    assert Policy.read(LINKED, folder=tmp_path).previous[0].path == tmp_path / "tax.csv"


def test_rules_are_read() -> None:
    """A rule is a pair of a column and a value each, of two tables; a value may hold an equals sign."""
    rules = [["sex=Male", "tax.test=a=b"]]
    (pair,) = load(changed(previous=[LINKED["previous"][0] | {"inconsistent": rules}])).previous[0].inconsistent
    assert [side.reference for side in pair] == [Reference("sex"), Reference("test", "tax")]
    assert [side.value for side in pair] == ["Male", "a=b"]


@pytest.mark.parametrize(
    ("document", "key", "words"),
    [
        (changed(previous={"name": "tax"}), "previous", "must be a list of tables, written [[previous]]"),
        (changed(previous=[{"table": "tax.csv"}]), "previous[0].name", "is missing"),
        (changed(previous=[{"name": "tax"}]), "previous[0].table", "is missing"),
        (changed(previous=[{"name": "t x", "table": "a"}]), "previous[0].name", "letters, digits"),
        (changed(previous=LINKED["previous"] * 2), "previous[1].name", "another release already"),
        (changed(previous=[{"name": "tax", "tabel": "a"}]), "previous[0].tabel", "did you mean table"),
        (
            changed(previous=[LINKED["previous"][0] | {"inconsistent": [["sex=Male"]]}]),
            "previous[0].inconsistent[0]",
            "must be a pair",
        ),
        (
            changed(previous=[LINKED["previous"][0] | {"inconsistent": [["sex", "tax.a=b"]]}]),
            "previous[0].inconsistent[0]",
            "must be a column and a value",
        ),
        (
            changed(previous=[LINKED["previous"][0] | {"inconsistent": [["sex=a", "age=b"]]}]),
            "previous[0].inconsistent[0]",
            "both sides are of one table",
        ),
        (
            changed(previous=[LINKED["previous"][0] | {"inconsistent": [["sx=a", "tax.a=b"]]}]),
            "previous[0].inconsistent",
            "'sx' is not one of [columns]; did you mean sex?",
        ),
        (
            changed(previous=[LINKED["previous"][0] | {"inconsistent": [["ssn=a", "tax.a=b"]]}]),
            "previous[0].inconsistent",
            "'ssn' is of role identifier",
        ),
        (
            changed(previous=[LINKED["previous"][0] | {"inconsistent": [["age=3", "tax.a=b"]]}]),
            "previous[0].inconsistent",
            "'age' is published as ranges or sets",
        ),
        (privacy(releases=["taxes"]), "privacy[0].releases", "'taxes' is no earlier release; did you mean tax?"),
        (
            changed(
                previous=[*LINKED["previous"], {"name": "old", "table": "old.csv"}],
                privacy=[LINKED["privacy"][0] | {"releases": ["old"]}],
            ),
            "privacy[0].x",
            "'tax.sex' is of a release that is not joined; add 'tax' to releases",
        ),
        (changed(privacy=[{"model": "k-anonymity", "k": 2}]), "previous", "no requirement looks at earlier releases"),
        (privacy(x=["sex", "taxes.sex"]), "privacy[0].x", "'taxes.sex' is not one of [columns]; did you mean tax.sex?"),
        (privacy(x=["ssn"]), "privacy[0].x", "'ssn' is of role identifier"),
        (privacy(x=["person"]), "privacy[0].x", "'person' is of role individual"),
        (privacy(x=["illness"], y=["sex"]), "privacy[0].y", "'sex' is of role quasi; y is what x is measured against"),
        (changed(algorithm={"name": "optimal"}), "columns.age.hierarchy", "has no levels"),
        (
            changed(algorithm={"name": "mondrian"}),
            "algorithm.name",
            "mondrian does not look at joins; write tds, or leave it out",
        ),
        (changed(algorithm={"suppression": 0.1}), "algorithm.suppression", "are met by generalizing"),
        (changed(publish={"form": "lossy-join"}), "publish.form", "publishes values as they are"),
    ],
)
def test_what_makes_no_sense_is_refused(document: dict[str, Any], key: str, words: str) -> None:
    """Every slip is an error that names its key and says what would be right."""
    with pytest.raises(PolicyError) as caught:
        load(document)
    assert caught.value.key == key
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("search", "publish", "key", "words"),
    [
        ({"metric": "ncp"}, {}, "algorithm.metric", "tds goes by its score"),
        ({"improve": True}, {}, "algorithm.improve", "keep one cut"),
        ({"keep_together": False}, {}, "algorithm.keep_together", "keeps all rows"),
        ({"score": "classification"}, {}, "algorithm.class", "is missing"),
        ({"class": "sex"}, {}, "algorithm.class", "'sex' is of role quasi"),
        ({"class": "ilness"}, {}, "algorithm.class", "did you mean illness"),
        ({"class": "visits", "score": "distortion"}, {}, "algorithm.class", "a class is for the scores"),
        ({}, {"ranges": "means"}, "publish.ranges", "not means"),
        (
            {"name": "mondrian", "score": "distortion"},
            {},
            "algorithm.score",
            "is for tds, and the algorithm is mondrian",
        ),
    ],
)
def test_keys_that_do_not_go_with_cuts(search: dict[str, Any], publish: dict[str, Any], key: str, words: str) -> None:
    """A key that would change nothing, or that lacks another, is an error."""
    plain = [{"model": "k-anonymity", "k": 2}]
    document = changed(privacy=plain, algorithm={"name": "tds", **search}, publish=publish)
    del document["previous"]
    with pytest.raises(PolicyError) as caught:
        load(document)
    assert caught.value.key == key
    assert words in caught.value.message


def test_sets_have_no_cut() -> None:
    """A column of sets has no taxonomy to cut."""
    town = {"town": {"role": "quasi", "hierarchy": "sets"}}
    with pytest.raises(PolicyError, match="has no levels, which tds needs"):
        load(changed(columns=LINKED["columns"] | town))
