"""Noise for answers and baskets: chances, ε against its definition, and what is refused."""

import itertools
import math

import numpy as np
import pytest

from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.core.randomness import Randomness
from sfumato.errors import InputError

ABC = ("a", "b", "c")


@pytest.mark.parametrize(
    "noise", [ResponseNoise(ABC, 0.6), MatrixNoise(ABC, ((0.5, 0.25, 0.25), (0.1, 0.8, 0.1), (0.2, 0.2, 0.6)))]
)
def test_reports_have_the_chances_of_the_matrix(noise: MatrixNoise | ResponseNoise) -> None:
    """Each answer given thirty thousand times; ε is the largest log ratio of two chances of one report."""
    for value in range(3):
        reports = noise.perturb(np.full(30_000, value), Randomness(value))
        seen = np.bincount(reports, minlength=3) / 30_000
        assert seen == pytest.approx(noise.transition[value], abs=0.012)
    ratios = [
        math.log(one / other)
        for column in noise.transition.T
        for one, other in itertools.permutations(column.tolist(), 2)
    ]
    assert noise.epsilon == pytest.approx(max(ratios))


def test_a_report_that_rules_an_answer_out_has_no_epsilon() -> None:
    """A zero beside a chance is certainty; a report that nobody makes is not."""
    assert math.isinf(MatrixNoise(("a", "b"), ((1.0, 0.0), (0.5, 0.5))).epsilon)
    assert MatrixNoise(("a", "b", "c"), ((0.6, 0.4, 0.0), (0.4, 0.6, 0.0), (0.5, 0.5, 0.0))).epsilon < 1


def test_unary_encoding_has_its_epsilon() -> None:
    """The likelihood ratio of any reported set for two answers is at most e^ε, and some set reaches it."""
    noise = UnaryNoise.of_epsilon(ABC, 1.5)

    def chance(bits: tuple[bool, ...], value: int) -> float:
        chances = [noise.keep if place == value else noise.add for place in range(3)]
        return math.prod(p if bit else 1 - p for bit, p in zip(bits, chances, strict=True))

    ratios = [
        math.log(chance(bits, one) / chance(bits, other))
        for bits in itertools.product([False, True], repeat=3)
        for one, other in itertools.permutations(range(3), 2)
    ]
    assert max(ratios) == pytest.approx(1.5)
    assert noise.epsilon == pytest.approx(1.5)


def test_unary_reports() -> None:
    """The true answer is in half of the sets, each other one in as many as `add` says."""
    noise = UnaryNoise(ABC, 0.5, 0.2)
    seen = noise.perturb(np.full(40_000, 1), Randomness(4)).mean(axis=0)
    assert seen == pytest.approx([0.2, 0.5, 0.2], abs=0.012)


@pytest.mark.parametrize("keep", [0.9, 0.2])
def test_bits_are_kept_and_turned(keep: float) -> None:
    """Item by item, with the same chance whether it is there or not."""
    noise = FlipNoise(("x", "y"), keep)
    baskets = np.tile([True, False], (40_000, 1))
    assert noise.perturb(baskets, Randomness(8)).mean(axis=0) == pytest.approx([keep, 1 - keep], abs=0.012)
    assert noise.item_epsilon == pytest.approx(abs(math.log(keep / (1 - keep))))


@pytest.mark.parametrize("keep", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_chances_that_are_none(keep: float) -> None:
    """Keeping always is no noise, and keeping never is no answer."""
    for make in (lambda: ResponseNoise(ABC, keep), lambda: FlipNoise(ABC, keep), lambda: UnaryNoise(ABC, keep, 0.1)):
        with pytest.raises(InputError, match="keep"):
            make()
    with pytest.raises(InputError, match=r"other than 0\.5"):
        FlipNoise(ABC, 0.5)


def test_matrices_that_are_none() -> None:
    """Rows add up to 1, have a chance for each value, and are chances."""
    with pytest.raises(InputError, match=r"row 2 of matrix adds up to 0\.9 and not to 1"):
        MatrixNoise(("a", "b"), ((0.5, 0.5), (0.5, 0.4)))
    with pytest.raises(InputError, match="2 rows of 2 numbers"):
        MatrixNoise(("a", "b"), ((1.0,), (1.0,)))
    with pytest.raises(InputError, match="chances from 0 to 1"):
        MatrixNoise(("a", "b"), ((1.5, -0.5), (0.5, 0.5)))


@pytest.mark.parametrize(("values", "words"), [(("a",), "at least 2"), (("a", "a"), "twice"), (("a", ""), "empty")])
def test_values_that_are_none(values: tuple[str, ...], words: str) -> None:
    """Values are several, different, and not empty."""
    with pytest.raises(InputError, match=words):
        ResponseNoise(values, 0.5)


def test_a_bar_parts_items() -> None:
    """So it is not part of one."""
    for make in (lambda: FlipNoise(("a|b", "c"), 0.9), lambda: UnaryNoise(("a|b", "c"), 0.5, 0.1)):
        with pytest.raises(InputError, match="parts the"):
            make()
