"""How a file is read that nobody has described."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.errors import DataError
from sfumato.profile.facts import profile

Writes = Callable[[str | bytes], Path]


def test_other_encodings(tmp_path: Path) -> None:
    """UTF-16 and Windows files are read, and the policy is told their encoding."""
    text = "größe;ort\n170;Köln\n180;Zürich\n"
    for encoding, said in (("utf-16", "utf-16"), ("cp1252", "cp1252"), ("utf-8", None), ("utf-8-sig", None)):
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        found = profile(tmp_path / "t.csv")
        assert found.opened.encoding == said
        assert found.columns[0].name == "größe"
        assert sorted(found.columns[1].values.listed()) == ["Köln", "Zürich"]


def test_missing_values_are_found(writes: Writes) -> None:
    """Question marks are missing anywhere, NA only beside numbers; a quoted one stays text."""
    found = profile(writes('age,job,land\n7,?,NA\nNA,cook,CH\n"?",smith,DE\n'))
    assert found.opened.null == ("?", "NA")
    assert [facts.values.missing for facts in found.columns] == [1, 1, 1]
    assert "?" in found.columns[0].values.listed()
    assert profile(writes("land\nNA\nCH\n")).opened.null == ()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,b,a\n1,2,3\n", "stand twice in the table: 'a'"),
        ("a,b\n", "no rows"),
        ("", "is empty"),
        ("a,\n1,2\n", "one name is empty"),
        ('a,b\n"1,2\n', "is not closed"),
        ("a,b\n1\n", "record 1 has 1 cells"),
    ],
)
def test_what_cannot_be_read_is_said(writes: Writes, content: str, says: str) -> None:
    """Every fault of a file is one sentence of the reader."""
    with pytest.raises(DataError, match=says):
        profile(writes(content))


def test_uniques_are_those_of_a_plain_count(writes: Writes) -> None:
    """Rows that are alone in some columns, counted with missing values as a value."""
    rows = ["a,1", "a,1", "a,", "b,2", ",2", ",2"]
    found = profile(writes("x,y\n" + "\n".join(rows) + "\n"))
    assert found.unique(["x", "y"]) == sum(rows.count(row) == 1 for row in rows)
    assert found.unique(["x"]) == 1
    assert found.unique([]) == 0
