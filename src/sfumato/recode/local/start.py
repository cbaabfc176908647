"""Where a local algorithm begins: the problem that a policy poses, and the rows that take part in it.

The start is one group that satisfies the requirement. Every algorithm may rely on it, and so needs no way of saying no.
Where the whole table as one group fails, rows of the values that are too frequent are dropped, as few as it takes;
where that is not enough, those that the best full-domain generalization drops, if its lattice is small.
"""

import math
from dataclasses import replace

import numpy as np

from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.numbers import floor_times
from sfumato.encode import CodedColumn, EncodedTable, QuasiIdentifier, count_distinct_tuples
from sfumato.hierarchy import Ranges, Sets
from sfumato.hierarchy.hierarchy import build
from sfumato.models import IdentityAlphaBeta, Model
from sfumato.policy import Policy
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.policy.options import UNLEVELLED
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.lattice import Node
from sfumato.recode.local.aggregate_axes import make_aggregate_axis
from sfumato.recode.local.axes import AttributeAxis, SetAxis, TreeAxis
from sfumato.recode.local.partition import SUPPRESSED, Partition
from sfumato.recode.local.problem import LocalMetric, Problem, bundle_persons
from sfumato.recode.local.range_axis import RangeAxis
from sfumato.recode.metrics import METRICS
from sfumato.recode.optimal import optimal
from sfumato.recode.requirement import Requirement

_SEARCHED = 30_000
"""Nodes of the largest lattice that is searched by the way."""


def pose_problem(encoded: EncodedTable, policy: Policy) -> Problem:
    """Make the problem of a table and a policy; all rows take part.

    An algorithm that works on levels gets ranges and sets as trees of the value and ``*``.
    """
    chooses_labels = policy.recoder in {*UNLEVELLED, MICROAGGREGATION}
    partitions: dict[int, RangeAxis] = {}  # by number of the attribute
    if policy.recoder in UNLEVELLED and policy.publish.ranges == "partition":
        least = max(model.least for model in policy.privacy)
        for number, attribute in enumerate(encoded.quasi):
            if isinstance(attribute.spec, Ranges):
                partitions[number] = RangeAxis(attribute, 1.0, form="partition", least=least)
    source = code_by_interval(encoded, {number: axis.place for number, axis in partitions.items()})
    indivisible = source.individual is not None and policy.search.keep_together
    encoded, bundle_values = bundle_persons(source) if indivisible else (source, {})
    metric = LocalMetric(encoded, policy.search.metric)

    def axis(number: int, attribute: QuasiIdentifier) -> AttributeAxis:
        aggregate = policy.aggregate(attribute.name)
        if aggregate == "ancestor":
            return TreeAxis(attribute, metric.cells(number))
        if aggregate is not None:
            return make_aggregate_axis(attribute, aggregate, metric.share(number), metric.cells(number))
        if number in partitions:
            return partitions[number].by_place(metric.share(number))
        if chooses_labels and isinstance(attribute.spec, Ranges):
            return RangeAxis(attribute, metric.share(number), form=policy.publish.ranges)
        if chooses_labels and isinstance(attribute.spec, Sets):
            return SetAxis(attribute, metric.share(number))
        return TreeAxis(attribute, metric.cells(number))

    axes = tuple(axis(number, attribute) for number, attribute in enumerate(encoded.quasi))
    requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
    start = Partition.one_group(encoded.tuples.counts)
    return Problem(encoded, requirement, axes, metric, start, source, bundle_values, indivisible=indivisible)


def code_by_interval(encoded: EncodedTable, places: dict[int, IntArray]) -> EncodedTable:
    """Code some attributes, given by number, by the place of each of their values.

    Ranges of a partition are made of elementary intervals, and no label tells values of one interval apart. Neither may
    the search: if it did, one extreme record, moved further out, could change the classes of others.
    """
    if not places:
        return encoded
    quasi = list(encoded.quasi)
    for number, place in places.items():
        attribute, width = quasi[number], int(place.max(initial=0)) + 1
        names = tuple(str(interval) for interval in range(width))
        codes = narrow_codes(place, width).take(attribute.column.codes)
        column = CodedColumn(attribute.name, codes, names, attribute.column.values)
        quasi[number] = replace(attribute, column=column, hierarchy=build([names]))
    tuples = count_distinct_tuples(tuple(quasi), encoded.tuple_columns, encoded.counts)
    return replace(encoded, quasi=tuple(quasi), tuples=tuples)


def choose_start(problem: Problem) -> Problem | None:
    """Choose the rows to begin with, or return nothing where no choice of them satisfies the requirement.

    All rows, where the whole table as one group passes. Where it does not, and rows may be suppressed, all but some of
    the values that are too frequent. Where that takes too many, those that the best full-domain generalization
    publishes: its classes pass, and where models are monotone so does their union.
    """
    if problem.holds(problem.start).all():
        return problem
    if not problem.requirement.limit:
        return None
    start = drop_frequent_values(problem)
    if start is not None:
        return replace(problem, start=start)
    classes = full_domain_classes(problem) if has_small_lattice(problem) else None
    if classes is None:
        return None
    union = Partition(classes.tuples, classes.rows, np.minimum(classes.group, 0), 1)
    return replace(problem, start=union if problem.holds(union).all() else classes)


# The full-domain optimum as a partition


def has_small_lattice(problem: Problem) -> bool:
    """Tell whether the lattice of full-domain generalizations is small enough to be searched by the way."""
    return math.prod(attribute.hierarchy.height + 1 for attribute in problem.encoded.quasi) <= _SEARCHED


def full_domain_classes(problem: Problem) -> Partition | None:
    """Find the classes of the best full-domain generalization, failing ones suppressed; nothing where none passes."""
    metric = METRICS[problem.metric.name](problem.source)
    best = optimal(Evaluator(problem.source, problem.requirement, metric))
    if best is None:
        return None
    classes = classes_at_node(problem.encoded, best.node)
    passing = problem.holds(classes)
    group = np.where(passing[classes.group], classes.group, SUPPRESSED)
    return Partition(classes.tuples, classes.rows, group, classes.groups).without_empty_groups()


def classes_at_node(encoded: EncodedTable, node: Node) -> Partition:
    """Group all tuples by their labels at a node."""
    codes, widths = [], []
    for attribute, column, level in zip(encoded.quasi, encoded.tuples.quasi, node, strict=True):
        codes.append(attribute.hierarchy.matrix[:, level].take(column))
        widths.append(len(attribute.hierarchy.labels[level]))
    group, groups = number_tuples(pack_tuples(codes, widths))
    return Partition.from_tuples(encoded.tuples.counts, group, groups)


# Dropping rows of values that are too frequent


def drop_frequent_values(problem: Problem) -> Partition | None:
    """Put all rows but some into one group that passes, or return nothing where too many would have to be dropped.

    Where a table fails as one class, some value is too frequent in it: above α, or so frequent that the others make no
    entropy. Dropping rows of that value is what helps. While a model fails, rows of the value that it objects to go, as
    few as let it hold; or, where no number of them does, as many as make the value no more frequent than the next. For
    α bounds no smaller number of rows would do, value by value.

    With t tuples: `rows` int[t] are those of each that stay. The fewest rows to drop are found by bisection. Tuples
    that are not in the start have no rows.
    """
    tuples, limit = np.arange(len(problem.counts)), problem.requirement.limit
    before_all: IntArray = np.zeros(len(tuples), dtype=np.int64)
    np.add.at(before_all, problem.start.tuples, problem.start.rows)
    rows = before_all.copy()
    while True:
        whole = problem.count_one_class(tuples, rows)
        failing = next((model for model in problem.requirement.models if not model.holds(whole).all()), None)
        if failing is None:
            break
        excess = _most_frequent_value(failing, whole, problem.encoded.individual)
        if excess is None or not limit:
            return None
        column, value, frequency, following = excess
        most = min(limit, frequency)
        low, high = 1, most + 1
        while low < high:
            middle = (low + high) // 2
            holds = failing.holds(_without_rows(whole, column, value, middle)).all()
            low, high = (low, middle) if holds else (middle + 1, high)
        wanted = low if low <= most else min(max(frequency - following, 1), most)
        # Rows are taken from the tuples that hold the value, the rarest first; of indivisible ones, all rows.
        lines = np.flatnonzero(problem.has_value(column, value) & (rows > 0))
        lines = lines[np.argsort(rows[lines], kind="stable")]
        before = np.cumsum(rows[lines]) - rows[lines]
        part = np.clip(wanted - before, 0, rows[lines])
        dropped = np.where(before < wanted, rows[lines], 0) if problem.indivisible else part
        rows[lines] -= dropped
        limit -= int(dropped.sum())
        if not dropped.any() or limit < 0:
            return None
    amount = np.concatenate([rows, before_all - rows])
    group = np.repeat([0, SUPPRESSED], len(rows))
    return Partition(np.concatenate([tuples, tuples]), amount, group, 1).select(amount > 0)


def _most_frequent_value(
    model: Model, whole: EquivalenceClasses, person: CodedColumn | None
) -> tuple[str, int, int, int] | None:
    """Find what a model objects to most: column, code of the value, its rows, and the rows of the next frequent one.

    Only values that it protects count, where it names some. A person who has too many rows is such a value, too.
    """
    histograms = {column: whole.sensitive[column] for column in model.looks_at}
    people = whole.individuals
    if person is not None and people is not None and isinstance(model, IdentityAlphaBeta):
        most = floor_times(model.alpha, whole.sizes)[0]
        histograms = {person.name: people} if people.count.max(initial=0) > most else histograms
    named = getattr(model, "values", None)
    values = []
    for column, lines in histograms.items():
        counts = [
            (count, value)
            for count, value in zip(lines.count.tolist(), lines.value.tolist(), strict=True)
            if named is None or lines.domain.values[value] in named
        ]
        if counts:
            (rows, value), *others = sorted(counts, reverse=True)
            values.append((column, value, rows, others[0][0] if others else 0))
    return max(values, key=lambda excess: excess[2], default=None)


def _without_rows(whole: EquivalenceClasses, column: str, value: int, dropped: int) -> EquivalenceClasses:
    """Count the table without so many rows of a value, as far as the value's own column tells."""
    lines = whole.sensitive.get(column, whole.individuals)
    assert lines is not None  # noqa: S101 - the value was counted in one of them; this tells the type checker
    count = lines.count - np.where(lines.value == value, dropped, 0)
    left = count > 0
    fewer = Histogram(lines.class_of[left], lines.value[left], count[left], lines.domain)
    if column not in whole.sensitive:
        return EquivalenceClasses(whole.sizes - dropped, whole.sensitive, fewer)
    return EquivalenceClasses(whole.sizes - dropped, {**whole.sensitive, column: fewer}, whole.individuals)
