"""From the policy to a Spec: what is accepted, what is refused, and that the schema agrees."""

from pathlib import Path

import jsonschema
import pytest

from sfumato.errors import HierarchyError, PolicyError
from sfumato.hierarchy import LINES_SCHEMA, SCHEMA, Dates, File, Intervals, Mask, Ranges, Sets, Spec, Suppress, parse

KEY = "columns.x.hierarchy"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one hierarchy file."""
    (tmp_path / "job.csv").write_text("cook,*\n")
    return tmp_path


ACCEPTED = [
    ("suppress", Suppress()),
    ("sets", Sets()),
    ({"ranges": True}, Ranges()),
    ({"ranges": True, "domain": [0, 2.5]}, Ranges(domain=(0, 2.5))),
    ({"ranges": True, "integers": True}, Ranges(integers=True)),
    ({"intervals": [5, 10]}, Intervals((5, 10))),
    (
        {"intervals": [0.5], "origin": 1, "domain": [0, 9], "bottom": 1, "top": 8, "integers": False},
        Intervals((0.5,), origin=1, domain=(0, 9), bottom=1, top=8, integers=False),
    ),
    ({"mask": "left", "length": 5}, Mask("left", 5)),
    ({"dates": ["month"], "format": "%d.%m.%Y"}, Dates(("month",), "%d.%m.%Y")),
]


@pytest.mark.parametrize(("value", "spec"), ACCEPTED)
def test_accepted(value: object, spec: Spec, folder: Path) -> None:
    """Each kind is read as the Spec that Python would make, and the schema lets it pass."""
    assert parse(value, folder=folder, key=KEY) == spec
    assert hash(spec) == hash(parse(value, folder=folder, key=KEY))
    jsonschema.validate(value, SCHEMA)


def test_file(folder: Path) -> None:
    """Any other text is a file beside the policy."""
    assert parse("job.csv", folder=folder, key=KEY) == File(folder / "job.csv")
    jsonschema.validate("job.csv", SCHEMA)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, f"{KEY}: must be a file name,"),
        (True, f"{KEY}: must be a file name,"),
        (["job.csv"], f"{KEY}: must be a file name,"),
        ("", f"{KEY}: must be a file name,"),
        ({}, f"{KEY}: must be a file name,"),
        ({"origin": 0}, f"{KEY}: must be a file name,"),
        ({"intervals": [5], "mask": "left"}, f"{KEY}: must be one of intervals and mask, not both"),
        ({"intervalls": [5]}, f"{KEY}.intervalls: unknown key; did you mean intervals?"),
        ({"intervals": [5], "length": 5}, f"{KEY}.length: unknown key"),
        ({"intervals": [5], "origin": True}, f"{KEY}.origin: must be a number, not True"),
        ({"intervals": ["5"]}, f"{KEY}.intervals: must be a number, not '5'"),
        ({"ranges": False}, f"{KEY}.ranges: must be true, not False"),
        ({"ranges": True, "domain": "all"}, f"{KEY}.domain: must be [lowest, highest]"),
        ({"ranges": True, "integers": "yes"}, f"{KEY}.integers: must be true or false, not 'yes'"),
        ({"mask": "up"}, f"{KEY}.mask: must be"),
        ({"dates": ["week", "day", "hour"]}, f"{KEY}.dates: unknown unit 'hour'"),
    ],
)
def test_refused(value: object, message: str, folder: Path) -> None:
    """What means nothing is refused by its key, and the schema refuses it too."""
    with pytest.raises(PolicyError) as caught:
        parse(value, folder=folder, key=KEY)
    assert str(caught.value).startswith(message)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(value)


@pytest.mark.parametrize(("word", "meant"), [("supress", "suppress"), ("jobs.csv", "job.csv")])
def test_misspelt(word: str, meant: str, folder: Path) -> None:
    """A file that is not there may be a word misspelt, or another file."""
    with pytest.raises(PolicyError) as caught:
        parse(word, folder=folder, key=KEY)
    assert str(caught.value) == f"{KEY}: {word} cannot be read: No such file or directory; did you mean {meant}?"


def test_a_folder_and_a_bad_file(folder: Path) -> None:
    """A folder is a slip of the policy, a file with two parents one of the hierarchy."""
    with pytest.raises(PolicyError, match=rf"^{KEY}: .* is a folder$"):
        parse(".", folder=folder, key=KEY)
    (folder / "bad.csv").write_text("a,A,*\na,B,*\n")
    with pytest.raises(HierarchyError, match=r"^bad.csv: leaf 'a' has two parents"):
        parse("bad.csv", folder=folder, key=KEY)


@pytest.mark.parametrize("value", ["sets", {"ranges": True}])
def test_open_ended(value: object, folder: Path) -> None:
    """Ranges and sets have no levels besides the values and the root."""
    spec = parse(value, folder=folder, key=KEY)
    assert not spec.levelled
    assert spec.bind(["1"], column="x").labels == (("1",), ("*",))


def test_every_key_is_described() -> None:
    """The schema is one, and says of each key what it is for."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    schemas = [kind.schema for kind in (Suppress, Sets, File, Intervals, Mask, Dates, Ranges)]
    assert SCHEMA["anyOf"] == [*schemas, LINES_SCHEMA]
    for schema in schemas:
        assert schema["description"]
        keys = schema.get("properties", {})
        assert isinstance(keys, dict)
        assert all(key["description"] for key in keys.values())
