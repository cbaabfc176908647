"""Local recoding in parts: a coarse Mondrian cut, each part recoded by itself, the parts united and settled.

What an improvement finds, it finds among rows that are near each other, and so a table of a million rows can be divided
first. `divide` cuts by Mondrian into groups that satisfy the whole requirement and have at least rows / 2n rows, for n
parts: each is a problem whose start passes, like any other. What is known of the whole table stays so in each part: its
distributions (t-closeness), its frequencies and the weights of a metric. Rows that may be suppressed are shared out by
rows, rounded down, and so never more in all.

A `PartRecoder` and its `Part` are plain values that can be pickled, and hold codes and counts alone: no row of the
table, no column that is published as it is, no name of a person. Here they go to worker processes; whoever has a
cluster gives another `PartRunner`, and each part is a task. The number of parts depends on the table and the policy and
not on who works, and the parts are united in their order: the same input gives the same result however many processes
there are, in whatever order they end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Codes, IntArray, narrow_codes
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.core.deadline import Deadline, is_over
from sfumato.core.keys import PackedTuples
from sfumato.core.segments import Segments
from sfumato.core.worker_processes import WorkerProcesses, count_processes
from sfumato.encode import CodedColumn, DistinctTuples, EncodedTable, QuasiIdentifier
from sfumato.models import KAnonymity
from sfumato.recode.local.axes import AttributeAxis
from sfumato.recode.local.candidates import Candidate, Effort, find_candidates
from sfumato.recode.local.mondrian import mondrian
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import BundleValues, Problem
from sfumato.recode.local.settle import settle
from sfumato.recode.recoding import Progress

_TUPLES = 50_000
"""Different tuples of a part, about: parts of half as many lose more, and of twice as many do not look at all of it."""


@dataclass(frozen=True, eq=False)
class Part:
    """The tuples of one part, as codes: what a process or a task is given.

    With n tuples: `quasi` and `others` [n] as in `DistinctTuples`, `counts` int[n] the rows of each that take part.
    Where there are persons, they are numbered anew from 0, and `person_totals` are the rows that each has in the whole
    table. `values` are the sensitive values of bundles, by column: the line of the bundle, the value, and the rows.
    `limit` is how many rows may be suppressed, and `effort` what the improvement may look at.
    """

    quasi: tuple[Codes, ...]
    others: Mapping[str, Codes]
    counts: IntArray
    person_totals: IntArray | None
    values: Mapping[str, tuple[IntArray, IntArray, IntArray]]
    limit: int
    effort: Effort


@dataclass(frozen=True, eq=False)
class PartRecoder:
    """What is the same for all parts: the problem without its tuples, and the algorithms to try. Called on a part."""

    problem: Problem
    names: tuple[str, ...]
    deadline: Deadline | None = None

    @classmethod
    def from_problem(cls, problem: Problem, names: Sequence[str], progress: Progress | None = None) -> "PartRecoder":
        """Leave out of a problem all that grows with the table."""
        encoded = problem.encoded
        bare = {attribute.name: _without_rows(attribute) for attribute in encoded.quasi}
        person = encoded.individual
        tuples = DistinctTuples((), {}, _NONE, PackedTuples(_NONE, 1, ()))
        empty = EncodedTable(
            rows=0,
            quasi=tuple(bare.values()),
            sensitive={},
            individual=None if person is None else CodedColumn(person.name, _NONE, (), None),
            domains={name: domain for name, domain in encoded.domains.items() if person is None or name != person.name},
            tuples=tuples,
            plain={},
        )
        axes = tuple(_rebased(axis, bare[axis.name]) for axis in problem.axes)
        start = Partition.one_group(_NONE)
        posed = replace(problem, encoded=empty, source=empty, axes=axes, start=start, bundle_values={})
        deadline = progress.showing(None) if isinstance(progress, Deadline) else None
        return cls(posed, tuple(name for name in names if name != "optimal"), deadline)

    def __call__(self, part: Part) -> Candidate:
        """Recode a part: the best classes, whose tuples are numbered as they are in the part."""
        return find_candidates(self._pose(part), self.names, part.effort, clustering="", progress=self.deadline)[0]

    def _pose(self, part: Part) -> Problem:
        """Make the problem of a part."""
        whole = self.problem.encoded
        domains, person = dict(whole.domains), whole.individual
        if person is not None and part.person_totals is not None:
            names = ("",) * len(part.person_totals)
            domains[person.name] = SensitiveDomain(names, part.person_totals)
            person = replace(person, texts=names)
        tuples = replace(whole.tuples, quasi=part.quasi, others=part.others, counts=part.counts)
        rows = int(part.counts.sum())
        encoded = replace(whole, rows=rows, individual=person, domains=domains, tuples=tuples)
        values = {
            name: BundleValues(Histogram(line, value, count, domains[name]), len(part.counts))
            for name, (line, value, count) in part.values.items()
        }
        return replace(
            self.problem,
            encoded=encoded,
            source=encoded,
            requirement=replace(self.problem.requirement, limit=part.limit),
            start=Partition.one_group(part.counts),
            bundle_values=values,
        )


PartRunner = Callable[[PartRecoder, Sequence[Part], Callable[[int], None]], list[Candidate]]
"""What recodes parts, wherever that is: gives their results in order, and calls the third with the place of each."""


def recode_in_parts(
    problem: Problem,
    names: Sequence[str],
    effort: Effort | None,
    progress: Progress | None = None,
    run: PartRunner | None = None,
    *,
    size: int | None = None,
) -> Candidate | None:
    """Recode a table in parts of about `size` tuples; nothing where it stays in one piece.

    It does where it has too few tuples or cannot be cut. And where it is not to be improved: an algorithm alone takes a
    second or two for a million rows, no longer than parts would, and these would lose more. And where `linked_k` asks
    for persons who share all their classes: parts know nothing of a person's other rows, and gathering persons in the
    united table cost a quarter more than it did in one piece.
    """
    count = len(problem.counts) // (size or _TUPLES)
    if effort is None or count < 2 or problem.start.groups != 1 or problem.requirement.linked > 1:
        return None
    if run is not None:
        return _recode(problem, names, effort, progress, run, count)
    # Started first: they import what they need while the table is cut.
    with WorkerProcesses[Part, Candidate](count_processes(count), __name__) as workers:
        return _recode(problem, names, effort, progress, workers.apply, count)


def _recode(
    problem: Problem,
    names: Sequence[str],
    effort: Effort,
    progress: Progress | None,
    run: PartRunner,
    count: int,
) -> Candidate | None:
    pieces = divide(problem, count)
    if len(pieces) < 2:
        return None
    parts, done, rows = list(_make_parts(problem, pieces, effort)), 0, int(problem.start.sizes.sum())

    def report(place: int) -> None:
        nonlocal done
        done += int(pieces[place].rows.sum())
        if progress is not None:
            progress(done, rows)

    found = run(PartRecoder.from_problem(problem, names, progress), parts, report)
    is_over(progress)  # what ended in other processes is known to this one as well
    return _unite(problem, pieces, found)


def divide(problem: Problem, count: int) -> list[Partition]:
    """Cut the rows of the start into about so many parts, each of which satisfies the requirement; the largest first.

    Each has at least rows / 2n rows, for n parts; and one that has twice as many is cut again where it can be.
    """
    least = max(int(problem.start.sizes.sum()) // (2 * count), 1)
    models = (*problem.requirement.models, KAnonymity(least))
    coarse = mondrian(replace(problem, requirement=replace(problem.requirement, models=models))).published
    ordered = coarse.select(np.lexsort([coarse.tuples, coarse.group]))
    runs = Segments.from_sorted(ordered.group)
    pieces = [
        Partition.one_group(ordered.rows[lines]).relabel(ordered.tuples[lines])
        for lines in (slice(start, start + length) for start, length in zip(runs.starts, runs.lengths, strict=True))
    ]
    return sorted(pieces, key=len, reverse=True)


def _make_parts(problem: Problem, pieces: Sequence[Partition], effort: Effort) -> Iterator[Part]:
    """Take the tuples of each piece, and share out what may be suppressed and looked at, rounded down."""
    encoded, start = problem.encoded, problem.start
    rows, tuples = int(start.sizes.sum()), sum(map(len, pieces))
    limit = problem.requirement.limit - int(start.suppressed.rows.sum())
    person = encoded.individual
    for piece in pieces:
        others = {name: codes.take(piece.tuples) for name, codes in encoded.tuples.others.items()}
        totals = None
        if person is not None:
            persons, number = np.unique(others[person.name], return_inverse=True)
            others[person.name] = narrow_codes(number, len(persons))
            totals = encoded.domains[person.name].totals.take(persons)
        yield Part(
            quasi=tuple(codes.take(piece.tuples) for codes in encoded.tuples.quasi),
            others=others,
            counts=piece.rows,
            person_totals=totals,
            values={name: values.list_values(piece.tuples) for name, values in problem.bundle_values.items()},
            limit=max(limit, 0) * int(piece.rows.sum()) // rows,
            effort=effort.share(len(piece), tuples),
        )


def _unite(problem: Problem, pieces: Sequence[Partition], found: Sequence[Candidate]) -> Candidate:
    """Stack the classes of all parts, and settle them: those with equal labels become one, and all pass.

    The algorithm is the one by which most rows were recoded.
    """
    stacked = [candidate.partition.relabel(piece.tuples) for piece, candidate in zip(pieces, found, strict=True)]
    settled = settle(problem, Partition.concatenate([*stacked, problem.start.suppressed]))
    rows: dict[str, int] = {}
    for piece, candidate in zip(pieces, found, strict=True):
        rows[candidate.algorithm] = rows.get(candidate.algorithm, 0) + int(piece.rows.sum())
    return Candidate(max(rows, key=rows.__getitem__), settled, any(candidate.improved for candidate in found))


_NONE: IntArray = np.zeros(0, dtype=np.int64)


def _without_rows(attribute: QuasiIdentifier) -> QuasiIdentifier:
    """Leave out the code of each row and the values as they were; axes know the frequencies that they need."""
    return replace(attribute, column=CodedColumn(attribute.name, _NONE, attribute.column.texts, None))


def _rebased(axis: AttributeAxis, attribute: QuasiIdentifier) -> AttributeAxis:
    """Make the same axis on an attribute without rows."""
    bare = copy(axis)
    bare.attribute = attribute
    return bare
