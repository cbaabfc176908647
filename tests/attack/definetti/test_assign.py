"""Weights: they keep both counts of each class, and are those that a plain program on lines comes to."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from sfumato.attack.definetti import (
    MAX_ROUNDS,
    SMOOTHING,
    CellLinks,
    assign_values,
    balance_weights,
    link_cells,
    train_learner,
)
from sfumato.attack.definetti_data import ProfileSample, SampleLimits, draw_sample
from sfumato.split import TwoTables

Makes = Callable[..., Any]
Lines = list[tuple[tuple[int, ...], int]]
Seen = dict[int, dict[int, float]]
"""For each code, the weight that each value has there."""


def _people(tables: TwoTables) -> ProfileSample:
    limits = SampleLimits.from_bag(10**6, 10**9, len(tables.quasi), tables.bags["illness"])
    return draw_sample(tables, limits, np.random.default_rng(1))


def _join(tables: TwoTables) -> CellLinks:
    return link_cells(_people(tables), tables.bags["illness"], tables.sizes)


def _random(makes: Makes, seed: int, rows: int = 40) -> TwoTables:
    """Rows with few different quasi-identifiers, so that some are equal, in a few classes of different sizes."""
    draw = np.random.default_rng(seed)
    sex, zip_code = draw.choice(["f", "m"], rows), draw.choice(["1", "2", "3"], rows)
    illness = np.where(draw.random(rows) < 0.5, sex, draw.choice(["flu", "HIV"], rows))
    made = makes(
        {"sex": sex.tolist(), "zip": zip_code.tolist()},
        {"illness": illness.tolist()},
        draw.integers(0, 6, rows).tolist(),
    )
    tables: TwoTables = made.tables
    return tables


@pytest.mark.parametrize("seed", range(20))
def test_balanced_weights_keep_both_counts(makes: Makes, seed: int) -> None:
    """Whatever the learner says, each line is given one value in all, and each value as often as its bag has it."""
    tables = _random(makes, seed)
    join = _join(tables)
    weights = balance_weights(join, np.random.default_rng(seed).random(len(join.cell)) + 1e-3)
    assert join.sum_by_cell(weights) == pytest.approx(join.lines)
    found = np.bincount(join.entry, weights=weights)
    assert found == pytest.approx(tables.bags["illness"].count, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_attacks_weights_keep_both_counts(makes: Makes, seed: int) -> None:
    """The weights that the attack ends with are an assignment: both counts hold."""
    tables = _random(makes, seed)
    join = _join(tables)
    weights = assign_values(join, train_learner(join))
    assert weights.min() > 0
    assert join.sum_by_cell(weights) == pytest.approx(join.lines)
    assert np.bincount(join.entry, weights=weights) == pytest.approx(tables.bags["illness"].count, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_a_plain_program(makes: Makes, seed: int) -> None:
    """Lines one by one, dicts and loops: the same learner comes to the same weights."""
    tables = _random(makes, seed)
    join = _join(tables)
    ours = assign_values(join, train_learner(join), steps=50) / join.lines[join.cell]
    lines: Lines = [
        (tuple(int(column.codes[i]) for column in tables.quasi), int(tables.class_of[i])) for i in range(tables.rows)
    ]
    bag = tables.bags["illness"]
    bags: dict[int, Counter[int]] = defaultdict(Counter)
    for owner, value, count in zip(bag.class_of.tolist(), bag.value.tolist(), bag.count.tolist(), strict=True):
        bags[owner][value] = count
    theirs = _plain(lines, bags, last=50)
    assert ours.max() > 0.6  # something was learned
    profiles = {
        codes: number for number, codes in enumerate(zip(*map(np.ndarray.tolist, _people(tables).codes), strict=True))
    }
    for (codes, owner), found in zip(lines, theirs, strict=True):
        links = join.profile[join.cell] == profiles[codes]
        links &= bag.class_of[join.entry] == owner
        assert dict(zip(join.value[links].tolist(), ours[links].tolist(), strict=True)) == pytest.approx(found)


def _plain(lines: Lines, bags: dict[int, Counter[int]], last: int) -> list[dict[int, float]]:
    """The whole procedure, as the guide tells it."""
    weights = [{v: n / bags[owner].total() for v, n in bags[owner].items()} for _, owner in lines]
    for _ in range(MAX_ROUNDS):
        before, weights = weights, _assigned(lines, bags, weights, 4)
        moved = sum(abs(now[v] - then[v]) for now, then in zip(weights, before, strict=True) for v in now)
        if moved <= 0.02 * len(lines):
            break
    return _assigned(lines, bags, weights, last)


def _assigned(
    lines: Lines, bags: dict[int, Counter[int]], weights: list[dict[int, float]], steps: int
) -> list[dict[int, float]]:
    """Learn from the weights, weigh by what was learned, then scale: values, lines, values, lines."""
    prior: dict[int, float] = defaultdict(float)
    seen: list[Seen] = [defaultdict(lambda: defaultdict(float)) for _ in lines[0][0]]
    for (codes, _), each in zip(lines, weights, strict=True):
        for value, weight in each.items():
            prior[value] += weight / len(lines)
            for table, one in zip(seen, codes, strict=True):
                table[one][value] += weight
    found = []
    for codes, owner in lines:
        said = {v: _said(codes, v, seen, prior[v]) for v in bags[owner]}
        top = max(said.values())
        found.append(_even({v: math.exp(max(one - top, -30)) for v, one in said.items()}))
    for _ in range(steps):
        for owner, bag in bags.items():
            members = [each for each, (_, own) in zip(found, lines, strict=True) if own == owner]
            _scale(members, bag)
        found = [_even(each) for each in found]
    return found


def _said(codes: Sequence[int], value: int, seen: list[Seen], prior: float) -> float:
    """The sum of the logarithms of P(v | a) / P(v), smoothed."""
    lifts = [
        (table[one][value] + SMOOTHING * prior) / (sum(table[one].values()) + SMOOTHING) / prior
        for table, one in zip(seen, codes, strict=True)
    ]
    return sum(map(math.log, lifts))


def _scale(members: list[dict[int, float]], bag: Counter[int]) -> None:
    for value, count in bag.items():
        held = sum(each[value] for each in members)
        for each in members:
            each[value] *= count / held


def _even(each: dict[int, float]) -> dict[int, float]:
    return {value: one / sum(each.values()) for value, one in each.items()}
