"""Frequency sets: the different tuples at a node of the lattice with their counts (LeFevre et al., Incognito, 2005).

The frequency set at a node is computed from that of any node below it: each tuple is mapped to its labels, and the
counts of equal tuples are added up (the paper's roll-up property). So rows are counted once, at the bottom, and never
looked at again.

Tuples stay packed into one integer each until somebody asks for their columns: most nodes are judged by counts alone.
A roll-up takes them apart into a few *digits*, each of several neighbouring columns, and looks up for each digit what
it adds to the key at the higher node: three look-ups per tuple where there are nine columns.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, narrow_codes
from sfumato.core.classes import EquivalenceClasses, Histogram, count_values
from sfumato.core.keys import LARGEST_SPAN, PackedTuples, add_lookups, count_keys, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.encode import EncodedTable
from sfumato.recode.lattice import Node

_LARGEST_DIGIT = 1 << 16
"""Neighbouring columns make one digit as long as it has no more values than this."""
_MANY = 1 << 20
"""The counts of more tuples than this are not kept a second time."""


@dataclass(frozen=True, eq=False)
class FrequencySet:
    """The different tuples at one node, in ascending order, and the number of rows of each.

    A tuple is a label code per attribute and, where a requirement looks at other columns, a code for each of those: a
    class is several tuples then. `widths` are the numbers of different codes, column by column; `unpacked` are the
    columns where they are at hand without unpacking. The attributes may be a subset of the table's quasi-identifiers.
    """

    node: Node
    packed: PackedTuples
    counts: IntArray
    widths: tuple[int, ...]
    unpacked: tuple[Codes, ...] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def columns(self) -> tuple[Codes, ...]:
        """The codes of all tuples, one array per column, attributes first."""
        if self.unpacked is not None:
            return self.unpacked
        return self.packed.unpack_codes(self.packed.keys)

    @cached_property
    def digits(self) -> tuple[tuple[slice, Codes], ...]:
        """The tuples as a few columns: the codes of neighbouring columns (a slice of them) packed into one."""
        parts: list[slice] = []
        for place in range(len(self.widths)):
            start = parts[-1].start if parts else 0
            if parts and math.prod(self.widths[start : place + 1]) <= _LARGEST_DIGIT:
                parts[-1] = slice(start, place + 1)
            else:
                parts.append(slice(place, place + 1))
        spans = tuple(math.prod(self.widths[part]) for part in parts)
        if self.unpacked is None and len(self.packed.stages) == 1:  # a key is a number of these digits already
            codes = replace(self.packed, stages=((None, spans),)).unpack_codes(self.packed.keys)
        else:
            packed = [pack_tuples(self.columns[part], self.widths[part]).keys for part in parts]
            codes = tuple(narrow_codes(keys, span) for keys, span in zip(packed, spans, strict=True))
        return tuple(zip(parts, codes, strict=True))

    @cached_property
    def weights(self) -> FloatArray | IntArray:
        """The counts, as floats unless there are very many: all roll-ups from here add up the same ones."""
        return self.counts if len(self.counts) > _MANY else self.counts.astype(np.float64)


@dataclass(frozen=True, eq=False)
class NodeClasses:
    """The classes at a node, and where to find the labels of each.

    `packed` are the tuples of the frequency set, and `first` has the first tuple of each class; ``None`` where every
    tuple is a class.
    """

    classes: EquivalenceClasses
    packed: PackedTuples
    first: IntArray | None = None

    def labels(self, chosen: BoolArray) -> list[IntArray]:
        """Give the label code of each chosen class, one array per attribute (then one per other column)."""
        keys = self.packed.keys[chosen] if self.first is None else self.packed.keys[self.first[chosen]]
        return self.packed.unpack(keys)


class FrequencyCounter:
    """Counts the frequency sets of a table over some of its quasi-identifiers, and groups them into classes."""

    def __init__(self, encoded: EncodedTable, attributes: tuple[int, ...] | None = None) -> None:
        self.encoded = encoded
        self.attributes = tuple(range(len(encoded.quasi))) if attributes is None else attributes
        self.hierarchies = [encoded.quasi[i].hierarchy for i in self.attributes]

    def at_bottom(self) -> FrequencySet:
        """Give the frequency set at the bottom node, where nothing is generalized."""
        tuples = self.encoded.tuples
        columns = [*(tuples.quasi[i] for i in self.attributes), *tuples.others.values()]
        node = (0,) * len(self.attributes)
        if len(self.attributes) < len(tuples.quasi):
            return self._count(node, columns, tuples.counts)
        return FrequencySet(node, tuples.packed, tuples.counts, self._widths(node), tuple(columns))

    def roll_up(self, source: FrequencySet, node: Node) -> FrequencySet:
        """Compute the frequency set at a node from that of a node below it."""
        widths = self._widths(node)
        lifted = [np.arange(width) for width in source.widths]  # per column the code at the node of each code at source
        for i, (hierarchy, low, high) in enumerate(zip(self.hierarchies, source.node, node, strict=True)):
            if low < high:  # every label of a level has one label on a higher level, since levels nest
                lifted[i][hierarchy.matrix[:, low]] = hierarchy.matrix[:, high]
        span = math.prod(widths)
        if span > LARGEST_SPAN:
            columns = [
                narrow_codes(codes, width).take(column)
                for codes, width, column in zip(lifted, widths, source.columns, strict=True)
            ]
            return self._count(node, columns, source.counts)
        # A code adds itself times the widths of the columns behind it to the key; a digit adds what its codes add.
        added = [codes * math.prod(widths[i + 1 :]) for i, codes in enumerate(lifted)]
        tables = [reduce(np.add.outer, added[part]).ravel() for part, _ in source.digits]
        packed = PackedTuples(add_lookups([codes for _, codes in source.digits], tables), span, ((None, widths),))
        counted = count_keys(packed, source.weights, consume=True)
        return FrequencySet(node, replace(packed, keys=counted.keys), counted.counts, widths)

    def group(self, frequencies: FrequencySet) -> NodeClasses:
        """Group the tuples of a frequency set into classes.

        Tuples are sorted by their attributes first, so that a class is a run of tuples: `first` (int[classes]) has the
        first tuple of each, `class_of` (int[tuples]) the class of each tuple.
        """
        counts, domains = frequencies.counts, self.encoded.domains
        if not domains:  # every tuple is a class
            return NodeClasses(EquivalenceClasses(counts), frequencies.packed)
        attributes, widths = len(frequencies.node), frequencies.widths
        others: list[IntArray] = []
        if len(frequencies.packed.stages) == 1:
            # The other columns are the last digits of a key: dividing them off leaves a key of the attributes.
            key = frequencies.packed.keys
            for width in reversed(widths[attributes:]):
                rest = key // width
                others.insert(0, key - rest * width)
                key = rest
        else:
            key = pack_tuples(frequencies.columns[:attributes], widths[:attributes]).keys
            others = [codes.astype(np.int64) for codes in frequencies.columns[attributes:]]
        first = run_starts(key)
        class_of = np.repeat(np.arange(len(first)), np.diff(first, append=len(frequencies)))
        histograms: dict[str, Histogram] = {}
        for (name, domain), codes in zip(domains.items(), others, strict=True):
            if len(others) == 1:  # then the tuples are the lines of its histogram, and in order
                histograms[name] = Histogram(class_of, codes, counts, domain)
            else:
                histograms[name] = count_values(class_of, codes, counts, domain)
        individual = self.encoded.individual
        persons = histograms.pop(individual.name) if individual else None
        classes = EquivalenceClasses(np.add.reduceat(counts, first), histograms, persons)
        return NodeClasses(classes, frequencies.packed, first)

    def _count(self, node: Node, columns: list[Codes], counts: IntArray) -> FrequencySet:
        """Add up the counts of equal tuples."""
        widths = self._widths(node)
        packed = pack_tuples(columns, widths)
        counted = count_keys(packed, counts, consume=True)
        return FrequencySet(node, replace(packed, keys=counted.keys), counted.counts, widths)

    def _widths(self, node: Node) -> tuple[int, ...]:
        """Number of labels of each attribute at a node, and of values of each other column."""
        labels = [len(hierarchy.labels[level]) for hierarchy, level in zip(self.hierarchies, node, strict=True)]
        return (*labels, *(len(domain.values) for domain in self.encoded.domains.values()))
