"""What the manifest says of labels: what the policy declares, as far as published rows have it or it is public."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.errors import PolicyError
from sfumato.hierarchy import Dates, File, Intervals, Mask, Ranges, Sets, Spec, Suppress
from sfumato.labels import data_dictionary
from sfumato.labels.data_dictionary import describe_labels
from sfumato.policy import Column, Role, load

Saves = Callable[..., Path]
Rules = Callable[..., dict[str, Any]]

JOBS = "clerk,white-collar,*\nmanager,white-collar,*\nporter,blue-collar,*\nnone,none,*\n?,unknown,*\n"


def quasi(spec: Spec) -> Column:
    """A quasi-identifier with this hierarchy."""
    return Column("x", Role.QUASI, spec)


@pytest.fixture
def jobs(tmp_path: Path) -> Column:
    """A column with a hierarchy file, in which a question mark is NULL."""
    (tmp_path / "job.csv").write_text(JOBS)
    return quasi(File(tmp_path / "job.csv"))


@pytest.mark.parametrize(
    ("spec", "entry"),
    [
        (Intervals([5, 10], domain=[0, 99]), {"integers": True, "domain": [0, 99]}),
        (Intervals([0.5]), {"integers": False}),
        (Ranges(domain=(0, 2.5)), {"integers": False, "domain": [0, 2.5]}),
        (Ranges(integers=True), {"integers": True}),
        (Dates(["month", "year"]), {"dates": ["month", "year"]}),
        (Dates(["year"], format="%d.%m.%Y"), {"dates": ["year"], "date_format": "%d.%m.%Y"}),
        (Mask("left"), {"mask": {"side": "left"}}),
        (Mask("right", length=4), {"mask": {"side": "right", "length": 4}}),
        (Suppress(), {}),
        (Sets(), {}),
    ],
)
def test_declared(spec: Spec, entry: Mapping[str, Any]) -> None:
    """Each kind of hierarchy is told by what the policy says of it."""
    assert describe_labels(quasi(spec), ["*"]) == entry


def test_leaves_of_a_file(jobs: Column) -> None:
    """The leaves of the file under each published label are listed; a leaf needs no word."""
    assert describe_labels(jobs, ["clerk", "none", None]) == {}
    assert describe_labels(jobs, ["clerk", "white-collar"]) == {"covers": {"white-collar": ["clerk", "manager"]}}
    assert describe_labels(jobs, ["*", "unknown"], nulls=("?",)) == {
        "covers": {"*": ["clerk", "manager", "porter", "none", None], "unknown": [None]}
    }


def test_null_without_a_line_is_under_the_root(tmp_path: Path) -> None:
    """A file that has no line for NULL leaves it NULL up to the root, which covers it where a published row has it."""
    (tmp_path / "job.csv").write_text("clerk,office,*\nporter,hands,*\n")
    column = quasi(File(tmp_path / "job.csv"))
    told = {held: describe_labels(column, ["*", "office"], held=list(held)) for held in (("clerk", None), ("clerk",))}
    assert told["clerk", None] == {"covers": {"*": ["clerk", None], "office": ["clerk"]}}
    assert told["clerk",] == {"covers": {"*": ["clerk"], "office": ["clerk"]}}


def test_a_label_on_two_levels(tmp_path: Path) -> None:
    """A text that is a leaf and a label above others means what it does at the level that is published."""
    (tmp_path / "place.csv").write_text("Bern,Bern,*\nThun,Bern,*\n")
    column = quasi(File(tmp_path / "place.csv"))
    assert describe_labels(column, ["Bern"]) == {}
    assert describe_labels(column, ["Bern"], level=0) == {}
    assert describe_labels(column, ["Bern"], level=1) == {"covers": {"Bern": ["Bern", "Thun"]}}
    assert describe_labels(column, ["*"], level=2) == {"covers": {"*": ["Bern", "Thun"]}}


def test_large_files_are_described_by_their_size(jobs: Column, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a list would be too long, the number of leaves says so, and no label is taken for a value."""
    monkeypatch.setattr(data_dictionary, "_LISTED_LEAVES", 5)
    assert describe_labels(jobs, ["*"]) == {"covers": {"*": ["clerk", "manager", "porter", "none", "?"]}}
    assert describe_labels(jobs, ["*", "white-collar"]) == {"different_leaves": 5}


def entries(folder: Path) -> dict[str, Any]:
    """The data dictionary of a release."""
    manifest = json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))
    return {column["name"]: column for column in manifest["columns"]}


def test_manifests_say_it(rules: Rules, saves: Saves, jobs: Column) -> None:
    """A generalized column has it in the manifest; one that is published as it came has nothing to say."""
    assert isinstance(jobs.hierarchy, File)
    columns = {
        "job": {"role": "quasi", "hierarchy": str(jobs.hierarchy.path)},
        "age": {"role": "quasi", "hierarchy": {"intervals": [10], "domain": [0, 99]}},
        "sex": "quasi",
    }
    table = pa.table({"job": ["clerk", "manager"] * 4, "age": [34, 36] * 4, "sex": ["f"] * 8})
    found = entries(saves(table, rules(columns, k=8)))
    assert found["job"]["covers"] == {"white-collar": ["clerk", "manager"]}
    assert (found["age"]["integers"], found["age"]["domain"]) == (True, [0, 99])
    plain = entries(saves(table, rules(columns, k=2)))
    for name in ("job", "age", "sex"):
        assert not {"covers", "integers", "domain"} & set(plain[name])


def test_rows_do_not_change_a_public_domain(rules: Rules, saves: Saves, jobs: Column) -> None:
    """Where all leaves of a file are declared public, labels cover the same whatever rows there are under them."""
    assert isinstance(jobs.hierarchy, File)
    columns = {"job": {"role": "quasi", "hierarchy": str(jobs.hierarchy.path), "public_domain": True}}
    one = saves(pa.table({"job": ["clerk", "manager", "porter"]}), rules(columns, k=3))
    other = saves(pa.table({"job": ["porter", "none", "none"]}), rules(columns, k=3))
    assert entries(one)["job"]["covers"] == entries(other)["job"]["covers"]


def test_only_leaves_of_published_rows_are_listed(rules: Rules, saves: Saves, jobs: Column) -> None:
    """Where nothing is declared public, a label covers those leaves of the file that published rows have."""
    assert isinstance(jobs.hierarchy, File)
    columns = {"job": {"role": "quasi", "hierarchy": str(jobs.hierarchy.path)}}
    folder = saves(pa.table({"job": ["porter", "none", "none"]}), rules(columns, k=3))
    assert entries(folder)["job"]["covers"] == {"*": ["porter", "none"]}


@pytest.mark.parametrize(
    "column", [{"role": "plain"}, {"role": "quasi", "hierarchy": "suppress"}, {"role": "identifier"}]
)
def test_only_a_hierarchy_file_has_a_public_domain(rules: Rules, column: dict[str, str]) -> None:
    """Other columns have no leaves that could be declared public, and say so."""
    with pytest.raises(PolicyError, match="public_domain: only a quasi-identifier with a hierarchy file"):
        load(rules({"q": "quasi", "other": column | {"public_domain": True}}))
