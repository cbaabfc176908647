"""What every engine promises: the release that the table would have had in memory.

Levels, classes and suppressed rows are the same, and so are the published rows as a multiset; only their order is drawn
anew, and pseudonyms are. Figures of the report are the same as well.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq

from sfumato.engines.choice import EngineOptions
from sfumato.errors import Infeasible
from sfumato.policy import Policy
from sfumato.release import Release, prepare
from sfumato.testing.random_tables import METRICS, TableCase, random_case

ALGORITHMS = (
    *("samarati", "incognito", "optimal"),
    *("auto", "progressive", "top-down", "bottom-up", "mondrian", "mondrian-relaxed", "microaggregation", "tds"),
)

WIDE_LINES = 75
"""More lines than classes of four rows and three values leave of 96 rows, and fewer than these rows are."""


def engine_case(seed: int, algorithm: str, *, model: str | None = None) -> TableCase:
    """Draw a case; those with persons have no plain column, which would have a part in how persons are numbered."""
    case = random_case(Random(seed), model, algorithm)  # noqa: S311 - a case has to come again
    if "person" not in case.columns:
        return case
    columns = {name: cells for name, cells in case.columns.items() if name != "visits"}
    roles = {name: role for name, role in case.document["columns"].items() if name != "visits"}
    return TableCase(columns, case.trees, case.document | {"columns": roles})


def wide_case(seed: int, algorithm: str) -> TableCase:
    """Draw a case of more different rows than `WIDE_LINES`, of which fewer are left once it is generalized."""
    draw = Random(seed)  # noqa: S311 - as above
    columns: dict[str, list[str | None]] = {
        "age": [str(draw.randrange(80)) for _ in range(96)],
        "zip": [str(100 + draw.randrange(20)) for _ in range(96)],
        "illness": [draw.choice(["a", "b", "b", "c"]) for _ in range(96)],
    }
    roles = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 40]}, "weight": draw.choice([1, 2])},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 3}, "least": draw.choice([0, 1])},
        "illness": {"role": "sensitive", "hierarchy": "illness.csv"},
    }
    second: list[dict[str, Any]] = [
        {"model": "distinct-l-diversity", "l": 2},
        {"model": "recursive-l-diversity", "c": 3, "l": 2},
        {"model": "t-closeness", "t": 0.4, "distance": "emd-hierarchical"},
        {"model": "alpha-deassociation", "alpha": 0.7},
    ]
    document = {
        "columns": roles,
        "privacy": [{"model": "k-anonymity", "k": 4}, draw.choice(second) | {"column": "illness"}],
        "algorithm": {
            "name": algorithm,
            "metric": METRICS[seed % len(METRICS)],
            "suppression": draw.choice([0, 0.05, 0.1]),
        },
    }
    return TableCase(columns, {}, document)


def write_case(case: TableCase, folder: Path, *, repeated: int = 1, file: str = "table.csv") -> Policy:
    """Write the table of a case, every row so often, and give its policy, whose source that is."""
    rows = [list(row.values()) for row in case.rows for _ in range(repeated)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(case.columns)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text.getvalue(), encoding="utf-8")
    document = case.document | {"data": {"source": file, "null": [""]}}
    return TableCase(case.columns, case.trees, document).policy(folder)


def make_release(policy: Policy, engine: EngineOptions | None, target: Path) -> Release | None:
    """Make a release by an engine, or in memory, and save it; nothing where it is infeasible."""
    try:
        release = prepare(None, policy, engine=engine)
    except Infeasible:
        return None
    release.save(target)
    return release


def assert_same_release(one: Release | None, other: Release | None) -> None:
    """Hold a release against the one that was made in memory."""
    _require((one is None) == (other is None), "one is infeasible, and the other is not")
    if one is None or other is None or one.folder is None or other.folder is None:
        return
    _require(other.levels == one.levels, "not as in memory")
    _require(other.suppressed == one.suppressed, "not as in memory")
    _require(
        sorted(other.recoding.classes.sizes.tolist()) == sorted(one.recoding.classes.sizes.tolist()), "not as in memory"
    )
    for table in one.tables:
        _require(published_rows(other.folder, table) == published_rows(one.folder, table), table)
    _require(_manifest(other.folder) == _manifest(one.folder), "not as in memory")
    _assert_close(_audit(other.folder, other), _audit(one.folder, other), "audit")


def published_rows(folder: Path, table: str) -> Counter[Any]:
    """Count the published rows of a table; what is drawn anew, pseudonyms and class numbers, is known by its rows."""
    manifest = json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))
    drawn = [column["name"] for column in manifest["columns"] if column["role"] == "individual"]
    rows = _read_rows(folder / "public", table)
    drawn += [name for name in rows[0] if name.startswith("class_id")] if rows else []
    if not drawn:
        return Counter(tuple(row.items()) for row in rows)
    (name,) = drawn[:1]
    by_drawn: dict[Any, Counter[Any]] = {}
    for row in rows:
        rest = tuple((key, cell) for key, cell in row.items() if key not in drawn)
        by_drawn.setdefault(row[name], Counter())[rest] += 1
    return Counter(tuple(sorted(counted.items(), key=str)) for counted in by_drawn.values())


def _read_rows(public: Path, table: str) -> list[dict[str, Any]]:
    files = sorted([*public.glob(f"{table}.*"), *public.glob(f"{table}/part-*")])
    rows: list[dict[str, Any]] = []
    for file in files:
        if file.suffix == ".parquet":
            rows += pq.read_table(file).to_pylist()
        else:
            rows += csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"), newline=""))
    return rows


def _manifest(folder: Path) -> dict[str, Any]:
    manifest = json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))
    return {key: part for key, part in manifest.items() if key not in {"files", "summary", "written"}}


def _audit(folder: Path, release: Release) -> dict[str, Any]:
    """The audit in a folder, without what may differ in the `release` that is held against one in memory."""
    audit = json.loads((folder / "private" / "audit.json").read_text(encoding="utf-8"))
    left_out = {"written", "seconds", "manifest_sha256", "recoding", "folder", "warnings"}
    kept = {key: part for key, part in audit.items() if key not in left_out}
    # what is tried on a sample goes by the order of the rows
    kept["attacks"] = [one for one in kept["attacks"] if "sample" not in str(one["says"])]
    if release.encoded.coarse:  # what it says was not measured
        _require("not_measured" in audit or folder != release.folder, "does not say what was not measured")
        kept.pop("not_measured", None)
        kept["attacks"] = [one for one in kept["attacks"] if one["attack"] != "minimality"]
    if any(column["role"] == "plain" for column in audit["policy"]["columns"].values()):
        # somebody who knows plain cells is looked for by them only where rows are held
        kept["attacks"] = [one for one in kept["attacks"] if "picked by" not in one["counts"]]
    return kept


def _assert_close(one: Any, other: Any, where: str) -> None:
    """Compare JSON: numbers to rounding, all else exactly."""
    if isinstance(other, Mapping):
        _require(one.keys() == other.keys(), where)
        for key in other:
            _assert_close(one[key], other[key], f"{where}.{key}")
    elif isinstance(other, list):
        _require(len(one) == len(other), where)
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            _assert_close(left, right, f"{where}[{place}]")
    elif isinstance(other, float):
        _require(abs(one - other) <= 1e-9 * max(1.0, abs(other)), f"{where}: {one} is not {other}")
    else:
        _require(one == other, f"{where}: {one} is not {other}")


def _require(holds: bool, what: str) -> None:
    """Say what does not hold."""
    if not holds:
        raise AssertionError(what)
