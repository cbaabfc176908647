"""Views: what one family of requirements sees of the table, and what a specialization would do to it.

Models of classes look at all quasi-identifiers (`ClassView`), a requirement on the join with earlier releases at its x
and the columns that records are matched by (`LinkView`). A view holds the tuples of just these columns in groups, tries
a specialization on the groups that it would divide, and says how many rows more would fail and what the worst figures
would be. The search knows views and nothing of models. Quasi-identifiers are given by number.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, count_values
from sfumato.core.keys import count_keys, number_tuples, pack_tuples
from sfumato.encode import EncodedTable
from sfumato.previous import (
    CurrentCounts,
    GroupMatches,
    HistoryTable,
    JoinRequirement,
    LinkedReleases,
    RecordMatcher,
    XYResult,
)
from sfumato.recode.requirement import Requirement
from sfumato.recode.tds.cuts import TaxonomyNodes
from sfumato.recode.tds.refinement import Refinement, Specialization, TupleGroups, touched_nodes, update_figures

_LESS_IS_WORSE = {"k", "l", "linked_k"}


@dataclass(frozen=True, eq=False, repr=False)
class Effect:
    """What a specialization would do: how many rows more fail by it, and how private the parts are.

    `figures` are the worst of each requirement among the p parts. What is needed to carry it out: the refinement, the
    rows that fail in each part, int[p], and the figure of each part, float[p], where the view keeps one.
    """

    change: int
    figures: Mapping[str, float]
    refinement: Refinement
    failing_rows: IntArray
    part_figures: FloatArray | None = None


class View(ABC):
    """Tuples of leaf codes, an array per quasi-identifier that matters here, and their groups.

    `failing` rows fail now, `figures` are the worst of each requirement now.
    """

    leaves: Mapping[int, Codes]
    failing: int
    figures: dict[str, float]

    @property
    @abstractmethod
    def monotone(self) -> bool:
        """Whether what fails goes on failing, however it is specialized."""

    @property
    def independent(self) -> bool:
        """Whether what becomes of some groups does not matter to what is found of others."""
        return True

    @abstractmethod
    def effect(self, number: int, specialization: Specialization) -> Effect | None:
        """Find what a specialization would do; nothing where it does not matter here."""

    @abstractmethod
    def apply(self, effect: Effect) -> None:
        """Carry out what was tried."""

    @abstractmethod
    def privacy_loss(self, figures: Mapping[str, float]) -> float:
        """Measure PrivLoss, the privacy that is lost from the present figures to others."""

    def touched(self, effect: Effect, cuts: Mapping[int, IntArray]) -> dict[int, IntArray]:
        """Find the nodes of each quasi-identifier whose groups a specialization has changed."""
        return touched_nodes(effect.refinement.tuples, self.leaves, cuts)


class ClassView(View):
    """The models of classes: every different tuple, in classes by all quasi-identifiers."""

    def __init__(self, encoded: EncodedTable, requirement: Requirement) -> None:
        self.encoded, self.requirement = encoded, requirement
        self.counts = encoded.tuples.counts
        self.leaves = dict(enumerate(encoded.tuples.quasi))
        self.groups = TupleGroups(np.zeros(len(self.counts), dtype=np.int64), 1)
        classes = self._count(self.groups.all_as_parts())
        self.failing_rows = self._count_failing(classes)  # int[classes]
        self.failing = int(self.failing_rows.sum())
        self.figures = self._measure(classes)

    @property
    def monotone(self) -> bool:
        """Whether models are monotone, or hereditary if rows may be suppressed."""
        return self.requirement.exact

    @property
    def independent(self) -> bool:
        """Whether classes are judged by themselves: not where persons have to share theirs, which may be anywhere."""
        return self.requirement.linked <= 1

    def effect(self, number: int, specialization: Specialization) -> Effect:
        """Judge the classes that would be divided.

        `failing` has the failing rows of each part, int[parts]; `parent` of the refinement the class of each part. The
        change is what the parts fail more than the classes they come from.
        """
        refinement = self.groups.refine_by(specialization, self.leaves[number])
        classes = self._count(refinement)
        failing = self._count_failing(classes)
        change = int(failing.sum()) - int(self.failing_rows[np.unique(refinement.parent)].sum())
        if self.failing + change <= self.requirement.limit and not self._enough_share(refinement):
            change = self.encoded.rows - self.failing  # as if all failed: nobody would be published
        return Effect(change, self._measure(classes), refinement, failing)

    def apply(self, effect: Effect) -> None:
        """Divide the classes."""
        numbers = self.groups.apply(effect.refinement)
        self.failing_rows = update_figures(self.failing_rows, numbers, effect.failing_rows, self.groups.groups)
        self.failing += effect.change
        self.figures = self._worse(effect.figures)

    def privacy_loss(self, figures: Mapping[str, float]) -> float:
        """Measure by how much the worst class gets worse, over all keys of all models."""
        worse = self._worse(figures)
        return sum(abs(worse[key] - now) for key, now in self.figures.items() if key in worse)

    def regroup(self, cuts: Mapping[int, IntArray]) -> None:
        """Make the classes of other cuts, where nobody has kept them up to date."""
        nodes = [cuts[number][codes] for number, codes in self.leaves.items()]
        packed = pack_tuples(nodes, [int(each.max(initial=0)) + 1 for each in nodes])
        self.groups = TupleGroups(*number_tuples(packed))

    @property
    def published(self) -> tuple[IntArray, EquivalenceClasses]:
        """The class of each tuple, -1 where it fails, int[t]; and the classes that do not."""
        classes = self._count(self.groups.all_as_parts())
        passing = self.requirement.holds(classes)
        place = np.where(passing, np.cumsum(passing) - 1, -1)
        return place[self.groups.group], classes.select(passing)

    def _count(self, refinement: Refinement) -> EquivalenceClasses:
        """Count the parts as a model sees them."""
        rows = self.counts[refinement.tuples]
        histograms = {}
        for name, domain in self.encoded.domains.items():
            value = self.encoded.tuples.others[name][refinement.tuples].astype(np.int64)
            histograms[name] = count_values(refinement.part, value, rows, domain)
        person = self.encoded.individual
        individuals = histograms.pop(person.name) if person else None
        sizes = np.bincount(refinement.part, rows, len(refinement.parent)).astype(np.int64)
        return EquivalenceClasses(sizes, histograms, individuals)

    def _count_failing(self, classes: EquivalenceClasses) -> IntArray:
        """Count the rows of each class that fails, 0 for the others."""
        return np.where(self.requirement.holds(classes), 0, classes.sizes)

    def _measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        """Measure what the classes that pass achieve, by the model's number and key."""
        passing = classes.select(self.requirement.holds(classes))
        if not len(passing):
            return {}
        figures: dict[str, float] = {}
        for number, model in enumerate(self.requirement.models):
            figures |= {f"{number} {key}": float(value) for key, value in model.achieved(passing).items()}
        return figures

    def _worse(self, figures: Mapping[str, float]) -> dict[str, float]:
        """Take the worse of the present figures and others, key by key."""
        worse = {}
        for key in sorted({*self.figures, *figures}):
            worst = min if key.partition(" ")[2] in _LESS_IS_WORSE else max
            worse[key] = worst(each[key] for each in (self.figures, figures) if key in each)
        return worse

    def _enough_share(self, refinement: Refinement) -> bool:
        """Tell whether enough persons would share their classes, where that is required."""
        if self.requirement.linked <= 1:
            return True
        groups = TupleGroups(self.groups.group, self.groups.groups)
        groups.apply(refinement)
        classes = self._count(groups.all_as_parts())
        return self.requirement.holds_linked(classes.select(self.requirement.holds(classes)))


class LinkView(View):
    """A requirement on the join: every different tuple of the columns of x, those matched by, and y; in groups by x."""

    def __init__(self, requirement: JoinRequirement, matching: "GroupMatching") -> None:
        self.requirement, self.matching, self.judge = requirement, matching, requirement.judge
        linked = matching.linked
        quasi = {attribute.name: number for number, attribute in enumerate(linked.encoded.quasi)}
        widths = [column_codes(linked, name)[1] for name in requirement.x]
        columns = [*(column_codes(linked, name)[0] for name in requirement.x), matching.record_of_row, requirement.y]
        packed = pack_tuples(columns, [*widths, matching.records, requirement.ys])
        counted = count_keys(packed, linked.encoded.counts)
        *codes, self.record, self.y = packed.unpack(counted.keys)
        self.rows = counted.counts
        x = dict(zip(requirement.x, codes, strict=True))
        self.x = {quasi[name] for name in x if name in quasi}
        self.leaves = {quasi[name]: leaf for name, leaf in x.items() if name in quasi}
        self.leaves |= {quasi[name]: matching.codes[name][self.record] for name in matching.nodes if name not in x}
        # At the start a value on x is one of the columns that are no quasi-identifiers.
        fixed = [(x[name], width) for name, width in zip(requirement.x, widths, strict=True) if name not in quasi]
        group, groups = np.zeros(len(self.rows), dtype=np.int64), 1
        if fixed:
            group, groups = number_tuples(pack_tuples([leaf for leaf, _ in fixed], [width for _, width in fixed]))
        self.groups = TupleGroups(group, groups)
        judged, rows = self._judge(self.groups.all_as_parts(), None)
        self.failing_rows, self.group_figures = np.where(judged.passes, 0, rows), judged.figure
        self.failing = int(self.failing_rows.sum())
        self.figures = {"y": float(self.judge.worst(judged.figure))}

    @property
    def monotone(self) -> bool:
        """Whether the judge says so, and no record can come to match nothing: that would take it out of the join."""
        return self.judge.antimonotone and self.matching.unmatched_rows == 0

    def effect(
        self, number: int, specialization: Specialization, rematched: "RefinedMatching | None" = None
    ) -> Effect | None:
        """Judge the values on x that would be divided or matched anew."""
        if number not in self.leaves:
            return None
        if number in self.x:
            refinement = self.groups.refine_by(specialization, self.leaves[number])
        else:  # x stays as it is, but what it matches does not
            child = specialization.child_of_leaf[self.leaves[number]]
            tuples = np.flatnonzero(np.isin(self.groups.group, np.unique(self.groups.group[child >= 0])))
            refinement = self.groups.refine(tuples, np.zeros_like(tuples), 1)
        judged, rows = self._judge(refinement, rematched)
        failing = np.where(judged.passes, 0, rows)
        change = int(failing.sum()) - int(self.failing_rows[np.unique(refinement.parent)].sum())
        figures = {"y": float(self.judge.worst(judged.figure))}
        return Effect(change, figures, refinement, failing, judged.figure)

    def apply(self, effect: Effect) -> None:
        """Divide the values on x."""
        assert effect.part_figures is not None  # noqa: S101 - `effect` has put them there; this tells the type checker
        numbers, groups = self.groups.apply(effect.refinement), self.groups.groups
        self.failing_rows = update_figures(self.failing_rows, numbers, effect.failing_rows, groups)
        self.group_figures = update_figures(self.group_figures, numbers, effect.part_figures, groups)
        self.failing += effect.change
        self.figures = {"y": float(self.judge.worst(self.group_figures))}

    def privacy_loss(self, figures: Mapping[str, float]) -> float:
        """Measure the loss as the requirement does."""
        return self.judge.privacy_loss(self.figures["y"], figures["y"])

    def _judge(self, refinement: Refinement, rematched: "RefinedMatching | None") -> tuple[XYResult, IntArray]:
        """Judge p parts by what they match; also returns the rows of each, int[p].

        `group` int[m] is the group of records of each tuple; parts of groups are numbered behind the groups as they
        are. Only the groups that are involved, int[q], are looked at.
        """
        record, known = self.record[refinement.tuples], len(self.matching.pairs)
        group = self.matching.groups.group[record]
        if rematched is not None:
            part = np.full(self.matching.records, -1)
            part[rematched.refinement.tuples] = known + rematched.refinement.part
            group = np.where(part[record] >= 0, part[record], group)
        involved, place = np.unique(group, return_inverse=True)
        pairs = self.matching.pairs.select(involved[involved < known])
        if rematched is not None:
            pairs = pairs.append(rematched.pairs.select(involved[involved >= known] - known))
        rows = self.rows[refinement.tuples]
        sizes = (len(refinement.parent), len(involved), self.requirement.ys)
        lines = CurrentCounts.from_lines(refinement.part, place, self.y[refinement.tuples], rows, sizes)
        return self.judge.judge(lines, pairs), np.bincount(refinement.part, rows, sizes[0]).astype(np.int64)


# What matches the earlier releases


class RefinedMatching(NamedTuple):
    """Groups of records that a specialization divides: what the p parts match, and their labels, int[p] per column."""

    refinement: Refinement
    pairs: GroupMatches
    labels: dict[str, IntArray]


class GroupMatching:
    """Which groups of the table match what of the earlier releases, now and after a specialization that is tried.

    Records are the different rows as far as matching looks at them: `codes` [records] by column, of leaves for
    quasi-identifiers and of values for the others, and `record_of_row` int[rows]. They are in `groups`, with a label
    per column and group in `labels`, and `pairs` says what each group matches.
    """

    def __init__(self, history: HistoryTable, nodes: Mapping[int, TaxonomyNodes]) -> None:
        self.linked, self.history, self.matcher = history.releases, history, RecordMatcher(history)
        matched = self.linked.matched_columns
        self.names = {number: column.name for number, column in nodes.items() if column.name in matched}
        self.nodes = {column.name: column for column in nodes.values() if column.name in matched}
        columns = [column_codes(self.linked, name) for name in matched]
        if columns:
            packed = pack_tuples([codes for codes, _ in columns], [width for _, width in columns])
            keys = count_keys(packed).keys
            self.codes: dict[str, Codes] = dict(zip(matched, packed.unpack(keys), strict=True))
            self.record_of_row, self.records = np.searchsorted(keys, packed.keys), len(keys)
        else:
            self.codes = {}
            self.record_of_row, self.records = np.zeros(self.linked.encoded.lines, dtype=np.int64), 1
        self.node_labels = {name: self._number_labels(column) for name, column in self.nodes.items()}
        self._begin()

    def _number_labels(self, column: TaxonomyNodes) -> IntArray:
        texts = [label for level in column.tree.labels[::-1] for label in level]
        return self.linked.taxonomies[column.name].numbers(texts)

    def _begin(self) -> None:
        """Make one group, divided by the columns published as they are; quasi-identifiers are at their roots."""
        self.groups = TupleGroups(np.zeros(self.records, dtype=np.int64), 1)
        self.pairs = self.matcher.start
        self.labels = {name: self.node_labels[name][:1] for name in self.nodes}
        plain = {
            name: self.linked.exact_columns[name] for name in self.linked.matched_columns if name not in self.nodes
        }
        numbers = {name: self.linked.taxonomies[name].numbers(column.texts) for name, column in plain.items()}
        self.labels |= {name: np.zeros(1, dtype=np.int64) for name in plain}
        for name, column in plain.items():
            self.publish_values(name, column.width, numbers[name], final=name == [*plain][-1])
        if not plain:
            self.pairs = self.matcher.drop_inconsistent(self.pairs, self.labels)

    def effect(self, number: int, specialization: Specialization) -> RefinedMatching | None:
        """Find what a specialization does to the matches; nothing where its column is not matched by."""
        name = self.names.get(number)
        if name is None:
            return None
        refinement = self.groups.refine_by(specialization, self.codes[name])
        child = specialization.child_of_leaf[self.codes[name][refinement.tuples]]
        return self._rematch(refinement, name, self.node_labels[name][list(specialization.children)], child)

    def apply(self, rematched: RefinedMatching) -> None:
        """Carry out what was tried."""
        numbers, groups = self.groups.apply(rematched.refinement), self.groups.groups
        order = np.arange(groups)
        order[numbers] = len(self.pairs) + np.arange(len(numbers))
        self.pairs = self.pairs.append(rematched.pairs).select(order)
        for name, labels in rematched.labels.items():
            self.labels[name] = update_figures(self.labels[name], numbers, labels, groups)

    @cached_property
    def unmatched_rows(self) -> int:
        """Rows that match nothing if all quasi-identifiers are published as they are."""
        other = copy(self)
        other.groups, other.labels = TupleGroups(self.groups.group, self.groups.groups), dict(self.labels)
        for name, column in self.nodes.items():
            leaves = self.linked.taxonomies[name].numbers(column.tree.labels[0])
            other.publish_values(name, column.leaves, leaves)
        unmatched = (other.pairs.counts[other.groups.group] == 0)[self.record_of_row]
        counts = self.linked.encoded.counts
        return int(unmatched.sum() if counts is None else counts[unmatched].sum())

    def publish_values(self, name: str, width: int, labels: IntArray, *, final: bool = True) -> None:
        """Divide all groups by the values of a column, which has so many codes with these labels."""
        codes = self.codes[name].astype(np.int64)
        refinement = self.groups.refine(np.arange(self.records), codes, width)
        self.apply(self._rematch(refinement, name, labels, codes, final=final))

    def _rematch(
        self, refinement: Refinement, name: str, labels: IntArray, codes: Codes, *, final: bool = True
    ) -> RefinedMatching:
        """Give parts their labels in a column, and find what they still match; rules wait for all columns.

        labels int[...] are by code, codes [m] those of the refinement's tuples.
        """
        label = np.empty(len(refinement.parent), dtype=np.int64)
        label[refinement.part] = labels[codes]
        all_labels = {column: known[refinement.parent] for column, known in self.labels.items()} | {name: label}
        pairs = self.matcher.keep_consistent(self.pairs.select(refinement.parent), name, label)
        return RefinedMatching(
            refinement, self.matcher.drop_inconsistent(pairs, all_labels) if final else pairs, all_labels
        )


def column_codes(linked: LinkedReleases, name: str) -> tuple[Codes, int]:
    """Look up the codes of a column of the current table, of leaves if it is a quasi-identifier; and how many."""
    if name in linked.exact_columns:
        return linked.exact_columns[name].codes, linked.exact_columns[name].width
    column = next(attribute.column for attribute in linked.encoded.quasi if attribute.name == name)
    return column.codes, column.width
