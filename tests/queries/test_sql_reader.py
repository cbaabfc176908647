"""What cannot be asked is refused in one sentence that says why, and what to do."""

import pytest

from sfumato.errors import InputError
from sfumato.queries import OpenRelease

ALLOWED = "a query selects count(*), count(x), sum(x), avg(x) and columns, with WHERE"


def sentence(release: OpenRelease, text: str) -> str:
    """How a query is refused: in one line."""
    with pytest.raises(InputError) as refused:
        release.query(text)
    found = str(refused.value)
    assert "\n" not in found
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("select count(*) order by 1", "ORDER BY"),
        ("select count(*) limit 3", "LIMIT"),
        ("select count(*) limit 3%", "LIMIT"),
        ("select distinct Job", "DISTINCT"),
        ("select count(*) having count(*) > 1", "HAVING"),
        ("select count(*) qualify 1", "QUALIFY"),
        ("select count(*) using sample 5", "SAMPLE"),
        ("with a as (select 1) select count(*)", "WITH"),
        ("select count(*) union select 2", "UNION"),
        ("select count(distinct Job)", "DISTINCT"),
        ("select count(*) filter (where Birth > 3)", "FILTER"),
        ("select sum(Birth order by Job)", "FILTER or ORDER BY within a function"),
        ("select sum(Birth) over ()", "a window function"),
        ("select max(Birth)", "the function max"),
        ("select count(*) where lower(Job) = 'clerk'", "the function lower"),
        ("select count(*) where Job || 'x' = 'y'", "the operator ||"),
        ("select count(*) where Birth in (select 1)", "a query within a query"),
        ("select count(*) where exists (select 1)", "a query within a query"),
        ("select count(*) where case when Birth > 3 then true end", "CASE"),
        ("select count(*) where coalesce(Birth, 1) = 1", "coalesce"),
        ("select count(*) where Birth = ?", "a parameter"),
        ("select count(*) where Birth::int = 3", "a cast"),
        ("select main.sum(Birth)", "a function of a schema"),
        ("select *", "*"),
        ("select 1", "1 in SELECT"),
        ("select Birth > 3", "Birth > 3 in SELECT"),
        ("select -Birth", "-Birth in SELECT"),
        ("select count(*) where Job = 'x' collate nocase", "collate"),
    ],
)
def test_what_is_no_part_of_a_query(paper: OpenRelease, text: str, what: str) -> None:
    """Clauses, functions and forms of SQL that have no meaning here are named, and those that have are listed."""
    found = sentence(paper, text)
    assert found.startswith(what)
    assert f"cannot be asked of a release; {ALLOWED}" in found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("select count(*) from nss", "leave FROM out: the release is what is asked"),
        ("from nss select count(*)", "leave FROM out: the release is what is asked"),
        ("values (1)", "leave FROM out: the release is what is asked"),
        ("select count(*) where Brith = 3", "there is no column 'Brith'; did you mean Birth?"),
        ("select count(*) where Birth = 'x'", "Birth is a number and 'x' is a text; compare like with like"),
        ("select count(*) where Birth = Job", "Birth is a number and Job is a text; compare like with like"),
        (
            "select count(*) where Birth",
            "Birth is a number and no condition; compare it with something, as in Birth = …",
        ),
        ("select count(*) where Job = 3", "Job holds texts; write '3' in quotes to compare it with them"),
        ("select count(*) where Job + 1 = 2", "+ needs numbers, and Job is a text"),
        ("select count(*) where (Birth > 1) like 'x'", "LIKE compares texts, and Birth > 1 is a condition"),
        ("select sum(Job)", "sum needs numbers, and Job is a text"),
        ("select avg(Birth > 3)", "avg needs numbers, and Birth > 3 is a condition"),
        ("select sum()", "sum takes one argument, as in sum(x)"),
        ("select count(Birth, Job)", "count takes one argument, as in count(x)"),
        ("select sum(count(*))", "count stands by itself in SELECT, and not within something else"),
        ("select count(*) + 1", "count stands by itself in SELECT, and not within something else"),
        ("select nss.Birth, count(*)", "nss.Birth has a table in its name; write Birth alone"),
        ("select Birth, count(*)", "column 'Birth' stands in SELECT and not in GROUP BY; group by it"),
        ("select count(*) group by Birth + 1", "only columns can be grouped by; name one, as in GROUP BY sex"),
        ("select count(*) group by 2", "GROUP BY 2 means nothing: SELECT does not have so many columns; name one"),
        ("select sum(Birth) as a, avg(Birth) as a", "two figures are called 'a'; give one another name with AS"),
        (
            "select Job as a, Illness as a, count(*) group by Job, Illness",
            "two columns of the answer have one name; give one another name with AS",
        ),
        (
            "select count(*) group by all",
            "name the columns in GROUP BY one by one; ALL, ROLLUP, CUBE and sets cannot be asked",
        ),
        (
            "select count(*) group by rollup (Job)",
            "name the columns in GROUP BY one by one; ALL, ROLLUP, CUBE and sets cannot be asked",
        ),
        ("select count(*) where \ud800", "the query holds a character that is none; write it anew"),
        ("select count(*) where Job = 'a\0b'", "the query holds a character that is none; write it anew"),
    ],
)
def test_sentences(paper: OpenRelease, text: str, found: str) -> None:
    """Each mistake has its own sentence, with the way out."""
    assert sentence(paper, text) == found


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("selec count(*)", 'the query cannot be read: syntax error at or near "selec"'),
        ("select count(*) where", "the query cannot be read: "),
        ("", "there is no query"),
        ("select count(*); select count(*)", "one query is answered at a time"),
        ("drop table nss", "only SELECT can be asked"),
        ("select Job group by Job", "there is nothing to count or to sum"),
    ],
)
def test_texts_that_are_no_query(paper: OpenRelease, text: str, start: str) -> None:
    """What DuckDB cannot read is told in its words, and what a query is."""
    found = sentence(paper, text)
    assert found.startswith(start)
    assert ALLOWED in found


def test_unknown_columns_are_told_from_texts(paper: OpenRelease) -> None:
    """Double quotes are for columns, as in SQL: who meant a text is told so, with the columns that there are."""
    found = sentence(paper, 'select count(*) where Illness = "HIV virus"')
    assert found.startswith("there is no column 'HIV virus'; the columns are Job, Birth, Postcode, Illness, ")
    assert found.endswith("texts are written in single quotes, as in 'flu'")


@pytest.mark.parametrize(
    "text", [f"{'(' * 3000}Birth = 1{')' * 3000}", "not " * 900 + "Birth = 1", "- " * 900 + "Birth = 1"]
)
def test_deep_nesting(paper: OpenRelease, text: str) -> None:
    """A query that nests without end is refused, or answered, and never a crash."""
    try:
        assert len(paper.query(f"select count(*) where {text}")) == 1
    except InputError as refused:
        assert str(refused).startswith("the query nests too deeply")  # noqa: PT017
        assert str(refused).endswith("; write it with fewer parentheses")  # noqa: PT017


def test_brackets_in_texts_do_not_nest(paper: OpenRelease) -> None:
    """Parentheses within a text are no nesting, and neither are those that are closed again."""
    assert len(paper.query(f"select count(*) where Job = '{'(' * 600}' or {' or '.join(['(Birth = 1)'] * 600)}")) == 1


def test_a_query_that_is_too_long(paper: OpenRelease) -> None:
    """A query of more characters than a parser should take is refused before it is parsed, with the limit."""
    assert "no more than 100,000 are read" in sentence(paper, f"select count(*) where Job = '{'x' * 100_000}'")


def test_unknown_estimate(paper: OpenRelease) -> None:
    """There are two estimates."""
    with pytest.raises(InputError, match="there is no estimate 'best'; choose expected or paper"):
        paper.query("select count(*)", estimate="best")


def test_numbers_out_of_reach(paper: OpenRelease) -> None:
    """A constant that no number of the machine holds is refused in DuckDB's words."""
    assert sentence(paper, f"select count(*) where Birth = {'9' * 400}").startswith("the query cannot be answered: ")
