"""The policy as a value and from files: roles, overrides, the document for the audit, and lines in errors."""

import dataclasses
import json
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import AlgorithmOptions, Role, load

Refused = Callable[..., str]


def test_columns_by_role(good: dict[str, Any]) -> None:
    """Each role has its columns, in the order of the policy."""
    policy = load(good)
    assert [column.name for column in policy.quasi] == ["age", "sex"]
    assert [column.name for column in policy.sensitive] == ["illness"]
    assert [column.name for column in policy.plain] == ["visits"]
    assert [column.name for column in policy.identifiers] == ["ssn"]
    assert policy.individual == policy.columns["person"]
    assert policy.with_role(Role.QUASI) == policy.quasi


def test_no_individual_column(good: dict[str, Any]) -> None:
    """Where each row is its own person there is no individual column."""
    del good["columns"]["person"]
    assert load(good).individual is None


def test_a_policy_is_frozen(good: dict[str, Any]) -> None:
    """A policy cannot be changed once it is checked."""
    policy: Any = load(good)
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.search = AlgorithmOptions()


def test_a_policy_made_by_hand_is_checked(good: dict[str, Any]) -> None:
    """A policy put together from its parts goes through the same checks."""
    columns = {name: column for name, column in load(good).columns.items() if name != "illness"}
    with pytest.raises(PolicyError, match=r"privacy\[1\]\.column: 'illness' is not one of"):
        dataclasses.replace(load(good), columns=columns)


def test_replace_overrides_and_keeps_the_document_in_step(good: dict[str, Any]) -> None:
    """What the command line overrides is overridden in the value and in the document, and nothing else."""
    policy = load(good)
    other = policy.replace(source="other.csv", algorithm="samarati", seed=7)
    assert (other.source.path, other.search.name, other.search.seed) == (Path("other.csv"), "samarati", 7)
    assert other.document["data"] == {"source": "other.csv"}
    assert other.document["algorithm"] == {**good["algorithm"], "name": "samarati", "seed": 7}
    assert other.search.suppression == policy.search.suppression
    assert policy.document == good


def test_replace_nothing(good: dict[str, Any]) -> None:
    """Without overrides the policy is what it was, with no table added to its document."""
    for name in ("data", "algorithm", "publish"):
        del good[name]
    policy = load(good)
    assert policy.replace() == policy
    assert policy.replace().document == good


def test_replace_seed_zero(good: dict[str, Any]) -> None:
    """A seed of 0 is a seed."""
    assert load(good).replace(seed=0).search.seed == 0


def test_replace_keeps_the_folder_of_the_policy(write: Callable[[str], Path]) -> None:
    """A source that is not overridden still starts at the folder of the policy file."""
    path = write(
        '[data]\nsource = "a.csv"\n[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    policy = load(path)
    assert policy.replace(seed=1).source.path == path.parent / "a.csv"
    assert policy.replace(source=Path("b.csv")).source.path == Path("b.csv")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"source": "mysql://host"}, "data.source"),
        ({"algorithm": "condensation"}, "algorithm.name"),
        ({"algorithm": "optimum"}, "algorithm.name"),
        ({"seed": -1}, "algorithm.seed"),
        ({"seed": True}, "algorithm.seed"),
    ],
)
def test_replace_is_checked(change: dict[str, Any], key: str, good: dict[str, Any]) -> None:
    """An override goes through the checks of the file."""
    with pytest.raises(PolicyError) as caught:
        load(good).replace(**change)
    assert caught.value.key == key


def test_document_is_json(good: dict[str, Any]) -> None:
    """Dates, paths, tuples and text enums of a dict come out as JSON holds them."""
    good["data"] = {"source": Path("adult.csv"), "null": ("", "?")}
    good["columns"]["ssn"] = {"role": Role.IDENTIFIER}
    document = json.loads(json.dumps(load(good).document))
    assert document["data"] == {"source": "adult.csv", "null": ["", "?"]}
    assert document["columns"]["ssn"] == {"role": "identifier"}


def test_dates_become_text(good: dict[str, Any]) -> None:
    """A date is read as the text a table would hold."""
    good["data"]["null"] = [date(1900, 1, 1)]
    assert load(good).source.null == ("1900-01-01",)


def test_document_is_a_copy(good: dict[str, Any]) -> None:
    """What the caller does to the dict afterwards does not reach the policy."""
    policy = load(good)
    good["privacy"][0]["k"] = 1
    assert json.dumps(policy.document["privacy"]).count('"k": 5') == 1


@pytest.mark.parametrize("value", [None, object(), {1, 2}, b"csv", 1j])
def test_values_that_toml_does_not_have(value: object, good: dict[str, Any]) -> None:
    """A value of a dict that a file could not hold is an error that names its key."""
    good["publish"]["format"] = value
    with pytest.raises(PolicyError, match=r"publish.format: must be text, a number, a list or a table, not "):
        load(good)


def test_keys_that_are_no_text(refused: Refused) -> None:
    """A key of a dict that a file could not hold is an error."""
    assert refused("columns", 5, to={"role": "plain"}, key="columns") == "must have text as its keys, not int"


def test_endless_dicts() -> None:
    """A dict that holds itself is an error."""
    endless: dict[str, object] = {}
    endless["columns"] = endless
    with pytest.raises(PolicyError, match="nested too deeply"):
        load(endless)


def test_unknown_tables(refused: Refused) -> None:
    """A misspelt table is an error that names the likely one, or lists them all."""
    assert refused("colums", to={}, key="colums") == "is not a key of a policy; did you mean columns?"


def test_unknown_table_like_no_other(refused: Refused) -> None:
    """A table like no other is an error that lists those there are."""
    message = refused("zzz", to={}, key="zzz")
    assert message == "is not a key of a policy; choose data, columns, privacy, previous, algorithm, publish or apply"


def test_long_texts_are_cut(refused: Refused) -> None:
    """What was given is shown short enough for a sentence."""
    message = refused("publish", "format", to="x" * 500, key="publish.format")
    assert len(message) < 100


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
        ('hierarchy = "suppress"', "hierarchy = { range = true }", 13, "columns.sex.hierarchy.range"),
        ('[publish]\nform = "generalized"', "[[previous]]", 34, "previous[0].format"),
        ('source = "adult.csv"', 'source = "a.db"\nquery = "select 1"\ntable = "t"', 4, "data.query"),
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
