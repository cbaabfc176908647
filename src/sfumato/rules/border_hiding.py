"""Border-based hiding: protect the positive border by max–min (Sun and Yu 2005; Moustakides and Verykios 2006).

Taking an item out of a basket lowers the support of every protected set that is in the basket and has the item. Of all
(basket, item) that lower a sensitive rule, the one is taken whose worst-off set has the most support to spare: the
maximum of the minima. Only sets of the border need to be looked at, since the support of a set is at most that of those
it contains. Where a set of the border is lost all the same, the sets below it come into the border. In the end, what
hiding a later rule has made needless is put back.
"""

from collections.abc import Iterable

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.rules.baskets import Words
from sfumato.rules.hiding_problem import ChangingBaskets, CodedRule, HidingProblem, found_rules, take_back

_UNTOUCHED = np.int32(2**31 - 1)


def border_hiding(problem: HidingProblem) -> ChangingBaskets:
    """Hide every rule by taking items out where the border can best bear it."""
    border = _RevisedBorder(problem)
    while found := found_rules(problem, border.left):
        for rule in found:
            _hide_rule(problem, border, rule)
    return take_back(problem, border.left)


class _RevisedBorder:
    """The border sets that hiding could harm, with what each can still spare, and the baskets as they are now.

    sets:   the border sets, lost ones included;  spare: int64[sets], support above what is needed
    alive:  bool[sets], false where a set is lost
    """

    def __init__(self, problem: HidingProblem) -> None:
        self.problem, self.left = problem, ChangingBaskets(problem.baskets)
        self.original: Words = problem.affected_maps()
        self.maps: Words = self.original.copy()
        self.sets: list[frozenset[int]] = []
        self.spare: IntArray = np.zeros(0, dtype=np.int64)
        self.alive: BoolArray = np.zeros(0, dtype=bool)
        self._with_item: dict[int, set[int]] = {}
        risky = problem.at_risk(problem.border)
        self._add((items for items, _ in risky), [support - problem.keep for _, support in risky])
        # sets that are safe cover others as well
        self._safe = {tuple(items) for sets in problem.border.members for items in sets.tolist()} - {
            items for items, _ in risky
        }
        self._safe_with_item: dict[int, set[tuple[int, ...]]] = {}
        for items in self._safe:
            for item in items:
                self._safe_with_item.setdefault(item, set()).add(items)

    def _add(self, sets: Iterable[Iterable[int]], spare: list[int]) -> None:
        for items in sets:
            for item in items:
                self._with_item.setdefault(item, set()).add(len(self.sets))
            self.sets.append(frozenset(items))
        self.spare = np.concatenate([self.spare, np.asarray(spare, dtype=np.int64)])
        self.alive = np.concatenate([self.alive, np.ones(len(spare), dtype=bool)])

    def touching(self, items: Iterable[int]) -> list[int]:
        """List the sets that are not lost and have one of these items."""
        found = set().union(*(self._with_item.get(item, set()) for item in items))
        return sorted(number for number in found if self.alive[number])

    def held_by(self, items: Iterable[int], places: IntArray, maps: Words | None = None) -> BoolArray:
        """Tell which of the affected baskets at these places hold all the items now."""
        words = np.bitwise_and.reduce((self.maps if maps is None else maps)[self.problem.map_rows(items)], axis=0)
        bits = (words[places >> 6] >> (places & 63).astype(np.uint64)) & np.uint64(1)
        return np.asarray(bits.astype(bool))

    def remove(self, item: int, places: IntArray) -> None:
        """Take an item out of affected baskets."""
        self.left.remove(item, np.sort(self.problem.affected[places]))
        row = self.problem.map_rows([item])[0]
        for place in places.tolist():
            self.maps[row, place >> 6] &= ~(np.uint64(1) << np.uint64(place & 63))

    def revise(self) -> bool:
        """Take lost sets out of the border, and take the largest sets below them in; say whether there were any."""
        lost = np.flatnonzero(self.alive & (self.spare < 0))
        self.alive[lost] = False
        for number in lost.tolist():
            for item in sorted(self.sets[number]):
                below = self.sets[number] - {item}
                if below and not self._is_covered(below):
                    fallen = self._count(below, self.original) - self._count(below, self.maps)
                    support = self.problem.itemsets.support_of[tuple(sorted(below))] - fallen
                    self._add([sorted(below)], [support - self.problem.keep])
        if len(lost) and (self.alive & (self.spare < 0)).any():
            self.revise()
        return bool(len(lost))

    def _is_covered(self, items: frozenset[int]) -> bool:
        numbers = set.intersection(*(self._with_item.get(item, set()) for item in items))
        if any(self.alive[number] or self.sets[number] == items for number in numbers):
            return True
        return bool(set.intersection(*(self._safe_with_item.get(item, set()) for item in items)))

    def _count(self, items: Iterable[int], maps: Words) -> int:
        together = np.bitwise_and.reduce(maps[self.problem.map_rows(items)], axis=0)
        return int(np.bitwise_count(together).sum())


def _hide_rule(problem: HidingProblem, border: _RevisedBorder, rule: CodedRule) -> None:
    """Take items of one rule out, one by one or in runs that are as good, until it is hidden."""
    left = border.left
    while True:
        holders = left.holders(rule.items)
        base = left.support(rule.antecedent) if rule.antecedent else 0
        excess = len(holders) - problem.most(rule, base)
        if excess <= 0:
            return
        allowed = problem.removable(rule, base)
        numbers = border.touching(allowed)
        places = np.searchsorted(problem.affected, left.shortest(holders))
        others = [other for other in found_rules(problem, left) if other != rule and set(other.items) & set(allowed)]
        # holds: bool[sets, baskets] and helps: bool[other rules, baskets]; equal baskets are one class from here on
        holds = np.zeros((len(numbers), len(places)), dtype=bool)
        for line, number in enumerate(numbers):
            holds[line] = border.held_by(border.sets[number], places)
        helps = np.zeros((len(others), len(places)), dtype=bool)
        for line, other in enumerate(others):
            helps[line] = border.held_by(other.items, places)
        signature = np.packbits(np.concatenate([holds, helps, np.zeros((1, len(places)), bool)]), axis=0).T
        _, first, class_of = np.unique(signature, axis=0, return_index=True, return_inverse=True)
        members = [places[class_of.ravel() == number] for number in range(len(first))]
        contains = np.array([[item in border.sets[number] for number in numbers] for item in allowed], dtype=bool)
        helpful = np.array([[item in other.items for other in others] for item in allowed], dtype=bool)
        hit = contains.reshape(len(allowed), -1, 1) & holds[None, :, first]
        helped = (helpful.reshape(len(allowed), -1, 1) & helps[None, :, first]).sum(axis=1)
        _spend(border, np.asarray(allowed), np.asarray(numbers, dtype=np.int64), hit, helped, members, excess)


def _spend(  # noqa: PLR0913, PLR0917 - arrays over items, sets and classes, which the caller has just made
    border: _RevisedBorder,
    allowed: IntArray,
    numbers: IntArray,
    hit: BoolArray,
    helped: IntArray,
    members: list[IntArray],
    excess: int,
) -> None:
    """Take items out of the baskets of classes, best first, until `excess` are done or the border is revised.

    allowed:  int64[v], items;  numbers: int64[b], border sets;  members: the baskets of each of c classes
    hit:      bool[v, b, c], whether taking the item out of a basket of the class harms the set
    helped:   int64[v, c], how many other rules are lowered, too
    """
    left_over = np.array([len(places) for places in members])
    while excess > 0:
        spare = border.spare[numbers].astype(np.int32)
        lowest = np.stack([np.where(sets, spare[:, None], _UNTOUCHED).min(axis=0, initial=_UNTOUCHED) for sets in hit])
        lost = hit[:, spare == 0].sum(axis=1)
        free = np.broadcast_to(left_over > 0, lowest.shape)
        choice = np.lexsort([hit.sum(axis=1).ravel(), -helped.ravel(), -lowest.ravel(), lost.ravel(), ~free.ravel()])
        item, kind = np.unravel_index(choice[0], lowest.shape)
        best, runner = int(lowest[item, kind]), 0
        if len(choice) > 1 and free.ravel()[choice[1]] and not lost.ravel()[choice[1]]:
            runner = int(lowest.ravel()[choice[1]])
        run = 1 if lost[item, kind] else max(best - runner, 1)
        run = min(run, int(left_over[kind]), excess)
        done, members[kind] = members[kind][:run], members[kind][run:]
        left_over[kind] -= run
        excess -= run
        border.remove(int(allowed[item]), done)
        border.spare[numbers[hit[item, :, kind]]] -= run
        if border.revise():
            return
