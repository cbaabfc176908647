"""Heuristic hiding: rules are hidden one after the other (Verykios, Elmagarmid, Bertino, Saygin and Dasseni 2004).

Of the baskets that hold a rule, those with the fewest items are changed, since a short basket holds few other sets. Out
of each the item is taken that most baskets have, since others still support what it is in. Where the confidence of
a rule can be brought down while it stays frequent, only an item of the consequent is taken (their algorithm 1.b), else
any item (2.b). Or whole baskets are dropped, as the chapter has it.
"""

import numpy as np

from sfumato.errors import Infeasible
from sfumato.rules.hiding_problem import ChangingBaskets, HidingProblem, found_rules


def heuristic_hiding(problem: HidingProblem) -> ChangingBaskets:
    """Hide every rule by taking items out of baskets.

    It ends: hiding one rule may bring another back, whose antecedent has fallen, but every step takes something out.
    """
    left = ChangingBaskets(problem.baskets)
    while found := found_rules(problem, left):
        for rule in found:
            holders = left.holders(rule.items)
            base = left.support(rule.antecedent) if rule.antecedent else 0
            excess = len(holders) - problem.most(rule, base)
            if excess <= 0:
                continue
            allowed = problem.removable(rule, base)
            victim = max(allowed, key=lambda item: (left.support([item]), -item))
            left.remove(victim, np.sort(left.shortest(holders)[:excess]))
    return left


def drop_baskets(problem: HidingProblem, *, counts_empty: bool) -> ChangingBaskets:
    """Hide every rule by dropping whole baskets that hold it.

    Where the least support is a share, it falls as baskets go, so more have to go. `counts_empty` says that baskets
    without items count for everybody who reads the file.
    """
    baskets, thresholds = problem.baskets, problem.thresholds
    left = ChangingBaskets(baskets)
    while True:
        total = int((~left.dropped).sum())
        if not counts_empty:
            total -= int((~left.dropped & (baskets.lengths == 0)).sum())
        pressing = None
        for rule in problem.rules:
            holders = left.holders(rule.items)
            base = left.support(rule.antecedent) if rule.antecedent else 0
            if len(holders) < thresholds.least_count(total):
                continue
            if not rule.antecedent or thresholds.is_confident(len(holders), base):
                pressing = rule, holders, base
                break
        if pressing is None:
            break
        rule, holders, base = pressing
        # drop as few as hide this rule: d of them lower its support, its antecedent's and the number of baskets by d
        for d in range(1, len(holders) + 1):
            whole = len(holders) - d
            if whole < thresholds.least_count(total - d) or (
                rule.antecedent and not thresholds.is_confident(whole, base - d)
            ):
                break
        left.dropped[left.shortest(holders)[:d]] = True
    if left.dropped.all() and len(baskets):
        raise Infeasible(
            "only dropping every basket hides these rules, since a share of fewer baskets is as large a share; "
            "hide them without --drop"
        )
    return left
