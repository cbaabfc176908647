"""What `make bench` runs, from the project's folder: `python -m benchmarks.run [--quick] [--only NAME] [--rows N]`.

Figures and verdicts are reported, never asserted. A full run is appended to results.json; others only where
--results says so.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.case import Case
from benchmarks.cases import chosen
from benchmarks.jobs import Bench
from benchmarks.record import keep
from benchmarks.tables import report
from sfumato.papers.record import described

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cases, print them beside the yardsticks, and keep them."""
    options = _options().parse_args(arguments)
    cases = chosen(only=options.only, quick=options.quick, rows=options.rows)
    if not cases:
        sys.exit("no case of that name; see --list")
    if options.list:
        print("\n".join(case.name for case in cases))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    repeat, timeout = (1, 120) if options.quick else (3, 900)
    bench = Bench(options.data, repeat=options.repeat or repeat, timeout=options.timeout or timeout)
    full = not (options.only or options.quick or options.rows)
    run = described([_shown(bench, case) for case in cases], full=full)
    print(report(run))
    if full or options.results:
        print("kept in", keep(run, options.results or HERE / "results.json").parent)


def _shown(bench: Bench, case: Case) -> dict[str, object]:
    """The figures of a case, with a word on the terminal while others are waited for."""
    print(f"{case.name} …", end=" ", flush=True, file=sys.stderr)
    figures = bench.run(case)
    print(f"{figures['seconds']:.2f} s" if figures["code"] == 0 else "failed", file=sys.stderr)
    return figures


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description="Time, memory and quality as ratios.")
    parser.add_argument("--quick", action="store_true", help="nothing beyond a million rows, each case once")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="cases whose name holds this")
    parser.add_argument("--rows", type=int, help="this many Adult-like rows in place of each case's own")
    parser.add_argument("--repeat", type=int, help="how often small cases run; the median is shown (3, quick 1)")
    parser.add_argument("--timeout", type=float, help="seconds after which a case is stopped (900, quick 120)")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where made-up inputs are kept")
    parser.add_argument("--results", type=Path, help="the file the run is appended to (results.json)")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    return parser


if __name__ == "__main__":
    main()
