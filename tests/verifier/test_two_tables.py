"""Releases of two tables, written by hand: the paper's example, kinds of files, and what can be asked of them."""

import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from sfumato.errors import InputError, NotVerified
from sfumato.verifier import Promise, RequestedPromise, verify, verify_accounts, verify_tables

KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
Make = Callable[..., Any]
ROLES = dict.fromkeys(["job", "birth", "postcode"], "quasi")
NSS = [
    ("clerk", "1975", "4350", 1),
    ("manager", "1955", "4350", 1),
    ("clerk", "1955", "5432", 2),
    ("factory worker", "1955", "5432", 2),
    ("factory worker", "1975", "4350", 3),
    ("technical supporter", "1940", "4350", 3),
]
SS = [(1, "HIV"), (1, "flu"), (2, "flu"), (2, "fever"), (3, "flu"), (3, "fever")]
PAPER = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": "illness"}
CLOSE = {"model": "t-closeness", "column": "illness", "t": 0.5, "distance": "variational"}


def nss() -> list[dict[str, Any]]:
    """Table 5 of the paper."""
    return [dict(zip(["job", "birth", "postcode", "class_id"], line, strict=True)) for line in NSS]


def ss() -> list[dict[str, Any]]:
    """Table 6 of the paper."""
    return [{"class_id": number, "illness": illness} for number, illness in SS]


@KINDS
@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
def test_tables_5_and_6_of_the_paper_hold(split: Make, kind: str, form: str) -> None:
    """They are (0.5, 2)-anonymous in the sense of Definition 1, and no more than that."""
    release = split(nss(), ss(), roles=ROLES, kind=kind, form=form, promise=[PAPER])
    verdict = verify(release.folder)
    assert (verdict.complaints, verdict.rows, verdict.classes) == ((), 6, 3)
    assert verdict.privacy[0].achieved == {"alpha": 0.5, "k": 2}
    assert verify(release.public).satisfied
    assert verify(release.folder, asked=RequestedPromise([PAPER], {**ROLES, "illness": "sensitive"})).satisfied


def test_tables_5_and_6_are_not_more_than_they_promise(split: Make) -> None:
    """A third person in each class or a smaller share is refused, and the classes are named by their numbers."""
    release = split(nss(), ss(), roles=ROLES, promise=[PAPER])
    assert verify(release.folder, asked=RequestedPromise([{**PAPER, "k": 3}])).complaints == tuple(
        f"alpha-k-anonymity: class {number} has 2 rows, fewer than 3" for number in (1, 2, 3)
    )
    failing = verify(release.folder, asked=RequestedPromise([{**PAPER, "alpha": 0.4}])).complaints
    assert len(failing) == 3
    for number, sentence in enumerate(failing, 1):
        assert re.fullmatch(rf"alpha-k-anonymity: class {number} has a share of 0.5 of \w+, above 0.4", sentence)


def test_quasi_identifiers_in_several_classes_are_named_with_their_share_over_the_join(split: Make) -> None:
    """Four lines of one kind of people, in three classes: the join mixes their bags by the lines in each."""
    lines = [
        ("30", "Male", 1),
        ("30", "Male", 1),
        ("30", "Male", 2),
        ("30", "Male", 3),
        ("40", "Male", 2),
        ("40", None, 3),
    ]
    people = [{"age": age, "sex": sex, "class_id": number} for age, sex, number in lines]
    bags = [(1, "HIV"), (1, "HIV"), (2, "HIV"), (2, "flu"), (3, "flu"), (3, None)]
    values = [{"class_id": number, "illness": illness} for number, illness in bags]
    rule = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5}
    release = split(people, values, roles={"age": "quasi", "sex": "quasi"}, promise=[rule])
    of_class, over_join = verify(release.folder).complaints
    assert of_class == "alpha-deassociation: class 1 has a share of 1.0 of HIV, above 0.5"
    assert over_join == (
        "alpha-deassociation: the quasi-identifiers age = 30, sex = Male stand in 3 classes, "
        "and the join gives HIV a share of 0.625, above 0.5"
    )


@KINDS
def test_tables_apart_for_each_sensitive_column(split: Make, kind: str) -> None:
    """Each column is looked up in its own file, and each file has its own lines of every class."""
    income = [{"class_id": number, "income": "high" if i % 2 else "low"} for i, (number, _) in enumerate(SS)]
    rules = [PAPER, {"model": "distinct-l-diversity", "column": "income", "l": 2}]
    release = split(nss(), ss(), income, roles=ROLES, kind=kind, promise=rules)
    assert verify(release.folder).complaints == ()
    both = {"model": "alpha-deassociation", "columns": ["illness", "income"], "alpha": 0.5, "values": ["high", "HIV"]}
    assert verify(release.folder, asked=RequestedPromise([both])).satisfied
    release.change("ss-2", lambda lines: [{**line, "income": "high"} for line in lines])
    assert verify(release.folder).complaints == tuple(
        f"distinct-l-diversity: class {number} has 1 different sensitive values, fewer than 2" for number in (1, 2, 3)
    )


@KINDS
def test_persons_are_counted_in_nss(split: Make, kind: str) -> None:
    """Where lines of NSS name persons, a class counts for its persons, and all without a name are one."""
    people = [{"who": name, **line} for name, line in zip("aabccc", nss(), strict=True)]
    people[2]["who"] = people[3]["who"] = None
    rules = [{"model": "k-anonymity", "k": 1}, {"model": "distinct-l-diversity", "column": "illness", "l": 1}]
    release = split(people, ss(), roles={**ROLES, "who": "individual"}, kind=kind, promise=rules)
    verdict = verify(release.folder)
    assert verdict.complaints == ()
    assert [finding.achieved for finding in verdict.privacy] == [{"k": 1}, {"l": 1}]
    assert verify(release.folder, asked=RequestedPromise([{"model": "k-anonymity", "k": 2}])).complaints == tuple(
        f"k-anonymity: class {number} has 1 persons, fewer than 2" for number in (1, 2, 3)
    )


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("cell", ["=1+1", "'=1", "-5", "-5 degrees", "@x", "\tx", "'", "", "*", 'a"b', "a\nb"])
def test_guarded_texts_are_compared_as_they_were(split: Make, kind: str, cell: str) -> None:
    """As a label of the data dictionary, as a protected value and in the words of a failure."""
    people = [{"=q": cell, "class_id": number} for number in (1, 1, 2, 2)]
    bags = [(1, cell), (1, None), (2, cell), (2, "flu")]
    values = [{"class_id": number, "illness": illness} for number, illness in bags]
    rule = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "values": [cell]}
    release = split(people, values, roles={"=q": "quasi"}, kind=kind, promise=[rule])
    assert verify(release.folder).complaints == ()
    failing = verify(release.folder, asked=RequestedPromise([{**rule, "alpha": 0.4}])).complaints
    assert failing[-1] == (
        f"alpha-deassociation: the quasi-identifiers =q = {cell} stand in 2 classes, "
        f"and the join gives {cell} a share of 0.5, above 0.4"
    )


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("name", ["class_id_", "Class_ID", "=id", 'a"b', "c0", "n", " "])
def test_the_class_id_column_may_have_any_name(split: Make, kind: str, name: str) -> None:
    """It is found by the manifest's word, whatever it looks like to a database."""
    people, values = [
        [{(name if key == "class_id" else key): cell for key, cell in line.items()} for line in table]
        for table in (nss(), ss())
    ]
    release = split(people, values, roles=ROLES, kind=kind, class_id=name, promise=[PAPER])
    assert verify(release.folder).complaints == ()


@pytest.mark.parametrize("distance", ["variational", "kl", "emd-equal"])
def test_distances_are_measured_from_the_public_part_alone(split: Make, distance: str) -> None:
    """Where no row could be suppressed, the bags together are the whole table."""
    release = split(nss(), ss(), roles=ROLES, promise=[{**CLOSE, "distance": distance, "t": 1.0}])
    shutil.rmtree(release.folder / "private")
    [finding] = verify(release.folder).privacy
    figures = {"variational": 1 / 3, "emd-equal": 1 / 3, "kl": math.log(3) / 2}
    assert finding.achieved["t"] == pytest.approx(figures[distance])
    assert verify(release.folder, asked=RequestedPromise([{**CLOSE, "distance": distance, "t": 0.3}])).complaints
    release.written.rewrite(suppression_limit=0.1)
    with pytest.raises(InputError, match="verify the complete release folder"):
        verify(release.folder)


def test_distances_take_the_whole_table_from_the_audit(split: Make) -> None:
    """With it a hierarchy counts, and a value that the input did not have is named with its class."""
    tree = [[0, 0, 0], [1, 1, 0], [2, 1, 0]]
    needs = {"values": ["HIV", "fever", "flu"], "totals": [1, 2, 3], "ranks": None, "places": 3, "ancestors": tree}
    rule = {**CLOSE, "distance": "emd-hierarchical", "t": 0.5}
    release = split(nss(), ss(), roles=ROLES, promise=[rule], audit={"needs": {"illness": needs}})
    verdict = verify(release.folder)
    assert verdict.complaints == ()
    assert verdict.privacy[0].achieved["t"] == pytest.approx(1 / 3)
    release.change(
        "ss", lambda lines: [{**line, "illness": "plague"} if line["class_id"] == 3 else line for line in lines]
    )
    assert verify(release.folder).complaints == (
        "t-closeness: class 3 holds a sensitive value that the input did not have",
    )


def test_stated_figures_are_those_of_the_two_files(split: Make) -> None:
    """What the manifest says of the requirement is compared, by `verify` and by `verify_accounts`."""
    found = {"model": PAPER["model"], "required": {key: PAPER[key] for key in ("k", "alpha", "column")}}
    stated = [{**found, "achieved": {"k": 2, "alpha": 0.5}, "satisfied": True}]
    release = split(nss(), ss(), roles=ROLES, promise=[PAPER], privacy=stated)
    verdict = verify(release.folder)
    assert verdict.satisfied
    assert verify_accounts(release.folder, verdict).satisfied
    release.written.rewrite(privacy=[{**stated[0], "achieved": {"k": 5, "alpha": 0.5}}])
    release.written.sign()
    for again in (verify(release.folder), verify_accounts(release.folder, verdict)):
        assert again.complaints == ("what the manifest states of alpha-k-anonymity is not what the table holds",)


@pytest.mark.parametrize("column", ["job", "class_id", "wealth"])
def test_only_columns_of_ss_can_be_asked_about(split: Make, column: str) -> None:
    """A value that stands beside the quasi-identifiers is hidden by no class, and others are not there."""
    release = split(nss(), ss(), roles=ROLES, promise=[PAPER])
    words = "beside the quasi-identifiers" if column == "job" else "columns that the release does not have"
    with pytest.raises(InputError, match=f"{words}.*'{column}'"):
        verify(release.folder, asked=RequestedPromise([{**PAPER, "column": column}]))


def arrow() -> tuple[pa.Table, pa.Table, Promise]:
    """The paper's two tables in memory, and what they promise."""
    return (
        pa.Table.from_pylist(nss()),
        pa.Table.from_pylist(ss()),
        Promise(tuple(ROLES), ("illness",), None, (PAPER,)),
    )


def test_tables_in_memory() -> None:
    """The same checks before anything is written; class ids may be coded, and quasi-identifiers numbers."""
    people, values, promise = arrow()
    people = people.set_column(1, "birth", people.column("birth").cast(pa.int32()))
    coded = people.set_column(3, "class_id", people.column("class_id").dictionary_encode())
    for table in (people, coded):
        verdict = verify_tables(table, [values], promise, "class_id")
        assert (verdict.complaints, verdict.rows, verdict.classes) == ((), 6, 3)
    failing = verify_tables(people, [values.slice(1)], promise, "class_id")
    assert "class 1 has 2 lines in nss and 1 in ss" in failing.problems
    assert not verify_tables(
        people, [values], replace(promise, requirements=({**PAPER, "k": 3},)), "class_id"
    ).satisfied


def test_tables_in_memory_hold_the_columns_of_their_roles() -> None:
    """A sensitive column beside the quasi-identifiers, or one of these beside a sensitive one, goes nowhere."""
    people, values, promise = arrow()
    for nss_, ss_, column in (
        (people.append_column("illness", values.column("illness")), values, "illness"),
        (people, values.append_column("job", people.column("job")), "job"),
    ):
        with pytest.raises(NotVerified, match=f"do not belong: '{column}'"):
            verify_tables(nss_, [ss_], promise, "class_id")
    for nss_, ss_ in ((people.drop_columns("class_id"), values), (people, values.drop_columns("class_id"))):
        with pytest.raises(NotVerified, match="does not have each of these columns once: 'class_id'"):
            verify_tables(nss_, [ss_], promise, "class_id")


@pytest.mark.parametrize("kind", [pa.string(), pa.float64()])
def test_class_ids_in_memory_are_whole_numbers(kind: pa.DataType) -> None:
    """Any other type has no class ids at all."""
    people, values, promise = arrow()
    values = values.set_column(0, "class_id", values.column("class_id").cast(kind))
    assert (
        "ss has 6 lines whose class id is missing or no whole number"
        in verify_tables(people, [values], promise, "class_id").problems
    )
