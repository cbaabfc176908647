"""The experiments of the sequential-release paper, section 6: `python -m benchmarks.sequential [--quick] [--out DIR]`.

(X, Y)-anonymity and (X, Y)-linkability on two departments' tables of Adult, against unmodified data, k-anonymity and
removal of attributes: classification error and distortion; then the time of the command on enlarged tables. Figures
and verdicts are reported, never asserted. A full run is kept beside this file; another only where --out says so. With
--only, the other parts are taken from what is kept there, with their dates.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import described, keep_experiment
from benchmarks.sequential_checks import checks
from benchmarks.sequential_figures import PARTS
from benchmarks.sequential_growth import verdicts
from benchmarks.sequential_page import page, plots
from benchmarks.sequential_points import QUICK, Grid, anonymity, linkability
from benchmarks.sequential_runs import Experiment
from benchmarks.sequential_scale import SIZES, Scale
from benchmarks.sequential_sets import People

HERE = Path(__file__).parent
_SMALL = (50_000, 100_000)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts, print the page, and keep it with its plots."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    people = People.found(options.rows)
    parts = options.only or list(PARTS)
    grid = QUICK if options.quick else Grid()
    repeat = 1 if options.quick else 3
    sizes = options.sizes or (_SMALL if options.quick else SIZES)
    cases = list(_cases(people, grid, [part for part in parts if part != "scale"]))
    scale = list(_timed(Scale(people, sizes, repeat).cases())) if "scale" in parts else []
    full = not (options.quick or options.sizes) and people.source == "real"
    run = described(cases, full=full) | {"source": people.source, "repeat": repeat, "scale": _rounded(scale)}
    run["parts"] = {part: {key: run[key] for key in ("date", "load", "full")} for part in parts}
    out = options.out or (HERE if full and not options.only else None)
    print(page(run) if out is None else _kept(_with_earlier(run, out) if options.only else run, out))


def _cases(people: People, grid: Grid, parts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The figures of every part but the scale; what removal costs comes first, for each set once."""
    with Experiment.of(people) as experiment:
        for part in parts:
            data = part[-1]
            for one in experiment.removed(data, grid):
                yield _shown({"part": part, **one})
            for point in anonymity(grid, data) if part == data else linkability(grid, data):
                yield _shown({"part": part, **experiment.measured(point)})


def _kept(run: dict[str, Any], out: Path) -> str:
    """Write figures, page and plots into `out`."""
    figures = run | {"checks": checks(run), "verdicts": verdicts(run)}
    return keep_experiment(out, "sequential", figures, page(run, plots(run, out / "figures")))


def _with_earlier(run: dict[str, Any], out: Path) -> dict[str, Any]:
    """The run with the parts that it has not, from what is kept in `out`."""
    path = out / "results-sequential.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if before.get("source") != run["source"]:
        return run
    rest = {part: said for part, said in before["parts"].items() if part not in run["parts"]}
    cases = [one for one in before["cases"] if one["part"] in rest]
    scale = before["scale"] if "scale" in rest else run["scale"]
    parts = {part: (rest | run["parts"])[part] for part in PARTS if part in rest | run["parts"]}
    return run | {"cases": [*cases, *run["cases"]], "scale": scale, "parts": parts}


def _shown(one: dict[str, Any]) -> dict[str, Any]:
    """A case, with a word on the terminal while others are waited for."""
    asked = ", ".join(f"{key} = {one[key]}" for key in ("data", "method", "top", "k", "score") if key in one)
    found = one.get("infeasible") or f"error {one['error']:.4f}"
    print(f"{asked}: {found}", file=sys.stderr)
    return one


def _timed(found: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in found:
        told = f"{one['seconds']:.2f} s, {one['megabytes']:.0f} MB" if one["code"] == 0 else f"failed: {one['errors']}"
        print(f"{one['kind']}, {one['rows']:,} rows: {told}", file=sys.stderr)
        yield one


def _rounded(scale: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Floats with few digits, however deep: more are noise."""
    found: list[dict[str, Any]] = json.loads(json.dumps(scale), parse_float=lambda text: round(float(text), 4))
    return found


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.sequential", description="The experiments of the sequential-release paper."
    )
    parser.add_argument("--quick", action="store_true", help="a few points, and small tables timed once")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part, and others only if given too")
    parser.add_argument("--sizes", type=int, action="append", help="this size of enlarged tables (200000 to 5000000)")
    parser.add_argument("--rows", type=int, default=45_222, help="made-up rows, where the real ones are not at hand")
    parser.add_argument("--out", type=Path, help="the folder for page, figures and plots (benchmarks)")
    return parser


if __name__ == "__main__":
    main()
