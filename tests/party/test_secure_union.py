"""Unions of sets, of which nobody learns who has what."""

from collections.abc import Callable
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError, PolicyError, RunAborted
from sfumato.party.commutative_encryption import random_rows, row_list
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.ristretto_group import IDENTITY
from sfumato.party.secure_union import ItemCode, UnionTask, secure_union
from sfumato.policy.section import Section
from tests.party.watched_parties import change_payloads, run_task, watch_parties

_Part = Callable[[PartySession], list[bytes] | None]


def _part(items: set[bytes], most_items: int | None = 4, to: list[str] | None = None) -> _Part:
    return lambda session: secure_union(session, sorted(items), step="t", longest=6, most_items=most_items, to=to)


_SETS = st.sets(st.binary(max_size=3) | st.sampled_from([b"a", b"b", b"\0", b""]), max_size=4)


@settings(max_examples=12, deadline=None)
@given(st.lists(_SETS, min_size=2, max_size=4), st.booleans())
def test_the_union_is_that_of_plain_sets(sets: list[set[bytes]], bounded: bool) -> None:
    """Every party learns the sorted union, whatever the sets are, with a bound and without."""
    parts = {f"p{place}": _part(items, 4 if bounded else None) for place, items in enumerate(sets)}
    for union in run_parties(parts).values():
        assert union == sorted(set().union(*sets))


def test_only_those_of_the_result_get_it() -> None:
    """Whoever is not among `to` gets nothing, and is not sent the union."""
    found = run_parties({name: _part({name.encode()}, to=["b"]) for name in "abc"})
    assert found == {"a": None, "b": [b"a", b"b", b"c"], "c": None}


def test_what_is_sent_depends_on_the_bound_alone() -> None:
    """Messages have the same lengths for sets of any size, and no party is ever sent a point twice.

    So the view of a party is simulated by drawing as many random points; items are in the result alone.
    """
    sets = {"a": {b"x"}, "b": {b"x", b"yyyyyy", b"z"}, "c": set[bytes]()}
    other = {"a": {b"x"}, "b": set[bytes](), "c": {b"x", b"yyyyyy", b"z"}}  # the same union, from others
    seen, others = (watch_parties({name: _part(items) for name, items in one.items()})[1] for one in (sets, other))
    assert {name: sorted(map(len, sent)) for name, sent in seen.items()} == {
        name: sorted(map(len, sent)) for name, sent in others.items()
    }
    for received in seen.values():
        points = [
            point
            for payload in received
            if len(payload) % 128 == 0
            for point in row_list(np.frombuffer(payload, dtype=np.uint8).reshape(-1, 32))
        ]
        assert len(points) >= 4 * 4
        assert len(set(points)) == len(points)
    assert (
        sum(b"yyyyyy" in payload for received in seen.values() for payload in received) == 2
    )  # the result, to b and c


def test_items_that_begin_alike_share_no_point() -> None:
    """An item is as long as any other in points, and each of its points depends on all of it."""
    code = ItemCode(80, b"salt")
    items = [b"", b"a", b"a" * 79, b"a" * 80, b"a" * 79 + b"b", b"\0", b"\0\0"]
    rows = code.write(items)
    points = row_list(rows.reshape(-1, 32))
    assert code.width == 4
    assert len(set(points)) == len(items) * code.width
    assert [code.read(row) for row in row_list(rows)] == items
    assert [code.read(row) for row in row_list(random_rows(50, 4))] == [None] * 50
    assert not set(points) & set(row_list(ItemCode(80, b"other").write(items).reshape(-1, 32)))


def _replace(step_number: int, change: Callable[[bytes], bytes]) -> RunAborted:
    """Change the message of this number that b sends to a; give the error of a."""
    sessions = local_sessions("a", "b")
    numbers = count()
    change_payloads(sessions["b"], "a", lambda payload: change(payload) if next(numbers) == step_number else payload)
    with pytest.raises(RunAborted) as found:
        run_parties({"a": _part({b"x"}, to=["b"]), "b": _part({b"y"}, to=["b"])}, sessions)
    return found.value


@pytest.mark.parametrize("message", [0, 1])
@pytest.mark.parametrize("point", [IDENTITY, bytes([255] * 32), b"\1" + bytes(31)])
def test_what_is_no_point_ends_the_run(message: int, point: bytes) -> None:
    """The identity, what is not canonical and what is on no curve is refused, in the ring and in what is merged."""
    assert "no point of the group" in str(_replace(message, lambda payload: point + payload[32:]))


def test_an_item_twice_ends_the_run() -> None:
    """A list that would count an item twice is refused."""
    assert "has an item twice" in str(_replace(0, lambda payload: payload[:32] * 2 + payload[64:]))


def test_items_that_vanish_are_noticed() -> None:
    """A party whose items are not in the union that it is told ends the run."""
    sessions = local_sessions("a", "b")
    fakes = random_rows(8).tobytes()
    change_payloads(sessions["a"], "b", lambda payload: fakes if len(payload) == len(fakes) else payload)
    with pytest.raises(RunAborted, match="lacks items of yours"):
        run_parties({"a": _part({b"x"}, to=["b"]), "b": _part({b"y"}, to=["b"])}, sessions)


def test_a_set_beyond_the_bound_is_the_holders_error() -> None:
    """A set that is larger than all agreed on is refused before anything moves."""
    with pytest.raises(DataError, match="more items than most_items = 4"):
        secure_union(local_sessions("a", "b")["a"], [b"%d" % n for n in range(5)], step="t", longest=6, most_items=4)


@pytest.mark.parametrize("size", [b"3", b"0", b"2097152", b"true", b'"4"', b"1e3"])
def test_a_size_that_cannot_be_ends_the_run(size: bytes) -> None:
    """Without a bound sizes are powers of two up to a million, so that no peer makes this side fill its memory."""
    sessions = local_sessions("a", "b")
    change_payloads(sessions["b"], "a", lambda _: size)
    with pytest.raises(RunAborted, match="a size that is no power of two up to 1,048,576"):
        run_parties({"a": _part({b"x"}, None), "b": _part({b"y"}, None)}, sessions)


def test_the_task_unites_the_values_of_a_column() -> None:
    """The values of a column as they are written, NULLs left out, or without their case where the task says so."""
    section = Section({"column": "illness", "most_items": 5, "longest": 20}, "task")
    task = UnionTask.read(section, ("a", "b"), ("a", "b"))
    tables = {"a": pa.table({"illness": ["Flu", None, "flu", "Flu"]}), "b": pa.table({"illness": ["Cough"]})}
    assert run_task(task, tables) == {"a": ["Cough", "Flu", "flu"], "b": ["Cough", "Flu", "flu"]}
    folded = UnionTask.read(Section({"column": "illness", "normalize": "text"}, "task"), ("a", "b"), ("a",))
    assert run_task(folded, tables) == {"a": ["cough", "flu"], "b": None}
    assert "party b learns how many values of a are among those of b" in task.statement(("a", "b")).learned
    with pytest.raises(DataError, match="more values than most_items"):
        task.prepare("a", PartyTable(pa.table({"illness": list("abcdef")}), "a.csv"))


@pytest.mark.parametrize(
    ("settings_", "key"),
    [
        ({}, "task.column"),
        ({"column": "a", "longest": 5000}, "task.longest"),
        ({"column": "a", "most_items": 0}, "task.most_items"),
        ({"column": "a", "normalize": "loud"}, "task.normalize"),
    ],
)
def test_wrong_settings_are_named(settings_: dict[str, object], key: str) -> None:
    """A setting that cannot be is an error of its key."""
    with pytest.raises(PolicyError) as found:
        UnionTask.read(Section(settings_, "task"), ("a", "b"), ("a", "b"))
    assert found.value.key == key
