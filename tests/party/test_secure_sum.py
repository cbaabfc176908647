"""Sums of vectors that nobody shows."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.secure_sum import secure_sum

_WORDS = st.integers(-(2**63), 2**63 - 1)


def _part(values: list[int]) -> Callable[[PartySession], NDArray[np.int64] | None]:
    return lambda session: secure_sum(session, np.array(values, dtype=np.int64), step="t")


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.tuples(_WORDS, _WORDS, _WORDS), min_size=n, max_size=n)))
def test_the_sum_is_that_of_plain_addition(vectors: list[tuple[int, int, int]]) -> None:
    """Every party learns the sum modulo 2^64, whatever the vectors are."""
    parts = {f"p{place}": _part(list(vector)) for place, vector in enumerate(vectors)}
    with np.errstate(over="ignore"):
        expected = np.array(vectors, dtype=np.int64).sum(axis=0)
    for total in run_parties(parts).values():
        assert total.tolist() == expected.tolist()


def test_what_is_sent_is_random_to_the_collector() -> None:
    """The vector that the collector receives of a party says nothing of it: equal vectors of zeros look uniform."""
    sessions = local_sessions("a", "b", "c")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame)
        return frame

    sessions["b"].channels["a"].tap = keep  # type: ignore[attr-defined]
    run_parties(dict.fromkeys("abc", _part([0] * 10_000)), sessions)
    masked = np.frombuffer(max(frames, key=len)[-80_000:], dtype=np.uint8)
    counts = np.bincount(masked, minlength=256)
    expected = 80_000 / 256
    assert ((counts - expected) ** 2 / expected).sum() < 400  # chi-square with 255 degrees of freedom: 400 is 1e-8


def test_a_mask_that_is_missing_leaves_nonsense() -> None:
    """What all but one party hold together is random, and so is what the collector would add up without one."""
    sessions = local_sessions("a", "b", "c")
    seen: list[NDArray[np.uint64]] = []

    def keep(frame: bytes) -> bytes:
        if len(frame) > 8_000:
            seen.append(np.frombuffer(frame[-8_000:], dtype=np.uint64))
        return frame

    sessions["c"].channels["a"].tap = keep  # type: ignore[attr-defined]
    run_parties({"a": _part([1] * 1000), "b": _part([2] * 1000), "c": _part([3] * 1000)}, sessions)
    assert len(seen) == 1
    assert len(set(seen[0].tolist())) == 1000


@pytest.mark.parametrize("steps", [("x", "y"), ("x", "z")])
def test_two_sums_of_a_run_have_masks_of_their_own(steps: tuple[str, str]) -> None:
    """Two sums of one session do not cancel each other's masks: the difference of what is sent is not the values'."""
    sessions = local_sessions("a", "b", "c")
    seen: list[NDArray[np.uint64]] = []

    def keep(frame: bytes) -> bytes:
        if len(frame) > 800:
            seen.append(np.frombuffer(frame[-800:], dtype=np.uint64))
        return frame

    sessions["b"].channels["a"].tap = keep  # type: ignore[attr-defined]

    def part(session: PartySession) -> None:
        for step in steps:
            secure_sum(session, np.zeros(100, dtype=np.int64), step=step)

    run_parties(dict.fromkeys("abc", part), sessions)
    assert (seen[0] != seen[1]).all()


def test_columns_before_rows_are_masked_as_well() -> None:
    """A matrix whose memory goes by columns is masked like any other: nothing of it is sent as it is."""
    sessions = local_sessions("a", "b")
    seen: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        seen.append(frame)
        return frame

    sessions["b"].channels["a"].tap = keep  # type: ignore[attr-defined]
    values = np.asfortranarray(np.arange(200, dtype=np.int64).reshape(10, 20))
    found = run_parties(dict.fromkeys("ab", lambda session: secure_sum(session, values, step="t")), sessions)
    assert (found["a"] == 2 * values).all()
    sent = np.frombuffer(max(seen, key=len)[-1600:], dtype=np.uint64)
    assert not (sent < 200).any()
