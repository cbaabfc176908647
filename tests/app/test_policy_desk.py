"""The policy on the desk: every change is in the file at once, and every one can be taken back."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.app.policy_desk import PolicyDesk, StaleVersion
from sfumato.errors import OutputError


def with_k(document: dict[str, Any], k: int) -> dict[str, Any]:
    """A policy with another k."""
    return {**document, "privacy": [{"model": "k-anonymity", "k": k}]}


def test_a_change_keeps_comments_and_can_be_taken_back(clinic: Path) -> None:
    """The text before it comes back byte for byte, and forth again."""
    desk, file = PolicyDesk(clinic / "people.toml"), clinic / "people.toml"
    first = file.read_bytes()
    state = desk.read()
    assert (state.undo, state.redo, state.fault) == ("", "", "")
    state = desk.change(state.version, "k is 7", with_k(state.document, 7))
    second = file.read_text()
    assert second == first.decode().replace("k = 4", "k = 7")
    assert state.undo == "k is 7"
    state = desk.step(state.version, -1)
    assert (file.read_bytes(), state.undo, state.redo) == (first, "", "k is 7")
    state = desk.step(state.version, 1)
    assert (file.read_text(), state.undo, state.redo) == (second, "k is 7", "")


def test_a_stale_version_writes_nothing(clinic: Path) -> None:
    """Whoever saw an older version is told what came in between."""
    desk, file = PolicyDesk(clinic / "people.toml"), clinic / "people.toml"
    seen = desk.read()
    desk.change(seen.version, "k is 7", with_k(seen.document, 7))
    now = file.read_bytes()
    with pytest.raises(StaleVersion, match="nothing of what you just did was written") as refused:
        desk.change(seen.version, "k is 9", with_k(seen.document, 9))
    assert refused.value.since == ["k is 7"]
    assert file.read_bytes() == now
    with pytest.raises(StaleVersion):
        desk.step(seen.version, -1)


def test_another_program_is_a_version_like_any_other(clinic: Path) -> None:
    """What an editor wrote can be taken back, and what was there before it too."""
    desk, file = PolicyDesk(clinic / "people.toml"), clinic / "people.toml"
    state = desk.read()
    state = desk.change(state.version, "k is 7", with_k(state.document, 7))
    file.write_text(file.read_text().replace("k = 7", "k = 11"))
    with pytest.raises(StaleVersion) as refused:
        desk.change(state.version, "k is 9", with_k(state.document, 9))
    assert refused.value.since == ["the file was changed by another program"]
    state = desk.read()
    assert state.undo == "the file was changed by another program"
    state = desk.change(state.version, "k is 12", with_k(state.document, 12))
    found = []
    while state.undo:
        state = desk.step(state.version, -1)
        found.append(state.requirements[0]["k"])
    assert found == [11, 7, 4]


def test_hierarchies_go_back_with_the_policy(clinic: Path) -> None:
    """A version is the policy with its hierarchy files; files elsewhere are never written."""
    desk, tree = PolicyDesk(clinic / "people.toml"), clinic / "people-hierarchies" / "job.csv"
    before = tree.read_text()
    state = desk.read()
    state = desk.change(state.version, "tree", state.document, files={"people-hierarchies/job.csv": "cook,*\n"})
    assert tree.read_text() == "cook,*\n"
    desk.step(state.version, -1)
    assert tree.read_text() == before
    state = desk.read()
    for name in ("../out.csv", "job.csv", "people-hierarchies/../people.csv", str(clinic / "x.csv")):
        with pytest.raises(OutputError):
            desk.change(state.version, "tree", state.document, files={name: "x"})
    assert desk.read().text == state.text


def test_a_policy_that_makes_no_sense_says_so_and_is_kept(clinic: Path) -> None:
    """Two choices that need each other can be made one after the other."""
    desk = PolicyDesk(clinic / "people.toml")
    state = desk.read()
    without = {**state.document, "columns": {**state.columns, "age": {"role": "quasi"}}}
    state = desk.change(state.version, "age without a hierarchy", without)
    assert state.fault_key.startswith("columns.age")
    assert "hierarchy" in state.fault


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.one_of(st.integers(2, 30), st.sampled_from(["undo", "redo"])), max_size=12))
def test_the_history_is_a_line(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    """Any row of changes, undos and redos leaves what a list with a place in it says."""
    folder = tmp_path_factory.mktemp("desk")
    file = folder / "p.toml"
    file.write_text(
        '[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n\n[[privacy]]\nmodel = "k-anonymity"\nk = 1\n'
    )
    desk, line, at = PolicyDesk(file), [1], 0
    for step in steps:
        state = desk.read()
        if step == "undo":
            if state.undo:
                desk.step(state.version, -1)
            at = max(at - 1, 0)
        elif step == "redo":
            if state.redo:
                desk.step(state.version, 1)
            at = min(at + 1, len(line) - 1)
        elif step != line[at]:
            desk.change(state.version, f"k is {step}", with_k(state.document, step))
            line, at = [*line[: at + 1], step], at + 1
        now = desk.read()
        assert now.requirements[0]["k"] == line[at]
        assert (bool(now.undo), bool(now.redo)) == (at > 0, at < len(line) - 1)


def test_nothing_but_the_policy_and_its_history_is_left(clinic: Path) -> None:
    """No draft stays behind, and the history is for its owner alone."""
    desk = PolicyDesk(clinic / "people.toml")
    state = desk.read()
    desk.change(state.version, "k is 7", with_k(state.document, 7))
    assert sorted(path.name for path in clinic.iterdir()) == [
        ".people.toml.history",
        "people-hierarchies",
        "people.csv",
        "people.toml",
    ]
    assert (clinic / ".people.toml.history").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (clinic / ".people.toml.history").iterdir())
