"""Trees of dicts, paths, frames, functions and graphs: the same lines, the same release, the same file."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import networkx as nx  # type: ignore[import-untyped]  # duck-typed there, Any here
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.hierarchy import File

LINES = (
    ("Bern", "Switzerland", "Europe", "*"),
    ("Thun", "Switzerland", "Europe", "*"),
    ("Lyon", "France", "Europe", "*"),
    ("Kobe", "Japan", "Asia", "*"),
)
PARENTS = {
    "Bern": "Switzerland",
    "Thun": "Switzerland",
    "Lyon": "France",
    "Kobe": "Japan",
    "Switzerland": "Europe",
    "France": "Europe",
    "Japan": "Asia",
}
NESTED = {"Europe": {"Switzerland": ["Bern", "Thun"], "France": ["Lyon"]}, "Asia": {"Japan": ["Kobe"]}}
LEVELS = {"town": [line[0] for line in LINES], "land": [line[1] for line in LINES], "part": [line[2] for line in LINES]}


def _graph(*, upward: bool = False) -> Any:
    graph: Any = nx.DiGraph()
    for line in LINES:
        for child, parent in pairwise(line):
            graph.add_edge(*((child, parent) if upward else (parent, child)))
    return graph


SOURCES: dict[str, Any] = {
    "parents": PARENTS,
    "parents to the root": PARENTS | {"Europe": None, "Asia": "*"},
    "nested": NESTED,
    "paths": [line[:-1] for line in LINES],
    "paths to the root": LINES,
    "pandas": pd.DataFrame(LEVELS),
    "polars": pl.DataFrame(LEVELS),
    "arrow": pa.table(LEVELS),
    "duckdb": lambda: duckdb.from_arrow(pa.table(LEVELS)),  # not before it is needed: it holds a connection
    "networkx": _graph(),
    "networkx upward": _graph(upward=True),
    "tree": sf.Tree(LINES),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_tree(kind: str, tmp_path: Path) -> None:
    """Its lines are those of the tree; in a policy and as a file it is the same hierarchy."""
    source = SOURCES[kind]() if kind == "duckdb" else SOURCES[kind]
    tree = sf.Tree.of(source)
    assert sorted(tree.lines) == sorted(LINES)
    assert tree.height == 3
    entry = sf.quasi(hierarchy=source)
    assert sorted(map(tuple, entry["hierarchy"]["lines"])) == sorted(LINES)
    file = File(tree.to_csv(tmp_path / "town.csv"))
    assert file == File.from_lines(tree.lines)
    assert file.bind(["Lyon"], column="town").labels == (("Lyon",), ("France",), ("Europe",), ("*",))


def test_a_function_is_a_tree_of_the_values_that_occur() -> None:
    """It is called with values as the frame has them, never with NULL, and the release has its labels."""
    seen: list[Any] = []

    def decade(age: int) -> list[str]:
        seen.append(age)
        return [f"{age // 10 * 10}s", "young" if age < 40 else "old"]

    table = pd.DataFrame({"age": pd.array([31, 38, None, 44, 47, None], dtype="Int64")})
    policy = sf.Policy(columns={"age": sf.quasi(decade)}, privacy=[sf.KAnonymity(2)], algorithm="optimal")
    release = sf.anonymize(table, policy)
    assert sorted(release.table["age"].dropna()) == ["30s", "30s", "40s", "40s"]
    assert release.table["age"].isna().sum() == 2
    assert sorted(seen) == [31, 38, 44, 47]
    assert release.policy.to_toml().count("lines") == 1
    with pytest.raises(sf.PolicyError, match=r"columns\.age\.hierarchy: is the function decade"):
        policy.to_toml()


def test_a_function_over_a_file_gets_texts(tmp_path: Path) -> None:
    """Cells of a CSV file are never guessed at; compare and utility settle the function as well."""
    file = tmp_path / "zip.csv"
    file.write_text("zip\n4350\n4351\n8001\n8005\n", encoding="utf-8")
    columns = {"zip": sf.quasi(lambda code: [code[:2] + "**"])}
    policy = sf.Policy(columns=columns, privacy=[sf.KAnonymity(2)])
    release = sf.anonymize(str(file), policy)
    assert sorted(release.table.column("zip").to_pylist()) == ["43**", "43**", "80**", "80**"]
    lines = sf.compare(str(file), policy, algorithms=["optimal", "mondrian"]).outcomes
    assert all(line.figures for line in lines)
    folder = release.save(tmp_path / "release")
    assert sf.utility(folder, file, policy=policy).losses.ncp == release.utility.ncp


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ({}, "a tree needs a leaf"),
        ([], "a tree needs a leaf"),
        ({"a": "b", "b": "a"}, "is above itself"),
        ({"a": "b", "b": "c", "c": "b"}, "'b' is above itself"),
        ({"a": ["b"], "c": "d"}, "'a' has children and 'c' has a parent"),
        (["Bern", "Thun"], "a path is a list from a leaf to the root"),
        ([["Bern", None]], "missing or empty label"),
        ([["Bern", ""]], "missing or empty label"),
        (pd.DataFrame({"town": ["Bern", None], "land": ["CH", "FR"]}), "row 2 of the frame has no leaf in 'town'"),
        (nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")]), "the graph is no tree"),
        (7, "a tree is made of a dict"),
        (len, "give them: sf.Tree.from_function"),
    ],
)
def test_what_is_no_tree_is_said(source: Any, sentence: str) -> None:
    """One sentence says what is wrong with it."""
    with pytest.raises(sf.HierarchyError, match=sentence):
        sf.Tree.of(source)


def test_an_undirected_graph_is_no_tree() -> None:
    """It does not say who is above whom."""
    with pytest.raises(sf.HierarchyError, match="no direction"):
        sf.Tree.from_graph(nx.Graph([("a", "b")]))


def test_two_parents_are_refused_by_policy_and_file(tmp_path: Path) -> None:
    """A path list may contradict itself; neither a policy nor a file takes it, and nothing is written."""
    paths = [["Bern", "Switzerland"], ["Bern", "France"]]
    with pytest.raises(sf.PolicyError, match=r"columns\.town\.hierarchy\.lines: .*leaf 'Bern' has two parents"):
        sf.Policy(columns={"town": sf.quasi(paths)}, privacy=[sf.KAnonymity(2)])
    with pytest.raises(sf.HierarchyError, match="leaf 'Bern' has two parents"):
        sf.Tree.of(paths).to_csv(tmp_path / "town.csv")
    assert not list(tmp_path.iterdir())


def test_a_shallow_leaf_is_repeated_so_that_local_recoding_takes_the_tree() -> None:
    """Europe is at one level, whether a town or a state is under it, and every algorithm makes a release."""
    tree = sf.Tree.of({"Bern": "Switzerland", "Thun": "Switzerland", "Switzerland": "Europe", "Monaco": "Europe"})
    assert tree.lines[-1] == ("Monaco", "Monaco", "Europe", "*")
    table = pa.table({"town": ["Bern", "Thun", "Monaco"] * 4})
    for algorithm in ("optimal", "top-down", "bottom-up", "mondrian", "tds"):
        policy = sf.Policy(columns={"town": sf.quasi(tree)}, privacy=[sf.KAnonymity(5)], algorithm=algorithm)
        assert sf.anonymize(table, policy).verdict.satisfied


labels = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=6)


@given(st.dictionaries(labels.filter(lambda name: name != "*"), st.integers(0, 3), min_size=1, max_size=8))
def test_any_texts_survive_the_file(groups: dict[str, int]) -> None:
    """Commas, quotes, line ends and blanks in labels are the same in a policy, in its text and in a file."""
    parents = {leaf: f"group {number} of all" for leaf, number in groups.items()}
    if set(parents) & set(parents.values()):
        return
    tree = sf.Tree.of(parents)
    policy = sf.Policy(columns={"a": sf.quasi(tree)}, privacy=[sf.KAnonymity(1)])
    spec: Any = policy.columns["a"].hierarchy
    assert spec.lines == tree.lines


def test_a_dict_of_a_kind_is_that_kind() -> None:
    """A table as a policy file has it is taken for what it is, and a tree with other keys for a tree."""
    assert sf.quasi({"mask": "right"}) == sf.quasi(mask="right")
    assert sf.quasi({"mask": "right", "gown": "left"})["hierarchy"]["lines"][0] == ["mask", "right", "*"]
    assert str(sf.Tree.of({"a": "b"})) == "Tree of 1 leaf in 2 levels: a → b → *"
    assert len(sf.Tree.from_function(str, range(7))) == 7
    with pytest.raises(sf.HierarchyError, match="gives int for '1', and not a list of labels"):
        sf.Tree.from_function(lambda _: 5, [1])


def test_functions_of_several_columns_and_what_is_wrong_with_one() -> None:
    """Each function is settled by itself, sensitive columns among them; an error names the column it is of."""
    table = pa.table(
        {"town": ["Bern", "Thun", "Lyon", "Nice"], "illness": ["flu", "cold", "HIV", "flu"], "gone": [None] * 4}
    )
    land = {"Bern": "CH", "Thun": "CH", "Lyon": "FR", "Nice": "FR"}
    columns = {
        "town": sf.quasi(lambda town: [land[town]], least=1),
        "gone": sf.quasi(lambda _: ["never called"]),
        "illness": sf.sensitive(lambda illness: ["virus" if illness != "cold" else "other"]),
    }
    privacy = [sf.KAnonymity(2), sf.TCloseness("illness", t=0.9, distance="emd-hierarchical")]
    release = sf.anonymize(table, sf.Policy(columns=columns, privacy=privacy, algorithm="optimal"))
    assert set(release.table.column("town").to_pylist()) == {"CH", "FR"}
    assert not release.policy.functions
    wrong: Any = columns | {"illness": sf.sensitive(lambda _: 5)}
    with pytest.raises(sf.PolicyError, match=r"columns\.illness\.hierarchy: the function <lambda> gives int for 'HIV'"):
        sf.anonymize(table, sf.Policy(columns=wrong, privacy=privacy))
    deep = columns | {"town": sf.quasi(lambda town: [land[town]], least=3)}
    with pytest.raises(sf.PolicyError, match=r"columns\.town\.least: is 3, and the hierarchy has levels 0 to 2"):
        sf.anonymize(table, sf.Policy(columns=deep, privacy=privacy))
