"""JSON Lines: text and numbers as they are, or one sentence that says what is wrong with the file."""

from collections.abc import Callable
from typing import Any

import pytest

from sfumato.errors import DataError

Reads = Callable[..., dict[str, list[Any]]]


def test_json_lines(reads: Reads) -> None:
    """Text that looks like a date stays text, numbers are numbers, and a missing key is NULL."""
    content = '{"a":"2020-01-01","b":1}\n\n{"a":"x"}\n{"b":2.5,"a":null}\n'
    assert reads(content, name="t.jsonl") == {"a": ["2020-01-01", "x", None], "b": [1, None, 2.5]}
    dates = '{"a":"2020-01-01","b":"2020-01-01T10:00:00"}\n'
    assert reads(dates, name="t.ndjson") == {"a": ["2020-01-01"], "b": ["2020-01-01T10:00:00"]}


def test_a_long_line_of_json(reads: Reads) -> None:
    """An object longer than any block is read like any other."""
    found = reads('{"a":"' + "x" * (9 << 20) + '","b":1}\n', name="t.jsonl")
    assert len(found["a"][0]) == 9 << 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (' [{"a":1,"b":2}]', "is a JSON array; write one object per line"),
        ('{"a":1,"b":1}\n{"a":"SECRET","b":1}\n', r"column 'a' mixes numbers and text \(line 2\)"),
        ('{"a":1,"b":1}\n' * 400_000 + '{"a":"SECRET","b":1}\n', r"column 'a' mixes numbers and text \(line 400001\)"),
        ('{"a":1,"b":1}\nSECRET\n', "line 2 is not a JSON object"),
        ('{}\n{"a":"SECR', "line 2 is not a JSON object"),
        ('{"a":{"x":"SECRET"},"b":1}\n', "column 'a' holds struct"),
        ('{"a":["SECRET"],"b":1}\n', "column 'a' holds list"),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + ',"b":1}\n', "line 1 is nested too deeply"),
        ('{"a":1,\n"b":' + '{"x":\n' * 5_000 + "1" + "}" * 5_000 + "}", "is nested too deeply"),
        ('{"a":"Zürich","b":1}\n'.encode("latin-1"), "is not UTF-8"),
        ('{"a":1,"b":1}\n'.encode("utf-16"), "is not a JSON object"),
        ("{}\n", "columns of the policy are not in the table"),
        ('{"a":1,"a":"SECRET","b":1}\n', "cannot be read as JSON Lines"),
    ],
    ids=str.split("array mixed mixed-late bad cut object list deep deep-lines latin wide no-columns twice"),
)
def test_json_that_is_no_table(reads: Reads, content: str | bytes, words: str) -> None:
    """What is wrong with a JSON file is said by line or column, and no cell is quoted."""
    with pytest.raises(DataError, match=words) as caught:
        reads(content, name="t.jsonl")
    assert "SECRET" not in str(caught.value)


def test_brackets_in_json_text_are_text(reads: Reads) -> None:
    """Brackets inside of text are not nesting."""
    assert reads('{"a":"' + "[{" * 500 + '","b":"\\"["}\n', name="t.jsonl")["b"] == ['"[']
