"""Frequency sets: the different tuples at a node of the lattice with their counts (LeFevre et al., Incognito, 2005).

The frequency set at a node is computed from that of any node below it: each tuple is mapped to its labels, and the
counts of equal tuples are added up (the paper's roll-up property). So rows are counted once, at the bottom, and never
looked at again.

Tuples stay packed into one integer each until somebody asks for their columns: most nodes are judged by counts alone.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray, narrow_codes
from sfumato.core.classes import EquivalenceClasses, Histogram, count_values
from sfumato.core.keys import PackedTuples, count_keys, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.encode import EncodedTable
from sfumato.recode.lattice import Node


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
        columns = list(source.columns)
        for i, (hierarchy, low, high) in enumerate(zip(self.hierarchies, source.node, node, strict=True)):
            if low < high:  # every label of a level has one label on a higher level, since levels nest
                lifted = np.zeros(len(hierarchy.labels[low]), dtype=np.int64)
                lifted[hierarchy.matrix[:, low]] = hierarchy.matrix[:, high]
                columns[i] = narrow_codes(lifted, len(hierarchy.labels[high])).take(columns[i])
        return self._count(node, columns, source.counts)

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
        counted = count_keys(packed, counts)
        return FrequencySet(node, replace(packed, keys=counted.keys), counted.counts, widths)

    def _widths(self, node: Node) -> tuple[int, ...]:
        """Number of labels of each attribute at a node, and of values of each other column."""
        labels = [len(hierarchy.labels[level]) for hierarchy, level in zip(self.hierarchies, node, strict=True)]
        return (*labels, *(len(domain.values) for domain in self.encoded.domains.values()))
