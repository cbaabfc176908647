"""Homogeneity, similarity and skewness: what the values of a class tell by themselves.

Whoever finds a person's class knows the sensitive values that its rows have. Where they are all equal, the value is
certain (homogeneity; Machanavajjhala et al. 2006, "l-Diversity"). Where they are all of one kind, the kind is certain
(similarity; Li, Li, Venkatasubramanian 2007, "t-Closeness"). Where a value is more frequent in the class than in the
table, the adversary has gained certainty, however many values there are (skewness; Li et al. 2007).

`homogeneity` and `skewness` are the two attacks. `measure_disclosure` has the measures behind both, for the report.
All of them work on sparse histograms, all classes at once.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from sfumato.attack.bound import Bound
from sfumato.attack.result import AttackResult, ShownAttack
from sfumato.attack.sensitive_columns import SensitiveColumn
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import max_by_group, run_starts
from sfumato.models import TCloseness
from sfumato.models.distances import bind_distance
from sfumato.models.model import count_distinct_values
from sfumato.page.wording import amount, percent, plural, value
from sfumato.policy import Policy

THRESHOLD = 0.3
"""The gain from which on the skewness attack counts a class, where nobody says another."""

ASSUMES = (
    "The adversary has the public files, knows a person's quasi-identifiers and that the person is in the table, and "
    "so finds the person's class; without the release the adversary knows how frequent each value is in the whole "
    "table."
)

_TOP = 5
"""So many of the classes that tell most are listed."""

_BOUNDING = ("variational", "emd-equal")
"""Distances that no gain of a value exceeds."""


# The homogeneity attack


@dataclass(frozen=True)
class ColumnHomogeneity:
    """How well the most frequent value of a class is a guess about its rows.

    `certain` are rows in classes of one value, in `certain_classes` of `classes`, and `certain_persons` of `persons`
    have such a row, where rows name persons. `similar` are rows in classes whose values all lie under one inner node of
    the sensitive hierarchy, where there is one. `largest_share` is that of `value` in some class; `distinct` and
    `entropy` are the l of the poorest class. `right` is the share of rows whose value is the most frequent of their
    class, `blind` the share that hold the most frequent of the table. `bound` is what the policy promises of the
    largest share: of these `protected` values, or of any.

    `labels` says that the column is a quasi-identifier: its values are labels, and classes are formed by the others.
    Then rows are `certain` whose class has one label alone that covers one value, `similar` whose class has one label
    alone, and ``*`` is nothing that anybody learns.
    """

    rows: int
    classes: int
    certain: int
    certain_classes: int
    persons: int | None
    certain_persons: int | None
    similar: int | None
    largest_share: float
    value: str | None
    distinct: int
    entropy: float
    right: float
    blind: float
    bound: float | None
    protected: tuple[str, ...] | None
    labels: bool = False

    def result(self, column: str) -> AttackResult:
        """Summarize the attack on this column; a bound on some values alone bounds no guess."""
        counts = f"rows whose '{column}' the most frequent value of their class guesses right"
        bound = self.bound if self.protected is None else None
        return AttackResult("homogeneity", ASSUMES, counts, self.right, self.blind, bound, self.sentences())

    def sentences(self) -> tuple[str, ...]:
        """Say what the figures mean."""
        guess = (
            f"The most frequent value of the own class is right for {percent(self.right)} of the rows, the most "
            f"frequent value of the table for {percent(self.blind)}."
        )
        if self.labels:
            others = "The column is a quasi-identifier: classes are formed by the others, and values are labels."
            return tuple(filter(None, (others, self._certain_rows(), self._one_label(), guess, self._largest_share())))
        return tuple(filter(None, (self._certain_rows(), self._similar_rows(), guess, self._largest_share())))

    def _certain_rows(self) -> str:
        if not self.certain:
            return "No class has one value only."
        rows = f"{amount(self.certain, self.rows)} of {plural(self.rows, 'row')}"
        persons = "" if self.certain_persons is None else f", of {plural(self.certain_persons, 'person')}"
        where = plural(self.certain_classes, "class", "classes")
        return f"{rows} stand in {where} of one value{persons}: who finds the class knows it for certain."

    def _similar_rows(self) -> str:
        if self.similar is None:
            return ""
        if not self.similar:
            return "No class has values that all lie under one inner node of the hierarchy."
        where = "stand in classes whose values all lie under one inner node of the hierarchy"
        return f"{amount(self.similar, self.rows)} {where}: their kind is certain."

    def _one_label(self) -> str:
        if not self.similar:
            return "No class has one label alone."
        return f"{amount(self.similar, self.rows)} stand in classes of one label, which tells what it covers."

    def _largest_share(self) -> str:
        if self.labels and not self.largest_share:
            return "No label of the column tells anything."
        share = f"The largest share of a class is {percent(self.largest_share)}, of {value(self.value)}"
        if self.bound is None:
            return f"{share}."
        of = "" if self.protected is None else " of the values that it protects"
        return f"{share}; the policy allows {percent(self.bound)}{of}."


@dataclass(frozen=True, repr=False)
class Homogeneity(ShownAttack):
    """The homogeneity attack, by column."""

    columns: Mapping[str, ColumnHomogeneity]

    def results(self) -> tuple[AttackResult, ...]:
        """Summarize the attack, column by column."""
        return tuple(column.result(name) for name, column in self.columns.items())

    def as_json(self) -> dict[str, Any]:
        """Convert to JSON."""
        return {"assumes": ASSUMES, "columns": {name: asdict(column) for name, column in self.columns.items()}}


def homogeneity(told: Mapping[str, SensitiveColumn], bounds: Mapping[str, Bound] | None = None) -> Homogeneity:
    """Count how often the most frequent value of a class is right, and where it is certain.

    `told` are the sensitive columns of a release, or any of its columns (`read_attacked_columns`); `bounds` are what
    its policy promises of them.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["flu", "flu", "HIV", "flu"])
    >>> column = SensitiveColumn(classes.sensitive["illness"], classes.sizes)
    >>> found = homogeneity({"illness": column}).columns["illness"]
    >>> found.certain, found.right, found.blind
    (2, 0.75, 0.75)
    """
    promised = bounds or {}
    return Homogeneity({name: _attack_homogeneity(column, promised.get(name)) for name, column in told.items()})


def _attack_homogeneity(column: SensitiveColumn, bound: Bound | None) -> ColumnHomogeneity:
    bag, sizes, persons = column.bag, column.sizes, column.persons
    rows, disclosure = int(sizes.sum()), measure_disclosure(bag, sizes)
    single = count_distinct_values(bag, len(sizes)) == 1  # bool[classes]
    published = np.bincount(bag.value, weights=bag.count, minlength=len(bag.domain.values))  # rows of each value
    if column.covers is not None:
        return _attack_labels(column, column.covers, disclosure, single)
    return ColumnHomogeneity(
        rows=rows,
        classes=len(sizes),
        certain=disclosure.certain,
        certain_classes=int(single.sum()),
        persons=None if persons is None else len(np.unique(persons.value)),
        certain_persons=None if persons is None else len(np.unique(persons.value[single[persons.class_of]])),
        similar=_count_similar(bag, sizes),
        largest_share=disclosure.share.worst,
        value=disclosure.top,
        distinct=int(disclosure.distinct.worst),
        entropy=disclosure.entropy.worst,
        right=float(max_by_group(bag.class_of, bag.count, len(sizes)).sum()) / rows,
        blind=float(published[bag.domain.totals.argmax()]) / rows,
        bound=None if bound is None else bound.share,
        protected=None if bound is None or bound.values is None else tuple(bound.values),
    )


def _attack_labels(
    column: SensitiveColumn, covers: IntArray, disclosure: "Disclosure", single: BoolArray
) -> ColumnHomogeneity:
    """Count what is learnt of a quasi-identifier, whose values are labels; ``*`` covers everything and tells nothing.

    covers: int[labels], the values that each may stand for, 0 for ``*``; single: bool[classes], of one label
    telling:  the lines of the histogram whose label is not ``*``
    """
    bag, sizes, persons = column.bag, column.sizes, column.persons
    rows = int(sizes.sum())
    telling = np.flatnonzero(covers[bag.value] > 0)
    class_of, value_of, counts = bag.class_of[telling], bag.value[telling], bag.count[telling]
    share = counts / sizes[class_of]
    certain = np.zeros(len(sizes), dtype=bool)
    certain[class_of[single[class_of] & (covers[value_of] == 1)]] = True
    published = np.bincount(value_of, weights=counts, minlength=1)
    largest = int(share.argmax()) if len(share) else None
    return ColumnHomogeneity(
        rows=rows,
        classes=len(sizes),
        certain=int(sizes[certain].sum()),
        certain_classes=int(certain.sum()),
        persons=None if persons is None else len(np.unique(persons.value)),
        certain_persons=None if persons is None else len(np.unique(persons.value[certain[persons.class_of]])),
        similar=int(sizes[class_of[single[class_of]]].sum()),
        largest_share=0.0 if largest is None else float(share[largest]),
        value=None if largest is None else bag.domain.values[int(value_of[largest])],
        distinct=int(disclosure.distinct.worst),
        entropy=disclosure.entropy.worst,
        right=float(max_by_group(class_of, counts, len(sizes)).sum()) / rows,
        blind=float(published.max()) / rows,
        bound=None,
        protected=None,
        labels=True,
    )


def _count_similar(bag: Histogram, sizes: IntArray) -> int | None:
    """Count the rows in classes whose values share an ancestor below the root.

    ``None`` where there is no hierarchy, or one without inner nodes. Levels nest, so that the one just below the root
    is enough to look at.
    """
    tree = bag.domain.ancestors
    if tree is None or tree.shape[1] < 3:
        return None
    kind, first = tree[bag.value, -2], run_starts(bag.class_of)
    similar = np.minimum.reduceat(kind, first) == np.maximum.reduceat(kind, first)  # bool[classes]
    return int(sizes[similar].sum())


# The skewness attack


@dataclass(frozen=True)
class Gain:
    """The value that a class tells most of, and how sure of it one is before and after finding the class."""

    value: str | None
    before: float
    after: float

    def times(self) -> str:
        """Say how many times as sure of the value one is in the class as in the table."""
        ratio = self.after / self.before
        return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"

    def shares(self) -> str:
        """Say how frequent the value is in the table and in the class."""
        return f"{percent(self.before)} of the table hold {value(self.value)}, {percent(self.after)} of some class"


@dataclass(frozen=True)
class SkewedClass:
    """A class that tells much: its number `place`, its rows, and the value that it tells most of."""

    place: int
    rows: int
    most: Gain

    @property
    def gain(self) -> float:
        """How much surer of the value one is in the class than in the table."""
        return self.most.after - self.most.before


@dataclass(frozen=True)
class ColumnSkewness:
    """How much surer of a value one is who finds a person's class than one who knows the table.

    `gain` is the largest difference and `ratio` the largest quotient of the two shares, each with its value.
    `distance` is the variational distance of the farthest class from the table and `average` that of the average row;
    `ordered` and `hierarchical` are the earth mover's distances of the farthest class, where values have an order or a
    hierarchy. `above` are rows in `classes_above` classes where some value gains more than `threshold`; `top` are the
    most telling classes. `bound` is the gain that the policy allows, where it promises a distance that bounds it.
    """

    rows: int
    classes: int
    gain: Gain
    ratio: Gain
    distance: float
    average: float
    ordered: float | None
    hierarchical: float | None
    threshold: float
    above: int
    classes_above: int
    top: tuple[SkewedClass, ...]
    bound: float | None

    def result(self, column: str) -> AttackResult:
        """Summarize the attack on this column.

        A gain that is promised to stay below the threshold promises that there is no row above.
        """
        counts = f"rows in classes that tell more than {100 * self.threshold:.3g} points of a value of '{column}'"
        bound = 0.0 if self.bound is not None and self.bound <= self.threshold else None
        return AttackResult("skewness", ASSUMES, counts, self.above / self.rows, 0.0, bound, self.sentences())

    def sentences(self) -> tuple[str, ...]:
        """Say what the figures mean."""
        points = 100 * (self.gain.after - self.gain.before)
        gain = f"The largest gain is {points:.1f} points: {self.gain.shares()}."
        ratio = f"The largest ratio is {self.ratio.times()}: {self.ratio.shares()}."
        above = (
            f"{amount(self.above, self.rows)} of {plural(self.rows, 'row')} stand in classes that tell more than "
            f"{100 * self.threshold:.3g} points of some value."
        )
        if self.bound is None:
            return gain, ratio, above
        promise = f"The policy allows a distance of {self.bound:.3g} to the table, and no value gains more than that."
        return gain, ratio, above, promise


@dataclass(frozen=True, repr=False)
class Skewness(ShownAttack):
    """The skewness attack on each sensitive column."""

    columns: Mapping[str, ColumnSkewness]

    def results(self) -> tuple[AttackResult, ...]:
        """Summarize the attack, column by column."""
        return tuple(column.result(name) for name, column in self.columns.items())

    def as_json(self) -> dict[str, Any]:
        """Convert to JSON."""
        return {"assumes": ASSUMES, "columns": {name: asdict(column) for name, column in self.columns.items()}}


def skewness(
    told: Mapping[str, SensitiveColumn], *, threshold: float = THRESHOLD, promised: Mapping[str, float] | None = None
) -> Skewness:
    """Measure how much more of a value a class tells than the table.

    `told` are the sensitive columns of a release; `promised` are the gains that its policy allows, see `gain_bounds`.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 0, 0, 1], illness=["flu", "flu", "flu", "HIV"])
    >>> column = SensitiveColumn(classes.sensitive["illness"], classes.sizes)
    >>> found = skewness({"illness": column}).columns["illness"]
    >>> found.gain
    Gain(value='HIV', before=0.25, after=1.0)
    """
    bounds = promised or {}
    return Skewness({name: _attack_skewness(column, threshold, bounds.get(name)) for name, column in told.items()})


def gain_bounds(policy: Policy) -> dict[str, float]:
    """Find the largest gain of a value that t-closeness allows, by column.

    A variational distance bounds every gain: what one value gains, the others together lose.
    """
    bounds: dict[str, float] = {}
    for model in policy.privacy:
        if isinstance(model, TCloseness) and model.distance in _BOUNDING:
            bounds[model.column] = min(float(model.t), bounds.get(model.column, 1.0))
    return bounds


def _attack_skewness(column: SensitiveColumn, threshold: float, bound: float | None) -> ColumnSkewness:
    """Measure one column.

    share: float[lines], of a line's value in its class; prior: float[values], of each value in the table
    gain:  float[classes], the largest of any value; line: int[classes], the histogram's line that has it
    """
    bag, sizes = column.bag, column.sizes
    disclosure, prior = measure_disclosure(bag, sizes), bag.domain.shares
    share = bag.count / sizes[bag.class_of]

    def gain_of(line: int) -> Gain:
        code = int(bag.value[line])
        return Gain(bag.domain.values[code], float(prior[code]), float(share[line]))

    gains, first = share - prior[bag.value], run_starts(bag.class_of)
    gain: FloatArray = np.maximum.reduceat(gains, first)
    # of equal gains in a class, the first line counts
    line = np.minimum.reduceat(np.where(gains == gain[bag.class_of], np.arange(len(gains)), len(gains)), first)
    above = gain > threshold
    top = np.lexsort((np.arange(len(gain)), -sizes, -gain))[:_TOP].tolist()
    ranks, ancestors = bag.domain.ranks, bag.domain.ancestors
    return ColumnSkewness(
        rows=int(sizes.sum()),
        classes=len(sizes),
        gain=disclosure.most,
        ratio=gain_of(int((share / prior[bag.value]).argmax())),
        distance=disclosure.distance.worst,
        average=disclosure.distance.average,
        ordered=None if ranks is None else bind_distance("emd-ordered", bag.domain).largest(bag, sizes),
        hierarchical=None if ancestors is None else bind_distance("emd-hierarchical", bag.domain).largest(bag, sizes),
        threshold=threshold,
        above=int(sizes[above].sum()),
        classes_above=int(above.sum()),
        top=tuple(SkewedClass(place, int(sizes[place]), gain_of(int(line[place]))) for place in top),
        bound=bound,
    )


# The measures behind both attacks

_BLOCK = 1 << 14
"""So many classes are measured together: few enough for their arrays to stay in the processor's cache."""

_WORSE = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
"""The sign by which the larger of a measure is the worse: few values and little entropy are bad, else much is."""


@dataclass(frozen=True)
class ClassMeasure:
    """A measure of the whole table taken as one class, for the average row, and in the worst class."""

    whole: float
    average: float
    worst: float


@dataclass(frozen=True)
class Disclosure:
    """The measures of one sensitive column.

    `distinct` is the number of values, `entropy` its exponential (an effective number of values), `share` the largest
    share of a value, which `top` has in the worst class; `distance` is the variational distance to the table and `gain`
    the largest gain of a value, which `most` has. `certain` are rows in classes of one value.
    """

    distinct: ClassMeasure
    entropy: ClassMeasure
    share: ClassMeasure
    distance: ClassMeasure
    gain: ClassMeasure
    top: str | None
    most: Gain
    certain: int


def measure_disclosure(lines: Histogram, sizes: IntArray) -> Disclosure:
    """Measure what classes tell of a column, whether a requirement looks at it or not.

    lines:   the column's histogram, sorted by class; every class has a line
    sizes:   int[classes], rows of each class
    figures: float[5, 3]; the five measures of the whole table, the average row and the worst class
    """
    prior, values = lines.domain.shares, lines.domain.values
    blocks = [_measure_block(lines, sizes, start) for start in range(0, len(sizes), _BLOCK)]
    average = np.sum([block.sums for block in blocks], axis=0) / sizes.sum()
    worst = _WORSE * np.max([block.worst for block in blocks], axis=0)
    whole = (len(prior), np.exp(-(prior * np.log(prior)).sum()), prior.max(), 0.0, 0.0)
    figures = np.stack([whole, average, worst], axis=1)
    figures[1, 1:] = np.exp(figures[1, 1:])  # entropies are averaged as logarithms
    _, top = max((block.top for block in blocks), key=itemgetter(0))
    _, most, share = max((block.peak for block in blocks), key=itemgetter(0))
    distinct, entropy, largest, distance, gain = (ClassMeasure(*figure) for figure in figures.tolist())
    return Disclosure(
        distinct,
        entropy,
        largest,
        distance,
        gain,
        top=values[top],
        most=Gain(values[most], float(prior[most]), share),
        certain=sum(block.certain for block in blocks),
    )


@dataclass(frozen=True, eq=False)
class _BlockMeasures:
    """Distinct values, entropy, largest share, distance and gain of some classes.

    `sums` (float[5]) are over rows and `worst` (float[5]) over classes, times `_WORSE`. `top` is the largest share and
    its value; `peak` the largest gain, its value and that value's share.
    """

    sums: FloatArray
    worst: FloatArray
    top: tuple[float, int]
    peak: tuple[float, int, float]
    certain: int


def _measure_block(lines: Histogram, all_sizes: IntArray, start: int) -> _BlockMeasures:
    """Measure the classes from `start` on, one block of them.

    share, gain: float[lines of the block]; first, distinct: int[classes of the block], where the lines of each class
    begin, and how many there are
    """
    sizes = all_sizes[start : start + _BLOCK]
    chosen = slice(*np.searchsorted(lines.class_of, [start, start + len(sizes)]))
    class_of, value_of, counts = lines.class_of[chosen], lines.value[chosen], lines.count[chosen]
    first = np.flatnonzero(np.diff(class_of, prepend=-1))
    distinct = np.diff(first, append=len(class_of))
    share = counts / np.repeat(sizes, distinct)
    gain = share - lines.domain.shares[value_of]
    top, peak = int(share.argmax()), int(gain.argmax())
    entropy = np.log(sizes) - np.add.reduceat(counts * np.log(counts), first) / sizes
    measures = (
        distinct,
        np.maximum(entropy, 0.0),  # rounding must not take it below
        np.maximum.reduceat(share, first),
        np.add.reduceat(np.maximum(gain, 0.0), first),  # the variational distance is the sum of all that is gained
        np.maximum.reduceat(gain, first),
    )
    return _BlockMeasures(
        sums=np.array([(measure * sizes).sum() for measure in measures], dtype=np.float64),
        worst=np.array([(sign * measure).max() for sign, measure in zip(_WORSE, measures, strict=True)]),
        top=(float(share[top]), int(value_of[top])),
        peak=(float(gain[peak]), int(value_of[peak]), float(share[peak])),
        certain=int(sizes[distinct == 1].sum()),
    )
