"""Records as densities: what making them takes, and how often ± holds: `python -m benchmarks.uncertain [--out DIR]`.

Speed is processor time, beside a yardstick in the same run: the distances of each record to each other, as numpy has
them in one expression of matrices, a block at a time. A release finds spreads, and is verified twice, in memory and
from its files. Calibration: random ranges of one column are asked of releases of real tables, and the share of true
counts and averages within two standard errors is counted. A table comes from the shared data (Adult) or from a package
that carries it, and is left out where that is not installed. Figures are reported, never asserted. With --out they are
kept.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.datasets import adult_folder
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.queries import open_release

QUERIES, SEED = 120, 1
_NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
_SPEED = ("rows", "k", "density", "search, s", "whole release, s", "yardstick, s", "ratio")
_HELD = ("table", "rows", "density", "figure", "asked", "within 2 ±", "median error", "median ±")


def _policy(names: list[str], k: int, density: str, **columns: Any) -> dict[str, Any]:
    return {
        "columns": {name: {"role": "quasi"} for name in names} | columns,
        "privacy": [{"model": "expected-anonymity", "k": k}],
        "publish": {"form": "uncertain", "density": density},
    }


def _adult(rows: int | None) -> Any:
    folder = adult_folder()
    if folder is None:
        raise ImportError("the rows of Adult are not at hand")
    frame = import_module("pandas").read_csv(folder / "adult.csv")[_NUMBERS]
    return frame if rows is None else frame.sample(rows, random_state=SEED)


def _diabetes() -> Any:
    frame = import_module("sklearn.datasets").load_diabetes(as_frame=True, scaled=False).frame
    return frame[["age", "bmi", "bp", "s1"]]


def _fair() -> Any:
    frame = import_module("statsmodels.datasets.fair").load_pandas().data
    return frame[["age", "yrs_married", "educ", "religious"]]


def _cancer() -> Any:
    frame = import_module("sklearn.datasets").load_breast_cancer(as_frame=True).frame
    return frame[["mean radius", "mean texture", "mean smoothness"]].rename(columns=lambda name: name.replace(" ", "_"))


# ---------------------------------------------------------------------------------------------------------------------
# Speed


def _yardstick(points: Any) -> float:
    """Processor time of all distances."""
    start = time.process_time()
    squares = (points**2).sum(axis=1)
    for begin in range(0, len(points), 256):
        part = points[begin : begin + 256]
        np.sqrt(np.maximum(squares[begin : begin + 256, None] + squares - 2 * part @ points.T, 0)).sum()
    return time.process_time() - start


def _speed(rows: int | None, density: str, k: int = 10) -> dict[str, Any]:
    from sfumato.uncertain.record_densities import DENSITIES, smallest_spreads  # noqa: PLC0415 - what is timed

    frame = _adult(rows)
    points = (frame / frame.std()).to_numpy(dtype=np.float64)
    smallest_spreads(points[:300], k, DENSITIES[density])  # imports what it needs
    start = time.process_time()
    smallest_spreads(points, k, DENSITIES[density])
    search = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        sf.anonymize(frame, _policy(_NUMBERS, k, density)).save(Path(folder, "release"))
        whole = time.process_time() - start
    peer = _yardstick(points)
    return {"rows": len(frame), "k": k, "density": density, "search": search, "whole": whole, "peer": peer}


# ---------------------------------------------------------------------------------------------------------------------
# Calibration


def measure_held(name: str, frame: Any, density: str, queries: int, k: int = 5) -> Iterator[dict[str, Any]]:
    """Publish a table, ask random ranges of it, and count how often the truth is within two standard errors."""
    draw = np.random.default_rng(SEED)
    found: dict[str, list[tuple[float, float, float]]] = {"count": [], "average": []}
    with tempfile.TemporaryDirectory() as folder:
        saved = sf.anonymize(frame, _policy(list(frame), k, density)).save(Path(folder, "release"))
        with open_release(saved) as release:
            for _ in range(queries):
                first, second = draw.choice(list(frame), 2)
                low, high = np.sort(draw.choice(frame[first], 2)).tolist()
                true = frame[frame[first].between(low, high)]
                if not 10 <= len(true) <= len(frame) - 10:
                    continue
                text = f'select count(*) as n, avg("{second}") as a where "{first}" between {low} and {high}'
                values = release.query(text)[0].values
                for figure, one, truth in (
                    ("count", values["n"], float(len(true))),
                    ("average", values["a"], float(true[second].mean())),
                ):
                    if one.estimate is not None and one.standard_error:
                        found[figure].append((abs(one.estimate - truth), one.standard_error, abs(truth)))
    for figure, answers in found.items():
        if answers:
            off, error, truth = np.array(answers).T
            yield {
                "table": name,
                "rows": len(frame),
                "density": density,
                "figure": figure,
                "asked": len(answers),
                "within": float((off <= 2 * error).mean()),
                "error": float(np.median(off / np.maximum(truth, 1e-9))),
                "width": float(np.median(error / np.maximum(truth, 1e-9))),
            }


def _held(queries: int, rows: int, small: bool) -> Iterator[dict[str, Any]]:
    tables: dict[str, Callable[[], Any]] = {
        "adult, a sample": lambda: _adult(rows),
        "fair": _fair,
        "diabetes": _diabetes,
        "breast cancer": _cancer,
    }
    for name, table in tables.items():
        if small and name != "diabetes":
            continue
        try:
            frame = table()
        except ImportError:
            continue
        for density in ("gaussian", "uniform"):
            yield from measure_held(name, frame, density, queries)


def main(arguments: list[str] | None = None) -> dict[str, list[dict[str, Any]]]:
    """Measure, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--small", action="store_true", help="a run of a few seconds, to see that it runs")
    parser.add_argument("--rows", type=int, help="rows of Adult to be timed and asked about; all, and 5,000")
    parser.add_argument("--queries", type=int, default=QUERIES)
    asked = parser.parse_args(arguments)
    small = bool(asked.small)
    speed = []
    if adult_folder() is not None:
        speed = [
            _speed(rows, density)
            for rows in ((500,) if small else (asked.rows,))
            for density in ("gaussian", "uniform")
        ]
    held = list(_held(12 if small else asked.queries, asked.rows or 5_000, small))
    run = describe_run([*speed, *held], full=not small)
    fast = [
        (
            f"{one['rows']:,}",
            str(one["k"]),
            one["density"],
            *(f"{one[key]:.1f}" for key in ("search", "whole", "peer")),
            f"{one['whole'] / one['peer']:.2f}",
        )
        for one in speed
    ]
    lines = [
        (
            one["table"],
            f"{one['rows']:,}",
            one["density"],
            one["figure"],
            str(one["asked"]),
            f"{one['within']:.2f}",
            f"{one['error']:.1%}",
            f"{one['width']:.1%}",
        )
        for one in held
    ]
    page = (
        f"# Records as densities\n\n{setting_line(run)}\n\n## Speed\n\nSix numbers of Adult; processor time. The "
        f"yardstick is all distances between records, in numpy.\n\n{markdown_table(_SPEED, fast)}\n\n## How often ± "
        f"holds\n\nRandom ranges of one column, k = 5.\n\n{markdown_table(_HELD, lines)}\n"
    )
    print(page)
    if asked.out is not None:
        write_run(asked.out, "uncertain", run, page)
    return {"speed": speed, "held": held}


if __name__ == "__main__":
    main()
