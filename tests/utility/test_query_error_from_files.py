"""Query error of releases as their files tell it, and the options of `sfumato utility` that ask for it."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

from sfumato.cli.main import _run
from sfumato.datasets import hospital
from sfumato.release import Release, anonymize
from sfumato.split import tables_from_recoding
from sfumato.utility.query_error import (
    Workload,
    draw_queries,
    estimator_from_labels,
    estimator_from_tables,
    measure_query_errors,
    tables_of_labels,
)

ASKED = ("--queries", "40", "--dimensions", "2", "--selectivity", "0.2", "--seed", "7")
TREES = {
    "age": {"intervals": [10, 20], "domain": [0, 119]},
    "zip": {"mask": "right", "length": 4},
    "sex": "suppress",
    "job": "suppress",
}
CHOSEN = {"age": {"ranges": True, "domain": [0, 119]}, "job": "sets", "sex": "suppress", "zip": "sets"}


def _policy(form: str, algorithm: str, hierarchies: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    roles: dict[str, dict[str, Any]] = {"patient": {"role": "identifier"}, "illness": {"role": "sensitive"}}
    roles |= {"admitted": {"role": "plain"}, "nights": {"role": "sensitive"}}
    roles |= {name: {"role": "quasi", "hierarchy": spec} for name, spec in (hierarchies or TREES).items()}
    return {
        "columns": roles,
        "privacy": [{"model": "distinct-l-diversity", "l": 2, "column": "illness"}],
        "algorithm": {"name": algorithm, "suppression": 0.1},
        "publish": {"form": form},
    } | more


def _saved(folder: Path, policy: dict[str, Any], table: Any = None) -> Release:
    arrow_csv.write_csv(hospital(400) if table is None else table, folder / "raw.csv")
    release = anonymize(folder / "raw.csv", policy)
    release.save(folder / "out", force=(folder / "out").exists())
    return release


def _asked(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    capsys.readouterr()
    arguments = ["utility", str(folder / "out"), "--original", str(folder / "raw.csv"), "--json", *options]
    code = _run(arguments)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return json.loads(printed.out)


def _refused(folder: Path, capsys: pytest.CaptureFixture[str], *options: str, original: str = "raw.csv") -> str:
    capsys.readouterr()
    assert _run(["utility", str(folder / "out"), "--original", str(folder / original), *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def _in_memory(
    release: Release, folder: Path, sensitive: str = "illness", work: Workload | None = None
) -> dict[str, Any]:
    drawn = draw_queries(release.encoded, sensitive, work or Workload(40, 2, 0.2, 7))
    if release.policy.publish.split:
        tables = tables_from_recoding(release.encoded, release.recoding)
        return measure_query_errors(drawn, estimator_from_tables(tables, release.encoded, sensitive)).as_json()
    manifest = json.loads((folder / "out" / "public" / "manifest.json").read_text())
    entries = {column["name"]: column for column in manifest["columns"]}
    tables = tables_of_labels(release.encoded, release.recoding)
    answers = estimator_from_labels(tables, release.encoded, sensitive, levels=release.levels, entries=entries)
    return measure_query_errors(drawn, answers).as_json()


@pytest.mark.slow
@pytest.mark.parametrize("file", ["csv", "parquet"])
@pytest.mark.parametrize(
    "way",
    [
        ("generalized", "optimal", TREES),
        ("generalized", "top-down", TREES),
        ("generalized", "mondrian", CHOSEN),
        ("lossy-join", "top-down", TREES),
        ("lossy-join", "mondrian", CHOSEN),
        ("anatomy", "anatomy", TREES),
    ],
    ids=lambda way: "-".join(way[:2]),
)
def test_files_tell_what_the_release_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: tuple[str, str, dict[str, Any]], file: str
) -> None:
    """From the written files and the original, query errors and losses are those of the release in memory."""
    form, algorithm, hierarchies = way
    policy = _policy(form, algorithm, hierarchies, publish={"form": form, "format": file})
    release = _saved(tmp_path, policy)
    found = _asked(tmp_path, capsys, *ASKED)
    queries = found.pop("queries")
    told = _in_memory(release, tmp_path)
    for estimate in ("expected", "paper"):
        assert queries.pop(estimate) == pytest.approx(told.pop(estimate))
    assert queries == told
    assert found["ncp"] == pytest.approx(release.utility.ncp)
    assert (form == "generalized") is (found["ncp"] > release.suppressed / 400)


@pytest.mark.slow
@pytest.mark.parametrize("ss", ["together", "apart"])
def test_either_sensitive_column(tmp_path: Path, capsys: pytest.CaptureFixture[str], ss: str) -> None:
    """Queries ask of the column that a requirement looks at, or of the one that is named, in one SS file or in two."""
    release = _saved(tmp_path, _policy("lossy-join", "top-down", publish={"form": "lossy-join", "ss": ss}))
    assert _asked(tmp_path, capsys, *ASKED)["queries"]["sensitive"] == "illness"
    nights = _asked(tmp_path, capsys, *ASKED, "--sensitive", "nights")["queries"]
    assert nights["expected"] == pytest.approx(_in_memory(release, tmp_path, "nights")["expected"])
    assert nights["sensitive"] == "nights"
    policy = _policy("generalized", "optimal", privacy=[{"model": "k-anonymity", "k": 3}])
    _saved(tmp_path, policy)
    first = next(name for name, column in policy["columns"].items() if column["role"] == "sensitive")
    assert _asked(tmp_path, capsys, *ASKED)["queries"]["sensitive"] == first


def test_two_tables_lose_no_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two tables show every value as it was: what is lost are suppressed rows alone, and classes have their sizes."""
    release = _saved(tmp_path, _policy("lossy-join", "top-down"))
    found, told = _asked(tmp_path, capsys, "--queries", "0"), release.utility.as_json()
    for name, part in told.pop("attributes").items():
        assert found["attributes"][name] == pytest.approx(part)
        assert part["exact_cells"] == release.rows
    assert {key: found[key] for key in told} == pytest.approx(told)
    assert found["average_class_size"] == pytest.approx(release.rows / len(release.recoding.classes))
    assert "queries" not in found


def test_hard_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing values, formulas and quotes are the same value in the original, in NSS, in SS and in labels."""
    cells = ["=a", "-b", None, 'c"d', "e,f", "'=g", "-5", "NULL"]
    table = pa.table({"=q": [cells[row % 8] for row in range(64)], "@s": [cells[row // 8] for row in range(64)]})
    columns = {"=q": {"role": "quasi", "hierarchy": "suppress"}, "@s": {"role": "sensitive"}}
    for form, algorithm in (("lossy-join", "top-down"), ("anatomy", "anatomy"), ("generalized", "top-down")):
        policy = {
            "columns": columns,
            "privacy": [{"model": "distinct-l-diversity", "l": 3, "column": "@s"}],
            "algorithm": {"name": algorithm},
            "publish": {"form": form},
        }
        release = _saved(tmp_path, policy, table)
        found = _asked(tmp_path, capsys, "--queries", "30", "--dimensions", "1", "--seed", "7")["queries"]
        told = _in_memory(release, tmp_path, "@s", Workload(30, 1, 0.05, 7))
        assert found["expected"] == pytest.approx(told["expected"])
        assert (found["answered"], found["dimensions"], found["selectivity"]) == (30, 1, 0.05)


def test_defaults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Left out: a hundred queries, four dimensions or as many as there are, a selectivity of 0.05, the same always."""
    _saved(tmp_path, _policy("lossy-join", "top-down"))
    one, other = (_asked(tmp_path, capsys)["queries"] for _ in range(2))
    assert (one["asked"], one["dimensions"], one["selectivity"], one["seed"]) == (100, 4, 0.05, 1)
    assert one == other
    assert _asked(tmp_path, capsys, "--seed", "2")["queries"]["expected"] != one["expected"]


def test_shown_to_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table of both estimates, and a sentence on what was asked and what was drawn again."""
    _saved(tmp_path, _policy("anatomy", "anatomy"))
    assert _run(["utility", str(tmp_path / "out"), "--original", str(tmp_path / "raw.csv"), *ASKED]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"expected value +│ +\d+\.\d%", printed)
    assert re.search(r"the paper's estimate +│ +\d+\.\d%", printed)
    assert "40 queries of 2 quasi-identifiers and 'illness', selectivity 0.2, seed 7; " in printed
    assert _run(["utility", str(tmp_path / "out"), "--original", str(tmp_path / "raw.csv"), "--queries", "0"]) == 0
    assert "queries" not in capsys.readouterr().out


def test_few_questions_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nearly no query matches a row, fewer are averaged, and people and programs are told how many."""
    values = [f"v{row:02}" for row in range(90)]
    columns = {"q": {"role": "quasi", "hierarchy": "suppress"}, "s": {"role": "sensitive"}}
    privacy = [{"model": "distinct-l-diversity", "l": 2, "column": "s"}]
    policy = {"columns": columns, "privacy": privacy, "publish": {"form": "anatomy"}}
    _saved(tmp_path, policy, pa.table({"q": values, "s": values}))
    asked = ("--queries", "100", "--selectivity", "0.0001", "--seed", "1")
    found = _asked(tmp_path, capsys, *asked)["queries"]
    assert found["answered"] + found["zero"] == 1000
    assert 0 < found["answered"] < 100
    assert _run(["utility", str(tmp_path / "out"), "--original", str(tmp_path / "raw.csv"), *asked]) == 0
    printed = capsys.readouterr().out
    assert f"{found['answered']} of 100 queries of 1 quasi-identifier and 's', selectivity 0.0001, seed 1; " in printed
    assert f" {found['zero']} others, which no row of the original matches, were drawn and left out" in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--queries", "0", "--dimensions", "2"], "--dimensions says how queries are drawn, and --queries 0 asks for"),
        (["--queries", "0", "--seed", "2"], "--seed says how queries are drawn"),
        (["--queries", "0", "--sensitive", "illness"], "--sensitive says how queries are drawn"),
        (["--queries", "0", "--selectivity", "0.1"], "--selectivity says how queries are drawn"),
        (["--queries", "-1"], "queries must be at least 1, not -1"),
        (["--dimensions", "5"], "there are 4 quasi-identifiers, and a query cannot ask of 5"),
        (["--queries", "9", "--selectivity", "1.5"], "selectivity must be above 0 and at most 1, not 1.5"),
        (["--queries", "9", "--sensitive", "ilness"], "'ilness' is no sensitive column of the policy, which has"),
    ],
)
def test_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str) -> None:
    """Options in vain and values that mean nothing are one sentence each."""
    _saved(tmp_path, _policy("lossy-join", "top-down"))
    assert sentence in _refused(tmp_path, capsys, *options)


def test_no_sensitive_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing is sensitive there is nothing that the workload could ask of."""
    table = pa.table({"q": ["a", "a", "b", "b"]})
    columns = {"q": {"role": "quasi", "hierarchy": "suppress"}}
    _saved(tmp_path, {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}, table)
    assert "queries ask of a sensitive column, and the policy has none" in _refused(tmp_path, capsys, "--queries", "9")
    assert "queries ask of a sensitive column, and the policy has none" in _refused(tmp_path, capsys, "--seed", "9")
    assert "queries" not in _asked(tmp_path, capsys)


def test_another_original(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Values of NSS or of SS that the original does not have are named."""
    table = pa.table({"q": ["a", "b", "c", "d"], "s": ["x", "y", "x", "y"]})
    columns = {"q": {"role": "quasi", "hierarchy": "suppress"}, "s": {"role": "sensitive"}}
    privacy = [{"model": "distinct-l-diversity", "l": 2, "column": "s"}]
    _saved(tmp_path, {"columns": columns, "privacy": privacy, "publish": {"form": "lossy-join"}}, table)
    arrow_csv.write_csv(table.set_column(0, "q", pa.array(["a", "b", "c", "z"])), tmp_path / "quasi.csv")
    arrow_csv.write_csv(table.set_column(1, "s", pa.array(["x", "x", "x", "z"])), tmp_path / "values.csv")
    assert "column 'q' of the release holds labels that the original does not lead to: 'd'" in _refused(
        tmp_path, capsys, original="quasi.csv"
    )
    said = _refused(tmp_path, capsys, "--queries", "9", "--dimensions", "1", original="values.csv")
    assert "column 's' of the release holds values that the original does not have: 'y'" in said


@pytest.mark.parametrize("form", ["lossy-join", "generalized"])
def test_a_part_of_the_original(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    """Fewer rows than the release has, or fewer of a value, are no original, whether queries are asked or not."""
    table = pa.table({"q": ["a", "b", "a", "b"], "s": ["x", "y", "x", "y"]})
    columns = {"q": {"role": "quasi", "hierarchy": "suppress"}, "s": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": 2}]
    _saved(tmp_path, {"columns": columns, "privacy": privacy, "publish": {"form": form}}, table)
    arrow_csv.write_csv(table.slice(0, 3), tmp_path / "fewer.csv")
    arrow_csv.write_csv(table.set_column(1, "s", pa.array(["x", "y", "y", "y"])), tmp_path / "values.csv")
    assert "the release has 4 lines and the original 3 rows; name" in _refused(tmp_path, capsys, original="fewer.csv")
    said = _refused(tmp_path, capsys, original="values.csv")
    assert "column 's' of the release holds a value more often than the original does; name the table" in said


def test_another_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy that has other columns than the release is refused."""
    _saved(tmp_path, _policy("generalized", "optimal"))
    (tmp_path / "policy.toml").write_text(
        '[columns]\nother = { role = "quasi", hierarchy = "suppress" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    said = _refused(tmp_path, capsys, "--policy", str(tmp_path / "policy.toml"))
    assert "the release has no quasi column 'other', which the policy has" in said


def test_classes_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two tables whose classes have different sizes were changed, and no error is measured from them."""
    _saved(tmp_path, _policy("anatomy", "anatomy"))
    ss = tmp_path / "out" / "public" / "ss.csv"
    with ss.open(newline="") as file:
        head, first, *rest = csv.reader(file)
    moved = next(line for line in rest if line[0] != first[0])
    moved[0] = first[0]
    with ss.open("w", newline="") as file:
        csv.writer(file).writerows([head, first, *rest])
    assert "ss.csv does not have as many rows of each class" in _refused(tmp_path, capsys, "--queries", "9")


def test_files_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A manifest that names a file outside of the release is not followed."""
    _saved(tmp_path, _policy("lossy-join", "top-down"))
    path = tmp_path / "out" / "public" / "manifest.json"
    content = json.loads(path.read_text())
    content["files"]["../../raw.csv"] = content["files"].pop("nss.csv")
    content["nss"] = "../../raw.csv"
    for column in content["columns"]:
        column["table"] = "../../raw.csv" if column["table"] == "nss.csv" else column["table"]
    path.write_text(json.dumps(content))
    assert _run(["utility", str(tmp_path / "out"), "--original", str(tmp_path / "raw.csv")]) == 2
    assert "which is not a file of the release" in capsys.readouterr().err
