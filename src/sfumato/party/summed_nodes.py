"""The classes of the union of several parties' rows, counted at a node of the lattice by secure sums.

The parties hold rows of the same schema, and the domains of all columns are known to all of them. A party counts the
classes of its own rows at a node; the sums of these counts are the frequency set of the union (LeFevre et al.,
Incognito, 2005), and nobody learns another party's counts. As little is summed as settles a node:

1. Where a node has more possible classes than are worth a sum each, classes are spread over *buckets* by a public hash.
   A bucket with fewer rows than any passing class must have, but not none, holds classes that all fail, here and at
   every specialization. Where these rows are more than may be suppressed, the node is out, and what was learned is how
   many rows the classes of a bucket have together. Everybody can tell which possible classes are in a bucket: none of
   an empty one occurs, and a bucket with one possible class tells its size, as step 2 would tell of all. Fewer buckets
   would tell less here, and leave more nodes to step 2.
2. Else the sizes of the classes are summed, a few columns at a time: the labels of the first columns that some row has
   are extended by those of the next. What is summed on the way follows from the sizes of the classes, and a node may
   be out before all columns are in.
3. The values of sensitive columns are summed only for nodes whose sizes do not rule them out.

Where a node that was summed before is below, nothing is summed at all: counts are added up here.

Adversary: semi-honest; that of `secure_sum`. All parties learn the sums, and no party's part of one; n - 1 colluders
learn that of the last, as these sums less their own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.core.arrays import Codes, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.core.keys import PackedTuples, mix_bits, pack_tuples
from sfumato.encode import EncodedTable
from sfumato.errors import RunAborted
from sfumato.party.party_session import PartySession
from sfumato.party.secure_sum import secure_sum
from sfumato.recode.evaluation import Evaluation, Evaluator
from sfumato.recode.frequency_sets import FrequencyCounter, NodeClasses
from sfumato.recode.lattice import Lattice, Node
from sfumato.recode.metrics import Metric
from sfumato.recode.requirement import Requirement

MOST_CELLS = 1 << 18
"""Columns are taken together while the sum has no more cells than this; larger nodes are tried by buckets first."""
_FEWEST_BUCKETS, _MOST_BUCKETS = 1 << 10, 1 << 20
_MOST_KEPT = 1 << 22
"""Classes of nodes that are out and were counted from others, as far as they are kept."""
_LARGEST_SUM = 1 << 22
"""Cells that are summed at a time, 32 MiB: what is larger is summed in parts."""
_MOST_SUMMED = 1 << 27
"""Cells of the largest sum there is, 1 GiB; a run that would need a larger one ends."""


@dataclass(frozen=True)
class NodeLook:
    """One look at a node, for the audit: its levels, what was summed there, in how many cells, and how it ended.

    `summed` is ``buckets``, ``sizes`` or ``values``. `ruled_out` says that no row beyond these was needed to see that
    neither the node nor anything below it passes.
    """

    node: Node
    summed: str
    cells: int
    ruled_out: bool


class SummedNodes:
    """Counts nodes over the rows of all parties; every party makes one from its own rows and asks it the same.

    `encoded` has this party's rows, with hierarchies and sensitive domains over values that all parties agree on, and
    `rows` are those of all parties. `looks` lists what was summed, in order.
    """

    def __init__(self, session: PartySession, encoded: EncodedTable, rows: int) -> None:
        self.session, self.encoded, self.rows = session, encoded, rows
        self.looks: list[NodeLook] = []
        self._known: dict[Node, NodeClasses] = {}
        self._sized: dict[Node, NodeClasses] = {}  # nodes that are out, of which the sizes alone were summed
        self._ruled_out: list[tuple[Node, Requirement]] = []
        self._sums = 0
        self._room = _MOST_KEPT

    def add_up(self, counts: IntArray, step: str) -> IntArray:
        """Sum the parties' counts, int64[cells], in parts that memory has room for; all parties get the sums."""
        total = self._add_up_for(self.session.parties, counts, step)
        assert total is not None  # noqa: S101 - everybody gets it; this tells the type checker
        return total

    def _add_up_for(self, to: Sequence[str], counts: IntArray, step: str) -> IntArray | None:
        """Sum the parties' counts; those of `to` get the sums, and the others nothing."""
        total = np.empty(len(counts), dtype=np.int64)
        for start in range(0, max(len(counts), 1), _LARGEST_SUM):
            self._sums += 1
            part = slice(start, start + _LARGEST_SUM)
            summed = secure_sum(self.session, counts[part].astype(np.int64), step=f"{step}/{self._sums}", to=to)
            if summed is not None:
                total[part] = summed
        if self.session.me not in to:
            return None
        if (total < counts).any():  # no party can have fewer rows than none
            raise RunAborted("the parties' counts do not add up; start all parties of this run anew")
        return total

    def know_top(self, whole: EquivalenceClasses) -> None:
        """Take over the one class of the top node, which was counted before."""
        top = self._top()
        self._known[top] = NodeClasses(
            whole, pack_tuples([np.zeros(1, dtype=np.int64) for _ in top], self._widths(top))
        )

    def count(self, node: Node, requirement: Requirement) -> NodeClasses | None:
        """Count the classes of all parties' rows at a node; nothing where sizes alone rule it out."""
        if self.is_known(node):
            self._known[node] = self._roll_up(self._known, node)
            return self._known[node]
        if self._is_ruled_out(node, requirement):
            return None
        found = None if self._too_many_small_buckets(node, requirement) else self._find_classes(node, requirement)
        if found is None:
            self._ruled_out.append((node, requirement))
            return None
        labels, sizes, class_of = found
        sensitive = {name: self._count_values(node, name, len(sizes), class_of) for name in self.encoded.domains}
        classes = EquivalenceClasses(sizes, sensitive)
        self._known[node] = NodeClasses(classes, pack_tuples(labels, self._widths(node)))
        return self._known[node]

    def is_known(self, node: Node) -> bool:
        """Tell whether a node can be counted without asking anybody: it, or one below it, was summed before."""
        return any(_is_below(known, node) for known in self._known)

    def is_out(self, node: Node, requirement: Requirement) -> bool:
        """Tell whether what was summed before shows that sizes rule a node out; nobody is asked."""
        if self._is_ruled_out(node, requirement):
            return True
        if not any(_is_below(sized, node) for sized in self._sized):
            return False
        rolled = self._roll_up(self._sized, node)
        out = _are_too_small(rolled.classes.sizes, requirement)
        if out and self._room >= len(rolled.classes):  # what is above it is counted faster from here
            self._room -= len(rolled.classes)
            self._sized[node] = rolled
        return out

    def _is_ruled_out(self, node: Node, requirement: Requirement) -> bool:
        return any(_is_below(node, out) and requirement == why for out, why in self._ruled_out)

    def count_joint(
        self, class_of: IntArray, classes: int, columns: Sequence[tuple[Codes, int]], to: Sequence[str]
    ) -> tuple[list[IntArray], IntArray] | None:
        """Sum how many rows of each class hold which values of several columns together.

        The last column is summed for the parties of `to`; the others get nothing of it, and nothing is returned there.

        `class_of` has the class of each of this party's rows, -1 for those that do not count, and `columns` the codes
        of its rows with the number of different codes. Returns the classes and codes of the combinations that occur,
        one array each, and the rows of each.
        """
        counted = class_of >= 0
        place, found = class_of[counted], [np.arange(classes)]
        sizes = self.add_up(np.bincount(place, minlength=classes), "anonymize/joint")
        for number, (codes, width) in enumerate(columns, start=1):
            extended = self._extend(
                place,
                len(found[0]),
                codes[counted],
                width,
                None,
                "anonymize/joint",
                to if number == len(columns) else self.session.parties,
            )
            if extended is None:
                return None
            place, occupied, sizes = extended
            found = [*(column[occupied // width] for column in found), occupied % width]
        return found, sizes

    # -----------------------------------------------------------------------------------------------------------------

    def _widths(self, node: Node) -> tuple[int, ...]:
        return tuple(
            len(attribute.hierarchy.labels[level]) for attribute, level in zip(self.encoded.quasi, node, strict=True)
        )

    def _labels(self, node: Node) -> list[IntArray]:
        """The label codes of this party's tuples at a node, an int64[tuples] per attribute."""
        return [
            attribute.hierarchy.matrix[:, level].take(codes).astype(np.int64)
            for attribute, codes, level in zip(self.encoded.quasi, self.encoded.tuples.quasi, node, strict=True)
        ]

    def _too_many_small_buckets(self, node: Node, requirement: Requirement) -> bool:
        """Sum the rows of buckets of classes; tell whether those of too few rows are more than may be suppressed.

        Every class of such a bucket is smaller than any that passes, and so is every part of it.
        """
        if math.prod(self._widths(node)) <= MOST_CELLS or requirement.least < 2:
            return False
        buckets = _FEWEST_BUCKETS
        while buckets < min(4 * self.rows, _MOST_BUCKETS):
            buckets *= 2
        salt = int.from_bytes(self.session.session_id[:6])  # public, and another one in every session
        words = np.zeros(len(self.encoded.tuples), dtype=np.uint64)
        for codes in self._labels(node):
            words = mix_bits(words ^ codes.astype(np.uint64), salt)
        bucket = (words % np.uint64(buckets)).astype(np.int64)
        totals = self.add_up(self._add_counts(bucket, buckets), f"anonymize/buckets/{node}")
        out = _are_too_small(totals, requirement)
        self.looks.append(NodeLook(node, "buckets", buckets, out))
        return out

    def _find_classes(self, node: Node, requirement: Requirement) -> tuple[list[IntArray], IntArray, IntArray] | None:
        """Sum the sizes of classes, a few columns at a time; nothing where small ones rule the node out.

        Returns the labels of the classes (an array per attribute, in order), their sizes, and int64[tuples] the class
        of each of this party's tuples.
        """
        widths, codes = self._widths(node), self._labels(node)
        place = np.zeros(len(self.encoded.tuples), dtype=np.int64)
        labels: list[IntArray] = []
        sizes = np.array([self.rows])
        first = 0
        while first < len(widths):
            last = first + 1  # columns first..last - 1 are added in one sum
            while last < len(widths) and len(sizes) * math.prod(widths[first : last + 1]) <= MOST_CELLS:
                last += 1
            span = widths[first:last]
            packed = pack_tuples(codes[first:last], span)
            counts = self.encoded.tuples.counts
            extended = self._extend(
                place, len(sizes), packed.keys, packed.span, counts, f"anonymize/sizes/{node}", self.session.parties
            )
            assert extended is not None  # noqa: S101 - everybody gets it; this tells the type checker
            place, occupied, sizes = extended
            added = PackedTuples(packed.keys, packed.span, packed.stages).unpack(occupied % packed.span)
            labels = [*(column[occupied // packed.span] for column in labels), *added]
            out, here = _are_too_small(sizes, requirement), (*node[:last], *self._top()[last:])
            self.looks.append(NodeLook(here, "sizes", len(sizes), out))
            if out:
                columns = [*labels, *(np.zeros(len(sizes), dtype=np.int64) for _ in widths[last:])]
                self._sized[here] = NodeClasses(EquivalenceClasses(sizes), pack_tuples(columns, self._widths(here)))
                return None
            first = last
        return labels, sizes, place

    def _top(self) -> Node:
        return tuple(attribute.hierarchy.height for attribute in self.encoded.quasi)

    def _extend(  # noqa: PLR0913, PLR0917 - what is extended, by what, and for whom
        self,
        place: IntArray,
        places: int,
        codes: Codes,
        width: int,
        counts: IntArray | None,
        step: str,
        to: Sequence[str],
    ) -> tuple[IntArray, IntArray, IntArray] | None:
        """Extend what rows have been put in places by, with a code of `width` each.

        `place` and `codes` are int[rows]. Returns the new place of each row among the pairs of place and code that
        some party has, these pairs as ``place * width + code`` in ascending order, and the rows of each of all parties;
        nothing at parties that are not in `to`.
        """
        cells = _check_cells(places * width)
        key = place * width + codes
        mine = np.bincount(key, weights=counts, minlength=cells).astype(np.int64)
        total = self._add_up_for(to, mine, step)
        if total is None:
            return None
        if int(total.sum()) > self.rows:
            raise RunAborted("the parties' counts do not add up; start all parties of this run anew")
        occupied = np.flatnonzero(total)
        return np.searchsorted(occupied, key), occupied, total[occupied]

    def _count_values(self, node: Node, name: str, classes: int, class_of: IntArray) -> Histogram:
        """Sum how many rows of each class hold which value of a sensitive column."""
        domain, codes = self.encoded.domains[name], self.encoded.tuples.others[name]
        width = len(domain.values)
        counts = self._add_counts(class_of * width + codes, _check_cells(classes * width))
        total = self.add_up(counts, f"anonymize/values/{node}/{name}")
        self.looks.append(NodeLook(node, "values", len(total), ruled_out=False))
        pairs = np.flatnonzero(total)
        return Histogram(pairs // width, pairs % width, total[pairs], domain)

    def _add_counts(self, key: IntArray, cells: int) -> IntArray:
        return np.bincount(key, weights=self.encoded.tuples.counts, minlength=cells).astype(np.int64)

    def _roll_up(self, summed: Mapping[Node, NodeClasses], node: Node) -> NodeClasses:
        """Add up the counts of a node that was summed before, to those of a node above it; the smallest there is."""
        below = [source for source in summed if _is_below(source, node)]
        source = min(below, key=lambda source: len(summed[source].classes))
        known = summed[source]
        if source == node:
            return known
        lifted = []
        for attribute, codes, low, high in zip(
            self.encoded.quasi, known.packed.unpack(known.packed.keys), source, node, strict=True
        ):
            label = np.zeros(len(attribute.hierarchy.labels[low]), dtype=np.int64)
            label[attribute.hierarchy.matrix[:, low]] = attribute.hierarchy.matrix[:, high]
            lifted.append(label[codes])
        packed = pack_tuples(lifted, self._widths(node))
        keys, into = np.unique(packed.keys, return_inverse=True)
        return NodeClasses(known.classes.merge(into), replace(packed, keys=keys))


def _check_cells(cells: int) -> int:
    """End the run where a sum has more cells than memory should be asked for; all parties find the same."""
    if cells > _MOST_SUMMED:
        raise RunAborted(
            f"a sum of {cells:,} cells is due, and {_MOST_SUMMED:,} are the most; give columns of many values a higher "
            "least level, or fewer values"
        )
    return cells


def _are_too_small(sizes: IntArray, requirement: Requirement) -> bool:
    """Tell whether classes, or buckets of them, with fewer rows than any that passes have more than may be lost."""
    return requirement.rules_out(float(sizes[sizes < requirement.least].sum()))


def _is_below(low: Node, high: Node) -> bool:
    """Tell whether a node is another one or a specialization of it."""
    return all(one <= other for one, other in zip(low, high, strict=True))


class SummedEvaluator(Evaluator):
    """Evaluates nodes over the rows of all parties; whatever searches a lattice can search by it.

    All parties ask for the same nodes in the same order, since what they ask next follows from sums that all of them
    have. A node over some of the attributes is that over all of them with the others fully generalized.
    """

    def __init__(
        self, sums: SummedNodes, requirement: Requirement, metric: Metric, attributes: tuple[int, ...] | None = None
    ) -> None:
        self.sums, self.encoded, self.requirement, self.metric = sums, sums.encoded, requirement, metric
        self.counter = FrequencyCounter(sums.encoded, attributes)
        self.lattice = Lattice(tuple(hierarchy.height for hierarchy in self.counter.hierarchies))

    def project(self, attributes: tuple[int, ...]) -> "SummedEvaluator":
        """Give an evaluator of the same sums over a subset of the attributes."""
        return SummedEvaluator(self.sums, self.requirement, self.metric, attributes)

    def without_suppression(self) -> "SummedEvaluator":
        """Give an evaluator of the same nodes that lets no row be suppressed."""
        return SummedEvaluator(self.sums, replace(self.requirement, limit=0), self.metric, self.counter.attributes)

    def count_classes(self, node: Node) -> NodeClasses:
        """Count the classes at a node that sizes do not rule out."""
        counted = self._count(node)
        if counted is None:
            raise ValueError(f"{node} is out by the sizes of its classes")  # a bug of ours
        return self._project(counted)

    def evaluate(self, node: Node) -> Evaluation:
        """Evaluate a node; one that is out by its sizes is known to be no more than that."""
        counted = self._count(node)
        if counted is None:
            return Evaluation(node, False, False, 0, np.inf, 0.0, 0.0)
        return super().evaluate(node)

    def viable(self, node: Node) -> bool:
        """Tell whether the node, or something below it, may pass."""
        return self._count(node) is not None and super().viable(node)

    def known_to_fail(self, node: Node) -> bool:
        """Tell whether a node is out by what was summed before."""
        whole = self._over_all(node)
        if self.sums.is_known(whole):
            return not super().viable(node)
        return self.sums.is_out(whole, self.requirement)

    def _count(self, node: Node) -> NodeClasses | None:
        return self.sums.count(self._over_all(node), self.requirement)

    def _over_all(self, node: Node) -> Node:
        """Give the node over all attributes, with those that are not looked at fully generalized."""
        levels = dict(zip(self.counter.attributes, node, strict=True))
        return tuple(levels.get(i, attribute.hierarchy.height) for i, attribute in enumerate(self.encoded.quasi))

    def _project(self, counted: NodeClasses) -> NodeClasses:
        """Leave out the labels of attributes that are not looked at: all classes have the same ones there."""
        if len(self.counter.attributes) == len(self.encoded.quasi):
            return counted
        labels = counted.packed.unpack(counted.packed.keys)
        widths = [width for _, stage in counted.packed.stages for width in stage]
        chosen = self.counter.attributes
        packed = pack_tuples([labels[i] for i in chosen], [widths[i] for i in chosen])
        return NodeClasses(counted.classes, packed)

    def _undersized(self, grouped: NodeClasses) -> tuple[int, ...] | None:
        """Name no class: where counts are summed, none is followed through the lattice."""
        del grouped
        return None


def sum_metric(local: Metric, rows: int, add_up: Callable[[IntArray], IntArray]) -> Metric:
    """Make the metric of the union of all parties' rows from that of this party's, by one sum.

    What rows lose at each level is added up: one number per attribute and level, in two words of 26 bits behind the
    point each, which is as exact as a float is.

    >>> from types import SimpleNamespace as Some
    >>> class Losses(Some):
    ...     total_losses = lambda self: [np.array([0.0, 2.5])]
    ...     of_union = lambda self, rows, losses: (rows, losses)
    >>> sum_metric(Losses(), 10, lambda words: 2 * words)
    (10, [array([0., 5.])])
    """
    losses = local.total_losses()
    flat = np.concatenate([np.zeros(0), *losses])
    scale = float(1 << 26)
    high = np.floor(flat * scale)
    low = np.rint((flat * scale - high) * scale)
    words: Any = np.concatenate([high, low]).astype(np.int64)
    total = (add_up(words) if len(flat) else words).reshape(2, -1).astype(np.float64)
    summed = total[0] / scale + total[1] / scale / scale
    ends = np.cumsum([len(part) for part in losses])[:-1]
    return local.of_union(rows, np.split(summed, ends) if losses else [])
