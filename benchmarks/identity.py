"""The experiments of the identity-reserved paper, section 5: `python -m benchmarks.identity [--quick] [--out DIR]`.

Common against identity-reserved anonymity, and global against local recoding, on Adult with several rows per person;
then the time of bottom-up beside that of top-down. Figures and verdicts are reported, never asserted. A full run is
kept beside this file; another only where --out says so.
"""

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.identity_checks import checks
from benchmarks.identity_page import page, plots
from benchmarks.identity_points import QUICK, Grid, Point, points
from benchmarks.identity_runs import Experiment
from benchmarks.identity_times import OURS, YARDSTICK, Timing
from benchmarks.lossy_join_runs import Adult
from benchmarks.record import described, keep_experiment

HERE = Path(__file__).parent
_PEOPLE = 40_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every point, then the times; print the page, and keep it with its plots."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    experiment = Experiment(Adult.found(options.rows), options.people)
    grid = QUICK if options.quick else replace(Grid(), improved=()) if options.paper else Grid()
    timing = _timing(experiment, options)
    cases = [_shown(experiment, point) for point in points(grid)]
    full = (options.quick, options.paper, options.people, experiment.adult.source) == (False, False, _PEOPLE, "real")
    run = described(cases, full=full) | {"source": experiment.adult.source, "people": experiment.people}
    run |= {"rpis": list(grid.rpis), "times": {"repeat": timing.repeat, "commands": timing.commands}}
    run["times"]["cases"] = list(_timed(timing.cases()))
    out = options.out or (HERE if full else None)
    print(page(run) if out is None else _kept(run, out))


def _timing(experiment: Experiment, options: argparse.Namespace) -> Timing:
    repeat = options.repeat if options.repeat is not None else 1 if options.quick else 5
    commands = options.commands if options.commands is not None else 0 if options.quick else 3
    return Timing(experiment, repeat, commands)


def _kept(run: dict[str, Any], out: Path) -> str:
    """Write figures, page and plots into `out`."""
    return keep_experiment(out, "identity", run | {"checks": checks(run)}, page(run, plots(run, out / "figures")))


def _shown(experiment: Experiment, point: Point) -> dict[str, Any]:
    """The figures of a point, with a word on the terminal while others are waited for."""
    found = experiment.measured(point)
    asked = ", ".join(f"{key} = {value}" for key, value in point.said.items())
    print(f"{asked}: distortion {found['distortion']:.3f}, {found['classes']:,} classes", file=sys.stderr)
    return found


def _timed(found: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in found:
        times = f"{OURS} {one[OURS]:.2f} s, {YARDSTICK} {one[YARDSTICK]:.2f} s"
        print(f"{one['what']}, {one['requirement']}: {times}", file=sys.stderr)
        yield one


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.identity", description="The experiments of the identity-reserved paper."
    )
    parser.add_argument("--quick", action="store_true", help="a few points, each search timed once, and no command")
    parser.add_argument("--paper", action="store_true", help="the paper's algorithms alone, without improvement pass")
    parser.add_argument("--repeat", type=int, help="how often a search is timed; the median is shown (5, quick 1)")
    parser.add_argument("--commands", type=int, help="how often a command is timed; 0 for none (3, quick 0)")
    parser.add_argument("--people", type=int, default=_PEOPLE, help="rows of Adult that are taken as people (40000)")
    parser.add_argument("--rows", type=int, default=45_222, help="made-up rows, where the real ones are not at hand")
    parser.add_argument("--out", type=Path, help="the folder for page, figures and plots (benchmarks)")
    return parser


if __name__ == "__main__":
    main()
