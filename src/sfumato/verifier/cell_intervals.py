"""Cross-tables: between which bounds each suppressed cell can be, worked out from the published table.

From the public file alone: its cells are all there, they add up wherever a sum and all its parts are published, and
linear programs find the lowest and the highest value that each suppressed cell can have, where amounts are at least 0
and suppressed counts at least 1 (empty cells are published). No suppressed cell may be bounded within p %.

With the evidence, which stays with the data holder (the true value of each cell, its contributors and their largest
amounts): what is published is true, every cell that the rules call primary is suppressed, the interval of each primary
cell reaches as far as the rules ask on both sides, that of each other cell on one, and a contributor who is alone in a
cell, and so knows it, finds no other primary cell in a narrower interval.

For counts, linear programs allow fractions: in tables with two sides of which at most one is nested their bounds are
whole numbers anyway, in others the bounds for whole numbers may be narrower.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import ceil, floor, inf
from pathlib import Path
from typing import Any, cast

import numpy as np

from sfumato.errors import InputError, NotVerified, quote
from sfumato.verifier.duckdb_tables import CsvDialect, open_view
from sfumato.verifier.release_files import CHANGED, JsonObject, plain_file, table_path
from sfumato.verifier.sql import connect
from sfumato.verifier.verdict import Finding, Verdict

CELL_FORM = "cross-table"
"""The form of a release that is a cross-table."""
CELL_EVIDENCE = "cells.parquet"
"""Private: of each published cell, in the order of the file, what it holds and whose it is."""
CELL_MODEL = "cell-suppression"
_TOLERANCE = 1e-6
"""By how much, of what is asked, an interval of floating numbers may be too narrow."""
_PRIVATE_PART = (
    "which cells had to be suppressed, and how far they are from their bounds, is checked with the private part of the "
    "release, which is not here"
)
_MOST_LISTED = 3
_TOGETHER = 16
"""Linear programs that are solved by one call."""
_UNLIMITED = 1e9
"""In the units of a linear program: what can be half as much can be any amount."""

Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class CellStatement:
    """What a manifest says of a cross-table: its columns, its words for totals and suppressed cells, and its rules."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    marginals: str
    value: str
    counted: bool
    decimals: int
    total: str
    suppressed: str
    min_count: int
    p: float
    dominance: tuple[int, float] | None
    individual: bool

    @classmethod
    def from_manifest(cls, manifest: JsonObject) -> "CellStatement":
        """Read a manifest; whatever is not as it should be is refused.

        >>> CellStatement.from_manifest({"rows": "region"})
        Traceback (most recent call last):
        sfumato.errors.NotVerified: manifest.json does not say properly what the cross-table is: it was changed after
        publication, or is of another version
        """
        try:
            rules, dominance = manifest["rules"], manifest["rules"]["dominance"]
            names = [*manifest["rows"], *manifest["columns"], manifest["value"]]
            statement = cls(
                tuple(manifest["rows"]),
                tuple(manifest["columns"]),
                manifest["marginals"],
                manifest["value"],
                {"count": True, "sum": False}[manifest["measure"]],
                manifest["decimals"],
                manifest["total"],
                manifest["suppressed"],
                rules["min_count"],
                rules["p"],
                None if dominance is None else (dominance[0], dominance[1]),
                manifest["individual"],
            )
            told: dict[str, Any] = vars(statement)
            sound = all(isinstance(name, str) for name in (*names, told["total"], told["suppressed"]))
            sound = sound and len(set(names)) == len(names) and told["marginals"] in {"nested", "all"}
            numbers = [told["p"], *(told["dominance"] or ())]
            sound = sound and all(isinstance(one, int | float) and one > 0 for one in numbers) and told["p"] < 100
            sound = sound and isinstance(told["min_count"], int) and told["min_count"] >= 1
            sound = sound and isinstance(told["decimals"], int) and 0 <= told["decimals"] < 400
            sound = sound and isinstance(told["individual"], bool) and told["total"] != told["suppressed"]
        except (KeyError, TypeError, IndexError, ValueError):
            sound = False
        if not sound:
            raise NotVerified(f"manifest.json does not say properly what the cross-table is: {CHANGED}")
        return statement

    @property
    def names(self) -> tuple[str, ...]:
        """The columns whose values label cells."""
        return (*self.rows, *self.columns)

    @property
    def required(self) -> dict[str, Any]:
        """What is promised, as findings state it."""
        asked: dict[str, Any] = {"p": self.p, "min_count": self.min_count}
        return asked | ({} if self.dominance is None else {"dominance": list(self.dominance)})

    def patterns(self) -> list[frozenset[int]]:
        """The columns that the cells of each kind tell apart: the innermost ones all, a grand total none."""
        if self.marginals == "all":
            every = range(len(self.names))
            return [frozenset(i for i in every if bits >> i & 1) for bits in range(1 << len(self.names))]
        first, second = range(len(self.rows)), range(len(self.rows), len(self.names))
        return [frozenset([*first[:i], *second[:j]]) for i in range(len(first) + 1) for j in range(len(second) + 1)]


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """The lines of a published table: the labels of each, and its value in steps, which is None if it is suppressed."""

    labels: tuple[Labels, ...]
    values: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class CellEvidence:
    """Private, of each line: its true value, its contributors, their largest amounts, who is alone in it (or -1)."""

    values: Sequence[int]
    contributors: Sequence[int]
    largest: Sequence[Sequence[int]]
    sole: Sequence[int]

    @classmethod
    def from_arrow(cls, table: Any, lines: int) -> "CellEvidence":
        """Read it from an Arrow table."""
        names = ("value", "contributors", "largest", "sole")
        if table.num_rows != lines or not set(names) <= set(table.column_names):
            raise NotVerified(f"{CELL_EVIDENCE} does not describe the cells of the table: {CHANGED}")
        return cls(*(table.column(name).to_pylist() for name in names))


def read_published_cells(path: Path, null: str, statement: CellStatement) -> PublishedCells:
    """Read the public file."""
    with closing(connect([path.resolve()], in_order=True)) as connection:
        view = open_view(connection, "published", path.resolve(), CsvDialect((null,)))
        if view.columns != (*statement.names, statement.value):
            raise NotVerified(f"{path.name} has not the columns that the manifest names: {CHANGED}")
        cells = ", ".join(view.text_sql(f"c{i}") for i in range(len(view.columns)))
        view.read(f"CREATE TABLE lines AS SELECT {cells} FROM published")
        lines = connection.execute("SELECT * FROM lines").fetchall()
    return published_cells(lines, statement)


def published_cells(lines: Sequence[Sequence[str | None]], statement: CellStatement) -> PublishedCells:
    """Read the lines of a table, each the labels of a cell and its value, in text."""
    form = r"\d+" if not statement.decimals else rf"\d+\.\d{{{statement.decimals}}}"
    values: list[int | None] = []
    for line in lines:
        text = line[-1]
        if text == statement.suppressed:
            values.append(None)
        elif text is not None and len(text) < 400 and re.fullmatch(form, text, re.ASCII):
            values.append(int(text.replace(".", "")))
        else:
            raise NotVerified(f"the value of a cell is {quote(text)}, and neither an amount nor suppressed: {CHANGED}")
    return PublishedCells(tuple(tuple(line[:-1]) for line in lines), tuple(values))


def check_cell_files(public: Path, manifest: JsonObject) -> tuple[Verdict, list[tuple[float, float]]]:
    """Check the cross-table of a public folder, with the evidence of the private part where that is beside it."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - the verifier starts without it where it can
    from pyarrow import ArrowException  # noqa: PLC0415 - same

    statement = CellStatement.from_manifest(manifest)
    path = table_path(public, manifest["table"])
    if path.suffix != ".csv":
        raise NotVerified(f"{path.name} is no cross-table that this version can verify; it reads CSV")
    cells = read_published_cells(path, manifest.get("csv", {}).get("null", ""), statement)
    private = public.resolve().parent / "private"
    evidence = None
    if (private / CELL_EVIDENCE).exists():
        try:
            table = pq.read_table(plain_file(private, CELL_EVIDENCE), partitioning=None)
        except (ArrowException, OSError):
            raise NotVerified(f"{CELL_EVIDENCE} cannot be read: it is damaged, or no Parquet file") from None
        evidence = CellEvidence.from_arrow(table, len(cells.values))
    return check_cells(cells, statement, evidence)


def refuse_other_questions(asked: object, previous: object, bases: object) -> None:
    """Refuse what can be asked of other releases, and not of a cross-table."""
    if asked is not None or previous or bases:
        raise InputError(
            "a cross-table is checked by the rules in its own manifest; leave the policy and other releases out"
        )


def check_cells(
    cells: PublishedCells, statement: CellStatement, evidence: CellEvidence | None
) -> tuple[Verdict, list[tuple[float, float]]]:
    """Check a published table, and with the evidence all that was promised; return the intervals of suppressed cells.

    Intervals are in steps, in the order of the suppressed lines.
    """
    problems = _line_problems(cells, statement)
    if problems:
        return _verdict(cells, statement, (), problems), []
    sums = _find_sums(cells, statement.total)
    problems = _sum_problems(cells, sums, statement)
    if problems:
        return _verdict(cells, statement, (), problems), []
    attacker = _Attacker(cells, sums, 1.0 if statement.counted else 0.0)
    intervals = attacker.intervals()
    if any(low > high for low, high in intervals):
        return _verdict(cells, statement, (), ["no amounts fit what is published: some cell is not true"]), intervals
    share = statement.p / 100
    failures = [
        f"the suppressed cell {_name(cells.labels[line], statement)} can be bounded within {statement.p:g} %"
        for line, (low, high) in zip(attacker.lines, intervals, strict=True)
        if high < low * (1 + share) * (1 - _TOLERANCE) or (statement.counted and high <= low + _TOLERANCE)
    ]
    notes: tuple[str, ...] = ()
    achieved: dict[str, Any] = {"suppressed": len(intervals)}
    if evidence is None:
        notes = (_PRIVATE_PART,)
    else:
        truth = _Truth(cells, statement, evidence)
        problems += truth.problems
        if not problems:
            failures += truth.failures(attacker, intervals)
            least = truth.least_share(attacker, intervals)
            achieved |= {} if least is None else {"p": floor(1e4 * min(least, 10.0)) / 100}
    finding = Finding(CELL_MODEL, statement.required, achieved, not failures, tuple(_some(failures)))
    verdict = _verdict(cells, statement, (finding,), problems)
    return Verdict(verdict.rows, verdict.classes, verdict.privacy, verdict.problems, notes=notes), intervals


def _verdict(
    cells: PublishedCells, statement: CellStatement, privacy: tuple[Finding, ...], problems: Sequence[str]
) -> Verdict:
    found = privacy or (Finding(CELL_MODEL, statement.required, {}, satisfied=False),)
    return Verdict(len(cells.values), sum(value is None for value in cells.values), found, tuple(_some(problems)))


def _some(sentences: Sequence[str]) -> list[str]:
    more = len(sentences) - _MOST_LISTED
    return [*sentences[:_MOST_LISTED], *([f"and so on: {more:,} more like these"] if more > 0 else [])]


def _name(labels: Labels, statement: CellStatement) -> str:
    return ", ".join(
        f"{name} = {'NULL' if label is None else label}" for name, label in zip(statement.names, labels, strict=True)
    )


# The published table by itself


def _line_problems(cells: PublishedCells, statement: CellStatement) -> list[str]:
    """Say whether cells are missing, stand twice, or have a total where there is none."""
    if len(set(cells.labels)) < len(cells.labels):
        return [f"a cell stands twice in the table: {CHANGED}"]
    values: list[set[str | None]] = [{line[i] for line in cells.labels} for i in range(len(statement.names))]
    for one in values:
        one.discard(statement.total)
    expected = 0
    for pattern in statement.patterns():
        size = 1
        for place in pattern:
            size *= len(values[place])
        expected += size
    patterns = set(statement.patterns())
    for labels in cells.labels:
        if frozenset(i for i, label in enumerate(labels) if label != statement.total) not in patterns:
            return [f"the cell {_name(labels, statement)} is none of the marginals that the table has: {CHANGED}"]
    if len(cells.labels) != expected:
        return [f"the table has {len(cells.labels):,} cells where {expected:,} belong to it: {CHANGED}"]
    return []


def _find_sums(cells: PublishedCells, total: str) -> list[tuple[int, list[int]]]:
    """List every total with its parts, as lines: in one column a total, in all others alike."""
    line_of = {labels: line for line, labels in enumerate(cells.labels)}
    parts: dict[tuple[int, int], list[int]] = defaultdict(list)
    for line, labels in enumerate(cells.labels):
        for place, label in enumerate(labels):
            if label != total:
                above = line_of.get((*labels[:place], total, *labels[place + 1 :]))
                if above is not None:
                    parts[place, above].append(line)
    return [(above, lines) for (_, above), lines in parts.items()]


def _sum_problems(cells: PublishedCells, sums: Sequence[tuple[int, list[int]]], statement: CellStatement) -> list[str]:
    """Name published totals that are not the sum of their parts, where all of them are published."""
    wrong = []
    for above, parts in sums:
        total, values = cells.values[above], [cells.values[part] for part in parts]
        known = [value for value in values if value is not None]
        if total is not None and len(known) == len(values) and sum(known) != total:
            wrong.append(f"the parts of {_name(cells.labels[above], statement)} do not add up to it")
    return wrong


class _Attacker:
    """Whoever sees the table: suppressed cells as variables, what is published as equations.

    Cells that no equation ties together are looked at apart.
    """

    def __init__(self, cells: PublishedCells, sums: Sequence[tuple[int, list[int]]], least: float) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - heavy
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - same

        self.least = least
        self.lines = [line for line, value in enumerate(cells.values) if value is None]
        self.place = {line: place for place, line in enumerate(self.lines)}
        entries: list[tuple[int, int, float]] = []
        rest: list[float] = []
        for above, parts in sums:
            signed = [*((part, 1.0) for part in parts), (above, -1.0)]
            open_cells = [(self.place[line], sign) for line, sign in signed if line in self.place]
            if open_cells:
                entries += [(len(rest), place, sign) for place, sign in open_cells]
                # whole numbers, so that this is exact
                rest.append(float(-sum(int(sign) * (cells.values[line] or 0) for line, sign in signed)))
        row, column, data = zip(*entries, strict=True) if entries else ((), (), ())
        shape = (len(rest), len(self.lines))
        self.matrix = csr_array((np.array(data, dtype=np.float64), (row, column)), shape=shape)
        self.rest = np.array(rest)
        number, part_of = connected_components(abs(self.matrix).T @ abs(self.matrix), directed=False)
        self.part_of = part_of
        equation_part = [int(part_of[self.matrix.indices[self.matrix.indptr[i]]]) for i in range(len(rest))]
        self.parts = [np.flatnonzero(part_of == part) for part in range(number)]
        self.equations = [
            np.array([i for i, part in enumerate(equation_part) if part == one], dtype=np.int64)
            for one in range(number)
        ]
        self.blocks = [self.matrix[self.equations[i]][:, self.parts[i]] for i in range(number)]
        self._tied: dict[int, _Ties | None] = {}

    def intervals(self) -> list[tuple[float, float]]:
        """The lowest and the highest value of each suppressed cell; (inf, -inf) where nothing fits."""
        found: list[tuple[float, float]] = [(self.least, inf)] * len(self.lines)
        for part, equations, block in zip(self.parts, self.equations, self.blocks, strict=True):
            if not len(equations):
                continue
            rest = self.rest[equations]
            scale = max(1.0, float(np.abs(rest).max()) / 1e6)
            solved = _Extremes(block, rest / scale, self.least / scale).find()
            for own, place in enumerate(part.tolist()):
                if solved is None:
                    found[place] = (inf, -inf)
                else:
                    lowest, highest = float(solved[0][own]), float(solved[1][own])
                    found[place] = (lowest * scale, inf if highest > _UNLIMITED / 2 else highest * scale)
        return found

    def route(self, asked: "_Move", room: Mapping[int, float]) -> dict[int, float] | None:
        """Find lines that move by the same step in turn, so that all sums stay; None where none is found so.

        In a table with two sides a cell stands in two equations at most, and moves are a path from one of them to the
        other, or to cells that stand in one alone: the shortest is found, breadth first. What is found is checked by
        the equations, so that nothing rests on how it was found.
        """
        part = int(self.part_of[self.place[asked.line]])
        members, ties = self.parts[part], self._ties(part)
        if ties is None or not len(self.equations[part]):
            return None
        own = int(np.searchsorted(members, self.place[asked.line]))
        step, fixed = abs(asked.step), {self.place[line] for line in asked.fixed}
        open_down = [room[self.lines[place]] >= step and place not in fixed for place in members.tolist()]
        open_up = [place not in fixed for place in members.tolist()]
        open_down[own] = open_up[own] = False
        sign = 1 if asked.step > 0 else -1
        ends = [(equation, sign * factor) for equation, factor in ties.of_cell[own]]
        moved = {own: sign}
        goal = (ends[1][0], -ends[1][1]) if len(ends) == 2 else None
        first = ties.path(ends[0], goal, open_up, open_down)
        if first is None:
            return None
        moved |= first[0]
        if goal is not None and first[1]:  # it ended outside, and so has to end the other side
            second = ties.path(ends[1], None, open_up, open_down)
            if second is None or not second[0].keys().isdisjoint(moved):
                return None
            moved |= second[0]
        by = np.zeros(len(members))
        by[list(moved)] = list(moved.values())
        if np.any(cast("Any", self.blocks[part]) @ by):
            return None
        return {self.lines[int(members[place])]: move * step for place, move in moved.items()}

    def _ties(self, part: int) -> "_Ties | None":
        if part not in self._tied:
            self._tied[part] = _Ties.of(self.blocks[part])
        return self._tied[part]

    def moves(self, asked: Sequence["_Move"], room: Mapping[int, float]) -> list[dict[int, float] | None]:
        """For each question find lines that move, few if it can be, and by how much; None where one cannot so far.

        Each may move down by its `room`. Programs are in units of the step.
        """
        from scipy.sparse import hstack  # noqa: PLC0415 - heavy

        found: list[dict[int, float] | None] = [{one.line: one.step} for one in asked]
        for part, (members, block) in enumerate(zip(self.parts, self.blocks, strict=True)):
            here = [i for i, one in enumerate(asked) if self.part_of[self.place[one.line]] == part]
            if not here or not len(self.equations[part]):
                continue
            lines = [self.lines[place] for place in members.tolist()]
            at = {line: own for own, line in enumerate(lines)}
            number = len(lines)
            low, high = np.zeros((len(here), 2 * number)), np.full((len(here), 2 * number), _UNLIMITED)
            spaces = np.array([room[line] for line in lines])
            for row, i in enumerate(here):
                one = asked[i]
                down = slice(number, None) if one.step > 0 else slice(number)
                high[row, down] = np.minimum(spaces / abs(one.step), _UNLIMITED)
                fixed = [at[line] for line in one.fixed if line in at]
                high[row, fixed] = high[row, [own + number for own in fixed]] = 0.0
                own = at[one.line]
                low[row, own], high[row, own], high[row, own + number] = 1.0, 1.0, 0.0
            both = hstack([block, -block]).tocsr()
            solved = _solve_together(both, np.zeros(both.shape[0]), np.ones(low.shape), low, high)
            for i, moved in zip(here, solved, strict=True):
                if moved is None:
                    found[i] = None
                else:
                    by = (moved[:number] - moved[number:]) * asked[i].step
                    some = np.flatnonzero(np.abs(by) > 1e-9 * abs(asked[i].step)).tolist()
                    found[i] = {lines[own]: float(by[own]) for own in some}
        return found


@dataclass(frozen=True)
class _Move:
    """The question whether the cell of a line can move by a step while the cells of the `fixed` lines stay."""

    line: int
    step: float
    fixed: tuple[int, ...] = ()


class _SeenMoves:
    """Sets of moves that were found: one that moves a line further than asked answers that question as well."""

    def __init__(self, attacker: _Attacker, room: Mapping[int, float]) -> None:
        self.attacker, self.room = attacker, room
        self.moved: dict[tuple[int, bool], list[tuple[float, set[int]]]] = defaultdict(list)

    def ask(self, questions: Sequence[_Move]) -> None:
        """Answer questions that no set of moves answers yet, some at a time."""
        waiting = list(reversed(questions))
        while waiting:
            some: list[_Move] = []
            while waiting and len(some) < _TOGETHER:
                question = waiting.pop()
                if self.find(question) is not None:
                    continue
                moved = self.attacker.route(question, self.room)
                if moved is None:
                    some.append(question)
                    continue
                for line, by in moved.items():
                    self.moved[line, by > 0].append((abs(by), set(moved)))
            for found in self.attacker.moves(some, self.room):
                for line, by in (found or {}).items():
                    self.moved[line, by > 0].append((abs(by), set(found or ())))

    def find(self, question: _Move) -> set[int] | None:
        """The lines of a set of moves that answers a question, the last that was found; None where there is none."""
        for by, lines in reversed(self.moved[question.line, question.step > 0]):
            if by >= abs(question.step) * (1 - 1e-9) and lines.isdisjoint(question.fixed):
                return lines
        return None


@dataclass(frozen=True, eq=False)
class _Ties:
    """Which cells stand in which equations with which sign, where no cell stands in more than two."""

    of_cell: list[list[tuple[int, int]]]
    of_equation: list[list[tuple[int, int]]]

    @classmethod
    def of(cls, block: Any) -> "_Ties | None":
        """Read it from equations x cells; None where a cell stands in three, or counts other than once."""
        by_cell: list[list[tuple[int, int]]] = [[] for _ in range(block.shape[1])]
        by_equation: list[list[tuple[int, int]]] = []
        for equation in range(block.shape[0]):
            here = slice(block.indptr[equation], block.indptr[equation + 1])
            cells, factors = block.indices[here].tolist(), block.data[here].astype(int).tolist()
            by_equation.append(list(zip(cells, factors, strict=True)))
            for cell, factor in by_equation[-1]:
                by_cell[cell].append((equation, factor))
        sound = all(len(one) <= 2 for one in by_cell) and (np.abs(block.data) == 1).all()
        return cls(by_cell, by_equation) if sound else None

    def path(
        self, start: tuple[int, int], goal: tuple[int, int] | None, up: Sequence[bool], down: Sequence[bool]
    ) -> tuple[dict[int, int], bool] | None:
        """Find cells that make up for an equation's imbalance, +1 or -1, and where the last leaves none but the goal.

        Gives the move of each cell, and whether it ended in a cell of one equation alone; None where there is no path.
        """
        came: dict[tuple[int, int], tuple[tuple[int, int], int, int] | None] = {start: None}
        waiting, at = [start], 0
        while at < len(waiting):
            state = waiting[at]
            at += 1
            for cell, factor in self.of_equation[state[0]]:
                move = -state[1] * factor
                if not (up[cell] if move > 0 else down[cell]):
                    continue
                ties = self.of_cell[cell]
                other = next((one for one in ties if one[0] != state[0]), None)
                after = None if other is None else (other[0], other[1] * move)
                if after is None or after == goal:
                    return self._trace(came, state, {cell: move}), after is None
                if after not in came:
                    came[after] = (state, cell, move)
                    waiting.append(after)
        return None

    @staticmethod
    def _trace(
        came: Mapping[tuple[int, int], tuple[tuple[int, int], int, int] | None],
        state: tuple[int, int],
        moved: dict[int, int],
    ) -> dict[int, int]:
        before = came[state]
        while before is not None:
            state, cell, move = before
            moved[cell] = move
            before = came[state]
        return moved


class _Extremes:
    """The lowest and the highest value of each of n variables of equations, all at least `least`.

    Bounds that single equations give are easy to see. Where some solution attains such a bound, no program is needed
    for it: so every solution that a program finds is looked at for all variables, and first the sums of variables that
    share no equation are made as large as can be, many bounds at once.
    """

    def __init__(self, block: Any, rest: Any, least: float) -> None:
        self.block, self.rest, self.least = block, rest, least
        self.count = block.shape[1]
        self.low, self.high = self._seen_bounds()
        self.lowest, self.highest = np.full(self.count, np.nan), np.full(self.count, np.nan)

    def find(self) -> tuple[Any, Any] | None:
        """Give float[n] of the lowest and of the highest values; None where nothing fits the equations."""
        untried = list(range(self.count))
        while untried:
            groups, untried = self._groups([one for one in untried if np.isnan(self.highest[one])])
            goals = np.zeros((len(groups), self.count))
            for place, group in enumerate(groups):
                goals[place, group] = -1.0
            if len(goals) and not self._solve(goals):
                return None
        for values, sign in ((self.lowest, 1.0), (self.highest, -1.0)):
            while len(unknown := np.flatnonzero(np.isnan(values))[:_TOGETHER]):
                goals = np.zeros((len(unknown), self.count))
                goals[np.arange(len(unknown)), unknown] = sign
                solved = self._solve(goals)
                if not solved:
                    return None
                values[unknown] = [solution[own] for solution, own in zip(solved, unknown.tolist(), strict=True)]
        return self.lowest, self.highest

    def _solve(self, goals: Any) -> list[Any] | None:
        low, high = np.full(goals.shape, self.least), np.full(goals.shape, _UNLIMITED)
        solved = _solve_together(self.block, self.rest, goals, low, high)
        if any(solution is None for solution in solved):
            return None
        for solution in solved:
            slack = 1e-9 * np.maximum(1.0, np.abs(solution))
            at_low, at_high = solution <= self.low + slack, solution >= self.high - slack
            self.lowest[at_low], self.highest[at_high] = solution[at_low], solution[at_high]
        return solved

    def _groups(self, wanted: Sequence[int]) -> tuple[list[list[int]], list[int]]:
        """Part variables into groups, some at a time, in none of which two share an equation; give the others back."""
        by_variable = self.block.tocsc()
        groups: list[list[int]] = [[] for _ in range(_TOGETHER)]
        used: list[set[int]] = [set() for _ in groups]
        later = []
        for one in wanted:
            equations = set(by_variable.indices[by_variable.indptr[one] : by_variable.indptr[one + 1]].tolist())
            place = next((place for place, taken in enumerate(used) if taken.isdisjoint(equations)), None)
            if place is None:
                later.append(one)
            else:
                groups[place].append(one)
                used[place] |= equations
        return [group for group in groups if group], later

    def _seen_bounds(self) -> tuple[Any, Any]:
        """Bound each variable by each equation and the bounds of its others, in a few rounds: float[n] each."""
        low, high = np.full(self.count, self.least), np.full(self.count, _UNLIMITED)
        entry = self.block.tocoo()
        row, column, factor = entry.row, entry.col, entry.data
        for _ in range(4):
            least_term = np.where(factor > 0, factor * low[column], factor * high[column])
            most_term = np.where(factor > 0, factor * high[column], factor * low[column])
            least_sum = np.bincount(row, least_term, len(self.rest))[row] - least_term
            most_sum = np.bincount(row, most_term, len(self.rest))[row] - most_term
            # factor * variable = rest - the others
            ends = np.stack([(self.rest[row] - most_sum) / factor, (self.rest[row] - least_sum) / factor])
            np.maximum.at(low, column, ends.min(axis=0))
            np.minimum.at(high, column, ends.max(axis=0))
        return low, high


def _solve_together(block: Any, rest: Any, goals: Any, low: Any, high: Any) -> list[Any]:
    """Minimize each goal over the same equations within its own bounds; None where nothing fits.

    block: equations x variables; rest: over equations; goals, low, high: programs x variables. Several programs are
    given to the solver as one, since calling it takes longer than solving; where that has no solution, fewer.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - heavy
    from scipy.sparse import eye_array, kron  # noqa: PLC0415 - same

    found: list[Any] = []
    waiting = [range(i, min(i + _TOGETHER, len(goals))) for i in range(0, len(goals), _TOGETHER)][::-1]
    while waiting:
        some = waiting.pop()
        here = slice(some.start, some.stop)
        solved: Any = linprog(
            goals[here].ravel(),
            A_eq=cast("Any", kron(eye_array(len(some)), block, format="csc")),
            b_eq=np.tile(rest, len(some)),
            bounds=cast("Any", np.stack([low[here].ravel(), high[here].ravel()], axis=1)),
            method="highs",
        )
        if solved.status == 0:
            found += list(solved.x.reshape(len(some), -1))
        elif len(some) == 1:
            found.append(None)
        else:
            half = len(some) // 2
            waiting += [some[half:], some[:half]]
    return found


# With the evidence


class _Truth:
    """What the data holder knows of the cells, and what the rules make of it."""

    def __init__(self, cells: PublishedCells, statement: CellStatement, evidence: CellEvidence) -> None:
        self.cells, self.statement, self.evidence = cells, statement, evidence
        lines = range(len(cells.values))
        self.inner = [line for line in lines if statement.total not in cells.labels[line]]
        occupied = [line for line in self.inner if evidence.contributors[line] > 0]
        self.occupied: dict[Labels, int] = defaultdict(int)
        patterns = statement.patterns()
        for line in occupied:
            for pattern in patterns:
                self.occupied[self._total(cells.labels[line], pattern)] += 1
        self.primary = {line for line in lines if self._is_primary(line)}
        untrue = [
            line for line in lines if cells.values[line] is not None and cells.values[line] != evidence.values[line]
        ]
        open_primary = [line for line in sorted(self.primary) if cells.values[line] is not None]
        empty = [line for line in lines if cells.values[line] is None and not evidence.contributors[line]]
        faults = (
            (untrue, "{} is published with another value than it has"),
            (open_primary, "{} is published, and gives somebody away by the rules"),
            (empty, "{} is suppressed, and nobody is in it"),
        )
        self.problems = [
            f"the cell {words.format(_name(cells.labels[line], statement))}"
            for found, words in faults
            for line in found
        ]
        whole = tuple([statement.total] * len(statement.names))
        grand = cells.labels.index(whole)
        self.average = evidence.values[grand] / max(evidence.contributors[grand], 1)

    def _total(self, labels: Labels, pattern: frozenset[int]) -> Labels:
        return tuple(label if i in pattern else self.statement.total for i, label in enumerate(labels))

    def _is_primary(self, line: int) -> bool:
        rules, value = self.statement, self.evidence.values[line]
        contributors, largest = self.evidence.contributors[line], self.evidence.largest[line]
        if contributors == 0:
            return False
        if contributors < rules.min_count:
            return True
        if rules.counted and not rules.individual:
            return False
        if 100 * (value - sum(largest[:2])) < rules.p * largest[0] * (1 - 1e-12):
            return True
        if rules.dominance is not None:
            n, k = rules.dominance
            if 100 * sum(largest[:n]) > k * value * (1 + 1e-12):
                return True
        return value == 0

    def bounds(self, line: int, own: int = 0, parts: int = 0) -> tuple[float, float]:
        """How low and how high a cell must be able to be; `own` of it, in so many innermost `parts`, is known."""
        rules, value = self.statement, self.evidence.values[line]
        share, primary, rest = rules.p / 100, line in self.primary, value - own
        if rules.counted:
            least = own + max(self.occupied[self.cells.labels[line]] - parts, 0)
            low = max(least, own + floor(rest * (1 - share) + 1e-9))
            high = own + ceil(rest * (1 + share) - 1e-9)
            if primary:
                high = max(high, rules.min_count)
                low = least if value < rules.min_count else low
            return float(min(low, value)), self._undominated(line, float(high), own)
        above = share * (rest or (self.average if primary else 0.0))
        return value - share * rest, self._undominated(line, value + above, own)

    def _undominated(self, line: int, high: float, own: int) -> float:
        """Of a primary cell, enough above it that the largest contributors do not dominate what it may hold."""
        rules = self.statement
        if own or rules.dominance is None or line not in self.primary or (rules.counted and not rules.individual):
            return high
        n, k = rules.dominance
        return max(high, 100 / k * sum(self.evidence.largest[line][:n]))

    def failures(self, attacker: _Attacker, intervals: Sequence[tuple[float, float]]) -> list[str]:
        """Name suppressed cells that are not protected: before everybody, and before who is alone in a cell."""
        failed = []
        for line, (low, high) in zip(attacker.lines, intervals, strict=True):
            needed_low, needed_high = self.bounds(line)
            slack = _TOLERANCE * max(self.evidence.values[line], needed_high - needed_low, 1.0)
            reaches = (low <= needed_low + slack, high >= needed_high - slack)
            if not (all(reaches) if line in self.primary else any(reaches)):
                failed.append(f"the interval of the suppressed cell {_name(self.cells.labels[line], self.statement)}")
        failed = [f"{one} is narrower than the rules ask" for one in failed]
        return failed or self._failures_of_insiders(attacker)

    def _failures_of_insiders(self, attacker: _Attacker) -> list[str]:
        """Try every contributor who is alone in a cell against every primary cell that is not his.

        A set of moves in which none of his cells moves is possible in his eyes as in everybody's: so he is asked only
        where one of his cells moves.
        """
        evidence, least = self.evidence, attacker.least
        known: dict[int, list[int]] = defaultdict(list)
        for line in attacker.lines:
            if evidence.sole[line] >= 0:
                known[evidence.sole[line]].append(line)
        if not known:
            return []
        room = {line: evidence.values[line] - least for line in attacker.lines}
        seen = _SeenMoves(attacker, room)
        asked = [
            (line, side, (self.bounds(line)[side] - evidence.values[line]) * (1 - _TOLERANCE))
            for line in attacker.lines
            if line in self.primary
            for side in (0, 1)
        ]
        asked = [question for question in asked if question[2]]
        seen.ask([_Move(line, step) for line, _, step in asked])
        inner, again = set(self.inner), []
        for line, side, step in asked:
            # where no moves were found although the interval is as wide, everybody is asked
            moved = seen.find(_Move(line, step))
            who = {evidence.sole[one] for one in (attacker.lines if moved is None else moved)}
            for one in sorted(who - {-1, evidence.sole[line]}):
                within = [cell for cell in known[one] if cell in inner and self._holds(line, cell)]
                own = sum(evidence.values[cell] for cell in within)
                least_step = (self.bounds(line, own, len(within))[side] - evidence.values[line]) * (1 - _TOLERANCE)
                again += [_Move(line, least_step, tuple(known[one]))] if least_step else []
        seen.ask(again)
        failed = [
            f"who is alone in another suppressed cell can bound {_name(self.cells.labels[one.line], self.statement)} "
            "too closely"
            for one in again
            if seen.find(one) is None
        ]
        return list(dict.fromkeys(failed))

    def _holds(self, line: int, cell: int) -> bool:
        labels, total = self.cells.labels, self.statement.total
        return all(a in {total, b} for a, b in zip(labels[line], labels[cell], strict=True))

    def least_share(self, attacker: _Attacker, intervals: Sequence[tuple[float, float]]) -> float | None:
        """How close somebody can come to a suppressed cell at least, as a share of its value."""
        shares = []
        for line, (low, high) in zip(attacker.lines, intervals, strict=True):
            value = self.evidence.values[line]
            if value:
                sides = (high - value) / value, (value - low) / value
                shares.append(max(sides) if line not in self.primary or self.statement.counted else min(sides))
        return min(shares, default=None)
