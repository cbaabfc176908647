"""The times on enlarged tables, on a page: Figures 5 and 8, targets and verdicts, and whether growth is linear."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.plots import Line, Panel, draw
from benchmarks.sequential_scale import CHANGED, POINTS
from benchmarks.tables import table

Run = Mapping[str, Any]
Figures = Mapping[str, Any]
LIMITS = {"anonymity": 20.0, "linkability": 10.0}
"""Seconds that a million rows may take."""
PAPER = {"anonymity": 885, "linkability": 83}
MEGABYTES = 4000
LINEAR = 1.25
"""How many times as long a row may take in the largest table as in the smallest."""
_MILLION = 1_000_000
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


def growth(run: Run, picture: str | None = None) -> Iterator[str]:
    """The part of the page on scale, where it was run."""
    if not run["scale"]:
        return
    yield "## Scale (Figures 5 and 8)" + (f"\n\n![Seconds against rows](figures/{picture})" if picture else "")
    yield table((*_HEAD, "paper s", "target", "verdict"), [_line(one) for one in run["scale"]])
    lines = [[one[key] for key in ("of", "wanted", "ours", "verdict")] for one in verdicts(run)]
    yield table(("of", "wanted", "ours", "verdict"), lines)
    yield _NOTES.format(repeat=run["repeat"])


def plot(run: Run, folder: Path) -> str | None:
    """Draw seconds against rows, by phase; the name of the file, if anything ran."""
    found = {kind: _of(run, kind) for kind in POINTS}
    panels = [Panel(_TITLES[kind], "rows", "seconds", _lines(members)) for kind, members in found.items()]
    drawn = [panel for panel in panels if panel.lines[0].across]
    return draw(drawn, folder / "sequential-scale.svg").name if drawn else None


def verdicts(run: Run) -> list[dict[str, str]]:
    """Seconds and memory at a million rows, and growth from the smallest to the largest table."""
    return [one for kind in POINTS for one in _verdicts(kind, _of(run, kind))]


def _verdicts(kind: str, members: list[Figures]) -> Iterator[dict[str, str]]:
    for one in members:
        if one["rows"] == _MILLION:
            seconds, memory = one["seconds"], one["megabytes"]
            wanted = f"≤ {LIMITS[kind]:g} s"
            yield _verdict(f"{kind}, a million rows", wanted, f"{seconds:.2f} s", seconds <= LIMITS[kind])
            yield _verdict(f"{kind}, a million rows", "< 4 GB", f"{memory / 1000:.2f} GB", memory < MEGABYTES)
    if len(members) > 1:
        less, more = (one["seconds"] / one["rows"] for one in (members[0], members[-1]))
        of = f"{kind}, from {members[0]['rows']:,} to {members[-1]['rows']:,} rows"
        ours = f"a row takes × {more / less:.2f}"
        yield _verdict(of, f"linear (≤ × {LINEAR})", ours, more / less <= LINEAR)


def _verdict(of: str, wanted: str, ours: str, met: bool) -> dict[str, str]:
    return {"of": of, "wanted": wanted, "ours": ours, "verdict": "met" if met else "missed"}


def _of(run: Run, kind: str) -> list[Figures]:
    """The runs that ended well, by size."""
    found = [one for one in run["scale"] if one["kind"] == kind and one["code"] == 0]
    return sorted(found, key=lambda one: one["rows"])


def _lines(members: list[Figures]) -> list[Line]:
    rows = [one["rows"] for one in members]
    phases = [Line(name, rows, [one["phases"].get(name, 0.0) for one in members]) for name in ("search", "verify")]
    whole = [Line(label, rows, [one[key] for one in members]) for label, key in (("cold", "seconds"), ("copy", "copy"))]
    return [*whole, *phases]


def _line(one: Figures) -> list[str]:
    at = (one["kind"], f"{one['rows']:,}")
    if one["code"] != 0:
        return [*at, *[""] * (len(_HEAD) - 1), "", "stopped" if one["code"] is None else "failed"]
    million = one["rows"] == _MILLION
    met = one["seconds"] <= LIMITS[one["kind"]] and one["megabytes"] < MEGABYTES
    return [
        *at,
        *(f"{one['phases'].get(name, 0.0):.2f}" for name in _PHASES),
        *(f"{one[key]:.2f}" for key in ("seconds", "cpu", "copy")),
        f"{one['seconds'] / one['copy']:.1f}",
        f"{one['megabytes']:,.0f}",
        f"{PAPER[one['kind']]}" if million else "",
        f"≤ {LIMITS[one['kind']]:g} s, < 4 GB" if million else "",
        ("met" if met else "missed") if million else "",
    ]
