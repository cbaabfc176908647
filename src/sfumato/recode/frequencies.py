"""Frequency sets: the different tuples at a node, with their counts, rolled up from a finer set."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.classes import BoolArray, Classes, IntArray, tally
from sfumato.encode import Encoded
from sfumato.hierarchy import Hierarchy
from sfumato.keys import Codes, Packed, count, narrow, number, pack
from sfumato.recode.lattice import Node


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The different tuples at one node, and the rows that each stands for.

    A tuple is a label code per attribute and, where a requirement looks at other columns, a code for each of
    those (a class is several tuples then). Tuples stay packed until somebody asks for their columns: most nodes
    are judged by their counts alone. Attributes may be a subset of the table's, as Incognito wants it.
    """

    node: Node
    packed: Packed
    counts: IntArray
    widths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def columns(self) -> list[Codes]:
        """The codes of all tuples, attributes first."""
        parts = self.packed.unpack(self.packed.keys)
        return [narrow(part, width) for part, width in zip(parts, self.widths, strict=True)]


@dataclass(frozen=True, eq=False)
class Grouped:
    """The classes at a node: their counts, and a tuple that stands for each."""

    classes: Classes
    packed: Packed
    first: IntArray | None = None

    def labels(self, chosen: BoolArray) -> list[IntArray]:
        """The label code of each chosen class, one array per attribute (and per other column, at the end)."""
        keys = self.packed.keys[chosen] if self.first is None else self.packed.keys[self.first[chosen]]
        return self.packed.unpack(keys)


class Roller:
    """Rolls frequency sets up along the hierarchies, and groups them into classes."""

    def __init__(self, encoded: Encoded, attributes: tuple[int, ...] | None = None) -> None:
        self.chosen = tuple(range(len(encoded.quasi))) if attributes is None else attributes
        self.hierarchies = [encoded.quasi[i].hierarchy for i in self.chosen]
        self.domains = encoded.domains
        self.individual = encoded.individual.name if encoded.individual else None
        self.encoded = encoded

    def base(self) -> Frequencies:
        """The set at the bottom node."""
        tuples = self.encoded.tuples
        columns = [tuples.quasi[i] for i in self.chosen]
        node = (0,) * len(self.chosen)
        return self._count(node, [*columns, *tuples.others.values()], tuples.counts)

    def roll_up(self, source: Frequencies, node: Node) -> Frequencies:
        """The set at a node that generalizes the source's, each tuple mapped and equal ones added up."""
        lifted = [
            codes if low == high else _lift(hierarchy, low, high)[codes]
            for codes, hierarchy, low, high in zip(
                source.columns[: len(node)], self.hierarchies, source.node, node, strict=True
            )
        ]
        return self._count(node, [*lifted, *source.columns[len(node) :]], source.counts)

    def group(self, found: Frequencies) -> Grouped:
        """The classes of a frequency set."""
        if not self.domains:  # every tuple is a class
            return Grouped(Classes(found.counts), found.packed)
        quasi, others = found.columns[: len(found.node)], found.columns[len(found.node) :]
        owner, classes = number(pack(quasi, found.widths[: len(found.node)]))
        sizes = np.bincount(owner, weights=found.counts, minlength=classes).astype(np.int64)
        first = np.zeros(classes, dtype=np.int64)
        first[owner] = np.arange(len(owner))
        histograms = {
            name: tally(owner, codes.astype(np.int64), found.counts, domain)
            for (name, domain), codes in zip(self.domains.items(), others, strict=True)
        }
        persons = histograms.pop(self.individual) if self.individual else None
        return Grouped(Classes(sizes, histograms, persons), found.packed, first)

    def _count(self, node: Node, columns: list[Codes], weights: IntArray) -> Frequencies:
        widths = (*self._widths(node), *(len(domain.values) for domain in self.domains.values()))
        packed = pack(columns, widths)
        counted = count(packed, weights)
        return Frequencies(node, replace(packed, keys=counted.keys), counted.counts, widths)

    def _widths(self, node: Node) -> list[int]:
        return [len(hierarchy.labels[level]) for hierarchy, level in zip(self.hierarchies, node, strict=True)]


def _lift(hierarchy: Hierarchy, low: int, high: int) -> Codes:
    """Label code at level `high` for each label code at level `low`: well defined, since levels nest."""
    table = np.zeros(len(hierarchy.labels[low]), dtype=np.int64)
    table[hierarchy.matrix[:, low]] = hierarchy.matrix[:, high]
    return narrow(table, len(hierarchy.labels[high]))
