"""The experiment of the (α, k) paper, section 5: `python -m benchmarks.alpha_k [--quick] [--paper] [--out DIR]`.

Extended Incognito, Progressive and Top-Down on Adult, against α and against the size of the quasi-identifier, for
k = 2 and 10. Figures and verdicts are reported, never asserted. A full run is kept beside this file; a quick one only
where --out says so.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.alpha_k_page import claims, page, plots
from benchmarks.alpha_k_runs import ALGORITHMS, ALPHAS, SIZES, Adult, Algorithm, Point, measured, points
from benchmarks.record import described, keep_experiment

HERE = Path(__file__).parent
_QUICK = ((0.3, 0.5, 0.9), (2, 5, 8))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every algorithm at every point, print the page, and keep it with its plots."""
    options = _options().parse_args(arguments)
    algorithms = [one for one in ALGORITHMS if not (options.paper and one.improve)]
    adult, repeat = Adult.found(options.rows), options.repeat or (1 if options.quick else 5)
    alphas, sizes = _QUICK if options.quick else (ALPHAS, SIZES)
    cases = [
        _shown(adult, point, algorithm, repeat=repeat) for point in points(alphas, sizes) for algorithm in algorithms
    ]
    full = not (options.quick or options.paper)
    run = described(cases, full=full) | {"source": adult.source, "repeat": repeat}
    out = options.out or (HERE if full and adult.source == "real" else None)
    print(page(run) if out is None else _kept(run, out))


def _kept(run: dict[str, Any], out: Path) -> str:
    """Write figures, page and plots into `out`."""
    return keep_experiment(out, "alpha-k", run | {"claims": claims(run)}, page(run, plots(run, out / "figures")))


def _shown(adult: Adult, point: Point, algorithm: Algorithm, *, repeat: int) -> dict[str, Any]:
    """The figures of a run, with a word on the terminal while others are waited for."""
    print(
        f"k = {point.k}, α = {point.alpha}, size {point.size}, {algorithm.label} …",
        end=" ",
        flush=True,
        file=sys.stderr,
    )
    figures = measured(adult, point, algorithm, repeat=repeat)
    print(f"{figures['seconds']:.3f} s, distortion {figures['distortion']:.3f}", file=sys.stderr)
    return figures


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.alpha_k", description="The experiment of the (α, k) paper.")
    parser.add_argument("--quick", action="store_true", help="three values of α, three sizes, each timed once")
    parser.add_argument("--paper", action="store_true", help="the paper's algorithms alone, without improvement pass")
    parser.add_argument("--repeat", type=int, help="how often a search is timed; the median is shown (5, quick 1)")
    parser.add_argument("--rows", type=int, default=45_222, help="made-up rows, where the real ones are not at hand")
    parser.add_argument("--out", type=Path, help="the folder for page, figures and plots (benchmarks)")
    return parser


if __name__ == "__main__":
    main()
