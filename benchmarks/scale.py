"""How local recoding grows with the table: `python -m benchmarks.scale [--quick] [--full] [--out DIR]`.

Adult-like rows with eight quasi-identifiers (the salary class is published as it is), k = 10; each size a cold run of
the command, from start to verified release, beside the copy of the same file. Figures and verdicts are reported, never
asserted. A full run is kept beside this file; another only where --out says so.
"""

import argparse
import math
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from benchmarks.cases import SALARY, Case, M, Method, Target
from benchmarks.jobs import Bench
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.papers.plots import Panel, PlotLine, draw_panels

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
    """Give every method at every size, small sizes first, so that the yardstick of a size is near in time."""
    every = []
    for size, name in product(sizes, names):
        wanted = size == M and METHODS[name].algorithm in {"top-down", "mondrian"}
        target = _GOAL if wanted else Target()
        every.append(Case(f"{name}-{size}", name, "like", size, target=target, method=METHODS[name]))
    return every


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the sizes, print the page, and keep it with its plot."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    sizes = options.rows or [*SIZES, *([10 * M] if options.full else [])]
    repeat = 1 if options.quick else 3
    bench = Bench(options.data, repeat=repeat, timeout=options.timeout, warm=False)
    chosen = cases(sizes, [name for name in METHODS if not options.only or name in options.only])
    measured = [bench.run(case) | {"algorithm": case.group} for case in chosen]
    run = describe_run(measured, full=options.full) | {"repeat": repeat}
    out = options.out or (HERE if options.full and not options.only else None)
    if out is None:
        print(page(run, chosen))
        return
    picture = plot(run, out / "figures")
    print(write_run(out, "scale", run | {"verdicts": verdicts(run, chosen)}, page(run, chosen, picture)))


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


# Growth on a page: figures, verdicts, and a plot against n log n.

Run = Mapping[str, Any]
Figures = Mapping[str, Any]
_HEAD = (
    *("algorithm", "rows", "cold s", "search s", "copy s", "× copy", "peak MB", "loss", "classes"),
    *("ns per n log n", "search ns per n log n", "target", "verdict"),
)
_SYNTHETIC = "**The real Adult rows were not at hand: these are made-up rows throughout.**"
_NOTES = """\
Adult-like rows (copies with two attributes redrawn), CSV, eight quasi-identifiers, the salary class published as it
is, k = 10, nothing suppressed. "Improved" and auto have the improvement pass, whose work is bounded; the others are
the algorithms alone. Cold: a fresh process, from start to verified release; the median of {repeat} up to a hundred
thousand rows. Search: the part of it that the algorithm takes. Copy: a fresh DuckDB process reads the same file and
writes it again, in the same run. Log is to the base 2; in the plot the line of n log n ends where the slowest ends, so
that what grows less lies above it."""


def page(run: Run, cases: Sequence[Case], picture: str | None = None) -> str:
    """Write the page; `picture` is the plot."""
    targets = {case.name: case.target for case in cases}
    made_up = any(figures.get("source") == "synthetic" for figures in run["cases"])
    parts = ["# Growth with the size of the table", setting_line(run), *([_SYNTHETIC] if made_up else [])]
    parts += [f"![Seconds against rows](figures/{picture})"] if picture else []
    parts.append(markdown_table(_HEAD, [_line(targets[figures["case"]], figures) for figures in _by_algorithm(run)]))
    growth = markdown_table(("algorithm", "seconds", "from", "to", "grow", "n log n grows", "verdict"), _growth(run))
    return "\n\n".join([*parts, "## Growth", growth, _NOTES.format(repeat=run["repeat"])]) + "\n"


def plot(run: Run, folder: Path) -> str | None:
    """Draw seconds against rows, of the whole run and of search alone; give the name of the file, if anything ran."""
    groups = _successful(run)
    if not groups:
        return None

    def draw(name: str, members: Sequence[Figures], seconds: Callable[[Figures], float]) -> PlotLine:
        return PlotLine(name, [figures["rows"] for figures in members], [seconds(figures) for figures in members])

    copy = draw("copy", next(iter(groups.values())), lambda figures: float(figures["copy"]))
    cold = [*(draw(name, members, _cold) for name, members in groups.items()), copy]
    search = [draw(name, members, _search) for name, members in groups.items()]
    titles = {"From cold start to verified release, k = 10": cold, "Search alone, k = 10": search}
    panels = [Panel(title, "rows", "seconds", [*lines, _guide(lines)], "xy") for title, lines in titles.items()]
    return draw_panels(panels, folder / "scale.svg").name


def _guide(lines: Sequence[PlotLine]) -> PlotLine:
    """Draw what grows as n log n does, and ends where the slowest line ends: it lies below what grows less."""
    most = max(line.across[-1] for line in lines)
    unit = max(line.up[-1] for line in lines if line.across[-1] == most) / _nlogn(most)
    places = max((line.across for line in lines), key=len)
    return PlotLine("n log n", places, [unit * _nlogn(rows) for rows in places], guide=True)


def verdicts(run: Run, cases: Sequence[Case]) -> list[dict[str, str]]:
    """Say what was wanted of which case, and whether it was met; and what grew faster than n log n."""
    targets = {case.name: case.target for case in cases}
    pairs = [(targets[figures["case"]], figures) for figures in run["cases"]]
    on_targets = [
        {"of": figures["case"], "wanted": target.describe(), "verdict": target.judge(figures)}
        for target, figures in pairs
        if target.describe()
    ]
    return on_targets + [
        {"of": f"{name}, {what}, {less} to {more} rows", "wanted": "≤ n log n", "verdict": word}
        for name, what, less, more, *_, word in _growth(run)
    ]


def _line(target: Target, figures: Figures) -> list[str]:
    if figures["code"] != 0:
        return [figures["algorithm"], f"{figures['rows']:,}", *[""] * 9, target.describe(), target.judge(figures)]
    seconds, search, copy = _cold(figures), _search(figures), figures["copy"]
    unit = 1e9 / _nlogn(figures["rows"])
    return [
        *(figures["algorithm"], f"{figures['rows']:,}", f"{seconds:.2f}", f"{search:.2f}", f"{copy:.2f}"),
        *(f"{seconds / copy:.1f}", f"{figures['megabytes']:,.0f}", f"{figures['loss']:.4f}"),
        *(f"{figures['classes']:,}", f"{seconds * unit:.0f}", f"{search * unit:.0f}"),
        *(target.describe(), target.judge(figures)),
    ]


def _growth(run: Run) -> Iterator[list[str]]:
    """Compare each size with the next: the whole run and, harder since nothing of it is constant, search alone."""
    for name, members in _successful(run).items():
        for what, seconds in (("cold", _cold), ("search", _search)):
            for less, more in pairwise(members):
                ours, allowed = seconds(more) / seconds(less), _nlogn(more["rows"]) / _nlogn(less["rows"])
                word = "holds" if ours <= allowed else "does not hold"
                sizes = (f"{less['rows']:,}", f"{more['rows']:,}")
                yield [name, what, *sizes, f"{ours:.1f} ×", f"{allowed:.1f} ×", word]


def _by_algorithm(run: Run) -> list[Figures]:
    order = list(dict.fromkeys(figures["algorithm"] for figures in run["cases"]))
    return sorted(run["cases"], key=lambda figures: (order.index(figures["algorithm"]), figures["rows"]))


def _successful(run: Run) -> dict[str, list[Figures]]:
    """Give the runs that ended well, by algorithm."""
    groups: dict[str, list[Figures]] = {}
    for figures in _by_algorithm(run):
        if figures["code"] == 0:
            groups.setdefault(figures["algorithm"], []).append(figures)
    return groups


def _cold(figures: Figures) -> float:
    return float(figures["seconds"])


def _search(figures: Figures) -> float:
    return float(figures["phases"]["search"])


def _nlogn(rows: float) -> float:
    return rows * math.log2(rows)


if __name__ == "__main__":
    main()
