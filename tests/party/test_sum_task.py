"""The task sum: exact totals by column and key, small cells withheld, and what cannot be added refused."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError, RunAborted
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.secure_sum import SumTask
from sfumato.policy.section import Section

NAMES = ("a", "b", "c")


def add(tables: dict[str, Any], result_to: tuple[str, ...] | None = None, **keys: Any) -> dict[str, Any]:
    """Run the task among threads."""
    names = tuple(tables)
    task = SumTask.read(Section(keys, "task"), names, result_to or names)
    prepared = {name: task.prepare(name, PartyTable(pa.table(table), f"{name}.csv")) for name, table in tables.items()}

    def play(session: PartySession) -> Any:
        return task.run(session, prepared[session.me])

    return run_parties(dict.fromkeys(names, play))


NUMBERS = st.one_of(st.none(), st.decimals(-(10**9), 10**9, places=3).map(lambda number: format(number, "f")))
ROWS = st.lists(st.tuples(st.sampled_from(["x", "y", "z", None]), NUMBERS), min_size=1, max_size=6)


@settings(max_examples=15, deadline=None)
@given(st.tuples(ROWS, ROWS, ROWS), st.integers(0, 3))
def test_totals_are_those_of_plain_addition(rows: tuple[list[Any], ...], least: int) -> None:
    """Whatever the rows are, every party gets the exact totals of all, and none where too few rows have a number."""
    tables = {
        name: {
            "ward": pa.array([key for key, _ in lines], pa.string()),
            "cost": pa.array([n for _, n in lines], pa.string()),
        }
        for name, lines in zip(NAMES, rows, strict=True)
    }
    found = add(tables, columns=["cost"], key="ward", decimals=3, min_count=least)
    every = [line for lines in rows for line in lines]
    keys = sorted({key for key, _ in every}, key=lambda key: (key is None, key or ""))
    expected = []
    for key in keys:
        numbers = [Decimal(number) for ward, number in every if ward == key and number is not None]
        expected.append({"ward": key, "cost": float(sum(numbers)) if len(numbers) >= least else None})
    assert found == dict.fromkeys(NAMES, expected)


def test_all_numeric_columns_are_added_where_none_is_named() -> None:
    """Texts, codes with leading zeros and the key are no numbers; whole totals are whole."""
    table = {
        "ward": ["n", "s"],
        "zip": ["043", "044"],
        "beds": ["3", "4"],
        "cost": ["1.50", " 2.25 "],
        "note": ["", "x"],
    }
    assert add({"a": table, "b": table})["b"] == {"beds": 14, "cost": 7.5}
    typed = {"beds": pa.array([3, None], pa.int16()), "cost": [0.1, 0.2], "day": pa.array([1, 2], pa.date32())}
    assert add({"a": typed, "b": typed})["a"] == {"beds": 6, "cost": 0.6}


def test_public_values_need_no_union_and_leave_nobody_out() -> None:
    """Values that the task lists are all in the result, whoever has them; a row with another is refused."""
    a, b = {"ward": ["n"], "beds": ["3"]}, {"ward": ["s"], "beds": ["4"]}
    found = add({"a": a, "b": b}, key="ward", values=["s", "n", "w"])
    assert found["a"] == [{"ward": "n", "beds": 3}, {"ward": "s", "beds": 4}, {"ward": "w", "beds": 0}]
    with pytest.raises(DataError, match=r"row 1 of b\.csv has a 'ward' that is not among values") as caught:
        add({"a": a, "b": b}, key="ward", values=["n"])
    assert "'s'" not in str(caught.value)


def test_only_those_who_are_named_get_the_result() -> None:
    """With result_to the others are told nothing, also where small cells are withheld."""
    table = {"ward": ["n", "s", "s"], "beds": ["3", "4", "5"]}
    found = add({"a": table, "b": table, "c": table}, ("b",), key="ward", values=["n", "s"], min_count=4)
    assert found == {"a": None, "b": [{"ward": "n", "beds": None}, {"ward": "s", "beds": 27}], "c": None}


def test_totals_of_withheld_cells_are_not_sent() -> None:
    """The vector of totals has just as many words as cells that may be told."""
    sessions = local_sessions("a", "b")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame)
        return frame

    sessions["b"].channels["a"].tap = keep  # type: ignore[attr-defined]
    task = SumTask.read(Section({"key": "ward", "values": ["n", "s", "w"], "min_count": 3}, "task"), ("a", "b"), ("a",))
    table = PartyTable(pa.table({"ward": ["n", "s", "s"], "beds": ["1", "1", "1"]}), "t")
    prepared = task.prepare("a", table)
    run_parties(dict.fromkeys("ab", lambda session: task.run(session, prepared)), sessions)
    assert len(frames[-1]) - len(frames[-2]) == 8 * (1 - 3)  # the counts of three cells, and the total of one


def test_other_columns_at_a_peer_end_the_run() -> None:
    """Parties whose numeric columns differ learn that they do, and not how."""
    with pytest.raises(RunAborted, match=r"has other numeric columns than this one; agree") as caught:
        add({"a": {"beds": ["1"]}, "b": {"canary": ["1"]}})
    assert "canary" not in str(caught.value) or "beds" not in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "keys", "message"),
    [
        (["1.25"], {"decimals": 1}, "has numbers with more than 1 decimals"),
        (["9" * 19], {}, "holds numbers beyond 64 bits at 6 decimals"),
        (["4" + "0" * 18, "1"], {"decimals": 0}, "adds up to more than 64 bits hold at 0 decimals"),
        (["one"], {"columns": ["n"]}, "holds text that is no number"),
        (["1e400"], {"columns": ["n"]}, "holds text that is no number"),
        (["x"], {}, "has no column of numbers to add up"),
        (["1"], {"columns": ["m"]}, "has no column 'm'"),
        (["1"], {"key": "w"}, "has no column 'w'"),
    ],
)
def test_what_cannot_be_added_exactly_is_refused(cells: list[str], keys: dict[str, Any], message: str) -> None:
    """Nothing is rounded and nothing wraps round: such a column is an error that quotes no cell."""
    with pytest.raises(DataError, match=message) as caught:
        add({name: {"n": cells} for name in NAMES}, **keys)
    assert not any(f"'{cell}'" in str(caught.value) for cell in cells)


def test_large_numbers_are_added_without_a_loss() -> None:
    """Totals up to the last bit that all parties together can have are exact."""
    largest = (2**63 - 1) // 2
    found = add({"a": {"n": [largest - 5, 5]}, "b": {"n": [largest]}}, decimals=0)
    assert found["a"] == {"n": 2 * largest}
    assert np.iinfo(np.int64).max - found["a"]["n"] <= 1
