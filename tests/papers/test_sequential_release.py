"""The worked examples of the sequential-release paper: Table 1, Examples 1 to 3, the dangling record of section 4."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path as File
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Infeasible
from sfumato.testing.join_definition import (
    ROW,
    Label,
    Path,
    PlainJoin,
    PlainRelease,
    Row,
    achieved,
    anonymity,
    holds,
    linkability,
    population_related,
)

T1: list[Row] = [
    {"Name": "Alice", "Job": "Banker", "Class": "c1"},
    {"Name": "Alice", "Job": "Banker", "Class": "c1"},
    {"Name": "Bob", "Job": "Clerk", "Class": "c2"},
    {"Name": "Bob", "Job": "Driver", "Class": "c3"},
    {"Name": "Cathy", "Job": "Engineer", "Class": "c4"},
]
T2: list[Row] = [
    {"Job": "Banker", "Disease": "Cancer"},
    {"Job": "Banker", "Disease": "Cancer"},
    {"Job": "Clerk", "Disease": "HIV"},
    {"Job": "Driver", "Disease": "Cancer"},
    {"Job": "Engineer", "Disease": "HIV"},
]
JOIN = [
    ("Alice", "Banker", "Cancer", "c1"),
    ("Alice", "Banker", "Cancer", "c1"),
    ("Alice", "Banker", "Cancer", "c1"),
    ("Alice", "Banker", "Cancer", "c1"),
    ("Bob", "Clerk", "HIV", "c2"),
    ("Bob", "Driver", "Cancer", "c3"),
    ("Cathy", "Engineer", "HIV", "c4"),
]
KEYS = [ROW, f"old.{ROW}"]
JOBS: dict[Label, Path] = {
    "Banker": ("Banker", "office", "*"),
    "Clerk": ("Clerk", "office", "*"),
    "Driver": ("Driver", "technical", "*"),
    "Engineer": ("Engineer", "technical", "*"),
    "office": ("office", "*"),
    "technical": ("technical", "*"),
}
D: dict[Label, Path] = {"d1": ("d1", "d", "*"), "d2": ("d2", "d", "*"), "d3": ("d3", "d3", "*"), "d": ("d", "*")}


def table_1(published: Sequence[Row] = T1) -> PlainJoin:
    """Table 1, or the earlier T2 with another T1."""
    return PlainJoin([PlainRelease("", published), PlainRelease("old", T2)], {"Job": JOBS})


def test_table_1_the_join() -> None:
    """Seven lines: those of the five persons, and two that match the records of one Alice with those of the other."""
    joined = table_1()
    assert sorted(joined.values(line, ["Name", "Job", "old.Disease", "Class"]) for line in joined.lines) == JOIN
    assert sum(one == other for one, other in joined.lines) == 5
    assert population_related(joined)


def test_example_1_the_join_sharpens_identification() -> None:
    """Bob with HIV is one line of the join, while Bob is two records of T1 and HIV two of T2."""
    assert anonymity(table_1(), ["Name", "old.Disease"], KEYS)["Bob", "HIV"] == 1
    assert anonymity(PlainJoin([PlainRelease("", T1)]), ["Name"], [ROW])[("Bob",)] == 2
    assert anonymity(PlainJoin([PlainRelease("", T2)]), ["Disease"], [ROW])[("HIV",)] == 2


def test_example_1_the_join_weakens_identification() -> None:
    """Alice with cancer is four lines, more than she has in T1 and cancer has in T2: the join is lossy."""
    assert anonymity(table_1(), ["Name", "old.Disease"], KEYS)["Alice", "Cancer"] == 4
    assert anonymity(PlainJoin([PlainRelease("", T1)]), ["Name"], [ROW])[("Alice",)] == 2
    assert anonymity(PlainJoin([PlainRelease("", T2)]), ["Disease"], [ROW])[("Cancer",)] == 3


def test_example_1_the_join_enables_inferences() -> None:
    """Whoever knows that it is Alice knows that it is cancer, with all confidence."""
    assert linkability(table_1(), ["Name"], ["old.Disease"])[("Alice",), ("Cancer",)] == 1


def release(rows: Sequence[Row], document: Mapping[str, Any]) -> Any:
    """What is published of rows under a policy."""
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    return sf.anonymize(table, document)


def write(path: File, lines: Sequence[Sequence[Label]]) -> str:
    """A file of comma-separated lines; its path."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return str(path)


def hospital(folder: File, rule: Mapping[str, Any]) -> dict[str, Any]:
    """A policy for T1 after T2."""
    jobs = write(folder / "job.csv", [path for path in JOBS.values() if len(path) == 3])
    old = write(folder / "old.csv", [list(T2[0]), *(list(row.values()) for row in T2)])
    return {
        "columns": {
            "Name": {"role": "quasi", "hierarchy": "suppress"},
            "Job": {"role": "quasi", "hierarchy": jobs},
            "Class": {"role": "plain"},
        },
        "previous": [{"name": "old", "table": old}],
        "privacy": [rule],
        "algorithm": {"name": "tds", "score": "classification", "class": "Class"},
    }


SHARED = ["Name", "Job", "old.Job"]
HIDING = [
    {"model": "xy-anonymity", "x": [*SHARED, "old.Disease"], "y": KEYS, "k": 2},
    {"model": "xy-anonymity", "x": [*SHARED, "old.Disease"], "y": [ROW], "k": 2},
    {"model": "xy-linkability", "x": SHARED[:1], "y": ["old.Disease"], "k": 0.75},
    {"model": "xy-linkability", "x": SHARED[:1], "y": ["old.Disease"], "values": ["Cancer"], "k": 0.8},
]


@pytest.mark.parametrize("rule", HIDING)
def test_example_1_t1_is_published_after_t2(tmp_path: File, rule: dict[str, Any]) -> None:
    """What T1 violates holds for its release, by the definition and by the verifier, and nothing more can be told."""
    assert not holds(rule, table_1())
    made = release(T1, hospital(tmp_path, rule))
    published: list[Row] = made.table.to_pylist()
    assert sorted(str(row["Class"]) for row in published) == sorted(str(row["Class"]) for row in T1)
    assert holds(rule, table_1(published))
    assert made.privacy[0]["achieved"] == {"k": pytest.approx(float(achieved(rule, table_1(published))))}
    assert not any(holds(rule, table_1(told)) for told in more(published, {"Name": {}, "Job": JOBS}))


def more(published: Sequence[Row], trees: Mapping[str, Mapping[Label, Path]]) -> list[list[Row]]:
    """The published rows of T1 with one of their labels told more exactly wherever it stands; by Class, who is who."""
    originals = {row["Class"]: row for row in T1}
    found = []
    for name, tree in trees.items():
        for label in {row[name] for row in published}:
            told: list[Row] = [
                dict(row) | {name: _child(row, originals[row["Class"]], name, label, tree)} for row in published
            ]
            found += [told] if told != published else []
    return found


def _child(row: Row, original: Row, name: str, label: Label, tree: Mapping[Label, Path]) -> Label:
    path = tree.get(original[name], (original[name], "*"))
    return path[max(path.index(label) - 1, 0)] if row[name] == label else row[name]


INPATIENT: list[Row] = [
    {"Pid": pid, "Job": job, "Zip": "4350", "PoB": "Bern", "Test": test}
    for pid, job in (("1", "Cook"), ("2", "Cook"), ("3", "Nurse"), ("4", "Nurse"))
    for test in ("HIV", "Flu", "Diabetes")
]
QID = ["Job", "Zip", "PoB"]


def test_example_2_k_records_of_k_thirds_patients() -> None:
    """Where each patient has three tests, six records with a quasi-identifier are two patients', with three tests."""
    joined = PlainJoin([PlainRelease("", INPATIENT)])
    assert set(anonymity(joined, QID, [ROW]).values()) == {6}
    assert set(anonymity(joined, QID, ["Pid"]).values()) == {2}
    assert set(anonymity(joined, QID, ["Test"]).values()) == {3}


def inpatient(y: str, k: float, model: str = "xy-anonymity") -> dict[str, Any]:
    """A policy for the table of Example 2, without earlier releases."""
    columns = {name: {"role": "quasi", "hierarchy": "suppress"} for name in QID}
    columns |= {"Pid": {"role": "individual"}, "Test": {"role": "sensitive"}}
    return {"columns": columns, "privacy": [{"model": model, "x": QID, "y": [y], "k": k}]}


@pytest.mark.parametrize(("y", "k", "jobs"), [(ROW, 6, 2), (ROW, 7, 1), ("Pid", 2, 2), ("Pid", 4, 1), ("Test", 3, 2)])
def test_example_2_patients_are_counted_where_y_says_so(y: str, k: int, jobs: int) -> None:
    """Jobs are published as long as there are k records, patients or tests with each, and not if there are fewer."""
    made = release(INPATIENT, inpatient(y, k))
    assert len({row["Job"] for row in made.table.to_pylist()}) == jobs
    assert {row["Zip"] for row in made.table.to_pylist()} == {"4350"}


@pytest.mark.parametrize(("y", "k"), [("Pid", 5), ("Test", 4), (ROW, 13)])
def test_example_2_more_than_there_are_cannot_be_asked(y: str, k: int) -> None:
    """No release links anything to more patients, tests or records than the table has."""
    with pytest.raises(Infeasible):
        release(INPATIENT, inpatient(y, k))


NINE_OF_TEN: list[Row] = [
    {"Pid": str(i), "Job": "j", "Zip": "z", "PoB": "p", "Test": "Diabetes" if i == 9 else "HIV"} for i in range(10)
]
OTHERS: list[Row] = [row | {"Pid": f"o{row['Pid']}", "Job": "k", "Test": "Flu"} for row in map(dict, NINE_OF_TEN)]


def test_example_3_the_confidence_is_nine_tenths() -> None:
    """Nine records with HIV and one with diabetes: (j, z, p) implies HIV with a confidence of 90 %."""
    found = linkability(PlainJoin([PlainRelease("", NINE_OF_TEN)]), QID, ["Test"])
    assert found == {(("j", "z", "p"), ("HIV",)): Fraction(9, 10), (("j", "z", "p"), ("Diabetes",)): Fraction(1, 10)}


@pytest.mark.parametrize(("k", "values"), [(1, {"j", "k"}), (0.9, {"*"}), (0.5, {"*"})])
def test_example_3_no_test_is_implied_by_more(k: float, values: set[str]) -> None:
    """Among others, all of whom have the flu, jobs are published only where all confidence is allowed."""
    made = release([*NINE_OF_TEN, *OTHERS], inpatient("Test", k, "xy-linkability"))
    assert {row["Job"] for row in made.table.to_pylist()} == values


def test_example_3_exactly_as_much_is_allowed() -> None:
    """A confidence of 90 % is not higher than 0.9, and is higher than 0.89."""
    made = release(NINE_OF_TEN, inpatient("Test", 0.9, "xy-linkability"))
    assert made.privacy[0]["achieved"] == {"k": 0.9}
    with pytest.raises(Infeasible):
        release(NINE_OF_TEN, inpatient("Test", 0.89, "xy-linkability"))


SECTION_4: list[Row] = [{"D": "d3", "Y": "y3"}, {"D": "d3", "Y": "y2"}, {"D": "d1", "Y": "y1"}]
CDD = ["C", "D", "old.D"]


def dangling(d: str) -> PlainJoin:
    """The tables of section 4, with c2 published beside d, or beside d2."""
    current = PlainRelease("", [{"C": "c1", "D": "d3"}, {"C": "c2", "D": d}])
    return PlainJoin([current, PlainRelease("old", SECTION_4)], {"D": D})


def test_section_4_a_dangling_record_makes_the_smallest_number_grow() -> None:
    """By specializing d to d2 it grows from 1 to 2, since c2d2 matches nothing any more."""
    assert anonymity(dangling("d"), CDD, ["old.Y"]) == {("c1", "d3", "d3"): 2, ("c2", "d", "d1"): 1}
    assert anonymity(dangling("d2"), CDD, ["old.Y"]) == {("c1", "d3", "d3"): 2}
    assert not population_related(dangling("d2"))


def section_4(folder: File, k: int) -> dict[str, Any]:
    """A policy for the tables of section 4."""
    taxonomy = write(folder / "d.csv", [path for path in D.values() if len(path) == 3])
    old = write(folder / "old.csv", [["D", "Y"], *(list(row.values()) for row in SECTION_4)])
    return {
        "columns": {"C": {"role": "quasi", "hierarchy": "suppress"}, "D": {"role": "quasi", "hierarchy": taxonomy}},
        "previous": [{"name": "old", "table": old}],
        "privacy": [{"model": "xy-anonymity", "x": CDD, "y": ["old.Y"], "k": k}],
    }


def test_section_4_a_way_down_is_found_past_a_table_that_fails(tmp_path: File) -> None:
    """The most general table fails for k = 2, and so does d; but d2 is published, which matches nothing."""
    rows: list[Row] = [{"C": "c1", "D": "d3"}, {"C": "c2", "D": "d2"}]
    top = replace(dangling("d"), tables=[PlainRelease("", [{"C": "*", "D": "*"}] * 2), dangling("d").tables[1]])
    assert set(anonymity(top, CDD, ["old.Y"]).values()) == {1, 2}
    made = release(rows, section_4(tmp_path, 2))
    assert sorted(row["D"] for row in made.table.to_pylist()) == ["d2", "d3"]
    assert made.privacy[0]["achieved"] == {"k": 2}
    with pytest.raises(Infeasible):
        release(rows, section_4(tmp_path, 3))
