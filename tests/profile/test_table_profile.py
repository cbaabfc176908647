"""How a file is read that nobody has described, and what its columns hold."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import DataError
from sfumato.profile.table_profile import profile_table

Writes = Callable[[str | bytes], Path]


def test_other_encodings(tmp_path: Path) -> None:
    """UTF-16 and Windows files are read, and the policy is told their encoding."""
    text = "größe;ort\n170;Köln\n180;Zürich\n"
    for encoding, said in (("utf-16", "utf-16"), ("cp1252", "cp1252"), ("utf-8", None), ("utf-8-sig", None)):
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        found = profile_table(tmp_path / "t.csv")
        assert found.encoding == said
        assert found.columns[0].name == "größe"
        assert sorted(found.columns[1].values.to_list()) == ["Köln", "Zürich"]


def test_missing_values_are_found(writes: Writes) -> None:
    """Question marks are missing anywhere, NA only beside numbers; a quoted one stays text."""
    found = profile_table(writes('age,job,land\n7,?,NA\nNA,cook,CH\n"?",smith,DE\n'))
    assert found.null == ("?", "NA")
    assert [facts.values.missing for facts in found.columns] == [1, 1, 1]
    assert "?" in found.columns[0].values.to_list()
    assert profile_table(writes("land\nNA\nCH\n")).null == ()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,b,a\n1,2,3\n", "stand twice in the table: 'a'"),
        ("a,b\n", "no rows"),
        ("", "is empty"),
        (",\n1,2\n", "must name the columns"),
        ('a,b\n"1,2\n', "is not closed"),
        ("a,b\n1\n", "record 1 has 1 cells"),
    ],
)
def test_what_cannot_be_read_is_said(writes: Writes, content: str, says: str) -> None:
    """Every fault of a file is one sentence of the reader."""
    with pytest.raises(DataError, match=says):
        profile_table(writes(content))


def test_uniques_are_those_of_a_plain_count(writes: Writes) -> None:
    """Rows that are alone in some columns, counted with missing values as a value."""
    rows = ["a,1", "a,1", "a,", "b,2", ",2", ",2"]
    found = profile_table(writes("x,y\n" + "\n".join(rows) + "\n"))
    assert found.count_unique(["x", "y"]) == sum(rows.count(row) == 1 for row in rows)
    assert found.count_unique(["x"]) == 1
    assert found.count_unique([]) == 0


def test_typed_columns(tmp_path: Path) -> None:
    """Numbers, dates, truth values, empty and nested columns of a Parquet file are known for what they are."""
    table = pa.table(
        {
            "n": pa.array([1, 2, None]),
            "x": pa.array([0.5, 1.5, np.nan]),
            "day": pa.array(np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")),
            "at": pa.array(np.array(["2020-01-01T10:00", "2020-01-02", "2020-01-03"], dtype="datetime64[ns]")),
            "yes": pa.array([True, False, None]),
            "none": pa.nulls(3),
            "list": pa.array([[1], [2], [3]]),
            "coded": pa.array(["a", "b", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = {
        facts.name: (str(facts.kind), facts.values.missing) for facts in profile_table(tmp_path / "t.parquet").columns
    }
    assert found == {
        "n": ("integer", 1),
        "x": ("category", 0),
        "day": ("date", 0),
        "at": ("date", 0),
        "yes": ("category", 1),
        "none": ("empty", 3),
        "list": ("empty", 3),
        "coded": ("category", 1),
    }
