"""What a paper states of its experiments, held against what ours show.

A claim is a sentence of the paper about a figure. It holds or does not; a sentence about a trend may hold from end to
end and not at every step, which is counted as holding in part. Papers write "decreases" or "remains nearly unchanged";
the functions at the end turn such words into a rule on a series of values.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

HOLDS, FAILS, IN_PART = "holds", "does not hold", "in part"
NOT_MEASURED = "not measured"
NOT_IN_A_QUICK_RUN = f"{NOT_MEASURED} in a quick run"
OUTCOMES = (HOLDS, IN_PART, FAILS, NOT_MEASURED)
NOT_AT_EVERY_STEP = "from end to end, not at every step"

Run = Mapping[str, Any]
"""A run as its results file has it: date and machine, what was asked for, and `cases` with the figures of each."""
Verdict = tuple[str, str]
"""Our figure in words, and whether the claim holds of it."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper (`says`) about something (`of`), its figure or word (`theirs`), and ours with a verdict.

    `other` is ours by a reading that is not the paper's, with a verdict of its own; it is shown beside, and not
    counted.
    """

    figure: str
    says: str
    of: str
    theirs: str
    ours: str
    verdict: str
    other: str = ""

    @property
    def outcome(self) -> str:
        """The verdict as it is counted: one that is neither yes nor no holds in part.

        >>> Claim("1", "error falls", "A", "falls", "0.3 → 0.1", NOT_AT_EVERY_STEP).outcome
        'in part'
        >>> Claim("1", "error falls", "A", "falls", "", NOT_IN_A_QUICK_RUN).outcome
        'not measured'
        """
        if self.verdict.startswith(NOT_MEASURED):
            return NOT_MEASURED
        return self.verdict if self.verdict in {HOLDS, FAILS} else IN_PART


def count_outcomes(claims: Iterable[Claim]) -> dict[str, int]:
    """Count the claims of each outcome."""
    counts = Counter(claim.outcome for claim in claims)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def select_cases(run: Run, **values: Any) -> list[Mapping[str, Any]]:
    """Find the cases of a run that have all these values.

    >>> select_cases({"cases": [{"k": 2, "loss": 0.1}, {"k": 5, "loss": 0.3}]}, k=5)
    [{'k': 5, 'loss': 0.3}]
    """
    return [case for case in run["cases"] if values.items() <= case.items()]


def holds_if(condition: object) -> str:
    """Give the verdict on what is so or not."""
    return HOLDS if condition else FAILS


def decreases(values: Sequence[float], form: str = "{:.3f}") -> Verdict:
    """Judge whether values are lower at every step, until there is nothing left to fall.

    >>> decreases([0.2, 0.1, 0.0, 0.0]), decreases([0.2, 0.1, 0.15])[1], decreases([0.1, 0.2])[1]
    (('0.200 → 0.000', 'holds'), 'from end to end, not at every step', 'does not hold')
    """
    every_step = all(before > after or before == after == 0 for before, after in pairwise(values))
    verdict = HOLDS if every_step else NOT_AT_EVERY_STEP if values[-1] < values[0] else FAILS
    return f"{form.format(values[0])} → {form.format(values[-1])}", verdict


def increases(values: Sequence[float], form: str = "{:.3f}") -> Verdict:
    """Judge whether values are higher at every step.

    >>> increases([0.1, 0.2, 0.3]), increases([0.1, 0.1, 0.2])[1], increases([0.2, 0.1])[1]
    (('0.100 → 0.300', 'holds'), 'from end to end, not at every step', 'does not hold')
    """
    every_step = all(before < after for before, after in pairwise(values))
    verdict = HOLDS if every_step else NOT_AT_EVERY_STEP if values[-1] > values[0] else FAILS
    return f"{form.format(values[0])} → {form.format(values[-1])}", verdict


def stays_within(values: Sequence[float], factor: float) -> Verdict:
    """Judge whether the largest value is at most so many times the smallest.

    >>> stays_within([0.3, 0.2, 0.25], 1.6), stays_within([0.3, 0.1], 1.5)
    (('× 1.50', 'holds'), ('× 3.00', 'does not hold'))
    """
    ratio = max(values) / min(values) if min(values) else float("inf")
    return f"× {ratio:.2f}", holds_if(ratio <= factor)
