"""Policies from files: the example of the interface, lines in errors, and files that are no policies."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import Role, load

Write = Callable[[str | bytes], Path]

EXAMPLE = """
[data]
source = "adult.csv"         # CSV/TSV
# separator = ";"            # found by itself when left out
# null = ["", "?"]

[columns]                    # every column of the source needs a role
ssn        = { role = "identifier" }
person     = { role = "individual" }
age        = { role = "quasi", hierarchy = { intervals = [5, 10, 20] } }   # 37 → 35-39
zip        = { role = "quasi", hierarchy = { mask = "right" } }
job        = { role = "quasi", hierarchy = "job.csv" }
sex        = { role = "quasi", hierarchy = "suppress" }
born       = { role = "quasi", hierarchy = { dates = ["month", "year", "decade"] } }
illness    = { role = "sensitive", hierarchy = "illness.csv" }
visits     = { role = "plain" }

[[privacy]]                  # all of them must hold
model = "k-anonymity"
k = 5

[[privacy]]
model = "alpha-deassociation"
column = "illness"
alpha = 0.5
values = ["HIV"]

[algorithm]
name = "optimal"
suppression = 0.0
seed = 1

[publish]
form = "generalized"
format = "csv"
"""


@pytest.fixture
def example(tmp_path: Path, write: Write) -> Path:
    """The example of the interface, without what is not in this version, beside its hierarchies."""
    (tmp_path / "job.csv").write_text("Nurse,Health,*\nBaker,Food,*\n")
    (tmp_path / "illness.csv").write_text("HIV,Viral,*\nFlu,Viral,*\nGout,Other,*\n")
    return write(EXAMPLE)


def message_of(path: Path | str) -> str:
    """What `load` says of this file."""
    with pytest.raises(PolicyError) as caught:
        load(path)
    return str(caught.value)


def test_the_example_loads(example: Path) -> None:
    """The example of the interface is a policy."""
    policy = load(example)
    assert [column.name for column in policy.quasi] == ["age", "zip", "job", "sex", "born"]
    assert [model.name for model in policy.privacy] == ["k-anonymity", "alpha-deassociation"]
    assert policy.source.path == example.parent / "adult.csv"
    assert policy.search.suppression == Fraction(0)
    assert load(str(example)).document == policy.document


def test_a_policy_is_loaded_as_it_is(example: Path) -> None:
    """Loading a policy gives the same policy."""
    policy = load(example)
    assert load(policy) is policy


def test_dotted_forms(write: Write) -> None:
    """Tables can be written in every way TOML has."""
    policy = load(
        write(
            'privacy = [{ model = "k-anonymity", k = 2 }]\ncolumns."a b".role = "plain"\n'
            '[columns.sex]\nrole = "quasi"\nhierarchy = "suppress"\n'
        )
    )
    assert [(column.name, column.role) for column in policy.columns.values()] == [
        ("a b", Role.PLAIN),
        ("sex", Role.QUASI),
    ]


def test_a_byte_order_mark_is_no_error(example: Path) -> None:
    """A file that begins as Windows editors begin one is read, and its line ends too."""
    example.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert len(load(example).privacy) == 2


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ("k = 5", "k = 0", 20, "privacy[0].k"),
        ('column = "illness"', 'column = "ilness"', 24, "privacy[1].column"),
        ("seed = 1", "seed = -1", 31, "algorithm.seed"),
        ('format = "csv"', 'fromat = "csv"', 35, "publish.fromat"),
        ('hierarchy = { mask = "right" }', "weight = 1", 11, "columns.zip.hierarchy"),
        ('role = "plain"', '"rôle" = "plain"', 16, 'columns.visits."rôle"'),
        ('name = "optimal"', 'name = "condensation"', 29, "algorithm.name"),
        ('hierarchy = "suppress"', "hierarchy = { ranges = true }", 13, "columns.sex.hierarchy"),
        ('[publish]\nform = "generalized"', "[[previous]]", 34, "previous[0].format"),
        ('source = "adult.csv"', 'source = "a.csv"\nquery = "select 1"', 4, "data.query"),
        ('"individual"', '"quasy"', 9, "columns.person.role"),
    ],
)
def test_errors_name_file_line_and_key(old: str, new: str, line: int, key: str, example: Path) -> None:
    """One change to the example, and the error begins with the file, the line and the key."""
    example.write_text(EXAMPLE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        load(example)
    assert caught.value.key == key
    assert str(caught.value).startswith(f"{example}, line {line}: {key}: ")


def test_errors_without_a_line_name_the_file(write: Write) -> None:
    """Where nothing is written, the error names the file and the key alone."""
    path = write('[[privacy]]\nmodel = "k-anonymity"\nk = 5\n')
    assert message_of(path).startswith(f"{path}: columns: is missing; ")


def test_missing_keys_are_sought_in_their_table(write: Write) -> None:
    """A key that is missing is reported on the line of the table that lacks it."""
    path = write('[columns]\n\n[columns.age]\nrole = "quasi"\n')
    assert message_of(path).startswith(f"{path}, line 3: columns.age.hierarchy: is missing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[data]\nsource = adult.csv\n", "(at line 2, column 10)"),
        ('[data]\nsource = "a"\nsource = "b"\n', "(at line 3, column 13)"),
        ("[columns]\n[columns]\n", "(at line 2, column 9)"),
        ("a = " + "1" * 5000, "is not valid TOML"),
        ("a = " + "[" * 100_000, "is nested too deeply to be read"),
        ("", "is empty; a policy says at least [columns] and [[privacy]]"),
        ("# nothing yet\n", "is empty"),
        (b"[data]\nsource = '\xe9'\n", "is not UTF-8 text"),
        ("[data]\n".encode("utf-16"), "is not UTF-8 text"),
        (b"PAR1\0\0\0", "is a binary file"),
    ],
)
def test_files_that_are_no_policies(text: str | bytes, said: str, write: Write) -> None:
    """A file that is not TOML is an error of one line that names it and, where known, the line."""
    path = write(text)
    message = message_of(path)
    assert message.startswith(str(path))
    assert said in message
    assert "\n" not in message


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is an error that names it."""
    assert message_of(tmp_path / "no.toml") == f"there is no policy file {tmp_path / 'no.toml'}"


def test_folder(tmp_path: Path) -> None:
    """A folder in place of a file is an error that says so."""
    assert message_of(tmp_path) == f"{tmp_path} is a folder; give the policy file in it"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_paths_that_no_system_has(path: str) -> None:
    """A path that cannot exist is an error, short enough to read."""
    message = message_of(path)
    assert "cannot be read: " in message
    assert len(message) < 200


@pytest.mark.parametrize("policy", [5, ["policy.toml"], None])
def test_things_that_are_no_policy(policy: Any) -> None:
    """Anything else is an error that says what a policy is."""
    assert message_of(policy).startswith("a policy is the path of a TOML file or a dict of its tables, not ")
