"""Itemsets and rules from flipped baskets: against the inverse of the whole matrix, and against the truth."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.collect import Noise, association_rules, detect_outliers, frequent_itemsets
from sfumato.collect.basket_noise import FlipNoise
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError

ITEMS = ("bread", "milk", "tea", "jam")


@pytest.mark.slow
@given(st.integers(0, 1000), st.floats(0.55, 0.95))
def test_support_is_that_of_the_inverted_matrix(seed: int, keep: float) -> None:
    """For every set of items, support is the last line of the inverse of its 2^k transition, applied to the counts."""
    draw = np.random.default_rng(seed)
    baskets = draw.random((40, 4)) < 0.7
    noise = FlipNoise(ITEMS, keep)
    found = {itemset.items: itemset for itemset in frequent_itemsets(baskets, noise, min_support=1e-9)}
    for size in range(1, 5):
        for places in combinations(range(4), size):
            ways = list(product([False, True], repeat=size))
            matrix = np.array(
                [
                    [np.prod([keep if a == b else 1 - keep for a, b in zip(x, z, strict=True)]) for x in ways]
                    for z in ways
                ]
            )
            counts = np.array([(baskets[:, places] == way).all(axis=1).mean() for way in ways])
            line = np.linalg.inv(matrix)[-1]
            support = float(line @ counts)
            error = np.sqrt(max(float(line**2 @ counts) - support**2, 0) / len(baskets))
            names = tuple(ITEMS[place] for place in places)
            if names in found:
                assert found[names].support == pytest.approx(support)
                assert found[names].standard_error == pytest.approx(error, abs=1e-7)
            elif all(part in found for part in combinations(names, size - 1) if part):
                assert support < max(1e-9, 2 * error) + 1e-9


def true_baskets(rows: int, seed: int) -> np.ndarray:
    """Make baskets in which bread comes with milk."""
    draw = np.random.default_rng(seed)
    bread = draw.random(rows) < 0.5
    milk = np.where(bread, draw.random(rows) < 0.8, draw.random(rows) < 0.2)
    return np.column_stack([bread, milk, draw.random(rows) < 0.3, draw.random(rows) < 0.05])


def test_standard_errors_hold_the_truth() -> None:
    """Over many draws of the noise, supports and confidences differ from the truth by one standard error on average."""
    truth = true_baskets(3000, 1)
    noise = FlipNoise(ITEMS, 0.8)
    support, confidence = [], []
    for seed in range(60):
        reports = noise.perturb(truth, Randomness(seed))
        pair = {itemset.items: itemset for itemset in frequent_itemsets(reports, noise)}[("bread", "milk")]
        support.append((pair.support - (truth[:, 0] & truth[:, 1]).mean()) / pair.standard_error)
        rule = next(r for r in association_rules(reports, noise) if r.antecedent == ("bread",))
        confidence.append((rule.confidence - truth[truth[:, 0], 1].mean()) / rule.standard_error)
    assert abs(np.mean(support)) < 0.5
    assert abs(np.mean(confidence)) < 0.5
    assert 0.4 < np.std(support) < 1.3  # below 1: the baskets are the same each time
    assert 0.4 < np.std(confidence) < 1.3


def test_rules_from_texts_and_a_noise_file() -> None:
    """Baskets as cells of a table, the noise of the whole collection: the one rule there is, and no rare item."""
    noise = Noise({"age_group": FlipNoise(("x",), 0.9), "basket": FlipNoise(ITEMS, 0.85)})
    kind = noise.columns["basket"]
    assert isinstance(kind, FlipNoise)
    reports = kind.perturb(true_baskets(5000, 2), Randomness(1))
    cells = ["|".join(item for item, bit in zip(ITEMS, basket, strict=True) if bit) for basket in reports]
    rules = association_rules(cells, noise.as_json(), "basket", min_support=0.2, min_confidence=0.6)
    assert {(rule.antecedent, rule.consequent) for rule in rules} == {(("bread",), ("milk",)), (("milk",), ("bread",))}
    assert all(abs(rule.confidence - 0.8) < 4 * rule.standard_error for rule in rules)
    assert all(rule.lift > 1.3 for rule in rules)


def test_what_is_no_basket_is_refused() -> None:
    """Unknown items, no basket, no column that is meant, and impossible thresholds end in a sentence."""
    noise = FlipNoise(ITEMS, 0.8)
    with pytest.raises(DataError, match="basket 2 has an item that is none of"):
        frequent_itemsets(["bread", "bred"], noise)
    with pytest.raises(DataError, match="no basket"):
        frequent_itemsets([], noise)
    with pytest.raises(DataError, match="3 columns and the noise has 4 items"):
        frequent_itemsets(np.ones((2, 3), bool), noise)
    with pytest.raises(InputError, match="2 columns of baskets"):
        frequent_itemsets(["bread"], Noise({"a": noise, "b": noise}))
    with pytest.raises(InputError, match="min_support"):
        frequent_itemsets(["bread"], noise, min_support=0)
    with pytest.raises(InputError, match="min_confidence"):
        association_rules(["bread"], noise, min_confidence=2)


def test_outliers_are_refused_with_the_reason() -> None:
    """Whoever asks for outliers is told that they are single rows, which noise hides on purpose."""
    with pytest.raises(InputError, match="single rows, only distributions of many are recovered"):
        detect_outliers(np.ones((3, 1)), noise=None)
