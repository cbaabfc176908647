"""The table of the guide: which statements are answered, which are decided, and which are refused."""

from pathlib import Path

import pytest

from sfumato.auditor.audited_statement import StatementRefused, read_statement

from .conftest import Ledgers

ANSWERED = {
    "select count(*)": [[9]],
    "select count(*) from staff": [[9]],
    "SELECT COUNT(*) FROM data WHERE 1 = 1": [[9]],
    "select count(*) where 1 = 2": [[0]],
    "select count(*) where age >= 31": [[5]],
    "select count(*) where age = 30.0 or age between 40 and 50": [[6]],
    "select count(*) where not age >= 31": [[3]],
    "select count(*) where age is null": [[1]],
    "select count(*) where age is not null and dept = 'Law'": [[1]],
    "select count(*) where age = null": [[0]],
    "select count(*) where not (age = 30 and null)": [[5]],
    "select count(*) where dept in ('Sales', 'Law')": [[5]],
    "select count(*) where dept not in ('Sales', 'Law')": [[4]],
    "select count(*) where age not in (30, null)": [[0]],
    "select count(*) where 45 <= age": [[3]],
    "select count(*) where dept <> 'IT' /* comment */ -- and another": [[5]],
    "select count(*) where dept > 'K'": [[5]],
    "select count(*) as people where AGE = 30;": [[3]],
    "select count(age), max(age), min(age), sum(age), avg(age)": [[8, 45, 30, 287, 35.875]],
    "select count(pay), count(age)": [[9, 8]],
    "select dept, count(*) group by dept": [["IT", 4], ["Law", 2], ["Sales", 3]],
    "select age, count(*) group by age order by age desc": [[None, 1], [45, 3], [31, 2], [30, 3]],
    "select age, count(*) group by age order by age nulls first": [[None, 1], [30, 3], [31, 2], [45, 3]],
    "select age, count(*) group by age order by age desc nulls last": [[45, 3], [31, 2], [30, 3], [None, 1]],
    "select count(*) -- so\n; -- and no more": [[9]],
    "select count(*) from staff as s where s.age = 30 and staff.dept = 'IT'": [[1]],
    "select count(*) limit " + "9" * 5000: [[9]],
    "select dept as d, count(*) from staff s group by dept having count(*) > 2 order by d desc limit 1": [["Sales", 3]],
    "select dept, age, count(*) where dept = 'Law' group by dept, age": [["Law", 30, 1], ["Law", None, 1]],
    "select sum(pay) where age = 99": [[None]],
    "select avg(pay), max(pay), count(*) where false": [[None, None, 0]],
}
DECIDED = {
    "select sum(pay)": [[537]],
    "select avg(pay) where dept = 'Sales'": [[170 / 3]],
    "select sum(pay), avg(pay), count(pay) where dept = 'IT'": [[282, 70.5, 4]],
    "select max(pay) where dept = 'Sales'": [[70]],
    "select min(pay) where dept = 'Law'": [[-5]],
    "select dept, avg(pay) group by dept": [["IT", 70.5], ["Law", 42.5], ["Sales", 170 / 3]],
    "select count(*) where illness = 'flu'": [[3]],
    "select count(*) where illness in ('flu', 'HIV', 'pox') and true": [[4]],
}
DENIED = [
    "select sum(pay) where age = 30 and dept = 'Law'",
    "select max(pay) where age = 30 and dept = 'Law'",
    "select age, dept, sum(pay) group by age, dept",
    "select max(pay), min(pay)",
    "select sum(pay), max(pay)",
    "select count(*) where illness = 'flu' and dept = 'IT'",
]
REFUSED = [
    "select median(pay)",
    "select stddev(pay)",
    "select count(distinct pay)",
    "select sum(distinct pay)",
    "select sum(pay) / count(*)",
    "select sum(pay / 0)",
    "select sum(pay * 2)",
    "select sum(1 / (pay - 52))",
    "select round(sum(pay))",
    "select max(pay, 1)",
    "select sum(pay) filter (where dept = 'IT')",
    "select sum(pay) over (partition by dept)",
    "select case when sum(pay) > 1 then 1 end",
    "select sum(case when dept = 'IT' then pay end)",
    "select pay",
    "select *",
    "select distinct dept",
    "select dept group by dept",
    "select 1",
    "select count(*) where pay > 50",
    "select sum(pay) where pay > 50",
    "select count(*) where illness = 'flu' or dept = 'IT'",
    "select count(*) where not illness = 'flu'",
    "select count(*) where illness <> 'flu'",
    "select count(*) where illness is null",
    "select count(*) where illness = 'flu' and illness = 'HIV'",
    "select sum(pay) where illness = 'flu'",
    "select count(*) where illness = dept",
    "select count(*) where pay = pay",
    "select count(*) where age = dept",
    "select count(*) where upper(dept) = 'IT'",
    "select count(*) where dept like 'S%'",
    "select count(*) where age + 1 = 31",
    "select count(*) where age > 'old'",
    "select count(*) where dept > 7",
    "select count(*) where random() < 0.5",
    "select count(*) where dept in (select dept from staff)",
    "select count(*) where exists (select 1)",
    "select sum(pay) where age = (select max(age) from staff)",
    "select sum(pay) from staff, staff",
    "select sum(a.pay) from staff a join staff b on a.dept = b.dept",
    "select sum(pay) from (select * from staff)",
    "select sum(pay) from elsewhere",
    "select sum(pay) from other.staff",
    "select sum(pay) from read_csv('/etc/passwd')",
    "select sum(pay) from '/etc/passwd'",
    "with x as (select 1) select sum(pay)",
    "select sum(pay) union select 1",
    "select sum(pay) intersect select sum(pay)",
    "select sum(pay); select sum(pay)",
    "select dept, sum(pay) group by dept having sum(pay) > 100",
    "select dept, sum(pay) group by dept having max(age) > 40",
    "select dept, sum(pay) group by dept order by sum(pay)",
    "select dept, sum(pay) as s group by dept order by s",
    "select dept, sum(pay) group by dept order by 2",
    "select sum(pay) order by pay limit 1",
    "select pay, count(*) group by pay",
    "select illness, count(*) group by illness",
    "select dept, count(*) group by rollup (dept)",
    "select dept, count(*) group by dept limit 1 offset 1",
    "select sum(pay) limit 1 + 1",
    "select dept, count(*) group by dept limit 50 percent",
    "select dept, count(*) group by dept limit 1 by dept",
    "select dept, count(*) group by dept order by dept with fill",
    "select sum(pay) where elsewhere.age = 30",
    "select sum(main.staff.pay)",
    "select count(*) having " + " and ".join(["count(*) > 1"] * 1000),
    "select sum(wages)",
    "select sum(illness)",
    "select sum(dept)",
    'select sum("Pay")',
    'select count(*) where dept = "IT"',
    "select sum(pay) into x",
    "select sum(pay) for update",
    "select sum(pay) tablesample (10)",
    "select sum(pay) qualify true",
    "select count(*) where 1 = 'a'",
    "select top 1 sum(pay)",
    "insert into staff values (1)",
    "delete from staff",
    "drop table staff",
    "update staff set pay = 1",
    "pragma table_info(staff)",
    "attach 'x.db'",
    "copy staff to 'x.csv'",
    "select",
    "",
    ";",
    "-- nothing",
    "''",
    "select sum(pay) where (((",
    "select count(*) where " + "not " * 3000 + "true",
    "select count(*) where " + "(" * 3000 + "true" + ")" * 3000,
    "select count(*) where age = 30 or " * 800 + "true",
    "select count(*) -- " + "x" * 30_000,
    "select sum(pay\0)",
    "select count(*) where age = 1e999",
]


@pytest.mark.parametrize(("sql", "rows"), ANSWERED.items())
def test_what_everybody_may_know_is_answered(sql: str, rows: list[list[object]], ledgers: Ledgers) -> None:
    """Counts, and figures of the columns of conditions, are answered and count against nothing."""
    ledger = ledgers()
    answer = ledger.ask(sql)
    assert answer.answered, answer.reason
    assert answer.as_json()["rows"] == rows
    assert not ledger._connection.execute("select * from answered").fetchall()  # it counts against nothing


@pytest.mark.parametrize(("sql", "rows"), DECIDED.items())
def test_figures_of_protected_columns_are_decided(sql: str, rows: list[list[object]], ledgers: Ledgers) -> None:
    """On a fresh ledger these give nobody away."""
    answer = ledgers(protect="pay,illness").ask(sql)
    assert answer.answered, answer.reason
    assert answer.as_json()["rows"] == rows


@pytest.mark.parametrize("sql", DENIED)
def test_what_would_give_somebody_away_is_denied(sql: str, ledgers: Ledgers) -> None:
    """These do, or could."""
    answer = ledgers(protect="pay,illness").ask(sql)
    assert answer.outcome == "denied"


def test_whatever_is_not_on_the_list_is_refused(ledgers: Ledgers) -> None:
    """Each with one sentence, and none counts."""
    ledger = ledgers(protect="pay,illness")
    for sql in REFUSED:
        answer = ledger.ask(sql)
        assert answer.outcome == "refused", sql[:80]
        assert answer.reason
        assert len(answer.reason) < 300
        assert "\n" not in answer.reason
    assert len(ledger.history()) == len(REFUSED)
    assert ledger.ask("select sum(pay)").answered  # none of them counts


def test_a_refusal_names_the_way_out(ledgers: Ledgers) -> None:
    """It names the columns and the table that there are."""
    table = ledgers().table
    for sql, words in {
        "select sum(zzz)": "there are 'age', 'dept', 'pay'",
        "select sum(payy)": "did you mean pay?",
        "select sum(pay) from elsewhere": "the only table is 'staff'; FROM can be left out",
        "select sum(pay) where pay > 3": "conditions may be about 'age', 'dept'",
        'select count(*) where dept = "IT"': "a text in single quotes",
    }.items():
        with pytest.raises(StatementRefused) as refusal:
            read_statement(sql, table, "staff")
        assert words in str(refusal.value)


def guide_rows() -> dict[str, str]:
    """Read the table of statements in the guide: what is said of each."""
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "auditing.md").read_text(encoding="utf-8")
    lines = guide.split("| statement | |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    pairs = [line.strip("| ").split(" | ") for line in lines]
    return {row.strip(): said.strip() for row, said in pairs}


GUIDE = r"""
`COUNT(*)`, with conditions and groups on columns of `--on`
  answered select count(*) where age > 30
  answered select dept, count(*) group by dept
`COUNT(age)`, `SUM`, `AVG`, `MAX`, `MIN` of a column of `--on`
  answered select count(age)
  answered select sum(age), avg(age), max(age), min(age) where dept = 'Law'
`COUNT(pay)` of a protected column
  answered select dept, count(pay) group by dept
`SUM(pay)`
  counts   select sum(pay)
  denied   select sum(pay) where age = 30 and dept = 'Law'
`AVG(pay)`
  counts   select avg(pay)
  denied   select avg(pay) where age = 30 and dept = 'Law'
`MAX(pay)`, `MIN(pay)`
  counts   select max(pay)
  counts   select min(pay)
  denied   select min(pay) where age = 30 and dept = 'Law'
`COUNT(*) WHERE illness = 'flu'`, or `IN (…)`, joined by `AND` with conditions on `--on`
  counts   select count(*) where illness = 'flu'
  counts   select count(*) where 'flu' = illness
  counts   select count(*) where illness in ('flu', 'HIV') and dept in ('IT', 'Sales')
  denied   select count(*) where illness = 'flu' and dept = 'Law'
`MEDIAN`, quantiles, deviations and all other aggregates, `DISTINCT`
  refused  select median(pay)
  refused  select quantile_cont(pay, 0.5)
  refused  select stddev(pay)
  refused  select count(distinct pay)
  refused  select percentile_cont(0.5) within group (order by pay)
  refused  select mode(pay)
  refused  select distinct dept
`GROUP BY` columns of `--on`
  counts   select dept, avg(pay) group by dept
  denied   select age, avg(pay) where dept = 'Sales' group by age
`GROUP BY` a protected column
  refused  select pay, count(*) group by pay
`NULL` in a column of `--on`
  answered select count(*) where age is null
  answered select count(*) where age = null
  answered select age, count(*) group by age
`NULL` in a protected column
  answered select sum(pay), avg(pay), max(pay), count(pay) where age = 99
  refused  select count(*) where pay is null
division by zero
  answered select avg(pay) where false
  refused  select sum(pay / 0)
  refused  select sum(pay) / 0
conditions `=`, `<>`, `<`, `<=`, `>`, `>=`, `BETWEEN`, `IN`, `IS NULL`, `AND`, `OR`, `NOT` of a column and constants
  answered select count(*) where age = 30 or age <> 31 and not age < 30
  answered select count(*) where age <= 30 or age > 31
  answered select count(*) where age between 30 and 31 and dept in ('IT') or age is null
  answered select count(*) where age >= 1
  refused  select count(*) where age = dept
conditions on protected columns otherwise: `pay > 50000`, `illness <> 'flu'`, within `OR` or `NOT`
  refused  select count(*) where pay > 50000
  refused  select count(*) where illness <> 'flu'
  refused  select sum(age) where pay = 52
  refused  select count(*) where illness = 'flu' or age = 30
  refused  select count(*) where not illness = 'flu'
`HAVING count(*) > 9`
  counts   select dept, age, sum(pay) group by dept, age having count(*) > 1
  answered select dept, count(*) group by dept having count(*) > 2
`HAVING` of anything else
  refused  select dept, count(*) group by dept having sum(pay) > 9
  refused  select dept, count(*) group by dept having max(age) > 9
`ORDER BY` columns of `GROUP BY`, `LIMIT`
  counts   select dept, sum(pay) group by dept order by dept desc limit 1
  denied   select age, dept, sum(pay) group by age, dept order by age limit 1
`ORDER BY` of protected values, with `LIMIT` or without
  refused  select dept, sum(pay) group by dept order by sum(pay)
  refused  select dept, max(pay) as m group by dept order by m limit 1
  refused  select dept, sum(pay) group by dept order by 2
functions, arithmetic, `CASE`, `LIKE`, windows, `FILTER`
  refused  select round(sum(pay))
  refused  select sum(pay + 1)
  refused  select sum(case when age = 30 then pay end)
  refused  select count(*) where dept like 'S%'
  refused  select sum(pay) over ()
  refused  select sum(pay) filter (where age = 30)
  refused  select sum(cast(pay as int))
  refused  select sum(coalesce(pay, 0))
  refused  select count(*) where dept collate nocase = 'it'
subqueries, `WITH`, `JOIN`, several tables, `UNION` and the like
  refused  select sum(pay) from (select * from staff)
  refused  with x as (select 1) select sum(pay)
  refused  select sum(pay) from staff, staff
  refused  select sum(a.pay) from staff a join staff b on a.age = b.age
  refused  select sum(pay) union select sum(pay)
  refused  select sum(pay) where age in (select age from staff)
  refused  select sum(pay) except select 1
comments; `1=1`
  counts   select /* all */ sum(pay) -- of them\n where 1=1
  denied   select sum(pay) where age = 30 and dept = 'Law' or 1=2
  denied   select sum(pay) where age = 30 and dept = 'Law' -- or 1=1
two statements; anything but `SELECT`
  refused  select sum(pay); select 1
  refused  delete from staff
  refused  copy staff to 'x'
"""
"""Under each row of the guide's table statements: *counts* are answered and recorded, since earlier answers count, and
*answered* are not, as everybody may know them."""


def read_rows() -> dict[str, list[tuple[str, str]]]:
    """Read what is tried of each row."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for line in GUIDE.strip().splitlines():
        if line.startswith("  "):
            outcome, sql = line.split(maxsplit=1)
            rows[list(rows)[-1]].append((outcome, sql.replace(r"\n", "\n")))
        else:
            rows[line] = []
    longest = [
        "select count(*) where age = 1 -- " + "x" * 20_000,
        "select " + "age, " * 2_499 + "count(*) group by age, dept",
    ]
    rows["more than 20,000 characters, or 20,000 figures in an answer"] = [("refused", sql) for sql in longest]
    return rows


def test_the_table_of_the_guide_is_complete() -> None:
    """Each of its rows is tried below, and nothing else; what it says of a row is tried at least once."""
    said, tried = guide_rows(), read_rows()
    assert list(said) == list(tried)
    for row, statements in tried.items():
        outcomes = {outcome for outcome, _ in statements}
        for word, outcome in (
            ("decided", "counts"),
            ("decided", "denied"),
            ("answered", "answered"),
            ("refused", "refused"),
        ):
            assert not said[row].startswith(word) or outcome in outcomes, row


@pytest.mark.parametrize("row", read_rows())
def test_a_row_of_the_guide_is_true(row: str, ledgers: Ledgers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement on a ledger of its own; what is known to everybody counts against nothing."""
    monkeypatch.setattr("sfumato.auditor.query_ledger.MOST_ANSWERED", 10_000)
    for number, (outcome, sql) in enumerate(read_rows()[row]):
        ledger = ledgers(protect="pay,illness", name=f"{number}.db")
        answer = ledger.ask(sql)
        assert (sql, answer.outcome) == (sql, "answered" if outcome == "counts" else outcome), answer.reason
        recorded = ledger._connection.execute("select count(*) from answered").fetchone()[0]
        assert bool(recorded) == (outcome == "counts"), sql


def test_numbers_are_one_group_however_they_are_written(ledgers: Ledgers) -> None:
    """As in SQL, of columns that hold numbers alone; texts that look alike are several."""
    ledger = ledgers({"a": ["40", "40.0", "4e1", "9", None], "x": [1, 2, 4, 8, -16]}, "x", "a")
    assert ledger.ask("select a, count(*) group by a").rows == ((9, 1), (40, 3), (None, 1))
    assert ledger.ask("select a, sum(x) group by a having count(*) > 2").rows == ((40, 7),)
    texts = ledgers({"a": ["40", "40.0", "x"], "x": [1, 2, -3]}, "x", "a", name="texts.db")
    assert texts.ask("select a, count(*) group by a order by a desc").rows == (("x", 1), ("40.0", 1), ("40", 1))


def test_the_longest_lists_are_compared_at_once(ledgers: Ledgers) -> None:
    """As many values as a statement holds, beside as many as there may be cells; others wait meanwhile."""
    ledger = ledgers({"a": list(range(2000)), "x": [-1] * 2000}, "x", "a")
    longest = ",".join(str(number) for number in range(1000, 5000))[:19_900].rpartition(",")[0]
    assert ledger.ask(f"select count(*) where a in ({longest})").rows == ((1000,),)
    assert ledger.ask("select " + "sum(x)," * 2_800 + "max(a)").rows == ((-2000,) * 2_800 + (1999,),)
    assert "would have 22,000 figures" in str(ledger.ask("select " + "avg(a)," * 10 + "a group by a").reason)
