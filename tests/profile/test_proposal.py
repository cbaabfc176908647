"""The policy as text: TOML that says exactly what is meant, and no value of a column that names people."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.policy.policy_file import hierarchy_file_names
from sfumato.policy.toml_text import write_key, write_value
from sfumato.profile import propose
from sfumato.profile.proposal import comment

Writes = Callable[[str | bytes], Path]

content = st.recursive(
    st.text() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(st.text(), content, st.text())
def test_toml_is_read_back_equal(name: str, meant: object, said: str) -> None:
    """Any key, value and comment come back from a TOML reader as they were."""
    lines = [*comment(said), f"{write_key(name)} = {write_value(meant)}"]
    assert tomllib.loads("\n".join(lines)) == {name: meant}


def test_files_get_names_of_their_own() -> None:
    """Columns that differ in case or in strange letters alone get different files, with plain names."""
    names = ["Job", "job", "jöb", "../../etc/passwd", "", "***", "a" * 300, "CON\n"]
    files = hierarchy_file_names(names, "policy-hierarchies")
    assert len({file.lower() for file in files.values()}) == len(names)
    for file in files.values():
        folder, _, name = file.partition("/")
        assert folder == "policy-hierarchies"
        assert name.removesuffix(".csv").replace("_", "").replace("-", "").isalnum()
        assert len(name) < 80


def test_it_is_the_policy_that_is_meant(ugly: Path, tmp_path: Path) -> None:
    """The text is a policy that loads, and has every column of the table, whatever its name."""
    proposal = propose(ugly, policy=tmp_path / "policy.toml")
    for name, text in proposal.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "policy.toml").write_text(proposal.text, encoding="utf-8")
    policy = load(tmp_path / "policy.toml")
    assert [*policy.columns] == [facts.name for facts in proposal.draft.profile.columns]
    assert policy.source.path is not None
    assert policy.source.path.resolve() == ugly.resolve()
    assert policy.source.null == ("", "NULL")


def test_every_column_has_its_reason_and_every_doubt_is_marked(ugly: Path) -> None:
    """Above each column stands a comment, and as many are marked as are counted."""
    proposal = propose(ugly)
    lines = proposal.text.splitlines()
    for column in proposal.draft.columns:
        assert lines[lines.index(f"{write_key(column.facts.name)} = {write_value(column.entry)}") - 1].startswith("# ")
    assert sum(line.startswith("# check: ") for line in lines) == proposal.decisions


def test_marks_have_grades_and_the_most_dangerous_come_first(writes: Writes) -> None:
    """One line at the top says what to look at first; the grade of each column stands in the text and in JSON."""
    rows = "".join(
        f"{row},{1000 + 17 * row},{['guilty', 'acquitted'][row % 2]},{['positive', 'negative'][row % 2]},{row % 9}\n"
        for row in range(60)
    )
    proposal = propose(writes(f"seqn,height,position,outcome7,what\n{rows}"))
    grades = {column["name"]: column["grade"] for column in proposal.as_json()["columns"]}
    assert grades == {"seqn": None, "height": "danger", "position": "danger", "outcome7": "check", "what": None}
    assert proposal.as_json()["look_first"] == ["height", "position", "outcome7"]
    assert proposal.as_json()["dangers"] == 2
    opening, *_ = proposal.text.split("[data]")
    assert "# Look first at 'height', 'position', 'outcome7'; 2 decisions tell who somebody is" in opening
    assert "Nothing says what 'what' is" in opening
    assert proposal.text.count("# check: danger: ") == 2
    assert proposal.text.count("# check: ") == proposal.decisions


@pytest.mark.slow
def test_marks_are_few_however_many_columns_there_are(writes: Writes) -> None:
    """Hundreds of columns of which nothing is known are named together, and not marked one by one."""
    names = [f"v{place}" for place in range(300)]
    lines = [",".join(names), *(",".join(str(row * place % 7) for place in range(300)) for row in range(40))]
    proposal = propose(writes("\n".join(lines) + "\n"))
    assert proposal.decisions <= 3
    assert re.search(r"Nothing says what .* and \d{3} more are", proposal.text.split("[data]")[0].replace("\n# ", " "))


def test_no_value_of_an_identifier_is_told(ugly: Path) -> None:
    """Planted names, addresses and notes are in no byte of the policy, its files or its JSON."""
    proposal = propose(ugly)
    everything = proposal.text + "".join(proposal.files.values()) + str(proposal.as_json())
    assert "anary" not in everything


def test_nothing_to_publish(writes: Writes) -> None:
    """A table of nothing but names and notes is refused, with a way out."""
    rows = "".join(f"Ann{row},a long note about what happened on day {row}\n" for row in range(30))
    with pytest.raises(DataError, match="nothing to publish: every column names a person"):
        propose(writes(f"name,notes\n{rows}"))


def test_a_policy_needs_a_quasi_identifier(writes: Writes) -> None:
    """Where there are only sensitive columns, one of them is generalized, and it is said."""
    rows = "".join(f"Ann{row},{['flu', 'HIV', 'cold'][row % 3]}\n" for row in range(30))
    proposal = propose(writes(f"name,illness\n{rows}"))
    assert proposal.document["columns"]["illness"]["role"] == "quasi"
    flat = " ".join(line.removeprefix("#").strip() for line in proposal.text.splitlines())
    assert "check: danger: the name says something about health; a policy needs a quasi-identifier" in flat
