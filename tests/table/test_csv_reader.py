"""CSV as people have it: every cell is the text it is, or one sentence says what is wrong with the file."""

import csv
import io
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.policy import DataSource, load
from sfumato.table import column_names, read_table

Reads = Callable[..., dict[str, list[Any]]]
Rules = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n",
        "a;b\n1;2\n",
        "a\tb\n1\t2\n",
        "a|b\n1|2\n",
        "a,b\r\n1,2\r\n",
        "a,b\r1,2\r",
        "\ufeffa,b\n1,2\n",
        "a,b\n1,2",
    ],
    ids=["comma", "semicolon", "tab", "bar", "CRLF", "CR", "BOM", "no newline at the end"],
)
def test_separators_and_line_ends_are_found(reads: Reads, content: str) -> None:
    """The separator is found by itself, and any line end is one."""
    assert reads(content) == {"a": ["1"], "b": ["2"]}


def test_cells_may_hold_what_cuts_cells(reads: Reads) -> None:
    """Quoted cells hold separators, newlines and doubled quotes; a quote amid an unquoted cell is text."""
    found = reads('a,b\n"x,y","one\ntwo"\n"say ""hi""",5" disk\n')
    assert found == {"a": ["x,y", 'say "hi"'], "b": ["one\ntwo", '5" disk']}


def test_a_decimal_comma_is_not_a_separator(reads: Reads) -> None:
    """The separator is the one that cuts every record alike."""
    assert reads("a;b\n1,5;2,5\n3;4\n") == {"a": ["1,5", "3"], "b": ["2,5", "4"]}


def test_text_stays_text(reads: Reads) -> None:
    """Nothing that looks like a number, a truth, a missing value or a date becomes one, and no space is lost."""
    texts = ["007", "No", "1e5", "NaN", "NULL", " x ", "1.0", "true", "N/A", "2020-01-01", "-", "\u00a0"]
    assert reads("a,b\n" + "".join(f"{text},{text}\n" for text in texts)) == {"a": texts, "b": texts}


def test_an_empty_cell_is_null_and_a_quoted_one_is_empty(reads: Reads) -> None:
    """NULL and the empty text are two things, in coded columns and in plain ones."""
    assert reads('a,b\n,""\n"",\n') == {"a": [None, ""], "b": ["", None]}


def test_the_policy_says_what_is_missing(reads: Reads) -> None:
    """Only the texts that the policy calls missing are, and only where they are not quoted."""
    content = 'a,b\n?,"?"\n,x\n'
    assert reads(content, null=["", "?"]) == {"a": [None, None], "b": ["?", "x"]}
    assert reads(content, null=["?"]) == {"a": [None, ""], "b": ["?", "x"]}
    assert reads(content, null=[]) == {"a": ["?", ""], "b": ["?", "x"]}


def test_one_column(reads: Reads) -> None:
    """A table of one column needs no separator; a blank line in it is a row without a value."""
    assert reads("a\nx\n\ny\n", "a") == {"a": ["x", None, "y"]}


def test_blank_lines_are_no_rows(reads: Reads) -> None:
    """Blank lines between the records of several columns are passed over."""
    assert reads("a,b\n\n1,2\n\n\n3,4\n\n") == {"a": ["1", "3"], "b": ["2", "4"]}


def test_nul_amid_a_text_file_is_a_character(reads: Reads) -> None:
    """A NUL far into a file that is text otherwise stays in its cell."""
    assert reads("a,b\n" + "x,y\n" * 2000 + "x\0z,y\n")["a"][-1] == "x\0z"


def test_a_record_longer_than_any_block(reads: Reads) -> None:
    """A record of 20 MB is read like any other."""
    found = reads("a,b\n1,2\n" + "x" * (20 << 20) + ",y\n")
    assert [len(cell) for cell in found["a"]] == [1, 20 << 20]


@pytest.mark.slow
def test_ten_thousand_columns(reads: Reads) -> None:
    """A header longer than any buffer is read whole."""
    names = [f"column_number_{i}" for i in range(10_000)]
    found = reads(",".join(names) + "\n" + ",".join(map(str, range(10_000))) + "\n", " ".join(names))
    assert list(found) == names
    assert found["column_number_9999"] == ["9999"]


def test_identifiers_are_not_even_read(tmp_path: Path, rules: Rules) -> None:
    """A column of identifiers never enters the table."""
    path = tmp_path / "t.csv"
    path.write_text("ssn,a\n1,x\n")
    assert read_table(path, load(rules({"ssn": "identifier", "a": "quasi"}))).arrow.column_names == ["a"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "t.csv is empty"),
        ("a,b\n", "the table has no rows"),
        ("a,b", "the table has no rows"),
        ("\n\n", "the first line must name the columns"),
        (",,\n1,2,3\n", "the first line must name the columns"),
        ("a,a\n1,2\n", "column names stand twice in the table: 'a'"),
        ("a,b,c\n1,2,3\n", "columns without a role: 'c'"),
        ("a,bb\n1,2\n", "not in the table: 'b'; did you mean bb?"),
        (bytes(range(256)) * 20, "binary file"),
        ("a,b\n1,2\n".encode("utf-16"), 'encoding = "utf-16"'),
        ("a,b\n1,2\nSECRET\n3,4\n", "record 2 has 1 cells where the header has 2"),
        ("a,b\n" + "1,2\n" * 9 + "1,SECRET,3\n", "record 10 has 3 cells where the header has 2"),
        ("a,b\n" + "x" * (17 << 20) + ",y\n1,2,SECRET\n", "record 2 has 3 cells"),
        ('a,b\n1,2\n3,"SECRET\n4,5\n', "opens a cell on line 3 is not closed"),
        ('a,b\n1,2\n3,"SECRET', "opens a cell on line 3 is not closed"),
        ('a,b\n"SECRET\n3,4\n5,6\n"SECRET,7\n', "opens a cell on line 2 is not closed, or text follows"),
        ("x" * (1 << 27), "no line end"),
    ],
    ids=str.split(
        "empty header-only header-alone newlines no-name twice unlisted missing binary utf16 short long long-record "
        "unclosed unclosed-at-end swallowed no-lines"
    ),
)
def test_what_is_wrong_is_said_without_quoting_a_cell(reads: Reads, content: str | bytes, words: str) -> None:
    """Each broken file gets one sentence that says what and where, and never what the cell holds."""
    with pytest.raises(DataError) as caught:
        reads(content)
    assert words in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("before", [0, 1 << 16, (1 << 20) - 1], ids=["early", "late", "between two chunks"])
def test_a_byte_that_is_not_utf8_is_named(reads: Reads, before: int) -> None:
    """The byte, its offset and its line are named, and the way out works."""
    content = b"a,b\n" + b"x,yz\n" * (before // 5) + "Zürich,1\n".encode("latin-1")
    place, line = content.index(b"\xfc"), content[: content.index(b"\xfc")].count(b"\n") + 1
    with pytest.raises(DataError) as caught:
        reads(content)
    assert f"byte 0xfc at offset {place} (line {line})" in str(caught.value)
    assert 'encoding = "latin-1"' in str(caught.value)
    assert reads(content, encoding="latin-1")["a"][-1] == "Zürich"


def test_utf16_is_read_where_the_policy_says_so(reads: Reads) -> None:
    """Wide encodings work, quotes and newlines in cells included."""
    assert reads('a,b\n"é\n",1\n'.encode("utf-16"), encoding="utf-16") == {"a": ["é\n"], "b": ["1"]}


def test_a_wrong_encoding_is_said(reads: Reads) -> None:
    """A file that is not in the encoding of the policy is refused."""
    with pytest.raises(DataError, match="is not ASCII: byte 0xc3"):
        reads("a,b\né,1\n", encoding="ascii")
    with pytest.raises(DataError, match="is not UTF-16"):
        reads("a,b\n1,2\n", encoding="utf-16")


def test_the_separator_of_the_policy_is_kept(reads: Reads) -> None:
    """What the policy says is not guessed; a separator that no reader knows is refused."""
    assert reads("a b\n1,2 3\n", separator=" ") == {"a": ["1,2"], "b": ["3"]}
    with pytest.raises(DataError, match="not an ASCII character"):
        reads("a§b\n1§2\n", separator="§")


def test_paths_that_are_no_files(tmp_path: Path, rules: Rules) -> None:
    """Folders, pipes, devices and names that cannot be are refused at once, and nothing waits for a pipe."""
    os.mkfifo(tmp_path / "pipe.csv")
    policy = load(rules({"a": "quasi"}))
    for path, words in [
        (tmp_path, "is a folder"),
        (tmp_path / "pipe.csv", "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "nothing.csv", "does not exist"),
        (tmp_path / ("x" * 300), "cannot be read: File name too long"),
    ]:
        with pytest.raises(DataError, match=words):
            read_table(path, policy)


def test_a_file_that_may_not_be_read(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """No permission to read is said as such."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "t.csv").write_text("a\n1\n")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DataError, match=r"t\.csv may not be read"):
        read_table(tmp_path / "t.csv", load(rules({"a": "quasi"})))


def test_an_unknown_kind_of_file(reads: Reads) -> None:
    """A format that is not read is named, with those that are."""
    with pytest.raises(DataError, match=r"'\.docx' files are not read by this version; save the table as CSV"):
        reads("a,b\n1,2\n", name="t.docx")


def test_names_without_a_policy(tmp_path: Path) -> None:
    """The columns of a file can be asked for before there is a policy."""
    (tmp_path / "t.csv").write_text('"a\nx";b\n1;2\n')
    assert column_names(tmp_path / "t.csv", DataSource()) == ["a\nx", "b"]


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)] * 2),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(",;\t|"),
)
def test_what_another_program_writes_is_read(
    tmp_path: Path, rules: Rules, rows: list[tuple[str, str]], separator: str
) -> None:
    """Whatever Python's csv module writes with quotes comes back cell by cell."""
    content = io.StringIO()
    csv.writer(content, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    (tmp_path / "t.csv").write_bytes(content.getvalue().encode())
    policy = load(rules({"a": "quasi", "b": "plain"}, data={"separator": separator}))
    found = read_table(tmp_path / "t.csv", policy).arrow.to_pydict()
    assert list(zip(found["a"], found["b"], strict=True)) == rows


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60) | st.text('ab,;"\n\r \t|\0é', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path: Path, rules: Rules, content: bytes) -> None:
    """No content makes the reader crash: it gives rows or says why not."""
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + content)
    with suppress(DataError):
        assert read_table(tmp_path / "t.csv", load(rules({"a": "quasi", "b": "plain"}))).rows > 0
