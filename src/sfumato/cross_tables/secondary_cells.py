"""Secondary cells: what else is suppressed, so that nobody can work out a suppressed cell from the others.

The cell suppression problem (Fischetti and Salazar, Models and algorithms for optimizing cell suppression in tabular
data with linear constraints, 2000). Two kinds of attackers are defended against:

- whoever sees the published table: while all that is published stays as it is, every primary cell must be able to move
  up and down by its protection levels, and every secondary cell up or down, so that none is bounded within p %;
- a contributor who is alone in a cell, and so knows it: the same must hold of every primary cell besides his own, with
  his cells held fast.

First every requirement gets the cheapest route there is, and the cells on it are suppressed (Kelly, Golden and Assad
1992; Castro 2002): that always ends, since where all cells are suppressed everything can move. Then cells that are not
needed are published again, the dearest first. Then an integer program looks for the cheapest suppression: where its
proposal leaves a cell in too narrow an interval, the linear program of the attacker gives, by its dual, an inequality
that every good suppression satisfies (Benders' cuts), until a proposal passes, which is optimal, or the work that is
allowed for it is done. Work is counted in cells and not by the clock: the result does not depend on the machine.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.cross_tables.cell_routes import CellRoute, CellRoutes
from sfumato.cross_tables.cell_table import CellTable
from sfumato.cross_tables.primary_cells import ProtectionLevels

OUTSIDER = -1
"""The number of the attacker who contributes nothing; others have the number of a contributor."""
COSTS = ("value", "cells")
"""What is kept small: the amounts that are suppressed, or the number of cells."""
_CHEAP, _SOLE = 1e-6, 5.0
"""What a cell on a route costs that is suppressed already, and how many times that one which a contributor knows."""
_ROUNDS, _NODES = 60, 2000
_CLEANING, _CUTTING = 300_000, 120_000
"""The work that goes into publishing cells again, and into cuts: cells in linear programs, and some for each."""
_CALL, _PATH = 200, 10
"""What counts as work besides its cells: a linear program, and a path in a network."""
_KEPT = 40
"""Routes that are remembered of a cell in a direction."""

Progress = Callable[[int, int], None]


class CellRequirement(NamedTuple):
    """That a cell can move in a direction (1 up, -1 down, 0 either of them) before the eyes of an attacker."""

    cell: int
    direction: int
    attacker: int


@dataclass(frozen=True, eq=False)
class CellSuppression:
    """Which cells are suppressed (bool[cells]), at what cost, and how low it could be: it is `optimal` at the bound."""

    suppressed: BoolArray
    cost: float
    bound: float
    optimal: bool


@dataclass(eq=False)
class _State:
    """Suppressed cells, and the route that meets each requirement."""

    suppressed: BoolArray
    routes: dict[CellRequirement, CellRoute] = field(default_factory=dict)

    def copy(self) -> "_State":
        return _State(self.suppressed.copy(), dict(self.routes))


def suppress_cells(levels: ProtectionLevels, cost: str = "value", progress: Progress | None = None) -> CellSuppression:
    """Suppress the primary cells, and others so that all are protected, at as little cost as can be found.

    >>> import pyarrow
    >>> from sfumato.cross_tables.cell_table import count_cells
    >>> from sfumato.cross_tables.primary_cells import DisclosureRules, find_primary_cells
    >>> from sfumato.table import Table
    >>> data = {"town": ["a"] * 12 + ["b"] * 30, "sex": (["f"] * 2 + ["m"] * 10 + ["f"] * 9 + ["m"] * 21)}
    >>> cells, rules = count_cells(Table(pyarrow.table(data)), ["town"], ["sex"]), DisclosureRules(min_count=5)
    >>> levels = ProtectionLevels.of(cells, rules, find_primary_cells(cells, rules) != "")
    >>> suppress_cells(levels).suppressed.reshape(3, 3).tolist()
    [[True, True, False], [True, True, False], [False, False, False]]
    """
    return SuppressionSearch(levels, cell_costs(levels.cells, cost), progress).run()


def cell_costs(cells: CellTable, cost: str) -> FloatArray:
    """What the suppression of each cell costs, float[cells]: its value, at least one step, or 1."""
    if cost == "cells":
        return np.ones(len(cells))
    return np.maximum(cells.values.astype(np.float64), 1.0)


class SuppressionSearch:
    """The search: routes first, then fewer cells, then cuts."""

    def __init__(self, levels: ProtectionLevels, costs: FloatArray, progress: Progress | None = None) -> None:
        self.levels, self.costs, self.progress = levels, costs, progress
        self.cells = levels.cells
        self.routes = CellRoutes(levels.cells, levels.room)
        self.work = 0
        # routes that were found through a cell: by how much it moves in a direction, and the route
        self.found: dict[tuple[int, bool], deque[tuple[float, CellRoute]]] = defaultdict(lambda: deque(maxlen=_KEPT))
        sole, innermost = self.cells.sole, self.cells.innermost
        self.known: dict[int, list[int]] = defaultdict(list)  # the cells that a contributor is alone in
        for cell in np.flatnonzero(sole >= 0).tolist():
            self.known[int(sole[cell])].append(cell)
        self.known_inner = {who: [cell for cell in known if innermost[cell]] for who, known in self.known.items()}

    def run(self) -> CellSuppression:
        """Suppress by routes, publish again what is not needed, and look for something better."""
        primary = self.levels.primary
        state = _State(primary.copy())
        if not primary.any():
            return CellSuppression(state.suppressed, 0.0, 0.0, optimal=True)
        self.protect(state)
        self.publish_again(state)
        state, bound = self.improve(state)
        cost = self.cost_of(state)
        optimal = bound >= cost * (1 - 1e-9)
        return CellSuppression(state.suppressed, cost, cost if optimal else bound, optimal)

    def cost_of(self, state: _State) -> float:
        """What all suppressed cells cost."""
        return float(self.costs[state.suppressed].sum())

    # What has to hold

    def requirements(self, cell: int) -> Iterable[CellRequirement]:
        """What has to hold of a cell before somebody who sees the table."""
        for direction in (1, -1) if self.levels.primary[cell] else (0,):
            if self.steps(asked := CellRequirement(cell, direction, OUTSIDER)):
                yield asked

    def insiders(self, requirement: CellRequirement, route: CellRoute) -> Iterable[CellRequirement]:
        """What is left to ask when a route is there: those who know a cell on it see that it does not move.

        Who knows no cell on a route takes it for possible, as everybody does; and nobody asks for his own cell.
        """
        if requirement.attacker != OUTSIDER or not self.levels.primary[requirement.cell]:
            return
        own = int(self.cells.sole[requirement.cell])
        on_route = self.cells.sole[route.cells]
        for who in np.unique(on_route[on_route >= 0]).tolist():
            asked = requirement._replace(attacker=who)
            if who != own and self.steps(asked):
                yield asked

    def steps(self, requirement: CellRequirement) -> list[float]:
        """By how much the cell has to be able to move, with its sign: one of these, or nothing where none is asked."""
        cell, direction, attacker = requirement
        if attacker == OUTSIDER:
            up, down = float(self.levels.up[cell]), float(self.levels.down[cell])
        else:
            up, down = self.levels.against(cell, self.known_inner[attacker])
        asked = [up, -down] if direction == 0 else [up if direction > 0 else -down]
        return asked if all(asked) else []

    def find_route(self, requirement: CellRequirement, allowed: BoolArray, suppressed: BoolArray) -> CellRoute | None:
        """Find the cheapest route for a requirement; suppressed cells cost next to nothing."""
        steps, known = self.steps(requirement), self.known.get(requirement.attacker, [])
        for step in steps:
            # a route of another cell does as well if it moves this one as far: a part of it moves it by the step
            for move, route in self.found[requirement.cell, step > 0]:
                possible = move >= abs(step) and suppressed[route.cells].all()
                if possible and not (known and np.isin(route.cells, known).any()):
                    return route
        allowed = allowed.copy()
        allowed[known] = False
        cheap = float(self.costs.min()) * _CHEAP * np.where(self.cells.sole >= 0, _SOLE, 1.0)
        cost = np.where(suppressed, cheap, self.costs)
        routes = [self.routes.find(requirement.cell, step, allowed, cost) for step in steps]
        self.work += len(steps) * (_PATH if self.routes.network is not None else _CALL + int(allowed.sum()))
        best = min(
            (route for route in routes if route is not None),
            key=lambda route: float(cost[route.cells].sum()),
            default=None,
        )
        if best is not None:
            for cell, move in zip(best.cells.tolist(), best.moves.tolist(), strict=True):
                self.found[cell, move > 0].appendleft((abs(move), best))
        return best

    # Routes first

    def protect(self, state: _State) -> None:
        """Suppress what it takes until every requirement has a route through suppressed cells."""
        everywhere = ~self.cells.empty
        waiting = sorted(np.flatnonzero(state.suppressed).tolist(), key=lambda cell: (self.levels.up[cell], cell))
        done = 0
        while waiting:
            asked = list(self.requirements(waiting.pop()))
            while asked:
                requirement = asked.pop()
                route = state.routes.get(requirement)
                if route is None:
                    route = self.find_route(requirement, everywhere, state.suppressed)
                    if route is None:  # everything can move where all is suppressed
                        raise RuntimeError("a requirement has no route although all cells may be suppressed")
                    state.routes[requirement] = route
                new = route.cells[~state.suppressed[route.cells]]
                state.suppressed[new] = True
                waiting += new.tolist()
                asked += self.insiders(requirement, route)
            done += 1
            if self.progress is not None:
                self.progress(done, done + len(waiting))

    def publish_again(self, state: _State) -> None:
        """Publish secondary cells again that are not needed, the dearest first."""
        secondary = np.flatnonzero(state.suppressed & ~self.levels.primary)
        most = self.work + _CLEANING
        for cell in sorted(secondary.tolist(), key=lambda one: (-self.costs[one], one)):
            if self.work > most:
                return
            trial = state.copy()
            trial.suppressed[cell] = False
            trial.routes.pop(CellRequirement(cell, 0, OUTSIDER), None)
            broken = [asked for asked, route in trial.routes.items() if cell in route.cells]
            for asked in broken:
                del trial.routes[asked]
            if not self.unprotected(trial, broken, first=True):
                state.suppressed, state.routes = trial.suppressed, trial.routes

    def unprotected(
        self, state: _State, asked: Iterable[CellRequirement] | None = None, *, first: bool = False
    ) -> list[CellRequirement]:
        """List requirements without a route through suppressed cells; others get theirs. `first` stops at one."""
        if asked is None:
            asked = [one for cell in np.flatnonzero(state.suppressed).tolist() for one in self.requirements(cell)]
        waiting, failed = list(asked), []
        while waiting:
            requirement = waiting.pop()
            route = state.routes.get(requirement)
            if route is None:
                route = self.find_route(requirement, state.suppressed, state.suppressed)
                if route is None:
                    failed.append(requirement)
                    if first:
                        break
                    continue
                state.routes[requirement] = route
            waiting += self.insiders(requirement, route)
        return failed

    # Cuts

    def improve(self, best: _State) -> tuple[_State, float]:
        """Look for a cheaper suppression by an integer program with cuts; say how low the cost could be at least."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - heavy
        from scipy.sparse import csr_array  # noqa: PLC0415 - same

        primary, usable = self.levels.primary, ~self.cells.empty
        bound, scale = float(self.costs[primary].sum()), float(self.costs.max())
        cuts: list[FloatArray] = []
        proposal, most = _State(primary.copy()), self.work + _CUTTING
        for _ in range(_ROUNDS):
            failed = self.unprotected(proposal)
            if not failed:
                return (proposal, bound) if self.cost_of(proposal) < self.cost_of(best) else (best, bound)
            repaired = _State(proposal.suppressed.copy(), dict(proposal.routes))
            if cuts:
                self.protect(repaired)
                self.publish_again(repaired)
                if self.cost_of(repaired) < self.cost_of(best):
                    best = repaired
            for requirement in failed:
                if self.work > most:
                    break
                cut = self.cut(requirement, proposal.suppressed)
                if cut is not None:
                    cuts.append(cut)
            if not cuts:
                return best, bound
            solved = milp(
                self.costs / scale,
                integrality=np.ones(len(self.costs), dtype=np.int64),
                bounds=Bounds(primary.astype(np.float64), usable.astype(np.float64)),
                constraints=LinearConstraint(csr_array(np.stack(cuts)), lb=0.0),
                options={"node_limit": _NODES, "mip_rel_gap": 0.0},
            )
            if solved.mip_dual_bound is not None and np.isfinite(solved.mip_dual_bound):
                bound = max(bound, float(solved.mip_dual_bound) * scale)
            if bound >= self.cost_of(best) * (1 - 1e-9) or solved.x is None or self.work > most:
                return best, bound
            proposal = _State(np.asarray(solved.x > 0.5))
            if solved.status != 0:  # the best that was found so far, so that what passes is not known to be optimal
                return best, bound
        return best, bound

    def cut(self, requirement: CellRequirement, suppressed: BoolArray) -> FloatArray | None:
        """Give an inequality, coefficients over cells that add up to at least 0, which fails for what is suppressed.

        Where a cell may move in either direction, each direction has an inequality, and the larger coefficients of
        both hold whichever it is; where that does not fail, there is none.
        """
        usable = ~self.cells.empty
        if requirement.attacker != OUTSIDER:
            usable[self.known[requirement.attacker]] = False
        weights = [self._reach(requirement.cell, step, usable, suppressed) for step in self.steps(requirement)]
        cut = np.max(weights, axis=0)
        cut[requirement.cell] = -1.0  # where the cell itself is not suppressed, nothing is asked of it
        cut[np.abs(cut) < 1e-9] = 0.0
        return cut if cut[suppressed].sum() < -1e-6 else None

    def _reach(self, cell: int, step: float, usable: BoolArray, suppressed: BoolArray) -> FloatArray:
        """How much each cell helps another to move by a step at most: float[cells], at least 1 in sum if it can.

        In units of the step, a cell moves by d within [-low y, high y], where y is 1 if it is suppressed. For any
        multipliers of the sums, the cell that is asked for moves by the sum of g d over all others, where g is what the
        multipliers leave of each; so the sum of what g d can reach, times y, is at least 1, and no more than 1 of any
        is needed. The multipliers are those of the linear program that moves the cell as far as it goes.
        """
        from scipy.optimize import linprog  # noqa: PLC0415 - heavy

        places = np.flatnonzero(usable)
        self.work += _CALL + len(places)
        largest = 1.0 if self.routes.network is not None else 1000.0
        high, low = np.full(len(places), largest), np.minimum(self.levels.room[places] / abs(step), largest)
        if step < 0:
            high, low = low, high
        own, there = int(np.searchsorted(places, cell)), suppressed[places]
        bounds = np.stack([np.where(there, -low, 0.0), np.where(there, high, 0.0)], axis=1)
        bounds[own] = (0.0, 2.0)
        goal = np.zeros(len(places))
        goal[own] = -1.0
        part: Any = self.routes.matrix[:, places]
        solved: Any = linprog(goal, A_eq=part, b_eq=np.zeros(part.shape[0]), bounds=cast("Any", bounds), method="highs")
        reach = np.zeros(len(self.costs))
        reach[places] = 1.0  # says nothing, and is always right
        reached = part.T @ -np.asarray(solved.eqlin.marginals) if solved.x is not None else np.zeros(len(places))
        if abs(reached[own]) > 1e-9:
            left = -reached / reached[own]
            reach[places] = np.minimum(np.maximum(left, 0) * high + np.maximum(-left, 0) * low, 1.0)
        return reach
