"""Queries over two tables: the paper's example, what is exact, and two ways to the same figure."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from sfumato.queries import Answers, OpenRelease

Opens = Callable[..., OpenRelease]


def figure(answers: Answers, name: str = "count(*)") -> tuple[float | None, float | None]:
    """The one figure of an answer without groups."""
    (answer,) = answers
    return answer.values[name].estimate, answer.values[name].spread


def by_group(answers: Answers, name: str = "count(*)") -> dict[tuple[Any, ...], float | None]:
    """The figure of each group, in order."""
    return {tuple(answer.group.values()): answer.values[name].estimate for answer in answers}


def test_the_papers_query(paper: OpenRelease) -> None:
    """Two clerks in two classes with one case of flu among two each: one is expected, the paper counts both."""
    text = "select count(*) where Job = 'clerk' and Illness = 'flu'"
    assert figure(paper.query(text)) == (1.0, math.sqrt(0.5))
    assert figure(paper.query(text, estimate="paper")) == (2.0, None)


def test_one_table_alone_is_exact(paper: OpenRelease) -> None:
    """What stands in one table is counted and averaged without error."""
    assert figure(paper.query("select count(*) where Job = 'clerk'")) == (2.0, 0.0)
    assert figure(paper.query("select avg(Birth) where Postcode = 4350"), "avg(Birth)") == (1961.25, 0.0)
    assert by_group(paper.query("select Illness, count(*) group by Illness")) == {
        ("HIV",): 1.0,
        ("fever",): 2.0,
        ("flu",): 3.0,
    }


def test_groups_add_up(paper: OpenRelease) -> None:
    """Expected counts of all groups of both tables add up to all rows, and to the lines of each table."""
    answers = by_group(paper.query("select Job, Illness, count(*) group by Job, Illness"))
    assert sum(value or 0 for value in answers.values()) == pytest.approx(6)
    flu = sum(value or 0 for (_, illness), value in answers.items() if illness == "flu")
    assert flu == pytest.approx(3)
    assert list(answers) == sorted(answers)


def test_paper_groups_by_either_table(paper: OpenRelease) -> None:
    """The paper's estimate by job counts the lines of SS of each job's classes; by illness, the lines of each."""
    by_job = by_group(paper.query("select Job, count(*) group by Job", estimate="paper"))
    assert by_job == {("clerk",): 4.0, ("factory worker",): 4.0, ("manager",): 2.0, ("technical supporter",): 2.0}
    by_illness = paper.query("select Illness, count(*) where Birth = 1975 group by Illness", estimate="paper")
    assert by_group(by_illness) == {("HIV",): 1.0, ("fever",): 1.0, ("flu",): 2.0}


def test_paper_sums_and_averages_sensitive_columns(opens: Opens) -> None:
    """The paper's estimate sums over the lines of SS that are meant, NULL left out of averages."""
    nss = [{"age": age, "class_id": number} for age, number in ((30, 1), (40, 1), (50, 2), (60, 2))]
    ss = [{"class_id": number, "pay": pay} for number, pay in ((1, 10), (1, None), (2, 30), (2, 50))]
    release = opens({"nss.csv": nss, "ss.csv": ss})
    answers = release.query("select sum(pay), avg(pay), count(pay), count(*) where age < 50", estimate="paper")
    assert [value.estimate for value in answers[0].values.values()] == [10.0, 10.0, 1.0, 2.0]
    assert figure(release.query("select avg(pay) where age < 0", estimate="paper"), "avg(pay)") == (None, None)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("select count(*) where Job = 'clerk' or Illness = 'flu'", "stand in different tables"),
        ("select sum(Birth) where Illness = 'flu'", "sum(Birth) is about NSS"),
        ("select avg(Birth)", "avg(Birth) is about NSS"),
        ("select count(Job)", "count(Job) is about NSS"),
    ],
)
def test_paper_refuses_what_it_does_not_say(paper: OpenRelease, text: str, part: str) -> None:
    """What the paper's formula has no meaning for is refused, with the estimate that can be asked."""
    from sfumato.errors import InputError

    with pytest.raises(InputError) as refused:
        paper.query(text, estimate="paper")
    assert part in str(refused.value)
    assert str(refused.value).endswith("ask for it with --estimate expected")


def test_paper_takes_one_sensitive_table(opens: Opens) -> None:
    """With sensitive columns apart, the paper's estimate is about one of them; others can still be asked for alone."""
    from sfumato.errors import InputError

    lines = {"nss.csv": [{"age": 1, "class_id": 1}], "ss-a.csv": [{"class_id": 1, "a": "x"}]}
    release = opens(lines | {"ss-b.csv": [{"class_id": 1, "b": "y"}]})
    assert figure(release.query("select count(*) where age = 1 and b = 'y'", estimate="paper")) == (1.0, None)
    with pytest.raises(InputError, match="one table of sensitive values at a time"):
        release.query("select count(*) where a = 'x' and b = 'y'", estimate="paper")


SIZES = {1: 1, 2: 5, 3: 40, 4: 200}


@pytest.fixture
def random_release(opens: Opens) -> OpenRelease:
    """Four classes of different sizes, with numbers and NULLs on both sides."""
    draw = np.random.default_rng(4)
    nss: list[Mapping[str, Any]] = []
    ss: list[Mapping[str, Any]] = []
    for number, size in SIZES.items():
        nss += [
            {"age": int(draw.integers(20, 60)), "sex": str(draw.choice(["f", "m"])), "class_id": number}
            for _ in range(size)
        ]
        ss += [
            {"class_id": number, "ill": str(draw.choice(["flu", "HIV"])), "pay": [None, *range(5)][draw.integers(6)]}
            for _ in range(size)
        ]
    return opens({"nss.csv": nss, "ss.csv": ss})


@pytest.mark.slow
@pytest.mark.parametrize("figures", ["count(*)", "sum(pay)", "avg(pay)", "avg(age)", "count(pay), sum(age)"])
@pytest.mark.parametrize("groups", [[], ["sex"], ["ill"], ["sex", "ill"]])
def test_both_forms_agree(random_release: OpenRelease, figures: str, groups: Sequence[str]) -> None:
    """A condition that falls apart into one for each table gives what the same condition gives over all pairs."""
    apart = "age > 35 and ill = 'flu'"
    tied = "(age > 35 and ill = 'flu') or (ill = 'flu' and age > 35)"
    head, tail = ", ".join([*groups, figures]), f" group by {', '.join(groups)}" if groups else ""
    one, other = (random_release.query(f"select {head} where {condition}{tail}") for condition in (apart, tied))
    assert "p0_all" not in one.sql
    assert "p0_all" in other.sql
    assert len(one) == len(other) > 0
    for left, right in zip(one, other, strict=True):
        assert left.group == right.group
        for name, value in left.values.items():
            assert value.estimate == pytest.approx(right.values[name].estimate)
            assert value.spread == pytest.approx(right.values[name].spread, abs=1e-6)


def test_variance_of_a_large_class_is_that_of_random_pairings(random_release: OpenRelease) -> None:
    """Where all pairings are too many to go through, thousands of random ones show the same mean and spread."""
    answers = random_release.query("select sum(pay) where age > 35 or ill = 'flu'")
    connection, draw = random_release.tables.connection, np.random.default_rng(1)
    left = connection.execute("select class, c0 from t0 join d0 using (k0)").fetchnumpy()
    right = connection.execute(
        "select class, c2 = 'flu' as ill, coalesce(c3, 0) as pay from t1 join d2 using (k2) join d3 using (k3)"
    ).fetchnumpy()
    sums = np.zeros(4000)
    for number in SIZES:
        age, ill = left["c0"][left["class"] == number], right["ill"][right["class"] == number]
        pay = right["pay"][right["class"] == number]
        for world in range(len(sums)):
            order = draw.permutation(len(age))
            sums[world] += pay[order][(age > 35) | ill[order]].sum()
    estimate, error = figure(answers, "sum(pay)")
    assert estimate is not None
    assert error is not None
    assert abs(sums.mean() - estimate) < 4 * error / math.sqrt(len(sums))
    assert sums.std() == pytest.approx(error, rel=0.05)


def test_certain_answers_from_both_tables_have_no_error(opens: Opens) -> None:
    """Where every line of a class meets a table's condition there is nothing to be unsure of."""
    nss = [{"age": age, "class_id": number} for age, number in ((30, 1), (40, 1), (50, 2), (60, 2), (70, 2))]
    ss = [
        {"class_id": number, "ill": ill} for number, ill in ((1, "flu"), (1, "flu"), (2, "HIV"), (2, "HIV"), (2, "HIV"))
    ]
    release = opens({"nss.csv": nss, "ss.csv": ss})
    assert figure(release.query("select count(*) where ill = 'flu' and age > 35")) == (1.0, 0.0)
    assert figure(release.query("select avg(age) where ill = 'HIV'"), "avg(age)") == (60.0, 0.0)


def test_a_class_of_one_is_certain(opens: Opens) -> None:
    """One line in each table belong together."""
    release = opens({"nss.csv": [{"age": 30, "class_id": 7}], "ss.csv": [{"class_id": 7, "ill": "flu"}]})
    assert figure(release.query("select count(*) where age = 30 and ill = 'flu'")) == (1.0, 0.0)
    assert figure(release.query("select count(*) where age < 30 or ill = 'flu'")) == (1.0, 0.0)


def test_too_many_combinations_are_refused(paper: OpenRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that would look at billions of pairs is refused before it starts, and says how to ask otherwise."""
    from sfumato.errors import InputError
    from sfumato.queries import answers

    monkeypatch.setattr(answers, "_MOST_COMBINATIONS", 9)
    assert figure(paper.query("select count(*) where Job = 'clerk' and Illness = 'flu'"))[0] == 1.0
    for text in (
        "select count(*) where Birth > 1950 or Illness = 'flu'",
        "select Job, Illness, count(*) group by Job, Illness",
    ):
        with pytest.raises(InputError, match="join conditions by AND, each about one column"):
            paper.query(text)
    monkeypatch.setattr(answers, "_MOST_COMBINATIONS", 10)
    assert figure(paper.query("select count(*) where Birth > 1950 or Illness = 'flu'"))[0] == pytest.approx(5.5)
