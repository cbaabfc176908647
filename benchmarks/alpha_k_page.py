"""The (α, k) experiment on a page: a table per figure of the paper, averages, and whether its two claims hold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.alpha_k_runs import ALPHA, IMPROVED, INCOGNITO, KS, PAPER, SIZE
from benchmarks.plots import Line, Panel, draw
from benchmarks.tables import setting, table

Run = Mapping[str, Any]
_CLAIMS = (
    ("distortion", "loses on average at most a third of what extended Incognito loses", 1 / 3),
    ("seconds", "takes on average at most a quarter of extended Incognito's time", 1 / 4),
)
_UNITS = {"seconds": "search, seconds", "distortion": "distortion ratio"}
_SYNTHETIC = """\
**The real Adult rows were not at hand: this ran on {rows:,} made-up rows, and says nothing of the paper's table.**"""
_NOTES = """\
The experiment of section 5 of the (α, k) paper: {rows:,} rows, the first attributes of its Table 12 as the
quasi-identifier, salary class sensitive with `>50K` the protected value, no row suppressed. Distortion ratio: levels
climbed, of all there are. Seconds: search alone, from the encoded table to a label for every cell, in a warm process,
the median of {repeat}, or of fewer where they take seconds. Every release was verified. Progressive and Top-Down are
the paper's algorithms; "improved" has our improvement pass after them. Averages are over all points of both sweeps,
each once."""


@dataclass(frozen=True)
class Figure:
    """One of the paper's: what is measured (`up`) against what (`across`) at which k."""

    name: str
    k: int
    across: str
    up: str

    @property
    def title(self) -> str:
        """As the paper's captions say it."""
        fixed = f"quasi-identifier of {SIZE}" if self.across == "alpha" else f"α = {ALPHA}"
        return f"{self.name}: {_UNITS[self.up]}, k = {self.k}, {fixed}"

    def lines(self, run: Run) -> Iterator[Line]:
        """The line of each algorithm."""
        held = {"size": SIZE} if self.across == "alpha" else {"alpha": ALPHA}
        chosen = [one for one in run["cases"] if one["k"] == self.k and held.items() <= one.items()]
        for label in dict.fromkeys(one["algorithm"] for one in chosen):
            mine = sorted((one for one in chosen if one["algorithm"] == label), key=lambda one: one[self.across])
            yield Line(label, [one[self.across] for one in mine], [one[self.up] for one in mine])


def figures(k: int) -> list[Figure]:
    """The four of one k, in the paper's order."""
    number = 5 if k == KS[0] else 6
    pairs = [("alpha", "seconds"), ("size", "seconds"), ("alpha", "distortion"), ("size", "distortion")]
    return [Figure(f"Figure {number} ({letter})", k, *pair) for letter, pair in zip("abcd", pairs, strict=True)]


def page(run: Run, pictures: Mapping[int, str] | None = None) -> str:
    """The whole of it as Markdown; `pictures` are the plots by k."""
    said = {"rows": run["cases"][0]["rows"], "repeat": run["repeat"]}
    head = ["# The (α, k) experiment", setting(run), *([_SYNTHETIC] if run["source"] == "synthetic" else [])]
    claims = ["## Claims: local recoding …", table(("claim", "of", "figure", "limit", "verdict"), _claims(run))]
    parts = [*head, *claims, "## Averages", _averages(run), *_figures(run, pictures or {}), _NOTES]
    return "\n\n".join(part.format(**said) for part in parts) + "\n"


def plots(run: Run, folder: Path) -> dict[int, str]:
    """Draw a plot per k into `folder`; their names are returned."""
    return {k: draw([_panel(one, run) for one in figures(k)], folder / f"alpha-k-{k}.svg").name for k in KS}


def claims(run: Run) -> list[dict[str, Any]]:
    """Each claim for each algorithm, and for the paper's two together: our figure, the limit, and whether it holds."""
    groups = {"Progressive and Top-Down": PAPER, **{one.label: (one,) for one in (*PAPER, *IMPROVED)}}
    known = {one["algorithm"] for one in run["cases"]}
    found = []
    for key, words, limit in _CLAIMS:
        for name, members in groups.items():
            labels = [one.label for one in members]
            if known >= {INCOGNITO.label, *labels}:
                ratio = fmean(_mean(run, label, key) for label in labels) / _mean(run, INCOGNITO.label, key)
                found.append({"claim": words, "of": name, "figure": ratio, "limit": limit, "holds": ratio <= limit})
    return found


def _claims(run: Run) -> Iterator[list[str]]:
    for one in claims(run):
        verdict = "holds" if one["holds"] else "does not hold"
        yield [one["claim"], one["of"], f"{one['figure']:.3f}", f"{one['limit']:.3f}", verdict]


def _mean(run: Run, label: str, key: str, k: int | None = None) -> float:
    return fmean(one[key] for one in run["cases"] if one["algorithm"] == label and k in {None, one["k"]})


def _averages(run: Run) -> str:
    """For each k and for both: loss and time of each algorithm, and as shares of extended Incognito's."""
    head = ("k", "algorithm", "distortion ratio", "of Incognito", "seconds", "of Incognito's")
    return table(head, [_average(run, k, label) for k in (*KS, None) for label in _labels(run)])


def _average(run: Run, k: int | None, label: str) -> list[str]:
    cells = [str(k or "both"), label]
    for key in ("distortion", "seconds"):
        ours = _mean(run, label, key, k)
        known = INCOGNITO.label in _labels(run)
        cells += [f"{ours:.3f}", f"{ours / _mean(run, INCOGNITO.label, key, k):.2f}" if known else ""]
    return cells


def _labels(run: Run) -> list[str]:
    return list(dict.fromkeys(one["algorithm"] for one in run["cases"]))


def _figures(run: Run, pictures: Mapping[int, str]) -> Iterator[str]:
    for k in KS:
        if k in pictures:
            yield f"## k = {k}\n\n![Time and distortion ratio, k = {k}](figures/{pictures[k]})"
        for figure in figures(k):
            yield f"### {figure.title}\n\n{_table(figure, list(figure.lines(run)))}"


def _table(figure: Figure, lines: Sequence[Line]) -> str:
    head = ("α" if figure.across == "alpha" else "size", *(line.label for line in lines))
    rows = zip(lines[0].across, *(line.up for line in lines), strict=True)
    return table(head, [[f"{x:g}", *(f"{y:.3f}" for y in ys)] for x, *ys in rows])


def _panel(figure: Figure, run: Run) -> Panel:
    across = "α" if figure.across == "alpha" else "quasi-identifier size"
    log = "y" if figure.up == "seconds" else ""
    return Panel(figure.title.replace(", k", "\nk"), across, _UNITS[figure.up], list(figure.lines(run)), log)
