"""Wong, Liu, Yin, Huang, Fu and Pei: (α, k)-anonymity based privacy preservation by lossy join, Tables 1 to 7."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sfumato import Policy, anonymize, load_policy, verify
from sfumato.release import Release

RAW = """\
Job,Birth,Postcode,Illness
clerk,1975,4350,HIV
manager,1955,4350,flu
clerk,1955,5432,flu
factory worker,1955,5432,fever
factory worker,1975,4350,flu
technical supporter,1940,4350,fever
"""
"""Table 1."""

JOBS = """\
clerk,white-collar,*
manager,white-collar,*
factory worker,blue-collar,*
technical supporter,blue-collar,*
"""
"""Figure 1, as far as the tables show it."""

CLASSES = (
    ({("clerk", "1975", "4350"), ("manager", "1955", "4350")}, Counter(["HIV", "flu"])),
    ({("clerk", "1955", "5432"), ("factory worker", "1955", "5432")}, Counter(["flu", "fever"])),
    ({("factory worker", "1975", "4350"), ("technical supporter", "1940", "4350")}, Counter(["flu", "fever"])),
)
"""Tables 4 to 6: the quasi-identifiers of each class, and its bag of illnesses."""


def _policy(folder: Path, **publish: str) -> Policy:
    (folder / "raw.csv").write_text(RAW)
    (folder / "job.csv").write_text(JOBS)
    quasi = {"Birth": "suppress", "Postcode": "suppress", "Job": str(folder / "job.csv")}
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": spec} for name, spec in quasi.items()}
    columns["Illness"] = {"role": "sensitive"}
    rule = {"model": "alpha-k-anonymity", "column": "Illness", "alpha": 0.5, "k": 2}
    source = {"source": str(folder / "raw.csv")}
    return load_policy({"data": source, "columns": columns, "privacy": [rule], "publish": publish})


@pytest.fixture
def release(tmp_path: Path) -> Release:
    """Table 1 published by lossy join, at α = 0.5 and k = 2."""
    return anonymize(None, _policy(tmp_path, form="lossy-join"))


def test_table_2_full_domain(tmp_path: Path) -> None:
    """With one level per column only the postcode is left: two classes, of four rows and of two."""
    rows = anonymize(None, _policy(tmp_path).replace(algorithm="optimal")).table.to_pylist()
    assert Counter((row["Job"], row["Birth"], row["Postcode"]) for row in rows) == {
        ("*", "*", "4350"): 4,
        ("*", "*", "5432"): 2,
    }


def test_table_3_local_recoding(tmp_path: Path) -> None:
    """By local recoding each class keeps what its rows share."""
    rows = anonymize(None, _policy(tmp_path)).table.to_pylist()
    assert Counter(tuple(row[name] for name in ("Job", "Birth", "Postcode", "Illness")) for row in rows) == {
        ("white-collar", "*", "4350", "HIV"): 1,
        ("white-collar", "*", "4350", "flu"): 1,
        ("*", "1955", "5432", "flu"): 1,
        ("*", "1955", "5432", "fever"): 1,
        ("blue-collar", "*", "4350", "flu"): 1,
        ("blue-collar", "*", "4350", "fever"): 1,
    }


def test_tables_4_to_6_nss_and_ss(release: Release) -> None:
    """The classes of Table 3 with the values of Table 1, in two tables that share the class alone."""
    assert release.nss.column_names == ["Job", "Birth", "Postcode", "class_id"]
    assert release.ss.column_names == ["class_id", "Illness"]
    lines: dict[int, set[tuple[str, ...]]] = {}
    for job, birth, code, key in zip(*release.nss.to_pydict().values(), strict=True):
        lines.setdefault(key, set()).add((job, birth, code))
    bags: dict[int, Counter[str]] = {}
    for key, illness in zip(*release.ss.to_pydict().values(), strict=True):
        bags.setdefault(key, Counter())[illness] += 1
    found = [(lines[key], bags[key]) for key in lines]
    # not by how sets print, which varies from run to run
    assert sorted(found, key=lambda one: sorted(one[0])) == sorted(CLASSES, key=lambda one: sorted(one[0]))


def test_table_7_the_join(release: Release, tmp_path: Path) -> None:
    """The join of the written files has twelve lines, every line of a class beside every illness of it."""
    public = release.save(tmp_path / "release") / "public"
    joined = duckdb.sql(
        f"SELECT Job, Birth, Postcode, Illness FROM read_csv('{public}/nss.csv', all_varchar = true) "
        f"JOIN read_csv('{public}/ss.csv', all_varchar = true) USING (class_id)"
    ).fetchall()
    expected = [(*quasi, illness) for lines, bag in CLASSES for quasi in lines for illness in bag.elements()]
    assert len(expected) == 12
    assert Counter(joined) == Counter(expected)
    with (tmp_path / "raw.csv").open() as file:
        assert Counter(joined) != Counter(map(tuple, list(csv.reader(file))[1:]))


def test_the_release_keeps_the_definition(release: Release, tmp_path: Path) -> None:
    """Each person is linked to a bag that two share, in which no illness has more than half."""
    verdict = verify(release.save(tmp_path / "release"))
    assert verdict.satisfied
    assert verdict.privacy[0].achieved == {"alpha": 0.5, "k": 2}
    assert verdict.classes == 3
