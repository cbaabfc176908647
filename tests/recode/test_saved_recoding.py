"""A recoding as a file: what is read is what was written, as small as labels and classes, and nothing else is read."""

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.recode.saved_recoding import SavedRecoding
from sfumato.release import Release

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


def released(towns: list[Any], name: str = "mondrian") -> Release:
    """A release of some towns as sets."""
    table = pd.DataFrame({"town": towns, "age": [str(place % 30) for place in range(len(towns))]})
    columns = {
        "town": {"role": "quasi", "hierarchy": "sets"},
        "age": {"role": "quasi", "hierarchy": {"ranges": True}},
    }
    return sf.anonymize(
        table, {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "algorithm": {"name": name}}
    )


def saved(release: Release) -> SavedRecoding:
    """Its recoding, as it is saved."""
    return SavedRecoding.from_recoding(release.encoded, release.recoding, release.policy)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(st.none() | TEXT, min_size=2, max_size=30))
def test_what_is_read_is_what_was_written(towns: list[Any]) -> None:
    """Whatever values there are, the file has the classes of the published table, and reads back as it was."""
    release = released(towns)
    first = saved(release)
    second = SavedRecoding.from_text(first.as_text())
    assert second.columns == first.columns
    assert second.classes.tolist() == first.classes.tolist()
    assert (second.algorithm, second.levels, second.cut, second.improved) == (
        *(first.algorithm, first.levels, first.cut, first.improved),
    )
    assert second.as_text() == first.as_text()
    labels = {column.name: column.labels for column in second.columns}
    classes = {
        tuple(labels[column.name][code] for column, code in zip(second.columns, places, strict=True))
        for places in second.classes.tolist()
    }
    rows = release.tables["table"].arrow.select([column.name for column in second.columns]).to_pylist()
    assert classes == {tuple(row.values()) for row in rows}


def test_it_grows_with_classes_and_not_with_rows() -> None:
    """A hundred times the rows in the same classes are the same file."""
    few, many = released(["a", "a", "b", "b"] * 3), released(["a", "a", "b", "b"] * 300)
    assert len(saved(many).as_text()) < len(saved(few).as_text()) + 2000
    assert len(saved(many).classes) < 200


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("format", value) for value in (None, "pickle", "sfumato-recoding/0")),
        *(("columns", value) for value in (None, [], [{"name": "a"}], [{"name": 1, "labels": []}])),
        *(("classes", value) for value in (None, [], [[0]], [[9, 9]], [[-1, 0]], [[True, 0]], [[0, 0], [0, 0]])),
        *(("levels", value) for value in (1, {"town": 1}, {"town": -1, "age": 0}, {"town": "1", "age": 0})),
        *(("cut", value) for value in (1, "no")),
        ("algorithm", 3),
    ],
)
def test_what_is_not_as_it_was_written_is_refused(key: str, value: Any) -> None:
    """Each part of the file is checked for its form, and no guess is made."""
    content = json.loads(saved(released(["a", "b"] * 5)).as_text())
    with pytest.raises(DataError, match=r"recoding.json is not as it was written; restore it from a copy"):
        SavedRecoding.from_text(json.dumps(content | {key: value}).encode())


@pytest.mark.parametrize("text", [b"", b"[]", b"\x80\x04", b"{" * 100_000, b"[" * 100_000, b'"text"'])
def test_no_other_file_is_read(text: bytes) -> None:
    """Neither nothing, nor a pickle, nor JSON of another kind or depth."""
    with pytest.raises(DataError, match=r"recoding.json is not as it was written"):
        SavedRecoding.from_text(text)


def test_a_later_version_is_named() -> None:
    """A file of a version that is not there yet asks for that version."""
    content = json.loads(saved(released(["a", "b"] * 5)).as_text())
    with pytest.raises(InputError, match="written by a later version of sfumato"):
        SavedRecoding.from_text(json.dumps(content | {"format": "sfumato-recoding/2"}).encode())
