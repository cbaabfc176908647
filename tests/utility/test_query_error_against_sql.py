"""The workload's estimates beside those of `sfumato query`, which counts in SQL: two ways to one definition."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encode import EncodedTable
from sfumato.release import Release, anonymize
from sfumato.split import tables_from_recoding
from sfumato.utility.query_error import (
    CountEstimator,
    CountQuery,
    Workload,
    draw_queries,
    estimator_from_labels,
    estimator_from_tables,
    tables_of_labels,
)

VALUES: dict[str, list[str | None]] = {
    "q0": ["a", "b", "c", "it's"],
    "q1": ["d", "e", "i"],
    "q2": ["f", "g"],
    "illness": ["flu", "HIV", None, "h"],
}
TREES = {"q0": "a,ab,*\nb,ab,*\nz,ab,*\nc,cit,*\nit's,cit,*\n", "q1": "d,*\ne,*\ni,*\n", "q2": "f,*\ng,*\ny,*\n"}
"""With leaves that no row has: whoever has the release alone does not know that."""


def _release(seed: int, form: str, algorithm: str, folder: Path) -> Release:
    random = Random(seed)
    values = VALUES if form == "generalized" else VALUES | {"q1": ["d", "e", None]}
    table = pa.table({name: random.choices(some, k=240) for name, some in values.items()})
    columns: dict[str, Any] = {"illness": {"role": "sensitive"}}
    for name, tree in TREES.items():
        (folder / f"{name}.csv").write_text(tree, encoding="utf-8")
        columns[name] = {"role": "quasi", "hierarchy": str(folder / f"{name}.csv")}
    privacy = [{"model": "alpha-k-anonymity", "k": 2 if form == "anatomy" else 7, "alpha": 0.45, "column": "illness"}]
    search = {"algorithm": {"name": algorithm}} if form != "anatomy" else {}
    return anonymize(table, {"columns": columns, "privacy": privacy, "publish": {"form": form}, **search})


def _answers(release: Release, folder: Path) -> CountEstimator:
    if release.policy.publish.split:
        return estimator_from_tables(
            tables_from_recoding(release.encoded, release.recoding), release.encoded, "illness"
        )
    manifest = json.loads((folder / "public" / "manifest.json").read_text())
    entries = {column["name"]: column for column in manifest["columns"]}
    tables = tables_of_labels(release.encoded, release.recoding)
    return estimator_from_labels(tables, release.encoded, "illness", levels=release.levels, entries=entries)


def _sql(query: CountQuery, encoded: EncodedTable) -> str:
    """The query in words of SQL."""
    columns = [(encoded.quasi[place].column, wanted) for place, wanted in query.quasi]
    columns.append((encoded.sensitive["illness"], query.sensitive))
    tests = []
    for column, wanted in columns:
        values = [column.texts[code] for code in np.flatnonzero(wanted)]
        listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values if value is not None)
        either = [f"{column.name} in ({listed})"] if listed else []
        tests.append(" or ".join([*either, *([f"{column.name} is null"] if None in values else [])]))
    return f"select count(*) where {' and '.join(f'({test})' for test in tests)}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "algorithm"),
    [("lossy-join", "top-down"), ("anatomy", "anatomy"), ("generalized", "top-down"), ("generalized", "optimal")],
)
def test_both_count_the_same(tmp_path: Path, form: str, algorithm: str) -> None:
    """Random queries get the same expected value and the same estimate of the paper from both."""
    from sfumato.queries import open_release

    uncertain = 0
    for seed in range(3):
        release = _release(seed, form, algorithm, tmp_path)
        drawn = draw_queries(release.encoded, "illness", Workload(8, 1 + seed, 0.2, seed))
        folder = release.save(tmp_path / f"release{seed}")
        answers = _answers(release, folder)
        with open_release(folder) as opened:
            for query, actual in zip(drawn.queries, drawn.actual.tolist(), strict=True):
                text = _sql(query, release.encoded)
                expected, paper = (
                    opened.query(text, estimate=one)[0].values["count(*)"].estimate for one in ("expected", "paper")
                )
                assert answers.estimates(query) == pytest.approx((expected, paper)), text
                uncertain += expected != pytest.approx(actual)
    assert uncertain > 10


def test_declared_domains_count_for_both(tmp_path: Path) -> None:
    """Where more values are declared than occur, both spread a label over what is declared."""
    from sfumato.queries import open_release

    table = pa.table({"age": [31, 31, 38, 38] * 5, "illness": ["flu", "cold"] * 10})
    age = {"role": "quasi", "hierarchy": {"intervals": [10], "domain": [0, 119]}}
    columns = {"age": age, "illness": {"role": "sensitive"}}
    release = anonymize(table, {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 15}]})
    folder = release.save(tmp_path / "release")
    query = CountQuery(((0, np.array([True, False])),), np.array([True, True]))
    with open_release(folder) as opened:
        found = opened.query("select count(*) where age = 31")[0].values["count(*)"].estimate
    assert found == pytest.approx(2.0)
    assert _answers(release, folder).estimates(query)[0] == pytest.approx(found)
    assert estimator_from_labels(
        tables_of_labels(release.encoded, release.recoding), release.encoded, "illness"
    ).estimates(query)[0] == pytest.approx(10.0)
