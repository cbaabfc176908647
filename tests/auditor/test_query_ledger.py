"""The ledger: one history for all, nothing answered that is not recorded, updates, and files that are none."""

import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import pyarrow as pa
import pytest

from sfumato.auditor.audited_table import MOST_CELLS
from sfumato.auditor.query_ledger import AuditSettings, QueryLedger
from sfumato.errors import Infeasible, InputError, OutputError

from .conftest import STAFF, Ledgers


def test_users_share_one_history(ledgers: Ledgers) -> None:
    """What one is told counts for all."""
    ledger = ledgers()
    assert ledger.ask("select sum(pay)", "ann").answered
    assert ledger.ask("select sum(pay) where dept = 'Law'", "bob").answered
    but_one = "select sum(pay) where not (dept = 'Law' and age = 30)"
    assert ledger.ask(but_one, "eve").outcome == "answered"  # the row without an age is neither
    assert not ledger.ask("select sum(pay) where dept = 'Law' and age is null", "eve").answered
    assert [one["user"] for one in ledger.history()] == ["ann", "bob", "eve", "eve"]
    assert [one["outcome"] for one in ledger.history("eve")] == ["answered", "denied"]
    assert ledger.history("ann")[0]["rows"] == [[537]]
    assert len(ledger.history(last=2)) == 2


def test_a_ledger_is_its_owners_alone_and_is_never_replaced(ledgers: Ledgers, tmp_path: Path) -> None:
    """And nothing is left of one that cannot be made."""
    ledgers()
    assert stat.S_IMODE((tmp_path / "audit.db").stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="there already"):
        ledgers()
    with pytest.raises(OutputError, match="cannot be made"):
        ledgers(name="missing/audit.db")
    assert {file.name for file in tmp_path.iterdir()} <= {"audit.db", "audit.db-wal", "audit.db-shm"}


def test_decisions_depend_on_queries_and_earlier_answers_alone(ledgers: Ledgers) -> None:
    """Two tables that answer alike, one of equal values and one of different ones, get the same decisions."""
    one = {"id": list("abcdef"), "x": [4, 4, 4, 4, 4, 4]}
    other = {"id": list("abcdef"), "x": [4, 3, 5, 2, 6, 4]}
    first, second = (ledgers(data, "x", "id", name=f"{place}.db") for place, data in enumerate((one, other)))
    pairs = [
        f"select sum(x) where id in ({', '.join(ids)})" for ids in (["'a'", "'f'"], ["'b'", "'c'"], ["'d'", "'e'"])
    ]
    asked = [*pairs, "select sum(x)", "select sum(x) where id > 'a'", "select sum(x) where id = 'a'"]
    asked += ["select max(x) where id in ('a', 'b')", "select sum(x) where id in ('a', 'b', 'c', 'f')"]
    for sql in asked:
        said, heard = first.ask(sql), second.ask(sql)
        assert said.as_json() == heard.as_json()  # the tables were made to answer alike; and so they are decided alike
    assert {said["outcome"] for said in first.history()} == {"answered", "denied"}


def test_a_denial_takes_the_same_work_whatever_the_values(ledgers: Ledgers) -> None:
    """Two tables of the same people with other values, and the same denials: the auditor makes the same calls."""
    made: list[list[str]] = []
    for place, values in enumerate(([7, 7, 7, 7], [1, 9, 2, 5])):
        ledger = ledgers({"id": list("abcd"), "x": values}, "x", "id", name=f"{place}.db")
        assert ledger.ask("select sum(x)").answered
        calls = list[str]()

        def note(frame: FrameType, event: str, _: object, calls: list[str] = calls) -> None:
            if event == "call" and "sfumato" in frame.f_globals.get("__name__", ""):
                calls.append(frame.f_code.co_qualname)

        sys.setprofile(note)
        try:
            asked = [ledger.ask(f"select {what} where id in ('a', 'b', 'c')") for what in ("sum(x)", "avg(x)")]
        finally:
            sys.setprofile(None)
        assert not any(answer.answered for answer in asked)
        made.append(calls)
    assert made[0]
    assert made[0] == made[1]


def test_the_true_answer_does_not_decide(ledgers: Ledgers) -> None:
    """Two tables with the same answers so far; the next one discloses in one of them. Both are denied, or neither."""
    equal = ledgers({"id": list("abc"), "x": [7, 7, 7]}, "x", "id", name="equal.db")
    different = ledgers({"id": list("abc"), "x": [7, 1, 2]}, "x", "id", name="different.db")
    for ledger in (equal, different):
        assert ledger.ask("select max(x)").answered
    pair = "select max(x) where id in ('b', 'c')"  # a lower one gives the 7 to a
    assert equal.ask(pair).as_json() == different.ask(pair).as_json()
    low = "select min(x)"
    assert equal.ask(low).as_json() == different.ask(low).as_json()
    assert not equal.ask(low).answered


def test_a_group_that_is_denied_denies_all(ledgers: Ledgers) -> None:
    """Each group is a query of its own."""
    ledger = ledgers()
    assert ledger.ask("select age, sum(pay) group by age").outcome == "denied"  # nobody else has no age
    assert ledger.ask("select age, sum(pay) group by age having count(*) > 1").answered
    assert ledger.ask("select dept, max(pay) group by dept").outcome == "denied"  # sums of the same rows were answered


def test_missing_values_are_no_part_of_an_answer(ledgers: Ledgers) -> None:
    """They are known to be missing, so one value among them is one value."""
    ledger = ledgers({"g": ["a", "a", "a", "b", "b", "c"], "x": [1, 2, None, None, -9, None]}, "x", "g")
    assert ledger.ask("select g, count(*), count(x) group by g").rows == (("a", 3, 2), ("b", 2, 1), ("c", 1, 0))
    assert ledger.ask("select sum(x), avg(x) where g = 'a'").rows == ((3, 1.5),)
    assert ledger.ask("select sum(x) where g = 'b'").outcome == "denied"  # one value
    assert ledger.ask("select sum(x), avg(x), max(x), count(x) where g = 'c'").rows == ((None, None, None, 0),)


def test_zeros_and_ones_are_answered_for_groups_alone(ledgers: Ledgers) -> None:
    """Five rows at least, and five in every difference."""
    ward = ["a"] * 6 + ["b"] * 6 + ["c"] * 4
    ledger = ledgers({"ward": ward, "ill": [0, 1] * 8}, "ill", "ward")
    assert ledger.ask("select sum(ill) where ward = 'a'").rows == ((3,),)
    assert ledger.ask("select count(*) where ill = 1 and ward = 'a'").rows == ((3,),)
    assert ledger.ask("select sum(ill) where ward in ('a', 'b')").answered
    assert "fewer than 5 rows" in str(ledger.ask("select sum(ill) where ward = 'c'").reason)
    assert "would tell this set" in str(ledger.ask("select sum(ill)").reason)  # the four of c apart
    assert ledger.ask("select count(*) where ill = 7").outcome == "denied"


def test_rules_on_sets(ledgers: Ledgers) -> None:
    """A least size, and a largest overlap."""
    sizes = ledgers(min_size=3, name="sizes.db")
    assert not sizes.ask("select sum(pay) where age = 31").answered
    assert sizes.ask("select sum(pay) where dept = 'IT'").answered
    assert not sizes.ask("select sum(pay) where age is null or age >= 31").answered  # Sales of 31: one row apart
    overlap = ledgers(max_overlap=1, name="overlap.db")
    assert overlap.ask("select sum(pay) where dept = 'IT'").answered
    assert overlap.ask("select sum(pay) where dept = 'IT'").answered
    assert overlap.ask("select sum(pay) where age = 30").answered  # one of IT is 30
    assert "more than 1 rows in common" in str(overlap.ask("select sum(pay) where age = 45").reason)


def test_figures_that_are_not_answered_at_all(ledgers: Ledgers) -> None:
    """A ledger for sums alone refuses maxima, and loses no sum to them."""
    ledger = ledgers(figures=("sum",))
    assert ledger.ask("select max(pay)").outcome == "refused"
    assert ledger.ask("select avg(pay), max(age)").answered


def test_bounds_and_intervals(ledgers: Ledgers) -> None:
    """An interval is kept without bounds; with them, nothing could be answered."""
    wide = ledgers(interval=1000.0, name="interval.db")
    assert wide.ask("select sum(pay) where dept = 'IT'").answered
    assert not wide.ask("select min(pay), max(pay)").answered
    with pytest.raises(Infeasible, match="leave --interval out"):
        ledgers(interval=10.0, bounds={"pay": ("-10", None)}, name="no.db")
    with pytest.raises(Infeasible, match="leave --interval out"):
        ledgers(interval=10.0, protect="pay,illness", name="no.db")
    with pytest.raises(InputError, match="beyond the bounds"):
        ledgers(bounds={"pay": ("0", None)}, name="no.db")
    bounded = ledgers(bounds={"pay": ("-10", None)}, name="bounded.db")
    assert not bounded.ask("select sum(pay) where dept = 'IT'").answered  # four rows
    assert bounded.ask("select sum(pay)").answered


def test_rows_that_come_and_go_are_kept_track_of(ledgers: Ledgers, tmp_path: Path) -> None:
    """The difference of a sum before and after is who left."""
    staff = STAFF | {"who": list("abcdefghi")}
    ledger = ledgers(staff, key="who")
    assert ledger.ask("select sum(pay) where dept = 'IT'").rows == ((282,),)
    left = {name: [*cells[:5], *cells[6:]] for name, cells in staff.items()}  # one of the two of 45 in IT leaves
    change = ledger.update(pa.table(left))
    assert (change.came, change.left, change.stayed) == (0, 1, 8)
    assert ledger.ask("select count(*) where dept = 'IT'").rows == ((3,),)
    assert ledger.ask("select sum(pay) where dept = 'IT'").outcome == "denied"  # the difference is who left
    pia = {"who": "p", "age": "45", "dept": "IT", "pay": 77, "illness": "flu"}
    came = {name: [*cells, pia[name]] for name, cells in left.items()}
    change = ledger.update(pa.table(came))
    assert (change.came, change.left, change.stayed) == (1, 0, 8)
    assert ledger.ask("select sum(pay) where dept = 'IT'").rows == ((279,),)  # one left and one came: neither is known
    again = QueryLedger(tmp_path / "audit.db")  # and all of it is in the file
    assert again.ask("select sum(pay) where dept = 'IT'").answered
    assert again.ask("select sum(pay)").rows == ((534,),)
    back = again.update(pa.table(left))
    assert (back.came, back.left) == (0, 1)
    assert again.ask("select sum(pay)").outcome == "denied"  # it would tell who came and left again
    again.close()
    assert ledger.ask("select count(*)").rows == ((8,),)  # who had it open sees the new table
    assert [one["outcome"] for one in ledger.history()].count("updated") == 3


def test_a_value_that_changed_is_another_one(ledgers: Ledgers) -> None:
    """The old one stays protected, and the new one is."""
    before = {"id": list("abc"), "x": [1, 2, -3]}
    ledger = ledgers(before, "x", "id", key="id")
    assert ledger.ask("select sum(x)").answered
    assert ledger.update(pa.table(before | {"x": [1, 2, 40]})).came == 1
    assert ledger.ask("select sum(x)").answered  # of the two that changed neither is known, only their difference
    assert ledger.ask("select sum(x) where id < 'c'").outcome == "denied"  # it would tell both


def test_a_key_tells_equal_rows_apart(ledgers: Ledgers) -> None:
    """Without one, equal rows are the same row."""
    before = {"g": ["a", "a"], "x": [5, -1], "k": ["1", "2"]}
    by_key = ledgers(before, "x", "g", key="k", name="key.db")
    assert by_key.update(pa.table(before | {"k": ["1", "3"]})).came == 1
    without = ledgers(before, "x", "g", name="none.db")
    assert without.update(pa.table(before | {"k": ["1", "3"]})).came == 0


def test_a_ledger_opens_as_it_was_left(ledgers: Ledgers, tmp_path: Path) -> None:
    """More answers than are replayed: snapshots are kept, and a ledger that is opened anew decides as the old one."""
    count = 60
    data = {"id": [str(n) for n in range(count)], "x": [(-1) ** n * n for n in range(count)]}
    ledger = ledgers(data, "x", "id")
    for start in range(count - 3):
        assert ledger.ask(f"select sum(x) where id between {start} and {start + 2}").answered == (start < count)
    again = QueryLedger(tmp_path / "audit.db")
    for sql in (
        "select sum(x)",
        "select sum(x) where id between 0 and 3",
        "select sum(x) where id <= 1",
        "select max(x)",
    ):
        assert again.ask(sql).as_json() == ledger.ask(sql).as_json()
    assert again._audits["x"].sums.rank == ledger._audits["x"].sums.rank
    again.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from sfumato.auditor import query_ledger
class Dying(query_ledger.QueryLedger):
    def _replay(self, query, answer):
        os.kill(os.getpid(), signal.SIGKILL)
ledger = Dying(Path(sys.argv[1]))
print(ledger.ask("select sum(pay) where dept = 'IT'").rows, flush=True)
"""


@pytest.mark.slow
def test_a_kill_between_decision_and_answer_leaves_it_recorded(ledgers: Ledgers, tmp_path: Path) -> None:
    """Nobody heard the answer, and it counts."""
    ledger = ledgers()
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "audit.db"], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == b""
    assert [one["outcome"] for one in ledger.history()] == ["answered"]
    assert not ledger.ask("select sum(pay) where dept = 'IT' and not age = 31").answered  # it counts


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_no_answer(ledgers: Ledgers, tmp_path: Path) -> None:
    """Whatever was heard is in the ledger."""
    data = {"id": [str(n) for n in range(300)], "x": [(-1) ** n * n for n in range(300)]}
    ledger = ledgers(data, "x", "id")
    script = """
import sys
from pathlib import Path
from sfumato.auditor.query_ledger import QueryLedger
ledger = QueryLedger(Path(sys.argv[1]))
print("ready", flush=True)
for n in range(200):
    if ledger.ask(f"select sum(x) where id between {n} and {n + 4}", sys.argv[2]).answered:
        print(n, flush=True)
"""
    for attempt in range(3):
        command = [sys.executable, "-c", script, str(tmp_path / "audit.db"), str(attempt)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.03 + 0.07 * attempt)
            process.kill()
            heard = process.stdout.read().split()
        recorded = [one["sql"] for one in ledger.history(str(attempt)) if one["outcome"] == "answered"]
        assert {f"select sum(x) where id between {n} and {int(n) + 4}" for n in heard} <= set(recorded)


@pytest.mark.slow
def test_processes_take_turns(ledgers: Ledgers, tmp_path: Path) -> None:
    """Two sums that together disclose are asked at the same moment by different processes: one is answered."""
    ledger = ledgers()
    script = """
import sys
from pathlib import Path
from sfumato.auditor.query_ledger import QueryLedger
ledger = QueryLedger(Path(sys.argv[1]))
sys.stdin.readline()
print(ledger.ask(sys.argv[2]).answered)
"""
    asked = ["select sum(pay) where dept = 'IT'", "select sum(pay) where dept = 'IT' and not age = 31"]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "audit.db"), sql],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for sql in asked
    ]
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda process: process.communicate(b"\n", timeout=60)[0].strip(), processes))
    assert sorted(said) == [b"False", b"True"]
    assert sorted(one["outcome"] for one in ledger.history()) == ["answered", "denied"]


def test_tables_that_cannot_be_audited(ledgers: Ledgers) -> None:
    """One sentence each, with the way out."""
    many = {"id": list(range(MOST_CELLS + 1)), "x": [1.5] * (MOST_CELLS + 1)}
    with pytest.raises(InputError, match="2,001 cells in the table, and at most 2,000 are audited"):
        ledgers(many, "x", "id")
    with pytest.raises(InputError, match="no column 'wage'"):
        ledgers(protect="wage")
    with pytest.raises(InputError, match="named twice"):
        ledgers(protect="age", on="age")
    with pytest.raises(InputError, match="has no value at all"):
        ledgers({"g": ["a", "b"], "x": pa.array([None, None], pa.int64())}, "x", "g")
    with pytest.raises(InputError, match="different values and is not of numbers alone"):
        ledgers({"g": ["a"] * 300, "x": [f"v{n}" for n in range(300)]}, "x", "g")


def test_numbers_are_exact_however_they_are_written(ledgers: Ledgers) -> None:
    """No float adds them up."""
    texts = ["0.1", "0.20", "1e2", "-7", " 3 ", "99999999999999999999"]
    ledger = ledgers({"g": list("aabbcc"), "x": texts}, "x", "g")
    assert ledger.ask("select sum(x) where g in ('a', 'b')").rows == ((93.3,),)
    assert ledger.ask("select sum(x) where g = 'c'").rows == ((100000000000000000002,),)


@pytest.mark.parametrize("content", [b"", b"no ledger", b"SQLite format 3\0" + bytes(2000)])
def test_files_that_are_no_ledger(content: bytes, tmp_path: Path) -> None:
    """Nothing is made of them, and nothing is changed."""
    file = tmp_path / "audit.db"
    file.write_bytes(content)
    with pytest.raises(InputError, match="is no ledger of queries"):
        QueryLedger(file)
    with pytest.raises(InputError, match="does not exist"):
        QueryLedger(tmp_path / "none.db")


def test_a_database_of_somebody_else_is_no_ledger(tmp_path: Path) -> None:
    """Even with a table of the same name."""
    import sqlite3

    file = tmp_path / "other.db"
    with sqlite3.connect(file) as other:
        other.execute("create table meta (key text, value text)")
    other.close()
    with pytest.raises(InputError, match="is no ledger of queries"):
        QueryLedger(file)


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_files_of_all_kinds(kind: str, tmp_path: Path) -> None:
    """Read as all tables are."""
    import duckdb

    staff, file = pa.table(STAFF), tmp_path / f"staff.{kind}"
    with duckdb.connect(file if kind == "duckdb" else ":memory:") as database:
        database.register("given", staff)
        if kind == "duckdb":
            database.execute("create table staff as select * from given")
        else:
            database.execute(f"copy given to '{file}'")
    settings = AuditSettings(("pay",), ("age", "dept"), options={"table": "staff"} if kind == "duckdb" else {})
    ledger = QueryLedger.create(tmp_path / "audit.db", str(file), settings)
    assert ledger.ask("select sum(pay), count(*) where age >= 31 or age is null").rows == ((334, 6),)
    assert ledger.update(str(file)).stayed == 9
    ledger.close()


def test_no_value_of_a_larger_cell_is_in_the_file(tmp_path: Path) -> None:
    """Sums are, and of cells of one row they are values; of other rows, only hashes under a key that is drawn anew."""
    data = pa.table({"g": ["a"] * 3, "x": [-1234567, 7654321, 424242]})
    for name in ("one.db", "two.db"):
        QueryLedger.create(tmp_path / name, data, AuditSettings(("x",), ("g",))).close()
    content = (tmp_path / "one.db").read_bytes()
    assert str(-1234567 + 7654321 + 424242).encode() in content
    assert b"424242" not in content
    assert b"1234567" not in content
    assert content != (tmp_path / "two.db").read_bytes()


def test_a_row_with_a_key_is_followed_into_another_cell(ledgers: Ledgers) -> None:
    """Three people change places, and the sums of the three pairs give all away if it is known who they are."""
    table = {"k": list("abc"), "g": ["u", "u", "w"], "x": [1, 2, -3]}
    ledger = ledgers(table, "x", "g", key="k")
    assert ledger.ask("select sum(x) where g = 'u'").rows == ((3,),)
    change = ledger.update(pa.table(table | {"g": ["w", "u", "w"]}))
    assert (change.came, change.left) == (0, 0)
    assert ledger.ask("select sum(x) where g = 'w'").rows == ((-2,),)
    ledger.update(pa.table(table | {"g": ["u", "w", "w"]}))
    assert ledger.ask("select sum(x) where g = 'w'").outcome == "denied"


def test_a_block_is_parted_in_many(ledgers: Ledgers) -> None:
    """Of six in a cell, one stays, three go to other cells and two leave; and one comes back, as somebody else."""
    before = {"k": list("abcdef"), "g": ["u"] * 6, "x": [1, 2, 3, 4, 5, -6]}
    ledger = ledgers(before, "x", "g", key="k")
    assert ledger.ask("select sum(x)").rows == ((9,),)
    change = ledger.update(pa.table({"k": list("abcd"), "g": ["u", "v", "w", "w"], "x": [1, 2, 3, 4]}))
    assert (change.came, change.left, change.stayed) == (0, 2, 4)
    assert ledger._audits["x"].rows.tolist() == [2, 1, 1, 2]
    assert ledger.ask("select g, count(*), count(x) group by g").rows == (("u", 1, 1), ("v", 1, 1), ("w", 2, 2))
    assert ledger.ask("select sum(x) where g in ('u', 'v')").rows == ((3,),)
    assert ledger.ask("select sum(x) where g in ('v', 'w')").rows == ((9,),)
    assert ledger.ask("select sum(x) where g = 'w'").outcome == "denied"  # then v would be known
    came = {"k": list("abcdf"), "g": ["u", "v", "w", "w", "u"], "x": [1, 2, 3, 4, 7]}
    assert ledger.update(pa.table(came)).came == 1
    assert ledger.ask("select sum(x)").rows == ((17,),)
    assert ledger.ask("select sum(x) where g <> 'u'").rows == ((9,),)
    assert ledger.ask("select sum(x) where g = 'w'").outcome == "denied"


def test_a_part_without_a_value_is_known_to_be_nothing(ledgers: Ledgers) -> None:
    """Of two in a cell one has no value; when that one leaves, the other's value stays as protected as it was."""
    before = {"k": list("pqrs"), "g": ["a", "a", "b", "b"], "x": [5, None, 1, -2]}
    after = {"k": list("prs"), "g": ["a", "b", "b"], "x": [5, 1, -2]}
    ledger = ledgers(before, "x", "g", key="k")
    assert ledger.ask("select sum(x)").answered
    assert ledger.ask("select sum(x) where g = 'b'").outcome == "denied"
    ledger.update(pa.table(after))
    assert ledger.ask("select sum(x) where g = 'b'").outcome == "denied"
    high = ledgers(before, "x", "g", key="k", name="high.db")
    assert high.ask("select max(x)").answered
    high.update(pa.table(after))
    assert high.ask("select max(x) where g = 'b'").outcome == "denied"
