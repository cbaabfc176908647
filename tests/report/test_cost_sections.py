"""Query error and suppression in the report, against other ways of finding them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from sfumato.policy import load
from sfumato.release import Release, prepare
from sfumato.report.before_after import find_suppression_bias, find_suppression_reasons
from sfumato.report.report_figures import choose_workload, query_errors_by_column
from sfumato.utility.release_comparison import ReleaseComparison
from sfumato.verifier.release_files import read_json

from .conftest import report

Pages = Callable[[str], Any]

AGES = {"intervals": [5, 10, 20], "domain": [0, 99]}
K = {"model": "k-anonymity", "k": 4}
L = {"model": "distinct-l-diversity", "column": "illness", "l": 3}


def _policy(algorithm: dict[str, Any], *models: dict[str, Any], **publish: Any) -> dict[str, Any]:
    columns = {
        "age": {"role": "quasi", "hierarchy": publish.pop("age", AGES)},
        "town": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
    }
    return {"columns": columns, "privacy": list(models) or [K, L], "algorithm": algorithm, "publish": publish}


def _rows(rows: int = 300) -> dict[str, list[str]]:
    draw = np.random.default_rng(5)
    return {
        "age": [str(one) for one in draw.integers(20, 80, rows)],
        "town": draw.choice(["Bern", "Thun", "Genf"], rows, p=[0.7, 0.25, 0.05]).tolist(),
        "illness": draw.choice(["flu", "HIV", "gout", "cold"], rows, p=[0.6, 0.2, 0.1, 0.1]).tolist(),
    }


@pytest.mark.parametrize(
    ("algorithm", "publish"),
    [
        ({"name": "optimal", "suppression": 0.05}, {}),
        ({"name": "mondrian"}, {}),
        ({"name": "tds"}, {}),
        ({"name": "mondrian"}, {"age": {"ranges": True}}),
        ({"name": "top-down"}, {"form": "lossy-join"}),
    ],
)
def test_query_error_is_that_of_the_files(
    tmp_path: Path, page: Pages, algorithm: dict[str, Any], publish: dict[str, Any]
) -> None:
    """What the report says of queries is what `sfumato utility` finds in the files for the same workload."""
    policy = _policy(algorithm, **publish)
    pc.write_csv(pa.table(_rows()), tmp_path / "t.csv")
    release = prepare(tmp_path / "t.csv", policy)
    public = release.save(tmp_path / "release") / "public"
    compared = ReleaseComparison.read(
        public, read_json(public / "manifest.json"), tmp_path / "t.csv", policy=load(policy)
    )
    expected = compared.queries(choose_workload(release.publication))
    errors = query_errors_by_column(release.publication)["illness"].expected
    assert errors.median == pytest.approx(expected.expected.median)
    assert errors.average == pytest.approx(expected.expected.average)
    assert f"illness {_shown(expected.expected.median)}" in page(report(release)).text


def _shown(error: float | None) -> str:
    assert error is not None
    return ("<0.1%" if 0 < error < 0.001 else "0%" if error == 0 else f"{error:.1%}") if error < 1 else f"{error:.0%}"


def test_why_no_query_is_asked(page: Pages) -> None:
    """Without a sensitive column, or with means, the report says why there is no query error."""
    rows = _rows()
    policy = _policy({"name": "optimal"}, K)
    policy["columns"] = policy["columns"] | {"illness": {"role": "plain"}}
    assert (
        "Query error was not measured. Queries ask of a sensitive column"
        in page(report(prepare(pa.table(rows), policy))).text
    )
    means = prepare(pa.table(rows), _policy({"name": "mondrian"}, age={"ranges": True}, ranges="means"))
    assert "Query error was not measured. Means, medians and modes of classes do not tell" in page(report(means)).text


def test_many_tuples_get_fewer_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work stays bounded: twice as many different lines, half as many queries."""
    release = prepare(pa.table(_rows()), _policy({"name": "optimal"}))
    assert choose_workload(release.publication).queries == 100
    monkeypatch.setattr("sfumato.report.report_figures._LINES", len(release.encoded.tuples) // 2)
    assert choose_workload(release.publication).queries in {49, 50}
    monkeypatch.setattr("sfumato.report.report_figures._LINES", 1)
    assert choose_workload(release.publication).queries == 20


def _suppressing() -> tuple[Release, list[tuple[str, str, str]]]:
    """A full-domain release of which two towns are dropped: one too small, one with too few illnesses."""
    rows = (
        [("Bern", illness) for illness in ["flu", "HIV", "gout"] * 10]
        + [("Thun", "flu")] * 5
        + [("Genf", illness) for illness in ["flu", "HIV", "gout"]]
    )
    table = {"town": [town for town, _ in rows], "illness": [illness for _, illness in rows], "sex": ["f"] * len(rows)}
    columns = {
        "town": {"role": "quasi", "hierarchy": "suppress"},
        "sex": {"role": "quasi", "hierarchy": "suppress"},
        "illness": {"role": "sensitive"},
    }
    policy = {"columns": columns, "privacy": [K, L], "algorithm": {"name": "optimal", "suppression": 0.25}}
    return prepare(pa.table(table), policy), [("f", *row) for row in rows]


def _kept(release: Release) -> list[bool]:
    assert release.recoding.published is not None
    return list(release.recoding.published.tolist())


def test_which_requirement_suppressed_classes_failed(page: Pages) -> None:
    """Each requirement with the classes and rows that fail it, counted over the suppressed rows."""
    release, rows = _suppressing()
    gone = [row for row, kept in zip(rows, _kept(release), strict=True) if not kept]
    classes = Counter(row[:2] for row in gone)
    values = {key: {row[2] for row in gone if row[:2] == key} for key in classes}
    found = find_suppression_reasons(release.publication)
    assert found is not None
    assert (found.classes, found.rows, found.others) == (len(classes), len(gone), 0)
    few = [size for size in classes.values() if size < 4]
    poor = [classes[key] for key in classes if len(values[key]) < 3]
    assert [(one.classes, one.rows) for one in found.failed] == [(len(few), sum(few)), (len(poor), sum(poor))]
    text = page(report(release)).text
    assert "they would have stood in 2 classes. A class may fail several requirements." in text
    assert "k-anonymity k = 4 1 3 distinct-l-diversity column = illness, l = 3 1 5" in text


def test_who_is_missing(page: Pages) -> None:
    """The columns in which suppressed rows differ most come with both distributions."""
    release, rows = _suppressing()
    kept = _kept(release)
    shares = [
        {
            key: count / kept.count(side)
            for key, count in Counter(row[1] for row, one in zip(rows, kept, strict=True) if one is side).items()
        }
        for side in (True, False)
    ]
    distance = sum(abs(shares[0].get(town, 0) - shares[1].get(town, 0)) for town in ("Bern", "Thun", "Genf")) / 2
    first, second = find_suppression_bias(release.publication, release.figures.columns)
    assert (first.column.name, second.column.name) == ("town", "illness")
    assert first.distance == pytest.approx(distance)
    text = page(report(release)).text
    assert "town 100% apart: 0% is alike, 100% has nothing in common" in text
    assert "published suppressed" in text


def test_nothing_suppressed(page: Pages) -> None:
    """Where every row is published that is said, and no reason is made up."""
    text = page(report(prepare(pa.table(_rows()), _policy({"name": "mondrian"})))).text
    assert "Nothing: every row is published. The policy allows 0% of the rows." in text
    assert "Who is missing" not in text


def test_local_rows_have_no_requirement_of_their_own(page: Pages) -> None:
    """Rows that a local algorithm leaves out were in no class: there is a reason in words, and their distribution."""
    rows = {"q": ["a", "a", "b", "b", "c"], "s": ["x", "y", "x", "y", "bad"]}
    columns = {"q": {"role": "quasi", "hierarchy": "suppress"}, "s": {"role": "sensitive"}}
    model = {"model": "alpha-deassociation", "column": "s", "alpha": 0.1, "values": ["bad"]}
    policy = {"columns": columns, "privacy": [model], "algorithm": {"name": "top-down", "suppression": 0.2}}
    release = prepare(pa.table(rows), policy)
    assert find_suppression_reasons(release.publication) is None
    text = page(report(release)).text
    assert "1 (20.0%) of the rows: rows that kept the others from a requirement" in text
    assert "Requirement not met" not in text
    assert "Who is missing" in text
