"""Means, medians and modes of a release beside its original: what they cost, and what of it files alone can tell.

A mean does not say which rows it stands for. But whoever has the original and the policy can form the classes again: an
algorithm comes to the same classes for the same table. If the published table has exactly these classes, with the same
sensitive values in each, every figure is known as it was when the release was made, SSE / SST among them. If not (rows
were masked at random without a seed, a ledger or an earlier release had its say, another version formed them), the
figures of rows cannot be known, and what follows from the files without them is reported by names of its own: how
columns are distributed before and after, and what the losses are at least.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import CodedColumn, QuasiIdentifier
from sfumato.errors import SfumatoError, listing
from sfumato.hierarchy import Dates, Intervals, Ranges
from sfumato.hierarchy.hierarchy import Label
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent, plural
from sfumato.recode import Recoding, recode
from sfumato.split.two_tables import codes_in_original
from sfumato.table.number_scale import DAY
from sfumato.utility.aggregation_error import measure_aggregation, read_label_numbers
from sfumato.utility.information_loss import AttributeLoss, Utility, measure, total_losses
from sfumato.utility.likeness import ComparedColumn, ks_distance, measure_likeness
from sfumato.utility.masked_values import PublishedChanges
from sfumato.utility.release_comparison import ReleaseComparison

_IN_AUDIT = "NCP and SSE / SST were measured when the release was made: see utility in private/audit.json"
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class AggregateValues:
    """A column of means, medians or modes beside the true values, without knowing which row is which.

    `changed_at_least`: so large a share of rows cannot have the value that they had, suppressed rows among them.
    `frequencies`: half the sum of the differences between shares of values. Of numbers, and of dates as days since 1970
    (`dates`), there are the true and the published `mean`, `deviation` and `quantiles` (5, 25, 50, 75 and 95%), the
    Kolmogorov-Smirnov distance `ks`, and `squared_error_at_least`: no way to match rows with published numbers has a
    smaller SSE / SST than that by order. It is missing where rows or cells are suppressed.
    """

    aggregate: str
    changed_at_least: float
    frequencies: float
    dates: bool = False
    mean: tuple[float, float] | None = None
    deviation: tuple[float, float] | None = None
    quantiles: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    ks: float | None = None
    squared_error_at_least: float | None = None

    def in_words(self) -> str:
        """Say it in a line.

        >>> AggregateValues("modes", 0.25, 0.2).in_words()
        'frequencies off by 20.0%, at least 25.0% of rows changed'
        """
        said = [f"frequencies off by {percent(self.frequencies)}"]
        if self.mean is not None and self.deviation is not None:
            first, second = (_write_day(one) if self.dates else f"{one:.4g}" for one in self.mean)
            spread = f"{self.deviation[0]:.4g} → {self.deviation[1]:.4g}{' days' * self.dates}"
            said = [f"mean {first} → {second}", f"standard deviation {spread}"]
            said.append(f"KS {self.ks:.3f}")
        return ", ".join([*said, f"at least {percent(self.changed_at_least)} of rows changed"])


@dataclass(frozen=True, repr=False)
class AggregateUtility(Shown):
    """What a release by means, medians and modes cost.

    `losses` are there where the classes could be formed again, and are then all that was measured when the release was
    made; `unknown` says why not. The counts are those of the file. `columns` has the distributions of columns that are
    aggregated, `labelled` the losses of quasi-identifiers that are labels, which the file tells by itself, and
    `correlation_error` the largest change of a correlation between columns of numbers.
    """

    losses: Utility | None
    unknown: str | None
    rows: int
    suppressed_rows: int
    classes: int
    discernibility: int
    columns: dict[str, AggregateValues]
    labelled: dict[str, AttributeLoss]
    correlation_error: float | None = None
    masked: Mapping[str, PublishedChanges] = field(default_factory=dict)

    @property
    def average_class_size(self) -> float:
        """Rows per class."""
        return self.rows / max(self.classes, 1)

    def display(self) -> Display:
        """Show the losses, where they are known, and the distributions."""
        shown = Display("what it cost") if self.losses is None else self.losses.display()
        return replace(
            shown,
            tables=(*shown.tables, FigureTable(("aggregated", "true → published"), self.lines())),
            sentences=(*shown.sentences, *self.sentences()),
        )

    def lines(self) -> list[tuple[str, str]]:
        """Say how each aggregated column is distributed, before and after."""
        return [(f"{name} ({one.aggregate})", one.in_words()) for name, one in self.columns.items()]

    def sentences(self) -> list[str]:
        """Say what is known of rows, and what is not."""
        if self.losses is None:
            bounds = {name: one.squared_error_at_least for name, one in self.columns.items()}
            least = [f"{name} {percent(bound)}" for name, bound in bounds.items() if bound is not None]
            counts = f"{plural(self.suppressed_rows, 'row')} suppressed; {self.average_class_size:,.1f} rows per class"
            labels = [f"{name} {percent(part.ncp)}" for name, part in self.labelled.items()]
            return [
                f"{counts} on average; discernibility {self.discernibility:,}",
                *([f"NCP of columns that are labels: {', '.join(labels)}"] if labels else []),
                *([f"SSE / SST is at least: {', '.join(least)}"] if least else []),
                f"which row has which mean, median or mode is not known: {self.unknown}; {_IN_AUDIT}",
            ]
        said = ["the classes were formed again from the original, and the published table has exactly these"]
        aggregation = self.losses.aggregation
        if aggregation is not None and aggregation.squared_error is not None:
            of = [
                f"{n} {percent(p.squared_error)}" for n, p in aggregation.columns.items() if p.squared_error is not None
            ]
            said.append(f"squared error (SSE / SST) {percent(aggregation.squared_error)}: {', '.join(of)}")
        return said

    def as_json(self) -> dict[str, Any]:
        """Return one object, as ``sfumato utility --json`` prints it: that of losses, where they are known."""
        counts: dict[str, Any] = {
            "suppressed_rows": self.suppressed_rows,
            "average_class_size": self.average_class_size,
            "discernibility": self.discernibility,
        }
        content = counts | {"unknown": self.unknown} if self.losses is None else self.losses.as_json()
        content |= {"classes_formed_again": self.losses is not None, "correlation_error": self.correlation_error}
        content["published"] = {name: asdict(one) for name, one in self.columns.items()}
        if self.losses is None:
            content["attributes"] = {name: asdict(part) for name, part in self.labelled.items()}
        return content | ({"masked": {n: one.as_json() for n, one in self.masked.items()}} if self.masked else {})


def measure_aggregates(comparison: ReleaseComparison) -> AggregateUtility:
    """Measure a release that has means, medians or modes, from its files and its original."""
    before, after = comparison.before, comparison.after
    comparison.check_original()
    published = {column.name: column for column in after.quasi}
    aggregated = [attribute for attribute in before.quasi if attribute.name in comparison.aggregated]
    columns, compared = dict[str, AggregateValues](), []
    for attribute in aggregated:
        name, column = attribute.name, published[attribute.name]
        columns[name] = _compare_values(attribute, column, str(comparison.entries[name]["form"]))
        if _is_numeric(attribute):
            compared.append(ComparedColumn(name, "number", *_numbers(attribute, column)))
    labelled = comparison.published_attributes([one.name for one in before.quasi if one not in aggregated])
    losses, unknown = None, None
    try:
        recoding = _form_again(comparison)
    except SfumatoError as error:
        unknown = f"the classes cannot be formed again ({error})"
    else:
        if _has_classes(comparison, recoding):
            aggregation = measure_aggregation(before, recoding, comparison.policy)
            losses = replace(measure(before, recoding), aggregation=aggregation)
        else:
            unknown = (
                "the classes that this version forms of the original under the policy are not those of the published "
                "table, as where it was made from another table, a ledger asked for more, rows were masked at random, "
                "or another version made it"
            )
    sizes, suppressed = after.sizes, before.rows - after.rows
    return AggregateUtility(
        losses,
        unknown,
        after.rows,
        suppressed,
        len(sizes),
        int((sizes**2).sum()) + suppressed * before.rows,
        columns,
        total_losses(labelled, sizes, before.rows).attributes if labelled else {},
        measure_likeness(compared).correlation_error if len(compared) > 1 else None,
        comparison.masked,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Classes, formed again


def _form_again(comparison: ReleaseComparison) -> Recoding:
    """Recode the original once more, as the policy says; raises where that is known to come to something else."""
    policy = comparison.policy
    drawn = [attribute.name for attribute in comparison.before.quasi if attribute.name in comparison.drawn]
    if drawn:
        raise SfumatoError(f"values of {listing(drawn)} were masked at random")
    if policy.linkage:
        raise SfumatoError("requirements are about a join with earlier releases")
    return recode(comparison.before, policy)


def _has_classes(comparison: ReleaseComparison, recoding: Recoding) -> bool:
    """Whether the file has the classes of a recoding: the same labels, as many rows, and the same sensitive values.

    Labels are numbered for both together, ours int[rows, columns] and theirs int[lines, columns]; equal rows of these
    are a class, and classes come in the same order on both sides.
    """
    before, after = comparison.before, comparison.after
    rows = np.arange(before.rows) if recoding.published is None else np.flatnonzero(recoding.published)
    if len(rows) != after.rows:
        return False
    file = {column.name: column for column in after.quasi}
    ours, theirs = [], []
    for attribute in before.quasi:
        labels, column = recoding.labels[attribute.name], file[attribute.name]
        known = attribute if attribute.name in comparison.aggregated and _is_numeric(attribute) else None
        sides = [_label_keys(known, texts) for texts in (labels.texts, column.texts)]
        number = {key: place for place, key in enumerate(dict.fromkeys([*sides[0], *sides[1]]))}
        own, told = (np.array([number[key] for key in side], dtype=np.int64) for side in sides)
        ours.append(own.take(labels.codes.take(rows)))
        theirs.append(told.take(column.codes))
    classes, class_of, sizes = _number_classes(ours)
    others, class_in_file, sizes_in_file = _number_classes(theirs)
    if not (np.array_equal(classes, others) and np.array_equal(sizes, sizes_in_file)):
        return False
    # the classes of the file by its own numbers, which its bags have, in the order of ours
    place_of = np.empty(len(after.sizes), dtype=np.int64)
    place_of[after.class_of] = class_in_file
    for name, bag in after.bags.items():
        if name in comparison.drawn:
            continue
        column = before.sensitive[name]
        told_pairs = (
            place_of.take(bag.class_of) * column.width + codes_in_original(bag.domain.values, column)[bag.value]
        )
        pairs, counts = np.unique(class_of * column.width + column.codes.take(rows), return_counts=True)
        order = np.argsort(told_pairs)
        if not (np.array_equal(pairs, told_pairs[order]) and np.array_equal(counts, bag.count[order])):
            return False
    return True


def _number_classes(columns: list[IntArray]) -> tuple[IntArray, IntArray, IntArray]:
    classes, class_of, sizes = np.unique(np.column_stack(columns), axis=0, return_inverse=True, return_counts=True)
    return classes, class_of.ravel().astype(np.int64), sizes


def _label_keys(attribute: QuasiIdentifier | None, texts: tuple[Label, ...]) -> list[Any]:
    """What labels are told apart by: their texts, or of means and medians the number, however it is written."""
    if attribute is None:
        return list(texts)
    numbers = read_label_numbers(attribute, texts).tolist()
    return [text if number != number else number for number, text in zip(numbers, texts, strict=True)]  # noqa: PLR0124 - NaN


# ---------------------------------------------------------------------------------------------------------------------
# Distributions


def _is_numeric(attribute: QuasiIdentifier) -> bool:
    return isinstance(attribute.spec, Intervals | Ranges | Dates)


def _numbers(attribute: QuasiIdentifier, column: CodedColumn) -> tuple[FloatArray, FloatArray]:
    """The numbers of the original, float[rows], and those that are published, float[lines]; NaN where there is none."""
    unit = DAY if isinstance(attribute.spec, Dates) else 1.0
    own, told = (
        read_label_numbers(attribute, side.texts).take(side.codes) / unit for side in (attribute.column, column)
    )
    return own, told


def _write_day(days: float) -> str:
    return str(np.datetime64(round(days), "D"))


def _compare_values(attribute: QuasiIdentifier, column: CodedColumn, form: str) -> AggregateValues:
    """Compare the distributions of a column; which row is which is not asked."""
    own, counts = attribute.column, list[Counter[Any]]()
    for texts, codes in ((own.texts, own.codes), (column.texts, column.codes)):
        keys = _label_keys(attribute if _is_numeric(attribute) else None, texts)
        count = Counter[Any]()
        for key, number in zip(keys, np.bincount(codes, minlength=len(texts)).tolist(), strict=True):
            count[key] += number
        counts.append(count)
    true, told = counts
    rows, lines = max(true.total(), 1), max(told.total(), 1)
    found = AggregateValues(
        form,
        changed_at_least=1 - (true & told).total() / rows,
        frequencies=sum(abs(true[key] / rows - told[key] / lines) for key in {*true, *told}) / 2,
        dates=isinstance(attribute.spec, Dates),
    )
    if not _is_numeric(attribute):
        return found
    first, second = (side[~np.isnan(side)] for side in _numbers(attribute, column))
    if not len(first) or not len(second):
        return found
    scale = float(max(np.abs(first).max(), np.abs(second).max())) or 1.0  # squares of very large numbers are no floats
    first, second = np.sort(first / scale), np.sort(second / scale)
    total = float(((first - first.mean()) ** 2).sum())
    whole = len(first) == len(second) and len(own.codes) == len(column.codes) and total > 1e-26 * len(first)
    return replace(
        found,
        mean=(float(first.mean()) * scale, float(second.mean()) * scale),
        deviation=(float(first.std()) * scale, float(second.std()) * scale),
        quantiles=(
            tuple((np.quantile(first, _SHARES) * scale).tolist()),
            tuple((np.quantile(second, _SHARES) * scale).tolist()),
        ),
        ks=ks_distance(first, second),
        squared_error_at_least=float(((first - second) ** 2).sum()) / total if whole else None,
    )
