"""Roles, hierarchies and weights of [columns]."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

from sfumato import anonymize
from sfumato.errors import PolicyError
from sfumato.policy import Column, Role, load, schema
from sfumato.policy.options import RECODERS

Refused = Callable[..., str]


def test_columns_keep_their_order_and_roles(good: dict[str, Any]) -> None:
    """The columns of a policy are those written, in their order, each with its role."""
    columns = load(good).columns
    assert list(columns) == list(good["columns"])
    assert columns["ssn"] == Column("ssn", Role.IDENTIFIER)
    assert columns["sex"].weight == 2.0
    assert columns["age"].hierarchy is not None


def test_columns_cannot_be_changed(good: dict[str, Any]) -> None:
    """The columns of a policy are a view that nobody can write to."""
    columns: Any = load(good).columns
    with pytest.raises(TypeError):
        columns["age"] = None


def test_unknown_role_names_the_close_one(refused: Refused) -> None:
    """A misspelt role is an error that lists the roles and names the likely one."""
    message = refused("columns", "age", "role", to="qasi", key="columns.age.role")
    expected = "must be identifier, individual, quasi, sensitive, plain or weight, not 'qasi'; did you mean quasi?"
    assert message == expected


def test_missing_role(refused: Refused) -> None:
    """A column without a role is an error that lists the roles."""
    message = refused("columns", "age", "role", to=None, key="columns.age.role")
    assert message.startswith("is missing; choose identifier")


def test_column_that_is_no_table(refused: Refused) -> None:
    """A role written in place of the table is an error that shows the table."""
    message = refused("columns", "marital status", to="plain", key='columns."marital status"')
    assert message == "must be a table such as { role = \"plain\" }, not 'plain'"


def test_unknown_key_of_a_column(refused: Refused) -> None:
    """A misspelt key of a column is an error that names the likely one."""
    message = refused("columns", "age", "wieght", to=1, key="columns.age.wieght")
    assert message == "is not a key of a policy; did you mean weight?"


def test_quasi_needs_a_hierarchy(refused: Refused) -> None:
    """A quasi-identifier without a hierarchy is told the simplest one."""
    message = refused("columns", "age", "hierarchy", to=None, key="columns.age.hierarchy")
    assert 'write hierarchy = "suppress" as the simplest, or of numbers { intervals' in message


@pytest.mark.parametrize(("name", "role"), [("ssn", "identifier"), ("person", "individual"), ("visits", "plain")])
def test_hierarchy_of_a_column_that_is_not_generalized(name: str, role: str, refused: Refused) -> None:
    """A hierarchy on a column that is never generalized is an error, even where its file is missing."""
    message = refused("columns", name, "hierarchy", to="no-such.csv", key=f"columns.{name}.hierarchy")
    assert message == f"a column of role {role} is never generalized; leave the hierarchy out"


def test_sensitive_hierarchies_are_allowed(good: dict[str, Any]) -> None:
    """A sensitive column may have a hierarchy, for distances."""
    good["columns"]["illness"]["hierarchy"] = {"mask": "right"}
    assert load(good).columns["illness"].hierarchy is not None


@pytest.mark.parametrize("value", [{"ranges": True}, "sets"])
def test_sensitive_hierarchies_need_levels(value: object, refused: Refused) -> None:
    """A sensitive hierarchy without levels is an error."""
    message = refused("columns", "illness", "hierarchy", to=value, key="columns.illness.hierarchy")
    assert "needs levels" in message


@pytest.mark.parametrize("value", [{"ranges": True}, "sets"])
@pytest.mark.parametrize("algorithm", RECODERS)
def test_every_algorithm_takes_columns_without_levels(value: object, algorithm: str, good: dict[str, Any]) -> None:
    """Ranges and sets are accepted with every algorithm; those that choose none publish the value or nothing."""
    good["columns"]["age"]["hierarchy"] = value
    good["algorithm"] = {"name": algorithm}
    assert load(good).search.name == algorithm


@pytest.mark.parametrize("algorithm", ["optimal", "top-down"])
def test_the_form_of_ranges_needs_an_algorithm_that_chooses_them(algorithm: str, good: dict[str, Any]) -> None:
    """How ranges are shown means nothing where none are chosen, and it is said so."""
    good["columns"]["age"]["hierarchy"] = {"ranges": True}
    good["algorithm"]["name"] = algorithm
    good["publish"] = {"ranges": "boxes"}
    with pytest.raises(
        PolicyError, match=rf"^publish\.ranges: {algorithm} chooses no ranges, and publishes the number"
    ):
        load(good)


def test_errors_of_a_hierarchy_name_its_key(refused: Refused) -> None:
    """What the hierarchy refuses is refused under the key of the column."""
    assert refused("columns", "age", "hierarchy", to=5, key="columns.age.hierarchy")


@pytest.mark.parametrize("name", ["a" * 300, "no-such.csv", "a\0b", "."])
def test_hierarchy_files_that_cannot_be(name: str, refused: Refused) -> None:
    """A hierarchy file that is missing, or that no system could have, is an error under its key."""
    assert refused("columns", "age", "hierarchy", to=name, key="columns.age.hierarchy")


@pytest.mark.parametrize("weight", [-1, True, "2", [1]])
def test_weight_is_a_number_of_at_least_zero(weight: object, refused: Refused) -> None:
    """A weight that is negative or no number is an error; true is no number."""
    message = refused("columns", "sex", "weight", to=weight, key="columns.sex.weight")
    assert message.startswith("must be a number of at least 0, not ")


@pytest.mark.parametrize("weight", [float("inf"), float("nan")])
def test_weight_is_finite(weight: float, refused: Refused) -> None:
    """A weight without end, or that is no number at all, is an error."""
    message = refused("columns", "sex", "weight", to=weight, key="columns.sex.weight")
    assert message == f"must be a finite number, not {weight}"


def test_weight_of_a_column_that_is_not_quasi(refused: Refused) -> None:
    """A weight on a column that is not generalized is an error."""
    message = refused("columns", "visits", "weight", to=1, key="columns.visits.weight")
    assert message == "only a quasi-identifier has a weight, not a column of role plain"


def test_not_all_weights_are_zero(good: dict[str, Any], refused: Refused) -> None:
    """A policy in which no quasi-identifier matters is an error."""
    good["columns"]["sex"]["weight"] = 0
    message = refused("columns", "age", "weight", to=0, key="columns.age.weight")
    assert message == "every quasi-identifier has weight 0; give one of them more"


def test_one_weight_may_be_zero(good: dict[str, Any]) -> None:
    """A quasi-identifier may be worth nothing while another is worth something."""
    good["columns"]["sex"]["weight"] = 0
    assert load(good).columns["sex"].weight == 0


def test_no_quasi_identifier(refused: Refused) -> None:
    """A policy without a quasi-identifier is told how to name one."""
    message = refused("columns", to={"visits": {"role": "plain"}}, key="columns")
    assert message.startswith("no quasi-identifier: ")
    assert 'role = "quasi"' in message


def test_two_individual_columns(refused: Refused) -> None:
    """A second column of individuals is an error that names both."""
    message = refused("columns", "visits", "role", to="individual", key="columns.visits.role")
    assert message == "at most one column may be individual, and 'person' is"


@pytest.mark.parametrize(("value", "text"), [(None, "is missing"), ([], "must be a table, not a list")])
def test_columns_are_a_table(value: object, text: str, refused: Refused) -> None:
    """A policy without [columns], or with something else there, is an error."""
    assert refused("columns", to=value, key="columns").startswith(text)


def test_hierarchy_files_are_sought_from_the_policy(
    tmp_path: Path, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hierarchy is asked for with the folder of the policy file."""
    (tmp_path / "job.csv").write_text("Nurse,Health,*\nBaker,Food,*\n")
    monkeypatch.chdir("/")
    path = write(
        '[columns]\njob = { role = "quasi", hierarchy = "job.csv" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    assert load(path).columns["job"].hierarchy is not None


def test_ways_to_publish_ranges_need_a_column_of_ranges(refused: Refused) -> None:
    """A way to publish ranges is refused where there are none, since it would change nothing."""
    message = refused("publish", "ranges", to="boxes", key="publish.ranges")
    assert message == "no column is published as ranges; leave it out, or give a column hierarchy = { ranges = true }"


def test_a_full_domain_result_is_not_improved(refused: Refused) -> None:
    """To ask for an improvement that cannot be is refused; to ask for none is fine."""
    message = refused("algorithm", "improve", to=True, key="algorithm.improve")
    assert message.endswith("leave it out, or choose auto")


def test_without_a_key_there_is_none(good: dict[str, Any]) -> None:
    """A column has no key file unless the policy names one."""
    assert [column.key for column in load(good).columns.values()] == [None] * len(good["columns"])


def test_key_files_are_sought_from_the_policy(
    tmp_path: Path, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key file is named relative to the policy, or absolutely, and need not be there to read the policy."""
    monkeypatch.chdir("/")
    for name, path in (("keys/person.key", tmp_path / "keys" / "person.key"), ("/apart/a.key", Path("/apart/a.key"))):
        policy = load(write(_keyed(name)))
        assert policy.columns["person"].key == path
        assert policy.individual == policy.columns["person"]
        assert policy.document["columns"]["person"]["key"] == name  # type: ignore[index]


@pytest.mark.parametrize("name", ["ssn", "age", "illness", "visits"])
def test_key_of_a_column_without_pseudonyms(name: str, refused: Refused) -> None:
    """A key on a column that has no pseudonyms is an error."""
    message = refused("columns", name, "key", to="person.key", key=f"columns.{name}.key")
    assert message == "only a column of role individual has pseudonyms, and so a key; leave it out"


@pytest.mark.parametrize(("value", "text"), [(5, "must be text, not 5"), ("", "must be the path of a file, not ''")])
def test_key_is_the_path_of_a_file(value: object, text: str, refused: Refused) -> None:
    """A key that is no path is an error."""
    assert refused("columns", "person", "key", to=value, key="columns.person.key") == text


def test_the_policy_is_not_its_own_key(write: Callable[[str], Path], tmp_path: Path) -> None:
    """A policy that names itself as the key, by whatever path, is an error with the line."""
    (tmp_path / "linked.key").symlink_to(tmp_path / "policy.toml")
    for name in ("policy.toml", f"../{tmp_path.name}/policy.toml", "linked.key"):
        with pytest.raises(PolicyError, match=r"line 2: columns\.person\.key: .* is the policy itself; name a file"):
            load(write(_keyed(name)))


def test_the_schema_knows_keys(good: dict[str, Any]) -> None:
    """The schema allows a key on the individual column and nowhere else, and only as text."""
    valid = jsonschema.Draft202012Validator(schema()).is_valid
    assert valid(good | {"columns": _with_key(good, "person", "person.key")})
    for value in (5, "", True):
        assert not valid(good | {"columns": _with_key(good, "person", value)})
    for name in ("ssn", "age", "illness", "visits"):
        assert not valid(good | {"columns": _with_key(good, name, "person.key")})


def _with_key(policy: dict[str, Any], name: str, key: object) -> dict[str, Any]:
    columns: dict[str, Any] = policy["columns"]
    return columns | {name: columns[name] | {"key": key}}


def _keyed(name: str) -> str:
    """A policy file that names a key, on its second line."""
    return (
        f'[columns]\nperson = {{ role = "individual", key = "{name}" }}\n'
        'age = { role = "quasi", hierarchy = "suppress" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )


def test_the_lowest_level_is_read(good: dict[str, Any]) -> None:
    """A quasi-identifier may have a lowest level, up to that of the star; the schema knows it."""
    for least in (0, 1, 4):
        good["columns"]["age"]["least"] = least
        jsonschema.validate(good, schema())
        assert load(good).columns["age"].least == least
    assert load(good).columns["sex"].least == 0


@pytest.mark.parametrize("least", [-1, 1.5, True, "year"])
def test_the_lowest_level_is_a_whole_number(refused: Refused, least: object) -> None:
    """What is no level is refused."""
    message = refused("columns", "age", "least", to=least, key="columns.age.least")
    assert message.startswith("must be a whole number of at least 0")


def test_the_lowest_level_is_one_of_the_hierarchy(refused: Refused) -> None:
    """A level that the hierarchy does not have is refused, with those that it has."""
    message = refused("columns", "age", "least", to=5, key="columns.age.least")
    assert message == "is 5, and the hierarchy has levels 0 to 4, of which 4 is '*'; lower it"


def test_the_levels_of_a_mask_are_known_from_the_values() -> None:
    """Without a length, a mask has as many levels as its longest value has characters: the table decides."""
    mask = {"role": "quasi", "hierarchy": {"mask": "right"}, "least": 3}
    policy = {"columns": {"zip": mask}, "privacy": [{"model": "k-anonymity", "k": 1}]}
    assert anonymize(pa.table({"zip": ["4350", "12"]}), policy).table["zip"].to_pylist().count("4***") == 1
    with pytest.raises(PolicyError, match=r"columns.zip.least: is 3, and the hierarchy has levels 0 to 2"):
        anonymize(pa.table({"zip": ["43", "12"]}), policy)


def test_only_quasi_identifiers_have_a_lowest_level(refused: Refused) -> None:
    """What is published as it is, or not at all, has no lowest level."""
    message = refused("columns", "visits", "least", to=1, key="columns.visits.least")
    assert message == (
        "only a quasi-identifier has levels that are published, not a column of role plain; leave it out"
    )


@pytest.mark.parametrize("hierarchy", ["sets", {"ranges": True}])
def test_no_lowest_level_without_levels(good: dict[str, Any], hierarchy: object) -> None:
    """Ranges and sets have no levels: the error says what has."""
    good["columns"]["age"] = {"role": "quasi", "hierarchy": hierarchy, "least": 1}
    good["algorithm"] = {}
    with pytest.raises(PolicyError, match=r"columns.age.least: the hierarchy has no levels; give intervals, dates"):
        load(good)


def test_anatomy_needs_no_hierarchy() -> None:
    """Anatomy publishes values as they are: ranges and sets are refused with advice that works there."""
    columns = {"town": {"role": "quasi", "hierarchy": "sets"}, "illness": {"role": "sensitive"}}
    policy: dict[str, Any] = {
        "columns": columns,
        "privacy": [{"model": "distinct-l-diversity", "column": "illness", "l": 2}],
        "algorithm": {"name": "anatomy"},
        "publish": {"form": "anatomy"},
    }
    with pytest.raises(PolicyError, match="Anatomy publishes values as they are; leave the hierarchy out"):
        load(policy)
    assert load(policy | {"columns": columns | {"town": {"role": "quasi"}}}).recoder == "anatomy"
