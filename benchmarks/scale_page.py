"""Growth with the size of the table on a page: figures, verdicts, and a plot against n log n."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.verdicts import verdict, wanted
from sfumato.papers.plots import Line, Panel, draw
from sfumato.papers.tables import setting, table

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
    """The whole of it as Markdown; `picture` is the plot."""
    known = {case.name: case for case in cases}
    made_up = any(one.get("source") == "synthetic" for one in run["cases"])
    parts = ["# Growth with the size of the table", setting(run), *([_SYNTHETIC] if made_up else [])]
    parts += [f"![Seconds against rows](figures/{picture})"] if picture else []
    parts.append(table(_HEAD, [_line(known[one["case"]], one) for one in _by_algorithm(run)]))
    growth = table(("algorithm", "seconds", "from", "to", "grow", "n log n grows", "verdict"), _growth(run))
    return "\n\n".join([*parts, "## Growth", growth, _NOTES.format(repeat=run["repeat"])]) + "\n"


def plot(run: Run, folder: Path) -> str | None:
    """Draw seconds against rows, of the whole run and of search alone; the name of the file, if anything ran."""
    groups = _groups(run)
    if not groups:
        return None
    copy = _drawn("copy", next(iter(groups.values())), lambda one: one["copy"])
    cold = [*(_drawn(name, members, _cold) for name, members in groups.items()), copy]
    search = [_drawn(name, members, _search) for name, members in groups.items()]
    titles = {"From cold start to verified release, k = 10": cold, "Search alone, k = 10": search}
    panels = [Panel(title, "rows", "seconds", [*lines, _guide(lines)], "xy") for title, lines in titles.items()]
    return draw(panels, folder / "scale.svg").name


def _drawn(name: str, members: Sequence[Figures], seconds: Callable[[Figures], float]) -> Line:
    return Line(name, [one["rows"] for one in members], [seconds(one) for one in members])


def _guide(lines: Sequence[Line]) -> Line:
    """What grows as n log n does, and ends where the slowest line ends: it lies below what grows less."""
    most = max(line.across[-1] for line in lines)
    unit = max(line.up[-1] for line in lines if line.across[-1] == most) / _nlogn(most)
    every = max((line.across for line in lines), key=len)
    return Line("n log n", every, [unit * _nlogn(rows) for rows in every], guide=True)


def verdicts(run: Run, cases: Sequence[Case]) -> list[dict[str, str]]:
    """What was wanted of which case, and whether it was met; and what grew faster than n log n."""
    known = {case.name: case for case in cases}
    wants = [(known[one["case"]], one) for one in run["cases"]]
    found = [{"of": c.name, "wanted": wanted(c.target), "verdict": verdict(c, f)} for c, f in wants if wanted(c.target)]
    return found + [
        {"of": f"{name}, {what}, {less} to {more} rows", "wanted": "≤ n log n", "verdict": word}
        for name, what, less, more, *_, word in _growth(run)
    ]


def _by_algorithm(run: Run) -> list[Figures]:
    order = list(dict.fromkeys(one["algorithm"] for one in run["cases"]))
    return sorted(run["cases"], key=lambda one: (order.index(one["algorithm"]), one["rows"]))


def _groups(run: Run) -> dict[str, list[Figures]]:
    """The runs that ended well, by algorithm."""
    groups: dict[str, list[Figures]] = {}
    for one in _by_algorithm(run):
        if one["code"] == 0:
            groups.setdefault(one["algorithm"], []).append(one)
    return groups


def _line(case: Case, one: Figures) -> list[str]:
    if one["code"] != 0:
        return [one["algorithm"], f"{one['rows']:,}", *[""] * 9, wanted(case.target), verdict(case, one)]
    unit, search = 1e9 / _nlogn(one["rows"]), one["phases"]["search"]
    return [
        *(one["algorithm"], f"{one['rows']:,}", f"{one['seconds']:.2f}", f"{search:.2f}", f"{one['copy']:.2f}"),
        *(f"{one['seconds'] / one['copy']:.1f}", f"{one['megabytes']:,.0f}", f"{one['loss']:.4f}"),
        *(f"{one['classes']:,}", f"{one['seconds'] * unit:.0f}", f"{search * unit:.0f}"),
        *(wanted(case.target), verdict(case, one)),
    ]


def _growth(run: Run) -> Iterator[list[str]]:
    """From each size to the next: of the whole run and, harder since nothing of it is constant, of search alone."""
    for name, members in _groups(run).items():
        for what, seconds in (("cold", _cold), ("search", _search)):
            for less, more in pairwise(members):
                ours, allowed = seconds(more) / seconds(less), _nlogn(more["rows"]) / _nlogn(less["rows"])
                word = "holds" if ours <= allowed else "does not hold"
                sizes = (f"{less['rows']:,}", f"{more['rows']:,}")
                yield [name, what, *sizes, f"{ours:.1f} ×", f"{allowed:.1f} ×", word]


def _cold(one: Figures) -> float:
    return float(one["seconds"])


def _search(one: Figures) -> float:
    return float(one["phases"]["search"])


def _nlogn(rows: float) -> float:
    return rows * math.log2(rows)
