"""Frequency sets: the different tuples at a node, with their counts, rolled up from a finer set."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray, narrow_codes
from sfumato.core.classes import EquivalenceClasses, Histogram, count_values
from sfumato.core.keys import PackedTuples, count_keys, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.encode import EncodedTable
from sfumato.hierarchy import Hierarchy
from sfumato.recode.lattice import Node


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The different tuples at one node, and the rows that each stands for.

    A tuple is a label code per attribute and, where a requirement looks at other columns, a code for each of
    those (a class is several tuples then). Tuples stay packed until somebody asks for their columns: most nodes
    are judged by their counts alone. Attributes may be a subset of the table's, as Incognito wants it.
    """

    node: Node
    packed: PackedTuples
    counts: IntArray
    widths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def columns(self) -> list[Codes]:
        """The codes of all tuples, attributes first."""
        parts = self.packed.unpack(self.packed.keys)
        return [narrow_codes(part, width) for part, width in zip(parts, self.widths, strict=True)]


@dataclass(frozen=True, eq=False)
class Grouped:
    """The classes at a node: their counts, and a tuple that stands for each."""

    classes: EquivalenceClasses
    packed: PackedTuples
    first: IntArray | None = None

    def labels(self, chosen: BoolArray) -> list[IntArray]:
        """The label code of each chosen class, one array per attribute (and per other column, at the end)."""
        keys = self.packed.keys[chosen] if self.first is None else self.packed.keys[self.first[chosen]]
        return self.packed.unpack(keys)


class Roller:
    """Rolls frequency sets up along the hierarchies, and groups them into classes."""

    def __init__(self, encoded: EncodedTable, attributes: tuple[int, ...] | None = None) -> None:
        self.chosen = tuple(range(len(encoded.quasi))) if attributes is None else attributes
        self.hierarchies = [encoded.quasi[i].hierarchy for i in self.chosen]
        self.domains = encoded.domains
        self.individual = encoded.individual.name if encoded.individual else None
        self.encoded = encoded

    def base(self) -> Frequencies:
        """The set at the bottom node."""
        tuples = self.encoded.tuples
        columns = [*(tuples.quasi[i] for i in self.chosen), *tuples.others.values()]
        node = (0,) * len(self.chosen)
        if len(self.chosen) < len(tuples.quasi):
            return self._count(node, columns, tuples.counts)
        found = Frequencies(node, tuples.packed, tuples.counts, self._every_width(node))
        found.__dict__["columns"] = columns  # they are at hand already
        return found

    def roll_up(self, source: Frequencies, node: Node) -> Frequencies:
        """The set at a node that generalizes the source's, each tuple mapped and equal ones added up."""
        lifted = [
            codes if low == high else _lift(hierarchy, low, high).take(codes)
            for codes, hierarchy, low, high in zip(
                source.columns[: len(node)], self.hierarchies, source.node, node, strict=True
            )
        ]
        return self._count(node, [*lifted, *source.columns[len(node) :]], source.counts)

    def group(self, found: Frequencies) -> Grouped:
        """The classes of a frequency set."""
        if not self.domains:  # every tuple is a class
            return Grouped(EquivalenceClasses(found.counts), found.packed)
        quasi, others = self._split(found)
        first = run_starts(quasi)
        owner = np.repeat(np.arange(len(first)), np.diff(first, append=len(found)))
        histograms = self._histograms(owner, others, found.counts)
        persons = histograms.pop(self.individual) if self.individual else None
        sizes = np.add.reduceat(found.counts, first)
        return Grouped(EquivalenceClasses(sizes, histograms, persons), found.packed, first)

    def _split(self, found: Frequencies) -> tuple[IntArray, list[IntArray]]:
        """A key for the attributes of each tuple, in ascending order as the tuples are, and the other columns."""
        cut, widths = len(found.node), found.widths
        if len(found.packed.stages) == 1:
            key, others = found.packed.keys, []
            for width in reversed(widths[cut:]):
                rest = key // width
                others.append(key - rest * width)
                key = rest
            return key, others[::-1]
        key = pack_tuples(found.columns[:cut], widths[:cut]).keys
        return key, [codes.astype(np.int64) for codes in found.columns[cut:]]

    def _histograms(self, owner: IntArray, others: list[IntArray], counts: IntArray) -> dict[str, Histogram]:
        """A histogram per other column; with one column alone, the tuples are its lines."""
        if len(others) == 1:
            return {name: Histogram(owner, others[0], counts, domain) for name, domain in self.domains.items()}
        named = zip(self.domains.items(), others, strict=True)
        return {name: count_values(owner, codes, counts, domain) for (name, domain), codes in named}

    def _count(self, node: Node, columns: list[Codes], weights: IntArray) -> Frequencies:
        widths = self._every_width(node)
        packed = pack_tuples(columns, widths)
        counted = count_keys(packed, weights)
        return Frequencies(node, replace(packed, keys=counted.keys), counted.counts, widths)

    def _every_width(self, node: Node) -> tuple[int, ...]:
        return (*self._widths(node), *(len(domain.values) for domain in self.domains.values()))

    def _widths(self, node: Node) -> list[int]:
        return [len(hierarchy.labels[level]) for hierarchy, level in zip(self.hierarchies, node, strict=True)]


def _lift(hierarchy: Hierarchy, low: int, high: int) -> Codes:
    """Label code at level `high` for each label code at level `low`: well defined, since levels nest."""
    table = np.zeros(len(hierarchy.labels[low]), dtype=np.int64)
    table[hierarchy.matrix[:, low]] = hierarchy.matrix[:, high]
    return narrow_codes(table, len(hierarchy.labels[high]))
