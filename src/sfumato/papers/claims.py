"""What a paper states of its experiments, held against what ours show.

A claim is a sentence of the paper about a figure. It holds or does not; a sentence about a trend may hold from end to
end and not at every step, which is counted as holding in part. Where it does not hold, a sentence says why, and whose
flaw that is. What could not fail, or says nothing, is shown and not counted. Papers write "decreases" or "remains
nearly unchanged"; functions below turn such words into a rule on a series of values. Numbers are compared as the paper
prints them: at its precision, and in both directions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

HOLDS, FAILS, IN_PART = "holds", "does not hold", "in part"
NOT_MEASURED = "not measured"
NOT_IN_A_QUICK_RUN = f"{NOT_MEASURED} in a quick run"
NOT_COUNTED = "not counted"
COUNTED = (HOLDS, IN_PART, FAILS, NOT_MEASURED)
OUTCOMES = (*COUNTED, NOT_COUNTED)
NOT_AT_EVERY_STEP = "from end to end, not at every step"

Run = Mapping[str, Any]
"""A run as its results file has it: date and machine, what was asked for, and `cases` with the figures of each."""
Verdict = tuple[str, str]
"""Our figure in words, and whether the claim holds of it."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper (`says`) about something (`of`), its figure or word (`theirs`), and ours with a verdict.

    `other` is ours by a reading that is not the paper's, with a verdict of its own; it is shown beside, and not
    counted. `why` says why a claim does not hold, or why it is not counted.
    """

    figure: str
    says: str
    of: str
    theirs: str
    ours: str
    verdict: str
    other: str = ""
    why: str = ""

    @property
    def outcome(self) -> str:
        """The verdict as it is counted: one that is neither yes nor no holds in part.

        >>> Claim("1", "error falls", "A", "falls", "0.3 → 0.1", NOT_AT_EVERY_STEP).outcome
        'in part'
        >>> Claim("1", "error falls", "A", "falls", "", NOT_IN_A_QUICK_RUN).outcome
        'not measured'
        """
        if self.verdict == NOT_COUNTED:
            return NOT_COUNTED
        if self.verdict.startswith(NOT_MEASURED):
            return NOT_MEASURED
        return self.verdict if self.verdict in {HOLDS, FAILS} else IN_PART


def count_outcomes(claims: Iterable[Claim]) -> dict[str, int]:
    """Count the claims of each outcome."""
    counts = Counter(claim.outcome for claim in claims)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def count_claims(claims: Iterable[Claim]) -> int:
    """Count the claims that could fail, and so are counted.

    >>> count_claims([Claim("1", "error falls", "A", "falls", "", one) for one in (HOLDS, FAILS, NOT_COUNTED)])
    2
    """
    return sum(claim.outcome in COUNTED for claim in claims)


@dataclass(frozen=True)
class Reason:
    """Why claims do not hold, or, where `idle`, do not count: those of a figure whose `says` and `of` match patterns.

    In a pattern ``*`` stands for anything. The sentence begins with whose flaw it is: the paper's, or ours.
    """

    figure: str
    says: str
    of: str
    sentence: str
    idle: bool = False

    def is_about(self, claim: Claim) -> bool:
        """Whether it gives the reason of a claim."""
        pairs = ((self.figure, claim.figure), (self.says, claim.says), (self.of, claim.of))
        return all(fnmatchcase(text, pattern) for pattern, text in pairs)


UNEXPLAINED = "unlike in the run that is kept in the project, so that nobody has looked into why"
"""The reason of a claim that holds in the kept run, and does not in another: times, or made-up rows."""


def explain_claims(claims: Iterable[Claim], reasons: Sequence[Reason]) -> Iterator[Claim]:
    """Say of each claim why it does not hold, or is not counted; the first reason that is about it is taken.

    >>> rise = Claim("1", "error rises", "A", "rises", "0.3 → 0.1", FAILS)
    >>> [claim.why for claim in explain_claims([rise], [Reason("1", "error*", "*", "Ours: too few rows.")])]
    ['Ours: too few rows.']
    >>> idle = Reason("1", "error rises", "A", "It is of another machine.", idle=True)
    >>> [(claim.outcome, claim.ours) for claim in explain_claims([rise], [idle])]
    [('not counted', '0.3 → 0.1')]
    """
    for claim in claims:
        mine = [reason for reason in reasons if reason.is_about(claim)]
        idle = next((reason for reason in mine if reason.idle), None)
        if idle is not None:
            yield replace(claim, verdict=NOT_COUNTED, why=idle.sentence)
        elif claim.outcome in {FAILS, IN_PART}:
            yield replace(claim, why=next((reason.sentence for reason in mine), UNEXPLAINED))
        else:
            unmeasured = next((reason.sentence for reason in mine), "") if claim.outcome == NOT_MEASURED else ""
            yield replace(claim, why=unmeasured)


def as_printed(ours: float, theirs: str) -> Decimal:
    """Round ours to as many digits as the paper prints.

    >>> as_printed(18.42, "18.4"), as_printed(0.96, "1"), as_printed(-0.04, "0.2")
    (Decimal('18.4'), Decimal('1'), Decimal('0.0'))
    """
    rounded = Decimal(repr(ours)).quantize(Decimal(theirs))
    return rounded or abs(rounded)  # no minus before nothing


def is_as_printed(ours: float, theirs: str) -> bool:
    """Judge whether ours is the paper's figure at the precision that it prints.

    >>> is_as_printed(18.42, "18.4"), is_as_printed(18.35, "18.3"), is_as_printed(18.2, "18.4")
    (True, False, False)
    """
    return as_printed(ours, theirs) == Decimal(theirs)


def is_within(figures: Sequence[float], low: str, high: str) -> bool:
    """Judge whether all of ours are within the paper's range, at the precision of each of its ends.

    >>> is_within([3.88, 4.94], "3.9", "4.9"), is_within([3.9, 5.0], "3.9", "4.9"), is_within([3.8, 4.0], "3.9", "4.9")
    (True, False, False)
    """
    return as_printed(min(figures), low) >= Decimal(low) and as_printed(max(figures), high) <= Decimal(high)


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
