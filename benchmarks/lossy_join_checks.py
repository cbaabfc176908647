"""What the lossy-join paper states of its figures, held against ours: the order of the methods, and four trends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.lossy_join_points import ALPHA_LOSSY, ANATOMIES, GENERALIZED, METHODS

Run = Mapping[str, Any]
Figures = Mapping[str, Any]
ESTIMATES = {"expected": "expected value", "paper": "the paper's"}
MEASURES = ("average", "median")
_FLAT, _LITTLE = 1.5, 2.0
"""What may lie between the largest and the smallest error of a line that is unchanged, or little affected."""


@dataclass(frozen=True)
class Trend:
    """A sentence of the paper's text on one sweep; `most` is the ratio that it allows, and none where errors fall."""

    sweep: str
    says: str
    most: float | None = None

    def verdict(self, errors: Sequence[float]) -> tuple[str, str]:
        """Our figure and whether it is what the sentence says.

        >>> Trend("rows", "falls").verdict([0.3, 0.2, 0.1])
        ('0.30 → 0.10', 'holds')
        >>> Trend("rows", "falls").verdict([0.3, 0.1, 0.2])
        ('0.30 → 0.20', 'from end to end, not at every step')
        >>> Trend("rows", "is flat", 1.5).verdict([0.3, 0.1])
        ('× 3.00', 'does not hold')
        """
        if self.most is not None:
            ratio = max(errors) / min(errors) if min(errors) else float("inf")
            return f"× {ratio:.2f}", "holds" if ratio <= self.most else "does not hold"
        figure = f"{errors[0]:.2f} → {errors[-1]:.2f}" if errors[0] >= 0.1 else f"{errors[0]:.3f} → {errors[-1]:.3f}"
        if all(more > less for more, less in pairwise(errors)):
            return figure, "holds"
        return figure, "from end to end, not at every step" if errors[-1] < errors[0] else "does not hold"


TRENDS = (
    Trend("attributes", "unchanged, whatever the number of quasi-identifiers", _FLAT),
    Trend("dimensions", "the dimensionality of queries has little effect", _LITTLE),
    Trend("selectivity", "decreases when selectivity increases"),
    Trend("rows", "decreases slightly when the number of rows increases"),
)


def at(run: Run, point: Mapping[str, Any]) -> dict[str, Figures]:
    """The figures of each method at a point."""
    return {one["method"]: one for one in run["cases"] if point.items() <= one.items()}


def points(run: Run) -> list[dict[str, Any]]:
    """Every point of the run once, in the order of the sweeps."""
    every = [run["default"] | {sweep: value} for sweep, values in run["sweeps"].items() for value in values]
    return [point for place, point in enumerate(every) if point not in every[:place]]


def errors(run: Run, sweep: str, method: str, *, of: tuple[str, str]) -> list[float]:
    """The errors of a method along a sweep; `of` is the estimate and the measure."""
    estimate, measure = of
    found = [at(run, run["default"] | {sweep: value})[method] for value in run["sweeps"][sweep]]
    return [one[estimate][measure] for one in found]


def order(found: Mapping[str, Figures], estimate: str, measure: str) -> str:
    """The methods of the paper from the smallest error to the largest."""
    sorted_methods = sorted(METHODS, key=lambda one: found[one.label][estimate][measure])
    return " < ".join(one.short for one in sorted_methods)


def orders(run: Run) -> Iterator[dict[str, str]]:
    """At how many points the methods stand in the order of the text, by each estimate and measure."""
    every = [at(run, point) for point in points(run)]
    for estimate, words in ESTIMATES.items():
        for measure in MEASURES:
            for anatomy in ANATOMIES:
                chain = (ALPHA_LOSSY.label, anatomy.label, GENERALIZED.label)
                held = sum(_ascending([found[label][estimate][measure] for label in chain]) for found in every)
                yield {
                    "statement": " < ".join(chain),
                    "estimate": words,
                    "of": measure,
                    "ours": f"{held} of {len(every)} points",
                    "verdict": "holds" if held == len(every) else "does not hold",
                }


def trends(run: Run) -> Iterator[dict[str, str]]:
    """What the text says of the average error along each sweep, beside ours."""
    for trend in TRENDS:
        for estimate, words in ESTIMATES.items():
            for method in METHODS:
                figure, verdict = trend.verdict(errors(run, trend.sweep, method.label, of=(estimate, "average")))
                yield {
                    "statement": trend.says,
                    "estimate": words,
                    "of": method.label,
                    "ours": figure,
                    "verdict": verdict,
                }


def _ascending(values: Sequence[float]) -> bool:
    return all(less < more for less, more in pairwise(values))
