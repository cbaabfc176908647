"""The deFinetti attack on two tables: a learner assigns the values of each bag to the lines of its class.

What the two tables show of one class is how often each sensitive value occurs in it (its *bag*), and no more. But what
they show of all classes together tells how sensitive values go with quasi-identifiers, and that makes some assignments
of values to lines likelier than others. The adversary begins with the even shares of the bags, learns from them, weighs
the values of each bag by what was learned, and repeats this until little changes.

Reference: Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009. The learner is naive Bayes, as Kifer's is,
and that of Cormode's variant of the attack ("Personal privacy vs population privacy", KDD 2011).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.attack.bound import Bound
from sfumato.attack.definetti_data import (
    MergedBag,
    Original,
    ProfileSample,
    SampleLimits,
    TrueCounts,
    draw_sample,
    look_up_truth,
    merge_rare_values,
)
from sfumato.attack.result import AttackResult, ShownAttack
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import run_starts, sum_by_group
from sfumato.errors import DataError, listing, quote
from sfumato.split import TwoTables

__all__ = [
    "ASSUMES",
    "PROMISE",
    "QUICK",
    "THOROUGH",
    "DefinettiEffort",
    "DefinettiFigures",
    "DefinettiResult",
    "Effort",
    "LinesBeyondBound",
    "Original",
    "SampleSize",
    "definetti",
    "describe_figures",
    "describe_sample",
    "format_share",
]

ASSUMES = (
    "The adversary has the two tables, and knows that a person is in them and the person's quasi-identifiers; of "
    "sensitive values nothing."
)
PROMISE = (
    "An accuracy above the bound does not break the promise, which limits what the bag of a class shows by itself. "
    "It is what a learner makes of all classes together; another learner, or one that knows more, may do better."
)

MAX_ROUNDS = 10
"""The most times that the learner is trained; accuracies hardly change after five."""

SMOOTHING = 10.0
"""Each value of a quasi-identifier counts as if it were on so many lines more, with sensitive values as anywhere."""

_PARTS = 5
"""Classes are split into so many parts, of which one at a time is held out."""

_CLOSE_ACCURACIES = 0.02
"""Accuracies inside and outside the table that differ by no more than this are called close."""

_BALANCE_ROUNDING = 1e-4
"""Nobody is taken to be surer than the bound for what balancing leaves open."""


@dataclass(frozen=True)
class SampleSize:
    """Lines that the learner was trained on, and lines that guesses were made about."""

    trained: int
    guessed: int


@dataclass(frozen=True)
class LinesBeyondBound:
    """Lines of which the learner is surer than the bound, and the share of them that it is right about."""

    lines: int
    right: float | None


@dataclass(frozen=True)
class DefinettiFigures:
    """The figures of one sensitive column; shares of lines, each line one person.

    `bound` is the largest share of a class that the policy allows a value, ``None`` where it bounds none, and
    `largest_share` the largest that there is. Guesses are right this often: `blind` by the most frequent value of the
    table; `random` by a value drawn from the bags that a person's quasi-identifiers lead to; `bag` by the most frequent
    value of these; `attack` by what the learner assigns within classes; `without_bag` by the learner from
    quasi-identifiers alone; `outside` by the learner about people of classes that it was not trained on, ``None`` where
    there are not two. `largest_posterior` is the surest that the attack is of anybody, and `beyond_bound` those of whom
    it is surer than the bound, or than the largest share where there is none.

    `values` is the number of values that the learner tells apart.
    """

    lines: int
    sampled: SampleSize
    values: int
    bound: float | None
    largest_share: float
    blind: float
    random: float
    bag: float
    attack: float
    without_bag: float
    outside: float | None
    largest_posterior: float
    beyond_bound: LinesBeyondBound


@dataclass(frozen=True, repr=False)
class DefinettiResult(ShownAttack):
    """The attack on each sensitive column of a release."""

    classes: int
    seed: int
    columns: Mapping[str, DefinettiFigures]

    def as_json(self) -> dict[str, Any]:
        """Convert to what ``--json`` prints."""
        return asdict(self)

    def results(self) -> tuple[AttackResult, ...]:
        """Reduce to one line for each sensitive column; the baseline is the most frequent value of the table."""
        return tuple(
            AttackResult(
                "definetti",
                ASSUMES,
                f"persons whose '{column}' a learner guesses right",
                figures.attack,
                figures.blind,
                bound=figures.bound,
                says=tuple(filter(None, (*describe_figures(column, figures), describe_sample(figures)))),
            )
            for column, figures in self.columns.items()
        )


@dataclass(frozen=True)
class DefinettiEffort:
    """How much is tried.

    Of a release with more than `cells` different lines, or with more than `links` pairs of such a line and a value of
    its bag times quasi-identifiers, a sample is looked at; `held_out` of five parts of the classes are held out in
    turn. The seed decides on both; it protects nothing.
    """

    cells: int = 50_000
    links: int = 16_000_000
    held_out: int = 5
    seed: int = 1


Effort = DefinettiEffort
"""The name in earlier versions."""

THOROUGH = DefinettiEffort()
QUICK = DefinettiEffort(cells=20_000, links=4_000_000, held_out=2)
"""For a report, which nobody should have to wait for."""


def definetti(
    tables: TwoTables, original: Original, bounds: Mapping[str, Bound], *, effort: DefinettiEffort = THOROUGH
) -> DefinettiResult:
    """Try the attack on two tables, and count by the original how often it is right.

    The learner sees the tables and nothing else; the original is for counting what it got right.
    """
    names = [*(column.name for column in tables.quasi), *tables.bags]
    lacking = [name for name in names if name not in original.columns]
    if lacking:
        why = f"columns of the release are neither quasi-identifiers nor sensitive by the policy: {listing(lacking)}"
        raise DataError(f"{why}; give the policy that the release was made by")
    columns = {name: _attack_column(tables, original, name, bounds.get(name), effort) for name in tables.bags}
    return DefinettiResult(len(tables.sizes), effort.seed, columns)


def _attack_column(
    tables: TwoTables, original: Original, name: str, bound: Bound | None, effort: DefinettiEffort
) -> DefinettiFigures:
    published = tables.bags[name]
    if not np.array_equal(np.bincount(published.class_of, published.count, len(tables.sizes)), tables.sizes):
        # files may have been changed: each class needs a bag of its own size
        raise DataError(
            f"the lines of {quote(name)} do not fit the classes of the release; check it with sfumato verify"
        )
    rng, bag = np.random.default_rng(effort.seed), merge_rare_values(published)
    limits = SampleLimits.from_bag(effort.cells, effort.links, len(tables.quasi), bag.merged)
    sample = draw_sample(tables, limits, rng)
    truth = look_up_truth(original, tables, sample, name, bag)
    links = link_cells(sample, bag.merged, tables.sizes)
    learner = train_learner(links)
    weights = assign_values(links, learner)

    people = float(sample.weight.sum())
    by_even_shares = _guess_in_bags(links, links.even, bag.guessable)
    by_attack = _guess_in_bags(links, weights, bag.guessable)
    by_learner = _guess_without_bags(sample, learner, bag.guessable)
    protected = _guess_in_bags(links, weights, bag.protected_values(bound))
    # of a value drawn at random from the bags of a profile; where each profile has one line, a class of n lines with r
    # of a value is right on r times r / n of these
    profile = links.profile[links.cell]
    random = links.even * sample.targets[profile] * truth.share(profile, links.value)
    largest_share = bag.largest_share(tables.sizes, bound)
    return DefinettiFigures(
        lines=tables.rows,
        sampled=SampleSize(int(sample.lines.sum()), int(sample.weight.sum())),
        values=int(bag.guessable.sum()),
        bound=None if bound is None else bound.share,
        largest_share=largest_share,
        blind=bag.blind,
        random=float(random.sum() / sample.weight.sum()),
        bag=by_even_shares.lines_right(truth, sample) / people,
        attack=by_attack.lines_right(truth, sample) / people,
        without_bag=by_learner.lines_right(truth, sample) / people,
        outside=_accuracy_outside(tables, bag, sample, truth, effort.held_out, rng),
        largest_posterior=float(protected.probability.max(initial=0.0)),
        beyond_bound=_lines_beyond(sample, truth, protected, bound.share if bound else largest_share),
    )


def _lines_beyond(sample: ProfileSample, truth: TrueCounts, guesses: "_Guesses", limit: float) -> LinesBeyondBound:
    """Count the lines of profiles with a value that is likelier than the limit."""
    weight = sample.weight
    surest = np.zeros(len(weight))
    surest[guesses.profile] = guesses.probability
    beyond = weight * (surest > limit + _BALANCE_ROUNDING)
    lines = int(beyond.sum())
    right = float((guesses.chance_right(truth) * beyond).sum() / lines) if lines else None
    return LinesBeyondBound(lines, right)


def _accuracy_outside(
    tables: TwoTables,
    bag: MergedBag,
    sample: ProfileSample,
    truth: TrueCounts,
    held_out: int,
    rng: np.random.Generator,
) -> float | None:
    """Measure how often the learner is right about people of classes that it was not trained on.

    Each time a part of the classes is held out, and the learner is trained by the same procedure on the others. Parts
    are drawn at random, each of about as many lines. ``None`` where there is one class: nobody is left to learn from.
    """
    classes = len(tables.sizes)
    lines = np.bincount(sample.class_of, weights=sample.lines, minlength=classes)
    order = rng.permutation(classes)
    before = np.cumsum(lines[order]) - lines[order]
    part = np.empty(classes, dtype=np.int64)
    part[order] = (before * _PARTS / lines.sum()).astype(np.int64)
    parts = np.unique(part[sample.class_of])
    if len(parts) < 2:
        return None
    splits = [(sample.select(part != number), sample.select(part == number)) for number in parts[:held_out]]
    people = sum(float(outside.weight.sum()) for _, outside in splits)
    if not people:
        return None
    right = 0.0
    for inside, outside in splits:
        learner = train_learner(link_cells(inside, bag.merged, tables.sizes))
        right += _guess_without_bags(outside, learner, bag.guessable).lines_right(truth, outside)
    return right / people


# The join of the two tables


@dataclass(frozen=True, eq=False)
class CellLinks:
    """The join of the two tables, where the attack begins: every cell linked to every value of its bag.

    Equal lines of a class are weighed alike whatever is learned, so that they are counted and not repeated.

    profile, lines, begins:   [c] the profile of each cell, its number of lines, its first link
    cell, value, entry, even: [l] the cell of each link, its sensitive value, the entry of the bag that it leads to, and
                              the lines it gets by its share of the bag
    slots:                    int[l] for each quasi-identifier, where the learner's table has its bin with this value
    entry_lines:              float[e], how many of the lines have each entry of the bags

    `values` is the number of sensitive values, `bins` the number of bins of each quasi-identifier.
    """

    profile: IntArray
    lines: FloatArray
    begins: IntArray
    cell: IntArray
    value: IntArray
    entry: IntArray
    even: FloatArray
    entry_lines: FloatArray
    slots: tuple[IntArray, ...]
    values: int
    bins: tuple[int, ...]

    def sum_by_cell(self, amounts: FloatArray) -> FloatArray:
        """Sum amounts over the links of each cell."""
        sums: FloatArray = np.add.reduceat(amounts, self.begins)
        return sums


def link_cells(sample: ProfileSample, bag: Histogram, sizes: IntArray) -> CellLinks:
    """Join a sample with the bags of its classes.

    Where some lines of a class are left out, its bag shrinks with them, in shares.

    present:  float[g], lines of each class that are in the sample
    chosen:   int[e], the entries of the bags of these classes; they are sorted by class, as the cells are
    """
    present = np.bincount(sample.class_of, weights=sample.lines, minlength=len(sizes))
    chosen = np.flatnonzero(present[bag.class_of])
    entry_class = bag.class_of[chosen]
    entries = np.bincount(entry_class, minlength=len(sizes))
    links = entries[sample.class_of]
    begins = np.cumsum(links) - links
    cell = np.repeat(np.arange(len(links)), links)
    # the n-th link of a cell leads to the n-th entry of its class
    entry = np.arange(len(cell)) + ((np.cumsum(entries) - entries)[sample.class_of] - begins)[cell]
    share = bag.count[chosen] / sizes[entry_class]
    value, values = bag.value[chosen[entry]], len(bag.domain.values)
    return CellLinks(
        sample.profile,
        sample.lines,
        begins,
        cell,
        value,
        entry,
        even=share[entry] * sample.lines[cell],
        entry_lines=share * present[entry_class],
        slots=tuple((bin_of * values)[sample.profile][cell] + value for bin_of in sample.bin_of),
        values=values,
        bins=sample.bins,
    )


# The learner: naive Bayes over the quasi-identifiers, from weights in place of counts

_NEVER = 1e-9
"""A value that no line is given is not impossible."""

_BLOCK = 1 << 20
"""Scores are computed so many at a time."""

_SETTLED = 0.01
"""Training ends when no more of the weight than this goes from one value to another."""

_TRAINING_STEPS = 4
_FINAL_STEPS = 100
_BALANCED = 1e-6
"""Weights are balanced in so many steps while learning, in so many at the end, or until they are as close as this."""

_LEAST_LOG_ODDS = -30.0
"""No value of a bag is ruled out altogether: somebody has it."""


@dataclass(frozen=True, eq=False)
class _Learner:
    """Logarithms: how frequent each value is, and how much more so with each bin of each quasi-identifier.

    prior:  float[v], for v sensitive values
    lifts:  float[b, v] for each quasi-identifier, with b bins
    """

    prior: FloatArray
    lifts: tuple[FloatArray, ...]

    def score_links(self, links: CellLinks) -> FloatArray:
        """Sum what the quasi-identifiers of each link's cell say for its value, without the prior."""
        scores = np.zeros(len(links.cell))
        for lift, slots in zip(self.lifts, links.slots, strict=True):
            scores += lift.ravel().take(slots)
        return scores

    def score_profiles(self, bin_of: Sequence[IntArray]) -> Iterator[tuple[int, FloatArray]]:
        """Score every value for each profile, prior included: block by block, each with where it begins."""
        step = max(_BLOCK // len(self.prior), 1)
        for start in range(0, len(bin_of[0]), step):
            parts = (
                lift.take(bins[start : start + step], axis=0) for lift, bins in zip(self.lifts, bin_of, strict=True)
            )
            yield start, sum(parts, self.prior[np.newaxis, :])


def train_learner(links: CellLinks) -> _Learner:
    """Begin with the shares of the bags; then learn from the weights and weigh by what was learned, in turn."""
    weights, learner = links.even, _learn(links, links.even)
    for _ in range(MAX_ROUNDS):
        before, weights = weights, assign_values(links, learner, steps=_TRAINING_STEPS)
        learner = _learn(links, weights)
        if np.abs(weights - before).sum() <= 2 * _SETTLED * links.lines.sum():
            break
    return learner


def _learn(links: CellLinks, weights: FloatArray) -> _Learner:
    """Estimate prior and lifts from the lines that each link got.

    Of lines with age 40, a share P(v | 40) has v; by Bayes P(40 | v) / P(40) = P(v | 40) / P(v), which is the lift.
    Ages of few lines say little, and are drawn towards saying nothing.
    """
    totals = np.bincount(links.value, weights=weights, minlength=links.values) + _NEVER
    prior = totals / totals.sum()
    lifts = []
    for slots, bins in zip(links.slots, links.bins, strict=True):
        counts = sum_by_group(slots, weights, bins * links.values).reshape(-1, len(prior))
        share = (counts + SMOOTHING * prior) / (counts.sum(axis=1, keepdims=True) + SMOOTHING)
        lifts.append(np.log(share / prior))
    return _Learner(np.log(prior), tuple(lifts))


def assign_values(links: CellLinks, learner: _Learner, *, steps: int = _FINAL_STEPS) -> FloatArray:
    """Weigh each link by what a learner says, such that the counts of each class are kept: the lines it gets."""
    scores = learner.score_links(links)
    scores -= np.maximum.reduceat(scores, links.begins).take(links.cell)
    return balance_weights(links, np.exp(np.maximum(scores, _LEAST_LOG_ODDS, out=scores), out=scores), steps=steps)


def balance_weights(links: CellLinks, weights: FloatArray, *, steps: int = _FINAL_STEPS) -> FloatArray:
    """Scale by entry of the bag and by cell in turn (Sinkhorn), until each entry and each cell has its lines.

    All classes at once. Cells come last, so that theirs hold exactly, and entries as closely as the steps allow.
    """
    weights = weights * (links.lines / links.sum_by_cell(weights)).take(links.cell)
    for _ in range(steps):
        entry_sums = np.bincount(links.entry, weights=weights, minlength=len(links.entry_lines))
        if np.abs(entry_sums - links.entry_lines).max(initial=0.0) <= _BALANCED:
            break
        weights *= (links.entry_lines / np.maximum(entry_sums, np.finfo(np.float64).tiny)).take(links.entry)
        weights *= (links.lines / links.sum_by_cell(weights)).take(links.cell)
    return weights


# Guesses

_TIE = 1e-9
"""Values that are as likely but for rounding are guessed in turn."""


@dataclass(frozen=True, eq=False)
class _Guesses:
    """The likeliest value of each profile, or several lines where values tie, and its probability."""

    profile: IntArray
    value: IntArray
    probability: FloatArray

    def chance_right(self, truth: TrueCounts) -> FloatArray:
        """Compute the chance that the guess for each profile is right; of ties one is taken at random; 0 without."""
        profiles = len(truth.rows)
        ties = np.bincount(self.profile, minlength=profiles)
        right = np.bincount(self.profile, truth.share(self.profile, self.value), profiles)
        return right / np.maximum(ties, 1)

    def lines_right(self, truth: TrueCounts, sample: ProfileSample) -> float:
        """Count the lines on which guesses are right, as it is to be expected where people look alike."""
        return float((self.chance_right(truth) * sample.weight).sum())


def _guess_in_bags(links: CellLinks, weights: FloatArray, allowed: BoolArray) -> _Guesses:
    """Guess the allowed value that most lines of each profile got.

    weights: float[l], the lines that each link gets; allowed: bool[v]
    keys:    profile and value of each allowed link as one number; links of one pair are summed over the classes
    """
    chosen = np.flatnonzero(allowed[links.value])
    keys = links.profile[links.cell[chosen]] * links.values + links.value[chosen]
    order = np.argsort(keys, kind="stable")
    first = run_starts(keys[order]) if len(chosen) else chosen
    pairs, sums = keys[order][first], np.add.reduceat(weights[chosen[order]], first)
    lines = np.bincount(links.profile, weights=links.lines)
    profile, value = np.divmod(pairs, links.values)
    probability = sums / lines[profile]
    # pairs are sorted by profile: those of a profile are neighbours
    first = run_starts(profile) if len(profile) else profile
    largest = np.repeat(np.maximum.reduceat(probability, first), np.diff(first, append=len(profile)))
    best = probability >= largest - _TIE
    return _Guesses(profile[best], value[best], probability[best])


def _guess_without_bags(sample: ProfileSample, learner: _Learner, allowed: BoolArray) -> _Guesses:
    """Guess the allowed value that the learner finds likeliest for each target, whatever its bags."""
    profiles = np.flatnonzero(sample.weight)
    blocks = []
    for start, scores in learner.score_profiles([bin_of[profiles] for bin_of in sample.bin_of]):
        scores[:, ~allowed] = -np.inf
        largest = scores.max(axis=1, keepdims=True)
        place, value = np.nonzero(scores >= largest - _TIE)
        odds = np.exp(scores - largest)
        share = odds / odds.sum(axis=1, keepdims=True)
        blocks.append((profiles[start + place], value, share[place, value]))
    profile, value, probability = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return _Guesses(profile, value, probability)


# Sentences, for the command and the report alike: what an adversary can do, never that one is safe


def format_share(share: float) -> str:
    """Write a share as a percentage that is not rounded to a certainty.

    >>> format_share(0.435), format_share(0.99999), format_share(1.0)
    ('43.5%', '>99.9%', '100.0%')
    """
    return ">99.9%" if 0.999 < share < 1 else f"{share:.1%}"


def describe_figures(column: str, figures: DefinettiFigures) -> tuple[str, ...]:
    """Say what the figures of a column mean: of its bags, inside the table, outside, and how sure the learner is."""
    share = f"The largest share that a value of '{column}' has of a class is {format_share(figures.largest_share)}"
    allowed = (
        "the policy sets no bound to it"
        if figures.bound is None
        else f"the policy allows {format_share(figures.bound)}"
    )
    attack = f"The attack guesses right for {format_share(figures.attack)} of the people in the table"
    bag = f"the most frequent value of their own bag is right for {format_share(figures.bag)}"
    return (
        f"{share}; {allowed}.",
        f"{attack}; {bag}, the most frequent value of the table for {format_share(figures.blind)}.",
        _describe_outside(figures),
        _describe_beyond(figures),
    )


def describe_sample(figures: DefinettiFigures) -> str:
    """Say how much of the release was looked at; nothing where it was all."""
    trained, guessed = figures.sampled.trained, figures.sampled.guessed
    if figures.lines == trained == guessed:
        return ""
    return f"Trained on {trained:,} lines and guessed about {guessed:,}, drawn at random from {figures.lines:,}."


def _describe_outside(figures: DefinettiFigures) -> str:
    if figures.outside is None:
        return "There is one class only, so that nobody could be held out to try the learner on people outside."
    outside = f"{format_share(figures.outside)} of people outside the table"
    gain = figures.attack - figures.outside
    if gain > _CLOSE_ACCURACIES:
        by = f"so that being in the table costs people {100 * gain:.1f} points"
        return f"The same learner guesses right for {outside}, {by}: the bag of their class adds to what it knows."
    close = "what it guesses it has learned about everybody alike, and staying out of the table protects nobody from it"
    return f"The same learner guesses right for {outside}, nearly as many or more: {close}."


def _describe_beyond(figures: DefinettiFigures) -> str:
    bound = "the largest share of a class" if figures.bound is None else "the bound"
    surest = format_share(figures.largest_posterior)
    beyond, guessed = figures.beyond_bound, figures.sampled.guessed
    if beyond.right is None:
        return f"It is surer than {bound} of nobody ({surest} at most)."
    people = f"{beyond.lines:,} of {guessed:,} people ({surest} at most)"
    return f"It is surer than {bound} of {people}, and right about {format_share(beyond.right)} of them."
