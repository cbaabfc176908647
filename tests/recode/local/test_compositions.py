"""Compositions: the rows of each kind in a class, which pass together, and what a class may take in or give away."""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.classes import EquivalenceClasses
from sfumato.recode.local.compositions import Compositions
from sfumato.recode.local.cover import cover
from sfumato.recode.local.exchange import Exchange
from sfumato.recode.local.problem import Problem

Poses = Callable[..., Problem]

ILLNESSES = ["flu", "cold", "HIV", "gout"]
RULES: list[dict[str, Any]] = [
    {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5},
    {"model": "alpha-deassociation", "column": "illness", "alpha": 0.4, "values": ["HIV"]},
    {"model": "distinct-l-diversity", "column": "illness", "l": 3},
    {"model": "entropy-l-diversity", "column": "illness", "l": 2},
    {"model": "recursive-l-diversity", "column": "illness", "c": 2, "l": 2},
    {"model": "t-closeness", "column": "illness", "t": 0.3, "distance": "emd-equal"},
    {"model": "t-closeness", "column": "illness", "t": 0.4, "distance": "kl"},
]
NAMES = [f"{rule['model']} {rule.get('distance', rule.get('values', ''))}" for rule in RULES]


def named(problem: Problem, compositions: Compositions, counts: np.ndarray[Any, Any]) -> list[str]:
    """List the values of the rows of a composition, as texts."""
    texts = problem.encoded.sensitive["illness"].texts
    (value,) = (value for _, value in compositions.value_of.values())
    return [str(texts[code]) for code, rows in zip(value.tolist(), counts.tolist(), strict=True) for _ in range(rows)]


def passes(problem: Problem, values: list[str]) -> bool:
    """Ask the models of a problem about one class of rows of these values, counted by a way of its own."""
    domain = problem.encoded.domains["illness"]
    texts = [str(text) for text in domain.values]
    classes = EquivalenceClasses.of([0] * len(values), illness=values)
    histogram = classes.sensitive["illness"]
    order = sorted(
        (texts.index(str(histogram.domain.values[value])), count)
        for value, count in zip(histogram.value, histogram.count, strict=True)
    )
    counted = type(histogram)(
        np.zeros(len(order), dtype=np.int64),
        np.array([code for code, _ in order], dtype=np.int64),
        np.array([count for _, count in order], dtype=np.int64),
        domain,
    )
    return bool(problem.requirement.holds(EquivalenceClasses(classes.sizes, {"illness": counted}))[0])


def posed(pose: Poses, rule: dict[str, Any], k: int = 2) -> tuple[Problem, Compositions]:
    """Pose a table of ten rows under a rule, and look at its compositions."""
    rows: list[str | None] = [*["flu"] * 4, *["cold"] * 3, *["HIV"] * 2, "gout"]
    codes: list[str | None] = [str(10 + i) for i in range(10)]
    problem = pose({"code": codes, "illness": rows}, rule, k=k)
    compositions = Compositions.from_problem(problem)
    assert compositions is not None
    return problem, compositions


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_what_passes_is_what_the_requirement_says(pose: Poses, rule: dict[str, Any]) -> None:
    """Of all compositions of up to three rows of each kind, those pass that pass as classes; so do single changes."""
    problem, compositions = posed(pose, rule)
    every = np.array(list(itertools.product(range(4), repeat=compositions.kinds)))[1:]
    expected = {tuple(line): passes(problem, named(problem, compositions, line)) for line in every}
    assert dict(zip(map(tuple, every), compositions.holds(every).tolist(), strict=True)) == expected
    inner = every[(every <= 2).all(axis=1)]
    takes, gives = compositions.may_take(inner), compositions.may_give(inner)
    for line, may_take, may_give in zip(inner, takes, gives, strict=True):
        for kind, one in enumerate(np.eye(compositions.kinds, dtype=np.int64)):
            assert may_take[kind] == expected[tuple(line + one)]
            assert may_give[kind] == expected.get(tuple(line - one), False)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_what_is_left_of_a_group_passes(pose: Poses, rule: dict[str, Any]) -> None:
    """A trimmed group has no rows that it had not, passes or is empty, and is the whole group where that passes."""
    _, compositions = posed(pose, rule)
    every = np.array(list(itertools.product(range(5), repeat=compositions.kinds)))
    trimmed = compositions.trim(every)
    assert ((trimmed >= 0) & (trimmed <= every)).all()
    some = trimmed.any(axis=1)
    assert some.any()
    assert compositions.holds(trimmed[some]).all()
    whole = compositions.holds(every)
    assert (trimmed[whole] == every[whole]).all()
    assert compositions.worth_trimming(every[some]).all()


def test_a_bound_on_shares_leaves_as_many_rows_as_can_be(pose: Poses) -> None:
    """Where every value is bounded by a share, no way of leaving rows out leaves more than the one that is found."""
    _, compositions = posed(pose, RULES[0])
    for group in itertools.product(range(5), repeat=4):
        parts = np.array(list(itertools.product(*(range(rows + 1) for rows in group))))
        best = parts[compositions.holds(parts)].sum(axis=1).max(initial=0)
        assert compositions.trim(np.array([group])).sum() == best


def test_values_that_nobody_protects_are_one_kind(pose: Poses) -> None:
    """Where every model names the values that it protects, all others are of one kind."""
    problem, compositions = posed(pose, RULES[1])
    texts = problem.encoded.sensitive["illness"].texts
    by_kind = {
        str(texts[value]): kind
        for value, kind in zip(problem.encoded.tuples.others["illness"].tolist(), compositions.kind_of, strict=True)
    }
    assert compositions.kinds == 2
    assert by_kind["flu"] == by_kind["cold"] == by_kind["gout"] != by_kind["HIV"]


def test_there_are_none_where_only_sizes_count(pose: Poses) -> None:
    """Under k-anonymity alone all rows are alike."""
    assert Compositions.from_problem(pose({"code": ["11", "12"], "illness": ["flu", "HIV"]})) is None


two_digits = st.text("123", min_size=2, max_size=2)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_covering_places_rows_in_classes_that_pass(pose: Poses, data: st.DataObject) -> None:
    """Every row is in one class; all classes pass, what is left over included, with budget and without."""
    rule = data.draw(st.sampled_from(RULES))
    rows = data.draw(st.lists(st.tuples(two_digits, st.sampled_from(ILLNESSES)), min_size=4, max_size=40))
    columns: dict[str, list[str | None]] = {"code": [code for code, _ in rows], "illness": [ill for _, ill in rows]}
    problem = pose(columns, rule)
    if not problem.holds(problem.start).all():
        return
    for budget in (0, 400_000, 10**9):
        found = cover(problem, problem.start, budget)
        assert problem.holds(found).all()
        placed = Counter[int]()
        for of, count in zip(found.tuples.tolist(), found.rows.tolist(), strict=True):
            placed[of] += count
        assert [placed[of] for of in range(len(problem.counts))] == problem.counts.tolist()


def test_a_group_that_fails_becomes_a_class_by_leaving_rows_out(pose: Poses) -> None:
    """Of five equal rows with three of HIV, two of each make a class, and the third goes to others that have none."""
    half = {"model": "alpha-deassociation", "column": "illness", "values": ["HIV"], "alpha": 0.5}
    columns: dict[str, list[str | None]] = {
        "code": [*["11"] * 5, *["21"] * 4],
        "illness": ["HIV", "HIV", "HIV", "flu", "cold", "flu", "flu", "cold", "cold"],
    }
    problem = pose(columns, half)
    found = cover(problem, problem.start, 10**9)
    labels = problem.labels(found)[0]
    texts = sorted((labels.texts[code] or "", size) for code, size in zip(labels.codes, found.sizes, strict=True))
    assert texts == [("*", 5), ("11", 4)]


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_an_exchange_knows_what_its_classes_hold(pose: Poses, data: st.DataObject) -> None:
    """After some rounds the counts of all classes, and what they may take and give, are what a fresh count says."""
    rule = data.draw(st.sampled_from(RULES))
    rows = data.draw(st.lists(st.tuples(two_digits, st.sampled_from(ILLNESSES)), min_size=8, max_size=40))
    columns: dict[str, list[str | None]] = {"code": [code for code, _ in rows], "illness": [ill for _, ill in rows]}
    problem = pose(columns, rule)
    if not problem.holds(problem.start).all():
        return
    exchange = Exchange(problem, cover(problem, problem.start, 10**9), 10**9)
    before = exchange.cost
    for _ in range(3):
        exchange.move()
        exchange.swap()
    assert exchange.cost <= before + 1e-9
    assert problem.holds(exchange.result).all()
    again = Exchange(problem, exchange.result, 10**9)
    assert exchange.balance is not None
    assert again.balance is not None
    used = exchange.classes.sizes > 0
    fresh = again.classes.sizes > 0
    for name in ("counts", "takes", "gives"):
        held, counted = getattr(exchange.balance, name)[used], getattr(again.balance, name)[fresh]
        assert sorted(map(tuple, held.tolist())) == sorted(map(tuple, counted.tolist()))
