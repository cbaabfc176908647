"""Mining and hiding by the definitions, basket by basket: a second implementation, for small cases."""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations

Basket = frozenset[str]
Rule = tuple[frozenset[str], frozenset[str]]
"""Antecedent and consequent; without an antecedent, a set of items."""


def support(items: Iterable[str], baskets: Sequence[Basket]) -> int:
    """Count the baskets that hold all items."""
    wanted = frozenset(items)
    return sum(wanted <= basket for basket in baskets)


def least_count(share: Fraction | int, baskets: int) -> int:
    """The count that a share of so many baskets stands for."""
    return share if isinstance(share, int) else max(math.ceil(share * baskets), 1)


def itemsets(baskets: Sequence[Basket], least: int) -> dict[Basket, int]:
    """Every set of items that is in at least so many baskets: all subsets of all baskets are looked at."""
    candidates = {frozenset(part) for basket in baskets for part in subsets(basket)}
    counts = {items: support(items, baskets) for items in candidates}
    return {items: count for items, count in counts.items() if count >= least}


def rules(baskets: Sequence[Basket], share: Fraction | int, confidence: Fraction) -> dict[Rule, tuple[int, Fraction]]:
    """Every rule with its support and confidence."""
    frequent = itemsets(baskets, least_count(share, len(baskets)))
    found = {}
    for whole, count in frequent.items():
        for part in subsets(whole):
            antecedent = frozenset(part)
            if antecedent != whole and Fraction(count, frequent[antecedent]) >= confidence:
                found[antecedent, whole - antecedent] = count, Fraction(count, frequent[antecedent])
    return found


def is_found(rule: Rule, baskets: Sequence[Basket], share: Fraction | int, confidence: Fraction) -> bool:
    """Whether mining finds a rule, or a set where it has no antecedent."""
    whole = support(rule[0] | rule[1], baskets)
    if whole < least_count(share, len(baskets)):
        return False
    return not rule[0] or Fraction(whole, support(rule[0], baskets)) >= confidence


def protected(
    baskets: Sequence[Basket], sensitive: Sequence[Rule], share: Fraction | int, confidence: Fraction
) -> set[Basket]:
    """The frequent sets without those that contain sensitive items, or a rule that only its support can hide."""
    least = least_count(share, len(baskets))
    gone = [
        antecedent | consequent
        for antecedent, consequent in sensitive
        if not antecedent or math.ceil(confidence * support(antecedent, baskets)) <= least
    ]
    return {items for items in itemsets(baskets, least) if not any(items >= one for one in gone)}


def hidings(baskets: Sequence[Basket], sensitive: Sequence[Rule]) -> Iterator[list[Basket]]:
    """All ways of taking items of sensitive rules out of baskets that hold such a rule."""
    removable = [
        (place, item)
        for place, basket in enumerate(baskets)
        for item in sorted(frozenset(chain.from_iterable(x | y for x, y in sensitive if x | y <= basket)))
    ]
    for size in range(len(removable) + 1):
        for removed in combinations(removable, size):
            yield [basket - {item for at, item in removed if at == place} for place, basket in enumerate(baskets)]


def best_hiding(
    baskets: Sequence[Basket], sensitive: Sequence[Rule], share: Fraction | int, confidence: Fraction
) -> tuple[int, int]:
    """The fewest protected sets that any hiding loses, and the fewest items that are removed then."""
    kept = protected(baskets, sensitive, share, confidence)
    least = least_count(share, len(baskets))
    total = sum(map(len, baskets))
    best = (len(kept) + 1, 0)
    for changed in hidings(baskets, sensitive):
        items = total - sum(map(len, changed))
        if best[0] == 0 and items >= best[1]:
            break  # they come by the number of items
        if any(is_found(rule, changed, share, confidence) for rule in sensitive):
            continue
        best = min(best, (sum(support(one, changed) < least for one in kept), items))
    return best


def subsets(items: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """All subsets that are not empty."""
    every = sorted(items)
    return chain.from_iterable(combinations(every, size) for size in range(1, len(every) + 1))
