"""Patterns of columns: the exact name first, then the longest pattern, then the star; nothing without a role."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.policy import Role, load
from sfumato.policy.column_patterns import find_entry, match_columns, matches_pattern
from tests.conftest import Runs

K = [sf.KAnonymity(2)]
TABLE = pa.table(
    {
        "age": ["30", "30", "41", "41"],
        "lab_na": ["1", "2", "3", "4"],
        "lab_k": ["5", "6", "7", "8"],
        "lab_name": ["x", "y", "z", "w"],
        "note": ["a", "b", "c", "d"],
    }
)
COLUMNS = {
    "age": sf.quasi("suppress"),
    "lab_*": sf.plain(),
    "lab_name*": sf.identifier(),
    "*": sf.sensitive(),
}


def test_exact_name_before_longest_pattern_before_star() -> None:
    """Each column gets the entry that is closest to it, in frames and in files alike."""
    policy = sf.Policy(columns=COLUMNS, privacy=K).for_table(TABLE.column_names)
    roles = {name: str(column.role) for name, column in policy.columns.items()}
    assert roles == {
        "age": "quasi",
        "lab_na": "plain",
        "lab_k": "plain",
        "lab_name": "identifier",
        "note": "sensitive",
    }
    assert policy.matched == {"lab_*": ("lab_na", "lab_k"), "lab_name*": ("lab_name",), "*": ("note",)}
    assert not policy.patterns
    assert policy.for_table(["other"]) is policy


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_release_by_patterns(suffix: str, tmp_path: Path, runs: Runs) -> None:
    """A policy file with patterns makes a release, and the audit records what each of them became."""
    file = tmp_path / f"people.{suffix}"
    frame = TABLE.to_pandas()
    frame.to_csv(file, index=False) if suffix == "csv" else frame.to_parquet(file)
    policy = sf.Policy(columns=COLUMNS, privacy=K, data=file).save(tmp_path / "policy.toml")
    assert runs("anonymize", policy, "--out", tmp_path / "release").code == 0
    audit = json.loads((tmp_path / "release" / "private" / "audit.json").read_text())
    assert audit["patterns"] == {"lab_*": ["lab_na", "lab_k"], "lab_name*": ["lab_name"], "*": ["note"]}
    assert {name: entry["role"] for name, entry in audit["policy"]["columns"].items()} == {
        "age": "quasi",
        "lab_na": "plain",
        "lab_k": "plain",
        "lab_name": "identifier",
        "note": "sensitive",
    }
    assert "x" not in (tmp_path / "release" / "public" / "table.csv").read_text().replace("\n", ",").split(",")
    for command in (
        ("verify", tmp_path / "release", "--policy", policy),
        ("utility", tmp_path / "release", "--original", file, "--policy", policy),
        ("risk", file, "--policy", policy),
        ("compare", policy, "--algorithms", "optimal", "--out", tmp_path / "comparison"),
        ("attack", "homogeneity", tmp_path / "release", "--policy", policy),
        ("attack", "known", file, "--policy", policy),
        ("attack", "link", file, "--known", file, "--on", "age", "--policy", policy),
        ("attack", "minimality", tmp_path / "release", "--original", file, "--policy", policy),
    ):
        outcome = runs(*command)
        assert (outcome.code, outcome.err) == (0, ""), command


def test_a_column_that_nothing_matches_is_still_an_error() -> None:
    """Without a star for all, a column without a role blocks publication."""
    columns = {"age": sf.quasi("suppress"), "lab_*": sf.plain()}
    with pytest.raises(sf.DataError, match="columns without a role: 'note'"):
        sf.anonymize(TABLE, sf.Policy(columns=columns, privacy=K))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"age": sf.quasi("suppress"), "blood_*": sf.plain(), "*": sf.plain()},
            r'columns\."blood_\*": no column of the',
        ),
        (
            {
                "age": sf.quasi("suppress"),
                "lab_*": sf.plain(),
                "lab_n*": sf.plain(),
                "lab_k*": sf.plain(),
                "*": sf.plain(),
            },
            r'columns\."lab_\*": every column that matches it has a longer pattern; leave it out',
        ),
        (
            {name: sf.quasi("suppress") for name in TABLE.column_names} | {"lab_*": sf.plain()},
            "has its own entry; leave it out",
        ),
        ({"age": sf.quasi("suppress"), "lab*": sf.plain(), "*_na": sf.plain(), "*": sf.plain()}, "equally long"),
    ],
)
def test_a_pattern_that_is_left_with_nothing_is_an_error(columns: dict[str, Any], sentence: str) -> None:
    """It says whether nothing matches, or others took all; two that are equally long are settled by nobody."""
    with pytest.raises(sf.PolicyError, match=sentence):
        sf.anonymize(TABLE, sf.Policy(columns=columns, privacy=K))


def test_a_star_alone_may_be_left_with_nothing() -> None:
    """It says what becomes of columns that nobody thought of, and today there may be none."""
    columns = {name: sf.quasi("suppress") for name in TABLE.column_names} | {"*": sf.identifier()}
    release = sf.anonymize(TABLE, sf.Policy(columns=columns, privacy=K))
    assert release.table.column_names == TABLE.column_names
    added = TABLE.append_column("surname", [["Ann", "Bea", "Cid", "Dan"]])
    assert sf.anonymize(added, sf.Policy(columns=columns, privacy=K)).table.column_names == TABLE.column_names


def test_a_column_that_is_called_like_a_pattern() -> None:
    """A table with a column called lab_* or * has it by its own name, and the entry is no pattern then."""
    table = pa.table({"age": ["30", "30"], "lab_*": ["a", "b"], "*": ["c", "d"]})
    columns = {"age": sf.quasi("suppress"), "lab_*": sf.plain(), "*": sf.identifier()}
    policy = sf.Policy(columns=columns, privacy=K)
    release = sf.anonymize(table, policy)
    assert release.table.column_names == ["age", "lab_*"]
    assert release.policy.matched == {"lab_*": (), "*": ()} or not release.policy.matched
    wider = table.append_column("lab_k", pa.array(["e", "f"]))
    with pytest.raises(sf.DataError, match="columns without a role: 'lab_k'"):
        sf.anonymize(wider, policy)
    both = sf.Policy(columns=columns | {"lab_**": sf.plain()}, privacy=K)  # two stars mean the others as well
    assert sf.anonymize(wider, both).table.column_names == ["age", "lab_*", "lab_k"]


def test_requirements_may_name_what_a_pattern_matches() -> None:
    """A model looks at a column that only a pattern describes; one that no pattern makes sensitive is refused."""
    columns = {"age": sf.quasi("suppress"), "lab_*": sf.sensitive(), "*": sf.identifier()}
    policy = sf.Policy(columns=columns, privacy=[*K, sf.DistinctLDiversity("lab_na", 2)])
    assert sf.anonymize(TABLE, policy).verdict.satisfied
    with pytest.raises(sf.PolicyError, match=r"privacy\[0\].column: 'note' is of role identifier"):
        sf.Policy(columns=columns, privacy=[sf.DistinctLDiversity("note", 2)])


def test_quasi_identifiers_may_come_from_a_pattern_alone() -> None:
    """A policy whose quasi-identifiers are all matched by a pattern makes a release."""
    policy = sf.Policy(columns={"a*": sf.quasi("suppress"), "*": sf.identifier()}, privacy=K)
    assert [column.name for column in policy.for_table(TABLE.column_names).with_role(Role.QUASI)] == ["age"]
    assert sf.anonymize(TABLE, policy).table.column_names == ["age"]


def test_the_error_of_an_entry_names_the_pattern(write: Callable[[str | bytes], Path]) -> None:
    """What is wrong with the entry of a pattern is said with its key and its line."""
    path = write('[columns]\nage = { role = "quasi", hierarchy = "suppress" }\n"lab_*" = { role = "plane" }\n')
    with pytest.raises(sf.PolicyError, match=r'line 3: columns."lab_\*".role: must be'):
        load(path)


names = st.text(st.sampled_from("ab*"), min_size=1, max_size=5)


@given(names, names)
def test_a_star_stands_for_any_text(name: str, pattern: str) -> None:
    """A name matches if the parts between stars are in it in their order, from its beginning to its end."""
    reachable = {0}
    for sign in pattern:
        if sign == "*":
            reachable = set(range(min(reachable), len(name) + 1)) if reachable else set()
        else:
            reachable = {place + 1 for place in reachable if place < len(name) and name[place] == sign}
    assert matches_pattern(name, pattern) == (len(name) in reachable)


@given(st.lists(names, unique=True, max_size=5), st.lists(names, unique=True, min_size=1, max_size=5))
def test_every_column_has_one_entry_or_none(patterns: list[str], columns: list[str]) -> None:
    """What `match_columns` gives is what `find_entry` says of each column, and no column is there twice."""
    rules = load({"columns": {"q": sf.quasi("suppress")}, "privacy": [{"model": "k-anonymity", "k": 1}]}).columns
    entries = dict.fromkeys(patterns, rules["q"])
    left = [pattern for pattern in patterns if pattern not in columns and "*" in pattern]
    lengths = [
        [len(one.replace("*", "")) for one in left if matches_pattern(name, one)]
        for name in columns
        if name not in entries
    ]
    if any(some.count(max(some)) > 1 for some in lengths if some):
        with pytest.raises(sf.PolicyError, match="equally long"):
            match_columns(entries, columns, whole=False)
        return
    found, became = match_columns(entries, columns, whole=False)
    for name in columns:
        expected = name if name in entries else find_entry(name, left)
        assert (name in found) == (expected is not None)
        assert expected in {None, name} or name in became[str(expected)]
