"""Time and memory of sequential releases on enlarged tables: Figures 5 and 8 of the sequential-release paper.

The whole command runs in a fresh process on both tables enlarged as in the paper, beside the copy of T1's file. Then
the claims about time, of these and of single releases (the paper's machine was of 2006), and their part of the page.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.datasets import enlarge
from sfumato.papers.claims import NOT_MEASURED, Claim, Run, Verdict, holds_if
from sfumato.papers.markdown_tables import markdown_table, picture
from sfumato.papers.plots import Panel, PlotLine
from sfumato.papers.process_measurement import COPY, measure_anonymize, measure_process, median_run
from sfumato.papers.sequential_releases import (
    CLASS,
    EARLIER,
    LINK,
    SET_A,
    XY,
    Departments,
    SequentialExperiment,
    SequentialPoint,
    write_csv,
)
from sfumato.policy.toml_text import write_toml

POINTS = {"anonymity": SequentialPoint("A", XY, 6, 40), "linkability": SequentialPoint("A", LINK, 1, 0.9)}
MILLION = 1_000_000
CHANGED = 2
"""The paper's q: how many attributes of X a variation of a record has redrawn."""


def measure_scale(
    departments: Departments, sizes: Sequence[int], repeat: int, *, timeout: float = 1800
) -> Iterator[dict[str, Any]]:
    """Measure both requirements at every size; tables of up to a million rows are timed `repeat` times."""
    for rows in sizes:
        for kind, point in POINTS.items():
            with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
                source, policy = _write_inputs(departments, point, rows, Path(folder))
                times = repeat if rows <= MILLION else 1
                yield {"kind": kind, "rows": rows, **_measure_command(source, policy, times, timeout)}


def _write_inputs(departments: Departments, point: SequentialPoint, rows: int, work: Path) -> tuple[Path, Path]:
    """Write T1, T2 and the policy as files; give those of T1 and the policy."""
    taxation, immigration = enlarge_tables(departments, point, rows)
    source, earlier = write_csv(taxation, work / "taxation.csv"), write_csv(immigration, work / f"{EARLIER}.csv")
    policy = SequentialExperiment(departments, earlier).policy(point) | {"data": {"source": str(source)}}
    policy["columns"] = {name: column for name, column in policy["columns"].items() if name in taxation.column_names}
    (path := work / "policy.toml").write_text(write_toml(policy), encoding="utf-8")
    return source, path


def _measure_command(source: Path, policy: Path, times: int, timeout: float) -> dict[str, Any]:
    """Measure ``sfumato anonymize`` and the copy of its table, so many times each."""
    target = policy.with_name("copy.csv")
    copy = median_run(lambda: measure_process([*COPY, source, target], timeout=timeout), times)
    command = median_run(lambda: measure_anonymize(policy, timeout=timeout), times)
    if command.failed:
        return {"code": command.code, "errors": command.errors.strip()}
    summary = json.loads(command.output)
    return {
        "code": 0,
        "seconds": command.seconds,
        "cpu": command.cpu,
        "megabytes": command.megabytes,
        "copy": copy.seconds,
        "classes": summary["classes"],
        "phases": summary["seconds"],
        "achieved": summary["privacy"][0]["achieved"],
    }


def enlarge_tables(departments: Departments, point: SequentialPoint, rows: int) -> tuple[Any, Any]:
    """Enlarge T1 and T2 to so many rows: the original ones, then variations of them with a few attributes of X redrawn.

    A variation keeps what is not in X, the values of Y among it.
    """
    taxation, immigration = departments.frame.select([*SET_A.attributes, CLASS]), departments.immigration
    theirs = [name.partition(".")[2] for name in point.x if name.startswith(f"{EARLIER}.")]
    return vary_rows(taxation, point.quasi, rows, seed=1), vary_rows(immigration, theirs, rows, seed=2)


def vary_rows(table: Any, columns: Sequence[str], rows: int, *, seed: int) -> Any:
    """Add variations of its rows to a table, in turn: the values of `CHANGED` of the columns are drawn anew.

    >>> small = pa.table({"sex": ["f", "m"], "job": ["cook", "clerk"], "class": ["a", "b"]})
    >>> vary_rows(small, ["sex", "job"], 5, seed=1)["class"].to_pylist()
    ['a', 'b', 'a', 'b', 'a']
    """
    more = rows - table.num_rows
    if more <= 0:
        return table.slice(0, rows)
    varied = enlarge(table.select(list(columns)), more, seed=seed, changed=min(CHANGED, len(columns)))
    rest = [name for name in table.column_names if name not in columns]
    if rest:
        same = enlarge(table.select(rest), more, changed=0)
        varied = pa.table(dict(zip((*columns, *rest), (*varied.columns, *same.columns), strict=True)))
    return pa.concat_tables([table, varied.select(table.column_names).cast(table.schema)])


# What the paper states of time.

LINEAR = 1.25
"""How many times as long a row may take in the largest table as in the smallest."""
PAPER_SECONDS = {"anonymity": 885, "linkability": 83}
"""Seconds that a million rows took."""
FIGURES = {"anonymity": "5", "linkability": "8"}
_LIMITS = {
    "A": ("section 6.1", "Set A", 30),
    "B": ("section 6.1", "Set B", 30),
    "links-A": ("section 6.2", "Set A, linkability", 20),
    "links-B": ("section 6.2", "Set B, linkability", 450),
}
"""Of each part of the experiment: where the text speaks of it, what it is, and the seconds of a release at most."""
_LONGEST = "links-B"


def time_claims(run: Run) -> Iterator[Claim]:
    """Hold what the text says of seconds against ours: of single releases, and of enlarged tables."""
    slowest = {
        part: max((case["seconds"] for case in run["cases"] if case["part"] == part and "seconds" in case), default=0.0)
        for part in _LIMITS
    }
    for part, (section, of, limit) in _LIMITS.items():
        ours = f"at most {slowest[part]:.2f} s", holds_if(slowest[part] < limit)
        yield Claim(section, "every release takes less than so many seconds", of, f"< {limit} s", *ours)
    longest = max(slowest, key=lambda part: slowest[part])
    ours = f"{_LIMITS[longest][1]}: {slowest[longest]:.2f} s", holds_if(longest == _LONGEST)
    section, theirs, _ = _LIMITS[_LONGEST]
    yield Claim(section, "the release that takes longest", "all releases", theirs, *ours)
    for kind, figure in FIGURES.items():
        of, members = f"Set A, {kind}", successful_runs(run, kind)
        million = _at_a_million(members)
        ours = "", NOT_MEASURED
        if million:
            ours = f"{million['seconds']:.2f} s", holds_if(million["seconds"] <= PAPER_SECONDS[kind])
        yield Claim(figure, "seconds of a million rows", of, f"{PAPER_SECONDS[kind]} s", *ours)
        says = "highly scalable: time is at most linear in the rows"
        yield Claim(figure, says, of, f"≤ × {LINEAR} a row", *_growth(members))
    yield from _claims_on_phases(run)


def successful_runs(run: Run, kind: str) -> list[Mapping[str, Any]]:
    """Find the runs on enlarged tables that ended well, by size."""
    members = [size for size in run["scale"] if size["kind"] == kind and size["code"] == 0]
    return sorted(members, key=lambda size: size["rows"])


def _at_a_million(members: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((size for size in members if size["rows"] == MILLION), None)


def _growth(members: Sequence[Mapping[str, Any]]) -> Verdict:
    if len(members) < 2:
        return "", NOT_MEASURED
    ends = (members[0], members[-1])
    less, more = (size["seconds"] / size["rows"] for size in ends)
    sizes = " → ".join(f"{size['rows']:,}" for size in ends)
    return f"a row takes × {more / less:.2f}, {sizes} rows", holds_if(more / less <= LINEAR)


def _claims_on_phases(run: Run) -> Iterator[Claim]:
    """Hold where the time goes against ours; our search does what the paper counts as preprocessing as well."""
    anonymity, linkability = (_search_time(run, kind) for kind in FIGURES)
    says, of = "80 % of the time is preprocessing, less than 4 % generalizing", "a million rows, anonymity"
    share = f"both together {anonymity[1]:.0%}" if anonymity else ""
    yield Claim("5", says, of, "80 % and < 4 %", share, NOT_MEASURED)
    of = "a million rows, linkability"
    together = f"{linkability[0]:.2f} s with generalizing" if linkability else ""
    yield Claim("8", "preprocessing takes less than 1 second", of, "< 1 s", together, NOT_MEASURED)
    ours = "", NOT_MEASURED
    if linkability:
        ours = f"{linkability[0]:.2f} s with preprocessing", holds_if(linkability[0] <= 25)
    yield Claim("8", "generalizing takes 25 seconds", of, "25 s", *ours)


def _search_time(run: Run, kind: str) -> tuple[float, float] | None:
    """Find the seconds of search and recoding at a million rows, and their share of all."""
    million = _at_a_million(successful_runs(run, kind))
    if million is None:
        return None
    taken = float(million["phases"]["search"] + million["phases"].get("recode", 0.0))
    return taken, taken / million["seconds"]


# The part of the page on scale, with targets of our own.

_TARGETS = {"anonymity": 20.0, "linkability": 10.0}
"""Seconds that a million rows may take, as we wanted it; these are no claims of the paper."""
_MEGABYTES = 4000
_TITLES = {"anonymity": "Figure 5: (X, Y)-anonymity, k = 40", "linkability": "Figure 8: (X, Y)-linkability, k = 90 %"}
_PHASES = ("read", "search", "recode", "verify", "write")
_HEAD = ("requirement", "rows", *(f"{name} s" for name in _PHASES), "cold s", "cpu s", "copy s", "× copy", "peak MB")
_NOTES = f"""\
Set A, both tables enlarged as in section 6.1: the original records, then variations of them in turn, in each of which
q = {CHANGED} attributes of X, drawn evenly, get values drawn evenly (the text does not say q; T2 has two attributes in
the X of linkability). A variation keeps its original's other values, those of Y among them for linkability, as in
section 6.2. (X, Y)-anonymity is Top6, k = 40, Y = K1; (X, Y)-linkability is Top1 at 90 %. Cold: `sfumato anonymize` in
a fresh process, from two CSV files to a verified release with report; the median of {{repeat}} up to a million rows.
Copy: a fresh DuckDB process reads T1's file and writes it again, in the same run. The paper took 885 s and 83 s at a
million rows, on a Pentium IV of 2.4 GHz with 1 GB. Linear: a row takes at most × {LINEAR} as long in the largest table
as in the smallest."""


def scale_parts(run: Run) -> Iterator[str]:
    """Write the part of the page on scale."""
    yield "## Scale (Figures 5 and 8)"
    yield from (picture("Seconds against rows", name) for name in scale_plots(run))
    yield markdown_table((*_HEAD, "paper s", "target", "verdict"), map(_size_line, run["scale"]))
    yield _NOTES.format(repeat=run["repeat"])


def scale_plots(run: Run) -> dict[str, list[Panel]]:
    """Plot seconds against rows, by phase, where anything ended well."""
    panels = []
    for kind in POINTS:
        if members := successful_runs(run, kind):
            rows = [size["rows"] for size in members]
            series = {label: [size[key] for size in members] for label, key in (("cold", "seconds"), ("copy", "copy"))}
            series |= {phase: [size["phases"].get(phase, 0.0) for size in members] for phase in ("search", "verify")}
            lines = [PlotLine(label, rows, seconds) for label, seconds in series.items()]
            panels.append(Panel(_TITLES[kind], "rows", "seconds", lines))
    return {"sequential-scale": panels} if panels else {}


def _size_line(size: Mapping[str, Any]) -> list[str]:
    kind, rows = size["kind"], f"{size['rows']:,}"
    if size["code"] != 0:
        return [kind, rows, *[""] * len(_HEAD), "stopped" if size["code"] is None else "failed"]
    target = ["", "", ""]
    if size["rows"] == MILLION:
        met = size["seconds"] <= _TARGETS[kind] and size["megabytes"] < _MEGABYTES
        target = [f"{PAPER_SECONDS[kind]}", f"≤ {_TARGETS[kind]:g} s, < 4 GB", "met" if met else "missed"]
    return [
        *(kind, rows, *(f"{size['phases'].get(name, 0.0):.2f}" for name in _PHASES)),
        *(f"{size[key]:.2f}" for key in ("seconds", "cpu", "copy")),
        *(f"{size['seconds'] / size['copy']:.1f}", f"{size['megabytes']:,.0f}", *target),
    ]
