"""Comparison of numbers that no party knows both of: right for any, and uniform bits to either side."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.errors import PolicyError, RunAborted
from sfumato.party import secure_comparison
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.secure_comparison import CompareTask, compare_shares, share_of_least, share_signs
from sfumato.party.wire_frame import HEADER_BYTES
from sfumato.policy.section import Section

RunPair = Callable[..., dict[str, Any]]

_WORDS = st.integers(0, 2**64 - 1)


def _task(**settings: Any) -> CompareTask:
    section = Section({"kind": "compare", "column": "x"} | settings, "task")
    return CompareTask.read(section, ("a", "b"), settings.get("result_to", ("a", "b")))


def _run(run: RunPair, task: CompareTask, one: list[int], other: list[int]) -> dict[str, Any]:
    def part(values: list[int]) -> Callable[[PartySession], Any]:
        return lambda session: task.run(session, task.prepare(session.me, PartyTable(pa.table({"x": values}), "x.csv")))

    return run({"a": part(one), "b": part(other)})


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_the_task_says_which_is_less(run_pair: RunPair, data: st.DataObject) -> None:
    """Every row is less, equal or greater as Python has it, near each other and far, for any number of bits."""
    bits = data.draw(st.sampled_from([1, 2, 3, 8, 33, 64]))
    least, most = (0, 1) if bits == 1 else (-(1 << bits - 1), (1 << bits - 1) - 1)
    numbers = st.integers(least, most) | st.sampled_from([least, most, 0])
    rows = data.draw(st.lists(st.tuples(numbers, numbers) | numbers.map(lambda x: (x, x)), min_size=1, max_size=20))
    one, other = zip(*rows, strict=True)
    expected = ["less" if x < y else "equal" if x == y else "greater" for x, y in rows]
    results = _run(run_pair, _task(bits=bits), list(one), list(other))
    assert results["a"] == results["b"] == {"first": "a", "second": "b", "comparisons": expected}


def test_only_those_who_are_told_learn_it(run_pair: RunPair) -> None:
    """A party that is not told the result gets nothing."""
    assert _run(run_pair, _task(result_to=("b",)), [5], [7]) == {
        "a": None,
        "b": {"first": "a", "second": "b", "comparisons": ["less"]},
    }


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-(2**62), 2**62 - 1), _WORDS, st.integers(-(2**62), 2**62 - 1)), max_size=20),
    st.integers(-3, 3),
)
def test_shared_numbers_are_compared_with_thresholds(
    run_pair: RunPair, rows: list[tuple[int, int, int]], near: int
) -> None:
    """Shared numbers are at least their thresholds or not, wherever the random share lies."""
    rows = [*rows, *((threshold + near, share, threshold) for _, share, threshold in rows if abs(threshold) < 2**61)]
    shares = np.array([share for _, share, _ in rows], dtype=np.uint64)
    rest = np.array([(number - share) % 2**64 for number, share, _ in rows], dtype=np.uint64)
    thresholds = np.array([threshold for *_, threshold in rows], dtype=np.int64)
    results = run_pair(
        {
            "a": lambda session: compare_shares(session, "b", shares, thresholds, step="t"),
            "b": lambda session: compare_shares(session, "a", rest, thresholds, step="t"),
        }
    )
    expected = [number >= threshold for number, _, threshold in rows]
    assert results["a"].tolist() == results["b"].tolist() == expected


def test_few_bits_do_for_small_numbers(run_pair: RunPair) -> None:
    """Every number of five bits is compared right in five bits, with shares of 64."""
    numbers = np.repeat(np.arange(-16, 16), 3)
    shares = np.random.default_rng(1).integers(0, 2**64, numbers.size, dtype=np.uint64)
    rest = numbers.astype(np.uint64) - shares
    results = run_pair(
        {
            "a": lambda session: compare_shares(session, "b", shares, 0, step="t", bits=5),
            "b": lambda session: compare_shares(session, "a", rest, 0, step="t", bits=5),
        }
    )
    assert results["a"].tolist() == (numbers >= 0).tolist()


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_the_place_of_the_least_is_found(run_pair: RunPair, data: st.DataObject) -> None:
    """Both learn the first place of the least number of each row, for any number of columns, ties among them."""
    columns, rows = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 9))
    drawn = data.draw(
        st.lists(
            st.lists(st.integers(-5, 5) | st.integers(-(2**61), 2**61), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        )
    )
    numbers = np.array(drawn, dtype=np.int64)
    shares = np.random.default_rng(1).integers(0, 2**64, numbers.shape, dtype=np.uint64)
    results = run_pair(
        {
            "a": lambda session: share_of_least(session, "b", shares, step="t"),
            "b": lambda session: share_of_least(session, "a", numbers.view(np.uint64) - shares, step="t"),
        }
    )
    assert results["a"].tolist() == results["b"].tolist() == numbers.argmin(axis=1).tolist()


def test_a_place_that_cannot_be_is_refused() -> None:
    """A peer that opens a place beyond the last number, or before the first, ends the run."""
    for lie in (2, 2**64 - 1):

        def cheat(session: PartySession, lie: int = lie) -> None:
            session.channels["a"].send_array("t/places", np.array([lie], dtype=np.uint64))
            session.channels["a"].receive_array("t/places", np.uint64, 1)

        with pytest.raises(RunAborted, match="a place that cannot be right"):
            run_parties(
                {"a": lambda session: share_of_least(session, "b", np.zeros((1, 1), np.uint64), step="t"), "b": cheat}
            )


def test_batches_are_compared_alike(run_pair: RunPair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that are compared a few at a time, with transfers a few at a time, come out the same."""
    monkeypatch.setattr(secure_comparison, "_ROWS_AT_ONCE", 64)
    monkeypatch.setattr(secure_comparison, "BATCH", 256)
    numbers = np.random.default_rng(1).integers(-1000, 1000, (2, 150))
    results = _run(run_pair, _task(bits=11), *numbers.tolist())
    expected = np.where(numbers[0] < numbers[1], "less", np.where(numbers[0] == numbers[1], "equal", "greater"))
    assert results["a"]["comparisons"] == expected.tolist()


def _view(numbers: NDArray[np.uint64], name: str) -> list[bytes]:
    """Share the signs of numbers, all of which the first party holds; give what a party was sent."""
    sessions = local_sessions("a", "b")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame[HEADER_BYTES:])
        return frame

    channel: Any = sessions["b" if name == "a" else "a"].channels[name]
    channel.tap = keep
    run_parties(
        {
            "a": lambda session: share_signs(session, "b", numbers, step="t", bits=8),
            "b": lambda session: share_signs(session, "a", np.zeros_like(numbers), step="t", bits=8),
        },
        sessions,
    )
    return frames


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_view_is_uniform_bits_whatever_the_numbers_are(name: str) -> None:
    """All messages to either party have the same lengths and even bits for zeros and for any numbers.

    A simulator that knows only how many numbers there are sends as many uniform bytes.
    """
    count = 4000
    views = [_view(np.full(count, number, dtype=np.uint64), name) for number in (0, 255)]
    assert [len(frame) for frame in views[0]] == [len(frame) for frame in views[1]]
    for view in views:
        large = [np.frombuffer(frame, dtype=np.uint8) for frame in view if len(frame) >= count // 8]
        assert len(large) >= 3
        for content in large:
            ones = np.unpackbits(content).mean()
            assert abs(ones - 0.5) < 3 / np.sqrt(8 * content.size)  # six standard deviations


def test_rows_must_agree() -> None:
    """Files of different numbers of rows end the run in a sentence that says so."""
    with pytest.raises(RunAborted, match=r"party '[ab]' has [12] rows and this one [12]"):
        _run(run_parties, _task(), [1], [1, 2])


def test_a_short_message_ends_the_run() -> None:
    """A gate's message that is a byte short is refused."""
    sessions = local_sessions("a", "b")
    channel: Any = sessions["b"].channels["a"]
    channel.tap = lambda frame: frame[:-1] if len(frame) == HEADER_BYTES + 3 * 4 else frame
    with pytest.raises(RunAborted, match="which cannot be right"):
        _run(partial(run_parties, sessions=sessions), _task(bits=8), [1], [2])


def test_wrong_settings_are_named() -> None:
    """Three parties, and more than 64 bits, are refused by the name of the key."""
    with pytest.raises(PolicyError, match=r"task\.kind: is a task of two parties"):
        CompareTask.read(Section({"kind": "compare", "column": "x"}, "task"), ("a", "b", "c"), ("a",))
    with pytest.raises(PolicyError, match=r"task\.bits: must be from 1 to 64"):
        _task(bits=65)
    assert "as many runs as it has bits" in " ".join(_task().statement(("a", "b")).sentences())
