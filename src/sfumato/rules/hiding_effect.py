"""The effect of hiding: what was hidden, what was lost with it, what appeared, and how much was changed.

Everything is counted by mining what is published anew, at the same thresholds. *Lost* are frequent sets that no hiding
had to lose and that are infrequent now; *lost rules* are rules on protected sets that are found no more. *Ghosts* are
rules that are found and were not before: where an antecedent gets rarer, the confidence rises. The *dissimilarity* is
the share of all occurrences of items that are gone (Oliveira and Zaïane 2002).
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray
from sfumato.rules.association_rules import Keys, MinedRules, item_keys, itemset_keys, mine_rules, rule_keys
from sfumato.rules.baskets import Baskets
from sfumato.rules.frequent_itemsets import ItemsetTable
from sfumato.rules.hiding_problem import ChangingBaskets, HidingProblem


@dataclass(frozen=True)
class HidingEffect:
    """Counts of what hiding did.

    hidden:        the sensitive rules, none of which is found;  already_hidden: those that were not found before
    bound_to_go:   frequent sets that no hiding keeps;  lost: other frequent sets that are infrequent now
    ghosts:        rules that are found now and were not before;  ghost_itemsets: the same of sets
    """

    hidden: int
    already_hidden: int
    bound_to_go: int
    lost: int
    lost_rules: int
    ghosts: int
    ghost_itemsets: int
    items_changed: int
    transactions_changed: int
    transactions_dropped: int
    dissimilarity: float


def measure_effect(
    problem: HidingProblem, mined: MinedRules, left: ChangingBaskets, max_size: int | None = None
) -> HidingEffect:
    """Mine what is left of the baskets, and compare."""
    baskets = problem.baskets
    published, _ = baskets.without(left.removed, left.dropped)
    again = mine_rules(published, problem.thresholds, max_size=max_size)
    before, after = mined.itemset_table.support_of, again.itemset_table.support_of
    kept = problem.protected.support_of
    gone = np.zeros(len(baskets.codes), dtype=bool) | left.removed | left.dropped[baskets.rows]
    changed = np.bincount(baskets.rows[left.removed], minlength=len(baskets)) > 0
    old, new = mined.rule_table.names, again.rule_table.names
    harmless = _of_protected(mined, problem.protected) & ~_among(old, _sensitive_names(problem))
    return HidingEffect(
        hidden=len(problem.rules),
        already_hidden=sum(_is_hidden(problem, baskets, rule.antecedent, rule.items) for rule in problem.rules),
        bound_to_go=len(before) - len(kept),
        lost=sum(items not in after for items in kept),
        lost_rules=int(harmless.sum()) - _in_common(old[harmless], new),
        ghosts=len(new) - _in_common(new, old),
        ghost_itemsets=sum(items not in before for items in after),
        items_changed=int(gone.sum()),
        transactions_changed=int((changed | left.dropped).sum()),
        transactions_dropped=int(left.dropped.sum()),
        dissimilarity=float(gone.mean()) if len(gone) else 0.0,
    )


def _is_hidden(problem: HidingProblem, baskets: Baskets, antecedent: tuple[int, ...], items: tuple[int, ...]) -> bool:
    whole = len(baskets.holders(items))
    if whole < problem.keep:
        return True
    return bool(antecedent) and not problem.thresholds.is_confident(whole, len(baskets.holders(antecedent)))


def _sensitive_names(problem: HidingProblem) -> Keys:
    """Give the sensitive rules the numbers that they have in tables of rules."""
    whole, antecedent = (
        (
            np.array([item_keys(np.asarray(items)).sum(dtype=np.uint64) for items in sets], dtype=np.uint64)
            for sets in zip(*((rule.items, rule.antecedent) for rule in problem.rules if rule.antecedent), strict=True)
        )
        if any(rule.antecedent for rule in problem.rules)
        else (np.zeros(0, dtype=np.uint64),) * 2
    )
    return rule_keys(whole, antecedent)


def _of_protected(mined: MinedRules, protected: ItemsetTable) -> BoolArray:
    """Tell which rules are on sets that hiding need not lose."""
    table = mined.rule_table
    found = np.zeros(len(table), dtype=bool)
    kept = itemset_keys(protected)
    for size, keys in enumerate(itemset_keys(mined.itemset_table), start=1):
        own = table.size == size
        found[own] = _among(keys, kept[size - 1])[table.place[own]]
    return found


def _in_common(one: Keys, other: Keys) -> int:
    """Count what is in both of two lists, each of which has a value once."""
    together = np.sort(np.concatenate([one, other]))
    return int((together[1:] == together[:-1]).sum())


def _among(values: Keys, others: Keys) -> BoolArray:
    """Tell which values are among others, by a sort."""
    if not len(others):
        return np.zeros(len(values), dtype=bool)
    ordered = np.sort(others)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.asarray(ordered[places] == values)
