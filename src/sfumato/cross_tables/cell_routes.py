"""Routes: how a suppressed cell can move while all that is published stays as it is.

Whoever sees the table knows which cells add up to which, and that no amount is negative. A cell can be higher by a step
if others make up for it in every sum: a route is such a set of moves. Where it goes through suppressed cells alone,
the published table is the same, and so nobody can tell the two apart.

Where every cell stands in no more than two sums, as in tables with two sides of which one may be nested, sums are nodes
and cells are edges of a network: a route is a flow that returns, found by shortest paths. Otherwise it is found by a
linear program. Both find the cheapest, and both find one if there is any.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.cross_tables.cell_table import CellTable

_MOST_PATHS = 500
_LARGEST_MOVE = 1000.0
"""In a linear program, by how many times its own move a cell may move others."""
_NO_MOVE = 1e-7
"""Moves smaller than this, relative to that of the cell, are rounding of a linear program."""


@dataclass(frozen=True, eq=False)
class CellRoute:
    """Cells and by how many steps each moves, up where positive."""

    cells: IntArray
    moves: FloatArray


class CellRoutes:
    """Routes through the cells of a table that are not empty; `room` is how far each can move down, float[cells]."""

    def __init__(self, cells: CellTable, room: FloatArray) -> None:
        from scipy.sparse import csc_array  # noqa: PLC0415 - heavy

        self.room = room
        self.usable: BoolArray = ~cells.empty
        kept = self.usable[cells.cell_of]
        triples = (cells.sign_of[kept].astype(np.float64), (cells.relation_of[kept], cells.cell_of[kept]))
        self.matrix: Any = csc_array(triples, shape=(int(cells.relation_of.max(initial=-1)) + 1, len(cells)))
        self.network = _Network.of(self.matrix, self.usable)

    def find(self, cell: int, step: float, allowed: BoolArray, cost: FloatArray) -> CellRoute | None:
        """Find the cheapest route that moves a cell by `step`, through `allowed` cells; none where there is none.

        cost: float[cells], positive, what it costs to move a cell at all.

        >>> import pyarrow
        >>> from sfumato.cross_tables.cell_table import count_cells
        >>> from sfumato.table import Table
        >>> data = pyarrow.table({"town": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]})
        >>> cells = count_cells(Table(data), ["town"], ["sex"])
        >>> everywhere, price = np.ones(9, dtype=np.bool_), np.where(cells.innermost, 1.0, 9.0)
        >>> CellRoutes(cells, np.ones(9)).find(0, 1.0, everywhere, price).cells.tolist()
        [0, 1, 3, 4]
        """
        open_cells = allowed & self.usable
        open_cells[cell] = False
        if self.network is not None:
            return self.network.find(cell, step, self.room, open_cells, cost)
        return self._find_by_program(cell, step, open_cells, cost)

    def _find_by_program(self, cell: int, step: float, allowed: BoolArray, cost: FloatArray) -> CellRoute | None:
        """Minimize the cost of moves, in units of the step, such that all sums stay as they are."""
        from scipy.optimize import linprog  # noqa: PLC0415 - heavy
        from scipy.sparse import hstack  # noqa: PLC0415 - same

        places = np.flatnonzero(allowed)
        if not len(places):
            return None
        part = self.matrix[:, places]
        most = np.full(len(places), _LARGEST_MOVE)
        down = np.minimum(self.room[places] / abs(step), _LARGEST_MOVE)
        # a move up and a move down for each cell, in the direction of the step
        bounds = np.concatenate([most, down] if step > 0 else [down, most])
        price = cost[places] / cost[places].max()
        target = -self.matrix[:, [cell]].toarray().ravel()
        touched = np.diff(part.tocsr().indptr) > 0
        if target[~touched].any():
            return None
        sums = hstack([part, -part]).tocsr()[touched]
        solved: Any = linprog(
            np.concatenate([price, price]),
            A_eq=cast("Any", sums),
            b_eq=target[touched],
            bounds=cast("Any", np.stack([np.zeros(len(bounds)), bounds], axis=1)),
            method="highs",
        )
        if solved.x is None or solved.status != 0:
            return None
        moves = solved.x[: len(places)] - solved.x[len(places) :]
        moved = np.abs(moves) > _NO_MOVE
        found = np.append(places[moved], cell)
        order = np.argsort(found)
        return CellRoute(found[order], (np.append(moves[moved], 1.0) * step)[order])


class _Network:
    """Sums as nodes and cells as edges: a cell that moves up is a flow from its `tail` to its `head`."""

    def __init__(self, tail: IntArray, head: IntArray, cells: IntArray, nodes: int) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

        self.tail = dict(zip(cells.tolist(), tail.tolist(), strict=True))
        self.head = dict(zip(cells.tolist(), head.tolist(), strict=True))
        start, end = np.concatenate([tail, head]), np.concatenate([head, tail])
        order = np.lexsort([end, start])
        self.arc_cell = np.concatenate([cells, cells])[order]
        self.arc_up = (np.arange(2 * len(cells)) < len(cells))[order]
        self.arc_at = {pair: at for at, pair in enumerate(zip(start[order].tolist(), end[order].tolist(), strict=True))}
        first = np.searchsorted(start[order], np.arange(nodes + 1))
        arcs = (np.ones(len(order)), end[order].astype(np.int32), first.astype(np.int32))
        self.graph = csr_array(arcs, shape=(nodes, nodes))

    @classmethod
    def of(cls, matrix: Any, usable: BoolArray) -> "_Network | None":
        """Turn relations into a network, where each cell stands in one or two, and signs can be made to differ."""
        cells, relations = np.flatnonzero(usable), matrix.shape[0]
        numbers = np.diff(matrix.indptr)[cells]
        if not len(cells) or numbers.max() > 2 or numbers.min() < 1:
            return None
        first = matrix.indices[matrix.indptr[cells]]
        last = np.where(numbers == 2, matrix.indices[matrix.indptr[cells + 1] - 1], relations)  # a node besides
        signs = matrix.data[matrix.indptr[cells]], matrix.data[matrix.indptr[cells + 1] - 1]
        alike = np.where(numbers == 2, signs[0] * signs[1] > 0, False)
        low, high = np.minimum(first, last), np.maximum(first, last)
        if len(np.unique(low.astype(np.int64) * (relations + 1) + high)) < len(cells):
            return None
        flipped = _flip(first[numbers == 2], last[numbers == 2], alike[numbers == 2], relations)
        if flipped is None:
            return None
        enters = (signs[0] > 0) ^ flipped[first]
        return cls(np.where(enters, last, first), np.where(enters, first, last), cells, relations + 1)

    def find(self, cell: int, step: float, room: FloatArray, allowed: BoolArray, cost: FloatArray) -> CellRoute | None:
        """Send a flow of the size of the step back from the end of the cell to its start, path by path."""
        from scipy.sparse.csgraph import dijkstra  # noqa: PLC0415 - heavy

        start, end = self.head[cell], self.tail[cell]
        if step < 0:
            start, end = end, start
        left, moves = abs(step), defaultdict(float, {cell: step})
        prices = np.where(allowed, cost, np.inf)[self.arc_cell]
        capacity = np.where(self.arc_up, np.inf, room[self.arc_cell])
        whole = True  # one path that carries all of it is best: it takes the fewest cells
        for _ in range(_MOST_PATHS):
            least = left * (1 - 1e-12) if whole else abs(step) * 1e-9
            self.graph.data[:] = np.where(capacity >= least, prices, np.inf)
            distance, before = dijkstra(self.graph, indices=start, return_predecessors=True)
            if not np.isfinite(distance[end]):
                if not whole:
                    return None
                whole = False
                continue
            arcs, node = [], end
            while node != start:
                arcs.append(self.arc_at[int(before[node]), node])
                node = int(before[node])
            pushed = min(left, float(capacity[arcs].min()))
            for arc in arcs:
                moved, up = int(self.arc_cell[arc]), bool(self.arc_up[arc])
                moves[moved] += pushed if up else -pushed
                capacity[self.arc_at[self._ends(moved)[::-1]]] = room[moved] + moves[moved]
                prices[arc] = min(prices[arc], cost.min())  # it is paid for
            left -= pushed
            if left <= abs(step) * 1e-12:
                found = np.array(sorted(one for one, move in moves.items() if abs(move) > abs(step) * 1e-9))
                return CellRoute(found, np.array([moves[one] for one in found.tolist()]))
        return None

    def _ends(self, cell: int) -> tuple[int, int]:
        return self.tail[cell], self.head[cell]


def _flip(first: IntArray, last: IntArray, alike: BoolArray, relations: int) -> BoolArray | None:
    """Choose relations whose signs are turned, so that each cell has both signs; none where that cannot be."""
    neighbours: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for a, b, same in zip(first.tolist(), last.tolist(), alike.tolist(), strict=True):
        neighbours[a].append((b, same))
        neighbours[b].append((a, same))
    flipped: dict[int, bool] = {}
    for root in range(relations):
        if root in flipped:
            continue
        flipped[root], waiting = False, [root]
        while waiting:
            node = waiting.pop()
            for other, same in neighbours[node]:
                if other not in flipped:
                    flipped[other] = flipped[node] ^ same
                    waiting.append(other)
                elif flipped[other] != flipped[node] ^ same:
                    return None
    return np.array([flipped[relation] for relation in range(relations)] + [False])
