"""Queries over generalized releases that the library makes itself, compared with counting the published cells."""

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.datasets import hospital, hospital_policy
from sfumato.errors import InputError
from sfumato.policy import load
from sfumato.queries import OpenRelease, open_release
from sfumato.release import prepare

Saves = Callable[..., Path]
Rules = Callable[..., dict[str, Any]]


def rows(folder: Path) -> list[dict[str, str]]:
    """The published rows as any program reads them."""
    return list(csv.DictReader(io.StringIO((folder / "public" / "table.csv").read_text(encoding="utf-8"))))


def figure(release: OpenRelease, text: str, **how: Any) -> tuple[float | None, float | None]:
    """The first figure of the first group."""
    value = next(iter(release.query(text, **how)[0].values.values()))
    return value.estimate, value.spread


@pytest.fixture(scope="module", params=["auto", "optimal"])
def visits(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hospital's table, published by a local and by a full-domain algorithm."""
    policy = load(hospital_policy()).replace(algorithm=request.param)
    return prepare(hospital(600), policy).save(tmp_path_factory.mktemp("hospital") / "release")


@pytest.fixture
def release(visits: Path) -> Iterator[OpenRelease]:
    """It is opened."""
    with open_release(visits) as opened:
        yield opened


def share(label: str, low: int, high: int) -> float:
    """The share of an age label's years that lie between two ages, within the declared domain of 0 to 119."""
    first, _, last = label.partition("-")
    ages = range(120) if label == "*" else range(int(first), int(last or first) + 1)
    return sum(low <= age <= high for age in ages) / len(ages)


def test_counts_are_shares_of_labels(visits: Path, release: OpenRelease) -> None:
    """A row counts by the share of its label that meets the condition; rows being independent, variances add up."""
    shares = [share(row["age"], 33, 47) for row in rows(visits) if row["illness"] in {"flu", "ulcer"}]
    assert 0 < sum(shares) < len(shares)
    estimate, error = figure(release, "select count(*) where age between 33 and 47 and illness in ('flu', 'ulcer')")
    assert estimate == pytest.approx(sum(shares))
    assert error == pytest.approx(math.sqrt(sum(p * (1 - p) for p in shares)))


def test_what_is_published_as_it_is_is_exact(visits: Path, release: OpenRelease) -> None:
    """Sensitive and plain columns are counted without error, and so are all rows."""
    published = rows(visits)
    assert figure(release, "select count(*)") == (len(published), 0.0)
    for illness in {row["illness"] for row in published}:
        expected = sum(row["illness"] == illness for row in published)
        assert figure(release, f"select count(*) where illness = '{illness}'") == (expected, 0.0)


@pytest.mark.parametrize("column", ["age", "job", "sex", "illness"])
def test_groups_add_up(release: OpenRelease, column: str) -> None:
    """Whatever a release is grouped by, expected counts add up to its rows, and groups come in order."""
    answers = release.query(f"select {column}, count(*) group by {column}")
    total = sum(answer.values["count(*)"].estimate or 0 for answer in answers)
    assert total == pytest.approx(figure(release, "select count(*)")[0])
    groups = [answer.group[column] for answer in answers]
    assert groups == sorted(groups)
    assert len(set(groups)) == len(groups) > 1


def test_groups_agree_with_conditions(release: OpenRelease) -> None:
    """A group's figures are those of the condition that picks it out."""
    by_job = release.query("select job, count(*), avg(age) where illness <> 'flu' group by job")
    for answer in by_job:
        alone = release.query(f"select count(*), avg(age) where illness <> 'flu' and job = '{answer.group['job']}'")
        for name, value in answer.values.items():
            assert value.estimate == pytest.approx(alone[0].values[name].estimate)
            assert value.spread == pytest.approx(alone[0].values[name].spread)


def test_the_error_of_a_count_is_that_of_its_labels(release: OpenRelease) -> None:
    """What else is asked for, and a condition that every row meets, do not change the standard error of a count."""
    asked = "count(*) where age between 33 and 47"
    alone = release.query(f"select {asked}")[0].values["count(*)"].standard_error
    assert alone
    for others in ("avg(nights), avg(age)", "count(job), count(admitted)"):
        beside = release.query(f"select {others}, {asked}")[0].values["count(*)"].standard_error
        assert beside == pytest.approx(alone)
    for more in ("job <> 'nobody has this'", "admitted > '1900-01-01'", "sex in ('f', 'm')", "illness is not null"):
        narrower = release.query(f"select {asked} and {more}")[0].values["count(*)"].standard_error
        assert narrower == pytest.approx(alone), more


def test_both_forms_agree(release: OpenRelease) -> None:
    """Looking columns up one by one gives what all combinations of their values give."""
    apart = release.query("select count(*), avg(age), sum(age) where age > 33 and job = 'nurse'")
    tied = release.query(
        "select count(*), avg(age), sum(age) where (age > 33 and job = 'nurse') or (job = 'nurse' and age > 33)"
    )
    assert "p0_0" not in apart.sql
    assert "p0_0" in tied.sql
    for name, value in apart[0].values.items():
        assert value.estimate == pytest.approx(tied[0].values[name].estimate)
        assert value.spread == pytest.approx(tied[0].values[name].spread)


def test_paper_counts_what_may_be_meant(visits: Path, release: OpenRelease) -> None:
    """The paper's estimate counts a row fully where its label has a value that meets the condition."""
    may = [row for row in rows(visits) if row["illness"] == "flu" and share(row["age"], 33, 47) > 0]
    text = "select count(*) where age between 33 and 47 and illness = 'flu'"
    assert figure(release, text, estimate="paper") == (len(may), None)
    assert (figure(release, text)[0] or 0) <= len(may)
    apart = figure(release, "select count(*) where age >= 33 and age <= 47 and illness = 'flu'", estimate="paper")
    assert apart == (len(may), None)
    with pytest.raises(InputError, match="the paper's estimate has no number for a label"):
        release.query("select avg(age)", estimate="paper")


def test_explained_statements_run(release: OpenRelease) -> None:
    """What is explained is what runs: the statement gives the same lines again."""
    for estimate in ("expected", "paper"):
        answers = release.query("select sex, count(*) where age < 50 or job = 'nurse' group by sex", estimate=estimate)
        lines = release.tables.connection.execute(answers.sql).fetchall()
        assert [line[0] for line in lines] == [answer.group["sex"] for answer in answers]
        expected = [answer.values["count(*)"].estimate for answer in answers]
        assert [line[1] for line in lines] == pytest.approx(expected)


def test_columns_that_cannot_be_understood(release: OpenRelease) -> None:
    """A mask of which the column shows no value is refused, with what would help; other columns are answered."""
    with pytest.raises(InputError) as refused:
        release.query("select count(*) where zip = '4350'")
    assert str(refused.value).startswith("column 'zip' holds '4")
    assert "nothing in the release says what that stands for; ask about other columns" in str(refused.value)


# kinds of columns ---------------------------------------------------------------------------------------------------


@pytest.fixture
def made(rules: Rules, saves: Saves) -> Iterator[Callable[..., OpenRelease]]:
    """Publishes one quasi-identifier with a sensitive column, and opens the release."""
    opened = []

    def make(values: list[Any], hierarchy: Any, *, k: int = 4, **tables: Any) -> OpenRelease:
        ill = ["flu", "cold", "HIV", "ulcer"]
        table = pa.table({"x": values, "ill": [ill[row % 4] for row in range(len(values))]})
        columns = {"x": {"role": "quasi", "hierarchy": hierarchy}, "ill": "sensitive"}
        opened.append(open_release(saves(table, rules(columns, k=k, **tables))))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_intervals(made: Callable[..., OpenRelease], form: str) -> None:
    """Bins of the policy stand for their whole numbers, within the domain that it declares."""
    ages = [str(age) for age in range(20, 40)]
    hierarchy = {"intervals": [10], "domain": [0, 99], "top": 30}
    release = made(ages, hierarchy, algorithm={"name": "optimal"}, publish={"format": form})
    assert figure(release, "select count(*) where x < 25") == (5.0, math.sqrt(2.5))
    assert figure(release, "select avg(x) where x >= 30")[0] == pytest.approx(64.5)


def test_chosen_ranges(made: Callable[..., OpenRelease]) -> None:
    """Ranges that the algorithm chose cover all rows, each within the declared domain."""
    numbers = [str(number * number) for number in range(40)]
    release = made(numbers, {"ranges": True, "domain": [0, 2000]}, algorithm={"name": "mondrian"})
    assert figure(release, "select count(*) where x between 0 and 2000")[0] == pytest.approx(40)
    estimate, error = figure(release, "select avg(x)")
    assert estimate == pytest.approx(sum(map(int, numbers)) / 40, rel=0.2)
    assert error is not None
    assert error > 0


def test_an_end_that_nobody_has_is_within_two_errors(made: Callable[..., OpenRelease]) -> None:
    """Codes of 1 to 3 in a domain from 0 on, as a policy may round it: two errors reach the truth, all rows."""
    for codes in ("1" * 700 + "2" * 200 + "3" * 100, "123" * 500):
        release = made(list(codes), {"ranges": True, "domain": [0, 3]}, algorithm={"name": "mondrian"})
        value = release.query("select count(*) where x >= 1")[0].values["count(*)"]
        assert value.estimate is not None
        assert value.standard_error is not None
        assert value.estimate < len(codes) <= value.estimate + 2 * value.standard_error


def test_real_ranges_cannot_be_grouped_by(made: Callable[..., OpenRelease]) -> None:
    """Boxes of real numbers are asked about by conditions; grouping by them would show points that nobody has."""
    release = made([f"{number / 8}" for number in range(40)], {"ranges": True}, publish={"ranges": "boxes"})
    assert figure(release, "select count(*) where x < 2.5")[0] == pytest.approx(20, abs=2)
    with pytest.raises(InputError, match="ranges of more numbers than can be told apart"):
        release.query("select x, count(*) group by x")


def test_open_ranges_without_a_domain(made: Callable[..., OpenRelease]) -> None:
    """Without a domain nothing says how far the outermost ranges reach, and the column cannot be asked about."""
    release = made([str(number) for number in range(40)], {"ranges": True}, algorithm={"name": "mondrian"})
    assert figure(release, "select count(*) where ill = 'flu'") == (10.0, 0.0)
    with pytest.raises(InputError, match="by the domain of its numbers"):
        release.query("select avg(x)")


def test_means(made: Callable[..., OpenRelease]) -> None:
    """A mean stands for itself: the average over all rows is as good as exact."""
    numbers = list(range(40))
    release = made(numbers, {"ranges": True, "domain": [0, 99]}, publish={"ranges": "means"})
    assert figure(release, "select avg(x)") == (19.5, 0.0)


def test_sets(made: Callable[..., OpenRelease]) -> None:
    """A set stands for its members."""
    towns = ["Bern", "Thun", "Biel", "Olten"] * 5
    release = made(towns, "sets")
    answers = release.query("select x, count(*) group by x")
    assert [answer.group["x"] for answer in answers] == ["Bern", "Biel", "Olten", "Thun"]
    assert sum(answer.values["count(*)"].estimate or 0 for answer in answers) == pytest.approx(20)


def test_dates(made: Callable[..., OpenRelease]) -> None:
    """A month stands for its days, and dates are compared as texts in ISO form."""
    days = [f"2020-{month:02}-{day:02}" for month in (2, 3) for day in range(1, 11)]
    release = made(days, {"dates": ["month", "year"]}, k=10)
    estimate, error = figure(release, "select count(*) where x < '2020-02-11'")
    assert estimate == pytest.approx(10 * 10 / 29)
    assert error == pytest.approx(math.sqrt(10 * (10 / 29) * (19 / 29)))
    assert figure(release, "select count(*) where x >= date '2020-03-01'") == (10.0, 0.0)


def test_suppressed_values(made: Callable[..., OpenRelease]) -> None:
    """A star stands for the values that the column shows elsewhere."""
    release = made(["f"] * 8 + ["m"] * 8 + ["d"] * 2 + ["e"] * 2, "suppress")
    assert figure(release, "select count(*) where x = 'f'") == (10.0, 1.0)
    assert figure(release, "select count(*) where x = 'd'") == (0.0, 0.0)


def test_typed_columns_that_were_not_generalized(made: Callable[..., OpenRelease]) -> None:
    """A column that is published as it came keeps its type, and is exact."""
    release = made([1.5, 2.5, None, 1e20] * 5, {"intervals": [1, 10], "integers": False}, k=5)
    assert figure(release, "select count(*) where x > 2") == (10.0, 0.0)
    assert figure(release, "select count(*) where x is null") == (5.0, 0.0)
    assert figure(release, "select avg(x) where x < 3") == (2.0, 0.0)


def test_nulls(made: Callable[..., OpenRelease]) -> None:
    """NULL is a value of its own: it meets no comparison, and is asked about with IS NULL."""
    release = made(["1", "2", None, None] * 4, {"intervals": [10], "domain": [0, 9]}, k=8)
    assert figure(release, "select count(*) where x is null") == (8.0, 0.0)
    assert figure(release, "select count(x)") == (8.0, 0.0)
    assert figure(release, "select count(*) where x < 5")[0] == pytest.approx(4)
    assert figure(release, "select count(*) where not x < 5")[0] == pytest.approx(4)


def test_groups_with_null(made: Callable[..., OpenRelease]) -> None:
    """NULL is a group of its own, the last one."""
    release = made(["b", "a", None] * 5, "suppress", k=5)
    answers = release.query("select x, count(*) group by x")
    assert [answer.group["x"] for answer in answers] == ["a", "b", None]


def test_too_many_combinations_are_refused(release: OpenRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that would take billions of combinations of values is refused before it starts."""
    from sfumato.queries import answers

    monkeypatch.setattr(answers, "_MOST_COMBINATIONS", 9)
    assert figure(release, "select count(*) where age > 33 and job = 'nurse'")[0]
    for text in ("select count(*) where age > 33 or job = 'nurse'", "select age, job, count(*) group by age, job"):
        with pytest.raises(InputError, match="combinations of lines or values; ask about fewer columns"):
            release.query(text)


def test_many_different_values(rules: Rules, saves: Saves) -> None:
    """A column of very many different values is not coded, and answers all the same, alone and tied to labels."""
    table = pa.table({"age": [20 + row % 40 for row in range(600)], "pay": [float(row) for row in range(600)]})
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10], "domain": [0, 99]}}, "pay": "plain"}
    with open_release(saves(table, rules(columns, k=50))) as release:
        assert not release.tables.columns[1].coded
        assert figure(release, "select sum(pay) where pay < 300") == (sum(range(300)), 0.0)
        assert figure(release, "select count(*) where pay * 0 + age < 25")[0] == pytest.approx(75)
        assert figure(release, "select count(*) where age < 25 and pay is not null")[0] == pytest.approx(75)


def test_answers_as_data(release: OpenRelease) -> None:
    """Answers are plain data on demand, with the SQL only where it is asked for."""
    answers = release.query("select sex as s, count(*) as n group by sex")
    found: Mapping[str, Any] = answers.as_json()
    assert list(found) == ["form", "estimate", "columns", "answers"]
    assert found["columns"] == ["s"]
    assert found["answers"][0]["group"] == {"s": "f"}
    assert list(found["answers"][0]["values"]["n"]) == ["estimate", "standard_error", "spread"]
    assert answers.as_json(explain=True)["sql"] == answers.sql
