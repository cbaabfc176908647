"""Cross-tables with suppressed cells: `python -m benchmarks.cross_tables [--size N] [--out DIR]`.

The real command in fresh processes, verification and writing included, beside the copy of the same file by DuckDB in
the same run. Figures and verdicts are reported, never asserted. A run of full size is kept beside this file; another
only where --out says so.
"""

import argparse
import csv
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.papers.process_measurement import COPY, SFUMATO, measure_process

LIMIT = 10.0
"""Seconds that a table of 40 rows and 40 columns with marginals may take."""
HERE = Path(__file__).parent
_SIZE = 40
_SUM = ("--sum", "turnover")
_FLAT = ("--rows", "region", "--columns", "branch")
_HEAD = (
    *("table", "cells", "primary", "secondary", "suppressed", "bound / cost", "optimal"),
    *("seconds", "cpu s", "copy s", "× copy", "peak MB", "target", "verdict"),
)
_NOTES = """\
Firms drawn at random with log-normal turnover, `sfumato audit table --min-count 3 --out`, cold: reading, search, and
the verifier, which counts the firms again in SQL and works the intervals out from the written files. Bound / cost: no
suppression costs less than this share of the one that was found. Copy: a fresh DuckDB process reads the same file and
writes it again, in the same run. The command keeps one core busy: where others keep the machine busy as well, its
processor time says what it takes on an idle one."""


@dataclass(frozen=True)
class CrossTableCase:
    """A table to make of the firms: what it is called, its options, and how many firms there are for each cell."""

    name: str
    options: Sequence[str]
    firms: float


CASES = (
    CrossTableCase("sums, 3 % of cells primary", (*_FLAT, *_SUM), 8.5),
    CrossTableCase("sums, 10 % of cells primary", (*_FLAT, *_SUM), 5.6),
    CrossTableCase("counts, 7 % of cells primary", _FLAT, 5.6),
    CrossTableCase("sums of firms in several rows", (*_FLAT, *_SUM, "--individual", "firm"), 8.5),
)


def cases(size: int, chosen: Sequence[CrossTableCase] = CASES) -> Iterator[dict[str, Any]]:
    """Measure each case on tables of so many rows and columns."""
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as work:
        for number, case in enumerate(chosen):
            source = Path(work, f"firms-{number}.csv")
            _write_firms(source, size, round(case.firms * size * size))
            copied = measure_process([*COPY, source, Path(work, f"copy-{number}.csv")])
            command: list[str | Path] = [*SFUMATO, "audit", "table", source, *case.options, "--min-count", "3"]
            made = measure_process([*command, "--out", Path(work, f"out-{number}"), "--json"])
            for measured in (copied, made):
                if measured.failed:
                    raise RuntimeError(f"{case.name} did not end well: {measured.errors.strip()}")
            found = json.loads(made.output)
            yield {
                "name": case.name,
                "size": size,
                **{
                    key: found[key]
                    for key in ("cells", "primary", "secondary", "suppressed", "cost", "bound", "optimal")
                },
                "seconds": round(made.seconds, 2),
                "cpu": round(made.cpu, 2),
                "copy": round(copied.seconds, 2),
                "megabytes": round(made.megabytes),
            }


def _write_firms(path: Path, size: int, firms: int) -> None:
    """Write firms with a region, a branch and a turnover."""
    draw = np.random.RandomState(1)
    lines = zip(
        draw.randint(0, size, firms),
        draw.randint(0, size, firms),
        draw.randint(0, 8, firms),
        draw.lognormal(8, 1, firms).round(2),
        strict=True,
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["region", "branch", "firm", "turnover"])
        writer.writerows(
            [f"r{region:02}", f"b{branch:02}", f"f{region}-{branch}-{firm}", turnover]
            for region, branch, firm, turnover in lines
        )


def page(run: Mapping[str, Any]) -> str:
    """Write the page."""
    size = run["cases"][0]["size"]
    parts = [f"# Cross-tables of {size} × {size} cells with marginals", setting_line(run)]
    return "\n\n".join([*parts, markdown_table(_HEAD, map(_line, run["cases"])), _NOTES]) + "\n"


def _line(case: Mapping[str, Any]) -> list[str]:
    counts = [f"{case[key]:,}" for key in ("cells", "primary", "secondary", "suppressed")]
    share = case["bound"] / case["cost"] if case["cost"] else 1.0
    times = [case["seconds"], case["cpu"], case["copy"], case["seconds"] / max(case["copy"], 0.01)]
    verdict = "met" if case["seconds"] <= LIMIT else "busy: met by cpu" if case["cpu"] <= LIMIT else "missed"
    optimal = "yes" if case["optimal"] else "not proved"
    rest = [f"{case['megabytes']:,}", f"≤ {LIMIT:g} s", verdict]
    return [case["name"], *counts, f"{share:.3f}", optimal, *(f"{time:.2f}" for time in times), *rest]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every case, print the page, and keep it."""
    parser = argparse.ArgumentParser(prog="benchmarks.cross_tables", description="Cross-tables with suppressed cells.")
    parser.add_argument("--size", type=int, default=_SIZE, help="rows and columns of the tables (40)")
    parser.add_argument("--out", type=Path, help="the folder for page and figures (benchmarks)")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    full = options.size == _SIZE
    run, out = describe_run(list(cases(options.size)), full=full), options.out or (HERE if full else None)
    print(page(run) if out is None else write_run(out, "cross-tables", run, page(run)))


if __name__ == "__main__":
    main()
