"""How local recoding grows with the table: `python -m benchmarks.scale [--quick] [--full] [--out DIR]`.

Adult-like rows with eight quasi-identifiers (the salary class is published as it is), k = 10; each size a cold run of
the command, from start to verified release, beside the copy of the same file. Figures and verdicts are reported, never
asserted. A full run is kept beside this file; another only where --out says so.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.case import Case, Method, Target
from benchmarks.cases import SALARY, M
from benchmarks.jobs import Bench
from benchmarks.scale_page import page, plot, verdicts
from sfumato.papers.record import described, keep_experiment

HERE = Path(__file__).parent
_PLAIN = Method("auto", k=10, plain=SALARY)
METHODS = {
    **{name: replace(_PLAIN, algorithm=name, improve=False) for name in ("top-down", "progressive", "mondrian")},
    **{f"{name}, improved": replace(_PLAIN, algorithm=name) for name in ("top-down", "mondrian")},
    "auto": _PLAIN,
}
"""The algorithms by themselves, and with the improvement pass: its work is bounded, which would hide how they grow."""
SIZES = (10_000, 100_000, M)
_GOAL = Target(copies=10, megabytes=2000)


def cases(sizes: Sequence[int], names: Sequence[str]) -> list[Case]:
    """Every method at every size, small sizes first, so that the yardstick of a size is near in time."""
    return [
        Case(
            f"{name}-{size}",
            name,
            "like",
            size,
            target=_GOAL if size == M and METHODS[name].algorithm in {"top-down", "mondrian"} else Target(),
            method=METHODS[name],
        )
        for size in sizes
        for name in names
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the sizes, print the page, and keep it with its plot."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    sizes = options.rows or [*SIZES, *([10 * M] if options.full else [])]
    repeat = 1 if options.quick else 3
    bench = Bench(options.data, repeat=repeat, timeout=options.timeout, warm=False)
    chosen = cases(sizes, [name for name in METHODS if not options.only or name in options.only])
    run = described([_shown(bench, case) for case in chosen], full=options.full) | {"repeat": repeat}
    out = options.out or (HERE if options.full and not options.only else None)
    print(page(run, chosen) if out is None else _kept(run, chosen, out))


def _kept(run: dict[str, Any], chosen: Sequence[Case], out: Path) -> str:
    """Write figures, page and plot into `out`."""
    figures = run | {"verdicts": verdicts(run, chosen)}
    return keep_experiment(out, "scale", figures, page(run, chosen, plot(run, out / "figures")))


def _shown(bench: Bench, case: Case) -> dict[str, Any]:
    """The figures of a case, with a word on the terminal while others are waited for."""
    print(f"{case.name} …", end=" ", flush=True, file=sys.stderr)
    figures = bench.run(case) | {"algorithm": case.group}
    print(f"{figures['seconds']:.2f} s" if figures["code"] == 0 else "failed", file=sys.stderr)
    return figures


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description="Local recoding against the size of a table.")
    parser.add_argument("--quick", action="store_true", help="small sizes once, not three times")
    parser.add_argument("--full", action="store_true", help="ten million rows as well")
    parser.add_argument("--rows", type=int, action="append", help="this size, and others only if given too")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this algorithm")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds after which a run is stopped (1800)")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where made-up inputs are kept")
    parser.add_argument("--out", type=Path, help="the folder for page, figures and plot (benchmarks, if --full)")
    return parser


if __name__ == "__main__":
    main()
