"""Recoding: what an algorithm decides about every row, as a value that is applied by look-up.

A recoding says which rows are published and under which label each of their quasi-identifiers is published. All
algorithms end with one; what publishes, measures, attacks or describes a table starts from it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, count_codes, narrow_codes, replace_codes
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import collapse_tuples, number_tuples, pack_tuples
from sfumato.encode import CodedColumn, DividedLines, EncodedTable, QuasiIdentifier

Progress = Callable[[int, int], None]
"""What an algorithm calls while it runs: with the steps that are done, and all steps there are."""


@dataclass(frozen=True, eq=False)
class Labels:
    """One quasi-identifier as it is published: a label code per row or line, and the label of each code.

    Rows whose labels read the same have the same code: they are in one class, whatever led to the label. `loss` is the
    NCP of each label, and `climbed` the levels that it is above the values, as `Hierarchy.climbed` counts them; `level`
    is the level of all labels, or ``None`` where they are of several.
    """

    codes: Codes
    texts: tuple[str | None, ...]
    loss: FloatArray
    climbed: FloatArray
    level: int | None


@dataclass(frozen=True, eq=False)
class Recoding:
    """A decision on every row: whether it is published, and under which labels.

    What is said of each row here is said of each line, where the table has counted lines, and `counts` are the rows of
    each then. Where rows of one line go different ways, `divided` says how, and there is an entry for each of its
    entries: the recoding is one of ``encoded.divide(divided)``.

    `algorithm` found it, or found what was `improved` afterwards. `published` has a flag per row, and is ``None`` where
    no row is suppressed. `classes` are the published classes, as the algorithm counted them. `levels` gives the level
    of each column, for full-domain algorithms; `cut` says that each column has one cut through its hierarchy, as
    top-down specialization leaves it. `group` is there where two tables are published: the class of each row, -1 where
    it is suppressed. The labels do not tell the class then, since they are the values themselves. `unmatched` counts
    the rows that match no record of the earlier releases that were joined. `early` says that the time for the search
    was over before it was through.
    """

    algorithm: str
    labels: Mapping[str, Labels]
    published: BoolArray | None
    classes: EquivalenceClasses
    levels: Mapping[str, int] | None = None
    improved: bool = False
    group: IntArray | None = None
    cut: bool = False
    unmatched: int = 0
    counts: IntArray | None = None
    divided: DividedLines | None = None
    early: bool = False

    @property
    def local(self) -> bool:
        """Whether each class has labels of its own, so that labels of one column may overlap."""
        return self.levels is None and not self.cut

    @cached_property
    def suppressed(self) -> int:
        """Number of rows that are not published."""
        lines = self.suppressed_lines
        return len(lines) if self.counts is None else int(self.counts.take(lines).sum())

    @cached_property
    def suppressed_lines(self) -> IntArray:
        """The rows, or counted lines, that are not published."""
        return np.zeros(0, dtype=np.int64) if self.published is None else np.flatnonzero(~self.published)

    def count_published(self, codes: Codes, totals: IntArray) -> IntArray:
        """Count the published rows of each code: `codes` has one for every row, `totals` the rows of each code."""
        # Few rows are suppressed, and picking out the others would cost more than counting all.
        return totals - self.count_suppressed(codes, len(totals))

    def count_suppressed(self, codes: Codes, width: int) -> IntArray:
        """Count the rows of each code that are not published: `codes` has one for every row, below `width`."""
        lines = self.suppressed_lines
        return count_codes(codes.take(lines), width, None if self.counts is None else self.counts.take(lines))

    @cached_property
    def label_rows(self) -> dict[str, IntArray]:
        """The published rows of each label, for every quasi-identifier."""
        totals = {
            name: count_codes(labels.codes, len(labels.texts), self.counts) for name, labels in self.labels.items()
        }
        return {name: self.count_published(labels.codes, totals[name]) for name, labels in self.labels.items()}

    @cached_property
    def class_of(self) -> IntArray:
        """The class of each row or line, by its group or its labels; -1 where it is suppressed."""
        if self.group is not None:
            return self.group
        labels = list(self.labels.values())
        packed = pack_tuples([column.codes for column in labels], [len(column.texts) for column in labels])
        return number_tuples(packed, self.published)[0]


@dataclass(frozen=True, eq=False)
class PublishedLines:
    """Counted lines that are published alike as one: labels, sensitive values, person, and the rows of each."""

    labels: Mapping[str, CodedColumn]
    sensitive: Mapping[str, CodedColumn]
    individual: CodedColumn | None
    counts: IntArray


def collapse_lines(encoded: EncodedTable, recoding: Recoding) -> PublishedLines:
    """Make one line of those that are published alike: far fewer than there were, where much is generalized."""
    assert recoding.counts is not None  # noqa: S101 - whoever calls has looked; this tells the type checker
    counts = recoding.counts if recoding.published is None else recoding.counts * recoding.published
    labels = [CodedColumn(name, one.codes, one.texts, None) for name, one in recoding.labels.items()]
    others = [*encoded.sensitive.values(), *([] if encoded.individual is None else [encoded.individual])]
    columns = [*labels, *others]
    codes, rows = collapse_tuples([one.codes for one in columns], [one.width for one in columns], counts)
    taken = {one.name: replace(one, codes=code) for one, code in zip(columns, codes, strict=True)}
    return PublishedLines(
        {one.name: taken[one.name] for one in labels},
        {name: taken[name] for name in encoded.sensitive},
        None if encoded.individual is None else taken[encoded.individual.name],
        rows,
    )


def number_texts(texts: Sequence[str | None]) -> tuple[IntArray, IntArray]:
    """Number texts so that equal ones have one number: int[texts] the number of each, int[numbers] where it is first.

    Whoever makes labels from something else than a level (ranges, nodes of a cut) numbers them by what they say, since
    that is what a reader counts by.

    >>> numbers, first = number_texts(["<20", "*", None, "*"])
    >>> numbers.tolist(), first.tolist()
    ([0, 1, 2, 1], [0, 1, 2])
    """
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    places = np.array(sorted(first.values()), dtype=np.int64)
    return np.searchsorted(places, np.array([first[text] for text in texts], dtype=np.int64)), places


def labels_at(attribute: QuasiIdentifier, level: int) -> Labels:
    """Publish every value of a quasi-identifier as its label at one level."""
    texts = attribute.hierarchy.labels[level]
    label_of_value = narrow_codes(attribute.hierarchy.matrix[:, level], len(texts))
    codes = replace_codes(attribute.column.codes, label_of_value)
    return Labels(codes, texts, attribute.hierarchy.loss[level], attribute.hierarchy.climbed[level], level)


def shift_levels(recoding: Recoding, encoded: EncodedTable, *, back: bool = False) -> Recoding:
    """Count the levels of a recoding of `encoded.permitted` from the values of `encoded`.

    Where a column has a lowest level that may be published, algorithms work on the table generalized to that level and
    count levels from there; measures and the manifest count from the values that came in. With `back`, levels that are
    counted from the values are counted from the lowest permitted level again.
    """
    steps = {
        attribute.name: -attribute.least if back else attribute.least for attribute in encoded.quasi if attribute.least
    }
    if not steps:
        return recoding
    labels = {}
    for name, column in recoding.labels.items():
        step = steps.get(name, 0)
        level = None if column.level is None else column.level + step
        labels[name] = replace(column, climbed=column.climbed + step, level=level)
    levels = recoding.levels and {name: level + steps.get(name, 0) for name, level in recoding.levels.items()}
    return replace(recoding, labels=labels, levels=levels)
