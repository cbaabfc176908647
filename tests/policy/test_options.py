"""The [data], [algorithm] and [publish] tables."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import AlgorithmOptions, DataSource, PublishOptions, load
from sfumato.policy.options import read_algorithm_options, read_publish_options

Refused = Callable[..., str]


def test_source_can_be_left_out(good: dict[str, Any]) -> None:
    """A policy without [data] is one whose table the caller hands in."""
    del good["data"]
    assert load(good).source == DataSource(path=None, separator=None, null=("",), encoding="utf-8")


def test_everything_of_a_source(good: dict[str, Any]) -> None:
    """Each key of [data] is read, and the encoding goes by its one name."""
    good["data"] = {"source": "a.csv", "separator": "\t", "null": ["", "?"], "encoding": "UTF8"}
    assert load(good).source == DataSource(Path("a.csv"), "\t", ("", "?"), "utf-8")


def test_nothing_may_be_missing(good: dict[str, Any]) -> None:
    """An empty list of null texts says that every cell is a value."""
    good["data"]["null"] = []
    assert load(good).source.null == ()


@pytest.mark.parametrize("source", ["", "a\0b", 5])
def test_source_is_a_path(source: object, refused: Refused) -> None:
    """A source that cannot be a path is an error."""
    assert refused("data", "source", to=source, key="data.source").startswith("must ")


def test_a_database_needs_to_be_asked_something(refused: Refused) -> None:
    """A database URL alone does not say what is read of it."""
    message = refused("data", "source", to="postgresql://host/db", key="data.source")
    assert message == 'is of a database; say query = "select …" or table = "…" as well'


@pytest.mark.parametrize("separator", ["", ";;", "\\t", '"', "\n", 5])
def test_separator_is_one_character(separator: object, refused: Refused) -> None:
    """A separator that is not one character, or that has another meaning, is an error."""
    assert refused("data", "separator", to=separator, key="data.separator").startswith("must be ")


@pytest.mark.parametrize("null", ["", [1], ["", None], {"a": 1}])
def test_null_is_a_list_of_texts(null: object, refused: Callable[..., str], good: dict[str, Any]) -> None:
    """Null texts that are not a list of texts are an error."""
    key = "data.null[1]" if null == ["", None] else "data.null"
    assert refused("data", "null", to=null, key=key).startswith("must be ")


@pytest.mark.parametrize("encoding", ["utf-9", "", "rot13", "hex", "\udc00"])
def test_encoding_is_one_of_text(encoding: str, refused: Refused) -> None:
    """An encoding that Python does not know, or that is not of text, is an error."""
    message = refused("data", "encoding", to=encoding, key="data.encoding")
    assert message.startswith('must be an encoding such as "utf-8" or "latin-1", not ')


def test_unknown_key(refused: Refused) -> None:
    """A misspelt key of [data] is an error that names the likely one."""
    message = refused("data", "seperator", to=";", key="data.seperator")
    assert message == "is not a key of a policy; did you mean separator?"


def test_data_is_a_table(refused: Refused) -> None:
    """A source written in place of the table is an error."""
    assert refused("data", to="adult.csv", key="data") == "must be a table, not 'adult.csv'"


def test_everything_is_read(good: dict[str, Any]) -> None:
    """Each key of [algorithm] and [publish] is read."""
    policy = load(good)
    assert policy.search == AlgorithmOptions("optimal", Fraction(1, 10), 1, "entropy")
    assert policy.publish == PublishOptions("generalized", "parquet")


def test_both_can_be_left_out(good: dict[str, Any]) -> None:
    """Without [algorithm] and [publish] the defaults hold."""
    del good["algorithm"], good["publish"]
    policy = load(good)
    assert (policy.search, policy.publish) == (AlgorithmOptions(), PublishOptions())


@pytest.mark.parametrize(("written", "exact"), [(0.1, Fraction(1, 10)), (1, Fraction(1)), (1e-7, Fraction(1, 10**7))])
def test_suppression_is_exact(written: float, exact: Fraction, good: dict[str, Any]) -> None:
    """The share of rows is the one written, not the nearest binary number."""
    good["algorithm"]["suppression"] = written
    assert load(good).search.suppression == exact


@pytest.mark.parametrize("suppression", [-0.1, 1.5, True, "0.1"])
def test_suppression_is_a_share(suppression: object, refused: Refused) -> None:
    """A share below 0, above 1 or that is no number is an error."""
    message = refused("algorithm", "suppression", to=suppression, key="algorithm.suppression")
    assert message.startswith("must be a number from 0 to 1, not ")


@pytest.mark.parametrize("seed", [-1, 1.0, True, "1"])
def test_seed_is_a_whole_number(seed: object, refused: Refused) -> None:
    """A seed that is negative or no whole number is an error."""
    message = refused("algorithm", "seed", to=seed, key="algorithm.seed")
    assert message.startswith("must be a whole number of at least 0, not ")


def test_seed_has_an_end(refused: Refused) -> None:
    """A seed that TOML does not promise to hold is an error, even one too long for Python to print."""
    assert "at most" in refused("algorithm", "seed", to=1 << 20_000, key="algorithm.seed")


def test_unknown_algorithm(refused: Refused) -> None:
    """A misspelt algorithm is an error that names the likely one."""
    message = refused("algorithm", "name", to="incognitto", key="algorithm.name")
    assert message.endswith("not 'incognitto'; did you mean incognito?")


def test_unknown_metric(refused: Refused) -> None:
    """A misspelt metric is an error that names the likely one."""
    message = refused("algorithm", "metric", to="entropie", key="algorithm.metric")
    assert message.endswith("; did you mean entropy?")


def test_scores(refused: Refused) -> None:
    """A score is one of three, and a class is what classification tells apart."""
    assert read_algorithm_options({}).score == "distortion"
    assert read_algorithm_options({"class": "illness"}).score == "classification"
    message = refused("algorithm", "score", to="distorsion", key="algorithm.score")
    assert message.endswith("; did you mean distortion?")


def test_improvement_is_a_matter_of_yes_or_no(refused: Refused) -> None:
    """Whether to improve is true or false, and true where nothing is said."""
    assert read_algorithm_options({}).improve
    assert not read_algorithm_options({"improve": False}).improve
    assert refused("algorithm", "improve", to="no", key="algorithm.improve") == "must be true or false, not 'no'"


def test_ways_to_publish_ranges(refused: Refused) -> None:
    """Ranges are published as a partition unless the policy says otherwise, and only in the ways there are."""
    assert read_publish_options({}).ranges == "partition"
    assert read_publish_options({"ranges": "boxes"}).ranges == "boxes"
    message = refused("publish", "ranges", to="box", key="publish.ranges")
    assert message == "must be partition, boxes or means, not 'box'; did you mean boxes?"


def test_unknown_form(refused: Refused) -> None:
    """A form that there is not is an error that names those there are."""
    message = refused("publish", "form", to="uncertian", key="publish.form")
    assert message.startswith("must be generalized, lossy-join, anatomy, synthetic or uncertain, not 'uncertian'")


def test_unknown_format(refused: Refused) -> None:
    """A format that is not written is an error that lists those that are."""
    assert refused("publish", "format", to="xls", key="publish.format") == "must be csv, csv.gz or parquet, not 'xls'"


@pytest.mark.parametrize(("table", "key"), [("algorithm", "nome"), ("publish", "fromat")])
def test_unknown_keys(table: str, key: str, refused: Refused) -> None:
    """A misspelt key is an error that names the likely one."""
    assert "; did you mean " in refused(table, key, to="x", key=f"{table}.{key}")


PERSONS: dict[str, Any] = {
    "columns": {
        "person": {"role": "individual"},
        "zip": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


def test_rows_of_a_person_stay_together_by_default() -> None:
    """The default is true, and false where the policy says so."""
    assert load(PERSONS).search.keep_together
    assert not load(PERSONS | {"algorithm": {"keep_together": False}}).search.keep_together


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"columns": {"zip": {"role": "quasi", "hierarchy": "suppress"}}}, "it is about the rows of a person"),
        ({"algorithm": {"keep_together": False, "name": "optimal"}}, "optimal keeps all rows with equal quasi-"),
        ({"publish": {"form": "anatomy"}}, "anatomy deals rows out one by one"),
        ({"algorithm": {"keep_together": "yes"}}, "must be true or false"),
    ],
)
def test_keeping_together_is_meant(change: dict[str, Any], words: str) -> None:
    """Where it would change nothing, or cannot be had, it is refused with the reason."""
    document = PERSONS | {"algorithm": {"keep_together": True}} | change
    with pytest.raises(PolicyError, match=words) as caught:
        load(document)
    assert caught.value.key == "algorithm.keep_together"
