"""Three adversaries: their chances are what their definitions say, row by row and person by person."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import nbinom

from sfumato.core.classes import EquivalenceClasses
from sfumato.errors import InputError
from sfumato.risk import RiskOptions, adversaries_of, measure_prosecutor_risk
from sfumato.risk.adversaries import estimated_chance, expected_inverse


def by_hand(groups: list[int], people: list[str] | None, chances: dict[int, float], threshold: float) -> list[float]:
    """Highest, average, above, certain and right: one row, or one person, at a time."""
    if people is None:
        each = [chances[group] for group in groups]
    else:
        rows: dict[str, list[float]] = defaultdict(list)
        for group, person in zip(groups, people, strict=True):
            rows[person].append(chances[group])
        each = [max(one) for one in rows.values()]
    above = sum(chance > threshold for chance in each)
    return [max(each), sum(each) / len(each), above / len(each), sum(chance == 1 for chance in each), sum(each)]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("named", [False, True], ids=["rows", "persons"])
def test_figures_equal_brute_force(seed: int, named: bool) -> None:
    """On random tables and populations every figure of every adversary is what its definition says."""
    draw = np.random.default_rng(seed)
    groups = np.unique(draw.integers(0, draw.integers(1, 12), draw.integers(1, 80)), return_inverse=True)[1].tolist()
    people = [f"p{i}" for i in draw.integers(0, 40, len(groups))] if named else None
    classes, threshold = EquivalenceClasses.of(groups, individuals=people), float(draw.choice([0.2, 0.05, 0.5]))
    population = draw.integers(0, 30, len(classes))
    found = adversaries_of(classes, population, threshold=threshold)
    size = {
        group: len({person for one, person in zip(groups, people or range(len(groups)), strict=True) if one == group})
        for group in groups
    }
    sure = {group: 1 / size[group] for group in size}
    through = {group: 1 / max(int(population[group]), size[group]) if population[group] else 0.0 for group in size}
    for one, chances in ((found.prosecutor, sure), (found.journalist, through), (found.marketer, through)):
        expected = by_hand(groups, people, chances, threshold)
        assert [one.highest, one.average, one.above, one.certain, one.right] == pytest.approx(expected)


def test_the_marketer_s_share_is_the_sum_of_sizes_by_population_sizes() -> None:
    """(1/n) times the sum of f / F over classes, here 1/10 + 2/4 + 3/3 of six rows."""
    found = adversaries_of(EquivalenceClasses(sizes=np.array([1, 2, 3])), np.array([10, 4, 3]))
    assert found.marketer.average == pytest.approx((1 / 10 + 2 / 4 + 3 / 3) / 6)
    assert found.journalist.highest == pytest.approx(1 / 3)
    assert found.prosecutor.highest == 1


def test_without_a_population_the_table_stands_for_it() -> None:
    """Then the journalist has the prosecutor's chances, which are those that the risk always told, and that is said."""
    classes = EquivalenceClasses(sizes=np.array([1, 4, 7]))
    found = adversaries_of(classes)
    assert found.basis == "the table itself"
    assert found.journalist == found.prosecutor
    assert (found.prosecutor.highest, found.prosecutor.average) == (
        measure_prosecutor_risk(classes).highest,
        measure_prosecutor_risk(classes).average,
    )


@pytest.mark.parametrize("alpha", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.7, 0.99])
def test_the_estimated_chance_is_the_mean_over_a_negative_binomial(share: float, alpha: float) -> None:
    """E(1 / (f + X)), summed term by term over how many more of a class of f rows the population may have."""
    sizes = np.array([1, 2, 3, 10, 49, 50, 51, 400])
    more = np.arange(20_000)
    expected = [float((nbinom.pmf(more, size - alpha, share) / (more + size)).sum()) for size in sizes]
    assert expected_inverse(sizes, alpha, share) == pytest.approx(np.array(expected), rel=1e-9)


def test_the_estimated_chance_is_a_number_for_every_size() -> None:
    """It falls with the size and rises with the share, from huge classes of tiny samples up to the whole."""
    sizes = np.array([1, 2, 30, 49, 50, 51, 1000, 10**6, 10**9])
    for smaller, larger in pairwise([1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.999, 1.0]):
        low, high = expected_inverse(sizes, 0.3, smaller), expected_inverse(sizes, 0.3, larger)
        assert (np.diff(low) < 0).all()
        assert (low < high).all()
    assert expected_inverse(sizes, 0.3, 1.0) == pytest.approx(1 / sizes)


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.5])
def test_the_estimate_is_right_on_a_population_that_is_known(fraction: float) -> None:
    """Of 300,000 people in classes of very different sizes, shares are estimated within 15 %, by all rows and alone."""
    draw = np.random.default_rng(5)
    classes = np.sort(draw.zipf(1.6, 300_000) % 20_000)
    drawn = draw.choice(classes, int(fraction * len(classes)), replace=False)
    known, sizes = np.unique(drawn, return_counts=True)
    whole = np.bincount(classes)[known]
    truth = adversaries_of(EquivalenceClasses(sizes=sizes), whole)
    found = adversaries_of(EquivalenceClasses(sizes=sizes), fraction=fraction)
    assert found.marketer.average == pytest.approx(truth.marketer.average, rel=0.15)
    assert found.journalist.highest == pytest.approx(float((1 / whole[sizes == 1]).mean()), rel=0.15)
    assert found.basis == "estimated from the sampling fraction"


def test_where_nothing_can_be_fitted_the_table_is_the_population() -> None:
    """All rows alone say nothing of how classes grow: chances stay as high as they can be."""
    assert (estimated_chance(np.ones(20, dtype=np.int64), 0.01) == 1).all()
    assert estimated_chance(np.array([40]), 0.01) == pytest.approx(1 / 4000, rel=0.03)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"threshold": 0.0}, "threshold must be above 0"),
        ({"threshold": 1.5}, "at most 1, not 1.5"),
        ({"fraction": 0.0}, "sampling fraction must be above 0"),
        ({"sets": -1}, "0 columns"),
        ({"fraction": 0.5, "population_size": 9}, "not several"),
    ],
)
def test_what_cannot_be_asked(wrong: dict[str, float], words: str) -> None:
    """A share that is none, or two populations, end in a sentence."""
    with pytest.raises(InputError, match=words):
        RiskOptions(**wrong)  # type: ignore[arg-type]


def test_a_population_that_is_smaller_than_its_sample() -> None:
    """It cannot have been drawn from; both numbers are named."""
    with pytest.raises(InputError, match="a population of 9 cannot have the 10 of the table"):
        RiskOptions(population_size=9).share(10)
