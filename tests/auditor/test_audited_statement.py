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


def test_the_guide_lists_what_is_refused_and_answered() -> None:
    """The table of the guide has a line for each."""
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "auditing.md").read_text(encoding="utf-8")
    for word in (
        "COUNT(*)", "SUM", "AVG", "MAX", "MIN", "MEDIAN", "GROUP BY", "NULL", "division by zero", "HAVING", "ORDER BY",
        "LIMIT", "functions", "subqueries", "JOIN", "UNION", "comments", "1=1",
    ):  # fmt: skip
        assert word.lower() in guide.lower(), word
