"""The experiment of the lossy-join paper, section 7: `python -m benchmarks.lossy_join [--quick] [--out DIR]`.

Query error of Alpha (generalized), Anatomy and Alpha(Lossy) on Adult, against the number of quasi-identifiers, query
dimensionality, selectivity and table size; then the time of a thousand queries on a million rows. Figures and verdicts
are reported, never asserted. A full run is kept beside this file; another only where --out says so.
"""

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.lossy_join_checks import orders, trends
from benchmarks.lossy_join_large import Large
from benchmarks.lossy_join_page import page, plots
from benchmarks.lossy_join_points import IMPROVED, Point, points, sweeps
from benchmarks.lossy_join_runs import Adult, cases
from benchmarks.record import described, keep_experiment

HERE = Path(__file__).parent
_QUERIES, _LARGE = 1000, 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every method at every point, then the large table; print the page, and keep it with its plots."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    queries = options.queries or (100 if options.quick else _QUERIES)
    large = options.large if options.large is not None else 0 if options.quick else _LARGE
    adult = Adult.found(options.rows)
    default, every = Point(adult.frame.num_rows), sweeps(adult.frame.num_rows, quick=options.quick)
    extra = () if options.paper else IMPROVED
    found = list(_shown(cases(adult, points(every), queries=queries, at_default=(default, extra))))
    timed = list(_timed(Large(large, queries, options.data).cases())) if large else []
    full = not (options.quick or options.paper) and (queries, large, adult.source) == (_QUERIES, _LARGE, "real")
    run = described(found, full=full) | {"source": adult.source, "queries": queries, "default": asdict(default)}
    run |= {"sweeps": {name: [getattr(point, name) for point in members] for name, members in every.items()}}
    run |= {"large": timed}
    out = options.out or (HERE if full else None)
    print(page(run) if out is None else _kept(run, out))


def _kept(run: dict[str, Any], out: Path) -> str:
    """Write figures, page and plots into `out`."""
    figures = run | {"orders": list(orders(run)), "trends": list(trends(run))}
    return keep_experiment(out, "lossy-join", figures, page(run, plots(run, out / "figures")))


def _shown(figures: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The figures, with a word on the terminal while others are waited for."""
    for one in figures:
        point = f"n = {one['rows']:,}, d = {one['attributes']}, qd = {one['dimensions']}, s = {one['selectivity']}"
        error = one["expected"]["average"]
        print(f"{one['method']}, {point}: {error:.4f}", file=sys.stderr)
        yield one


def _timed(figures: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in figures:
        print(f"{one['method']}, {one['rows']:,} rows: {one['seconds']:.1f} s", file=sys.stderr)
        yield one


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.lossy_join", description="The experiment of the lossy-join paper."
    )
    parser.add_argument("--quick", action="store_true", help="a few points, 100 queries each, and no large table")
    parser.add_argument("--paper", action="store_true", help="the paper's algorithms alone, without improvement pass")
    parser.add_argument("--queries", type=int, help="queries a point (1000, quick 100)")
    parser.add_argument(
        "--large", type=int, metavar="ROWS", help="rows of the large table; 0 for none (1000000, quick 0)"
    )
    parser.add_argument("--rows", type=int, default=45_222, help="made-up rows, where the real ones are not at hand")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where made-up inputs are kept")
    parser.add_argument("--out", type=Path, help="the folder for page, figures and plots (benchmarks)")
    return parser


if __name__ == "__main__":
    main()
