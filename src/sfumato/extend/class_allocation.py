"""Which published class each further row is put into, and which rows no class can take.

Rows with equal quasi-identifiers go the same way. In a full-domain recoding, or one of cuts, a row has one class or
none. Where labels overlap it may fit several: it goes to the one that tells most of it. A class that would break a
requirement is closed, and its rows go to the next that fits; of all that fail, the smaller half is closed at a time, so
that rows of small classes come together where they can. No class is opened again, so it ends.

What a class holds already decides nothing but whether it passes; sensitive values decide no more than that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, encode_column, sensitive_domain
from sfumato.errors import DataError
from sfumato.hierarchy.hierarchy import Label
from sfumato.labels.hierarchy_overlap import HierarchyOverlap
from sfumato.labels.label_loss import find_losses, loss_arrays
from sfumato.matching.lookup import LineLookup, LookupColumn
from sfumato.models import Model
from sfumato.policy import Policy
from sfumato.publish.extension import ExtendedRelease
from sfumato.reading.release_view import view_folder
from sfumato.recode.saved_recoding import SavedRecoding
from sfumato.table import Table

_PAIRS_OF_BLOCK = 1 << 23
"""Pairs of a tuple and a class that are looked at together."""

_MOST_CLASSES = 64
"""So many classes that fit a tuple are kept, the most telling ones."""

NOWHERE = -1
"""In place of a class: none takes the row."""


@dataclass(frozen=True, eq=False)
class FittingClasses:
    """The classes that cover each tuple of quasi-identifiers, the most telling first.

    With t tuples and p pairs: first int[t + 1] is where the pairs of each tuple begin, classes int[p].
    """

    first: IntArray
    classes: IntArray


def find_fitting_classes(encoded: EncodedTable, codes: Sequence[Codes], recoding: SavedRecoding) -> FittingClasses:
    """Find the classes whose labels cover all values of a tuple, by the hierarchies that are bound to the values.

    codes: int[t] for each quasi-identifier, the value of each tuple; there is one tuple at least
    cost:  float[classes], what a row of a class loses, by which classes are ordered; ties go to the first class
    """
    columns, cost = {}, np.zeros(len(recoding.classes))
    for attribute, values in zip(encoded.quasi, codes, strict=True):
        place = recoding.place_of(attribute.name)
        labels, lines = recoding.columns[place].labels, recoding.classes[:, place]
        overlap = HierarchyOverlap(attribute, labels, recoding.level_of(attribute.name))
        columns[attribute.name] = LookupColumn(values, attribute.column.width, lines, len(labels), overlap)
        loss = loss_arrays(find_losses(attribute, labels, recoding.level_of(attribute.name)))[1]
        cost += attribute.weight * loss[lines]
    order = np.argsort(cost, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    lookup = LineLookup(columns, len(codes[0]), len(recoding.classes))
    tuples, ranks = [], []
    for start, end in lookup.blocks(_PAIRS_OF_BLOCK):
        pairs = lookup.candidate_lines(start, end)
        tuple_of, rank_of = pairs.person_of, rank[pairs.candidates]
        ordered = np.lexsort((rank_of, tuple_of))
        place_in_tuple = np.arange(len(ordered)) - pairs.first[tuple_of[ordered]]
        kept = ordered[place_in_tuple < _MOST_CLASSES]
        tuples.append(tuple_of[kept] + start)
        ranks.append(rank_of[kept])
    tuple_of = np.concatenate(tuples)
    return FittingClasses(np.searchsorted(tuple_of, np.arange(len(codes[0]) + 1)), order[np.concatenate(ranks)])


@dataclass(frozen=True, eq=False)
class ValueLines:
    """Rows of classes by sensitive value: class int[n], place of the value in `values` int[n], rows int[n]."""

    class_of: IntArray
    value: IntArray
    rows: IntArray
    values: tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class PublishedCounts:
    """What classes hold already: rows int[classes], and by sensitive column the rows of each value."""

    sizes: IntArray
    sensitive: Mapping[str, ValueLines]


def count_published(
    releases: Sequence[ExtendedRelease], recoding: SavedRecoding, sensitive: Sequence[str]
) -> PublishedCounts:
    """Count the rows that are out under these classes, from the tables that were published."""
    sizes = np.zeros(len(recoding.classes), dtype=np.int64)
    parts: dict[str, list[ValueLines]] = {name: [] for name in sensitive}
    for release in releases:
        if release.public is not None:
            columns = dict(view_folder(release.public).columns)
        else:
            columns = {name: encode_column(Table(release.table), name) for name in release.table.column_names}
        class_of = _find_classes(columns, recoding)
        sizes += np.bincount(class_of, minlength=len(sizes))
        for name in sensitive:
            held = columns[name]
            keys, rows = np.unique(class_of * held.width + held.codes, return_counts=True)
            parts[name].append(ValueLines(keys // held.width, keys % held.width, rows, held.texts))
    return PublishedCounts(sizes, {name: _join_lines(lines) for name, lines in parts.items()})


def _find_classes(columns: Mapping[str, CodedColumn], recoding: SavedRecoding) -> IntArray:
    """Find the class of each published row by its labels: int[rows].

    The labels of all classes and those of all rows are packed alike, so that keys can be compared.
    """
    codes, widths = [], []
    for place, saved in enumerate(recoding.columns):
        number = {label: code for code, label in enumerate(saved.labels)}
        column, lacking = columns[saved.name], len(saved.labels)
        known = np.array([number.get(text, lacking) for text in column.texts], dtype=np.int64)
        codes.append(np.concatenate([recoding.classes[:, place], known[column.codes]]))
        widths.append(lacking + 1)
    numbers, _ = number_tuples(pack_tuples(codes, widths))
    classes, rows = np.split(numbers, [len(recoding.classes)])
    class_of_number = np.full(int(numbers.max(initial=0)) + 1, NOWHERE)
    class_of_number[classes] = np.arange(len(classes))
    class_of: IntArray = class_of_number[rows]
    if (class_of < 0).any():
        raise DataError("the table of the release does not have the classes of its recoding; one of them was changed")
    return class_of


def _join_lines(parts: Sequence[ValueLines]) -> ValueLines:
    """Put lines of several tables together, with one list of values."""
    values = tuple(dict.fromkeys(value for part in parts for value in part.values))
    code = {value: place for place, value in enumerate(values)}
    coded = [np.array([code[value] for value in part.values], dtype=np.int64)[part.value] for part in parts]
    class_of, rows = (np.concatenate([getattr(part, name) for part in parts]) for name in ("class_of", "rows"))
    return ValueLines(class_of, np.concatenate(coded), rows, values)


class FurtherRows:
    """Further rows beside what is published: which classes would break a requirement with them.

    `tuple_of` int[rows] is the tuple of each row, of t different ones; `codes` their values by quasi-identifier.
    `domains` are the sensitive columns over all rows, those before and those that came in now: `totals` has the rows
    that came in before, by value, where a requirement compares with them.
    """

    def __init__(
        self,
        encoded: EncodedTable,
        policy: Policy,
        published: PublishedCounts,
        totals: Mapping[str, Mapping[Label, int]],
    ) -> None:
        self.encoded, self.models, self.published = encoded, policy.privacy, published
        widths = [attribute.column.width for attribute in encoded.quasi]
        lines, rows = encoded.tuples.quasi, [attribute.column.codes for attribute in encoded.quasi]
        both = [np.concatenate([line, row]) for line, row in zip(lines, rows, strict=True)]
        numbers, tuples = number_tuples(pack_tuples(both, widths))
        self.tuple_of_line, self.tuple_of = np.split(numbers, [len(encoded.tuples)])
        example = np.empty(tuples, dtype=np.int64)
        example[self.tuple_of] = np.arange(len(self.tuple_of))
        self.codes = [row.take(example) for row in rows]
        self.rows = np.bincount(self.tuple_of, minlength=tuples)
        self.domains = {
            name: _unite_domains(domain, published.sensitive[name], totals.get(name), policy, name)
            for name, domain in encoded.domains.items()
        }

    def count(self, class_of: IntArray, used: IntArray, *, together: bool) -> EquivalenceClasses:
        """Count these classes with the tuples that are put into them: by themselves, or with what is published.

        class_of: int[t], the class of each tuple; used: int[u], the classes to count, ascending, each of them in use
        """
        place = np.full(len(self.published.sizes) + 1, NOWHERE)  # the last is that of no class
        place[used] = np.arange(len(used))
        at = place[class_of]
        inside = at >= 0
        sizes = np.bincount(at[inside], self.rows[inside], len(used)).astype(np.int64)
        sizes += self.published.sizes[used] if together else 0
        line_at = at[self.tuple_of_line]
        lines = np.flatnonzero(line_at >= 0)
        histograms = {}
        for name, domain in (self.domains if together else self.encoded.domains).items():
            value = self.encoded.tuples.others[name][lines].astype(np.int64)
            parts = [(line_at[lines], value, self.encoded.tuples.counts[lines])]
            if together:
                held, code = self.published.sensitive[name], {text: i for i, text in enumerate(domain.values)}
                own = np.array([code[text] for text in self.encoded.domains[name].values], dtype=np.int64)
                theirs = np.array([code[text] for text in held.values], dtype=np.int64)
                chosen = np.flatnonzero(place[held.class_of] >= 0)
                parts = [(parts[0][0], own[value], parts[0][2])]
                parts.append((place[held.class_of[chosen]], theirs[held.value[chosen]], held.rows[chosen]))
            class_, code_, rows = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            histograms[name] = count_values(class_, code_, rows, domain)
        return EquivalenceClasses(sizes, histograms)

    def find_failing(self, class_of: IntArray, *, alone: bool) -> tuple[IntArray, list[str]]:
        """Find the classes that would break a requirement, and say which; `alone` asks it of the further rows as well.

        Returns int[f] and as many sentences.
        """
        used = np.unique(class_of[class_of >= 0])
        if not len(used):
            return used, []
        reason = np.full(len(used), NOWHERE)
        words: list[str] = []
        for together in (False, True) if alone else (True,):
            classes = self.count(class_of, used, together=together)
            for model in self.models:
                failing = ~model.holds(classes) & (reason < 0)
                reason[failing] = len(words)
                words.append(
                    f"{describe_model(model)} in the {'rows before and these' if together else 'new table alone'}"
                )
        failed = np.flatnonzero(reason >= 0)
        return used[failed], [words[place] for place in reason[failed].tolist()]


def describe_model(model: Model) -> str:
    """Write a requirement for a sentence: its name and its figures."""
    figures = ", ".join(
        f"{key} = {value}"
        for key, value in model.required.items()
        if isinstance(value, int | float) and value is not True
    )
    return f"{model.name} ({figures})" if figures else model.name


def _unite_domains(
    domain: SensitiveDomain, held: ValueLines, before: Mapping[Label, int] | None, policy: Policy, name: str
) -> SensitiveDomain:
    """Put the values of a sensitive column of all tables in order, and add up the rows that came in with each."""
    if before is None:
        rows = np.bincount(held.value, held.rows, len(held.values))
        before = dict(zip(held.values, rows.astype(np.int64).tolist(), strict=True))
    totals = dict(before)
    for value, count in zip(domain.values, domain.totals.tolist(), strict=True):
        totals[value] = totals.get(value, 0) + count
    values = tuple(sorted(totals, key=lambda value: (value is None, value or "")))
    counts = np.array([totals[value] for value in values], dtype=np.int64)
    return sensitive_domain(SensitiveDomain(values, counts), policy.columns[name], policy.source.null)


@dataclass(frozen=True, eq=False)
class Allocation:
    """The class of each tuple, int[t], -1 where none takes it; and why not: the first class that fits would break what.

    `uncovered` bool[t] are the tuples that no class covers.
    """

    class_of: IntArray
    uncovered: BoolArray
    breaking: Mapping[int, str]


def allocate(further: FurtherRows, fitting: FittingClasses, classes: int, *, alone: bool) -> Allocation:
    """Put each tuple into the most telling class that fits and keeps the promise, as the module says.

    at: int[t], which of the fitting classes of each tuple is tried now; shut: bool[classes + 1], closed for good
    """
    first, count = fitting.first[:-1], np.diff(fitting.first)
    at, shut = np.zeros(len(count), dtype=np.int64), np.zeros(classes + 1, dtype=np.bool_)
    why: dict[int, str] = {}
    while True:
        left = at < count
        class_of = np.full(len(count), NOWHERE)
        class_of[left] = fitting.classes[(first + at)[left]]
        moving = left & shut[class_of]
        if moving.any():
            at[moving] += 1
            continue
        failing, reasons = further.find_failing(class_of, alone=alone)
        if not len(failing):
            break
        sizes = np.bincount(class_of[left], further.rows[left], classes)[failing]
        for place in np.argsort(sizes, kind="stable")[: -(-len(failing) // 2)].tolist():
            shut[failing[place]] = True
            why[int(failing[place])] = reasons[place]
    dropped = np.flatnonzero((class_of < 0) & (count > 0))
    return Allocation(class_of, count == 0, {int(one): why[int(fitting.classes[first[one]])] for one in dropped})
