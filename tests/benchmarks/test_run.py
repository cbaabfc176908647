"""The benchmarks run; what they measure is reported and nowhere asserted."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks.cases import Case, Method, Peer, Target, choose_cases, every_case
from benchmarks.jobs import write_policy
from benchmarks.run import report
from sfumato.policy.toml_text import write_toml

pytestmark = pytest.mark.slow

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}


def run(root: Path, *options: str, adult: Path | None = None) -> str:
    """What the runner prints."""
    environment = os.environ | ({"SFUMATO_ADULT": str(adult)} if adult else {})
    command = [sys.executable, "-m", "benchmarks.run", *options]
    return subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("case", ["million-0", "parquet-1m-2"])
def test_tiny_run_on_made_up_rows(case: str, root: Path, tmp_path: Path) -> None:
    """Without the real rows a case runs on made-up ones and says so, and the run is kept where told."""
    results = tmp_path / "results.json"
    options = ("--quick", "--only", case, "--rows", "2000", "--data", str(tmp_path), "--results", str(results))
    printed = run(root, *options, adult=tmp_path)
    (kept,) = json.loads(results.read_text())
    (figures,) = kept["cases"]
    assert (figures["code"], figures["rows"], figures["source"]) == (0, 2000, "synthetic")
    assert figures["seconds"] > 0
    assert figures["copy"] > 0
    assert figures["warm"] > 0
    assert 0 <= figures["loss"] <= 1
    assert f"{case} †" in printed
    assert printed.strip().splitlines()[2:-2] == (tmp_path / "RESULTS.md").read_text().strip().splitlines()[4:]
    assert str(tmp_path) not in results.read_text()


def test_tiny_run_of_local_recoding(root: Path, tmp_path: Path) -> None:
    """Where classes have labels of their own, the loss is measured on the published file as well."""
    results = tmp_path / "results.json"
    options = ("--quick", "--only", "mondrian-1m", "--rows", "900", "--data", str(tmp_path), "--results", str(results))
    run(root, *options, adult=tmp_path)
    (figures,) = json.loads(results.read_text())[0]["cases"]
    assert figures["published"] == pytest.approx(figures["loss"], abs=1e-3)
    assert "levels" not in figures


def test_runs_are_appended(root: Path, tmp_path: Path) -> None:
    """A second run stands beside the first."""
    results = tmp_path / "results.json"
    for _ in range(2):
        assert "| help" in run(root, "--only", "help", "--repeat", "1", "--results", str(results))
    assert len(json.loads(results.read_text())) == 2


def test_cases() -> None:
    """Names are unique, and another number of rows takes other people's figures away."""
    names = [case.name for case in every_case()]
    assert len(set(names)) == len(names)
    assert all(case.rows <= 1_000_000 for case in choose_cases(quick=True))
    (small,) = choose_cases(only=["csv-5m-2"], rows=100)
    assert (small.rows, small.arx, small.target) == (100, None, Target())


def test_verdicts() -> None:
    """A verdict names each target that is missed, by how much."""
    case = Case("x", "g", "like", 10, target=Target(seconds=2, megabytes=300, copies=3))
    assert case.target.describe() == "≤ 2 s, ≤ 3 × copy, ≤ 300 MB"
    figures = {"code": 0, "seconds": 1.0, "copy": 0.5, "megabytes": 400.0}
    assert case.target.judge(figures) == "missed: 400 > 300 MB"
    assert case.target.judge(figures | {"megabytes": 100.0}) == "met"
    assert case.target.judge({"code": 2}) == "failed (2)"
    assert case.target.judge({"code": None}) == "stopped"


def test_verdicts_on_quality() -> None:
    """Search and loss have limits of their own; the loss that counts is the published file's."""
    case = Case("x", "g", "like", 10, target=Target(search=0.05, loss=0.05))
    assert case.target.describe() == "search ≤ 0.05 s, loss ≤ 0.050"
    figures = {"code": 0, "seconds": 1.0, "copy": 0.5, "phases": {"search": 0.01}, "loss": 0.04}
    assert case.target.judge(figures) == "met"
    assert case.target.judge(figures | {"published": 0.06}) == "missed: 0.06 > 0.05 loss"


def test_peers_beside_ours() -> None:
    """Where another program's search is known, ours stands beside it, as a share of it."""
    (case,) = [case for case in every_case() if case.name == "mondrian"]
    assert case.peer == Peer(0.5, 0.068)
    quality = {"phases": {"search": 0.05}, "loss": 0.0612, "published": 0.0612, "classes": 4_000, "suppressed": 0}
    figures = {"case": "mondrian", "rows": 30_162, "code": 0, "seconds": 0.8, "copy": 0.2, "megabytes": 100.0}
    (line,) = [line for line in report(ABOUT | {"cases": [figures | quality]}).splitlines() if "| mondrian " in line]
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[-7:-1] == ["0.050", "0.5", "0.100", "0.068", "search ≤ 0.05 s, loss ≤ 0.068", "met"]


def test_policies_of_methods(tmp_path: Path) -> None:
    """A method names the algorithm, and may have other columns, ranges and sets in place of hierarchies."""
    method = Method("mondrian", k=7, improve=False, plain="race", left_out="salary-class", sets=True)
    case = Case("x", "g", "like", 10, method=method)
    written = write_policy(case, tmp_path / "synthetic-like-10.csv", tmp_path / "policy.toml")
    policy = tomllib.loads(written.read_text())
    columns = policy["columns"]
    assert (columns["race"], columns["salary-class"]) == ({"role": "plain"}, {"role": "identifier"})
    assert columns["age"]["hierarchy"] == {"ranges": True, "domain": [17, 90]}
    assert columns["sex"]["hierarchy"] == "sets"
    assert policy["privacy"] == [{"model": "k-anonymity", "k": 7}]
    assert (policy["algorithm"]["name"], policy["algorithm"]["improve"]) == ("mondrian", False)


def test_report_of_failures_and_growth() -> None:
    """A case that failed has a line too, and the cost per million rows is told for each format."""
    sizes = [{"case": f"csv-{m}m-2", "rows": m * 10**6, "code": 0, "seconds": 2.0 * m, "copy": m} for m in (1, 2)]
    sizes = [figures | {"megabytes": 100.0} for figures in sizes]
    page = report(ABOUT | {"cases": [{"case": "help", "rows": 0, "code": 2}, *sizes]})
    assert "failed (2)" in page
    assert "csv: 1 M 2.00, 2 M 2.00; the largest table over the smallest: 1.00." in page


def test_toml() -> None:
    """A policy survives being written."""
    policy = {
        "columns": {"a b": {"role": "x", "hierarchy": {"intervals": [5, 10.5], "ok": True}}},
        "c": ['ä"\\\n', 0.02],
    }
    assert tomllib.loads(write_toml(policy)) == policy
