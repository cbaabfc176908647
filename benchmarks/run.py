"""What `make bench` runs, from the project's folder: `python -m benchmarks.run [--quick] [--only NAME] [--rows N]`.

Figures and verdicts are reported, never asserted. A full run is appended to results.json; others only where
--results says so.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, choose_cases, every_case
from benchmarks.jobs import Bench
from sfumato.papers.experiment import describe_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cases, print them beside the yardsticks, and keep them."""
    options = _options().parse_args(arguments)
    cases = choose_cases(only=options.only, quick=options.quick, rows=options.rows)
    if not cases:
        sys.exit("no case of that name; see --list")
    if options.list:
        print("\n".join(case.name for case in cases))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    repeat, timeout = (1, 120) if options.quick else (3, 900)
    bench = Bench(options.data, repeat=options.repeat or repeat, timeout=options.timeout or timeout)
    full = not (options.only or options.quick or options.rows)
    run = describe_run([bench.run(case) for case in cases], full=full)
    print(report(run))
    if full or options.results:
        print("kept in", keep(run, options.results or HERE / "results.json").parent)


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


def keep(run: Mapping[str, Any], path: Path) -> Path:
    """Append the run to `path`, and write the page of the latest full run beside it; give the path of the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    runs = [*(json.loads(path.read_text(encoding="utf-8")) if path.exists() else []), run]
    path.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    latest = next((previous for previous in reversed(runs) if previous["full"]), runs[-1])
    page = path.with_name("RESULTS.md")
    page.write_text(f"# Benchmarks\n\n{report(latest)}", encoding="utf-8")
    return page


# A run as Markdown tables, on the terminal and in RESULTS.md.

Figures = Mapping[str, Any]
_HEAD = (
    *("case", "rows", "cold s", "warm s", "peak MB", "loss", "of file", "bound", "suppressed", "classes"),
    *("copy s", "× copy", "ARX s", "of ARX", "ARX warm", "ARX MB", "ARX loss"),
    *("search s", "peer s", "of peer", "peer loss", "target", "verdict"),
)
_NOTES = """\
Cold: a fresh process, from start to verified release. Warm: the second run in one process. Copy: a fresh DuckDB
process reads the input and writes it again in the same format, in the same run. Loss is NCP over all
quasi-identifiers, a suppressed row counting 1. ARX's figures are published ones, measured elsewhere on a machine of
this kind (ARX 3.9.2); on the 45,222 rows they are those of its own 30,162 rows. A name ends in the percentage of
rows that may be suppressed; in local recoding it has k, or the way in which Mondrian is run, and nothing may be
suppressed. "Of file" is the loss as `sfumato utility` finds it in the published file, "bound" one that nothing can be
below (`benchmarks.lower_bound`). ARX's local recoding is its default; its most patient setting loses 0.052 in 54 s.
Peers are Mondrians in pure Python, by hierarchy and over value sets; their seconds are of search alone."""
_SYNTHETIC = """\
**The real Adult rows were not at hand: the cases marked † ran on made-up rows with hierarchies of our own, and
figures of ARX beside them are about other data.**"""


def report(run: Mapping[str, Any]) -> str:
    """Write a run: what it ran on, a table per group, what a million rows cost, and what the words mean."""
    known = {case.name: case for case in every_case()}
    pairs = [(known[figures["case"]].with_rows(figures["rows"]), figures) for figures in run["cases"]]
    made_up = any(figures.get("source") == "synthetic" for figures in run["cases"])
    groups = groupby(pairs, key=lambda pair: pair[0].group)
    tables = [
        f"## {group}\n\n{markdown_table(_HEAD, [_line(case, figures) for case, figures in members])}"
        for group, members in groups
    ]
    parts = [setting_line(run), *([_SYNTHETIC] if made_up else []), *tables, *_growth(pairs), _NOTES]
    return "\n\n".join(parts) + "\n"


def _line(case: Case, figures: Figures) -> list[str]:
    synthetic = figures.get("source") == "synthetic"
    return [
        case.name + (" †" if synthetic else ""),
        f"{case.rows:,}" if case.rows else "",
        *(_number(figures.get(key), 2) for key in ("seconds", "warm")),
        _number(figures.get("megabytes"), 0),
        _number(figures.get("loss"), 4 if case.method.local else 3),
        _number(figures.get("published"), 4),
        _number(None if synthetic else case.bound, 4),
        _number(figures.get("suppressed"), 0),
        _number(figures.get("classes"), 0) if case.method.local else "",
        _number(figures.get("copy"), 2),
        _ratio(figures.get("seconds"), figures.get("copy")),
        *_arx_cells(case, figures),
        *_peer_cells(case, figures),
        case.target.describe(),
        case.target.judge(figures),
    ]


def _arx_cells(case: Case, figures: Figures) -> list[str]:
    if case.arx is None:
        return [""] * 5
    ratio = _ratio(figures.get("seconds"), case.arx.seconds)
    rest = (_number(case.arx.warm, 2), _number(case.arx.megabytes, 0), _number(case.arx.loss, 3))
    return [f"{case.arx.seconds:g}", ratio, *rest]


def _peer_cells(case: Case, figures: Figures) -> list[str]:
    """Give search alone, beside what another program's takes."""
    if case.peer is None or "phases" not in figures:
        return [""] * 4
    search = figures["phases"]["search"]
    ratio = _number(search / case.peer.search, 3)
    return [_number(search, 3), f"{case.peer.search:g}", ratio, _number(case.peer.loss, 3)]


def _growth(pairs: Sequence[tuple[Case, Figures]]) -> Iterator[str]:
    """Give the seconds per million rows, for each format."""
    for kind in ("csv", "parquet"):
        sizes = {
            figures["rows"]: figures["seconds"] * 1e6 / figures["rows"]
            for case, figures in pairs
            if case.name.startswith(f"{kind}-") and case.name.endswith("m-2") and "seconds" in figures
        }
        if len(sizes) > 1:
            each = ", ".join(f"{rows / 1e6:g} M {seconds:.2f}" for rows, seconds in sizes.items())
            ratio = sizes[max(sizes)] / sizes[min(sizes)]
            yield f"Seconds per million rows, {kind}: {each}; the largest table over the smallest: {ratio:.2f}."


def _ratio(ours: float | None, yardstick: float | None) -> str:
    return f"{ours / yardstick:.2f}" if ours and yardstick else ""


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


if __name__ == "__main__":
    main()
