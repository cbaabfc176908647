"""The [data] table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.policy import Source, load

Refused = Callable[..., str]


def test_source_can_be_left_out(good: dict[str, Any]) -> None:
    """A policy without [data] is one whose table the caller hands in."""
    del good["data"]
    assert load(good).source == Source(path=None, separator=None, null=("",), encoding="utf-8")


def test_everything_of_a_source(good: dict[str, Any]) -> None:
    """Each key of [data] is read, and the encoding goes by its one name."""
    good["data"] = {"source": "a.csv", "separator": "\t", "null": ["", "?"], "encoding": "UTF8"}
    assert load(good).source == Source(Path("a.csv"), "\t", ("", "?"), "utf-8")


def test_nothing_may_be_missing(good: dict[str, Any]) -> None:
    """An empty list of null texts says that every cell is a value."""
    good["data"]["null"] = []
    assert load(good).source.null == ()


@pytest.mark.parametrize("source", ["", "a\0b", 5])
def test_source_is_a_path(source: object, refused: Refused) -> None:
    """A source that cannot be a path is an error."""
    assert refused("data", "source", to=source, key="data.source").startswith("must ")


def test_database_urls_are_for_later(refused: Refused) -> None:
    """A database URL is an error that says what this version reads."""
    message = refused("data", "source", to="postgresql://host/db", key="data.source")
    assert message == "database URLs are not in this version; give the path of a file"


def test_queries_are_for_later(refused: Refused) -> None:
    """A query is known, and not in this version."""
    message = refused("data", "query", to="select 1", key="data.query")
    assert message == "is not in this version; leave it out"


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
