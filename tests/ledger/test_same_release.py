"""The same table under the same policy is the same release: it costs what it cost, and tells nothing new."""

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv

from sfumato.attack.intersect import intersect
from sfumato.encode import CodedColumn
from sfumato.errors import Infeasible, InputError
from sfumato.ledger import Ledger, make_recorded_release
from sfumato.ledger.same_release import have_the_same_rows, publishes_the_same
from sfumato.policy import Policy, load
from sfumato.verifier import verify

pytestmark = pytest.mark.slow

OPEN: dict[str, Any] = {"age": {"ranges": True, "integers": True}, "town": "sets"}
LEVELLED: dict[str, Any] = {"age": {"intervals": [10, 20, 40]}, "town": "suppress"}


def policy(tmp_path: Path, hierarchies: Any = None, *, k: int = 3, name: str = "auto", **tables: Any) -> Policy:
    """A policy for the table of these tests."""
    columns = {
        column: {"role": "quasi", "hierarchy": hierarchy} for column, hierarchy in (hierarchies or LEVELLED).items()
    }
    return load(
        {
            "data": {"source": str(tmp_path / "people.csv")},
            "columns": {**columns, "illness": {"role": "sensitive"}, "visits": {"role": "plain"}},
            "privacy": [
                {"model": "k-anonymity", "k": k},
                {"model": "distinct-l-diversity", "column": "illness", "l": 2},
            ],
            "algorithm": {"name": name},
            **tables,
        }
    )


@pytest.fixture(autouse=True)
def people(tmp_path: Path) -> pa.Table:
    """A table of 300 made-up people, as a file."""
    random = Random(5)
    table = pa.table(
        {
            "age": [str(random.randint(0, 79)) for _ in range(300)],
            "town": [random.choice("abcd") for _ in range(300)],
            "illness": [random.choice(["flu", "cold", "HIV", "gout"]) for _ in range(300)],
            "visits": [str(random.randint(0, 2)) for _ in range(300)],
        }
    )
    csv.write_csv(table, tmp_path / "people.csv")
    return table


def policy_of_rows_alike(tmp_path: Path) -> Policy:
    """A policy for six rows that have one order only."""
    rows = {"age": ["30"] * 6, "town": ["a"] * 6, "illness": ["flu"] * 6, "visits": ["1"] * 6}
    csv.write_csv(pa.table(rows), tmp_path / "people.csv")
    return policy(tmp_path, LEVELLED, privacy=[{"model": "k-anonymity", "k": 3}])


def publish(ledger: Ledger, rules: Policy, folder: Path) -> Any:
    """Make a release, write and record it."""
    made = make_recorded_release(ledger, rules, population=None, name=folder.name)
    made.save(folder)
    return made


SAME = "it has the same rows as release {0}, so that it tells nothing that is not out already"


@pytest.mark.parametrize("hierarchies", [LEVELLED, OPEN])
@pytest.mark.parametrize("name", ["auto", "mondrian", "tds"])
def test_publishing_again_costs_nothing(ledger: Ledger, tmp_path: Path, hierarchies: Any, name: str) -> None:
    """The second and the third time lose what the first did, and the intersection of all three tells no more."""
    if name == "tds":
        hierarchies = hierarchies | {"town": "suppress"}
    rules = policy(tmp_path, hierarchies, name=name)
    made = [publish(ledger, rules, tmp_path / folder) for folder in ("first", "second", "third")]
    assert len({one.release.utility.ncp for one in made}) == 1
    assert SAME.format("1, 'first'") in made[1].warnings
    assert SAME.format("1, 'first'") in made[2].warnings
    folders = [tmp_path / folder for folder in ("first", "second", "third")]
    assert all(verify(folder).satisfied for folder in folders)
    assert ledger.check().sound
    found = intersect(folders, tmp_path / "people.csv").columns["illness"]
    assert (found.added, found.exposed) == (0, found.alone[0])
    tables = [(folder / "public" / "table.csv").read_text().splitlines() for folder in folders]
    assert tables[0] != tables[1]  # in another order
    assert Counter(tables[0]) == Counter(tables[1]) == Counter(tables[2])


def test_the_same_files_are_the_same_entry(ledger: Ledger, tmp_path: Path) -> None:
    """Rows that are all alike come out in one order only: the folder appears, and the entry there is stands for it."""
    rules = policy_of_rows_alike(tmp_path)
    publish(ledger, rules, tmp_path / "first")
    made = make_recorded_release(ledger, rules, population=None, name="second")
    assert made.save(tmp_path / "second").name == "first"
    assert SAME.format("1, 'first'") in made.warnings
    first, second = (tmp_path / folder / "public" / "manifest.json" for folder in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    assert [entry.name for entry in ledger.entries()] == ["first"]
    assert ledger.check().sound
    with pytest.raises(InputError, match="recorded already: it is release 1, 'first'"):
        ledger.add(tmp_path / "second")


def test_the_same_files_finish_an_entry(ledger: Ledger, tmp_path: Path) -> None:
    """A run that was killed left its entry unfinished; the same files, when they appear after all, finish it."""
    rules = policy_of_rows_alike(tmp_path)
    made = make_recorded_release(ledger, rules, population=None, name="first")
    made.release.save(tmp_path / "lost")
    ledger.reserve(tmp_path / "lost", ledger.snapshot(), name="lost")
    assert not ledger.check().sound
    again = make_recorded_release(ledger, rules, population=None, name="again").save(tmp_path / "again")
    assert (again.name, again.state) == ("lost", "published")
    assert ledger.check().sound


def test_a_release_that_was_joined_is_made_again(ledger: Ledger, tmp_path: Path) -> None:
    """What was made with another release in view is made so again, and not anew with itself in view."""
    publish(ledger, policy(tmp_path, LEVELLED, name="mondrian"), tmp_path / "first")
    rules = policy(tmp_path, LEVELLED, k=5)
    second = publish(ledger, rules, tmp_path / "second")
    third = publish(ledger, rules, tmp_path / "third")
    assert SAME.format("2, 'second'") in third.warnings
    assert third.release.utility.ncp == second.release.utility.ncp
    assert ledger.check().sound


def test_one_other_row_is_another_release(ledger: Ledger, tmp_path: Path, people: pa.Table) -> None:
    """A table with one cell changed is not taken for the same, and its cost is explained."""
    publish(ledger, policy(tmp_path, LEVELLED), tmp_path / "first")
    illness = ["gout" if value == "flu" else "flu" for value in people["illness"].to_pylist()[:1]]
    changed = people.set_column(2, "illness", pa.array(illness + people["illness"].to_pylist()[1:]))
    csv.write_csv(changed, tmp_path / "people.csv")
    made = publish(ledger, policy(tmp_path, LEVELLED), tmp_path / "second")
    assert not any("the same rows" in warning for warning in made.warnings)
    (why,) = [warning for warning in made.warnings if "takes the information lost" in warning]
    broken = "a search without the join in view breaks an earlier promise (joined with release 1, 'first', the release "
    assert why.startswith(broken)
    assert why.endswith("; rows that came after release 1, 'first', could be added to it with sfumato apply instead")
    assert re.search(r"information lost from [\d.]+% to [\d.]+%, most of it in '(age|town)', [\d.]+% to [\d.]+%; ", why)
    assert "without '" in why or "no single column could be left out" in why


def test_what_could_be_left_out_is_true(ledger: Ledger, tmp_path: Path) -> None:
    """The column that is named can be left out: the policy's own algorithm is then accepted by the ledger."""
    rules = policy(tmp_path, LEVELLED, name="mondrian")
    publish(ledger, rules, tmp_path / "first")
    other = policy(tmp_path, LEVELLED, name="progressive", k=4)
    with pytest.raises(Infeasible, match="joined with release 1") as refused:
        make_recorded_release(ledger, other, population=None, name="second")
    assert "write tds" in str(refused.value)
    found = re.search(r"without '(\w+)' the policy's own release keeps it", str(refused.value))
    assert (found is not None) != ("no single column" in str(refused.value))


def test_sets_are_not_told_to_choose_auto(ledger: Ledger, tmp_path: Path, people: pa.Table) -> None:
    """Whoever left the choice of the algorithm open is told which column needs levels, and of which release."""
    publish(ledger, policy(tmp_path, LEVELLED), tmp_path / "first")
    csv.write_csv(people.slice(0, 280), tmp_path / "people.csv")
    with pytest.raises(Infeasible, match="it needs levels, and 'town' is published as sets; give a file, a mask") as no:
        make_recorded_release(ledger, policy(tmp_path, OPEN), population=None, name="second")
    assert "auto" not in str(no.value)
    assert "joined with release 1, 'first'" in str(no.value)


def test_pseudonyms_are_drawn_anew(ledger: Ledger, tmp_path: Path, people: pa.Table) -> None:
    """Where rows are persons', the same release has other pseudonyms on the same rows, and is known all the same."""
    random = Random(1)
    persons = people.append_column("who", pa.array([f"p{random.randint(0, 150)}" for _ in range(300)]))
    csv.write_csv(persons, tmp_path / "people.csv")
    document = policy(tmp_path, LEVELLED).document
    columns = {**document["columns"], "who": {"role": "individual"}}  # type: ignore[dict-item]
    rules = load({**document, "columns": columns})
    publish(ledger, rules, tmp_path / "first")
    second = publish(ledger, rules, tmp_path / "second")
    assert SAME.format("1, 'first'") in second.warnings
    names = [
        set(csv.read_csv(tmp_path / name / "public" / "table.csv")["who"].to_pylist()) for name in ("first", "second")
    ]
    assert not names[0] & names[1]


def test_a_damaged_copy_is_like_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """What the ledger cannot vouch for is not what a release is compared with."""
    made = publish(ledger, policy(tmp_path, LEVELLED), tmp_path / "first")
    (entry,) = ledger.entries()
    assert publishes_the_same(made.release, entry)
    entry.paths[0].write_text(entry.paths[0].read_text() + "\n")
    assert not publishes_the_same(made.release, entry)


ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=8)


def coded(rows: Any, names: str = "abc") -> dict[str, CodedColumn]:
    """Rows of small numbers as columns, each with texts of its own order."""
    columns = {}
    for place, name in enumerate(names):
        values = [str(row[place]) for row in rows]
        texts = tuple(dict.fromkeys(values))
        columns[name] = CodedColumn(name, np.array([texts.index(value) for value in values]), texts, None)
    return columns


@settings(max_examples=200, deadline=None)
@given(ROWS, ROWS, st.booleans(), st.permutations(range(4)))
def test_rows_are_compared_as_often_as_they_are_there(first: Any, second: Any, same: bool, names: list[int]) -> None:
    """Equal as multisets, and with persons equal up to their names: by hand, on tables of a few rows."""
    if same:
        second = [(a, b, names[who]) for a, b, who in reversed(first)]
    plain = have_the_same_rows(coded([row[:2] for row in first], "ab"), coded([row[:2] for row in second], "ab"))
    assert plain == (Counter(row[:2] for row in first) == Counter(row[:2] for row in second))

    def persons(rows: Any) -> Counter[Any]:
        return Counter(tuple(sorted(row[:2] for row in rows if row[2] == who)) for who in {row[2] for row in rows})

    assert have_the_same_rows(coded(first), coded(second), "c") == (persons(first) == persons(second))
