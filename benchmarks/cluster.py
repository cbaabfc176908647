"""Condensation beside its yardsticks: `python -m benchmarks.cluster [--out DIR]`.

MDAV of as many rows and columns as Adult has of people and numbers, in seconds (aim: 10) and beside one pass of
distances; and condensation by median cuts of a million rows of ten columns, from arrays to drawn rows, beside the time
to sort each column once (aim: 6 times that). How long sorting takes depends on the processor: numpy's plain sort has
vector instructions where there are any, and is then ten times quicker than a sort by comparisons; so both stand there,
and what LAPACK takes for the axes of so many groups, below which no program that finds them can come. CPU time is given
as well, since others may be at work on the machine.
Figures are reported, never asserted. With --out they are kept.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sfumato.cluster.mdav import mdav
from sfumato.cluster.mixed_points import MixedPoints
from sfumato.condense.condensation import condense
from sfumato.condense.mixed_columns import MixedTable, mix_columns
from sfumato.core.randomness import Randomness
from sfumato.datasets.adult import adult_folder
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.policy import load
from sfumato.table import table_from

_HEAD = ("what", "s", "CPU s", "yardstick", "its s", "its CPU s", "ratio", "CPU ratio", "aim")
_ADULT = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_MANY = 1_000_000


def main() -> None:
    """Measure, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=_MANY, help="rows of the larger table")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    run = describe_run([*_mdav(), *_condense(given.rows)], full=given.rows == _MANY)
    lines = [
        (
            one["what"],
            *(f"{one[key]:.2f}" for key in ("seconds", "cpu")),
            one["yardstick"],
            *(f"{one[key]:.4f}" for key in ("its_seconds", "its_cpu")),
            *(f"{one[key]:.2f}" for key in ("ratio", "cpu_ratio")),
            one["aim"],
        )
        for one in run["cases"]
    ]
    page = f"# Clustering and condensation\n\n{setting_line(run)}\n\n{markdown_table(_HEAD, lines)}\n"
    print(page)
    if given.out is not None:
        write_run(given.out, "cluster", run, page)


def _best(work: Callable[[], Any], times: int) -> tuple[float, float]:
    """Give the shortest of several times, of the clock and of the processor."""
    found = []
    for _ in range(times):
        start, cpu = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - start, time.process_time() - cpu))
    return min(wall for wall, _ in found), min(cpu for _, cpu in found)


def _mdav() -> Iterator[dict[str, Any]]:
    """The six numeric columns of Adult, or as many random numbers where it is not here."""
    folder = adult_folder()
    if folder is None:
        print("the Adult rows are not here: random numbers stand for them")
        numbers = np.random.default_rng(1).normal(size=(45_222, 6))
    else:
        numbers = pd.read_csv(folder / "adult.csv")[list(_ADULT)].to_numpy(dtype=np.float64)
    points = MixedPoints((numbers - numbers.mean(axis=0)) / numbers.std(axis=0))
    one_pass = _best(lambda: points.distances_to_row(0), 20)
    rows = f"{len(points):,} × {numbers.shape[1]}"
    for k in (10, 5):
        yield _line(f"MDAV of {rows}, k = {k}", _best(partial(mdav, points, k), 2), "one pass", one_pass, "10 s")


def _condense(rows: int) -> Iterator[dict[str, Any]]:
    """Numbers that go with one another, ten columns, as arrays."""
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=(rows, 10)) @ rng.normal(size=(10, 10))
    frame = pd.DataFrame(numbers, columns=[f"x{place}" for place in range(10)])
    policy = load(
        {
            "columns": {name: {"role": "quasi"} for name in frame},
            "privacy": [{"model": "k-anonymity", "k": 10}],
            "algorithm": {"name": "condensation", "clustering": "mondrian"},
            "publish": {"form": "synthetic"},
        }
    )
    table = mix_columns(table_from(frame, policy), policy, 10)
    columns = np.ascontiguousarray(numbers.T)
    what = f"condensation of {rows:,} × 10 by median cuts, k = 10"
    ours = _best(lambda: _draw(table, policy), 2)
    # numpy's plain sort takes what vector instructions the processor has, and with AVX-512 a tenth of the time
    for yardstick, kind in (
        ("sort each column by comparisons", "stable"),
        ("sort each column, numpy's quickest", None),
    ):
        sorting = _best(lambda kind=kind: [np.sort(column, kind=kind) for column in columns], 3)  # type: ignore[misc]
        yield _line(what, ours, yardstick, sorting, "6 ×")
    groups = rng.normal(size=(rows // 10, 10, 10))
    covariances = groups @ groups.swapaxes(1, 2)
    axes = _best(lambda: np.linalg.eigh(covariances), 2)
    sorting = _best(lambda: [np.sort(column) for column in columns], 3)
    yield _line(
        f"of it, the axes of {rows // 10:,} groups, by LAPACK", axes, "sort each column, numpy's quickest", sorting, ""
    )


def _draw(table: MixedTable, policy: Any) -> Any:
    return condense(table, 10, policy.search, Randomness(1, "benchmark"))


def _line(what: str, ours: tuple[float, float], yardstick: str, its: tuple[float, float], aim: str) -> dict[str, Any]:
    figures = {"what": what, "seconds": ours[0], "cpu": ours[1], "yardstick": yardstick}
    figures |= {"its_seconds": its[0], "its_cpu": its[1]}
    return figures | {"ratio": ours[0] / its[0], "cpu_ratio": ours[1] / its[1], "aim": aim}


if __name__ == "__main__":
    main()
