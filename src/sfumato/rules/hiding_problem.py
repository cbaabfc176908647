"""The problem of hiding rules: what must vanish, what should stay, and what is bound to go with it.

A rule X ⇒ Y is hidden where the support of X and Y together is below the least support, or below the least confidence
times the support of X. A set of items is hidden where its support is below the least. Items are only ever taken out of
baskets, so supports only fall.

Some frequent sets go in every hiding. Whatever contains sensitive `items` does. And where the least confidence times
the support of X is no more than the least support, hiding X ⇒ Y means that X and Y together become infrequent, since
the support of X only falls. Sets that contain such a one are *bound to go*; all other frequent sets are *protected*,
and those that become infrequent are *lost*. Protected sets are closed under taking items away, so it is enough to keep
the largest of them: the *positive border* (Sun and Yu 2005).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.errors import Infeasible
from sfumato.rules.association_rules import item_keys, itemset_keys
from sfumato.rules.baskets import Baskets, ItemCodes, Words, pack_bits
from sfumato.rules.frequent_itemsets import ItemsetTable
from sfumato.rules.mining_thresholds import MiningThresholds

_AT_A_TIME = 1 << 19
"""Words of bitmaps that are looked up at a time: four megabytes."""


@dataclass(frozen=True)
class CodedRule:
    """A sensitive rule by numbers of items; without an antecedent, a set of items."""

    antecedent: tuple[int, ...]
    consequent: tuple[int, ...]

    @property
    def items(self) -> tuple[int, ...]:
        """All items, ascending."""
        return tuple(sorted(self.antecedent + self.consequent))


@dataclass(frozen=True, eq=False)
class HidingProblem:
    """Baskets, their frequent itemsets, and the rules to hide.

    keep:     the support from which on a set is frequent, in the original as in what is published
    hide:     the support below which a rule is hidden: `keep`, or less where readers may not count empty baskets
    victims:  the items that may be removed, all where it is None
    """

    baskets: Baskets
    thresholds: MiningThresholds
    itemsets: ItemsetTable
    rules: tuple[CodedRule, ...]
    keep: int
    hide: int
    victims: frozenset[int] | None = None

    def lowered(self, hide: int) -> "HidingProblem":
        """Give the same problem with a lower support below which rules are hidden."""
        return replace(self, hide=hide)

    def most(self, rule: CodedRule, antecedent: int) -> int:
        """Give the largest support that a rule may keep, where its antecedent has this support."""
        if not rule.antecedent:
            return self.hide - 1
        return max(self.hide - 1, self.thresholds.most_unconfident(antecedent))

    def removable(self, rule: CodedRule, antecedent: int) -> tuple[int, ...]:
        """List the items of which one is removed to hide a rule.

        Where the confidence decides, those of the consequent: the antecedent's would lower what it is measured by.
        """
        by_confidence = bool(rule.antecedent) and self.thresholds.most_unconfident(antecedent) >= self.hide
        for items in (rule.consequent, rule.items) if by_confidence else (rule.items,):
            allowed = tuple(item for item in items if self.victims is None or item in self.victims)
            if allowed:
                return allowed
        raise Infeasible("a sensitive rule has no item that may be removed; allow one, or take the rule out")

    @cached_property
    def pressing(self) -> tuple[CodedRule, ...]:
        """The rules that are frequent enough to be found; all others are hidden, and stay so."""
        return tuple(rule for rule in self.rules if len(self.baskets.holders(rule.items)) >= self.hide)

    @cached_property
    def supports(self) -> tuple[tuple[int, int], ...]:
        """The supports of all items and of the antecedent, 0 where there is none, of each pressing rule."""
        return tuple(
            (
                len(self.baskets.holders(rule.items)),
                len(self.baskets.holders(rule.antecedent)) if rule.antecedent else 0,
            )
            for rule in self.pressing
        )

    @cached_property
    def allowed(self) -> tuple[frozenset[int], ...]:
        """The items of each pressing rule that may be removed."""
        every = (frozenset(rule.items) for rule in self.pressing)
        return tuple(items if self.victims is None else items & self.victims for items in every)

    @cached_property
    def bound_to_go(self) -> tuple[tuple[int, ...], ...]:
        """The sets that are infrequent in every hiding of the sensitive rules, by the proof above."""
        sets = []
        for rule in self.rules:
            support = len(self.baskets.holders(rule.antecedent)) if rule.antecedent else 0
            if not rule.antecedent or self.thresholds.most_unconfident(support) < self.keep:
                sets.append(rule.items)
        return tuple(dict.fromkeys(sets))

    @cached_property
    def protected(self) -> ItemsetTable:
        """The frequent sets that are not bound to go."""
        members, supports = [], []
        for sets, counts in self.itemsets:
            kept = np.ones(len(sets), dtype=bool)
            for gone in self.bound_to_go:
                if len(gone) <= sets.shape[1]:
                    kept &= np.isin(sets, gone).sum(axis=1) < len(gone)
            members.append(sets[kept])
            supports.append(counts[kept])
        return ItemsetTable(tuple(members), tuple(supports))

    @cached_property
    def border(self) -> ItemsetTable:
        """The positive border: protected sets that no larger protected set contains."""
        keys = itemset_keys(self.protected)
        members, supports = [], []
        for place, (sets, counts) in enumerate(self.protected):
            maximal = np.ones(len(sets), dtype=bool)
            if place + 1 < len(keys):
                own = item_keys(self.protected.members[place + 1])
                maximal = ~np.isin(keys[place], keys[place + 1][:, None] - own)
            members.append(sets[maximal])
            supports.append(counts[maximal])
        return ItemsetTable(tuple(members), tuple(supports))

    def at_risk(self, table: ItemsetTable) -> list[tuple[tuple[int, ...], int]]:
        """List the sets, with their supports, that hiding could make infrequent.

        Each rule takes an item out of as many baskets as it has too many. A set that could bear the loss of all those
        of the rules it has a removable item in common with is safe.
        """
        found = []
        for sets, counts in table:
            danger = np.zeros(len(sets), dtype=np.int64)
            for rule, (support, base), allowed in zip(self.pressing, self.supports, self.allowed, strict=True):
                excess = support - self.most(rule, base)
                if excess > 0:
                    danger += excess * np.isin(sets, list(allowed)).any(axis=1)
            risky = counts - self.keep < danger
            found += [(tuple(items), int(n)) for items, n in zip(sets[risky].tolist(), counts[risky], strict=True)]
        return found

    @cached_property
    def affected(self) -> IntArray:
        """The baskets that hold a pressing rule: no other is ever changed by taking items out."""
        held = [self.baskets.holders(rule.items) for rule in self.pressing]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *held]))

    @cached_property
    def frequent_items(self) -> IntArray:
        """The items that are frequent, ascending; all items of protected sets and of pressing rules are."""
        used = [np.zeros(0, dtype=np.int64), *(np.asarray(rule.items) for rule in self.pressing)]
        frequent = self.itemsets.members[0][:, 0] if self.itemsets.members else np.zeros(0, dtype=np.int64)
        return np.union1d(frequent, np.concatenate(used)).astype(np.int64)

    def affected_maps(self, removed: BoolArray | None = None) -> Words:
        """Make bitmaps uint64[frequent items, words] over the affected baskets, without removed occurrences."""
        baskets = self.baskets
        item = np.full(len(baskets.items), -1, dtype=np.int64)
        item[self.frequent_items] = np.arange(len(self.frequent_items))
        place = np.full(len(baskets), -1, dtype=np.int64)
        place[self.affected] = np.arange(len(self.affected))
        rows, bits = item[baskets.codes], place[baskets.rows]
        there = (rows >= 0) & (bits >= 0)
        if removed is not None:
            there &= ~removed
        rows, bits = rows[there], bits[there]
        order = np.argsort(rows, kind="stable")
        return pack_bits(rows[order], bits[order], len(self.frequent_items), max(len(self.affected), 1))

    def map_rows(self, items: Iterable[int]) -> IntArray:
        """Give the rows of items in `affected_maps`."""
        return np.searchsorted(self.frequent_items, list(items))

    def lost(self, removed: BoolArray) -> list[tuple[tuple[int, ...], int]]:
        """List the protected sets that become infrequent when these occurrences are removed, with their new supports.

        Only affected baskets change, so it is enough to count there, before and after.
        """
        if not removed.any():
            return []
        before, after = self.affected_maps(), self.affected_maps(removed)
        gone: list[tuple[tuple[int, ...], int]] = []
        for sets, counts in self.protected:
            step = max(_AT_A_TIME // (before.shape[1] * max(sets.shape[1], 1)), 1)
            for start in range(0, len(sets), step):
                part = sets[start : start + step]
                fallen = self._count(part, before) - self._count(part, after)
                now = counts[start : start + step] - fallen
                out = now < self.keep
                gone += [(tuple(items), int(n)) for items, n in zip(part[out].tolist(), now[out], strict=True)]
        return gone

    def _count(self, sets: ItemCodes, maps: Words) -> IntArray:
        """Count the affected baskets that hold each set."""
        rows = np.searchsorted(self.frequent_items, sets)
        together = np.bitwise_and.reduce(maps[rows], axis=1)
        return np.asarray(np.bitwise_count(together).sum(axis=1, dtype=np.int64))


class ChangingBaskets:
    """Baskets out of which items, or which themselves, are taken; supports are those of what is left."""

    def __init__(self, baskets: Baskets) -> None:
        self.baskets = baskets
        self.removed: BoolArray = np.zeros(len(baskets.codes), dtype=bool)
        self.dropped: BoolArray = np.zeros(len(baskets), dtype=bool)
        self.lengths: IntArray = baskets.lengths.copy()

    def holders(self, items: Sequence[int]) -> IntArray:
        """Find the baskets that still hold all these items, ascending."""
        found = self.baskets.holders(items)
        for item in items:
            places = self.baskets.occurrences_of(item)
            gone = np.zeros(len(self.baskets), dtype=bool)
            gone[self.baskets.rows[places[self.removed[places]]]] = True
            found = found[~gone[found]]
        return found[~self.dropped[found]]

    def support(self, items: Sequence[int]) -> int:
        """Count the baskets that still hold all these items."""
        return len(self.holders(items))

    def remove(self, item: int, baskets: IntArray) -> None:
        """Take an item out of baskets that hold it."""
        places = self.baskets.occurrences_of(item)
        self.removed[places[np.searchsorted(self.baskets.rows[places], baskets)]] = True
        self.lengths[baskets] -= 1

    def shortest(self, baskets: IntArray) -> IntArray:
        """Sort baskets by how many items they have left, then by their place."""
        return baskets[np.lexsort([baskets, self.lengths[baskets]])]


def found_rules(problem: HidingProblem, left: ChangingBaskets) -> list[CodedRule]:
    """List the pressing rules that are still found in what is left of the baskets."""
    found = []
    for rule in problem.pressing:
        whole = left.support(rule.items)
        base = left.support(rule.antecedent) if rule.antecedent else 0
        if whole > problem.most(rule, base):
            found.append(rule)
    return sorted(found, key=lambda rule: (-len(rule.items), -left.support(rule.items), rule.items, rule.antecedent))


def take_back(problem: HidingProblem, left: ChangingBaskets) -> ChangingBaskets:
    """Put every removed item back without which all rules stay hidden, one after the other; no set is lost by that."""
    baskets, rules = problem.baskets, problem.pressing
    whole = [left.support(rule.items) for rule in rules]
    base = [left.support(rule.antecedent) if rule.antecedent else 0 for rule in rules]
    kept = left.removed.copy()
    held = {
        basket: set(codes[~left.removed[start:stop]].tolist())
        for basket in np.unique(baskets.rows[left.removed]).tolist()
        for start, stop in [baskets.offsets[basket : basket + 2]]
        for codes in [baskets.codes[start:stop]]
    }
    for place in np.flatnonzero(left.removed).tolist():
        item, items = int(baskets.codes[place]), held[int(baskets.rows[place])]
        items.add(item)
        more = [int(item in rule.items and items.issuperset(rule.items)) for rule in rules]
        wider = [int(item in rule.antecedent and items.issuperset(rule.antecedent)) for rule in rules]
        if all(
            not (up or out) or whole[i] + up <= problem.most(rule, base[i] + out)
            for i, (rule, up, out) in enumerate(zip(rules, more, wider, strict=True))
        ):
            whole = [count + up for count, up in zip(whole, more, strict=True)]
            base = [count + out for count, out in zip(base, wider, strict=True)]
            kept[place] = False
        else:
            items.discard(item)
    again = ChangingBaskets(baskets)
    again.removed = kept
    again.lengths -= np.bincount(baskets.rows[kept], minlength=len(baskets))
    return again
