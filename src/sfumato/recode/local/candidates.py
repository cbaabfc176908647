"""The classes that algorithms come to: run, settled and improved, of a whole table or of one part of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sfumato.core.deadline import is_over
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.recode.local.bottom_up import bottom_up
from sfumato.recode.local.cover import cover
from sfumato.recode.local.exchange import Exchange
from sfumato.recode.local.microaggregation import microaggregation
from sfumato.recode.local.mondrian import mondrian, mondrian_relaxed
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.progressive import progressive
from sfumato.recode.local.settle import settle
from sfumato.recode.local.start import full_domain_classes
from sfumato.recode.local.top_down import top_down
from sfumato.recode.recoding import Progress

LocalAlgorithm = Callable[[Problem, Progress | None], Partition]

ALGORITHMS: dict[str, LocalAlgorithm] = {
    "progressive": progressive,
    "top-down": top_down,
    "bottom-up": bottom_up,
    "mondrian": mondrian,
    "mondrian-relaxed": mondrian_relaxed,
    MICROAGGREGATION: microaggregation,
}
"""Each from a problem whose start is one group that passes, to groups that pass as far as its models are monotone."""

_LINES, _PER_TUPLE = 120_000_000, 2_000
"""Lines that a covering may look at: about a second, and more for tables of many different tuples."""

_VALUES = 10
"""How many times as many where it looks at sensitive values: they make most groups fail."""

_BOTH_WAYS = 10_000
"""Different tuples of a table that is covered in both ways at most, where sensitive values are looked at."""

_MANY, _VERY_MANY = 100_000, 1_000_000
"""Different tuples that a table may have at most to be improved, without patience and with it."""

_LOST, _LOST_IN_PART = 0.04, 0.15
"""A covering that leaves a larger share of the rows without a place is given up; a part may be the hardest of all."""

_PAIRS, _LITTLE = 300_000_000, 5e-4
"""Pairs that an exchange may price, about a second; and the share of the cost that a round has to save."""


_FEW_PAIRS, _MANY_PAIRS = 250, 2_000
"""Pairs that an exchange may price for each tuple of a part; many where sensitive values speak against most changes.

Where sizes are all that counts, twice as many take half as long again, and save a thousandth of the loss."""


@dataclass(frozen=True)
class Effort:
    """How much an improvement may look at: so many lines in the covering, and so many pairs in each exchange.

    `lost` is the share of the rows that a covering may leave without a place, and `pairs_in_part` are those that each
    tuple of a part adds.

    >>> Effort(lines=1000, pairs=300).share(2, 10)
    Effort(lines=200, pairs=500, lost=0.15, pairs_in_part=250)
    """

    lines: int
    pairs: int
    lost: float = _LOST
    pairs_in_part: int = _FEW_PAIRS

    @classmethod
    def of_table(cls, problem: Problem, *, patient: bool = False) -> "Effort | None":
        """Say what a table is worth, a few seconds; nothing where it has more different tuples than that can do.

        With patience, larger tables are improved, too.
        """
        tuples = len(problem.counts)
        if tuples > (_VERY_MANY if patient else _MANY):
            return None
        lines = max(_LINES, _PER_TUPLE * tuples)
        if problem.encoded.domains:
            return cls(_VALUES * lines, _PAIRS, pairs_in_part=_MANY_PAIRS)
        return cls(lines, _PAIRS)

    def share(self, tuples: int, of: int) -> "Effort":
        """Give a part of a table its share of the lines, and as many pairs as are worth their time there."""
        return Effort(self.lines * tuples // of, self.pairs_in_part * tuples, _LOST_IN_PART, self.pairs_in_part)


@dataclass(frozen=True, eq=False)
class Candidate:
    """The classes that an algorithm came to, and whether they were improved."""

    algorithm: str
    partition: Partition
    improved: bool = False


def cheapest(problem: Problem, candidates: Sequence[Candidate]) -> Candidate:
    """Choose the first of the cheapest; a single one need not be priced."""
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda candidate: problem.cost(candidate.partition))


def find_candidates(
    problem: Problem, names: Sequence[str], effort: Effort | None, clustering: str, progress: Progress | None = None
) -> list[Candidate]:
    """Run algorithms, and improve the cheapest result with some effort: that one first, then each as it came."""
    found = list[Candidate]()
    for name in names:
        if not found or not is_over(progress):
            found.append(Candidate(name, _find_classes(problem, name, progress, clustering)))
    best = cheapest(problem, found)
    if effort is not None and not is_over(progress):
        improved = improve(problem, best.partition, effort, progress)
        if improved is not best.partition:
            return [Candidate(best.algorithm, improved, improved=True), *found]
    return [best, *(other for other in found if other is not best)]


def _find_classes(problem: Problem, name: str, progress: Progress | None, clustering: str) -> Partition:
    """Run an algorithm and settle what it comes to."""
    if name == MICROAGGREGATION and problem.start.groups == 1:
        return settle(problem, microaggregation(problem, progress, clustering=clustering))
    if name == "optimal":
        return settle(problem, full_domain_classes(problem) or problem.start)
    return settle(problem, problem.start if problem.start.groups > 1 else ALGORITHMS[name](problem, progress))


def improve(problem: Problem, partition: Partition, effort: Effort, progress: Progress | None = None) -> Partition:
    """Find a partition that costs no more than the given one, whose classes all pass.

    Two ways lead to a better one. `cover` forgets the groups and takes the cheapest classes first; `Exchange` moves
    rows between classes. Whichever of the given partition and the covering costs less is then exchanged to the end. Of
    a small table, groups are also taken whole, which is the better way where most of them pass.
    Nothing is drawn at random, so the same input gives the same result.
    """
    start = partition
    ways = {False} if problem.only_sizes_count or len(problem.counts) > _BOTH_WAYS else {False, True}
    for whole in sorted(ways):
        found = cover(problem, partition, effort.lines, progress, whole=whole)
        covering = Exchange(problem, found, effort.pairs, progress).fill()
        if covering.rows_without_place <= effort.lost * problem.encoded.rows:
            start = min((start, settle(problem, covering.result)), key=problem.cost)
    exchanged = Exchange(problem, start, effort.pairs, progress).improve(_LITTLE)
    return min((settle(problem, exchanged.result), partition), key=problem.cost)
