"""Hiding against the definition: nothing sensitive is found, little is lost, and what is proved is true."""

import random
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.rules.baskets import Baskets
from sfumato.rules.mining_thresholds import MiningThresholds
from tests.rules import brute_force

METHODS = ("heuristic", "border", "exact")


def _sensitive(source: random.Random, items: str, rules: int) -> list[dict[str, list[str]]]:
    """Some rules and sets over the items."""
    found = []
    for _ in range(rules):
        chosen = source.sample(items, source.randint(2, 3))
        cut = source.randint(0, len(chosen) - 1)
        found.append({"if": chosen[:cut], "then": chosen[cut:]} if cut else {"items": chosen})
    return found


def _as_rules(sensitive: list[dict[str, list[str]]]) -> list[brute_force.Rule]:
    return [(frozenset(rule.get("if", ())), frozenset(rule.get("then", rule.get("items", ())))) for rule in sensitive]


def _case(seed: int, draw: Any, most: int = 14) -> tuple[Any, ...]:
    source = random.Random(seed)
    baskets = [*draw(seed, source.randint(4, most), 5, source.choice([0.5, 0.8])), list("abcde")]
    sensitive = _sensitive(source, "abcde", source.randint(1, 3))
    return baskets, sensitive, source.choice([2, 3, "0.2", "1/3"]), source.choice(["0.3", "0.5", "0.8", "1"])


@pytest.mark.parametrize("seed", range(60))
def test_no_sensitive_rule_is_found_and_figures_are_true(seed: int, draw: Any) -> None:
    """By every method: rules are hidden from those who count empty baskets and those who do not."""
    baskets, sensitive, support, confidence = _case(seed, draw)
    support = Fraction(support) if support == "1/3" else support
    thresholds = MiningThresholds.read(support, confidence)
    share, exact = thresholds.support, thresholds.confidence
    sets, rules = [frozenset(basket) for basket in baskets], _as_rules(sensitive)
    kept = brute_force.protected(sets, rules, share, exact)
    before = brute_force.rules(sets, share, exact)
    costs = []
    for method in METHODS:
        result = sf.rules.hide(baskets, sensitive, min_support=support, min_confidence=confidence, method=method)
        left = [frozenset(basket) for basket in result.baskets]
        for seen in (left, [basket for basket in left if basket]):
            assert not any(brute_force.is_found(rule, seen, share, exact) for rule in rules)
        assert len(left) == len(sets)
        after = brute_force.rules(left, share, exact)
        effect, least = result.effect, brute_force.least_count(share, len(sets))
        lost = sum(brute_force.support(items, left) < least for items in kept)
        assert effect.lost == lost
        assert effect.bound_to_go == len(brute_force.itemsets(sets, least)) - len(kept)
        assert effect.ghosts == len(set(after) - set(before))
        missed = {rule for rule in set(before) - set(after) if rule not in rules and rule[0] | rule[1] in kept}
        assert effect.lost_rules == len(missed)
        assert effect.items_changed == sum(map(len, sets)) - sum(map(len, left))
        assert effect.dissimilarity == pytest.approx(effect.items_changed / sum(map(len, sets)))
        assert effect.hidden == len(set(rules))
        assert result.bound <= lost
        assert result.optimal == (result.bound == lost)
        costs.append((lost, effect.items_changed))
    assert costs == sorted(costs, reverse=True)  # exact no worse than border, and border no worse than heuristic


@pytest.mark.parametrize("seed", range(30))
def test_exact_finds_the_optimum_of_all_hidings(seed: int, draw: Any) -> None:
    """Every way of removing items is tried: none loses fewer sets, and none that loses as few removes fewer items."""
    source = random.Random(1000 + seed)
    baskets = [*draw(seed, 5, 4, 0.6), list("abcd")]
    sensitive = _sensitive(source, "abcd", 2)
    rules, sets = _as_rules(sensitive), [frozenset(basket) for basket in baskets]
    if sum(len(frozenset().union(*(x | y for x, y in rules if x | y <= basket))) for basket in sets) > 13:
        sets = sets[-4:]
    confidence = source.choice(["0.4", "0.6", "1"])
    lost, items = brute_force.best_hiding(sets, rules, 2, Fraction(confidence))
    result = sf.rules.hide(sets, sensitive, min_support=2, min_confidence=confidence, method="exact")
    assert not result.timed_out
    assert (result.effect.lost, result.effect.items_changed) == (lost, items)
    assert (result.bound, result.items_bound, result.lossless, result.optimal) == (lost, items, lost == 0, True)


def test_where_a_loss_cannot_be_avoided_it_is_proved() -> None:
    """a, b and c are together in both baskets: without a b, one of a c and b c goes as well, or a, b or c does."""
    baskets = [["a", "b", "c"]] * 2
    result = sf.rules.hide(baskets, [{"items": ["a", "b"]}], min_support=2, min_confidence=1, method="exact")
    assert (result.lossless, result.bound, result.effect.lost, result.optimal) == (False, 2, 2, True)
    assert "every hiding of these rules loses a set" in str(result)


def test_a_basket_with_very_many_treatments_gets_a_column_for_each_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other form of the program finds the same optimum."""
    source = random.Random(5)
    baskets = [[item for item in "abcdef" if source.random() < 0.6] for _ in range(20)]
    sensitive = [{"items": ["a", "b"]}, {"if": ["c"], "then": ["d"]}, {"items": ["e", "f"]}]
    asked: dict[str, Any] = {"min_support": 4, "min_confidence": "0.5", "method": "exact"}
    one = sf.rules.hide(baskets, sensitive, **asked)
    monkeypatch.setattr("sfumato.rules.exact_hiding._MOST_TREATMENTS", 1)
    other = sf.rules.hide(baskets, sensitive, **asked)
    assert not one.timed_out
    assert (one.effect.lost, one.effect.items_changed, one.bound, one.items_bound) == (
        other.effect.lost,
        other.effect.items_changed,
        other.bound,
        other.items_bound,
    )


def test_the_order_of_lines_and_items_does_not_change_the_result(draw: Any) -> None:
    """Nor does the order of rules: what comes out is the same, basket by basket."""
    baskets = [*draw(7, 30, 6, 0.6)]
    shuffled = [random.Random(1).sample(basket, len(basket)) for basket in random.Random(2).sample(baskets, 30)]
    sensitive = [{"items": ["a", "b"]}, {"if": ["c"], "then": ["d", "e"]}]
    for method in METHODS:
        asked: dict[str, Any] = {"min_support": 5, "min_confidence": 0.6, "method": method}
        one = sf.rules.hide(baskets, sensitive, **asked)
        other = sf.rules.hide(shuffled, sensitive[::-1], **asked)
        assert list(one.baskets) == list(other.baskets)
        assert one.as_json() == other.as_json()


def test_confidence_alone_hides_a_rule_that_stays_frequent() -> None:
    """A rule of eight baskets in ten needs no more than that its confidence falls below one half."""
    baskets = [["a", "b"]] * 8 + [["a"]] * 2
    result = sf.rules.hide(baskets, [{"if": ["a"], "then": ["b"]}], min_support=2, min_confidence=0.5)
    assert result.effect.items_changed == 4  # 4 of 10 is below a half
    assert result.effect.lost == 0
    assert Baskets.of(result.baskets).counts.tolist() == [10, 4]


def test_at_the_edge_one_basket_decides() -> None:
    """A confidence of exactly the threshold is found, and so is a support of exactly the count."""
    baskets = [["a", "b"]] * 3 + [["a"]] * 7
    asked: dict[str, Any] = {"min_support": 3, "min_confidence": "0.3"}
    assert sf.rules.hide(baskets, [{"if": ["a"], "then": ["b"]}], **asked).effect.items_changed == 1
    asked["min_confidence"] = "0.300000001"
    already = sf.rules.hide(baskets, [{"if": ["a"], "then": ["b"]}], **asked)
    assert (already.effect.items_changed, already.effect.already_hidden, already.effect.hidden) == (0, 1, 1)


@pytest.mark.parametrize("support", [3, "0.3"])
def test_baskets_can_be_dropped(support: Any, draw: Any) -> None:
    """Whole baskets go; where the least support is a share, it falls with them and is kept all the same."""
    baskets = draw(11, 30, 5, 0.5)
    sensitive = [{"items": ["a", "b"]}, {"if": ["c"], "then": ["d"]}]
    asked: dict[str, Any] = {"min_support": support, "min_confidence": "0.5"}
    result = sf.rules.hide(baskets, sensitive, method="heuristic", drop=True, **asked)
    left = [frozenset(basket) for basket in result.baskets]
    share = MiningThresholds.read(support, 1).support
    for seen in (left, [basket for basket in left if basket]):
        assert not any(brute_force.is_found(rule, seen, share, Fraction(1, 2)) for rule in _as_rules(sensitive))
    assert result.effect.transactions_dropped == 30 - len(left) > 0
    assert not {frozenset(basket) for basket in left} - {frozenset(basket) for basket in baskets}
    with pytest.raises(sf.InputError, match="only the heuristic method drops"):
        sf.rules.hide(baskets, sensitive, method="exact", drop=True, **asked)


def test_what_no_dropping_hides_is_infeasible() -> None:
    """In all baskets is in all of those that are left, too."""
    with pytest.raises(sf.Infeasible, match="hide them without --drop"):
        sf.rules.hide(
            [["a"]] * 4, [{"items": ["a"]}], min_support="50%", min_confidence=1, method="heuristic", drop=True
        )


def test_a_time_limit_is_told(monkeypatch: pytest.MonkeyPatch, draw: Any) -> None:
    """Without time nothing is proved, the border's hiding comes back, and nobody says optimal."""
    baskets = [["a", "b", "c"]] * 2
    asked: dict[str, Any] = {"min_support": 2, "min_confidence": 1}
    border = sf.rules.hide(baskets, [{"items": ["a", "b"]}], method="border", **asked)
    exact = sf.rules.hide(baskets, [{"items": ["a", "b"]}], method="exact", time_limit=1e-9, **asked)
    assert exact.effect == border.effect
    assert (exact.timed_out, exact.optimal, exact.bound, exact.lossless, exact.items_bound) == (
        True,
        False,
        0,
        None,
        None,
    )
    assert "time limit" in str(exact)


def test_a_hidden_rule_that_comes_back_is_hidden_again() -> None:
    """Taking c out of baskets lowers the antecedent of c ⇒ d, whose confidence was below the least."""
    baskets = [["c", "d"]] * 4 + [["c", "e"]] * 6
    sensitive = [{"if": ["c"], "then": ["d"]}, {"items": ["c", "e"]}]
    for method in METHODS:
        result = sf.rules.hide(baskets, sensitive, min_support=2, min_confidence="0.5", method=method)
        left = [frozenset(basket) for basket in result.baskets]
        assert not any(brute_force.is_found(rule, left, 2, Fraction(1, 2)) for rule in _as_rules(sensitive))


@pytest.mark.parametrize(
    ("sensitive", "words"),
    [
        ([], "no rule to hide"),
        ([{"if": ["a"]}], "both if and then"),
        ([{"if": [], "then": ["a"]}], "must be a list of items"),
        ([{"if": ["a"], "then": ["a"]}], "stands in if and in then"),
        ([{"items": "a"}], "must be a list of items"),
        ([{"items": [1.5]}], "text or a whole number"),
        ([{"items": [True]}], "text or a whole number"),
        ([{"items": ["a"], "then": ["b"]}], "write two tables"),
        ([{"item": ["a"]}], "did you mean items"),
        (["a"], "must be a table"),
        ({"rules": []}, r"write \[\[sensitive\]\]"),
        ([{"items": ["zzz"]}], "no basket has the item 'zzz'"),
        (5, "list of tables"),
    ],
)
def test_sensitive_rules_that_mean_nothing_are_refused(sensitive: Any, words: str) -> None:
    """In a sentence that names the place."""
    with pytest.raises(sf.InputError, match=words):
        sf.rules.hide([["a", "b"]] * 3, sensitive, min_support=2, min_confidence=0.5)


def test_options_that_mean_nothing_are_refused() -> None:
    """Methods, time, and two ways of saying what is sensitive."""
    asked: dict[str, Any] = {"min_support": 2, "min_confidence": 0.5}
    rule = [{"items": ["a", "b"]}]
    with pytest.raises(sf.InputError, match="heuristic, border or exact"):
        sf.rules.hide([["a", "b"]], rule, method="magic", **asked)
    with pytest.raises(sf.InputError, match="time-limit"):
        sf.rules.hide([["a", "b"]], rule, time_limit=0, **asked)
    with pytest.raises(sf.InputError, match="say which rules"):
        sf.rules.hide([["a", "b"]], **asked)
