"""Microaggregation: rows that are near each other form groups of k to 2k - 1, and a group is published as its middle.

Groups come of a clustering of the quasi-identifiers: MDAV, V-MDAV, or cuts near medians (see `sfumato.cluster`). What
is near is measured on numbers in standard deviations, and on categories by whether they differ, with a tree by the
share of levels on which they do; columns count by their weights. What is published of a group is a matter of its axes
(`aggregate_axes`): means, medians, modes or lowest common ancestors.

The clustering sees to sizes, and to persons where a column names them. Groups that fail another requirement are merged
with their neighbours when groups are settled, as after every local algorithm.

`Strata` are columns whose values are not mixed: every combination of their values is a table of its own.

References: Domingo-Ferrer and Mateo-Sanz 2002 (numbers), Torra 2004 (categories), Domingo-Ferrer and Torra 2005 (MDAV).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sfumato.cluster.mdav import mdav, v_mdav
from sfumato.cluster.median_cuts import median_cuts
from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.deadline import report_through
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.errors import Infeasible
from sfumato.recode.local.aggregate_axes import GridAxis
from sfumato.recode.local.axes import AttributeAxis, TreeAxis
from sfumato.recode.local.partition import SUPPRESSED, Partition, deal_out
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.range_axis import RangeAxis
from sfumato.recode.local.settle import settle
from sfumato.recode.local.start import drop_frequent_values
from sfumato.recode.recoding import Progress

_CATEGORY = 2.0
"""What two values of a category add to the squared distance where they differ; two numbers add as much on average."""
_MISSING = 8.0
"""What a number and a missing one add: a group of both tells nothing of either."""

Clustering = Callable[[MixedPoints, int, IntArray | None, Progress | None], IntArray]
"""From points, k and the person of each to the group of each."""

CLUSTERINGS: dict[str, Clustering] = {
    "mdav": mdav,
    "v-mdav": lambda points, k, persons, progress: v_mdav(points, k, persons=persons, progress=progress),
    "mondrian": lambda points, k, persons, _: median_cuts(points, k, persons),
}


def microaggregation(problem: Problem, progress: Progress | None = None, *, clustering: str = "mdav") -> Partition:
    """Put the rows of the start into groups of near ones, of as many as every class needs at least.

    A person's equal rows are one point, and groups have as many persons then. Rows that are equal, and land in several
    groups, are dealt out evenly by their other values, so that no group is of one illness because the table is sorted.
    """
    start = problem.start.published.combine_lines()
    k, person = problem.requirement.least, problem.encoded.individual
    if person is not None:
        persons = problem.persons.take(start.tuples).astype(np.int64)
        if len(np.unique(persons)) < k:
            return problem.start
        # A line is a bundle, the equal rows of a person; and where rows need not stay together, they do all the same.
        group = _cluster(_as_points(problem, start.tuples, start.rows), k, persons, clustering, progress)
        grouped = Partition(start.tuples, start.rows, group, int(group.max()) + 1)
        return Partition.concatenate([grouped, problem.start.suppressed])
    if int(start.rows.sum()) < k:
        return problem.start
    line = np.repeat(np.arange(len(start)), start.rows)
    tuples = start.tuples.take(line)
    group = _cluster(_as_points(problem, tuples, np.ones_like(line)), k, None, clustering, progress)
    groups = int(group.max()) + 1
    # Lines are in the order of tuples, and so of points: the groups of a point are dealt out to its lines.
    quasi = problem.encoded.tuples.quasi
    widths = [attribute.column.width for attribute in problem.encoded.quasi]
    point, _ = number_tuples(pack_tuples([codes.take(tuples) for codes in quasi], widths))
    places, rows = np.unique(point * groups + group, return_counts=True)
    order = np.argsort(point, kind="stable")
    dealt = np.empty_like(group)
    dealt[order] = deal_out(Partition(places // groups, rows, places % groups, groups))
    pairs, rows = np.unique(line * groups + dealt, return_counts=True)
    grouped = Partition(start.tuples.take(pairs // groups), rows, pairs % groups, groups)
    return Partition.concatenate([grouped, problem.start.suppressed])


def _cluster(
    points: MixedPoints, k: int, persons: IntArray | None, clustering: str, progress: Progress | None
) -> IntArray:
    """Find the group of each point, and say so when it is done."""
    group = CLUSTERINGS[clustering](points, k, persons, progress)
    if progress is not None:
        progress(len(points), len(points))
    return group


def _as_points(problem: Problem, tuples: IntArray, rows: IntArray) -> MixedPoints:
    """Make points of tuples, int[n], that stand for so many rows each, int[n]."""
    numbers, categories = [], list[CategoryColumn]()
    for axis, codes in zip(problem.axes, problem.encoded.tuples.quasi, strict=True):
        weight, leaf = axis.attribute.weight, codes.take(tuples)
        values = _numbers_of(axis)
        if not weight or not len(leaf) or (leaf == leaf[0]).all():  # it tells no two rows apart
            continue
        if values is None:
            levels = _levels_of(axis)
            categories.append(CategoryColumn(leaf, axis.attribute.column.width, _CATEGORY * weight, levels))
            continue
        numbers.append(np.sqrt(weight) * _standardize(values.take(leaf), rows))
        missing = np.isnan(values.take(leaf))
        if missing.any() and not missing.all():
            categories.append(CategoryColumn(missing.astype(np.int64), 2, _MISSING * weight))
    matrix = np.column_stack(numbers) if numbers else np.zeros((len(tuples), 0))
    return MixedPoints(matrix, tuple(categories))


def _numbers_of(axis: AttributeAxis) -> FloatArray | None:
    """Give each value of a column of numbers as a number, NaN for NULL; nothing where it holds categories."""
    if isinstance(axis, GridAxis):
        return axis.numbers
    if isinstance(axis, RangeAxis):  # of two tables, whose ranges are not published
        return np.append((axis.low[:-1] + axis.high[:-1]) / 2, np.nan).take(axis.place)
    return None


def _levels_of(axis: AttributeAxis) -> IntArray | None:
    """Give the labels of each value on the levels below ``*``, int[v, L]; nothing where there are the values alone."""
    if not isinstance(axis, TreeAxis) or axis.hierarchy.height < 2:
        return None
    matrix: IntArray = axis.hierarchy.matrix[:, :-1].astype(np.int64)
    return matrix


def _standardize(numbers: FloatArray, rows: IntArray) -> FloatArray:
    """Turn numbers, each of so many rows, into multiples of their standard deviation from the mean; NaN becomes 0."""
    known = ~np.isnan(numbers)
    if not known.any():
        return np.zeros_like(numbers)
    mean = np.average(numbers[known], weights=rows[known])
    deviation = float(np.sqrt(np.average((numbers[known] - mean) ** 2, weights=rows[known])))
    return np.where(known, numbers - mean, 0.0) / (deviation if deviation > 1e-13 else 1.0)


# Strata


def aggregate_strata(
    problem: Problem, names: Sequence[str], clustering: str, progress: Progress | None = None
) -> Partition:
    """Form groups within the values of some quasi-identifiers, settled; none of them mixes such values.

    Each stratum has to satisfy the requirement by itself. Where it does not, rows of values that are too frequent are
    dropped, and else the whole stratum, as far as rows may be suppressed; where they may not, it is `Infeasible`.
    """
    limit, found, failing = problem.requirement.limit, list[Partition](), list[Problem]()
    strata = done = 0
    for stratum in _split_strata(problem, names):
        allowed = replace(stratum, requirement=replace(problem.requirement, limit=limit))
        start: Partition | None = stratum.start
        if not stratum.holds(stratum.start).all():
            start = drop_frequent_values(allowed) if limit else None
            if start is None and int(stratum.start.rows.sum()) <= limit:
                lines = stratum.start
                start = Partition(lines.tuples, lines.rows, np.full_like(lines.group, SUPPRESSED), 0)
        strata += 1
        if start is None:
            failing.append(stratum)
            continue
        limit -= int(start.suppressed.rows.sum())
        posed = replace(stratum, start=start)
        report = None
        if progress is not None:
            report = report_through(progress, partial(_report_stratum, progress, done, int(problem.start.rows.sum())))
        found.append(settle(posed, microaggregation(posed, report, clustering=clustering)) if start.groups else start)
        done += int(stratum.start.rows.sum())
    if failing:
        raise _infeasible_strata(failing, strata, names)
    return Partition.concatenate(found)


def _report_stratum(progress: Progress, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def _split_strata(problem: Problem, names: Sequence[str]) -> Iterator[Problem]:
    """Make a problem of each combination of values of some columns, whose start are its lines."""
    axes = [axis.attribute for axis in problem.axes]
    chosen = [place for place, attribute in enumerate(axes) if attribute.name in names]
    start = problem.start
    codes = [problem.encoded.tuples.quasi[place].take(start.tuples) for place in chosen]
    stratum, count = number_tuples(pack_tuples(codes, [axes[place].column.width for place in chosen]))
    for number in range(count):
        yield replace(problem, start=start.select(stratum == number))


def _infeasible_strata(failing: Sequence[Problem], total: int, names: Sequence[str]) -> Infeasible:
    """Name each requirement that a stratum fails, and what would help the first that does."""
    reasons, nearest = dict[str, str](), dict[str, float]()
    for stratum in failing:
        classes = stratum.count(stratum.start)
        for model in stratum.requirement.models:
            if not model.holds(classes).all():
                keys = ", ".join(f"{key} = {value}" for key, value in model.required.items())
                reasons.setdefault(model.name, f"{model.name} ({keys}): {model.hint(classes)}")
                for key, value in model.achieved(classes).items():
                    nearest.setdefault(key, float(value))
    strata = f"{len(failing):,} of {total:,} strata of {', '.join(names)}"
    why = f"the requirements cannot be met in {strata}, in the first of which {'; '.join(reasons.values())}"
    return Infeasible(f"{why}; ask for less, or leave a column out of strata", nearest=nearest)
