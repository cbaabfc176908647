"""How far the truth may be from an expected value because values are not equally likely after all.

An expected value takes all values that a label covers to be equally likely. In real tables they are not: within 20-39
there are more people of 39 than of 20, and of a label that covers ten jobs two have most of the people. The error that
comes of it does not average out over rows, as that of drawing one value for each row by itself does, since all rows
with such a label err in the same direction. It grows with the rows and not with their root, and in a large table it is
all there is.

Nobody who has the release alone knows this error, but its size follows from how uneven values are in tables like this.
Let p be the share of a label's values that meet the conditions, and q the share of its rows that do. A range is halved
again and again, each half getting a share of its own that varies by a constant part (a Pólya tree, in which unevenness
is the same at all scales). Then q has mean p and variance

    p² (p^-η - 1)                                      where p is at most a half, and by symmetry where it is more

and η, the *unevenness* of the column, is 0 where all values are equally frequent. It is measured in the release: where
labels are of several sizes or of one level below the root, they show how uneven the column is between them, and what is
within them is taken to be as uneven (`unevenness`).

Rows of a label err together: with w rows of deviation s, the error of a count is w s. Labels are cut by a condition at
different places, and their errors are correlated by `TOGETHER`. For a sum over a number x the same holds of x, and
besides, the rows that meet the conditions may have other x than those that do not: `APART` is the share of that which
is assumed. Where x is itself a label, the mean of those values varies in the same way by δ = 2^η - 1 of its variance.
Sums of all of these go into one covariance (`ModelSums`), which is added to that of equally likely values.

In two tables nothing is uneven within a label, but lines of a class do not go with its sensitive values by chance:
`TIE` is the correlation that is assumed between what conditions ask of either table. With a correlation of φ in a class
of n lines, a count with variance v is off by φ times the root of (n - 1) v, in all classes in the same direction.

`tests/queries/test_calibration.py` has how often the truth lies within two standard errors, on real tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.queries.query_plan import CLASSES, LABELS, Measures, QueryPart, group_by, product, select, sorted_pair
from sfumato.queries.query_tables import QueryColumn

TOGETHER = 0.5
"""The correlation of the errors of different labels."""
APART = 0.15
"""The share that what rows differ in has in the error of which rows they are: 0 for none, 1 for all that could be."""
TIE = 0.3
"""The correlation of conditions on either of two tables within classes."""


# One table. Lines have the columns w (rows), p (the share of values that meets all conditions), the shares of parts,
# and m{k} and q{k}_{m}, the means of measures and of their products, 0 where the conditions are not met. Lines of equal
# labels and shares form a cell, and cells that are cut at the same labels form a cut.


def cells_sql(
    keys: Sequence[str],
    shares: Sequence[str],
    parts: Sequence[QueryPart],
    measures: Measures,
    columns: Sequence[QueryColumn],
) -> str:
    """Write the table of cells: for each its rows, its share, the deviation s of that, and sums over its lines.

    Of measures given that conditions are met, x{k} is the sum and y{k}_{m} that of products of their means; e{k} and
    v{k}_{m} are sums of equally likely values, and u{k}_{m} is what the values of a label add to the latter.
    """
    sums = {"w": "sum(w)", "s": deviation_sql(shares, parts, columns)}
    every = range(len(measures.items))
    sums |= {f"e{k}": f"sum(w * m{k})" for k in every} | {f"x{k}": f"sum(w * m{k}) / p" for k in every}
    for k, m in measures.pairs:
        sums[f"v{k}_{m}"] = f"sum(w * (q{k}_{m} - m{k} * m{m}))"
        sums[f"y{k}_{m}"] = f"sum(w * m{k} * m{m}) / (p * p)"
        sums[f"u{k}_{m}"] = f"sum(w * (q{k}_{m} - m{k} * m{m} / p))"
    by = [*keys, "p", *shares]
    return select(by, sums, "lines") + group_by(by)


def cuts_sql(
    groups: Sequence[str], cut: Mapping[str, str], shares: Sequence[str], parts: Sequence[QueryPart], measures: Measures
) -> str:
    """Write the table of cuts: cells whose rows err together, since the conditions cut them at the same labels.

    `cut` has for each code of a label the share of its values that meets the conditions. Where that is all of them,
    nothing is cut, and the label is of no account: a condition that all rows meet, and a column that is only summed,
    change nothing of the error of a count. z{k}_{m} is the sum of w p u{k}_{m}, which is about single cells, and f that
    of w p where a measure is a label.
    """
    labels = sorted({k for part in parts for k in part.measures})
    varies = " OR ".join(f"u{k}_{k} > 1e-9 * abs(y{k}_{k})" for k in labels) or "false"
    every, kinds = range(len(measures.items)), "vyu"
    sums = {"s": "any_value(s)", "w": "sum(w)", "f": f"sum(CASE WHEN {varies} THEN w * p ELSE 0 END)"}
    sums |= {f"{kind}{k}": f"sum({kind}{k})" for kind in "ex" for k in every}
    sums |= {f"{kind}{k}_{m}": f"sum({kind}{k}_{m})" for kind in kinds for k, m in measures.pairs}
    sums |= {f"z{k}_{m}": f"sum(w * p * u{k}_{m})" for k, m in measures.pairs}
    by = [*groups, *(f"CASE WHEN {share} < 1 THEN {code} END" for code, share in cut.items()), "p", *shares]
    return select(by, sums, "cells") + group_by([str(place + 1) for place in range(len(by))])


def deviation_sql(shares: Sequence[str], parts: Sequence[QueryPart], columns: Sequence[QueryColumn]) -> str:
    """Write the deviation of the share of a cell's rows that meet the conditions, given the shares of its parts.

    No more than half of what it could be off by at all.

    >>> part = QueryPart((0,))
    >>> print(deviation_sql(["p_0"], [part], [QueryColumn("age", 0, unevenness=0.5)]))
    CASE WHEN p >= 1 THEN 0 WHEN p > 0.5 THEN least(p / 2, (1 - p) * sqrt(pow(1 - p, -0.5) - 1))
    ELSE least((1 - p) / 2, p * sqrt(pow(p_0, -0.5) - 1)) END
    """
    uneven = [_unevenness(part.pieces, columns) for part in parts]
    together = product(*(f"pow({share}, -{one:g})" for share, one in zip(shares, uneven, strict=True)))
    # of the parts that the conditions cut, the most uneven one
    cut = [f"CASE WHEN {share} < 1 THEN {one:g} ELSE 0 END" for share, one in zip(shares, uneven, strict=True)]
    most = f"{uneven[0]:g}" if len(parts) == 1 else f"greatest({', '.join(cut)})"
    above = f"least(p / 2, (1 - p) * sqrt(pow(1 - p, -{most}) - 1))"
    below = f"least((1 - p) / 2, p * sqrt({together} - 1))"
    return f"CASE WHEN p >= 1 THEN 0 WHEN p > 0.5 THEN {above} ELSE {below} END"


def _unevenness(places: Sequence[int], columns: Sequence[QueryColumn]) -> float:
    return max(columns[place].unevenness for place in places)


def model_sums_sql(measures: Measures, parts: Sequence[QueryPart], columns: Sequence[QueryColumn]) -> dict[str, str]:
    """Write expected sums, their covariances, and the sums over cuts that `ModelSums` is made of, in its order.

    Where a measure is a label, the variance of its values, of those that meet the conditions, is part of it.
    """
    every = range(len(measures.items))
    sums = {f"e{k}": f"sum(e{k})" for k in every} | {f"v{k}_{m}": f"sum(v{k}_{m})" for k, m in measures.pairs}
    sums["a"] = "sum(w * s)"
    sums |= {f"b{k}": f"sum(s * x{k})" for k in every}
    labels = {k: list(part.pieces) for part in parts for k in part.measures}
    sums["f"] = "sum(f)"
    for k, m in measures.pairs:
        uneven = max((_unevenness(labels[each], columns) for each in (k, m) if each in labels), default=0.0)
        own = f"s * s * ({1 - APART:g} * x{k} * x{m} + {APART:g} * w * y{k}_{m})"
        within = f"{2**uneven - 1:.6g}"
        sums[f"d{k}_{m}"] = f"sum(s * y{k}_{m})"
        sums[f"g{k}_{m}"] = f"sum({within} * u{k}_{m})" if uneven else "0"
        sums[f"i{k}_{m}"] = f"sum({own}{f' + {within} * z{k}_{m}' if uneven else ''})"
    return sums


@dataclass(frozen=True)
class ModelSums:
    """Sums over the cuts of a group, see `model_sums_sql`: of deviations, and of measures weighed by them.

    With w rows, deviation s and a measure of x on average: `together` is the sum of w s, `first` that of w s x for each
    measure. For each pair of measures, `second` is the sum of w s x y, `labels` that of the variance of means of labels
    times the rows that have some, and `apart` the covariance if cuts erred independently of each other.
    """

    together: float
    first: Sequence[float]
    second: Mapping[tuple[int, int], float]
    labels: Mapping[tuple[int, int], float]
    apart: Mapping[tuple[int, int], float]

    @classmethod
    def from_figures(cls, figures: Sequence[float], measures: Measures) -> "ModelSums":
        """Read the sums in the order in which they were asked for."""
        together, *rest = figures
        first, (rows, *pairs) = rest[: len(measures.items)], rest[len(measures.items) :]
        by_pair = {pair: pairs[3 * place : 3 * place + 3] for place, pair in enumerate(measures.pairs)}
        return cls(
            together,
            first,
            {pair: second for pair, (second, _, _) in by_pair.items()},
            {pair: rows * labels for pair, (_, labels, _) in by_pair.items()},
            {pair: apart for pair, (_, _, apart) in by_pair.items()},
        )

    def covariance(self, k: int, m: int) -> float:
        """Give the covariance of the errors of two measures' sums."""
        pair = sorted_pair(k, m)
        same = (1 - APART) * self.first[k] * self.first[m] + APART * self.together * self.second[pair]
        return TOGETHER * (same + self.labels[pair]) + (1 - TOGETHER) * self.apart[pair]


def add_model_error(
    covariances: Mapping[tuple[int, int], float], model: str, figures: Sequence[float], measures: Measures
) -> dict[tuple[int, int], float]:
    """Add to the covariances of equally likely values those of the model, made of the figures of a plan.

    Of two tables these are the number of classes that vary, and for each pair the sum of (n - 1) times its covariance.

    >>> from sfumato.queries.query_plan import Measure
    >>> count = Measures((Measure("1"),), ((0,),))
    >>> add_model_error({(0, 0): 2.0}, CLASSES, [100.0, 8.0], count)[0, 0] == 2 + TIE**2 * 100 * 8
    True
    >>> one_cell = [3.0, 3.0, 0.0, 3.0, 0.0, 9.0]
    >>> round(add_model_error({(0, 0): 2.0}, LABELS, one_cell, count)[0, 0], 9) == 2 + 3**2
    True
    """
    if model == CLASSES:
        classes, *more_of_pairs = figures
        pairs = zip(covariances.items(), more_of_pairs, strict=True)
        return {pair: value + TIE**2 * classes * more for (pair, value), more in pairs}
    if model == LABELS:
        cells = ModelSums.from_figures(figures, measures)
        return {pair: value + cells.covariance(*pair) for pair, value in covariances.items()}
    return dict(covariances)
