"""Secondary suppression against enumeration, routes against linear programs, and both kinds of attackers."""

import heapq
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.cross_tables.cell_routes import CellRoutes
from sfumato.cross_tables.cell_table import CellTable, count_cells
from sfumato.cross_tables.primary_cells import DisclosureRules, ProtectionLevels, find_primary_cells
from sfumato.cross_tables.secondary_cells import cell_costs, suppress_cells
from sfumato.cross_tables.suppressed_table import CrossTable, cross_table
from sfumato.table import Table
from sfumato.verifier.cell_intervals import CellEvidence, CellStatement, PublishedCells, check_cells
from tests.cross_tables.small_tables import random_amounts, rows_of


def _levels(cells: CellTable, rules: DisclosureRules) -> ProtectionLevels:
    return ProtectionLevels.of(cells, rules, find_primary_cells(cells, rules) != "")


def _passes(cells: CellTable, rules: DisclosureRules, hidden: np.ndarray) -> bool:
    """Whether the verifier, which shares no code with the search, passes a suppression."""
    statement = CellStatement(
        cells.names[: cells.rows], cells.names[cells.rows :], "nested", "v", cells.counted, cells.decimals, "Total",
        "x", rules.min_count, rules.p, rules.dominance, cells.individual is not None,
    )  # fmt: skip
    values = tuple(None if gone else value for gone, value in zip(hidden, cells.values.tolist(), strict=True))
    published = PublishedCells(tuple(cells.label(i, "Total") for i in range(len(cells))), values)
    evidence = CellEvidence(*(x.tolist() for x in (cells.values, cells.contributors, cells.largest, cells.sole)))
    return check_cells(published, statement, evidence)[0].satisfied


def _cheapest(cells: CellTable, rules: DisclosureRules, costs: np.ndarray) -> float:
    """The cost of the cheapest suppression that passes, by trying all from the cheapest on."""
    primary = find_primary_cells(cells, rules) != ""
    free = sorted(np.flatnonzero(~primary & ~cells.empty).tolist(), key=lambda i: costs[i])
    start = float(costs[primary].sum())
    heap: list[tuple[float, tuple[int, ...]]] = [(start, ())]
    while heap:
        cost, chosen = heapq.heappop(heap)
        hidden = primary.copy()
        hidden[[free[i] for i in chosen]] = True
        if _passes(cells, rules, hidden):
            return cost
        last = chosen[-1] if chosen else -1
        if last + 1 < len(free):  # each subset once: by adding the next, or by moving the last on
            heapq.heappush(heap, (cost + costs[free[last + 1]], (*chosen, last + 1)))
            if chosen:
                heapq.heappush(heap, (cost - costs[free[last]] + costs[free[last + 1]], (*chosen[:-1], last + 1)))
    raise AssertionError("everything may be suppressed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "cost"),
    [
        ([[2, 9], [8, 7]], "value"),
        ([[2, 9, 6], [8, 7, 30]], "value"),
        ([[1, 9, 12], [8, 1, 30]], "cells"),
        ([[2, 0, 6], [8, 7, 9]], "cells"),
        ([[1, 2], [1, 6]], "value"),
        ([[2, 6], [6, 0]], "value"),
    ],
)
def test_the_optimum_is_that_of_enumeration(counts: list[list[int]], cost: str) -> None:
    """No suppression that the verifier passes is cheaper."""
    cells, rules = count_cells(Table(rows_of(counts)), ["town"], ["job"]), DisclosureRules(min_count=4)
    costs = cell_costs(cells, cost)
    found = suppress_cells(_levels(cells, rules), cost)
    assert _passes(cells, rules, found.suppressed)
    assert found.optimal
    assert found.cost == pytest.approx(_cheapest(cells, rules, costs))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_below_the_optimum_of_sums(seed: int) -> None:
    """Of sums with firms, where a firm may be alone in several cells."""
    data, rules = random_amounts(seed, 26, 2, 2), DisclosureRules(min_count=3)
    cells = count_cells(Table(data), ["town"], ["job"], measure="turnover", individual="firm")
    found = suppress_cells(_levels(cells, rules), "cells")
    best = _cheapest(cells, rules, cell_costs(cells, "cells"))
    assert found.bound <= best + 1e-6
    assert found.cost >= best - 1e-6
    if found.optimal:
        assert found.cost == pytest.approx(best)


def test_a_third_cell_protects_from_who_is_alone_in_one() -> None:
    """Two firms alone in two cells of a row: with these two suppressed, each would know the other's turnover."""
    rows = [("a", "x", 50), ("a", "y", 60)]
    rows += [(town, job, 40) for town in "abc" for job in "zw" for _ in range(10)]
    rows += [(town, job, 45) for town in "bc" for job in "xy" for _ in range(10)]
    town, job, turnover = zip(*rows, strict=True)
    data = pa.table({"town": town, "job": job, "turnover": turnover})
    found = cross_table(data, ["town"], ["job"], sum="turnover", min_count=3)
    hidden = found.suppression.suppressed.reshape(4, 5)
    assert hidden[0].sum() >= 3


@given(seed=st.integers(0, 10**6), nested=st.booleans(), directions=st.sampled_from([1.0, -1.0]))
@settings(max_examples=30, deadline=None)
def test_networks_and_programs_find_the_same_cells_movable(seed: int, *, nested: bool, directions: float) -> None:
    """There is a route in the network exactly where the linear program finds one, and it keeps every sum."""
    draw = np.random.default_rng(seed)
    cells = count_cells(Table(random_amounts(seed, 40, 3, 3)), ["town", "year"] if nested else ["town"], ["job"])
    hidden = (draw.random(len(cells)) < 0.6) & ~cells.empty
    if not hidden.any():
        return
    routes = CellRoutes(cells, np.maximum(cells.values - 1.0, 0.0))
    assert routes.network is not None
    cell, cost = int(draw.choice(np.flatnonzero(hidden))), np.ones(len(cells))
    step = directions * float(draw.integers(1, 4))
    by_network = routes.find(cell, step, hidden, cost)
    by_program = routes._find_by_program(cell, step, np.where(np.arange(len(cells)) == cell, False, hidden), cost)
    assert (by_network is None) == (by_program is None)
    for route in (by_network, by_program):
        if route is not None:
            moved = np.zeros(len(cells))
            moved[route.cells] = route.moves
            assert moved[cell] == pytest.approx(step)
            assert np.abs(routes.matrix @ moved).max() < 1e-6
            assert (moved >= -np.maximum(cells.values - 1.0, 0.0) - 1e-6)[np.arange(len(cells)) != cell].all()
            assert hidden[route.cells].all()


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    counted=st.booleans(),
    persons=st.booleans(),
    marginals=st.sampled_from(["nested", "all"]),
    p=st.sampled_from([5.0, 10.0, 40.0]),
)
@settings(max_examples=8, deadline=None)
def test_what_is_published_passes_on_any_table(
    seed: int, *, counted: bool, persons: bool, marginals: str, p: float
) -> None:
    """Verified in memory; primary cells are suppressed and empty ones are not; what is there adds up."""
    found: CrossTable = cross_table(
        random_amounts(seed, 40, 2, 3),
        ["town", "year"],
        ["job"],
        sum=None if counted else "turnover",
        individual="firm" if persons else None,
        marginals=marginals,
        min_count=3,
        p=p,
    )
    hidden = found.suppression.suppressed
    assert hidden[found.primary != ""].all()
    assert not hidden[found.cells.empty].any()
    assert found.suppression.bound <= found.suppression.cost * (1 + 1e-9)
    assert found.verdict.satisfied


def test_the_order_of_rows_changes_nothing() -> None:
    """Shuffled rows give the same table."""
    data: Any = random_amounts(3, 200, 5, 5)
    again = data.take(np.random.default_rng(1).permutation(200))
    first, second = (cross_table(one, ["town"], ["job"], sum="turnover") for one in (data, again))
    assert first.value_texts == second.value_texts


def test_everything_is_suppressed_where_nothing_else_helps() -> None:
    """One person alone in a table: neither the cell nor any total says anything."""
    found = cross_table(rows_of([[1]]), ["town"], ["job"])
    assert found.suppression.suppressed.all()
    assert found.value_texts == ["x"] * 4


def test_a_table_without_primary_cells_is_published_whole() -> None:
    """There is nothing to suppress, and that is optimal."""
    found = cross_table(rows_of([[9, 8], [7, 6]]), ["town"], ["job"])
    assert not found.suppression.suppressed.any()
    assert found.suppression.optimal
    assert "No cell gives anybody away" in str(found)
