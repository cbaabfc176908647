"""What a paper states of its experiments, beside what ours show: holds or not."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

HOLDS, FAILS = "holds", "does not hold"
NOT_MEASURED = "not measured"
NOT_QUICKLY = f"{NOT_MEASURED} in a quick run"
IN_PART = "in part"
OUTCOMES = (HOLDS, IN_PART, FAILS, NOT_MEASURED)

Run = Mapping[str, Any]
"""A run as it is kept: when and on what, its cases, and what was asked."""
Verdict = tuple[str, str]
"""Our figure, and whether what is stated holds of it."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper: `says` in short words, `of` what; `theirs` is its figure or word, and `ours` our figure.

    `other` is ours by a reading that is not the paper's, with its own verdict; it is shown beside, and not counted.
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

        >>> Claim("1", "error falls", "A", "falls", "0.3 → 0.1", "from end to end, not at every step").outcome
        'in part'
        >>> Claim("1", "error falls", "A", "falls", "", NOT_QUICKLY).outcome
        'not measured'
        """
        if self.verdict.startswith(NOT_MEASURED):
            return NOT_MEASURED
        return self.verdict if self.verdict in {HOLDS, FAILS} else IN_PART


def counted(claims: Iterable[Claim]) -> dict[str, int]:
    """How many claims came out which way."""
    found = Counter(one.outcome for one in claims)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def judged(condition: object) -> str:
    """The verdict on what is so or not."""
    return HOLDS if condition else FAILS


def missing(run: Run) -> Verdict:
    """The verdict on what a run has no figure for."""
    return "", NOT_MEASURED if run["full"] else NOT_QUICKLY
