"""``sfumato query``: what people see, what programs read, and how it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

Runs = Callable[..., Any]
Saves = Callable[..., Path]
Rules = Callable[..., dict[str, Any]]

TEXT = "select count(*), avg(age) where age between 30 and 34 and illness = 'flu'"


@pytest.fixture
def release(rules: Rules, saves: Saves) -> Path:
    """Eight people in their thirties and four in their fifties."""
    ages = [30, 32, 34, 35, 36, 37, 38, 39, 50, 51, 52, 53]
    ill = ["flu", "HIV", "[red]", "flu"] * 3
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10], "domain": [0, 99]}}, "illness": "sensitive"}
    return saves(pa.table({"age": ages, "illness": ill}), rules(columns, k=4), name="visits")


def test_for_people(release: Path, runs: Runs) -> None:
    """A table with a line per group, each figure with its standard error, and what the figures are."""
    done = runs("query", release, "select illness, count(*), avg(age) where age < 35 group by illness")
    assert (done.code, done.err) == (0, "")
    lines = [line.split("│")[1:-1] for line in done.out.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line] for line in lines]
    assert [[cell.partition(" ± ")[0] for cell in line] for line in cells] == [
        ["HIV", "1.00", "32.0"],
        ["[red]", "1.00", "32.0"],
        ["flu", "2.0", "32.0"],
    ]
    assert all(" ± " in cell for line in cells for cell in line[1:])
    assert done.out.endswith("on most real tables two of them hold the truth nine times in ten\n")


def test_an_error_above_its_figure(release: Path, runs: Runs) -> None:
    """Where labels are too coarse to tell, a line says so."""
    note = "an error above its figure: the labels are too coarse to tell"
    assert note in runs("query", release, "select count(*) where age = 31 and illness = 'HIV'").out
    assert note not in runs("query", release, "select count(*)").out


def test_for_programs(release: Path, runs: Runs) -> None:
    """One JSON object and nothing else, for the release and for its public part alike."""
    done = runs("query", release, TEXT, "--json")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    found = json.loads(done.out)
    errors = [value.pop("standard_error") for value in found["answers"][0]["values"].values()]
    assert all(error > 1.0 for error in errors)  # the spread, and what values that are not equally likely add to it
    assert found == {
        "form": "generalized",
        "estimate": "expected",
        "columns": [],
        "answers": [
            {
                "group": {},
                "values": {
                    "count(*)": {"estimate": 2.0, "spread": 1.0},
                    "avg(age)": {"estimate": 32.0, "spread": 1.0},
                },
            }
        ],
    }
    assert runs("query", release / "public", TEXT, "--json").out == done.out


def test_explained(release: Path, runs: Runs) -> None:
    """The SQL that runs is printed before the answer, or stands in the JSON object; it names columns in comments."""
    done = runs("query", release, TEXT, "--explain")
    assert done.out.startswith('-- c0 is "age"\n-- c1 is "illness"\nWITH base AS (')
    sql = json.loads(runs("query", release, TEXT, "--explain", "--json").out)["sql"]
    assert "BETWEEN 30 AND 34" in sql
    assert done.out.startswith(sql)


def test_paper(release: Path, runs: Runs) -> None:
    """The paper's estimate has no standard error."""
    done = runs("query", release, "select count(*) where age < 35 and illness = 'flu'", "--estimate", "paper")
    assert "│        4 │" in done.out
    assert "the paper's estimate" in done.out
    found = json.loads(runs("query", release, "select count(*)", "--estimate", "paper", "--json").out)
    assert found["answers"][0]["values"]["count(*)"] == {"estimate": 12.0, "standard_error": None, "spread": None}


def test_nothing_to_tell(release: Path, runs: Runs) -> None:
    """Where no row can be meant, a count is zero, an average is nothing, and there is no group."""
    done = runs("query", release, "select count(*), avg(age) where age > 99")
    assert "│        0 │        - │" in done.out
    done = runs("query", release, "select illness, count(*) where age > 99 group by illness")
    assert (done.code, done.out) == (0, "no group has a row that can meet the conditions\n")
    done = runs("query", release, "select avg(age) where age > 99", "--json")
    nothing = {"estimate": None, "standard_error": None, "spread": None}
    assert json.loads(done.out)["answers"][0]["values"]["avg(age)"] == nothing


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("visits", "select count(*) from visits"), "leave FROM out: the release is what is asked"),
        (("visits", "select count(*) where agee = 3"), "there is no column 'agee'; did you mean age?"),
        (("visits", "select count(*)", "--estimate", "best"), "there is no estimate 'best'; choose expected or paper"),
        (("elsewhere", "select count(*)"), "elsewhere is not a release folder; name the folder that anonymize wrote"),
    ],
)
def test_refusals(release: Path, runs: Runs, arguments: tuple[str, ...], sentence: str) -> None:
    """An error is one sentence on standard error, and exit code 2."""
    done = runs("query", *arguments)
    assert (done.code, done.sentence) == (2, sentence)


def test_a_missing_query(release: Path, runs: Runs) -> None:
    """Without a query there is nothing to answer."""
    done = runs("query", release)
    assert done.code == 2
    assert "QUERY" in done.sentence


@pytest.mark.slow
@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_two_tables(form: str, kind: str, rules: Rules, saves: Saves, runs: Runs) -> None:
    """Releases of two tables answer as well, from either kind of file."""
    ages = [20 + row for row in range(40)]
    table = pa.table(
        {"age": ages, "illness": ["flu", "HIV", "ulcer", "cold"] * 10, "pay": [100 + row for row in range(40)]}
    )
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [10], "domain": [0, 99]}},
        "illness": "sensitive",
        "pay": "sensitive",
    }
    policy = rules(
        columns,
        publish={"form": form, "format": kind, "ss": "apart"},
        privacy=[{"model": "distinct-l-diversity", "column": "illness", "l": 2}],
    )
    if form == "anatomy":
        policy["algorithm"] = {"name": "anatomy"}
    folder = saves(table, policy)
    found = json.loads(runs("query", folder, "select count(*), sum(age), sum(pay)", "--json").out)
    values = found["answers"][0]["values"]
    assert found["form"] == form
    assert values["count(*)"] == {"estimate": 40.0, "standard_error": 0.0, "spread": 0.0}
    assert values["sum(age)"] == {"estimate": float(sum(ages)), "standard_error": 0.0, "spread": 0.0}
    assert values["sum(pay)"]["estimate"] == pytest.approx(sum(range(100, 140)))
    groups = json.loads(runs("query", folder, "select illness, count(*) where age < 30 group by illness", "--json").out)
    total = sum(answer["values"]["count(*)"]["estimate"] for answer in groups["answers"])
    assert total == pytest.approx(10)
