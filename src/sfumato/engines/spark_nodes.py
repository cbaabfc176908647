"""A full-domain search over counted keys that stay with Spark, where they are too many for the driver.

The keys of all rows lie in files of the shared folder. To look at a node, tasks generalize the keys to it and add up
what is equal, and send each class, by a hash, to where all of it comes together; there the requirement judges it as it
does anywhere. What comes back are sums: rows suppressed, rows doomed, the loss. Equal hashes share a task and nothing
else, since classes are told apart by their codes. Where the tuples of a node are few, they come back themselves, and
all nodes above it are rolled up from them on the driver (LeFevre et al. 2005); so a search asks for few nodes.

Once the node is found, lines are counted at it: they have the labels of quasi-identifiers, and all other columns as
they are. So that each column by itself is as it came in, values are dealt out to the lines with their label, as often
as published rows, and suppressed ones, have them (`deal_values`).
"""

import json
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sfumato.core.arrays import Codes, IntArray, count_codes, narrow_codes
from sfumato.core.keys import count_keys, match_tuples, mix_bits, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.core.tuple_packer import TuplePacker
from sfumato.encode import CodedColumn, EncodedTable, assemble, order_counted_columns
from sfumato.engines.counted_table import CodedValues, CountedTable
from sfumato.engines.row_coder import RowCoder
from sfumato.engines.spark_tasks import Block, Shared, SparkTask, read_counts
from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.policy.options import FULL_DOMAIN
from sfumato.recode import Recoding
from sfumato.recode.evaluation import Evaluation, Evaluator
from sfumato.recode.frequency_sets import FrequencyCounter, FrequencySet
from sfumato.recode.full_domain import apply_node, search_nodes, search_rules
from sfumato.recode.lattice import Lattice, Node, check_size
from sfumato.recode.metrics import Metric, NodeLoss
from sfumato.recode.recoding import Progress
from sfumato.recode.requirement import Requirement

if TYPE_CHECKING:
    from sfumato.engines.engine import Engine

_SALT = 0x6E
"""Classes are spread over tasks by a hash; no secret, since nobody outside sees it."""
_INLINE = 1 << 22
"""Bytes of tuples that come back through Spark; larger ones go through a file."""

Columns = tuple[Codes, ...]


class NodeJobs(Protocol):
    """What runs tasks over stored keys."""

    def run_over_keys(self, stored: "StoredKeys", task: SparkTask, then: SparkTask | None) -> list[tuple[int, Any]]:
        """Run a task in which each file of keys is named by a block; then another where equal numbers meet."""
        ...

    def broadcast(self, value: Any) -> Any:
        """Share a value with all tasks."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class StoredKeys:
    """Counted keys in files of the shared `folder`, each key in one of them; `different` keys in all.

    `room` is how many tuples the driver may hold.
    """

    jobs: NodeJobs
    marker: Any
    coder: RowCoder
    folder: str
    files: tuple[str, ...]
    different: int
    room: int

    def remove(self) -> None:
        """Remove the files, and what another try of a task left beside them."""
        for path in Path(self.folder).glob("keys-*"):
            path.unlink(missing_ok=True)


def write_tuples(columns: Sequence[Codes], counts: IntArray) -> bytes:
    """Write tuples as bytes: how many they are, their columns one after the other, and the rows of each."""
    parts = [np.array([len(counts)], dtype=np.int64), *columns, counts.astype(np.int64)]
    return b"".join(part.tobytes() for part in parts)


def read_tuples(content: Any, widths: Sequence[int]) -> tuple[Columns, IntArray]:
    """Read what `write_tuples` wrote of columns of these widths.

    >>> columns, counts = read_tuples(write_tuples([np.array([1, 0], dtype=np.uint8)], np.array([5, 7])), [2])
    >>> columns[0].tolist(), counts.tolist()
    ([1, 0], [5, 7])
    """
    number, place = int(np.frombuffer(content, np.int64, 1)[0]), 8
    columns = []
    for width in widths:
        kind = np.min_scalar_type(max(width - 1, 0))
        columns.append(np.frombuffer(content, kind, number, place))
        place += number * kind.itemsize
    return tuple(columns), np.frombuffer(content, np.int64, number, place)


def _add_up(columns: Sequence[Codes], widths: Sequence[int], counts: IntArray) -> tuple[Columns, IntArray]:
    """Make one tuple of equal ones, ascending."""
    packed = pack_tuples(columns, widths)
    counted = count_keys(packed, counts, consume=True)
    return packed.unpack_codes(counted.keys), counted.counts


def _join(coming: Iterator[Block], widths: Sequence[int]) -> tuple[Columns, IntArray] | None:
    parts = [read_tuples(content, widths) for _, content in coming]
    if not parts:
        return None
    columns = [np.concatenate([part[0][place] for part in parts]) for place in range(len(widths))]
    return _add_up(columns, widths, np.concatenate([part[1] for part in parts]))


@dataclass(frozen=True)
class KeyTask(SparkTask):
    """A task over files of counted keys: each number that comes is that of a file."""

    folder: str
    files: tuple[str, ...]
    packer: Shared

    def read(self, coming: Iterator[Block]) -> Iterator[tuple[Columns, IntArray]]:
        """The keys of each file, as codes of all counted columns, and the rows of each."""
        packer: TuplePacker = self.packer.value
        for number, _ in coming:
            counted = read_counts(Path(self.folder, self.files[number]).read_bytes())
            yield packer.packed(counted.keys).unpack_codes(counted.keys), counted.counts


@dataclass(frozen=True)
class GeneralizeKeys(KeyTask):
    """Generalizes keys, adds up what is equal, and sends tuples where all with the same first columns come together.

    `chosen` are the places of the columns that tuples have, `widths` how many codes each has then, `classed` how many
    of them make a class. `lookups` has for each of them what becomes of a code, `None` where it stays.
    """

    chosen: tuple[int, ...]
    lookups: tuple[Codes | None, ...]
    widths: tuple[int, ...]
    classed: int
    buckets: int

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Generalize."""
        for codes, counts in self.read(coming):
            generalized = [
                narrow_codes(codes[place] if lookup is None else lookup.take(codes[place]), width)
                for place, lookup, width in zip(self.chosen, self.lookups, self.widths, strict=True)
            ]
            columns, rows = _add_up(generalized, self.widths, counts)
            words = np.zeros(len(rows), dtype=np.uint64)
            for number, column in enumerate(columns[: self.classed]):
                words = mix_bits(words ^ column.astype(np.uint64), _SALT + number)
            bucket = (words % np.uint64(self.buckets)).astype(np.int64)
            order = np.argsort(bucket, kind="stable")
            starts = [*run_starts(bucket.take(order)).tolist(), len(order)]
            for start, end in pairwise(starts):
                part = order[start:end]
                yield int(bucket[part[0]]), write_tuples([one.take(part) for one in columns], rows.take(part))


@dataclass(frozen=True)
class StoredNodeSums:
    """What some of the classes of a node come to: the rows of those that fail, and what else an `Evaluation` has."""

    failing: int
    doomed: float
    floor_above: float
    loss: float
    added_below: float


@dataclass(frozen=True, eq=False, repr=False)
class NodeJudge:
    """Judges classes of a node, wherever they are, as the search on the driver would."""

    counter: FrequencyCounter
    requirement: Requirement
    metric: Metric

    def frequencies(self, node: Node, columns: Columns, counts: IntArray, widths: tuple[int, ...]) -> FrequencySet:
        """The frequency set of tuples that are ascending and different."""
        return FrequencySet(node, pack_tuples(columns, widths), counts, widths, columns)

    def sums(self, frequencies: FrequencySet) -> StoredNodeSums:
        """Judge whole classes and add up."""
        node, grouped = frequencies.node, self.counter.group(frequencies)
        passing = self.requirement.holds(grouped.classes)
        doomed = self.requirement.doomed(grouped.classes)
        price = self.metric.price(node, grouped, passing, doomed)
        sizes = grouped.classes.sizes
        return StoredNodeSums(
            int(sizes[~passing].sum()),
            float((sizes * doomed).sum()),
            self.metric.floor_above(grouped.classes),
            price.loss,
            price.added_below,
        )

    def doomed_sums(self, frequencies: FrequencySet) -> StoredNodeSums:
        """Add up the doomed rows alone: of a node over some of the attributes nothing else is asked."""
        classes = self.counter.group(frequencies).classes
        doomed = float((classes.sizes * self.requirement.doomed(classes)).sum())
        return StoredNodeSums(0, doomed, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class JudgeClasses(SparkTask):
    """Judges the classes that come together in a task; gives their sums, and the tuples where these are few."""

    judge: Shared
    subset: tuple[int, ...]
    node: Node
    widths: tuple[int, ...]
    few: int
    folder: str

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Judge; a block 0 has the sums, one of 1 the tuples, one of 2 the name of the file they are in."""
        joined = _join(coming, self.widths)
        if joined is None:
            return
        whole: NodeJudge = self.judge.value
        judge = replace(whole, counter=FrequencyCounter(whole.counter.encoded, self.subset))
        frequencies = judge.frequencies(self.node, *joined, self.widths)
        if len(frequencies) <= self.few:
            yield from _tuple_blocks(joined, self.folder)
        every = len(self.subset) == len(whole.counter.attributes)
        sums = judge.sums(frequencies) if every else judge.doomed_sums(frequencies)
        yield 0, json.dumps(asdict(sums)).encode()


def _tuple_blocks(tuples: tuple[Columns, IntArray], folder: str) -> Iterator[Block]:
    content = write_tuples(*tuples)
    if len(content) <= _INLINE:
        yield 1, content
        return
    path = Path(folder, f"keys-{secrets.token_hex(8)}")
    path.write_bytes(content)
    yield 2, path.name.encode()


@dataclass(frozen=True)
class MergeTuples(SparkTask):
    """Adds up tuples that come together in a task; gives how many they are, and them where they are few."""

    widths: tuple[int, ...]
    few: int
    folder: str

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Add up, with blocks as `JudgeClasses` gives them."""
        joined = _join(coming, self.widths)
        if joined is None:
            return
        if len(joined[1]) <= self.few:
            yield from _tuple_blocks(joined, self.folder)
        yield 0, json.dumps(len(joined[1])).encode()


@dataclass(frozen=True)
class CountSuppressed(KeyTask):
    """Counts the values of quasi-identifiers in rows of classes that fail; gives one block for each file of keys.

    `failing` shares the label codes of these classes, an array for each of the `chosen` columns.
    """

    failing: Shared
    chosen: tuple[int, ...]
    lookups: tuple[Codes, ...]
    widths: tuple[int, ...]

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Count: the counts of all columns, one after the other."""
        for codes, counts in self.read(coming):
            quasi = [codes[place] for place in self.chosen]
            labels = [lookup.take(column) for lookup, column in zip(self.lookups, quasi, strict=True)]
            gone = np.flatnonzero(match_tuples(labels, self.failing.value, self.widths))
            found = [
                count_codes(column.take(gone), len(lookup), counts.take(gone))
                for lookup, column in zip(self.lookups, quasi, strict=True)
            ]
            yield 0, np.concatenate(found).astype(np.int64).tobytes()


class StoredNodes:
    """The nodes of a lattice over stored keys: what is asked of them is answered by tasks.

    `permitted` is a table whose lines have each column by itself as the keys have it, and are told nothing else of.
    """

    def __init__(self, stored: StoredKeys, permitted: EncodedTable, least: Sequence[Codes], judge: NodeJudge) -> None:
        self.stored, self.permitted, self.least, self.judge = stored, permitted, least, judge
        self.packer = stored.jobs.broadcast(stored.coder.packer)
        self.shared_judge = stored.jobs.broadcast(judge)
        place = {column.name: number for number, column in enumerate(stored.coder.columns)}
        self.quasi = tuple(place[name] for name in permitted.names)
        self.others = tuple(place[name] for name in permitted.domains)

    def close(self) -> None:
        """Let go of what tasks share."""
        self.packer.destroy()
        self.shared_judge.destroy()

    def label_lookup(self, attribute: int, level: int) -> Codes:
        """What label each value of an attribute has at a level: int[values]."""
        tree = self.permitted.quasi[attribute].hierarchy
        return narrow_codes(tree.matrix[:, level], len(tree.labels[level])).take(self.least[attribute])

    def look(self, subset: tuple[int, ...], node: Node, room: int) -> FrequencySet | StoredNodeSums:
        """Count the classes at a node over some of the attributes; gives its tuples if there is room, else sums."""
        lookups = tuple(self.label_lookup(i, level) for i, level in zip(subset, node, strict=True))
        labels = [len(self.permitted.quasi[i].hierarchy.labels[level]) for i, level in zip(subset, node, strict=True)]
        widths = (*labels, *(len(domain.values) for domain in self.permitted.domains.values()))
        chosen = (*(self.quasi[i] for i in subset), *self.others)
        stored, buckets = self.stored, len(self.stored.files)
        task = self._generalize(chosen, (*lookups, *(None for _ in self.others)), widths, len(subset))
        few = 2 * room // buckets
        then = JudgeClasses(stored.marker, self.shared_judge, subset, node, widths, few, stored.folder)
        found = stored.jobs.run_over_keys(stored, task, then)
        sums = [StoredNodeSums(**json.loads(bytes(content))) for number, content in found if not number]
        tuples = take_tuples(found, len(sums), widths, room, stored.folder)
        if tuples is not None:
            return self.judge.frequencies(node, *_add_up(tuples[0], widths, tuples[1]), widths)
        if len(subset) < len(self.permitted.quasi):
            return StoredNodeSums(0, math.fsum(one.doomed for one in sums), 0.0, 0.0, 0.0)
        metric = self.judge.metric
        price = metric.unite_prices(node, [NodeLoss(one.loss, one.added_below) for one in sums])
        return StoredNodeSums(
            sum(one.failing for one in sums),
            math.fsum(one.doomed for one in sums),
            metric.unite_floors([one.floor_above for one in sums]),
            price.loss,
            price.added_below,
        )

    def count_lines(self, node: Node) -> tuple[dict[str, Codes], IntArray]:
        """Count lines at a node: labels of quasi-identifiers, and the codes of all other counted columns, by name."""
        stored = self.stored
        lookups: list[Codes | None] = [None] * len(stored.coder.columns)
        widths = [column.width for column in stored.coder.columns]
        for i, level in enumerate(node):
            lookups[self.quasi[i]] = self.label_lookup(i, level)
            widths[self.quasi[i]] = len(self.permitted.quasi[i].hierarchy.labels[level])
        task = self._generalize(tuple(range(len(widths))), tuple(lookups), tuple(widths), len(widths))
        then = MergeTuples(stored.marker, tuple(widths), stored.room, stored.folder)
        found = stored.jobs.run_over_keys(stored, task, then)
        lines = [int(json.loads(bytes(content))) for number, content in found if not number]
        tuples = take_tuples(found, len(lines), widths, stored.room, stored.folder)
        if tuples is None:
            raise DataError(
                f"the levels that were found leave {sum(lines):,} different rows, and the driver may hold "
                f"{stored.room:,}; allow more with --memory, or give columns that need not be quasi-identifiers or "
                "sensitive another role"
            )
        names = [column.name for column in stored.coder.columns]
        return dict(zip(names, tuples[0], strict=True)), tuples[1]

    def count_suppressed(self, node: Node, failing: Sequence[Codes]) -> list[IntArray]:
        """Count the rows of each value of each quasi-identifier, in the classes with these labels at a node."""
        stored = self.stored
        lookups = tuple(self.label_lookup(i, level) for i, level in enumerate(node))
        totals = [np.zeros(len(lookup), dtype=np.int64) for lookup in lookups]
        if not len(failing[0]):
            return totals
        widths = tuple(len(one.hierarchy.labels[level]) for one, level in zip(self.permitted.quasi, node, strict=True))
        shared = stored.jobs.broadcast(tuple(failing))
        task = CountSuppressed(
            stored.marker, stored.folder, stored.files, self.packer, shared, self.quasi, lookups, widths
        )
        ends = np.cumsum([len(lookup) for lookup in lookups])
        for _, content in stored.jobs.run_over_keys(stored, task, None):
            found = np.split(np.frombuffer(content, np.int64), ends[:-1])
            totals = [total + more for total, more in zip(totals, found, strict=True)]
        shared.destroy()
        return totals

    def _generalize(
        self, chosen: tuple[int, ...], lookups: tuple[Codes | None, ...], widths: tuple[int, ...], classed: int
    ) -> GeneralizeKeys:
        stored = self.stored
        return GeneralizeKeys(
            stored.marker, stored.folder, stored.files, self.packer, chosen, lookups, widths, classed, len(stored.files)
        )


def take_tuples(
    found: Sequence[tuple[int, Any]], parts: int, widths: Sequence[int], room: int, folder: str
) -> tuple[Columns, IntArray] | None:
    """Take the tuples that tasks gave, if all parts gave theirs and there is room; files are removed in any case."""
    paths = [Path(folder, bytes(content).decode()) for number, content in found if number == 2]
    inline = [content for number, content in found if number == 1]
    row = 8 + sum(np.min_scalar_type(max(width - 1, 0)).itemsize for width in widths)
    size = sum(len(content) for content in inline) + sum(path.stat().st_size for path in paths)
    taken = None
    if len(paths) + len(inline) == parts and size <= row * room + 8 * parts:
        read = [read_tuples(content, widths) for content in (*inline, *(path.read_bytes() for path in paths))]
        columns = tuple(np.concatenate([one[0][place] for one in read]) for place in range(len(widths)))
        taken = columns, np.concatenate([one[1] for one in read])
    for path in paths:
        path.unlink()
    return taken


class StoredEvaluator(Evaluator):
    """Evaluates nodes over stored keys: by tasks, or by what came back of them where that is enough."""

    def __init__(
        self,
        nodes: StoredNodes,
        requirement: Requirement,
        metric: Metric,
        attributes: tuple[int, ...] | None = None,
    ) -> None:
        self.nodes, self.encoded, self.requirement, self.metric = nodes, nodes.permitted, requirement, metric
        self.counter = FrequencyCounter(nodes.permitted, attributes)
        self.lattice = Lattice(tuple(hierarchy.height for hierarchy in self.counter.hierarchies))
        self._held: list[FrequencySet] = []  # those that were used last at the end
        self._room = nodes.stored.room // 2
        self._answers: dict[Node, StoredNodeSums] = {}

    def project(self, attributes: tuple[int, ...]) -> "StoredEvaluator":
        """Give an evaluator of the same keys over a subset of the attributes."""
        return StoredEvaluator(self.nodes, self.requirement, self.metric, attributes)

    def without_suppression(self) -> "StoredEvaluator":
        """Give an evaluator of the same nodes that lets no row be suppressed."""
        return StoredEvaluator(self.nodes, replace(self.requirement, limit=0), self.metric, self.counter.attributes)

    @property
    def cheap_subsets(self) -> bool:
        """They are not: a look at a subset takes tasks as long as one at all attributes."""
        return False

    def evaluate(self, node: Node) -> Evaluation:
        """Judge a node and, unless it is out, tell its loss."""
        sums = self._ask(node)
        if sums is None:
            return super().evaluate(node)
        if self.requirement.rules_out(sums.doomed):
            return Evaluation(node, False, False, sums.failing, np.inf, sums.floor_above, 0.0)
        passes = sums.failing <= self.requirement.limit
        return Evaluation(node, passes, True, sums.failing, sums.loss, sums.floor_above, sums.added_below)

    def viable(self, node: Node) -> bool:
        """Tell whether the node, or something below it, may pass."""
        sums = self._ask(node)
        return super().viable(node) if sums is None else not self.requirement.rules_out(sums.doomed)

    def _ask(self, node: Node) -> StoredNodeSums | None:
        """Have tasks look at a node; nothing where its tuples, or those of a node below it, are on the driver then."""
        if any(_is_below(held.node, node) for held in self._held):
            return None
        if node in self._answers:
            return self._answers[node]
        found = self.nodes.look(self.counter.attributes, node, self._room)
        if isinstance(found, StoredNodeSums):
            self._answers[node] = found
            return found
        self._held = [held for held in self._held if not _is_below(node, held.node)]
        self._held.append(found)
        while sum(len(held) for held in self._held) > self._room:
            del self._held[0]
        return None

    def frequencies(self, node: Node) -> FrequencySet:
        """Compute the frequency set at a node, from the smallest on the driver that is below it."""
        source = min((held for held in self._held if _is_below(held.node, node)), key=len)
        self._held = [held for held in self._held if held is not source] + [source]
        return source if source.node == node else self.counter.roll_up(source, node)

    def _undersized(self, grouped: Any) -> tuple[int, ...] | None:
        """Follow no class through the lattice: that would take all tuples at the bottom."""
        del grouped
        return None


def _is_below(low: Node, high: Node) -> bool:
    return all(one <= other for one, other in zip(low, high, strict=True))


def couple_margins(margins: Sequence[IntArray]) -> tuple[tuple[IntArray, ...], IntArray]:
    """Make lines in which each column by itself has these totals, int[values]; gives the codes, and the rows of each.

    There are no more lines than values. How columns go together in them means nothing.

    >>> codes, rows = couple_margins([np.array([2, 3]), np.array([4, 1])])
    >>> [column.tolist() for column in codes], rows.tolist()
    ([[0, 1, 1], [0, 0, 1]], [2, 2, 1])
    """
    ends = [np.cumsum(totals) for totals in margins]
    breaks = np.unique(np.concatenate([end[end > 0] for end in ends]))
    return tuple(np.searchsorted(end, breaks) for end in ends), np.diff(breaks, prepend=0)


def deal_values(
    labels: Sequence[Codes], rows: IntArray, lookups: Sequence[Codes], totals: Sequence[IntArray]
) -> tuple[IntArray, IntArray, tuple[IntArray, ...]]:
    """Deal the values of columns out to lines that have their labels, so that each value has its rows.

    labels: int[lines] for each column; rows: int[lines]. lookups: int[values] for each column, the label of each value;
    totals: int[values], the rows of each, which are as many for each label as those of the lines with it. Lines are
    divided where they get several values: gives int[parts], the line of each, its rows, and the values of each column.
    There are no more parts than lines and values together. How values go together in a class means nothing.

    >>> parts = deal_values([np.array([0, 1])], np.array([3, 1]), [np.array([0, 0, 1])], [np.array([1, 2, 1])])
    >>> parts[0].tolist(), parts[1].tolist(), parts[2][0].tolist()
    ([0, 0, 1], [1, 2, 1], [0, 1, 2])
    """
    start = np.cumsum(rows) - rows
    marks, dealt = [start], []
    for label, lookup, total in zip(labels, lookups, totals, strict=True):
        by_label, by_value = np.argsort(label, kind="stable"), np.argsort(lookup, kind="stable")
        line_ends, value_ends = np.cumsum(rows.take(by_label)), np.cumsum(total.take(by_value))
        ends = np.unique(np.concatenate([line_ends, value_ends[value_ends > 0]]))
        place = np.searchsorted(line_ends, ends)
        line = by_label.take(place)
        # where each piece begins, if the rows of the lines are written one after the other
        begin = start.take(line) + np.append(0, ends[:-1]) - (line_ends.take(place) - rows.take(line))
        order = np.argsort(begin)
        dealt.append((begin.take(order), by_value.take(np.searchsorted(value_ends, ends)).take(order)))
        marks.append(begin)
    mark = np.unique(np.concatenate(marks))
    values = tuple(value.take(np.searchsorted(begin, mark, side="right") - 1) for begin, value in dealt)
    line = np.searchsorted(start, mark, side="right") - 1
    return line, np.diff(mark, append=rows.sum()), values


def why_not_in_tasks(policy: Policy) -> str | None:
    """Say why a policy cannot be searched for in tasks; nothing where it can.

    >>> quasi = {"role": "quasi", "hierarchy": "suppress"}
    >>> rules = {"columns": {"sex": quasi}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    >>> why_not_in_tasks(Policy.read(rules | {"algorithm": {"name": "mondrian"}}))
    'mondrian holds them on the driver, and only samarati, incognito and optimal do without'
    """
    if policy.recoder not in FULL_DOMAIN:
        names = " and ".join([", ".join(FULL_DOMAIN[:-1]), FULL_DOMAIN[-1]])
        return f"{policy.recoder} holds them on the driver, and only {names} do without"
    reasons = {
        "persons are looked at all together": policy.individual is not None,
        "sampling weights are looked at row by row": policy.sampling_weight is not None,
        "earlier releases are joined on the driver": bool(policy.previous) or policy.linkage,
        f"a release of the form {policy.publish.form} is made on the driver": policy.publish.form != "generalized",
    }
    return next((why for why, there in reasons.items() if there), None)


class StoredSearch:
    """A full-domain search over stored keys, in place of `full_domain`; `counted` is there when it has found something.

    `skeleton` is the table that is searched, without its lines.
    """

    def __init__(self, engine: "Engine", values: CodedValues, stored: StoredKeys, policy: Policy) -> None:
        self.engine, self.values, self.stored, self.policy = engine, values, stored, policy
        self.counted: CountedTable | None = None
        names = [column.name for column in stored.coder.columns]
        found = engine.column_values()
        self.totals = {
            name: count_codes(values.columns[name].codes, values.columns[name].width, found[name].counts)
            for name in names
        }
        codes, rows = couple_margins([self.totals[name] for name in names])
        self.skeleton = self._assemble(dict(zip(names, codes, strict=True)), rows)

    def __call__(
        self, permitted: EncodedTable, policy: Policy, name: str, progress: Progress | None
    ) -> Recoding | None:
        """Find a node, count lines at it, and recode these."""
        check_size([attribute.hierarchy.height for attribute in permitted.quasi])
        requirement, metric = search_rules(permitted, policy)
        judge = NodeJudge(FrequencyCounter(permitted), requirement, metric)
        nodes = StoredNodes(self.stored, permitted, [_least_codes(one) for one in self.skeleton.quasi], judge)
        try:
            best = search_nodes(StoredEvaluator(nodes, requirement, metric), name, progress)
            if best is not None:
                self.counted = self._count(nodes, best.node, requirement)
        finally:
            self.stored.remove()
        nodes.close()  # not where it went wrong: a cluster that is gone would not answer
        if best is None or self.counted is None:
            return None
        coarse = self.counted.encoded.permitted
        return apply_node(coarse, Evaluator(coarse, requirement, metric), best.node, name)

    @property
    def result(self) -> CountedTable:
        """The counted table that was recoded."""
        assert self.counted is not None  # noqa: S101 - asked for when there is a recoding; this tells the type checker
        return self.counted

    def _count(self, nodes: StoredNodes, node: Node, requirement: Requirement) -> CountedTable:
        """Make a counted table of lines at a node, in which each column by itself is as it came in."""
        quasi = nodes.permitted.names
        lines, rows = nodes.count_lines(node)
        failing = _failing_labels(nodes, node, lines, rows, requirement)
        widths = [len(one.hierarchy.labels[level]) for one, level in zip(nodes.permitted.quasi, node, strict=True)]
        gone = match_tuples([lines[name] for name in quasi], failing, widths)
        suppressed = nodes.count_suppressed(node, failing)
        published = [self.totals[name] - gone_of for name, gone_of in zip(quasi, suppressed, strict=True)]
        lookups = [nodes.label_lookup(i, level) for i, level in enumerate(node)]
        parts: list[tuple[dict[str, Codes], IntArray]] = []
        for chosen, totals in ((~gone, published), (gone, suppressed)):
            if not chosen.any():
                continue
            place = np.flatnonzero(chosen)
            line, amounts, values = deal_values(
                [lines[name].take(place) for name in quasi], rows.take(place), lookups, totals
            )
            taken = {name: column.take(place.take(line)) for name, column in lines.items()}
            parts.append((taken | dict(zip(quasi, values, strict=True)), amounts))
        names = order_counted_columns(self.policy, self.engine.schema.names)
        columns = [
            narrow_codes(np.concatenate([part[name] for part, _ in parts]), self.values.columns[name].width)
            for name in names
        ]
        amounts = np.concatenate([amounts for _, amounts in parts])
        codes, amounts = _add_up(columns, [self.values.columns[name].width for name in names], amounts)
        coded = dict(zip(names, codes, strict=True))
        encoded = replace(self._assemble(coded, amounts), coarse=True)
        return CountedTable(self.engine, self.stored.coder, np.arange(len(amounts)), amounts, coded, encoded)

    def _assemble(self, codes: Mapping[str, Codes], rows: IntArray) -> EncodedTable:
        coded = {
            name: CodedColumn(name, narrow_codes(code, one.width), one.texts, one.values)
            for name, code in codes.items()
            for one in (self.values.columns[name],)
        }
        return assemble(self.engine.rows, coded, {}, rows, self.policy, self.engine.schema.names)


def _least_codes(attribute: Any) -> Codes:
    """What each value of an attribute is at the lowest level that may be published: int[values]."""
    width = attribute.column.width
    if not attribute.least:
        return narrow_codes(np.arange(width), width)
    tree, place = attribute.hierarchy.upward(attribute.least)
    return narrow_codes(place, len(tree.labels[0]))


def _failing_labels(
    nodes: StoredNodes, node: Node, lines: Mapping[str, Codes], rows: IntArray, requirement: Requirement
) -> list[IntArray]:
    """The labels of the classes that fail at a node, an array for each quasi-identifier."""
    permitted = nodes.permitted
    labels = [len(one.hierarchy.labels[level]) for one, level in zip(permitted.quasi, node, strict=True)]
    widths = (*labels, *(len(domain.values) for domain in permitted.domains.values()))
    columns = [lines[name] for name in (*permitted.names, *permitted.domains)]
    frequencies = nodes.judge.frequencies(node, *_add_up(columns, widths, rows), widths)
    grouped = nodes.judge.counter.group(frequencies)
    return grouped.labels(~requirement.holds(grouped.classes))[: len(node)]
