"""Counts over the rows of all parties, with small ones withheld."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError, PolicyError, RunAborted
from sfumato.party.contingency import ContingencyTask
from sfumato.party.gated_sums import open_large_sums
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.policy.section import Section

_ROWS = st.lists(st.tuples(st.sampled_from("fm"), st.sampled_from(["flu", "gout", "mumps"])), max_size=12)
_VALUES = {"sex": ["f", "m"], "illness": ["flu", "gout", "mumps"]}


def _read(parties: int, **settings: Any) -> ContingencyTask:
    names = tuple("abcd"[:parties])
    settings = {"columns": ["sex", "illness"]} | settings
    result_to = tuple(settings.pop("result_to", names))
    section = Section.from_value(settings, "task", ContingencyTask.keys)
    return ContingencyTask.read(section, names, result_to)


def _table(rows: list[tuple[str, str]]) -> PartyTable:
    sexes, illnesses = [sex for sex, _ in rows], [illness for _, illness in rows]
    return PartyTable(pa.table({"sex": pa.array(sexes, pa.string()), "illness": pa.array(illnesses, pa.string())}), "t")


def _run(task: ContingencyTask, parts: list[list[tuple[str, str]]]) -> dict[str, Any]:
    def part(name: str, rows: list[tuple[str, str]]) -> Any:
        prepared = task.prepare(name, _table(rows))
        return lambda session: task.run(session, prepared)

    return run_parties({name: part(name, rows) for name, rows in zip("abcd", parts, strict=False)})


@settings(max_examples=15, deadline=None)
@given(st.lists(_ROWS, min_size=2, max_size=4))
def test_counts_are_those_of_all_rows_together(parts: list[list[tuple[str, str]]]) -> None:
    """Every party learns the counts of the joined rows, cells without rows among them."""
    counted = Counter(row for rows in parts for row in rows)
    for result in _run(_read(len(parts), values=_VALUES), parts).values():
        assert len(result) == 6
        assert {(cell["sex"], cell["illness"]): cell["count"] for cell in result} == {
            (sex, illness): counted[sex, illness] for sex in "fm" for illness in _VALUES["illness"]
        }


@settings(max_examples=6, deadline=None)
@given(st.lists(_ROWS, min_size=2, max_size=3), st.integers(1, 6))
def test_counts_below_the_least_are_withheld(parts: list[list[tuple[str, str]]], least: int) -> None:
    """Exactly the counts from min_count on are told, to those of result_to alone."""
    counted = Counter(row for rows in parts for row in rows)
    found = _run(_read(len(parts), values=_VALUES, min_count=least, result_to=["b"]), parts)
    assert [name for name, result in found.items() if result is not None] == ["b"]
    for cell in found["b"]:
        true = counted[cell["sex"], cell["illness"]]
        assert cell["count"] == (true if true >= least else None)


def test_the_whole_table_or_nothing() -> None:
    """With whole = true, one small cell is enough for no cell to be told."""
    rows = [(sex, illness) for sex in "fm" for illness in _VALUES["illness"]] * 2
    task = _read(2, values=_VALUES, min_count=4, whole=True)
    assert [cell["count"] for cell in _run(task, [rows, rows])["b"]] == [4] * 6
    assert [cell["count"] for cell in _run(task, [rows, rows[1:]])["a"]] == [None] * 6


def test_values_that_no_task_lists_are_found_together() -> None:
    """A column without values gets those of all parties, sorted, whoever has them."""
    found = _run(_read(3, values={"sex": ["f", "m"]}), [[("f", "flu")], [("m", "gout")], [("f", "gout")]])
    assert [cell["illness"] for cell in found["c"]] == ["flu", "gout"] * 2
    assert [cell["count"] for cell in found["c"]] == [1, 1, 0, 1]


def test_what_a_holder_gets_of_the_others_is_random() -> None:
    """A share that a third party sends is uniform, whatever its counts are, so a holder learns nothing of them."""
    for place, holder in enumerate("ab"):
        sessions = local_sessions("a", "b", "c")
        frames: list[bytes] = []

        def keep(frame: bytes, frames: list[bytes] = frames) -> bytes:
            frames.append(frame)
            return frame

        sessions["c"].channels[holder].tap = keep  # type: ignore[attr-defined]
        counts = np.full(2000, 3 * (place + 1), dtype=np.int64)

        def part(session: PartySession, counts: Any = counts) -> None:
            open_large_sums(session, counts, counts[:, None], least=1 << 40, step="t")

        run_parties(dict.fromkeys("abc", part), sessions)
        sent = np.frombuffer(max(frames, key=len)[-32_000:], dtype=np.uint8)
        bins = np.bincount(sent, minlength=256)
        assert ((bins - 125) ** 2 / 125).sum() < 400  # chi-square with 255 degrees of freedom: 400 is 1e-8


def test_nothing_of_a_withheld_cell_is_opened() -> None:
    """After the comparison, holders send the shares of large cells alone: their number and no more is seen."""
    sessions = local_sessions("a", "b", "c")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame)
        return frame

    sessions["a"].channels["c"].tap = keep  # type: ignore[attr-defined]
    counts = np.array([9, 1, 9, 0], dtype=np.int64)
    run_parties(
        dict.fromkeys("abc", lambda s: open_large_sums(s, counts, counts[:, None], least=5, step="t")), sessions
    )
    assert len(frames[-1]) - 41 == 2 * 8


def test_a_share_of_the_wrong_length_ends_the_run() -> None:
    """A party that sends fewer shares than there are cells is refused by the holder."""
    sessions = local_sessions("a", "b", "c")

    def cut(session: PartySession) -> Any:
        counts = np.ones(3 if session.me == "c" else 4, dtype=np.int64)
        return open_large_sums(session, counts, counts[:, None], least=1, step="t")

    with pytest.raises(RunAborted, match="cannot be right"):
        run_parties(dict.fromkeys("abc", cut), sessions)


def test_cells_outside_are_refused_by_their_holder() -> None:
    """A value that is not in the task, and an empty cell, are errors that name the row and not the cell."""
    task = _read(2, values=_VALUES)
    with pytest.raises(DataError, match="'illness' of row 2 is not among the values") as refused:
        task.prepare("a", _table([("f", "flu"), ("f", "AIDS")]))
    assert "AIDS" not in str(refused.value)
    empty = PartyTable(pa.table({"sex": ["f", None], "illness": ["flu", "flu"]}), "t.csv")
    with pytest.raises(DataError, match=r"t\.csv: 'sex' of row 2 has no value"):
        task.prepare("a", empty)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"columns": []}, "must name columns"),
        ({"columns": ["a", "b", "c", "d", "e"]}, "at most 4"),
        ({"columns": ["sex", "sex"]}, "twice"),
        ({"columns": ["count"]}, "rename"),
        ({"values": {"age": ["1"]}}, "not one of the columns"),
        ({"values": {"sex": []}}, "list of texts"),
        ({"values": {"sex": ["f", "f"]}}, "twice"),
        ({"whole": True}, "goes with min_count"),
    ],
)
def test_wrong_settings_name_their_key(settings: dict[str, Any], sentence: str) -> None:
    """What a task cannot mean is a policy error with the key in it."""
    with pytest.raises(PolicyError, match=sentence) as refused:
        _read(2, **settings)
    assert refused.value.key.startswith("task.")


def test_the_statement_says_what_is_not_protected() -> None:
    """Withholding names the two holders and the danger of marginals; without it there is nothing beyond the result."""
    learned = _read(3, values=_VALUES, min_count=5).statement(("a", "b", "c")).learned
    assert "a and b" in learned
    assert "marginals" in learned
    assert _read(3, values=_VALUES).statement(("a", "b", "c")).learned == "Nothing."
    assert "what one of the two lacks is the other's" in _read(2).statement(("a", "b")).learned
