"""Sizes of unions and of intersections, of which nobody sees an item."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError, PolicyError, RunAborted
from sfumato.party.commutative_encryption import row_list
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.ristretto_group import IDENTITY
from sfumato.party.set_cardinality import (
    IntersectionSizeTask,
    UnionSizeTask,
    counting_ring,
    intersection_size,
    intersection_sizes,
    union_size,
)
from sfumato.policy.section import Section
from tests.party.watched_parties import change_payloads, run_task, watch_parties

_SETS = st.sets(st.sampled_from([b"%d" % number for number in range(6)]), max_size=5)


def _plain(function: Callable[..., Any], value: Any, **keys: Any) -> Callable[[PartySession], Any]:
    return lambda session: function(session, value, step="t", **keys)


@settings(max_examples=10, deadline=None)
@given(st.lists(_SETS, min_size=2, max_size=4), st.booleans())
def test_sizes_are_those_of_plain_sets(sets: list[set[bytes]], bounded: bool) -> None:
    """Every party learns the sizes that plain sets have, with a bound and without."""
    most = 5 if bounded else None
    for function, size in (
        (intersection_size, len(set.intersection(*sets))),
        (union_size, len(set.union(*sets))),
    ):
        parts = {f"p{n}": _plain(function, sorted(items), most_items=most) for n, items in enumerate(sets)}
        assert set(run_parties(parts).values()) == {size}


@settings(max_examples=8, deadline=None)
@given(st.lists(st.lists(_SETS, min_size=3, max_size=3), min_size=2, max_size=3), st.integers(0, 3), st.data())
def test_groups_are_counted_apart(sides: list[list[set[bytes]]], min_count: int, data: st.DataObject) -> None:
    """The count of every group is that of plain sets, and withheld where it is small, whoever gets the result."""
    names = [f"p{place}" for place in range(len(sides))]
    to = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    parts = {
        name: _plain(intersection_sizes, [sorted(items) for items in side], min_count=min_count, to=to, most_items=5)
        for name, side in zip(names, sides, strict=True)
    }
    plain = [len(set.intersection(*group)) for group in zip(*sides, strict=True)]
    expected = [None if size < min_count else size for size in plain]
    assert run_parties(parts) == {name: expected if name in to else None for name in names}


def _group_parts(sides: Sequence[Sequence[list[bytes]]], **keys: Any) -> dict[str, Callable[[PartySession], Any]]:
    return {
        name: _plain(intersection_sizes, side, most_items=4, **keys) for name, side in zip("ab", sides, strict=True)
    }


def test_views_have_equal_lengths_and_fresh_points() -> None:
    """For any groups of the peer a party receives as many bytes, all of them points that it has never seen.

    A person in two groups is two points, so the view is that of a simulator which draws random points.
    """
    lengths = set()
    others: list[list[list[bytes]]] = [[[b"anna"], [b"anna"]], [[b"anna", b"bo", b"jo", b"li"], []], [[], []]]
    for other in others:
        results, seen = watch_parties(_group_parts([[[b"anna"], [b"anna", b"bo"]], other]))
        assert results["a"] == [len({b"anna"} & set(other[0])), len({b"anna", b"bo"} & set(other[1]))]
        points = [
            row_list(np.frombuffer(payload, dtype=np.uint8).reshape(-1, 32))
            for payload in seen["a"]
            if len(payload) == 2 * 4 * 32
        ]
        assert len({point for listed in points for point in listed}) == 2 * 2 * 4
        lengths.add(tuple(map(len, seen["a"])))
        assert not any(name in payload for payload in (*seen["a"], *seen["b"]) for name in (b"anna", b"bo"))
    assert len(lengths) == 1


def test_who_counts_does_not_know_the_groups_of_small_counts() -> None:
    """With min_count, the counts that the counting party sees stand in an order that is drawn anew every time."""
    sides = [[[b"%d" % n for n in range(size)] for size in (0, 1, 2, 3)]] * 2
    orders = set()
    for _ in range(12):
        results, seen = watch_parties(_group_parts(sides, min_count=2))
        assert results == {"a": [None, None, 2, 3], "b": [None, None, 2, 3]}
        (counted,) = (payload for payload in seen["a"] if len(payload) == 4 * 8)  # from b, who counts
        orders.add(counted)
        assert sorted(np.frombuffer(counted, dtype=np.int64).tolist()) == [-1, -1, 2, 3]
    assert len(orders) > 1  # of twelve orders; all are alike by a chance of one in 12^11


def test_the_ring_puts_counting_and_naming_where_the_result_goes() -> None:
    """Who counts gets the result; with secret groups who names them does, and who counts if another one may."""
    assert counting_ring(("a", "b"), ("a", "b"), hides=False) == ("a", "b")
    assert counting_ring(("a", "b"), ("a", "b"), hides=True) == ("b", "a")
    assert counting_ring(("a", "b"), ("a",), hides=True) == ("b", "a")
    assert counting_ring(("a", "b", "c"), ("c", "a"), hides=True) == ("a", "b", "c")


@pytest.mark.parametrize("function", [intersection_size, union_size])
@pytest.mark.parametrize("point", [IDENTITY, bytes([255] * 32)])
def test_what_is_no_point_ends_the_run(function: Callable[..., Any], point: bytes) -> None:
    """A list with an invalid point is refused."""
    sessions = local_sessions("a", "b")
    change_payloads(sessions["b"], "a", lambda payload: point + payload[32:])
    with pytest.raises(RunAborted, match="no point of the group"):
        run_parties(dict.fromkeys("ab", _plain(function, [b"x"], most_items=3)), sessions)


def test_a_count_that_cannot_be_is_refused() -> None:
    """A party that tells a count above the bound ends the run."""
    sessions = local_sessions("a", "b")
    lie = np.int64(9).tobytes()
    change_payloads(sessions["a"], "b", lambda payload: lie if len(payload) == len(lie) else payload)
    with pytest.raises(RunAborted, match="a count that cannot be right"):
        run_parties(dict.fromkeys("ab", _plain(intersection_size, [b"x"], most_items=3)), sessions)


def _read(kind: type[PartyTask], **keys: object) -> PartyTask:
    return kind.read(Section(keys, "task"), ("a", "b"), ("a", "b"))


_HOSPITAL_A = pa.table(
    {
        "patient": ["Anna Kern", "Bo Lindgren", "Jo Marsh", "Jo Marsh", "Li Wei"],
        "diagnosis": ["Flu", "flu", "Measles", "Flu", None],
    }
)
_HOSPITAL_B = pa.table({"patient": ["ANNA  KERN", "jo marsh", "Li Wei", "Max Stern"]})


def test_two_hospitals_count_the_patients_they_share_per_diagnosis() -> None:
    """One file has the diagnoses: its holder sees them as it writes them, and a patient with two counts in both."""
    task = _read(IntersectionSizeTask, column="patient", by="diagnosis")
    results = run_task(task, {"a": _HOSPITAL_A, "b": _HOSPITAL_B})
    assert results["a"] == {"by": "diagnosis", "sizes": {"Flu": 2, "Measles": 1}}
    assert results["b"] == {"by": "diagnosis", "sizes": {"flu": 2, "measles": 1}}
    assert task.cautions(task.prepare("a", PartyTable(_HOSPITAL_A, "a.csv"))) == (
        "column 'patient' of a.csv repeats identifiers of other rows in 1 row; each identifier counts once",
        "column 'diagnosis' of a.csv has NULL in 1 row, and no group counts them",
    )
    assert task.cautions(task.prepare("b", PartyTable(_HOSPITAL_B, "b.csv"))) == ()


def test_public_groups_are_shown_as_the_task_writes_them() -> None:
    """Labels compare by their normal form; a label that the task does not name is left out, and said."""
    task = _read(IntersectionSizeTask, column="patient", by="diagnosis", groups=["FLU", "Scurvy"], min_count=1)
    other = _HOSPITAL_B.append_column("diagnosis", pa.array(["flu", "flu", "a", "b"]))
    results = run_task(task, {"a": _HOSPITAL_A, "b": other})
    assert results["b"]["sizes"] == {"FLU": 2, "Scurvy": None}
    warnings = task.cautions(task.prepare("a", PartyTable(_HOSPITAL_A, "a.csv")))
    assert "NULL or no label of groups in 2 rows" in warnings[1]


def test_sizes_without_groups() -> None:
    """Both tasks give one size; a small one is withheld where the task says so."""
    tables = {"a": _HOSPITAL_A, "b": _HOSPITAL_B}
    assert run_task(_read(UnionSizeTask, column="patient", most_items=9), tables)["b"] == {"size": 5}
    assert run_task(_read(IntersectionSizeTask, column="patient"), tables)["b"] == {"size": 3}
    assert run_task(_read(IntersectionSizeTask, column="patient", min_count=4), tables) == {
        "a": {"size": None},
        "b": {"size": None},
    }


def test_a_label_that_is_no_text_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that a changed program put into the union of labels ends the run with a sentence."""
    monkeypatch.setattr("sfumato.party.set_cardinality.secure_union", lambda *_, **__: [b"flu", b"\xff"])
    task = _read(IntersectionSizeTask, column="patient", by="diagnosis")
    with pytest.raises(RunAborted, match="a label that is no UTF-8"):
        run_task(task, {"a": _HOSPITAL_A, "b": _HOSPITAL_B})


def test_a_column_that_nobody_has_ends_the_run() -> None:
    """Nobody's file has the column to count by: a sentence, not a count of all."""
    task = _read(IntersectionSizeTask, column="patient", by="illness")
    with pytest.raises(RunAborted, match="no party has the column 'illness'"):
        run_task(task, {"a": _HOSPITAL_A, "b": _HOSPITAL_B})


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"column": "a", "groups": ["x"]}, "task.groups"),
        ({"column": "a", "by": "b", "groups": []}, "task.groups"),
        ({"column": "a", "by": "b", "groups": ["x", " X"]}, "task.groups"),
        ({"column": "a", "by": "b", "groups": [" "]}, "task.groups"),
        ({"column": "a", "min_count": -1}, "task.min_count"),
        ({"by": "b"}, "task.column"),
    ],
)
def test_wrong_settings_are_named(keys: dict[str, object], key: str) -> None:
    """A setting that cannot be is an error of its key."""
    with pytest.raises(PolicyError) as found:
        _read(IntersectionSizeTask, **keys)
    assert found.value.key == key


def test_the_statement_says_who_sees_small_counts() -> None:
    """The sentences name the party that counts, and what it sees."""
    task = _read(IntersectionSizeTask, column="patient", by="diagnosis", min_count=5)
    learned = task.statement(("a", "b")).learned
    assert "party b, who counts, learns all numbers, those below min_count = 5 included" in learned
    assert "power of two" in learned
    alone = _read(IntersectionSizeTask, column="patient", min_count=5, most_items=100).statement(("a", "b")).learned
    assert "party a, who counts, learns the number also where it is below min_count" in alone
    with pytest.raises(DataError, match="more values than most_items = 2"):
        _read(UnionSizeTask, column="patient", most_items=2).prepare("a", PartyTable(_HOSPITAL_B, "b.csv"))
