"""The hierarchy of a column: declared or by hand, what is shown is what will be applied."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.app.tree_edits import (
    add_level,
    checked_text,
    drop_level,
    group_leaves,
    level_labels,
    move_nodes,
    place_values,
    rename_node,
)
from sfumato.errors import HierarchyError
from sfumato.hierarchy import File
from sfumato.policy import load

JOB = [("cook", "service", "*"), ("nurse", "health", "*"), ("vet", "health", "*")]


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_row_of_edits_leaves_a_hierarchy(data: st.DataObject) -> None:
    """Whatever is edited, every leaf stays, every label has one parent, and only what was asked for has changed."""
    lines: Any = [*JOB, ("usher", "service", "*"), ("judge", "law", "*")]
    leaves = sorted(line[0] for line in lines)
    for number in range(data.draw(st.integers(1, 6))):
        height = len(lines[0])
        what = data.draw(st.sampled_from(["move", "group", "rename", "add", "drop", "place"]))
        before = lines
        if what == "move" and height > 2:
            level = data.draw(st.integers(0, height - 3))
            labels = data.draw(st.sets(st.sampled_from(level_labels(lines, level)), min_size=1))
            parent = data.draw(st.sampled_from(level_labels(lines, level + 1)))
            lines = move_nodes(lines, level, labels, parent)
            for old, new in zip(before, lines, strict=True):
                assert new[: level + 1] == old[: level + 1]
                assert new[level + 1] == parent if old[level] in labels else new == old
        elif what == "group":
            chosen = data.draw(st.sets(st.sampled_from([line[0] for line in lines]), min_size=1))
            lines = group_leaves(lines, chosen, f"group {number}")
            assert {line[0] for line in lines if line[1] == f"group {number}"} == chosen
        elif what == "rename" and height > 2:
            label = data.draw(st.sampled_from(level_labels(lines, 1)))
            lines = rename_node(lines, 1, label, f"name {number}")
        elif what == "add" and height < 6:
            lines = add_level(lines, data.draw(st.integers(0, height - 2)))
        elif what == "drop" and height > 2:
            lines = drop_level(lines, data.draw(st.integers(1, height - 2)))
        elif what == "place":
            lines = place_values(lines, [f"new {number}"], data.draw(st.sampled_from(["", *level_labels(lines, 1)])))
            leaves = sorted([*leaves, f"new {number}"])
        assert sorted(line[0] for line in lines) == leaves
        assert {line[-1] for line in lines} == {"*"}
        assert File.from_lines(lines).lines == tuple(map(tuple, csv.reader(io.StringIO(checked_text(lines)))))


@pytest.mark.parametrize(
    "edit",
    [
        lambda: group_leaves(JOB, {"cook"}, "health"),
        lambda: group_leaves(JOB, {"cook"}, "*"),
        lambda: group_leaves(JOB, {"spy"}, "x"),
        lambda: rename_node(JOB, 1, "health", "cook"),
        lambda: rename_node(JOB, 0, "cook", "x"),
        lambda: drop_level(JOB, 0),
        lambda: drop_level(JOB, 2),
        lambda: move_nodes(JOB, 0, {"cook"}, "law"),
    ],
)
def test_edits_that_mean_nothing_are_refused(edit: Any) -> None:
    """With a sentence, before anything is written."""
    with pytest.raises(HierarchyError):
        edit()


def post(served: Any, cookie: str, path: str, **fields: str) -> tuple[int, dict[str, str], bytes]:
    """Send a form of the column of jobs."""
    version = served.version("people.toml")
    found: tuple[int, dict[str, str], bytes] = served.post(
        cookie, path, **{"policy": "people.toml", "version": version, "column": "3", **fields}
    )
    return found


@pytest.mark.slow
def test_the_tree_is_edited_in_its_file(served: Any) -> None:
    """Each edit is in the file at once, what cannot be is refused, and undo goes back to the first."""
    cookie, tree = served.enter(), served.root / "people-hierarchies" / "job.csv"
    before = tree.read_text()

    def read() -> list[tuple[str, ...]]:
        return [tuple(line) for line in csv.reader(io.StringIO(tree.read_text()))]

    page = served.get(cookie, "/hierarchy?policy=people.toml&column=3")[2].decode()
    assert page.count('name="node"') == 3 + 2 + 1
    assert post(served, cookie, "/hierarchy/edit", edit="move", node="0:0", target="1:1")[0] == 303
    assert read() == [("cook", "health", "*"), ("nurse", "health", "*"), ("vet", "health", "*")]
    assert post(served, cookie, "/hierarchy/edit", edit="group", node="0:2", name="animals")[0] == 303
    assert read()[2] == ("vet", "animals", "*")
    now = tree.read_text()
    for fields in (
        {"edit": "move", "node": "0:0", "target": "2:0"},
        {"edit": "move", "target": "1:0"},
        {"edit": "group", "node": "1:0", "name": "x"},
        {"edit": "rename", "node": "1:0", "name": "cook"},
        {"edit": "move", "node": "0:99", "target": "1:0"},
        {"edit": "nothing", "node": "0:0"},
    ):
        assert post(served, cookie, "/hierarchy/edit", **fields)[0] in {409, 422}, fields
        assert tree.read_text() == now
    for _ in range(2):
        post(served, cookie, "/undo", screen="hierarchy")
    assert tree.read_text() == before


@pytest.mark.slow
def test_values_without_a_place_are_listed_and_placed(served: Any) -> None:
    """With their rows; until then the screen says so, and afterwards the policy runs."""
    cookie, tree = served.enter(), served.root / "people-hierarchies" / "job.csv"
    tree.write_text("cook,service,*\n")
    page = served.get(cookie, "/hierarchy?policy=people.toml&column=3")[2].decode()
    assert "2 values have no place in the tree" in page
    assert "nurse (13)" in page
    assert post(served, cookie, "/hierarchy/edit", edit="place", target="1:0")[0] == 303
    assert {line.split(",")[1] for line in tree.read_text().splitlines()} == {"service"}
    assert "no place in the tree" not in served.get(cookie, "/hierarchy?policy=people.toml&column=3")[2].decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "fields", "written", "label"),
    [
        (
            "intervals",
            {"widths": "10, 20", "low": "0", "high": "119"},
            {"intervals": [10, 20], "domain": [0, 119]},
            "20-29",
        ),
        ("mask", {"mask": "right", "length": ""}, {"mask": "right"}, "2*"),
        ("ranges", {}, {"ranges": True}, "the algorithm chooses"),
        ("suppress", {}, "suppress", "*"),
    ],
)
def test_what_is_previewed_is_what_is_saved(
    served: Any, kind: str, fields: dict[str, str], written: Any, label: str
) -> None:
    """The preview writes nothing; what is saved is in the policy, which loads."""
    cookie, before = served.enter(), (served.root / "people.toml").read_text()
    given = {"policy": "people.toml", "column": "1", "kind": kind, **fields}
    status, _, content = served.post(cookie, "/hierarchy/preview", **given)
    assert status == 200
    assert label in content.decode()
    assert (served.root / "people.toml").read_text() == before
    assert served.post(cookie, "/hierarchy/declare", version=served.version("people.toml"), **given)[0] == 303
    assert load(served.root / "people.toml").document["columns"]["age"]["hierarchy"] == written  # type: ignore[index]
    assert "# as in the census" in (served.root / "people.toml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("widths", ["", "10, 15", "ten", "-5", "1e400", "5,5;"])
def test_what_cannot_be_is_said_in_the_preview_and_not_saved(served: Any, widths: str) -> None:
    """In the middle of typing nothing is an error page, and nothing is written."""
    cookie, before = served.enter(), (served.root / "people.toml").read_text()
    given = {"policy": "people.toml", "column": "1", "kind": "intervals", "widths": widths}
    assert served.post(cookie, "/hierarchy/preview", **given)[0] == 200
    status = served.post(cookie, "/hierarchy/declare", version=served.version("people.toml"), **given)[0]
    assert status in {422, 303}
    if status == 422:
        assert (served.root / "people.toml").read_text() == before
    else:
        assert load(served.root / "people.toml").quasi


@pytest.mark.slow
def test_a_declared_hierarchy_becomes_groups_and_a_file(served: Any) -> None:
    """With the labels that it had; written into the folder, and taken from there for good."""
    cookie = served.enter()
    fields = {"column": "1"}
    assert post(served, cookie, "/hierarchy/begin", **fields)[0] == 303
    entry = served.bench.desk("people.toml").read().columns["age"]
    assert entry["hierarchy"] == "people-hierarchies/age.csv"
    lines = [line.split(",") for line in (served.root / entry["hierarchy"]).read_text().splitlines()]
    assert ["37", "35-39", "30-39", "20-39", "*"] in lines
    assert post(served, cookie, "/hierarchy/export", name="ages.csv", **fields)[0] == 303
    assert (served.root / "ages.csv").read_bytes() == (served.root / entry["hierarchy"]).read_bytes()
    for name in ("ages.csv", "../ages.csv", "ages.txt", "people.csv"):
        assert post(served, cookie, "/hierarchy/export", name=name, **fields)[0] in {404, 422}, name
    (served.root / "ages.csv").write_text(
        "\n".join(f"{age},{'young' if age < 40 else 'old'},*" for age in range(20, 60))
    )
    assert post(served, cookie, "/hierarchy/import", file="ages.csv", **fields)[0] == 303
    assert "old" in (served.root / entry["hierarchy"]).read_text()
    assert load(Path(served.root / "people.toml")).quasi
    assert post(served, cookie, "/hierarchy/import", file="people.csv", **fields)[0] == 422
