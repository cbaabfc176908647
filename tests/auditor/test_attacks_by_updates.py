"""What attackers gain from a table that changes: who is known to have moved, swapped or returned gives nobody away."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.auditor.query_ledger import QueryLedger
from sfumato.errors import DataError, InputError

from .conftest import Ledgers


class Watcher:
    """Somebody who knows who is in which cell, and whose value stayed, and solves for the values with all answers.

    `versions` are tables of the columns who, g and x. A person has a new unknown whenever the value changes.
    """

    def __init__(self, ledger: QueryLedger) -> None:
        self.ledger = ledger
        self.unknowns: dict[tuple[str, float], int] = {}
        self.lines: list[list[int]] = []
        self.answers: list[float] = []

    def ask(self, table: dict[str, list[Any]], cells: str) -> bool:
        """Ask for the sum over some cells of the table as it is now."""
        condition = ", ".join(f"'{cell}'" for cell in cells)
        answer = self.ledger.ask(f"select sum(x) where g in ({condition})")
        if answer.answered and answer.rows[0][0] is not None:
            people = [
                self.unknowns.setdefault((str(who), float(x)), len(self.unknowns))
                for who, g, x in zip(table["who"], table["g"], table["x"], strict=True)
                if g in cells
            ]
            self.lines.append(people)
            self.answers.append(answer.rows[0][0])
        return answer.answered

    def learned(self) -> list[tuple[str, float]]:
        """Give the values that follow."""
        matrix = np.zeros((len(self.lines), len(self.unknowns)))
        for place, people in enumerate(self.lines):
            matrix[place, people] = 1
        rank = np.linalg.matrix_rank(matrix) if self.lines else 0
        units = np.eye(len(self.unknowns))
        return [
            who for who, at in self.unknowns.items() if np.linalg.matrix_rank(np.vstack([matrix, units[at]])) == rank
        ]


People = tuple[str, list[int]]
CHANGES: dict[str, tuple[list[People], list[tuple[str, ...]], list[People]]] = {
    # A and B have equal values and change places, so that the table reads the same: A+C, A+B, and then B+C
    "swap": ([("cde", [10, 10, -7])], [("ce", "cd"), ("ce",)], [("dce", [10, 10, -7])]),
    # the same with values that differ
    "exchange": ([("cde", [10, 20, -7])], [("ce", "cd"), ("ce",)], [("dce", [10, 20, -7])]),
    # A moves in beside C, leaves, and B moves in: A+B, A+C, B+C
    "move": ([("ccd", [10, 20, -7])], [("c",), ("d",), ("d",)], [("dcd", [10, 20, -7]), ("cdd", [10, 20, -7])]),
    # A is away for a while, and back when B is away; '-' is who is not in the table
    "return": ([("cc-", [10, 20, -7])], [("c",), ("c",), ("c",)], [("-cc", [10, 20, -7]), ("c-c", [10, 20, -7])]),
    # A and B of one cell swap their values, and then A leaves: A+B+C, B'+C+D, A+B+D
    "values": (
        [("ccdd", [10, 20, 3, -7])],
        [("cd",), ("cd",), ("c", "d")],
        [("ccdd", [20, 10, 3, -7]), ("-cdd", [20, 10, 3, -7])],
    ),
}


def version(people: People) -> dict[str, list[Any]]:
    """Make the table of who is there."""
    rows = [(who, g, x) for who, g, x in zip("ABCDEFGH", *people, strict=False) if g != "-"]
    return {name: list(column) for name, column in zip(("who", "g", "x"), zip(*rows, strict=True), strict=True)}


@pytest.mark.parametrize("key", [None, "who"])
@pytest.mark.parametrize("change", CHANGES)
def test_who_watches_people_come_and_go_learns_nothing(change: str, key: str | None, ledgers: Ledgers) -> None:
    """Each change is a triangle of sums whose people the watcher knows; with and without a key nobody is solved for."""
    (first,), questions, later = CHANGES[change]
    table = version(first)
    ledger = ledgers(table, "x", "g", key=key)
    watcher = Watcher(ledger)
    assert watcher.ask(table, questions[0][0])
    for cells in questions[0][1:]:
        watcher.ask(table, cells)
    for people, asked in zip(later, questions[1:], strict=True):
        table = version(people)
        ledger.update(pa.table(table))
        for cells in asked:
            watcher.ask(table, cells)
    assert not watcher.learned()


def test_without_a_key_an_update_ends_answers_about_what_was_asked(ledgers: Ledgers) -> None:
    """Columns that nobody was answered about go on, and so do counts; who has the ledger open learns of it at once."""
    table = {"g": list("aaabbb"), "x": [1, 2, 3, 4, 5, -6], "y": [1, 2, 3, 4, 5, -6]}
    ledger = ledgers(table, "x,y", "g")
    assert ledger.ask("select sum(x) where g = 'a'").answered
    other = QueryLedger(ledger._path)
    change = ledger.update(pa.table(table))
    assert (change.came, change.left, change.stayed) == (0, 0, 6)
    assert ledger.closed_columns() == ("x",)
    for one in (ledger, other):
        for figure in ("sum(x)", "max(x)", "avg(x), sum(y)"):
            assert "without a key" in str(one.ask(f"select {figure}").reason)
        assert one.ask("select count(*), count(x)").rows == ((6, 6),)
    assert other.ask("select sum(y) where g = 'a'").rows == ((6,),)
    other.close()
    ledger.update(pa.table(table))
    assert ledger.closed_columns() == ("x", "y")


def test_decisions_after_an_update_without_a_key_do_not_depend_on_values(ledgers: Ledgers) -> None:
    """Two tables with other values, and other changes of values, get the same decisions."""
    rng = np.random.default_rng(7)
    said = []
    for name in ("one.db", "two.db"):
        tables = [{"g": list("aabbccc"), "x": rng.integers(-9, 9, 7)} for _ in range(3)]
        ledger = ledgers(tables[0], "x", "g", name=name)
        outcomes = [ledger.ask("select max(x) where g = 'c'").outcome]
        for table in tables[1:]:
            ledger.update(pa.table(table))
            outcomes += [
                ledger.ask(f"select {what}").outcome for what in ("sum(x)", "min(x) where g = 'b'", "count(x)")
            ]
        said.append(outcomes)
    assert said[0] == said[1] == ["answered", *(2 * ["denied", "denied", "answered"])]


def test_who_is_back_is_who_left(ledgers: Ledgers) -> None:
    """Of three that left in one update and came back in two others, each is protected by what was answered before."""
    table: dict[str, list[Any]] = {"k": list("abcdef"), "g": list("uuuuvv"), "x": [1, 2, 3, 4, 5, -6]}

    def of(people: str) -> pa.Table:
        rows = [at for at, k in enumerate(table["k"]) if str(k) in people]
        return pa.table(table).take(rows)

    ledger = ledgers(table, "x", "g", key="k")
    assert ledger.ask("select sum(x)").rows == ((9,),)
    changes = [ledger.update(of(people)) for people in ("aef", "abef", "abcef", "abcdef")]
    assert [(one.came, one.left, one.stayed) for one in changes] == [(0, 3, 3), (1, 0, 3), (1, 0, 4), (1, 0, 5)]
    assert ledger.ask("select sum(x)").rows == ((9,),)  # it is the same one
    ledger.update(of("abcef"))
    assert ledger.ask("select sum(x)").outcome == "denied"  # d is away again
    again = ledger.update(pa.table(table | {"x": [1, 2, 3, 40, 5, -6]}))
    assert again.came == 1
    assert ledger.ask("select sum(x)").rows == ((45,),)  # with another value
    assert ledger.ask("select sum(x) where g = 'u'").rows == ((46,),)
    assert ledger.ask("select sum(x) where g = 'v'").rows == ((-1,),)
    ledger.update(of("abcef"))
    assert ledger.ask("select sum(x)").outcome == "denied"


@pytest.mark.parametrize(("keys", "words"), [(list("aab"), "2 rows share"), (["a", "b", None], "a row has none")])
def test_a_key_tells_all_rows_apart(keys: list[str | None], words: str, ledgers: Ledgers) -> None:
    """Who of two with one key left could not be told."""
    with pytest.raises(DataError, match=words):
        ledgers({"k": keys, "g": list("ccc"), "x": [1, 2, 3]}, "x", "g", key="k")


TRIANGLE: dict[str, list[Any]] = {"who": [1, 2, 3, 4], "g": list("abcd"), "x": [10, 20, -7, 5], "y": [1, 2, 3, -4]}
REWRITTEN: dict[str, dict[str, list[Any]]] = {
    "numbers": {"x": [10.0, 20.0, -7.0, 5.0]},
    "texts of numbers": {"x": ["10.00", "2e1", "-7.", "5"]},
    "keys": {"who": [1.0, 2.0, 3.0, 4.0]},
    "another protected column": {"y": [2, 3, 4, -5]},
    "what conditions are about": {"g": ["A", "b", "c", "D"]},
}


@pytest.mark.parametrize("change", REWRITTEN)
def test_a_value_is_the_same_however_the_row_is_written(change: str, ledgers: Ledgers) -> None:
    """Sums of a and c, and of a and b, and after the update of b and c, which would give away all three."""
    ledger = ledgers(TRIANGLE, "x,y", "g", key="who")
    for cells in ("('a', 'c')", "('a', 'b')"):
        assert ledger.ask(f"select sum(x) where g in {cells}").answered
    found = ledger.update(pa.table(TRIANGLE | REWRITTEN[change]))
    assert found.changed == {"x": 0, "y": 4 if change == "another protected column" else 0}
    assert ledger.ask("select sum(x) where g in ('b', 'c')").outcome == "denied"
    assert ledger.ask("select sum(x)").rows == ((28,),)
    assert ledger.ask("select sum(y) where g in ('b', 'c')").answered


def test_a_key_that_nobody_had_is_an_error(ledgers: Ledgers) -> None:
    """All would be new, and answers about them new as well."""
    ledger = ledgers(TRIANGLE, "x", "g", key="who")
    with pytest.raises(InputError, match="no row has a 'who' that one had before"):
        ledger.update(pa.table(TRIANGLE | {"who": ["no 1", "no 2", "no 3", "no 4"]}))
    assert ledger.update(pa.table(TRIANGLE)).stayed == 4
    with pytest.raises(DataError, match="2 rows share"):  # 1 and 1.0 are one key
        ledger.update(pa.table(TRIANGLE | {"who": ["1", "1.0", "3", "4"]}))


@pytest.mark.parametrize("seed", range(12))
def test_random_changes_give_nobody_away(seed: int, ledgers: Ledgers) -> None:
    """Six people come, leave, move, and get other values of two columns; all sums are asked after each change."""
    rng = np.random.default_rng(seed)
    people = {who: ["abcd"[rng.integers(4)], int(rng.integers(-9, 9)), int(rng.integers(-9, 9))] for who in "ABCDEF"}
    there = set("ABCDEF")

    def now() -> dict[str, list[Any]]:
        rows = [(who, *people[who]) for who in sorted(there)]
        return {
            name: list(column) for name, column in zip(("who", "g", "x", "y"), zip(*rows, strict=True), strict=True)
        }

    ledger = ledgers(now(), "x,y", "g", key="who")
    watcher = Watcher(ledger)
    answered = 0
    for _ in range(6):
        for number in rng.permutation(np.arange(1, 16))[:6].tolist():
            answered += watcher.ask(now(), "".join(cell for bit, cell in enumerate("abcd") if number >> bit & 1))
        for _ in range(2):
            who = "ABCDEF"[rng.integers(6)]
            match rng.integers(4):
                case 0:
                    there ^= {who} if there != {who} else set()
                case 1:
                    people[who][0] = "abcd"[rng.integers(4)]
                case place:
                    people[who][int(place) - 1] = int(rng.integers(-9, 9))
        ledger.update(pa.table(now()))
    assert answered > 1
    assert not watcher.learned()
