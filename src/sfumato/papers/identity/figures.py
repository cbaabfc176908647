"""Figures 1 to 8 of the identity-reserved paper: which cases each of their lines is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.papers.claims import Run
from sfumato.papers.identity.points import (
    COMMON,
    COMMONLY,
    COMPARED,
    DIVERSITY,
    FIXED_K,
    FIXED_RPI,
    FIXED_SHARE,
    GLOBAL,
    LOCAL,
    RESERVED,
    SHARES,
    SUPPRESSING,
)
from sfumato.papers.plots import Line, Panel

Chosen = Mapping[str, Any]
UNITS = {
    "vulnerable ratio": "vulnerable group ratio",
    "single ratio": "single value group ratio",
    "distortion": "distortion ratio",
}
AXES = {"k": "k", "l": "l", "alpha": "α", "beta": "β"}
_RATIO = " ratio"


@dataclass(frozen=True)
class Figure:
    """One of the paper's: what is measured (`up`) against what (`across`), and the cases of each line."""

    name: str
    fixed: str
    across: str
    up: str
    lines: Mapping[str, Chosen]

    @property
    def title(self) -> str:
        """As the paper's captions say it, with what is fixed."""
        return f"{self.name}: {UNITS[self.up]}, {self.fixed}"

    def panel(self, run: Run) -> Panel:
        """The figure of a run."""
        lines = [Line(label, *along(run, chosen, self.across, up=self.up)) for label, chosen in self.lines.items()]
        return Panel(self.title.replace(", ", "\n", 1), AXES[self.across], UNITS[self.up], lines)


def along(run: Run, chosen: Chosen, across: str, *, up: str) -> tuple[list[Any], list[float]]:
    """Of the chosen cases: what they differ in, in order, and what was measured there, or its ratio to all groups.

    >>> case = {"model": "k-anonymity", "k": 2, "classes": 8, "vulnerable": 2}
    >>> along({"cases": [case | {"k": 5, "vulnerable": 1}, case]}, {"model": "k-anonymity"}, "k", up="vulnerable ratio")
    ([2, 5], [0.25, 0.125])
    """
    found = sorted((one for one in run["cases"] if chosen.items() <= one.items()), key=lambda one: one[across])
    key = up.removesuffix(_RATIO)
    values = [one[key] / one["classes"] if up != key else one[key] for one in found]
    return [one[across] for one in found], values


def common(rpi: float, method: str = LOCAL.label) -> Chosen:
    """The cases of common k-anonymity."""
    return {"model": COMMON, "rpi": rpi, "method": method}


def reserved(rpi: float, method: str = LOCAL.label) -> Chosen:
    """The cases of identity-reserved k-anonymity."""
    return {"model": RESERVED, "rpi": rpi, "method": method}


def diversity(method: str) -> Chosen:
    """The cases of (k, l)-diversity."""
    return {"model": DIVERSITY, "rpi": FIXED_RPI, "k": FIXED_K, "method": method}


def shares(fixed: str) -> Chosen:
    """The cases of (α, β)-anonymity with one of the two fixed."""
    return {"model": SHARES, "rpi": FIXED_RPI, fixed: FIXED_SHARE, "method": LOCAL.label}


def figures(run: Run) -> dict[str, list[Figure]]:
    """The paper's figures, two to a picture."""
    recodings = {method.label: reserved(FIXED_RPI, method.label) for method in (GLOBAL, LOCAL, *SUPPRESSING)}
    return {
        "identity-groups": [
            _groups(run, name, up, method.label)
            for method in COMMONLY
            for name, up in (("Figure 1", "vulnerable ratio"), ("Figure 2", "single ratio"))
        ],
        "identity-common": [_against(f"Figure {place}", rpi) for place, rpi in enumerate(COMPARED, 3)],
        "identity-recoding": [
            Figure("Figure 5", f"k-anonymity, rpi = {FIXED_RPI}", "k", "distortion", recodings),
            Figure(
                "Figure 6",
                f"(k, l)-diversity, k = {FIXED_K}, rpi = {FIXED_RPI}",
                "l",
                "distortion",
                {one.label: diversity(one.label) for one in (GLOBAL, LOCAL)},
            ),
        ],
        "identity-shares": [
            Figure(
                name, f"{AXES[held]} = {FIXED_SHARE}, rpi = {FIXED_RPI}", across, "distortion", {"local": shares(held)}
            )
            for name, held, across in (("Figure 7", "alpha", "beta"), ("Figure 8", "beta", "alpha"))
        ],
    }


def _groups(run: Run, name: str, up: str, method: str) -> Figure:
    lines = {f"rpi = {rpi}": common(rpi, method) for rpi in run["rpis"]}
    return Figure(name, f"common k-anonymity, {method}", "k", up, lines)


def _against(name: str, rpi: float) -> Figure:
    lines = {"common": common(rpi), "identity-reserved": reserved(rpi)}
    return Figure(name, f"local recoding, rpi = {rpi}", "k", "distortion", lines)
