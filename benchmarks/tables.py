"""A run as Markdown tables, on the terminal and in RESULTS.md."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from benchmarks.case import Case
from benchmarks.cases import every_case
from benchmarks.verdicts import verdict, wanted
from sfumato.papers.tables import setting, table

Figures = Mapping[str, Any]
_HEAD = (
    *(
        "case",
        "rows",
        "cold s",
        "warm s",
        "peak MB",
        "loss",
        "of file",
        "bound",
        "suppressed",
        "classes",
        "copy s",
        "× copy",
    ),
    *("ARX s", "of ARX", "ARX warm", "ARX MB", "ARX loss", "search s", "peer s", "of peer", "peer loss"),
    *("target", "verdict"),
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
    """The whole run: what it ran on, a table per group, what a million rows cost, and what the words mean."""
    known = {case.name: case for case in every_case()}
    pairs = [(known[figures["case"]].with_rows(figures["rows"]), figures) for figures in run["cases"]]
    made_up = any(figures.get("source") == "synthetic" for figures in run["cases"])
    groups = groupby(pairs, key=lambda pair: pair[0].group)
    parts = [f"## {group}\n\n{table(_HEAD, map(_line, members))}" for group, members in groups]
    return "\n\n".join([setting(run), *([_SYNTHETIC] if made_up else []), *parts, *_growth(pairs), _NOTES]) + "\n"


def _line(pair: tuple[Case, Figures]) -> list[str]:
    case, figures = pair
    mark = " †" if figures.get("source") == "synthetic" else ""
    return [
        case.name + mark,
        f"{case.rows:,}" if case.rows else "",
        *(_number(figures.get(key), 2) for key in ("seconds", "warm")),
        _number(figures.get("megabytes"), 0),
        _number(figures.get("loss"), 4 if case.method.local else 3),
        _number(figures.get("published"), 4),
        _number(case.bound if figures.get("source") != "synthetic" else None, 4),
        _number(figures.get("suppressed"), 0),
        _number(figures.get("classes"), 0) if case.method.local else "",
        _number(figures.get("copy"), 2),
        _ratio(figures.get("seconds"), figures.get("copy")),
        *_theirs(case, figures),
        *_peers(case, figures),
        wanted(case.target),
        verdict(case, figures),
    ]


def _theirs(case: Case, figures: Figures) -> list[str]:
    if case.arx is None:
        return [""] * 5
    ratio = _ratio(figures.get("seconds"), case.arx.seconds)
    rest = (_number(case.arx.warm, 2), _number(case.arx.megabytes, 0), _number(case.arx.loss, 3))
    return [f"{case.arx.seconds:g}", ratio, *rest]


def _peers(case: Case, figures: Figures) -> list[str]:
    """Search alone, beside what another program's takes."""
    if case.peer is None or "phases" not in figures:
        return [""] * 4
    search = figures["phases"]["search"]
    ratio = _number(search / case.peer.search, 3)
    return [_number(search, 3), f"{case.peer.search:g}", ratio, _number(case.peer.loss, 3)]


def _growth(pairs: Sequence[tuple[Case, Figures]]) -> Iterator[str]:
    """Seconds per million rows, for each format."""
    for kind in ("csv", "parquet"):
        sizes = {f["rows"]: f["seconds"] * 1e6 / f["rows"] for c, f in pairs if _grows(c, f, kind)}
        if len(sizes) > 1:
            each = ", ".join(f"{rows / 1e6:g} M {seconds:.2f}" for rows, seconds in sizes.items())
            ratio = sizes[max(sizes)] / sizes[min(sizes)]
            yield f"Seconds per million rows, {kind}: {each}; the largest table over the smallest: {ratio:.2f}."


def _grows(case: Case, figures: Figures, kind: str) -> bool:
    return case.name.startswith(f"{kind}-") and case.name.endswith("m-2") and "seconds" in figures


def _ratio(ours: float | None, yardstick: float | None) -> str:
    return f"{ours / yardstick:.2f}" if ours and yardstick else ""


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
