"""Figures 5 and 6 of the (α, k) paper: which cases each of their lines is made of."""

from collections.abc import Iterator
from dataclasses import dataclass

from sfumato.papers.alpha_k.runs import ALPHA, KS, SIZE
from sfumato.papers.claims import Run
from sfumato.papers.plots import Line, Panel

UNITS = {"seconds": "search, seconds", "distortion": "distortion ratio"}


@dataclass(frozen=True)
class Figure:
    """One of the paper's: what is measured (`up`) against what (`across`) at which k."""

    name: str
    k: int
    across: str
    up: str

    @property
    def number(self) -> str:
        """Its name without the word."""
        return self.name.removeprefix("Figure ")

    @property
    def title(self) -> str:
        """As the paper's captions say it."""
        fixed = f"quasi-identifier of {SIZE}" if self.across == "alpha" else f"α = {ALPHA}"
        return f"{self.name}: {UNITS[self.up]}, k = {self.k}, {fixed}"

    def lines(self, run: Run) -> Iterator[Line]:
        """The line of each algorithm."""
        held = {"size": SIZE} if self.across == "alpha" else {"alpha": ALPHA}
        chosen = [one for one in run["cases"] if one["k"] == self.k and held.items() <= one.items()]
        for label in labels(run):
            mine = sorted((one for one in chosen if one["algorithm"] == label), key=lambda one: one[self.across])
            yield Line(label, [one[self.across] for one in mine], [one[self.up] for one in mine])

    def panel(self, run: Run) -> Panel:
        """The figure of a run; times differ by orders of magnitude."""
        across = "α" if self.across == "alpha" else "quasi-identifier size"
        log = "y" if self.up == "seconds" else ""
        return Panel(self.title.replace(", k", "\nk"), across, UNITS[self.up], list(self.lines(run)), log)


def figures(k: int) -> list[Figure]:
    """The four of one k, in the paper's order."""
    number = 5 if k == KS[0] else 6
    pairs = [("alpha", "seconds"), ("size", "seconds"), ("alpha", "distortion"), ("size", "distortion")]
    return [Figure(f"Figure {number} ({letter})", k, *pair) for letter, pair in zip("abcd", pairs, strict=True)]


def labels(run: Run) -> list[str]:
    """The algorithms that were run, in order."""
    return list(dict.fromkeys(one["algorithm"] for one in run["cases"]))
