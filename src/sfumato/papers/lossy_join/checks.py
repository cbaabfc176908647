"""What the lossy-join paper states of its figures, held against ours: the order of the methods, and four trends.

Each sentence is held against the paper's estimate; the expected value, which is not the paper's, is a second reading.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from sfumato.papers.claims import Claim, Run, Verdict, judged
from sfumato.papers.lossy_join.points import ALPHA_LOSSY, ANATOMIES, GENERALIZED, METHODS, Method
from sfumato.papers.trends import falls, stays

Figures = Mapping[str, Any]
PAPER, EXPECTED = "paper", "expected"
ESTIMATES = {EXPECTED: "expected value", PAPER: "the paper's"}
MEASURES = ("average", "median")
FLAT, LITTLE = 1.5, 2.0
"""What may lie between the largest and the smallest error of a line that is unchanged, or little affected."""
FIGURES = {"attributes": "2", "dimensions": "3", "selectivity": "4", "rows": "5"}


@dataclass(frozen=True)
class Trend:
    """A sentence of the paper's text on the average error along one sweep."""

    sweep: str
    says: str
    theirs: str
    verdict: Callable[[Sequence[float]], Verdict]


TRENDS = (
    Trend("attributes", "is unchanged by the number of quasi-identifiers", "unchanged", lambda of: stays(of, FLAT)),
    Trend("dimensions", "is little affected by query dimensionality", "little effect", lambda of: stays(of, LITTLE)),
    Trend("selectivity", "decreases when selectivity increases", "decreases", falls),
    Trend("rows", "decreases slightly when the number of rows increases", "decreases slightly", falls),
)


def claims(run: Run) -> list[Claim]:
    """Every sentence on a figure, for each method that it is about."""
    return [line for sweep in FIGURES for line in (*_lower(run, sweep), *_averaged(run, sweep), *_trend(run, sweep))]


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
                    "order": " < ".join(chain),
                    "estimate": words,
                    "of": measure,
                    "ours": f"{held} of {len(every)} points",
                }


def _lower(run: Run, sweep: str) -> Iterator[Claim]:
    """Alpha(Lossy) against each of the others, at every point of a figure; of Figure 4 the text does not say it."""
    says = f"{ALPHA_LOSSY.label} has a lower average error"
    for other in (*ANATOMIES, GENERALIZED) if sweep != "selectivity" else ():
        found = {estimate: _below(run, sweep, other, estimate) for estimate in ESTIMATES}
        yield _claim(sweep, says, f"against {other.label}", "lower", found)


def _averaged(run: Run, sweep: str) -> Iterator[Claim]:
    """Said of Figure 2 alone."""
    says = "Anatomy has a lower error than Alpha, on average"
    for anatomy in ANATOMIES if sweep == "attributes" else ():
        found = {estimate: _means(run, sweep, anatomy, estimate) for estimate in ESTIMATES}
        yield _claim(sweep, says, anatomy.label, "lower", found)


def _trend(run: Run, sweep: str) -> Iterator[Claim]:
    trend = next(one for one in TRENDS if one.sweep == sweep)
    for method in METHODS:
        lines = {estimate: errors(run, sweep, method.label, of=(estimate, "average")) for estimate in ESTIMATES}
        found = {estimate: trend.verdict(line) for estimate, line in lines.items()}
        yield _claim(sweep, f"average error {trend.says}", method.label, trend.theirs, found)


def _claim(sweep: str, says: str, of: str, theirs: str, found: Mapping[str, Verdict]) -> Claim:
    """By the paper's estimate, with the expected value beside."""
    other = f"{ESTIMATES[EXPECTED]}: {', '.join(found[EXPECTED])}"
    return Claim(FIGURES[sweep], says, of, theirs, *found[PAPER], other)


def _below(run: Run, sweep: str, other: Method, estimate: str) -> Verdict:
    ours, theirs = (errors(run, sweep, one.label, of=(estimate, "average")) for one in (ALPHA_LOSSY, other))
    held = sum(less < more for less, more in zip(ours, theirs, strict=True))
    return f"at {held} of {len(ours)} points", judged(held == len(ours))


def _means(run: Run, sweep: str, anatomy: Method, estimate: str) -> Verdict:
    ours, theirs = (fmean(errors(run, sweep, one.label, of=(estimate, "average"))) for one in (anatomy, GENERALIZED))
    return f"{ours:.3f} against {theirs:.3f}", judged(ours < theirs)


def _ascending(values: Sequence[float]) -> bool:
    return all(less < more for less, more in pairwise(values))
