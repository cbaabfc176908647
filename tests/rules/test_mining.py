"""Mining against the definition, and against what files and odd baskets can hold."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.datasets import quest_baskets
from sfumato.rules.association_rules import derive_rules
from sfumato.rules.baskets import Baskets
from sfumato.rules.frequent_itemsets import mine_itemsets
from sfumato.rules.mining_thresholds import MiningThresholds
from tests.rules import brute_force


def _as_sets(found: Any) -> dict[frozenset[str], int]:
    return {frozenset(itemset.items): itemset.support for itemset in found.itemsets}


@pytest.mark.parametrize("seed", range(40))
def test_mining_finds_what_the_definition_says(seed: int, draw: Any) -> None:
    """Itemsets with their counts, rules with support, confidence and lift, at shares and counts."""
    source = random.Random(seed)
    baskets = draw(seed, source.randint(1, 25), source.randint(1, 7), source.choice([0.2, 0.5, 0.9]))
    sets = [frozenset(basket) for basket in baskets]
    support: Any = source.choice([1, 2, 3, "0.1", "25%", "0.5", "100%"])
    confidence = source.choice(["0", "0.3", "0.5", "0.75", "1"])
    found = sf.rules.mine(baskets, min_support=support, min_confidence=confidence)
    share = MiningThresholds.read(support, confidence).support
    assert found.transactions == len(baskets)
    assert _as_sets(found) == brute_force.itemsets(sets, brute_force.least_count(share, len(sets)))
    expected = brute_force.rules(sets, share, Fraction(confidence))
    assert {(frozenset(rule.antecedent), frozenset(rule.consequent)) for rule in found.rules} == set(expected)
    assert len(found.rules) == len(expected)
    for rule in found.rules:
        count, exact = expected[frozenset(rule.antecedent), frozenset(rule.consequent)]
        assert rule.support == count
        assert rule.confidence == pytest.approx(float(exact))
        assert rule.lift == pytest.approx(float(exact) * len(sets) / brute_force.support(rule.consequent, sets))


def test_a_large_block_is_cut_and_nothing_is_missed(monkeypatch: pytest.MonkeyPatch, draw: Any) -> None:
    """With room for a few words at a time, the same sets come out."""
    baskets = Baskets.of(draw(3, 200, 9, 0.7))
    whole = mine_itemsets(baskets, 10)
    monkeypatch.setattr("sfumato.rules.frequent_itemsets._BUDGET", 4)
    assert mine_itemsets(baskets, 10).support_of == whole.support_of
    assert len(whole) > 200


def test_sizes_can_be_limited(draw: Any) -> None:
    """The smaller sets are the same."""
    baskets = draw(4, 30, 6, 0.7)
    every = _as_sets(sf.rules.mine(baskets, min_support=2, min_confidence=0.5))
    for size in (1, 2, 3):
        some = sf.rules.mine(baskets, min_support=2, min_confidence=0.5, max_size=size)
        assert _as_sets(some) == {items: count for items, count in every.items() if len(items) <= size}
    with pytest.raises(sf.InputError, match="max-size"):
        sf.rules.mine(baskets, min_support=2, min_confidence=0.5, max_size=0)


def test_the_order_of_lines_and_items_does_not_matter(draw: Any) -> None:
    """Not even for the order of what is found."""
    baskets = draw(5, 40, 6)
    shuffled = [random.Random(1).sample(basket, len(basket)) for basket in random.Random(2).sample(baskets, 40)]
    one = sf.rules.mine(baskets, min_support=3, min_confidence=0.4).as_json()
    assert one == sf.rules.mine(shuffled, min_support=3, min_confidence=0.4).as_json()


def test_one_basket_of_500_items_changes_little() -> None:
    """Its items become commoner by one, and nothing else happens: no set of hundreds of items is looked at."""
    baskets = quest_baskets(2000, seed=3)
    huge = [*baskets, list(range(500))]
    before = sf.rules.mine(baskets, min_support=20, min_confidence=0.5)
    after = sf.rules.mine(huge, min_support=21, min_confidence=0.5)
    wide = frozenset(map(str, range(500)))
    assert _as_sets(after) == {
        items: count + (items <= wide) for items, count in _as_sets(before).items() if count + (items <= wide) >= 21
    }


def test_too_many_sets_are_refused_before_memory_is_full() -> None:
    """Two baskets of forty items have a million million sets in common."""
    with pytest.raises(sf.InputError, match=r"higher min-support.*--max-size"):
        mine_itemsets(Baskets.of([range(40), range(40)]), 2, most=10_000)
    with pytest.raises(sf.InputError, match="sets with --max-size"):
        derive_rules(mine_itemsets(Baskets.of([range(21)]), 1), MiningThresholds.read(1, 1))


def test_keys_of_sets_that_collide_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are right even where the first numbers of items make two sets equal."""
    from sfumato.rules import association_rules

    baskets = Baskets.of([["a", "b", "c"], ["a", "b"], ["c"]])
    table, wanted = mine_itemsets(baskets, 1), MiningThresholds.read(1, "0.6")
    right = derive_rules(table, wanted)
    own = association_rules.item_keys

    def colliding(items: Any, salt: int = 0) -> Any:
        return own(items, salt) if salt else items.astype(np.uint64) + np.uint64(1)  # a + b = c

    monkeypatch.setattr(association_rules, "item_keys", colliding)
    again = derive_rules(table, wanted)
    assert (again.whole == right.whole).all()
    assert (again.mask == right.mask).all()


@pytest.mark.parametrize(
    ("support", "confidence", "least"),
    [
        ("0.07", "0.5", 7),
        ("7%", "50%", 7),
        (0.07, 0.5, 7),
        ("0.071", 1, 8),
        (50, "0", 50),
        ("1", "1.0", 1),
        ("1e-5", 1, 1),
    ],
)
def test_thresholds_are_exact(support: Any, confidence: Any, least: int) -> None:
    """Seven per cent of a hundred baskets are seven, though 0.07 * 100 is more than 7."""
    assert MiningThresholds.read(support, confidence).least_count(100) == least


@pytest.mark.parametrize(
    ("support", "confidence", "words"),
    [
        ("0", 0.5, "share above 0"),
        ("-1", 0.5, "share above 0"),
        ("1.0", 0.5, "write 100% for all, or 1 for one"),
        (1.0, 0.5, "write 100% for all, or 1 for one"),
        ("2.5", 0.5, "whole number"),
        ("101%", 0.5, "more than 100%"),
        ("many", 0.5, "must be a number"),
        ("nan", 0.5, "must be a number"),
        (float("nan"), 0.5, "must be a number"),
        (True, 0.5, "must be a number"),
        ("0.0000000000001", 0.5, "round it to nine"),
        (5, "1.1", "from 0 to 1"),
        (5, "-0.1", "from 0 to 1"),
        (5, None, "must be a number"),
    ],
)
def test_thresholds_that_mean_nothing_are_refused(support: Any, confidence: Any, words: str) -> None:
    """In a sentence that names the option."""
    with pytest.raises(sf.InputError, match=words) as error:
        MiningThresholds.read(support, confidence)
    assert str(error.value).startswith("min-")


def test_items_that_are_no_text_are_written_as_text() -> None:
    """1, 1.0 and True are equal in Python, and three items here."""
    assert set(Baskets.of([[1, 1.0, True, "x"]]).items) == {"1", "1.0", "True", "x"}
    for wrong in ("bread", 5):
        with pytest.raises(sf.DataError, match="list or a set"):
            sf.rules.mine([wrong], min_support=1, min_confidence=1)
    with pytest.raises(sf.DataError, match="text or a number"):
        Baskets.of([[[1], [2]]])
    with pytest.raises(sf.InputError, match="no basket"):
        sf.rules.mine([], min_support=1, min_confidence=1)


def test_the_generator_draws_what_its_name_says() -> None:
    """T10.I4: ten items a basket, and patterns that make some sets far more frequent than chance does."""
    baskets = quest_baskets(3000, seed=2)
    assert 9 < np.mean([len(basket) for basket in baskets]) < 11.5
    assert quest_baskets(50, seed=2) == baskets[:50] or quest_baskets(3000, seed=2) == baskets
    found = sf.rules.mine(baskets, min_support=15, min_confidence=0.5, max_size=4)
    assert any(len(itemset.items) == 4 for itemset in found.itemsets)
