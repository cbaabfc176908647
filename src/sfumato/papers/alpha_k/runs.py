"""The runs of the (α, k) experiment: its points, its algorithms, and what one of them takes at one point."""

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.datasets import adult_policy, synthetic_adult, synthetic_adult_policy
from sfumato.datasets.adult import QUASI_IDENTIFIERS
from sfumato.encode import EncodedTable
from sfumato.papers.rows import Rows
from sfumato.policy import Policy
from sfumato.recode import recode
from sfumato.release import anonymize

KS = (2, 10)
ALPHAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SIZES = (2, 3, 4, 5, 6, 7, 8)
ALPHA, SIZE = 0.5, 8
_ENOUGH = 5.0
"""Seconds after which a search is not timed again."""
_SALARY = {"column": "salary-class", "values": [">50K"]}


@dataclass(frozen=True)
class Algorithm:
    """A line of the plots: an algorithm of ours, as the paper has it or with the improvement pass after it."""

    label: str
    name: str
    improve: bool = False


INCOGNITO = Algorithm("extended Incognito", "incognito")
PAPER = (Algorithm("Progressive", "progressive"), Algorithm("Top-Down", "top-down"))
IMPROVED = tuple(Algorithm(f"{one.label}, improved", one.name, improve=True) for one in PAPER)
ALGORITHMS = (INCOGNITO, *PAPER, *IMPROVED)


@dataclass(frozen=True)
class Point:
    """What is asked: `k`, `alpha`, and how many of Table 12's attributes are quasi-identifiers."""

    k: int
    alpha: float
    size: int


@dataclass(frozen=True)
class Adult:
    """The table: the real one is in a file that the policy names, a made-up one is a frame."""

    policy: Mapping[str, Any]
    frame: Any = None

    @classmethod
    def of(cls, rows: Rows) -> "Adult":
        """With the salary class sensitive."""
        if rows.folder:
            return cls(adult_policy(rows.folder))
        return cls(synthetic_adult_policy(sensitive="salary-class"), synthetic_adult(rows.made_up))

    def document(self, point: Point, algorithm: Algorithm) -> dict[str, Any]:
        """The policy of a run; attributes beyond the point's size are left out of table and release."""
        rest = {name: {"role": "identifier"} for name in QUASI_IDENTIFIERS[point.size :]}
        model = {"model": "alpha-k-anonymity", "k": point.k, "alpha": point.alpha, **_SALARY}
        search = {"name": algorithm.name, "metric": "distortion", "improve": algorithm.improve, "seed": 1}
        return {**self.policy, "columns": self.policy["columns"] | rest, "privacy": [model], "algorithm": search}


def points(alphas: Sequence[float] = ALPHAS, sizes: Sequence[int] = SIZES) -> Iterator[Point]:
    """Every point once: α at full size, and sizes at the middle α, for both k."""
    for k in KS:
        yield from (Point(k, alpha, SIZE) for alpha in alphas)
        yield from (Point(k, ALPHA, size) for size in sizes if size != SIZE or ALPHA not in alphas)


def measured(adult: Adult, point: Point, algorithm: Algorithm, *, repeat: int) -> dict[str, Any]:
    """Seconds of search in a warm process, the median of several, and the losses of the verified release."""
    release = anonymize(adult.frame, adult.document(point, algorithm))
    seconds: list[float] = []
    while len(seconds) < repeat and sum(seconds) < _ENOUGH:
        seconds.append(_seconds(release.encoded, release.policy))
    return {
        **vars(point),
        "algorithm": algorithm.label,
        "rows": release.rows,
        "seconds": statistics.median(seconds),
        "distortion": release.utility.distortion_ratio,
        "ncp": release.utility.ncp,
        "classes": len(release.recoding.classes),
    }


def _seconds(encoded: EncodedTable, policy: Policy) -> float:
    """From the encoded table to a label for every cell, which is what the algorithms differ in."""
    start = time.perf_counter()
    recode(encoded, policy)
    return time.perf_counter() - start
