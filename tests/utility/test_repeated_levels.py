"""A label that a hierarchy file repeats, so that its lines are equally long, is no step of generalization."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from sfumato import anonymize, utility
from sfumato.release import Release

TREE = (
    "nurse,health,at work,*\nphysician,health,at work,*\nretired,retired,not at work,*\nstudent,student,not at work,*\n"
)


def released(folder: Path, jobs: list[str], k: int, **search: Any) -> Release:
    """Jobs published along a tree of which two branches are shorter than the file's lines."""
    (folder / "tree.csv").write_text(TREE)
    pyarrow.csv.write_csv(pa.table({"job": jobs, "n": ["x"] * len(jobs)}), folder / "jobs.csv")
    columns = {"job": {"role": "quasi", "hierarchy": str(folder / "tree.csv")}, "n": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": k}]
    return anonymize(folder / "jobs.csv", {"columns": columns, "privacy": privacy, "algorithm": search})


@pytest.mark.parametrize("algorithm", ["optimal", "tds", "top-down"])
def test_distortion_is_of_labels(tmp_path: Path, algorithm: str) -> None:
    """Retired people are published as they came at whatever level; the released files say the same as memory."""
    release = released(
        tmp_path, ["nurse"] * 3 + ["physician"] * 2 + ["retired"] * 6 + ["student"] * 5, 5, name=algorithm
    )
    assert set(release.table["job"].to_pylist()) == {"health", "retired", "student"}
    cost = release.utility.attributes["job"]
    assert cost.distortion == pytest.approx(5 * 1 / (16 * 3))
    assert cost.exact_cells == 11
    release.save(tmp_path / "out")
    again = json.loads(json.dumps(utility(tmp_path / "out", original=tmp_path / "jobs.csv").as_json()))
    assert again["distortion_ratio"] == pytest.approx(release.utility.distortion_ratio)
    assert again["attributes"]["job"]["distortion"] == pytest.approx(cost.distortion)


def test_all_generalized_is_all_lost(tmp_path: Path) -> None:
    """Where everything is a star the ratio is 1, short branches or not."""
    release = released(tmp_path, ["nurse", "retired", "student"], 3, name="optimal")
    assert release.utility.distortion_ratio == 1


def test_the_metric_counts_what_is_measured(tmp_path: Path) -> None:
    """By distortion a level at which few cells are generalized costs little, however high it is."""
    (tmp_path / "other.csv").write_text("a,a,ab,*\nb,b,ab,*\n")
    (tmp_path / "tree.csv").write_text(TREE)
    rows = [("nurse", "a")] * 1 + [("physician", "a")] * 1 + [("retired", "a")] * 4 + [("retired", "b")] * 4
    columns: dict[str, Any] = {
        "job": {"role": "quasi", "hierarchy": str(tmp_path / "tree.csv")},
        "other": {"role": "quasi", "hierarchy": str(tmp_path / "other.csv")},
    }
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    table = pa.table({"job": [job for job, _ in rows], "other": [other for _, other in rows]})
    release = anonymize(table, policy | {"algorithm": {"name": "optimal", "metric": "distortion"}})
    assert set(release.table["job"].to_pylist()) == {"health", "retired"}
    assert release.utility.distortion_ratio == pytest.approx(2 / (10 * 6))
