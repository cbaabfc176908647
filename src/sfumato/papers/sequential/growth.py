"""The times on enlarged tables, on a page: Figures 5 and 8, beside the copy of a file and targets of our own."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.papers.claims import Run
from sfumato.papers.plots import Line, Panel
from sfumato.papers.sequential.scale import CHANGED, POINTS
from sfumato.papers.sequential.seconds import LINEAR, MILLION, PAPER, of_kind
from sfumato.papers.tables import picture, table

Figures = Mapping[str, Any]
LIMITS = {"anonymity": 20.0, "linkability": 10.0}
"""Seconds that a million rows may take, as we wanted it; these are no claims of the paper."""
MEGABYTES = 4000
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


def growth(run: Run) -> Iterator[str]:
    """The part of the page on scale."""
    yield "## Scale (Figures 5 and 8)"
    yield from (picture("Seconds against rows", name) for name in plots(run))
    yield table((*_HEAD, "paper s", "target", "verdict"), [_line(one) for one in run["scale"]])
    yield _NOTES.format(repeat=run["repeat"])


def plots(run: Run) -> dict[str, list[Panel]]:
    """Seconds against rows, by phase, where anything ended well."""
    found = {kind: members for kind in POINTS if (members := of_kind(run, kind))}
    panels = [Panel(_TITLES[kind], "rows", "seconds", _lines(members)) for kind, members in found.items()]
    return {"sequential-scale": panels} if panels else {}


def _lines(members: list[Figures]) -> list[Line]:
    rows = [one["rows"] for one in members]
    phases = [Line(name, rows, [one["phases"].get(name, 0.0) for one in members]) for name in ("search", "verify")]
    whole = [Line(label, rows, [one[key] for one in members]) for label, key in (("cold", "seconds"), ("copy", "copy"))]
    return [*whole, *phases]


def _line(one: Figures) -> list[str]:
    at = (one["kind"], f"{one['rows']:,}")
    if one["code"] != 0:
        return [*at, *[""] * (len(_HEAD) - 1), "", "stopped" if one["code"] is None else "failed"]
    million = one["rows"] == MILLION
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
