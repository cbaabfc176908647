"""The [[privacy]] tables, and what the parts of a policy ask of one another."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sfumato.errors import PolicyError
from sfumato.policy import ColumnReference, Policy, load, schema

Refused = Callable[..., str]


def test_models_keep_their_order(good: dict[str, Any]) -> None:
    """The models of a policy are those written, in their order."""
    assert [model.name for model in load(good).privacy] == ["k-anonymity", "distinct-l-diversity"]


@pytest.mark.parametrize("value", [None, []])
def test_at_least_one_model(value: object, refused: Refused) -> None:
    """A policy that promises nothing is told the simplest promise."""
    message = refused("privacy", to=value, key="privacy")
    assert message == 'no privacy model: write [[privacy]] with model = "k-anonymity" and k = 5 as the simplest'


def test_a_single_table_is_no_list(refused: Refused) -> None:
    """[privacy] in place of [[privacy]] is an error that shows the brackets."""
    message = refused("privacy", to={"model": "k-anonymity", "k": 5}, key="privacy")
    assert "[[privacy]]" in message
    assert message.endswith("not a table")


def test_a_model_is_a_table(refused: Refused) -> None:
    """A name in place of a table is an error that names its place in the list."""
    assert refused("privacy", 1, to="k-anonymity", key="privacy[1]") == "must be a table, not 'k-anonymity'"


def test_errors_of_a_model_name_its_key(refused: Refused) -> None:
    """What the model refuses is refused under the key of its table."""
    assert refused("privacy", 0, "k", to=0, key="privacy[0].k")


def test_column_that_is_not_there(refused: Refused) -> None:
    """A model that looks at a column that is not listed is an error that names the likely one."""
    message = refused("privacy", 1, "column", to="ilness", key="privacy[1].column")
    assert message == "'ilness' is not one of [columns]; did you mean illness?"


def test_column_that_resembles_none(refused: Refused) -> None:
    """A model that looks at a column like no other is told to list it."""
    message = refused("privacy", 1, "column", to="zzz", key="privacy[1].column")
    assert message == "'zzz' is not one of [columns]; list it there"


def test_column_that_is_not_sensitive(refused: Refused) -> None:
    """A model that looks at a column of another role is an error that says the role."""
    message = refused("privacy", 1, "column", to="age", key="privacy[1].column")
    assert message == "'age' is of role quasi; name a sensitive column, or give it role = \"sensitive\""


def test_several_columns(refused: Refused) -> None:
    """Of several columns, the error names the place of the one that is not there."""
    table = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "columns": ["illness", "ilness"]}
    message = refused("privacy", 1, to=table, key="privacy[1].columns[1]")
    assert message.endswith("; did you mean illness?")


def test_one_column_has_one_file_of_costs(tmp_path: Path) -> None:
    """Two general distances over one column with different costs are refused: the verifier keeps one file a column."""
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("flu,HIV,1\n")
    rule = {"model": "t-closeness", "column": "illness", "t": 0.5, "distance": "emd"}
    document = {
        "columns": {"sex": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}},
        "privacy": [rule | {"costs": "one.csv"}, rule | {"costs": "two.csv"}],
    }
    with pytest.raises(PolicyError, match=r"privacy\[1\].costs: 'illness' has the costs 'one.csv' already"):
        Policy.read(document, folder=tmp_path)


@pytest.fixture
def split(good: dict[str, Any]) -> dict[str, Any]:
    """A policy for two tables."""
    good["publish"] = {"form": "lossy-join"}
    return good


def _refusal(policy: dict[str, Any]) -> str:
    with pytest.raises(PolicyError) as caught:
        load(policy)
    return str(caught.value)


def test_two_tables_are_read(split: dict[str, Any]) -> None:
    """The form is lossy-join, all sensitive columns together unless the policy says apart."""
    assert load(split).publish.split
    assert load(split).publish.ss == "together"
    split["columns"]["salary"] = {"role": "sensitive"}
    split["publish"]["ss"] = "apart"
    assert load(split).publish.ss == "apart"


def test_two_tables_need_something_to_keep_apart(split: dict[str, Any]) -> None:
    """Without a sensitive column there is no second table."""
    split["columns"]["illness"] = {"role": "plain"}
    del split["privacy"][1]
    assert _refusal(split).startswith(
        "publish.form: lossy-join puts sensitive values into a table of their own, and no"
    )


def test_nothing_to_put_apart(split: dict[str, Any]) -> None:
    """With one sensitive column the choice changes nothing, and one table has none."""
    split["publish"]["ss"] = "apart"
    assert _refusal(split) == (
        "publish.ss: there is one sensitive column, and nothing to put together or apart; leave it out"
    )
    split["publish"] = {"form": "generalized", "ss": "apart"}
    assert _refusal(split).startswith("publish.ss: a generalized release is one table; leave it out")


def test_two_tables_show_no_ranges(split: dict[str, Any]) -> None:
    """How ranges would be published does not matter where values stay as they were."""
    split["columns"]["age"]["hierarchy"] = {"ranges": True}
    split["algorithm"] = {"name": "mondrian"}
    assert load(split).publish.ranges == "boxes"
    split["publish"]["ranges"] = "means"
    assert _refusal(split).startswith("publish.ranges: lossy-join publishes values as they are")


def test_the_form_and_the_algorithm_go_together(good: dict[str, Any]) -> None:
    """Anatomy is a form with an algorithm of its own, and takes no key of the others."""
    good["algorithm"] = {"name": "anatomy"}
    assert _refusal(good) == 'algorithm.name: anatomy publishes two tables; write [publish] form = "anatomy"'
    good["publish"]["form"] = "anatomy"
    assert load(good).anatomized == "illness"
    good["algorithm"] = {"name": "top-down"}
    assert _refusal(good).startswith(
        "algorithm.name: the form anatomy makes buckets of its own; leave it out, or write"
    )
    good["algorithm"] = {"metric": "ncp"}
    assert _refusal(good) == "algorithm.metric: anatomy minimizes no loss of the quasi-identifiers; leave it out"


def test_buckets_are_made_of_one_column(good: dict[str, Any]) -> None:
    """Anatomy takes the sensitive column that the requirements look at, and refuses two."""
    good["publish"], good["algorithm"] = {"form": "anatomy"}, {}
    good["columns"]["salary"] = {"role": "sensitive"}
    assert load(good).anatomized == "illness"
    good["privacy"] = good["privacy"][:1]
    assert _refusal(good).startswith(
        "publish.form: anatomy makes its buckets of one sensitive column, and here are 'illness', 'salary'"
    )
    good["privacy"].append({"model": "alpha-deassociation", "alpha": 0.5, "column": "salary"})
    assert load(good).anatomized == "salary"


def test_anatomy_needs_no_hierarchies(good: dict[str, Any]) -> None:
    """Where nothing is generalized a quasi-identifier needs no levels, for `load` and for the schema alike."""
    check = jsonschema.Draft202012Validator(schema())
    good["columns"]["age"] = {"role": "quasi"}
    assert "a quasi-identifier needs one" in _refusal(good)
    assert not check.is_valid(good)
    good["publish"], good["algorithm"] = {"form": "anatomy"}, {}
    assert load(good).quasi[0].hierarchy is not None
    assert check.is_valid(good)


def test_two_tables_publish_values_as_they_are(split: dict[str, Any]) -> None:
    """A column that must not be told exactly has no place in a form that does."""
    split["columns"]["age"]["least"] = 1
    assert _refusal(split) == (
        "columns.age.least: lossy-join publishes quasi-identifiers as they are; leave it out, or publish generalized"
    )


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
    assert [entry.name for entry in policy.requirements] == ["xy-anonymity", "k-anonymity", "xy-anonymity"]
    assert len(policy.privacy) == 1


def test_paths_start_at_the_policy(tmp_path: Path) -> None:
    """The table of an earlier release is found from where the policy stands."""
    assert Policy.read(LINKED, folder=tmp_path).previous[0].path == tmp_path / "tax.csv"


def test_rules_are_read() -> None:
    """A rule is a pair of a column and a value each, of two tables; a value may hold an equals sign."""
    rules = [["sex=Male", "tax.test=a=b"]]
    (pair,) = load(changed(previous=[LINKED["previous"][0] | {"inconsistent": rules}])).previous[0].inconsistent
    assert [side.reference for side in pair] == [ColumnReference("sex"), ColumnReference("test", "tax")]
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
        (changed(algorithm={"name": "optimal"}), "algorithm.name", "optimal does not look at joins"),
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
    """A column of sets has no taxonomy that records of two tables could be matched by."""
    town = {"town": {"role": "quasi", "hierarchy": "sets"}}
    with pytest.raises(PolicyError, match="has no levels, which tds needs"):
        load(changed(columns=LINKED["columns"] | town))
