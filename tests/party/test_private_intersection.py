"""Intersections of two parties' sets, by points and by the batched oblivious function."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.errors import DataError, PolicyError, RunAborted
from sfumato.party import batched_oblivious_prf, commutative_encryption
from sfumato.party.batched_oblivious_prf import count_bins, find_bins, match_tags, place_in_bins, tag_bytes
from sfumato.party.commutative_encryption import row_list
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.private_intersection import IntersectionTask, intersect
from sfumato.party.ristretto_group import IDENTITY, is_point
from sfumato.policy.section import Section
from tests.party.watched_parties import change_payloads, run_task, watch_parties

METHODS = pytest.mark.parametrize("method", ["dh", "kkrt"])
_ITEMS = st.lists(st.sampled_from([b"%d" % number for number in range(12)]), max_size=8, unique=True)
_Part = Callable[[PartySession], NDArray[np.int64] | None]


def _parts(items: dict[str, list[bytes]], **keys: Any) -> dict[str, _Part]:
    def part(name: str) -> _Part:
        return lambda session: intersect(session, session.others[0], items[name], step="t", **keys)

    return {name: part(name) for name in items}


@METHODS
@settings(max_examples=4, deadline=None)
@given(_ITEMS, _ITEMS, st.booleans())
def test_the_intersection_is_that_of_plain_sets(
    method: str, one: list[bytes], other: list[bytes], bounded: bool
) -> None:
    """Both parties learn where their common items are, in one order that both know."""
    found = run_parties(_parts({"a": one, "b": other}, method=method, most_items=8 if bounded else None))
    mine, theirs = ([items[place] for place in found[name]] for name, items in (("a", one), ("b", other)))
    assert mine == theirs
    assert set(mine) == set(one) & set(other)


@METHODS
@pytest.mark.parametrize("receiver", ["a", "b"])
def test_a_result_for_one_is_for_one(method: str, receiver: str) -> None:
    """Whoever is not among `to` gets nothing."""
    items = {"a": [b"x", b"y"], "b": [b"y", b"z"]}
    found = run_parties(_parts(items, method=method, to=[receiver]))
    assert {name: None if places is None else places.tolist() for name, places in found.items()} == {
        "a": [1] if receiver == "a" else None,
        "b": [0] if receiver == "b" else None,
    }


@pytest.mark.parametrize("to", [["a", "b"], ["a"], ["b"]])
def test_lists_go_in_parts(monkeypatch: pytest.MonkeyPatch, to: list[str]) -> None:
    """Lists of different sizes that take several messages arrive whole."""
    monkeypatch.setattr(commutative_encryption, "_ROWS_AT_ONCE", 3)
    items = {"a": [b"%d" % number for number in range(9)], "b": [b"7", b"x"]}
    found = run_parties(_parts(items, method="dh", to=to))
    assert {name: places.tolist() for name, places in found.items() if places is not None} == {
        name: place for name, place in (("a", [7]), ("b", [0])) if name in to
    }


@METHODS
def test_views_have_one_length_whatever_the_sets(method: str) -> None:
    """Under one bound as many bytes are sent for an empty set as for a full one, and never an identifier.

    The result alone tells the size of the intersection to whoever gets it; the other's view is of one shape.
    """
    lengths = set()
    for theirs in ([], [b"anna kern"], [b"anna kern", b"bo lindgren", b"jo marsh", b"li wei"]):
        items = {"a": [b"anna kern", b"jo marsh", b"max stern"], "b": theirs}
        _, seen = watch_parties(_parts(items, method=method, most_items=4, to=["a"]))
        lengths.add((tuple(map(len, seen["a"])), tuple(map(len, seen["b"]))))
        captured = b"".join(payload for payloads in seen.values() for payload in payloads)
        assert not any(name in captured for name in (*items["a"], *items["b"]))
    assert len(lengths) == 1


def test_points_are_fresh_in_every_run() -> None:
    """The same sets give other points in another session, so that no list can be compared with an earlier one."""
    items = {"a": [b"x", b"y"], "b": [b"y", b"z"]}
    points = [
        set(
            row_list(
                np.frombuffer(watch_parties(_parts(items, method="dh", most_items=4))[1][name][0], np.uint8).reshape(
                    -1, 32
                )
            )
        )
        for name in ("a", "b")
        for _ in range(2)
    ]
    assert len(set.union(*points)) == 4 * 4


def test_a_view_by_points_is_made_of_the_result_alone() -> None:
    """What a party sees of a peer is what a simulator shows that has the common items, and the sizes, and nothing else.

    The simulator is the peer with random points in the place of all items that are not common. Both views have messages
    of the same lengths, with points that are valid and all different, as many tags that match, and bytes that are as
    even.
    """
    mine = [b"common %d" % number for number in range(40)] + [b"a %d" % number for number in range(260)]
    theirs = mine[:40] + [b"b %d" % number for number in range(260)]
    shapes, counts = set(), []
    for peer in (theirs, theirs[:40]):
        found, seen = watch_parties(_parts({"a": mine, "b": peer}, method="dh", most_items=300))
        assert found["a"] is not None
        points, tags = (np.frombuffer(payload, dtype=np.uint8) for payload in seen["a"])
        listed = row_list(points.reshape(300, 32))
        assert all(map(is_point, listed))
        shapes.add((*map(len, seen["a"]), len(set(listed)), len(set(row_list(tags.reshape(300, -1)))), len(found["a"])))
        counts.append(np.bincount(np.concatenate([points.reshape(300, 32)[:, 1:31].ravel(), tags]), minlength=256))
    assert shapes == {(9600, 300 * tag_bytes(300, 300), 300, 300, 40)}
    real, simulated = counts
    assert ((real - simulated) ** 2 / (real + simulated)).sum() < 400  # chi-square of 255 degrees of freedom: 1e-8


def test_what_the_sender_is_sent_looks_random() -> None:
    """In KKRT the matrix that the sender receives is uniform, for an empty set as for a full one.

    With what it holds the sender can thus be simulated by drawing the matrix at random.
    """
    for mine in ([], [b"%d" % number for number in range(200)]):
        _, seen = watch_parties(_parts({"a": mine, "b": [b"1"]}, method="kkrt", most_items=200, to=["a"]))
        matrix = np.frombuffer(max(seen["b"], key=len), dtype=np.uint8)
        assert len(matrix) == count_bins(200) * 64
        counts = np.bincount(matrix, minlength=256)
        expected = len(matrix) / 256
        assert ((counts - expected) ** 2 / expected).sum() < 400  # chi-square with 255 degrees of freedom: 1e-8


def test_what_the_receiver_is_sent_is_random_but_for_the_intersection() -> None:
    """In KKRT the tags of items that the receiver lacks look as random as the padding."""
    theirs = [b"%d" % number for number in range(3000)]
    _, seen = watch_parties(_parts({"a": [b"x"], "b": theirs}, method="kkrt", most_items=3000, to=["a"]))
    tags = np.frombuffer(b"".join(seen["a"][-3:]), dtype=np.uint8)
    counts = np.bincount(tags, minlength=256)
    expected = len(tags) / 256
    assert ((counts - expected) ** 2 / expected).sum() < 400
    rows = np.concatenate([np.frombuffer(payload, dtype=np.uint8) for payload in seen["a"][-3:]]).reshape(9000, -1)
    assert len(set(row_list(rows))) == 9000


@METHODS
def test_the_order_of_the_result_tells_nothing(method: str) -> None:
    """Common items come in another order in every run, not in that of either file."""
    items = {"a": [b"%d" % number for number in range(30)], "b": [b"%d" % number for number in range(29, -1, -1)]}
    first, second = (run_parties(_parts(items, method=method, most_items=32))["a"] for _ in range(2))
    assert sorted(first.tolist()) == list(range(30))
    assert first.tolist() not in (list(range(30)), list(range(29, -1, -1)), second.tolist())


@pytest.mark.parametrize("point", [IDENTITY, bytes([255] * 32)])
def test_what_is_no_point_ends_the_run(point: bytes) -> None:
    """A list with the identity, or with what is no point, is refused."""
    sessions = local_sessions("a", "b")
    change_payloads(sessions["b"], "a", lambda payload: point + payload[32:])
    with pytest.raises(RunAborted, match="no point of the group"):
        run_parties(_parts({"a": [b"x"], "b": [b"x"]}, method="dh", most_items=3), sessions)


@pytest.mark.parametrize(
    ("count", "slots", "sentence"),
    [
        (b"1", [-1], "places that cannot be right"),
        (b"1", [3], "places that cannot be right"),
        (b"2", [0, 1], "places that cannot be right"),  # one of the three slots holds an item, the others padding
        (b"9", [], "a number of items that cannot be right"),
    ],
)
def test_places_that_cannot_be_end_the_run(count: bytes, slots: list[int], sentence: str) -> None:
    """A receiver of KKRT that names padding, or a slot that is none, as a match is refused."""
    sessions = local_sessions("a", "b")
    lies = {1: count, 8: np.array(slots, dtype=np.int64).tobytes()}
    change_payloads(sessions["a"], "b", lambda payload: lies.get(len(payload), payload))
    with pytest.raises(RunAborted, match=sentence):
        run_parties(_parts({"a": [b"x"], "b": [b"x"]}, method="kkrt", most_items=3), sessions)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 300))
def test_cuckoo_hashing_gives_every_item_a_bin_of_its_own(count: int) -> None:
    """Every item stands in one of its three bins, by the function that it names, and no bin has two."""
    digests = np.frombuffer(os.urandom(16 * count), dtype=np.uint8).reshape(-1, 16)
    bins, placed = count_bins(count), None
    while placed is None:
        wanted = find_bins(digests, os.urandom(48), bins)
        placed = place_in_bins(wanted, bins)
    owner, choice = placed
    assert sorted(owner[owner >= 0].tolist()) == list(range(count))
    for place in np.flatnonzero(owner >= 0):
        assert wanted[choice[owner[place]], owner[place]] == place


def test_items_that_do_not_fit_are_no_endless_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four items whose functions all name three bins fail, and the receiver draws other functions."""
    assert place_in_bins(np.tile(np.array([[0], [1], [2]]), (1, 4)), 9) is None
    attempts = []

    def fail_once(wanted: NDArray[np.int64], bins: int) -> Any:
        attempts.append(bins)
        return None if len(attempts) == 1 else place_in_bins(wanted, bins)

    monkeypatch.setattr(batched_oblivious_prf, "place_in_bins", fail_once)
    found = run_parties(_parts({"a": [b"x", b"y"], "b": [b"y"]}, method="kkrt"))
    assert len(attempts) == 2
    assert found["a"].tolist() == [1]


def test_tags_are_compared_in_full() -> None:
    """Tags whose first eight bytes are equal by chance are told apart by the rest."""
    told = np.zeros((5, 10), dtype=np.uint8)
    told[:, 9] = [1, 2, 3, 4, 5]
    places, slots = match_tags(told[[3, 1]], told)
    assert sorted(zip(places.tolist(), slots.tolist(), strict=True)) == [(0, 3), (1, 1)]
    assert match_tags(told[:1] + np.uint8(1), told)[0].tolist() == []
    assert match_tags(np.empty((0, 7), np.uint8), told[:, :7])[0].tolist() == []


def test_larger_sets_are_compared_by_kkrt(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice of a method follows from the public sizes, so that both sides make the same."""
    monkeypatch.setattr("sfumato.party.private_intersection.LARGEST_BY_POINTS", 4)
    for bound, messages in ((4, 2), (5, 6)):
        _, seen = watch_parties(_parts({"a": [b"x"], "b": [b"x"]}, most_items=bound))
        assert len(seen["a"]) + len(seen["b"]) > messages
        assert (max(map(len, seen["b"])) > 2000) == (bound == 5)  # the matrix has 64 bytes a bin


@METHODS
def test_the_task_lists_identifiers_as_the_own_file_writes_them(method: str) -> None:
    """Each party reads what both have in its own spelling, sorted; guessable identifiers draw a warning."""
    keys = {"column": "name", "method": method, "most_items": 5}
    task = IntersectionTask.read(Section(keys, "task"), ("a", "b"), ("a", "b"))
    tables = {"a": ["Max Stern", "Jo Marsh", "Anna Kern"], "b": ["ANNA KERN", "Li Wei", "jo  marsh"]}
    found = run_task(task, {name: pa.table({"name": cells}) for name, cells in tables.items()})
    assert found == {"a": ["Anna Kern", "Jo Marsh"], "b": ["ANNA KERN", "jo  marsh"]}
    assert task.cautions(task.prepare("a", PartyTable(pa.table({"name": tables["a"]}), "a.csv"))) == ()
    dates = task.prepare("a", PartyTable(pa.table({"name": ["1970-01-31", "1971-02-01"]}), "a.csv"))
    assert "holds dates" in task.cautions(dates)[0]
    assert "most_items = 5" in task.statement(("a", "b")).learned


def test_wrong_settings_are_named() -> None:
    """Three parties, an unknown method and a set beyond the bound are errors of their own."""
    with pytest.raises(PolicyError, match="intersection-size counts what all have"):
        IntersectionTask.read(Section({"column": "a"}, "task"), ("a", "b", "c"), ("a",))
    with pytest.raises(PolicyError, match="auto, dh or kkrt"):
        IntersectionTask.read(Section({"column": "a", "method": "psi"}, "task"), ("a", "b"), ("a",))
    task = IntersectionTask.read(Section({"column": "a", "most_items": 1}, "task"), ("a", "b"), ("a",))
    with pytest.raises(DataError, match="more values than most_items = 1"):
        task.prepare("a", PartyTable(pa.table({"a": ["x", "y"]}), "a.csv"))
    assert "b learns nothing, not even how many" in task.statement(("a", "b")).learned
