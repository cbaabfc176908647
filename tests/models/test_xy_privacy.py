"""What an (X, Y)-requirement may say, and which values it protects how far."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sfumato.errors import PolicyError
from sfumato.models import LINKAGE, SCHEMA, Linkage, XYLinkability, build

X: dict[str, Any] = {"x": ["sex", "tax.sex"]}
GOOD: list[dict[str, Any]] = [
    {"model": "xy-anonymity", **X, "y": ["$row", "tax.$row"], "k": 40},
    {"model": "xy-linkability", **X, "y": ["illness"], "k": 0.5},
    {"model": "xy-linkability", **X, "y": ["illness"], "k": 0.5, "values": ["HIV"]},
    {"model": "xy-linkability", **X, "y": ["illness", "job"], "k": 0.5, "values": [["HIV", "cook"]]},
    {"model": "xy-linkability", **X, "y": ["illness"], "values": {"HIV": 0.1}},
    {"model": "xy-linkability", **X, "y": ["illness"], "k": 0.9, "values": {"HIV": 0.1}},
]
WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"model": "xy-linkability", "y": ["b"]}, "k", "is missing: the largest confidence"),
    ({"model": "xy-linkability", "y": ["b"], "k": 0}, "k", "above 0 and at most 1"),
    ({"model": "xy-linkability", "y": ["b"], "k": 0.5, "values": []}, "values", "a list of values, or a table"),
    ({"model": "xy-linkability", "y": ["b"], "k": 0.5, "values": {}}, "values", "a list of values, or a table"),
    ({"model": "xy-linkability", "y": ["b"], "k": 0.5, "values": {"HIV": 2}}, "values", "a list of values, or a table"),
    ({"model": "xy-linkability", "y": ["b"], "k": 0.5, "values": [["b", "c"]]}, "values", "give a text"),
    ({"model": "xy-linkability", "y": ["b", "c"], "k": 0.5, "values": ["b"]}, "values", "give a list"),
    ({"model": "xy-linkability", "y": ["b", "c"], "values": {"b": 0.1}}, "values", "for one column in y"),
    ({"model": "xy-linkability", "y": ["$row"], "k": 0.5}, "y", "is a row key"),
    ({"model": "xy-anonymity", "y": ["sex"], "k": 2}, "y", "'sex' stands in x already"),
    ({"model": "xy-anonymity", "x": ["t.$row"], "y": ["a"], "k": 2}, "x", "'t.$row' is a row key"),
    ({"model": "xy-anonymity", "x": ["a", "a"], "y": ["b"], "k": 2}, "x", "none twice"),
    ({"model": "xy-anonymity", "x": [], "y": ["b"], "k": 2}, "x", "one at least"),
    ({"model": "xy-anonymity", "y": ["b"], "k": 0.5}, "k", "whole number"),
    ({"model": "xy-anonymity", "y": ["b"], "k": 2, "values": ["c"]}, "values", "is not a key of xy-anonymity"),
]


def made(entry: dict[str, Any]) -> Linkage:
    """The model that an entry asks for."""
    model = build(entry, key="privacy[0]", folder=Path())
    assert isinstance(model, Linkage)
    return model


@pytest.mark.parametrize("entry", GOOD)
def test_an_entry_makes_its_model(entry: dict[str, Any]) -> None:
    """What an entry says is what the model requires, fit for JSON, and the schema agrees."""
    model = made(entry)
    assert type(model) is LINKAGE[entry["model"]]
    assert {"model": model.name, **model.required} == entry
    jsonschema.validate(entry, SCHEMA)


@pytest.mark.parametrize(("keys", "key", "words"), WRONG)
def test_a_wrong_entry_is_named(keys: dict[str, Any], key: str, words: str) -> None:
    """Every slip is an error at its key."""
    with pytest.raises(PolicyError) as caught:
        made({**X, **keys})
    assert caught.value.key == f"privacy[0].{key}"
    assert words in caught.value.message


def test_a_bound_is_needed_in_the_schema_too() -> None:
    """An editor underlines a requirement that bounds nothing."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"model": "xy-linkability", **X, "y": ["illness"], "values": ["HIV"]}, SCHEMA)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"k": 0.5}, {("HIV",): 0.5, ("flu",): 0.5, (None,): 0.5}),
        ({"k": 0.5, "values": ["HIV"]}, {("HIV",): 0.5}),
        ({"values": {"HIV": 0.1}}, {("HIV",): 0.1}),
        ({"k": 0.9, "values": {"HIV": 0.1}}, {("HIV",): 0.1, ("flu",): 0.9, (None,): 0.9}),
    ],
)
def test_bounds(keys: dict[str, Any], expected: dict[tuple[str | None, ...], float]) -> None:
    """All values share a bound unless some are named; a table gives each its own."""
    assert XYLinkability(("a",), ("b",), **keys).bounds([("HIV",), ("flu",), (None,)]) == expected


def test_bounds_of_several_columns() -> None:
    """A value on several columns is protected as a whole."""
    model = XYLinkability(("a",), ("b", "c"), 0.5, [["HIV", "cook"]])
    assert model.bounds([("HIV", "cook"), ("HIV", "clerk")]) == {("HIV", "cook"): 0.5}
