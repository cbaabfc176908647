"""Exercises 14 and 15: the chance of a lookalike among many, where values are independent and equally likely."""

import json
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

from sfumato.risk import chance_of_lookalike, coincidence, known_needed

Runs = Callable[..., Any]


def test_exercise_14() -> None:
    """With n = 10,000 and B = 20 the bound is 10^4 / 2^20, below one in a hundred: she is all but surely alone."""
    found = coincidence(10_000, 20)
    assert found.bound == 10_000 / 2**20 == pytest.approx(0.0095367, abs=1e-7)
    assert found.exact < found.bound
    assert found.alone > 0.99
    assert found.needed == {"0.05": 18, "0.01": 20}


def test_exercise_15() -> None:
    """With R = 5 ratings 8 films do what 20 items do not for ten thousand others: 10^4 / 5^8."""
    found = coincidence(10_000, 8, 5)
    assert found.bound == 10_000 / 5**8 == pytest.approx(0.0256)
    assert found.exact == pytest.approx(1 - (1 - 5**-8) ** 10_000)


@pytest.mark.parametrize("seed", range(60))
def test_figures_equal_exact_fractions(seed: int) -> None:
    """Every figure is that of exact arithmetic with fractions, and the needed values are the first to be enough."""
    draw = np.random.default_rng(seed)
    others, known, values = (int(draw.integers(0, high)) for high in (200, 8, 5))
    values += 2
    found, one = coincidence(others, known, values), Fraction(1, values**known)
    exact = 1 - (1 - one) ** others
    assert found.expected == pytest.approx(float(others * one))
    assert found.exact == pytest.approx(float(exact), rel=1e-13)
    assert found.alone == pytest.approx(float(1 - exact), rel=1e-13)
    shares = (comb(others, i) * one**i * (1 - one) ** (others - i) / (1 + i) for i in range(others + 1))
    assert found.picked == pytest.approx(float(sum(shares)))
    for level, needed in found.needed.items():
        below = [1 - (1 - Fraction(1, values**b)) ** others < Fraction(level) for b in range(needed + 1)]
        assert below == [False] * needed + [True]


def test_huge_and_tiny() -> None:
    """Chances far below what 1 - x can tell from 1 have all their digits, and huge crowds overflow nothing."""
    assert chance_of_lookalike(10**12, 200) == pytest.approx(10**12 / 2**200, rel=1e-12)
    assert chance_of_lookalike(1, 60) == pytest.approx(2.0**-60, rel=1e-12)
    assert chance_of_lookalike(10**300, 0) == 1
    assert chance_of_lookalike(10**300, 10**300, 10**300) == 0
    assert coincidence(10**300, 0).picked == pytest.approx(1e-300)
    assert known_needed(10**300, 2, 0.01) == 1004
    assert coincidence(0, 0).alone == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--others", "-1", "--known", "2"], "others must be a number of people from 0 to 10^300, not -1"),
        (["--others", "5", "--known", "-2"], "known must be a number of values from 0"),
        (["--others", "5", "--known", "2", "--values", "1"], "a value that is always the same tells nothing"),
        (["--others", "1" + "0" * 301, "--known", "2"], "not 10^301"),
        (["--others", "many", "--known", "2"], "--others"),
        (["--known", "2"], "--others"),
    ],
    ids=["others", "known", "values", "too many", "no number", "left out"],
)
def test_what_is_wrong_is_said(runs: Runs, options: list[str], words: str) -> None:
    """Numbers that mean nothing end in one sentence."""
    outcome = runs("chance", *options)
    assert outcome.code == 2
    assert words in outcome.sentence


def test_the_command(runs: Runs) -> None:
    """The figures as JSON, and for people with what they imply."""
    found = json.loads(runs("chance", "--others", "10000", "--known", "20", "--json").out)
    assert found == coincidence(10_000, 20).as_json()
    told = " ".join(runs("chance", "--others", "10000", "--known", "20").out.split())
    assert "whoever knows these values finds the person's row" in told
    assert "7 more known values would" in runs("chance", "--others", "480000", "--known", "3", "--values", "5").out
    assert "It is open" in runs("chance", "--others", "480000", "--known", "8", "--values", "5").out
