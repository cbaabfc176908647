"""From a policy's entries to models, and what is said when that cannot be."""

from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from sfumato.core.classes import EquivalenceClasses
from sfumato.errors import PolicyError
from sfumato.models import DENSITY, LINKAGE, MODELS, SCHEMA, AlphaDeassociation, KAnonymity, Model, TCloseness, build

COLUMN = {"column": "illness"}
ENTRIES: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 3},
    {"model": "alpha-deassociation", "alpha": 0.5, "values": ["HIV"], **COLUMN},
    {"model": "alpha-deassociation", "alpha": 1, "columns": ["illness", "income"], "refined": True},
    {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, **COLUMN},
    {"model": "distinct-l-diversity", "l": 2, **COLUMN},
    {"model": "entropy-l-diversity", "l": 2.5, **COLUMN},
    {"model": "recursive-l-diversity", "c": 3, "l": 2, **COLUMN},
    {"model": "t-closeness", "t": 0.2, "distance": "emd-ordered", **COLUMN},
    {"model": "t-closeness", "t": 0, "distance": "emd", "costs": "costs.csv", **COLUMN},
]
WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({}, "model", "is missing; name one of k-anonymity"),
    ({"model": "k-anonimity"}, "model", "did you mean k-anonymity"),
    ({"model": 3}, "model", "3 is not a model"),
    ({"model": ["k-anonymity"]}, "model", "is not a model"),
    ({"model": "identity-k-anonymity", "k": 0}, "k", "must be a whole number of at least 1, not 0"),
    ({"model": "identity-k-anonymity", "k": 2, "linked_k": 0}, "linked_k", "must be a whole number of at least 1"),
    ({"model": "k-anonymity"}, "k", "is missing: the fewest rows"),
    ({"model": "k-anonymity", "kk": 2}, "kk", "is not a key of k-anonymity; did you mean k"),
    *(({"model": "k-anonymity", "k": k}, "k", "whole number") for k in (0, -1, 2.0, True, "3", None)),
    *(
        ({"model": "alpha-deassociation", "alpha": a, **COLUMN}, "alpha", "above 0 and at most 1")
        for a in (0, 1.5, True, "0.5", float("nan"))
    ),
    ({"model": "alpha-deassociation", "alpha": 0.5}, "column", "either column or columns"),
    ({"model": "alpha-deassociation", "alpha": 0.5, "column": ""}, "column", "name of a column"),
    ({"model": "alpha-deassociation", "alpha": 0.5, "columns": []}, "columns", "list of texts"),
    ({"model": "alpha-deassociation", "alpha": 0.5, "values": "HIV", **COLUMN}, "values", "list of texts"),
    ({"model": "alpha-deassociation", "alpha": 0.5, "refined": 1, **COLUMN}, "refined", "true or false"),
    ({"model": "distinct-l-diversity", "l": 2.5, **COLUMN}, "l", "whole number"),
    ({"model": "entropy-l-diversity", "l": 0.5, **COLUMN}, "l", "at least 1"),
    ({"model": "recursive-l-diversity", "c": 0, "l": 2, **COLUMN}, "c", "above 0"),
    ({"model": "t-closeness", "t": -0.1, "distance": "kl", **COLUMN}, "t", "at least 0"),
    ({"model": "t-closeness", "t": float("inf"), "distance": "kl", **COLUMN}, "t", "at least 0"),
    (
        {"model": "t-closeness", "t": 0.1, "distance": "emd-odd", **COLUMN},
        "distance",
        "one of variational, kl",
    ),
    ({"model": "t-closeness", "t": 0.1, "distance": "emd", **COLUMN}, "costs", "needs a file"),
    ({"model": "t-closeness", "t": 0.1, "distance": "emd", "costs": 3, **COLUMN}, "costs", "name of a file"),
    ({"model": "t-closeness", "t": 0.1, "distance": "emd", "costs": "no.csv", **COLUMN}, "costs", "no.csv"),
    ({"model": "t-closeness", "t": 0, "distance": "kl", "costs": "costs.csv", **COLUMN}, "costs", "emd, not"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of costs."""
    (tmp_path / "costs.csv").write_text("value,value,cost\nHIV,flu,1\nHIV,,0.5\nflu,,1.5\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_an_entry_makes_its_model(entry: dict[str, Any], folder: Path) -> None:
    """The model requires what the entry says, fits the schema and is a model."""
    model = build(entry, key="privacy[0]", folder=folder)
    assert isinstance(model, Model)
    assert {"model": model.name, **model.required} == entry
    assert type(model) is MODELS[entry["model"]]
    jsonschema.validate(entry, SCHEMA)


@pytest.mark.parametrize(("entry", "key", "message"), WRONG, ids=str)
def test_a_wrong_entry_is_named(entry: dict[str, Any], key: str, message: str, folder: Path) -> None:
    """The error has the key of the policy, and says what would do."""
    with pytest.raises(PolicyError) as caught:
        build(entry, key="privacy[2]", folder=folder)
    assert caught.value.key == f"privacy[2].{key}"
    assert message in caught.value.message


@pytest.mark.parametrize("entry", [entry for entry, _, _ in WRONG], ids=str)
def test_the_schema_refuses_what_build_refuses(entry: dict[str, Any]) -> None:
    """What the schema lets through and build does not are whole floats, numbers JSON lacks, and files."""
    odd = [entry.get("k") == 2.0, entry.get("alpha") != entry.get("alpha"), entry.get("t") == float("inf")]
    if not any(odd) and entry.get("costs") != "no.csv":
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(entry)


def test_the_schema_is_a_schema_of_every_model() -> None:
    """It is valid, and describes each model and each key."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    entries: Any = SCHEMA["oneOf"]
    assert [entry["title"] for entry in entries] == [*MODELS, *LINKAGE, *DENSITY]
    keys = [each for entry in entries for name, each in entry["properties"].items() if name != "model"]
    assert all(each["description"] for each in keys)
    assert all("Guards against" in entry["description"] for entry in entries)


def test_registry_names_are_the_models_own() -> None:
    """A model is registered by its own name."""
    assert all(vars(model)["name"] == name for name, model in MODELS.items())


def test_a_model_built_in_python_is_checked_too() -> None:
    """Construction validates; the key is the field."""
    with pytest.raises(PolicyError) as caught:
        KAnonymity(True)  # a bool is an int to the type checker
    assert caught.value.key == "k"


def test_a_column_that_is_not_there_is_named() -> None:
    """A model over a column that classes do not have says so."""
    with pytest.raises(PolicyError, match="did you mean illness"):
        AlphaDeassociation(0.5, "ilness").holds(EquivalenceClasses.of([0], illness=["flu"]))


def test_costs_are_read_with_null_as_empty_text(folder: Path) -> None:
    """A NULL is a value of its own in the file of costs, too."""
    entry = {"model": "t-closeness", "t": 0.4, "distance": "emd", "costs": "costs.csv", **COLUMN}
    model = build(entry, key="privacy[0]", folder=folder)
    assert isinstance(model, TCloseness)
    classes = EquivalenceClasses.of([0, 0, 1], illness=["HIV", "flu", None])
    assert model.achieved(classes)["t"] == pytest.approx(2 / 3)
    assert model.holds(classes).tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("HIV,flu\n", "line 1 must be value,value,cost"),
        ("HIV,flu,1\nHIV,flu,dear\n", "line 2 must be value,value,cost"),
        ("HIV,flu,1\nHIV,flu,2\n", "a second cost for HIV,flu"),
        ("HIV,flu,-1\n", "makes no sense"),
        ("HIV,HIV,1\n", "makes no sense"),
        ("HIV,flu,1\n", "has no line for 'HIV,', 'flu,'"),
    ],
)
def test_costs_that_are_wrong(text: str, message: str, tmp_path: Path) -> None:
    """Costs that cannot be read, or lack a pair of the table's values, are errors."""
    (tmp_path / "costs.csv").write_text(text, encoding="utf-8")
    entry = {"model": "t-closeness", "t": 0.4, "distance": "emd", "costs": "costs.csv", **COLUMN}
    with pytest.raises(PolicyError, match=message):
        cast("Model", build(entry, key="privacy[0]", folder=tmp_path)).holds(
            EquivalenceClasses.of([0, 0, 0], illness=["HIV", "flu", None])
        )


def test_two_models_are_equal_when_they_require_the_same() -> None:
    """Models are values."""
    assert TCloseness("a", t=0.1, distance="kl") == TCloseness("a", t=0.1, distance="kl")
    assert hash(KAnonymity(2)) == hash(KAnonymity(2))
